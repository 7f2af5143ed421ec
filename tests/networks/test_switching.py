# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters are handed from one method to another while they are driven, each by itself."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.control.stick import Stick
from mm_blender.errors import MotionError
from mm_blender.motion import quat
from mm_blender.motion.skeleton import Skeleton
from mm_blender.networks.library import DecompressedLibrary, LearnedLibrary, ordered_as
from mm_blender.networks.matchers import AT_ONCE, LearnedMatcher, Poses
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.matcher import MixedMatcher, MotionMatcher
from tests.steering import group_of

AHEAD_STICK = Stick(move_y=1.0)


@pytest.fixture(scope="module")
def latents(networks, demo_database):
    return np.random.default_rng(0).normal(size=(len(demo_database), networks.latents)).astype(np.float32)


@pytest.fixture(scope="module")
def libraries(networks, demo_database, latents):
    usual = BakedLibrary(demo_database)
    return {"mm": usual, "dmm": DecompressedLibrary(usual, networks, latents),
            "lmm": LearnedLibrary(networks, latents)}


def driven(group, steps):
    for _ in range(steps):
        for index in range(len(group.libraries)):
            group.guides[index].steer(AHEAD_STICK)
        group.step()


def turns(before, after):
    """The largest angle between two sets of rotations."""
    turned = quat.to_scaled_angle_axis(quat.absolute(quat.mul(after, quat.inv(before))))
    return np.linalg.norm(turned, axis=-1).max()


def test_what_is_said_to_come_is_what_is_played(networks):
    matcher = LearnedMatcher(networks, 2)
    matcher.advance()
    positions, rotations, travel = matcher.coming([1, 0])
    assert len(positions[0]) == AT_ONCE - 1  # one of them has been played
    for row in range(AT_ONCE - 1):
        pose = matcher.pose()
        for shown, said in zip((pose.positions, pose.rotations, pose.travel), (positions, rotations, travel)):
            assert np.array_equal(shown[[1, 0]], said[:, row])
        assert pose.contacts.tolist() == matcher.contacts()
        matcher.advance()
    assert len(matcher.coming([0])[0][0]) == AT_ONCE


def test_what_comes_is_what_the_networks_say_frame_by_frame(networks):
    matcher, state = LearnedMatcher(networks), LearnedMatcher(networks).states()
    for _ in range(3 * AT_ONCE):
        assert matcher.states() == pytest.approx(state, abs=1e-5)
        assert matcher.pose().rotations == pytest.approx(Poses(networks).of(matcher.states()).rotations, abs=1e-5)
        state = matcher._following([0], state)[0]
        matcher.advance()


def test_several_matchers_are_one(networks, libraries, demo_database):
    motion, search = libraries["mm"].motion, libraries["mm"].choice().search
    usual, learned = MotionMatcher(motion, search, 2, 700), LearnedMatcher(networks, 1)
    mixed = MixedMatcher([(MotionMatcher(motion, search, 2, 700), [0, 2]), (LearnedMatcher(networks, 1), [1])])
    rng = np.random.default_rng(0)
    for step in range(20):
        ended = mixed.advance()
        assert ended[[0, 2]].tolist() == usual.advance().tolist() and not ended[1]
        learned.advance()
        if step % 5 == 0:
            queries = mixed.features() + rng.normal(size=(3, demo_database.schema.size)).astype(np.float32)
            jumped = mixed.match([0, 1, 2], queries)
            apart = [2 * index for index in usual.match([0, 1], queries[[0, 2]])]
            assert jumped == sorted(apart + [1] * len(learned.match([0], queries[[1]])))
        assert mixed.frames.tolist() == [usual.frames[0], -1, usual.frames[1]]
        assert np.array_equal(mixed.features()[[0, 2, 1]], np.concatenate([usual.features(), learned.features()]))
        assert mixed.contacts() == [usual.contacts()[0], learned.contacts()[0], usual.contacts()[1]]
    assert np.array_equal(mixed.pose().rotations[1], learned.pose().rotations[0])
    positions, rotations, travel = mixed.coming([1, 2])
    assert len(travel) == 2 and len(positions[0]) == len(travel[0]) <= AT_ONCE
    assert np.array_equal(rotations[0], learned.coming([0])[1][0, :len(rotations[0])])
    assert np.array_equal(rotations[1], usual.coming([1])[1][0, :len(rotations[0])])


@pytest.mark.parametrize("before, after", [("mm", "lmm"), ("lmm", "mm"), ("mm", "dmm"), ("lmm", "dmm")])
def test_a_switch_is_a_transition_like_any_jump(libraries, before, after):
    group = group_of(libraries[before])
    driven(group, 30)
    player = group.player
    place, rotations = player.roots[0][0], player.rotations.copy()
    group.play([libraries[after]])
    driven(group, 1)
    assert player.jumped[0] and group.libraries == [libraries[after]]
    pose = player.matcher.pose()
    # Networks that have learned nothing show quite another pose: it comes over little by little.
    assert turns(rotations[:, 1:], pose.rotations[:, 1:]) > 1
    assert turns(rotations[:, 1:], player.rotations[:, 1:]) < 0.5
    assert abs(player.roots[0][0] - place) < 0.3
    assert (player.matcher.frames[0] >= 0) == (after != "lmm")


def test_learned_motion_goes_on_from_the_frame_that_was_playing(libraries, latents, demo_database):
    group = group_of(libraries["mm"])
    driven(group, 30)
    frame = group.player.matcher.frames[0]
    group.play([libraries["lmm"]])
    expected = np.concatenate([demo_database.features[frame], latents[frame]])
    assert group.player.matcher.states()[0] == pytest.approx(expected)
    group.play([libraries["mm"]])
    assert group.player.matcher.frames[0] == frame  # the nearest frame to its own features


def test_learned_motion_without_latents_begins_with_what_the_projector_finds(networks, libraries):
    group, learned = group_of(libraries["mm"]), LearnedLibrary(networks)
    features = group.player.matcher.features()
    group.play([learned])
    matcher = learned.motion.matcher(learned.choice("~crouch").search, 1)
    assert matcher.match([0], features, must=np.array([True])) == [0]
    assert np.array_equal(group.player.matcher.states(), matcher.states())


def test_only_one_of_several_is_switched_and_the_others_go_on_as_they_were(libraries):
    alone, mixed = group_of(libraries["mm"], 2), group_of(libraries["mm"], 2)
    for group in (alone, mixed):
        driven(group, 20)
    mixed.play([libraries["mm"], libraries["lmm"]])
    for group in (alone, mixed):
        driven(group, 40)
    assert mixed.player.matcher.frames.tolist() == [alone.player.matcher.frames[0], -1]
    assert mixed.player.rotations[0] == pytest.approx(alone.player.rotations[0], abs=1e-6)
    assert turns(mixed.player.rotations[1], alone.player.rotations[1]) > 0.5


def test_a_switch_keeps_to_the_tags_that_are_asked_for(libraries):
    group = group_of(libraries["mm"], 2)
    for _ in range(10):
        group.guides[0].steer(Stick(move_y=1.0, crouch=1.0))
        group.guides[1].steer(AHEAD_STICK)
        group.step()
    group.play([libraries["lmm"]] * 2)
    allowed = [libraries["lmm"].choice(query).search for query in ("crouch", "~crouch")]
    assert np.array_equal(group.player.matcher.allowed > 0, allowed)


def test_networks_of_a_skeleton_in_another_order_show_the_same_pose(networks, demo_database):
    skeleton = demo_database.skeleton
    order = np.concatenate([[0], *(level[::-1] for level in skeleton.levels)])
    place = np.argsort(order)
    shuffled = Skeleton([skeleton.names[joint] for joint in order],
                        [-1, *place[skeleton.parents[order[1:]]]], skeleton.positions[order], skeleton.rotations[order])
    other = replace(demo_database, character=replace(demo_database.character, skeleton=shuffled),
                    moving=np.sort(place[demo_database.moving]).astype(np.int32))
    assert shuffled.names != skeleton.names
    found = ordered_as(networks, other)
    states = np.random.default_rng(0).normal(size=(3, networks.limits.shape[1])).astype(np.float32)
    mine, usual = Poses(found).of(states), Poses(networks).of(states)
    assert np.array_equal(mine.rotations, usual.rotations[:, order])
    assert found.fixed.tolist() == networks.fixed[order].tolist()
    columns = [networks.moving.tolist().index(order[joint]) for joint in found.moving]
    assert np.array_equal(mine.positions, usual.positions[:, columns])
    assert np.array_equal(mine.travel, usual.travel) and np.array_equal(mine.tags, usual.tags)


def test_networks_of_another_character_are_refused(networks, demo_database):
    skeleton = demo_database.skeleton
    other = replace(skeleton, names=[f"{name}.x" for name in skeleton.names])
    character = replace(demo_database.character, skeleton=other,
                        roles={role: f"{bone}.x" for role, bone in demo_database.character.roles.items()}, mirror={})
    with pytest.raises(MotionError, match="another character"):
        ordered_as(networks, replace(demo_database, character=character))
