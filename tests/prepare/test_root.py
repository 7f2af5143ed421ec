# SPDX-License-Identifier: GPL-3.0-or-later
from dataclasses import replace

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.motion import bvh, demo, quat
from mm_blender.motion.character import Character
from mm_blender.motion.clip import Clip
from mm_blender.motion.roles import find_character
from mm_blender.motion.skeleton import Skeleton, backward
from mm_blender.prepare.contacts import find_contacts
from mm_blender.prepare.recipe import Recipe
from mm_blender.prepare.root import add_root, find_forward, savgol, stays_behind

KINDS = ("made", "adaptive")


@pytest.mark.parametrize("kind", KINDS)
def test_a_made_root_is_on_the_ground_upright_and_changes_no_pose(biped, roles, dance, kind):
    clip = _rootless(dance(biped(3)))
    rooted = add_root(clip, roles(clip.skeleton, root=False), Recipe(root=kind))
    assert rooted.skeleton.names == ("root", *clip.skeleton.names)
    assert np.array_equal(rooted.skeleton.parents, [-1, *(clip.skeleton.parents + 1)])
    assert np.all(rooted.positions[:, 0, 2] == 0) and np.all(rooted.rotations[:, 0, 1:3] == 0)
    assert rooted.positions.dtype == rooted.rotations.dtype == np.float32
    _same_world(clip.globals(), rooted.globals(), skip=1)
    _same_world([a[None] for a in clip.skeleton.rest], [a[None] for a in rooted.skeleton.rest], skip=1)


def test_a_made_root_is_under_hips_and_spine_and_looks_where_they_look(biped, roles):
    clip = _walk(biped(), speed=1.5, heading=np.radians(70))
    rooted = add_root(clip, roles(clip.skeleton, root=False), Recipe(root="made"))
    assert np.abs(rooted.positions[:, 0, :2] - clip.positions[:, 0, :2]).max() < 0.01
    forward = quat.rotate(rooted.rotations[:, 0], [0, 1, 0])
    assert np.allclose(forward, [-np.sin(np.radians(70)), np.cos(np.radians(70)), 0], atol=1e-3)


def test_facing_may_be_read_from_hips_and_shoulders(biped, roles):
    clip = _walk(biped(), speed=1.0)
    rotations = clip.rotations.copy()
    rotations[:, clip.skeleton.index("spine")] = quat.from_yaw(np.float32(np.radians(40)))
    clip = clip.with_changes(rotations=rotations)
    yaw = [_yaw(add_root(clip, roles(clip.skeleton, root=False), Recipe(root="made", facing=facing)))[60]
           for facing in ("hips", "hips_shoulders")]
    assert np.allclose(np.degrees(yaw), [0, 20], atol=0.5)


def test_the_rest_pose_stands_on_its_own_root(biped, roles):
    turn = quat.from_yaw(np.radians(90))
    clip = _rootless(_still(biped(0, turn)))
    rest_positions, rest_rotations = add_root(clip, roles(clip.skeleton, root=False), Recipe(root="made")).skeleton.rest
    assert np.allclose(rest_positions[0], 0, atol=1e-6)
    assert np.allclose(quat.rotate(rest_rotations[0], [0, 1, 0]), [-1, 0, 0], atol=1e-6)


def test_an_adaptive_root_stands_still_where_a_filtered_one_still_creeps(biped, roles):
    clip, stands = _start_and_stop(biped())
    character = roles(clip.skeleton, root=False)
    speed, spin = {}, {}
    for kind in KINDS:
        rooted = add_root(clip, character, Recipe(root=kind))
        path = rooted.positions[:, 0].astype(np.float64)
        speed[kind] = np.linalg.norm(np.diff(path, axis=0), axis=-1)[stands[1:] & stands[:-1]].max() * clip.rate
        spin[kind] = np.abs(np.diff(_yaw(rooted)))[stands[1:] & stands[:-1]].max() * clip.rate
        assert np.abs((path - clip.positions[:, 0])[:, :2]).max() < 0.05  # neither ahead nor behind
    assert speed["adaptive"] < 1e-6 and speed["made"] > 0.01
    assert spin["adaptive"] < 1e-4 and spin["made"] > 0.01


def test_an_adaptive_root_that_never_stands_is_smoothed_like_the_made_one(biped, roles):
    clip = _walk(biped(), speed=1.5)
    wobble = clip.positions.copy()
    wobble[:, 0, 0] += 0.03 * np.sin(2 * np.pi * np.arange(len(clip)) / clip.rate)
    clip = clip.with_changes(positions=wobble)
    character = roles(clip.skeleton, root=False)
    made, adaptive = (add_root(clip, character, Recipe(root=kind)).positions[:, 0] for kind in KINDS)
    assert np.abs(made - adaptive)[20:-20].max() < 0.003


def test_a_root_bone_becomes_joint_0_and_changes_no_pose(biped, roles, dance):
    clip = dance(biped(2))
    tilt = quat.from_euler(np.array([0.2, 0.1, 0.0]), "XYZ")  # the bone is neither upright nor on the ground
    positions, rotations = clip.globals()
    positions[:, 0, 2] = 0.4
    rotations[:, 0] = quat.mul(rotations[:, 0], tilt)
    clip = clip.with_changes(**dict(zip(("positions", "rotations"), backward(clip.skeleton, positions, rotations))))
    rooted = add_root(clip, roles(clip.skeleton), Recipe())
    assert rooted.skeleton.names == clip.skeleton.names
    assert np.all(rooted.positions[:, 0, 2] == 0) and np.all(rooted.rotations[:, 0, 1:3] == 0)
    forward = quat.rotate(rotations[:, 0], [0, 1, 0])[:, :2]
    assert np.allclose(quat.rotate(rooted.rotations[:, 0], [0, 1, 0])[:, :2],
                       forward / np.linalg.norm(forward, axis=-1, keepdims=True), atol=1e-5)
    _same_world(clip.globals(), rooted.globals(), first=1)


def test_joints_above_the_root_bone_hang_on_it(biped, roles, dance):
    skeleton = biped(1)
    parents = np.concatenate([[-1, 0, 0], skeleton.parents[1:] + 2])
    names = ["world", "prop", *skeleton.names]
    one = np.concatenate([np.ones((2, 3)), skeleton.positions])
    two = np.concatenate([quat.identity((2,)), skeleton.rotations])
    clip = dance(Skeleton(names, parents, one, two))
    rooted = add_root(clip, replace(roles(skeleton), skeleton=clip.skeleton), Recipe(root="bone"))
    assert rooted.skeleton.names == ("root", "world", "prop", *skeleton.names[1:])
    assert [rooted.skeleton.parents[k] for k in range(4)] == [-1, 0, 1, 0]
    order = [clip.skeleton.index(name) for name in rooted.skeleton.names]
    _same_world([array[:, order] for array in clip.globals()], rooted.globals(), first=1)


@pytest.mark.parametrize("turn, axis", [((0, 0, 0), "+Y"), ((0, 0, 90), "+X"), ((0, 0, -90), "-X"), ((-90, 0, 0), "+Z"),
                                        ((0, 0, 180), "-Y"), ((90, 0, 0), "-Z")])
def test_the_forward_axis_is_found_from_the_motion(biped, roles, dance, turn, axis):
    clip = dance(biped())
    positions, rotations = clip.globals()
    rotations[:, 0] = quat.mul(rotations[:, 0], quat.from_euler(np.radians(turn), "XYZ"))
    clip = clip.with_changes(**dict(zip(("positions", "rotations"), backward(clip.skeleton, positions, rotations))))
    assert find_forward(clip, roles(clip.skeleton)) == axis
    # A character that does not know its forward axis finds it, and faces where it faced before.
    rooted = add_root(clip, replace(roles(clip.skeleton), forward=""), Recipe())
    assert np.allclose(np.cos(_yaw(rooted) - _yaw(dance(biped()))), 1, atol=1e-5)


def test_auto_makes_a_root_where_there_is_none(biped, roles, dance):
    clip = dance(biped())
    assert len(add_root(clip, roles(clip.skeleton), Recipe()).skeleton) == len(clip.skeleton)
    assert len(add_root(clip, roles(clip.skeleton, root=False), Recipe()).skeleton) == len(clip.skeleton) + 1
    assert add_root(clip, roles(clip.skeleton, root=False), Recipe()).skeleton.names[0] == "root.001"


@pytest.mark.parametrize("frames", [1, 2, 3, 4, 6, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_clips_shorter_than_the_filter_get_a_root_too(biped, roles, dance, frames, kind):
    clip = _rootless(dance(biped(), frames=frames))
    assert len(add_root(clip, roles(clip.skeleton, root=False), Recipe(root=kind))) == frames


def test_turning_round_and_round_does_not_unwind(biped, roles):
    clip = _walk(biped(), speed=0.0, turning=4.0)
    yaw = np.unwrap(_yaw(add_root(clip, roles(clip.skeleton, root=False), Recipe(root="made"))))
    assert np.allclose(np.diff(yaw) * clip.rate, 4.0, atol=0.01)


def test_what_is_missing_is_named(biped, roles, dance):
    clip = dance(biped())
    character = roles(clip.skeleton, root=False)
    for kind, role in (("bone", "root"), ("made", "left_thigh"), ("made", "hips")):
        lacking = Character(clip.skeleton, {r: name for r, name in character.roles.items() if r != role})
        with pytest.raises(MotionError, match=f'No bone has the role "{role}"'):
            add_root(clip, lacking, Recipe(root=kind))
    same = Character(clip.skeleton, {**character.roles, "left_thigh": "thigh.R"})
    with pytest.raises(MotionError, match=r'"thigh\.R" lie in the same place'):
        add_root(clip, same, Recipe(root="made"))
    with pytest.raises(MotionError, match="points straight up or down"):
        add_root(clip, replace(roles(clip.skeleton), forward="+Z"), Recipe())
    with pytest.raises(MotionError, match='"up" is not an axis'):
        add_root(clip, replace(roles(clip.skeleton), forward="up"), Recipe())


def test_savitzky_golay_leaves_cubics_alone_up_to_the_ends():
    times = np.linspace(-1, 1, 50)
    cubic = np.stack([times ** 3 - times, 2 * times ** 2 + 1], axis=-1)
    assert np.abs(savgol(cubic, 21) - cubic).max() < 1e-12
    noisy = cubic + np.random.default_rng(0).normal(size=cubic.shape)
    assert np.std(savgol(noisy, 21) - cubic) < 0.5
    # The weights of the classic table for five points.
    assert np.allclose(savgol(np.eye(9)[4], 5)[2:7], np.array([-3, 12, 17, 12, -3]) / 35)


def test_lafan1_faces_along_x_of_its_simulation_bone(lafan1):
    for path in sorted(lafan1.glob("*walk*.bvh"))[:3]:
        raw = bvh.read(path, 0.01)
        character = find_character(raw.skeleton)
        assert find_forward(raw, character) == "+X"
        bone = add_root(raw, character, Recipe(root="bone"))
        made = add_root(raw, character, Recipe(root="made"))
        assert np.abs(bone.positions[:, 0] - made.positions[:, 0]).max() < 0.2
        assert np.abs(np.angle(np.exp(1j * (_yaw(bone) - _yaw(made))))).max() < 0.6


def test_on_real_motion_the_adaptive_root_stands_where_the_feet_do(cmu):
    raw = bvh.read(cmu / "69_16.bvh", 0.056444).slice(1, 1128)
    character = find_character(raw.skeleton)
    planted = find_contacts(raw, character, Recipe()).all(axis=1)
    hips = np.linalg.norm(np.gradient(savgol(raw.positions[:, 0, :2], 30), 1 / raw.rate, axis=0), axis=-1)
    stands = np.flatnonzero(np.convolve(planted & (hips < 0.08), np.ones(73), "same") == 73)
    assert len(stands) > 100
    speed = {}
    for kind in KINDS:
        path = add_root(raw, character, Recipe(root=kind)).positions[:, 0].astype(np.float64)
        speed[kind] = np.linalg.norm(np.gradient(path, 1 / raw.rate, axis=0), axis=-1)[stands].mean()
    assert speed["adaptive"] < 1e-6 and speed["made"] > 0.005


def _rootless(clip):
    """The clip without its root: the hips are joint 0."""
    positions, rotations = (array[:, 1:] for array in clip.globals())
    rest_positions, rest_rotations = (array[1:] for array in clip.skeleton.rest)
    names, parents = clip.skeleton.names[1:], clip.skeleton.parents[1:] - 1
    bare = Skeleton(names, parents, rest_positions, rest_rotations)
    local = backward(bare, rest_positions[None], rest_rotations[None])
    bare = Skeleton(names, parents, local[0][0], local[1][0])
    return Clip(clip.name, bare, clip.rate, *backward(bare, positions, rotations))


def _still(skeleton, frames=120):
    return Clip("still", skeleton, 60.0, np.repeat(skeleton.positions[None], frames, axis=0),
                np.repeat(skeleton.rotations[None], frames, axis=0))


def _walk(skeleton, speed, heading=0.0, turning=0.0):
    """A rigid figure that glides: hips are joint 0."""
    clip = _rootless(_still(skeleton))
    times = np.arange(len(clip)) / clip.rate
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    rotations[:, 0] = quat.mul(quat.from_yaw(heading + turning * times), rotations[:, 0])
    positions[:, 0, :2] += speed * times[:, None] * [-np.sin(heading), np.cos(heading)]
    return clip.with_changes(positions=positions, rotations=rotations)


def _start_and_stop(skeleton):
    """A rigid figure that stands, hops ahead and turns within half a second, and stands again; and when it stands."""
    clip = _rootless(_still(skeleton, frames=180))
    part = np.clip((np.arange(180) - 75) / 30, 0, 1)
    done = part ** 3 * (part * (6 * part - 15) + 10)
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, 0, 1] += done
    rotations[:, 0] = quat.mul(quat.from_yaw(done), rotations[:, 0])
    return clip.with_changes(positions=positions, rotations=rotations), (part == 0) | (part == 1)


def _yaw(clip):
    return quat.yaw(quat.rotate(clip.rotations[:, 0], np.array([0.0, 1, 0])))


def _same_world(before, after, skip=0, first=0):
    """World transforms agree; `skip` joints are new in the second, joints before `first` are left out of both."""
    (positions, rotations), (new_positions, new_rotations) = before, after
    assert np.abs(positions[:, first:] - new_positions[:, skip + first:]).max() < 1e-5
    assert np.abs(np.abs((rotations[:, first:] * new_rotations[:, skip + first:]).sum(-1)) - 1).max() < 1e-5


# A root bone that stays behind

def test_a_root_bone_that_stays_while_the_hips_go_takes_the_path_of_the_hips(biped, roles):
    skeleton = biped()
    character = roles(skeleton)
    frames = np.arange(121)
    positions = np.repeat(skeleton.positions[None], len(frames), axis=0)
    positions[:, skeleton.index("hips"), 1] += 1.5 * frames / 60
    gone = Clip("gone", skeleton, 60.0, positions, np.repeat(skeleton.rotations[None], len(frames), axis=0))
    positions = np.repeat(skeleton.positions[None], len(frames), axis=0)
    positions[:, 0, 1] += 1.5 * frames / 60
    along = gone.with_changes(positions=positions)
    assert stays_behind(gone, character, Recipe()) and not stays_behind(along, character, Recipe())
    assert not stays_behind(gone, character, Recipe(root="made"))
    made = add_root(gone, character, Recipe(), left_behind=True)
    assert made.skeleton.same_joints(add_root(along, character, Recipe()).skeleton)
    assert np.allclose(made.positions[:, 0, 1], 1.5 * frames / 60, atol=1e-3)
    assert np.allclose(made.globals()[0][:, 1:], gone.globals()[0][:, 1:], atol=1e-5)
    kept = add_root(gone, character, Recipe(root="bone"), left_behind=True)
    assert not kept.positions[:, 0].any()


def test_a_root_bone_stays_behind_where_only_the_hips_turn(biped, roles):
    skeleton = biped()
    turned = np.repeat(skeleton.rotations[None], 60, axis=0)
    turned[:, skeleton.index("hips")] = quat.mul(quat.from_yaw(np.linspace(0, 2, 60)), skeleton.rotations[
        skeleton.index("hips")])
    clip = Clip("turn", skeleton, 60.0, np.repeat(skeleton.positions[None], 60, axis=0), turned)
    assert stays_behind(clip, roles(skeleton), Recipe())


def test_the_made_root_of_a_loop_goes_on_over_its_seam(biped, roles):
    skeleton = biped()
    character = roles(skeleton, root=False)
    phase = 2 * np.pi * np.arange(49) / 48
    positions = np.repeat(skeleton.positions[None], 49, axis=0)
    positions[:, skeleton.index("hips"), 0] += 0.03 * np.sin(phase)
    positions[:, skeleton.index("hips"), 1] += np.arange(49) / 48 + 0.02 * np.sin(2 * phase)
    clip = Clip("walk", skeleton, 60.0, positions, np.repeat(skeleton.rotations[None], 49, axis=0), loop=True)
    path = add_root(clip, character, Recipe()).positions[:, 0, :2]
    steps = np.diff(path, axis=0)
    assert np.abs(steps[0] - steps[-1]).max() < 2 * np.abs(np.diff(steps, axis=0)).max()
    assert np.allclose(path[-1] - path[0], [0, 1], atol=1e-4)


def test_no_root_of_the_demo_stays_behind_however_its_hips_are_twisted():
    character = find_character(demo.skeleton())
    assert not [clip.name for clip in demo.clips(30) if stays_behind(clip, character, Recipe())]
