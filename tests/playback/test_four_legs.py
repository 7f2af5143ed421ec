# SPDX-License-Identifier: GPL-3.0-or-later
"""Who walks on four legs is held by its own four paws, which are where its bones end."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.control.stick import Recording
from mm_blender.errors import MotionError
from mm_blender.evaluate import driving
from mm_blender.matching import database
from mm_blender.motion import demo
from mm_blender.motion.clip import Tag
from mm_blender.motion.correspond import check
from mm_blender.motion.roles import find_character, walks_on_four
from mm_blender.playback.drive import drive
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.retarget import retargeted
from mm_blender.prepare.contacts import find_contacts
from mm_blender.prepare.mirror import mirror
from mm_blender.prepare.recipe import Recipe
from mm_blender.prepare.root import rooted
from tests import quadruped
from tests.databases import baked, unpacked

FORWARD = Recording([0.0, 1.0, 5.0], [[0] * 7, [0, 1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0]])


@pytest.fixture(scope="module")
def animal():
    return quadruped.animal_motion()


def places_of(motion, clip):
    """(F, L, 3) of the paws."""
    return motion.character.contact_places(*clip.globals())


def test_four_legs_are_seen_and_two_are_too():
    clip = quadruped.trot(1.0)
    assert walks_on_four(find_character(clip.skeleton), clip.globals()[0])
    walk = next(clip for clip in demo.clips() if clip.name == "walk")
    assert not walks_on_four(find_character(walk.skeleton), walk.globals()[0])


def test_each_paw_stands_by_itself(animal):
    assert [limb.name for limb in animal.character.limbs] == [
        "left hind leg", "right hind leg", "left fore leg", "right fore leg"]
    part = next(part for part in animal.ranges if part.source == "trot" and not part.mirrored)
    contacts = animal.contacts[part.start:part.stop]
    assert contacts.shape[1] == 4 and ((contacts.mean(axis=0) > 0.4) & (contacts.mean(axis=0) < 0.8)).all()
    assert (contacts[:, 0] == contacts[:, 3]).mean() > 0.9 > 0.5 > (contacts[:, 0] == contacts[:, 1]).mean()
    mirrored = next(other for other in animal.ranges if other.source == "trot" and other.mirrored)
    other_side = animal.contacts[mirrored.start:mirrored.stop][:, [1, 0, 3, 2]]
    assert np.array_equal(contacts, other_side)


def test_ranges_that_are_tagged_say_when_a_fore_paw_stands(animal):
    tag = Tag("contact.left.fore", 1.0, 1.5)
    tagged = quadruped.trot().with_changes(tags=(tag,))
    contacts = find_contacts(tagged, animal.character, Recipe())
    assert np.array_equal(contacts[:, 2], tagged.tag_mask(tag.name)) and 0 < contacts[:, 2].mean() < 0.3
    usual = find_contacts(quadruped.trot(), animal.character, Recipe())
    assert np.array_equal(np.delete(contacts, 2, axis=1), np.delete(usual, 2, axis=1))
    assert [tag.name for tag in mirror(tagged, animal.character.mirror).tags] == ["contact.right.fore"]


def test_driven_it_stands_on_each_of_its_paws_and_drags_none(animal):
    clip, trace = drive(BakedLibrary(animal), FORWARD)
    paws, going = places_of(animal, clip), slice(150, None)
    held = trace.planted[1:] & trace.planted[:-1]
    slide = np.linalg.norm(np.diff(paws[..., :2], axis=0), axis=-1) * clip.rate
    for limb in range(4):
        assert 0.3 < held[going, limb].mean() < 0.9, "it stands and steps in turns"
        assert slide[held[:, limb], limb].mean() < 0.005, "while it stands it does not slide"
        assert np.ptp(paws[going, limb, 2]) > 0.02, "and it is lifted for a step"
        stands = held[:, limb] & trace.contacts[1:, limb]
        assert np.median(paws[1:][stands, limb, 2]) == pytest.approx(quadruped.LOW, abs=1e-3), "on its paw"
    assert clip.positions[-1, 0, 1] > 1.5 and paws[..., 2].min() > 0


def test_it_is_read_as_it_was_saved(animal, tmp_path):
    animal.save(tmp_path / "animal.mmdb")
    again = database.load(tmp_path / "animal.mmdb")
    assert [limb._replace(end=tuple(limb.end)) for limb in again.character.limbs] == [*animal.character.limbs]
    assert np.array_equal(again.contacts, animal.contacts)


def test_it_is_told_that_its_motion_cannot_be_put_onto_others(animal):
    biped = rooted(find_character(demo.skeleton()))
    for source, target in ((animal, biped), (animal, animal.character)):
        with pytest.raises(MotionError, match="source walks on four legs, and motion is only put onto other"):
            retargeted(BakedLibrary(source), target)
    with pytest.raises(MotionError, match="target walks on four legs"):
        check("target", animal.character)


def test_a_real_dog_holds_its_four_paws():
    if (clips := unpacked("dog")) is None:
        pytest.skip("the mocap archive dog.tar.xz is not beside the checkout")
    names = "D1_007_KAN01_001", "D1_008_KAN01_001", "D1_009_KAN01_001"  # it walks
    motion = baked([clips / f"{name}.bvh" for name in names], "--schema", "quadruped", "--units", "cm")
    assert motion.character.four_legged
    clip, trace = drive(BakedLibrary(motion), FORWARD)
    held = trace.planted[1:] & trace.planted[:-1]
    slide = np.linalg.norm(np.diff(places_of(motion, clip)[..., :2], axis=0), axis=-1) * clip.rate
    for limb in range(4):
        assert held[60:, limb].mean() > 0.3 and slide[held[:, limb], limb].mean() < 0.005
    assert driving.report(motion, clip, trace)["contact_not_held"] < 0.2


def test_a_bone_that_points_up_does_not_end_in_a_paw():
    animal = quadruped.character()
    hand = animal.roles["left_hand"]
    up = replace(animal, skeleton=replace(animal.skeleton, ends={**animal.skeleton.ends, hand: (0.0, 0.0, 0.2)}))
    ends = {limb.name: limb.end for limb in up.limbs}
    assert ends["left fore leg"] == (0.0, 0.0, 0.0) and ends["right fore leg"] == quadruped.ENDS["Hand"]
