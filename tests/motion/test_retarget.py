# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of one character on another."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.evaluate import retargeting
from mm_blender.motion import bvh, demo, quat
from mm_blender.motion.character import Character
from mm_blender.motion.clip import Clip
from mm_blender.motion.retarget import Retarget, followers
from mm_blender.motion.roles import find_character
from mm_blender.motion.skeleton import Skeleton
from mm_blender.motion.stance import find_stance, rest_stance, seen_from_root
from mm_blender.prepare.clean import clean
from mm_blender.prepare.onto import Onto
from mm_blender.prepare.recipe import Recipe
from mm_blender.prepare.root import rooted
from tests.pirouette import pirouette
from tests.rigs import a_pose, at_rest_with, renamed_and_rolled, with_lengths, without

MOVES = ("walk", "run", "walk turn 90 right", "crouch walk")


@pytest.fixture(scope="module")
def character(demo_database):
    return demo_database.character


@pytest.fixture(scope="module")
def clips(demo_database):
    names = [part.name for part in demo_database.ranges]
    return [demo_database.clip(names.index(name)) for name in MOVES if name in names]


def places(clip):
    return clip.globals()[0]


def figures(retarget, clips):
    return retargeting.together([retargeting.report(retarget, clip, retarget.clip(clip)) for clip in clips])


# The same bones

def test_a_copy_with_other_names_and_rolls_stands_where_the_original_does(character, clips):
    retarget = Retarget(character, renamed_and_rolled(character))
    for clip in clips:
        clip = clip.with_changes(contacts=None)  # whoever says that feet stand wants them to stand still
        assert np.abs(places(retarget.clip(clip)) - places(clip)).max() < 1e-4


def test_so_does_one_whose_rest_pose_is_a_line_wherever_that_faces(character, clips):
    straight = replace(character.skeleton, rotations=quat.identity((len(character.skeleton),)))
    lying, facing = replace(character, skeleton=straight), {"root": quat.from_yaw(2.0)}
    clips = [clip.with_changes(skeleton=straight, contacts=None) for clip in clips]
    target = renamed_and_rolled(at_rest_with(lying, facing))
    with pytest.raises(MotionError, match="does not stand"):
        rest_stance(target)
    turned = replace(target.skeleton, rotations=np.concatenate([[quat.from_yaw(-1.0)], target.skeleton.rotations[1:]]))
    retarget = Retarget(lying, replace(target, skeleton=turned), source_stance=find_stance(lying, clips))
    for clip in clips:
        assert np.abs(places(retarget.clip(clip)) - places(clip)).max() < 1e-4
    assert followers(lying, target) == target.skeleton.names


def test_only_what_follows_something_has_to_be_posed(character):
    skeleton, hand = character.skeleton, character.joint("left_hand")
    names, parents = [*skeleton.names, "tail", "thumb"], [*skeleton.parents, character.joint("hips"), hand]
    positions = np.concatenate([skeleton.positions * [1, 1, 1.1], np.full((2, 3), 0.1)])
    rotations = np.concatenate([skeleton.rotations, quat.identity((2,))])
    target = replace(character, skeleton=Skeleton(names, parents, positions, rotations))
    assert followers(character, target) == skeleton.names
    bare = without(character, "left_toe", "right_toe", "left_shoulder", "right_shoulder")
    left = {character.roles[f"{side}_shoulder"] for side in ("left", "right")}
    assert set(skeleton.names) - set(followers(bare, target)) == left, "toes are what feet stand with"


def test_so_do_the_poses_of_a_few_frames(character, demo_database):
    retarget = Retarget(character, renamed_and_rolled(character))
    frames = np.arange(100, 120).reshape(2, 10)
    place, rotations = retarget.poses(demo_database.positions[frames], demo_database.rotations[frames],
                                      demo_database.moving)
    assert place.shape == (2, 10, 3) and rotations.shape == (2, 10, len(character.skeleton), 4)
    again = retarget.poses(demo_database.local_positions(frames), demo_database.rotations[frames])
    assert np.allclose(place, again[0], atol=1e-6) and np.allclose(rotations, again[1], atol=1e-6)
    assert np.abs(place - demo_database.local_positions(frames)[..., retarget.moving, :]).max() < 1e-4


@pytest.mark.parametrize("arms, legs", [(45, 8), (-40, 3)])
def test_a_copy_with_another_rest_pose_too(character, clips, arms, legs):
    retarget = Retarget(character, renamed_and_rolled(a_pose(character, arms, legs)))
    for clip in clips:
        clip = clip.with_changes(contacts=None)
        assert np.abs(places(retarget.clip(clip)) - places(clip)).max() < 1e-3


@pytest.mark.parametrize("degrees", [4, -4])
def test_hips_are_level_where_feet_are_whatever_the_rest_pose_has(character, clips, degrees):
    turn = quat.from_angle_axis(np.radians(degrees), np.array([0.0, 1.0, 0.0]))
    tilted = at_rest_with(character, {"hips": turn, **dict.fromkeys(("spine", "left_thigh", "right_thigh"),
                                                                    quat.inv(turn))})
    same = [clip.with_changes(skeleton=tilted.skeleton) for clip in clips]
    retarget = Retarget(tilted, character, source_stance=find_stance(tilted, same))
    for clip in same:
        assert np.abs(places(retarget.clip(clip.with_changes(contacts=None))) - places(clip)).max() < 2e-3


def test_feet_that_stand_are_held_in_one_place_on_the_ground(character, clips):
    retarget = Retarget(character, with_lengths(character, shin=1.1, foot=1.15, toe=1.3))
    for clip in clips:
        toes = places(retarget.clip(clip))[:, [character.joint("left_toe"), character.joint("right_toe")]]
        for side in (0, 1):
            for start, stop in spans(clip.contacts[:, side]):
                stand = toes[start:stop, side]
                assert np.linalg.norm(np.ptp(stand[:, :2], axis=0)) < 1e-3
                assert np.abs(stand[:, 2] - retarget.standing[side, 0]).max() < 2e-3


def spans(mask):
    return np.flatnonzero(np.diff(np.concatenate([[0], mask, [0]]))).reshape(-1, 2).tolist()


# Other proportions

def test_travel_and_height_go_with_the_length_of_the_legs(character, clips):
    half = with_lengths(character, 0.5)
    retarget = Retarget(character, half)
    assert retarget.scale == pytest.approx(0.5, abs=1e-5)
    clip = clips[0].with_changes(contacts=None)
    small = retarget.clip(clip)
    assert np.abs(places(small) - 0.5 * places(clip)).max() < 1e-4
    assert small.tags == clip.tags and small.rate == clip.rate and small.skeleton is half.skeleton


@pytest.mark.parametrize("other", [{"shin": 1.2}, {"foot": 0.85}, {"thigh": 1.6},
                                   {"shin": 1.2, "foot": 0.9, "toe": 0.65},
                                   {"size": 1.4, "forearm": 1.2, "toe": 1.2}])
def test_feet_stand_and_limbs_point_where_they_did_whatever_the_proportions(character, clips, other):
    retarget = Retarget(character, with_lengths(character, **other))
    report = figures(retarget, clips)
    assert all(np.array_equal(retarget.clip(clip).contacts, clip.contacts) for clip in clips)
    assert report["foot_slide"] < 0.5 and report["toe_penetration_mm"] < 5
    assert report["limb_degrees"]["mean"] < 1 and report["limb_degrees"]["p95"] < 4.5
    assert report["flipped_frames"] == 0


def test_a_loop_still_closes(character, clips):
    retarget = Retarget(character, with_lengths(character, shin=1.15, toe=0.7))
    loops = [clip for clip in clips if clip.loop]
    assert loops
    for clip in loops:
        other = retarget.clip(clip)
        seen = seen_from_root(other.skeleton, other.positions, other.rotations)[0]
        assert np.abs(seen[0] - seen[-1]).max() < 0.002


def test_only_the_hips_have_a_place_of_their_own(character, clips):
    other = with_lengths(character, shin=1.3)
    retarget = Retarget(character, other)
    clip = retarget.clip(clips[1])
    moves = np.abs(clip.positions - other.skeleton.positions).max(axis=(0, 2)) > 1e-6
    assert np.flatnonzero(moves).tolist() == [0, other.joint("hips")]


def test_hands_keep_their_height_if_wanted(character, clips):
    other = with_lengths(character, upper_arm=1.0, forearm=1.25, hand=1.25)
    hands = [character.joint(f"{side}_hand") for side in ("left", "right")]
    low, high = (places(Retarget(character, other, hands=much).clip(clips[0]))[:, hands, 2] for much in (0.0, 1.0))
    wanted = Retarget(character, other).scale * places(clips[0])[:, hands, 2]
    assert np.abs(high - wanted).max() < 0.005 < 0.05 < np.abs(low - wanted).max()


# Other bones

def test_a_target_without_toes_clavicles_and_but_one_spine_bone(character, clips):
    chest = {**character.roles, "chest": "upper_chest"}
    bare = without(replace(character, roles=chest), "left_toe", "right_toe", "left_shoulder", "right_shoulder", "spine")
    bare = without(replace(bare, roles={**bare.roles, "spine": "chest"}), "chest", "neck")
    assert len(bare.chain("spine")) == 1 and not bare.has("left_toe")
    retarget = Retarget(character, bare)
    report = figures(retarget, clips)
    assert report["foot_slide"] < 0.5 and report["flipped_frames"] == 0 and report["limb_degrees"]["p95"] < 3
    for clip in clips:
        head, other = places(clip)[:, character.joint("head")], places(retarget.clip(clip))[:, bare.joint("head")]
        assert np.abs(head - other).max() < 0.15


@pytest.mark.parametrize("known", ["end", "tip", "nothing"])
def test_a_pirouette_stands_on_the_tip_of_a_foot_without_toes(character, known):
    bare = without(character, "left_toe", "right_toe")
    if known != "nothing":
        feet = [character.joint(f"{side}_foot") for side in ("left", "right")]
        toes = character.skeleton.positions[np.array(feet) + 1] * (1.0 if known == "end" else 1.4)
        assert (character.skeleton.parents[np.array(feet) + 1] == feet).all()
        ends = {character.skeleton.names[foot]: tuple(toe.tolist()) for foot, toe in zip(feet, toes)}
        bare = replace(bare, skeleton=replace(bare.skeleton, ends=ends))
    clip = clean(pirouette(), find_character(demo.skeleton()), Recipe())[0].clip
    retarget = Retarget(character, bare)
    made = retarget.clip(clip)
    report = retargeting.report(retarget, clip, made)
    assert report["foot_slide"] < 0.5 and report["flipped_frames"] == 0
    assert -10 < report["sole_lowest_mm"] <= report["sole_highest_mm"] < 10 > report["toe_penetration_mm"]
    assert np.array_equal(made.contacts, clip.contacts) and clip.contacts[120, 0]
    higher = (places(made)[:, bare.joint("hips")] - places(clip)[:, character.joint("hips")])[:, 2]
    assert higher.min() > -0.01 and higher.max() < 0.06, "a longer foot is higher on its tip"
    heels = places(made)[:, bare.joint("left_foot"), 2]
    assert heels[120] > heels[0] + 0.05


def test_a_source_without_them_moves_a_target_that_has_them(character, clips):
    bare = without(character, "left_shoulder", "right_shoulder", "neck", "spine")
    onto_bare = Retarget(character, bare)
    back = Retarget(bare, character)
    for clip in clips:
        clip = clip.with_changes(contacts=None)
        there_and_back = back.clip(onto_bare.clip(clip))
        feet = [character.joint(f"{side}_foot") for side in ("left", "right")]
        assert np.abs(places(there_and_back)[:, feet] - places(clip)[:, feet]).max() < 0.01


def test_twist_bones_stay_with_the_bone_that_carries_them(character, clips):
    skeleton = character.skeleton
    names = [*skeleton.names, "thigh twist", "forearm twist"]
    parents = [*skeleton.parents, character.joint("left_thigh"), character.joint("left_forearm")]
    twisted = Skeleton(names, parents, np.concatenate([skeleton.positions, [[0, 0.2, 0], [0, 0.1, 0]]]),
                       np.concatenate([skeleton.rotations, quat.identity((2,))]))
    retarget = Retarget(character, with_lengths(replace(character, skeleton=twisted), shin=1.2))
    clip = retarget.clip(clips[1])
    assert np.abs(np.abs(clip.rotations[:, -2:, 0]) - 1).max() < 1e-5


def test_a_longer_spine_bends_as_a_shorter_one_does(character):
    three = character.chain("spine")
    one = without(replace(character, roles={**character.roles, "chest": "upper_chest"}), "spine")
    retarget = Retarget(one, character)
    turn = quat.from_angle_axis(np.radians(60), np.array([1.0, 0, 0]))
    rotations = one.skeleton.rotations[None].copy()
    for joint in one.chain("spine"):  # bends by 60 degrees altogether
        part = quat.slerp(quat.identity(), turn, 1 / len(one.chain("spine")))
        rotations[:, joint] = quat.mul(rotations[:, joint], part)
    bent = retarget.rotations(rotations)[0]
    angles = [np.degrees(2 * np.arccos(min(abs(float(np.dot(bent[joint], character.skeleton.rotations[joint]))), 1)))
              for joint in three]
    assert sum(angles) == pytest.approx(60, abs=2) and min(angles) > 5


def test_four_legs_onto_four_legs():
    horse = four_legs()
    other = renamed_and_rolled(with_lengths(horse, 0.4))
    chance = np.random.default_rng(1)
    turns = quat.from_scaled_angle_axis(np.cumsum(chance.normal(0, 0.02, (60, len(horse.skeleton), 3)), axis=0))
    rotations = quat.mul(horse.skeleton.rotations, turns)
    positions = np.repeat(horse.skeleton.positions[None], 60, axis=0)
    positions[:, 0] = np.arange(60)[:, None] * [0, 0.02, 0]
    rotations[:, 0] = quat.identity()
    clip = Clip("trot", horse.skeleton, 60.0, positions, rotations)
    assert np.abs(places(Retarget(horse, other).clip(clip)) - 0.4 * places(clip)).max() < 5e-4


def four_legs():
    """A skeleton with four legs, root first."""
    parts = {"root": (None, (0, 0, 0)), "hips": ("root", (0, -0.5, 1.2)), "spine": ("hips", (0, -0.2, 1.25)),
             "chest": ("spine", (0, 0.4, 1.25)), "neck": ("chest", (0, 0.6, 1.35)), "head": ("neck", (0, 0.9, 1.7))}
    for side, x in (("left", -0.15), ("right", 0.15)):
        parts |= {f"{side}_thigh": ("hips", (x, -0.5, 1.1)), f"{side}_shin": (f"{side}_thigh", (x, -0.4, 0.7)),
                  f"{side}_foot": (f"{side}_shin", (x, -0.6, 0.4)), f"{side}_toe": (f"{side}_foot", (x, -0.5, 0.05)),
                  f"{side}_upper_arm": ("chest", (x, 0.4, 1.0)),
                  f"{side}_forearm": (f"{side}_upper_arm", (x, 0.3, 0.7)),
                  f"{side}_hand": (f"{side}_forearm", (x, 0.35, 0.1))}
    names = list(parts)
    parents = [names.index(above) if above else -1 for above, _ in parts.values()]
    places = np.array([place for _, place in parts.values()], dtype=np.float32)
    local = np.array([place - (places[parent] if parent >= 0 else 0) for place, parent in zip(places, parents)])
    skeleton = Skeleton(names, parents, local, quat.identity((len(names),)))
    return Character(skeleton, dict(zip(names, names)))


# What cannot be done

@pytest.mark.parametrize("role", ["hips", "left_shin", "right_foot"])
@pytest.mark.parametrize("which", ["source", "target"])
def test_a_role_that_is_missing_is_named(character, role, which):
    lacking = replace(character, roles={name: bone for name, bone in character.roles.items() if name != role})
    pair = (lacking, character) if which == "source" else (character, lacking)
    with pytest.raises(MotionError, match=rf'The {which} has no bone with the role "{role}"'):
        Retarget(*pair)


def test_hips_that_cannot_leave_the_root_are_named(character):
    stuck = replace(character, connected=frozenset({"hips"}))
    with pytest.raises(MotionError, match='The bone "hips" of the target is connected to its root "root"'):
        Retarget(character, stuck)


def test_someone_who_lies_in_the_rest_pose_needs_another_one(character):
    lying = at_rest_with(character, {"hips": quat.from_angle_axis(np.pi / 2, np.array([1.0, 0, 0]))})
    with pytest.raises(MotionError, match=r'"hips".*does not stand'):
        Retarget(character, lying)
    Retarget(character, lying, target_stance=rest_stance(character))


def test_a_clip_of_another_skeleton_is_not_taken(character, clips):
    with pytest.raises(MotionError, match=r"another skeleton"):
        Retarget(renamed_and_rolled(character), character).clip(clips[0])


@pytest.mark.parametrize("which", ["source", "target"])
@pytest.mark.filterwarnings("error")
def test_arms_without_length_are_no_trouble(character, clips, which):
    places = character.skeleton.positions.copy()
    places[[character.joint(f"{side}_{part}") for side in ("left", "right") for part in ("forearm", "hand")]] = 0
    armless = replace(character, skeleton=replace(character.skeleton, positions=places))
    pair = (armless, character) if which == "source" else (character, armless)
    moved = clips[0].with_changes(skeleton=pair[0].skeleton)
    assert len(Retarget(*pair).clip(moved)) == len(moved)


# Mocap

def test_lafan1_stands_though_its_rest_pose_is_a_line(lafan1):
    raw = bvh.read(lafan1 / "walk3_subject4_walk2_filtered.bvh", 0.01)
    character = find_character(raw.skeleton)
    stance = find_stance(rooted(character), [piece.clip for piece in clean(raw, character, Recipe())])
    place = {role: stance.positions[rooted(character).joint(role)] for role in character.roles}
    assert place["head"][2] > 1.4 and 0.8 < place["hips"][2] < 1.0
    for side, sign in (("left", -1), ("right", 1)):
        assert place[f"{side}_hand"][2] < place[f"{side}_forearm"][2] < place[f"{side}_upper_arm"][2], "arms hang"
        assert sign * place[f"{side}_foot"][0] > 0.03, "X is on the right"
        assert place[f"{side}_toe"][1] > place[f"{side}_foot"][1] + 0.1, "it looks along +Y"
        assert abs(place[f"{side}_toe"][2]) < 0.05


@pytest.mark.parametrize("size", [1.0, 0.6])
@pytest.mark.parametrize("archive, units, name", [("lafan1", 0.01, "walk3_subject4_walk2_filtered"),
                                                  ("cmu", 0.056444, "16_35")])
def test_a_copy_of_who_was_captured_is_where_they_were_in_another_size_too(request, archive, units, name, size):
    raw = bvh.read(request.getfixturevalue(archive) / f"{name}.bvh", units)
    character = find_character(raw.skeleton)
    (piece,) = clean(raw, character, Recipe())
    source, clip = rooted(character), piece.clip.with_changes(contacts=None)
    copy = with_lengths(renamed_and_rolled(source), size)
    retarget = Retarget(source, copy, source_stance=find_stance(source, [clip]))
    assert np.abs(places(retarget.clip(clip)) - size * places(clip)).max() < 1e-4
    assert retarget.scale == pytest.approx(size, abs=1e-4)


@pytest.mark.parametrize("archive, units, files", [
    ("lafan1", 0.01, ("walk3_subject4_walk2_filtered", "run2_subject4_run2_filtered")),
    ("cmu", 0.056444, ("16_11", "16_35", "69_01", "69_18"))])
def test_mocap_stands_and_walks_on_the_demo_character(request, archive, units, files):
    folder = request.getfixturevalue(archive)
    target, reports = rooted(find_character(demo.skeleton())), []
    for name in files:
        raw = bvh.read(folder / f"{name}.bvh", units)
        onto = Onto(find_character(raw.skeleton), (target, rest_stance(target)), Recipe(), lambda raw=raw: [raw])
        (before,), (after,) = onto.before(raw, Recipe()), onto.clean(raw, Recipe())
        reports.append(retargeting.report(onto.retarget, before.clip, after.clip))
    report = retargeting.together(reports)
    assert report["foot_slide"] < 0.5 and report["toe_penetration_mm"] < 5 and report["flipped_frames"] == 0
    assert report["limb_degrees"]["mean"] < 1 and report["limb_degrees"]["p95"] < 2.7
