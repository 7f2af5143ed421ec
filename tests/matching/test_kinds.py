# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody does is seen in the motion: of the demo against its own tags, and of poses that are made for it."""

import numpy as np
import pytest

from mm_blender.matching.kinds import kinds_of, lasting
from mm_blender.motion import demo, quat
from mm_blender.motion.clip import Clip
from mm_blender.motion.roles import find_character
from tests.databases import demo_clips

CHARACTER = find_character(demo.skeleton())


def shown(clip):
    return {kind: float(mask.mean()) for kind, mask in kinds_of(clip, CHARACTER).items()}


@pytest.fixture(scope="module")
def clips():
    return {clip.name: clip for clip in demo_clips()}


def standing(clips, seconds=3.0):
    """The demo idle, with the joints free to be moved."""
    idle = clips["idle"].slice(0, round(seconds * clips["idle"].rate))
    return idle, idle.positions.copy(), idle.rotations.copy()


def test_ways_of_going_are_seen_as_the_demo_tags_them(clips, subtests):
    for name, kind in (("idle", "idle"), ("walk", "walk"), ("walk slow", "walk"), ("jog", "run"), ("run fast", "run"),
                       ("backward", "backward"), ("crouch walk", "crouch"), ("crouch idle", "crouch")):
        with subtests.test(name):
            found = shown(clips[name])
            assert found.get(kind, 0) > 0.95
            assert all(share < 0.05 for other, share in found.items() if {other, kind} != {"walk", "backward"}
                       and other != kind)


def test_within_a_clip_each_stretch_is_what_it_is(clips, subtests):
    for name in ("wander walk", "wander run", "walk stop left", "walk to run", "strafe left", "crouch down and up"):
        clip = clips[name]
        found = kinds_of(clip, CHARACTER)
        for kind in {tag.name for tag in clip.tags} & {"idle", "walk", "run", "strafe", "crouch"}:
            if kind == "idle" and name.startswith("crouch"):
                continue  # the demo also tags who crouches without going anywhere
            with subtests.test(f"{name}: {kind}"):
                assert np.mean(found[kind] == clip.tag_mask(kind)) > 0.8


def test_turning_on_the_spot_and_round_is_seen(clips):
    assert 0.2 < shown(clips["turn 90 left"])["turn"] < 0.6 and 0.1 < shown(clips["walk turn 180 right"])["turn"] < 0.4
    assert "turn" not in shown(clips["walk arc 2 left"]) and "turn" not in shown(clips["walk"])


def flight(clips, seconds, gravity=9.81):
    idle, positions, _ = standing(clips)
    times = np.arange(len(idle)) / idle.rate
    middle, half = 1.5, seconds / 2
    arc = gravity / 2 * np.maximum(half ** 2 - (times - middle) ** 2, 0)
    positions[:, 0, 2] += arc
    return idle.with_changes(positions=positions, contacts=idle.contacts & (arc < 0.02)[:, None])


def test_a_jump_is_an_arc_through_the_air(clips):
    found = kinds_of(flight(clips, 0.6), CHARACTER)["jump"]
    assert abs(found.sum() / 60 - 1.2) < 0.15 and found[90]
    assert "jump" not in shown(flight(clips, 0.15))  # as in a step of a run


def test_who_sits_high_on_a_stool_or_climbs_does_not_jump(clips):
    idle, positions, _ = standing(clips)
    raised = np.clip((np.arange(len(idle)) - 60) / 30, 0, 1) * 0.4
    positions[:, 0, 2] += raised
    assert "jump" not in shown(idle.with_changes(positions=positions, contacts=idle.contacts & (raised == 0)[:, None]))


def test_a_fall_goes_from_upright_to_the_ground(clips):
    idle, positions, rotations = standing(clips)
    share = np.clip((np.arange(len(idle)) - 60) / 30, 0, 1)
    hips = CHARACTER.joint("hips") if CHARACTER.skeleton.names[0] != "root" else idle.skeleton.index("hips")
    positions[:, hips, 2] *= 1 - 0.8 * share
    joint = [idle.skeleton.index(CHARACTER.roles[f"{side}_thigh"]) for side in ("left", "right")]
    turned = quat.from_angle_axis(np.radians(85) * share, [1.0, 0, 0])
    for thigh in joint:
        rotations[:, thigh] = quat.mul(turned, rotations[:, thigh])
    found = kinds_of(idle.with_changes(positions=positions, rotations=rotations), CHARACTER)
    assert found["fall"][75] and not found["fall"][20] and "jump" not in found


def test_size_does_not_matter(clips):
    for name in ("walk", "run", "idle", "turn 90 left"):
        clip = clips[name]
        for factor in (0.5, 2.0):
            # A giant falls and swings more slowly: the same in their own time.
            other = clip.scaled(factor).with_changes(rate=clip.rate / factor ** 0.5)
            assert max(shown(other), key=shown(other).get) == max(shown(clip), key=shown(clip).get)


def test_what_is_too_short_is_no_stretch():
    mask = np.array([0] * 10 + [1] * 20 + [0] * 3 + [1] * 20 + [0] * 10 + [1] * 3 + [0] * 10, dtype=bool)
    assert np.flatnonzero(np.diff(lasting(mask, 10.0, 1.0).astype(int))).tolist() == [9, 52]


def test_who_has_no_legs_shows_nothing(clips):
    walk = clips["walk"]
    bare = Clip("box", walk.skeleton, walk.rate, walk.positions, walk.rotations, contacts=walk.contacts)
    assert kinds_of(bare, type(CHARACTER)(CHARACTER.skeleton, {"hips": CHARACTER.roles["hips"]})) == {}
