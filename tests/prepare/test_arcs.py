# SPDX-License-Identifier: GPL-3.0-or-later
"""Arc copies: the root goes round, and feet that stand stay where they are."""

import numpy as np
import pytest

from mm_blender.evaluate import feet
from mm_blender.motion.roles import find_character
from mm_blender.prepare.arcs import MADE, arcs_of, bent, is_straight_cycle, stands, turns
from mm_blender.prepare.root import root_path
from tests.databases import demo_clips


@pytest.fixture(scope="module")
def demo():
    return {clip.name: clip for clip in demo_clips()}


@pytest.fixture(scope="module")
def character(demo):
    return find_character(demo["walk"].skeleton)


def slide(clip, character):
    toes = character.contact_places(*clip.globals())
    return feet.over_the_ground(toes, np.array([np.median(toes[clip.contacts[:, side], side, 2]) for side in (0, 1)]),
                                clip.rate)["slide"]


def test_the_path_of_an_arc_turns_as_fast_as_it_should_at_the_same_speed(demo, character):
    arc = bent(demo["walk"], character, 1.0)
    path, yaw = root_path(arc)
    assert np.allclose(np.diff(yaw) * arc.rate, 1.0, atol=1e-3)
    assert np.linalg.norm(np.diff(path, axis=0), axis=-1).mean() * arc.rate == pytest.approx(1.35, rel=1e-3)
    assert np.ptp(path[:, 0]) == pytest.approx(2 * 1.35, rel=0.05)  # a circle of 1.35 m


def test_feet_slide_no_more_than_those_of_the_cycle(demo, character, subtests):
    for name in ("walk", "run", "crouch walk"):
        for text, arc in arcs_of(demo[name], character):
            with subtests.test(name + text):
                assert slide(arc, character) < 1.2 * slide(demo[name], character)
    assert slide(_dragged(demo["walk"]), character) > 2 * slide(demo["walk"], character)


def _dragged(clip):
    """The same arc without any care for the feet."""
    from mm_blender.motion import quat

    angles = 2.0 * np.arange(len(clip)) / clip.rate
    steps = quat.rotate(quat.from_yaw(angles[1:]), np.diff(clip.positions[:, 0], axis=0))
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[1:, 0] = positions[0, 0] + np.cumsum(steps, axis=0)
    rotations[:, 0] = quat.mul(quat.from_yaw(angles), rotations[:, 0])
    return clip.with_changes(positions=positions, rotations=rotations)


def test_an_arc_closes_and_keeps_its_bones(demo, character):
    arc = bent(demo["run"], character, 1.0)
    assert np.abs(arc.positions[-1, 1:] - arc.positions[0, 1:]).max() < 1e-4
    assert np.abs(np.abs((arc.rotations[-1, 1:] * arc.rotations[0, 1:]).sum(-1)) - 1).max() < 1e-4
    lengths = [np.linalg.norm(clip.positions[:, 2:], axis=-1) for clip in (arc, demo["run"])]
    assert np.abs(lengths[0] - lengths[1]).max() < 1e-4


def test_arcs_go_both_ways_are_marked_and_have_names_of_their_own(demo, character):
    found = arcs_of(demo["walk"], character)
    turning = [root_path(arc)[1][-1] for _, arc in found]
    assert len({text for text, _ in found}) == 4 and sum(angle > 0 for angle in turning) == 2
    assert all(arc.tag_mask(MADE).all() and arc.tag_mask("walk").all() for _, arc in found)
    fast, _ = (max(abs(angle) for angle in angles) for angles in (turning, [0]))
    assert fast / demo["walk"].duration == pytest.approx(2.1, rel=0.01)  # and a run takes wider turns
    assert abs(root_path(arcs_of(demo["run fast"], character)[-1][1])[1][-1]) / demo["run fast"].duration < 1.3


def test_only_straight_cycles_are_bent_and_what_turns_and_stands_is_known(demo, character):
    straight = {name for name, clip in demo.items() if is_straight_cycle(clip, character)}
    assert straight == {"walk slow", "walk", "walk fast", "jog", "run", "run fast", "backward", "crouch walk"}
    turning = {name for name, clip in demo.items() if turns(clip, character)}
    assert {"walk arc 1 left", "run turn 90 right", "wander walk"} <= turning
    assert not turning & (straight | {"idle", "turn 90 left", "walk start left", "strafe left"})
    assert {name for name, clip in demo.items() if stands(clip, character)} >= {"idle", "crouch idle", "turn 90 left"}
