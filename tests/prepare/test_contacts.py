# SPDX-License-Identifier: GPL-3.0-or-later
from dataclasses import replace

import numpy as np
import pytest

from mm_blender.motion import bvh
from mm_blender.motion.character import Character
from mm_blender.motion.clip import Clip, Tag
from mm_blender.motion.roles import find_character
from mm_blender.prepare.contacts import find_contacts
from mm_blender.prepare.recipe import Recipe
from mm_blender.prepare.root import add_root
from tests.pirouette import pirouette

RECIPE = Recipe()


def test_a_foot_stands_while_it_is_slow_and_low(biped, roles):
    contacts = _contacts(biped, roles)
    assert contacts.shape == (180, 2) and contacts.dtype == bool
    assert contacts[:55, 0].all() and contacts[125:, 0].all() and not contacts[62:118, 0].any()
    assert contacts[:, 1].all()


def test_a_foot_held_in_the_air_does_not_stand(biped, roles):
    assert not _contacts(biped, roles, lift=0.2)[80:100, 0].any()  # at the top of the lift it hangs still
    assert _contacts(biped, roles, lift=0.2, recipe=Recipe(contact_height=0.5))[80:100, 0].all()


def test_the_speed_that_counts_as_standing_is_a_setting(biped, roles):
    assert _contacts(biped, roles, lift=0, slide=0.3, recipe=Recipe(contact_speed=0.5)).all()
    assert not _contacts(biped, roles, lift=0, slide=0.3).any()


def test_a_foot_without_toes_stands_with_its_sole_also_while_the_heel_rises():
    clip = pirouette()
    character = find_character(clip.skeleton)
    toes = find_contacts(add_root(clip, character, RECIPE), character, RECIPE)
    feet = [clip.skeleton.index(character.roles[f"{side}_foot"]) for side in ("left", "right")]
    ends = {clip.skeleton.names[foot]: tuple(clip.skeleton.positions[foot + 1].tolist()) for foot in feet}
    clip = clip.with_changes(skeleton=replace(clip.skeleton, ends=ends))
    bare = replace(character, skeleton=clip.skeleton, roles={role: name for role, name in character.roles.items()
                                                             if not role.endswith("toe")})
    soles = find_contacts(add_root(clip, bare, RECIPE), bare, RECIPE)
    assert np.array_equal(soles, toes) and soles[40:70, 0].all()


def test_one_bad_frame_does_not_break_a_contact_or_lift_the_others(biped, roles):
    assert _contacts(biped, roles, spike=-0.5)[20:40].all()
    assert not _contacts(biped, roles, spike=-0.5, recipe=Recipe(contact_filter=0))[[29, 31]].any()


def test_tagged_ranges_are_that_sides_contacts_and_nothing_else_is(biped, roles):
    contacts = _contacts(biped, roles, tags=(Tag("contact.left", 1.0, 1.5), Tag("contact.left", 2.0, 2.0)))
    assert np.array_equal(np.flatnonzero(contacts[:, 0]), [*range(60, 91), 120])
    assert contacts[:, 1].all()


def test_feet_stand_in_for_toes_that_are_not_there(biped, roles):
    clip = _clip(biped)
    named = {role: name for role, name in roles(clip.skeleton).roles.items() if role != "left_toe"}
    assert find_contacts(clip, Character(clip.skeleton, named), Recipe()).shape == (180, 2)
    without = {role: name for role, name in named.items() if "foot" not in role and "toe" not in role}
    assert find_contacts(clip, Character(clip.skeleton, without), Recipe()).shape == (180, 0)


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_very_short_clips_have_contacts_too(biped, roles, frames):
    clip = _clip(biped).slice(0, frames)
    assert find_contacts(clip, roles(clip.skeleton), Recipe()).all()


def test_in_a_real_walk_the_feet_take_turns(lafan1):
    raw = bvh.read(lafan1 / "walk1_subject1_walk2_filtered.bvh", 0.01)
    character = find_character(raw.skeleton)
    clip = add_root(raw, character, Recipe())
    contacts = find_contacts(clip, character, Recipe())
    toes = clip.globals()[0][:, [clip.skeleton.index(character.roles[role]) for role in character.contact_roles()]]
    speed = np.linalg.norm(np.gradient(toes, 1 / clip.rate, axis=0), axis=-1)
    assert np.all((contacts.mean(axis=0) > 0.35) & (contacts.mean(axis=0) < 0.85))
    assert contacts.any(axis=1).mean() > 0.85
    assert speed[contacts].mean() < 0.1 < 0.5 < speed[~contacts].mean()


def _contacts(biped, roles, recipe=RECIPE, **motion):
    clip = _clip(biped, **motion)
    return find_contacts(clip, roles(clip.skeleton), recipe)


def _clip(biped, lift=0.2, slide=0.0, spike=0.0, tags=()):
    """Stands for three seconds; between 1 and 2 s the left foot rises, hangs for half a second, and comes down."""
    skeleton = biped()
    positions = np.repeat(skeleton.positions[None], 180, axis=0)
    rise = np.clip(1.0 - np.abs(np.arange(180) - 90) / 30, 0, 0.5) * 2
    positions[:, skeleton.index("foot.L"), 2] += lift * rise
    positions[30, :, 2] += spike / 2
    positions[:, 0, 1] += slide * np.arange(180) / 60
    return Clip("step", skeleton, 60.0, positions, np.repeat(skeleton.rotations[None], 180, axis=0), tags=tags)
