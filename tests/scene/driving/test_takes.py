# SPDX-License-Identifier: GPL-3.0-or-later
"""A take becomes an ordinary Action: exact or simplified, the armature's own or on an NLA track; nothing is lost."""

import math
from dataclasses import replace

import bpy
import numpy as np
import pytest

from mm_blender.control.stick import Recording
from mm_blender.errors import MotionError
from mm_blender.evaluate import courses
from mm_blender.motion import bvh
from mm_blender.playback.drive import drive
from mm_blender.prepare.resample import resample
from mm_blender.scene import actions
from mm_blender.scene.demo import character
from mm_blender.scene.driving import takes
from mm_blender.scene.reading import from_curves, keyframes, sampling
from mm_blender.scene.reading.reference import Reference
from mm_blender.scene.rig import armatures, building

TOLERANCE = 0.005


@pytest.fixture(scope="module")
def take(demo_database):
    """Six seconds of walking, running and standing, and whether each foot is held."""
    course = courses.random_walk(6.0, seed=3)
    clip, trace = drive(demo_database, Recording([*course.times, 6.0], [*course.values, course.values[-1] * 0]))
    return clip, trace.planted


@pytest.fixture
def ob(extension):
    bpy.context.scene.render.fps = 60
    return character.make_armature(bpy.context)


def shown(ob, action, frames, skeleton=None):
    """Where every joint is (F, J, 3) as Blender evaluates the curves."""
    skeleton = skeleton or armatures.skeleton_of(ob)
    read = from_curves.read(Reference.of(ob, action), skeleton, np.asarray(frames, float))
    positions, rotations = sampling.finished(read)
    return sampling.Clip("", skeleton, 1.0, positions, rotations).globals()[0]


def key_frames(action, ob):
    """Data path → the frames with keys of each of its channels."""
    found = {}
    for curve in actions.fcurves(action, ob):
        found.setdefault(curve.data_path, []).append([key.co.x for key in curve.keyframe_points])
    return found


def test_an_exact_take_is_exact_on_every_frame(ob, take):
    action = takes.keep(ob, take[0], "Take", start_frame=11)
    assert action.name == "Take" and ob.animation_data.action == action and action.use_fake_user
    wanted = takes.on_rig(ob, take[0]).globals()[0]
    assert np.abs(shown(ob, action, 11 + np.arange(len(wanted))) - wanted).max() < 1e-4
    bpy.context.scene.frame_set(11 + 200)
    head = ob.matrix_world @ ob.pose.bones["hand.L"].head
    assert np.allclose(head, wanted[200, armatures.skeleton_of(ob).index("hand.L")], atol=1e-4)


def test_an_exact_take_has_keys_only_where_something_changes(ob, take):
    clip = take[0]
    rotations = clip.rotations.copy()
    rotations[60:200] = rotations[60]
    head = clip.skeleton.index("head")
    rotations[:, head] = rotations[0, head]
    held = clip.with_changes(rotations=rotations)
    action = takes.keep(ob, held, "Take")
    frames = key_frames(action, ob)
    last = len(clip)
    assert all(channel == [1, last] for channel in frames['pose.bones["head"].rotation_quaternion'])
    thigh = max(frames['pose.bones["thigh.L"].rotation_quaternion'], key=len)
    assert {61, 200} <= set(thigh) and not set(thigh) & set(range(62, 200)) and len(thigh) > 150
    height = frames['pose.bones["root"].location'][2]
    assert height == [1, last], "it walks on flat ground"
    wanted = takes.on_rig(ob, held).globals()[0]
    assert np.abs(shown(ob, action, 1 + np.arange(last)) - wanted).max() < 1e-4


@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY", "AXIS_ANGLE"])
def test_a_simplified_take_stays_within_the_tolerance(ob, take, mode):
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    clip, planted = take
    action = takes.keep(ob, clip, "Take", tolerance=TOLERANCE)
    finer = resample(takes.on_rig(ob, clip), 4 * 60)
    positions = shown(ob, action, 1 + np.arange(len(finer)) / 4)
    apart = np.linalg.norm(positions - finer.globals()[0], axis=-1)
    # Near no rotation at all an axis turns wildly: between frames no keys can follow it.
    assert apart[::4 if mode == "AXIS_ANGLE" else 1].max() <= TOLERANCE
    toes = [finer.skeleton.index(name) for name in ("toe.L", "toe.R")]
    held = planted[1:] & planted[:-1]
    slide = np.linalg.norm(np.diff(positions[::4, toes, :2], axis=0), axis=-1)[held] * 60
    assert held.mean() > 0.2 and slide.mean() < 0.01
    count = sum(len(curve.keyframe_points) for curve in actions.fcurves(action, ob))
    assert count < 0.3 * len(clip) * len(actions.fcurves(action, ob))


def test_simplified_keys_are_smooth_on_whole_frames_and_shared_by_a_rotation(ob, take):
    action = takes.keep(ob, take[0], "Take", start_frame=5, tolerance=TOLERANCE)
    for path, channels in key_frames(action, ob).items():
        most = max(channels, key=len)
        assert all(frames in (most, [most[0], most[-1]]) for frames in channels), path
        assert all(frame == round(frame) for frame in most) and (most[0], most[-1]) == (5, 4 + len(take[0]))
    keys_ = [key for curve in actions.fcurves(action, ob) for key in curve.keyframe_points]
    assert {key.interpolation for key in keys_} == {"BEZIER"}
    assert {key.handle_left_type for key in keys_} | {key.handle_right_type for key in keys_} == {"ALIGNED"}


def test_mocap_on_a_scaled_object_stays_within_the_tolerance(lafan1):
    bpy.context.scene.render.fps = 60
    clip = bvh.read(lafan1 / "walk1_subject1_walk2_filtered.bvh", 0.01).slice(300, 600)
    ob = building.build_armature(clip.scaled(100).skeleton, "Walk")
    ob.scale, ob.rotation_euler.z = (0.01,) * 3, 0.5
    bpy.context.view_layer.update()
    on_bones, _ = building.on_bones(ob, clip)
    action = keyframes.write_action(ob, on_bones, "Walk", tolerance=TOLERANCE)
    positions = shown(ob, action, 1 + np.arange(len(clip)), on_bones.skeleton)
    assert np.linalg.norm(positions - on_bones.globals()[0], axis=-1).max() <= TOLERANCE
    count = sum(len(curve.keyframe_points) for curve in actions.fcurves(action, ob))
    assert count < 0.3 * len(clip) * len(actions.fcurves(action, ob))


@pytest.mark.parametrize("tolerance", [0.0, TOLERANCE])
def test_a_take_has_the_scenes_rate_even_a_broken_one(ob, take, tolerance):
    render = bpy.context.scene.render
    render.fps, render.fps_base = 30, 1.001
    action = takes.keep(ob, take[0], "Take", tolerance=tolerance)
    rate = 30 / 1.001
    assert action.frame_range[1] - 1 == math.floor(take[0].duration * rate)
    frames = {frame for channels in key_frames(action, ob).values() for channel in channels for frame in channel}
    assert all(frame == round(frame) for frame in frames)
    wanted = resample(takes.on_rig(ob, take[0]), rate).globals()[0]
    apart = np.linalg.norm(shown(ob, action, 1 + np.arange(len(wanted))) - wanted, axis=-1)
    assert apart.max() <= max(tolerance, 1e-4)


def test_on_the_nla_a_take_is_seen_at_once_and_the_own_action_plays_below_it(rigs, ob, take):
    own = rigs.animate(ob, "Own", (1, 20), bones=["head"])
    other = rigs.animate(ob, "Other", (1, 20), bones=["hips"])
    actions.assign(ob, own)
    actions.push_to_nla(ob, other, 3)
    before = {action.name: sampling.fingerprint(ob, action) for action in (own, other)}
    bound = ob.animation_data
    bound.nla_tracks[0].is_solo = True
    action = takes.keep(ob, take[0], "Take", start_frame=50, keep_as="NLA")
    assert bound.action is None
    assert [track.name for track in bound.nla_tracks] == ["Other", "Own", "Take"]
    strip = bound.nla_tracks["Take"].strips[0]
    assert strip.action == action and strip.frame_start == 50 and strip.frame_end == 50 + len(take[0]) - 1
    assert (bound.nla_tracks["Own"].strips[0].frame_start, bound.nla_tracks["Own"].strips[0].frame_end) == (1, 20)
    assert before == {name: sampling.fingerprint(ob, bpy.data.actions[name]) for name in before}
    assert np.allclose(foot_at(ob, 250), wanted_foot(ob, take, 200), atol=1e-3), "the take plays"
    bpy.context.scene.frame_set(15)
    turned = [curve.evaluate(15) for curve in actions.fcurves(own, ob) if curve.data_path.endswith("quaternion")]
    assert np.allclose(ob.pose.bones["head"].rotation_quaternion, turned, atol=1e-3), "and before it what was there"


def test_without_anything_else_the_track_plays_too(ob, take):
    takes.keep(ob, take[0], "Take", start_frame=50, tolerance=TOLERANCE, keep_as="NLA")
    assert ob.animation_data.action is None
    assert np.linalg.norm(foot_at(ob, 250) - wanted_foot(ob, take, 200)) < 1.1 * TOLERANCE


def foot_at(ob, frame):
    bpy.context.scene.frame_set(frame)
    return np.array(ob.matrix_world @ ob.pose.bones["foot.L"].head)


def wanted_foot(ob, take, frame):
    wanted = takes.on_rig(ob, take[0])
    return wanted.globals()[0][frame, wanted.skeleton.index("foot.L")]


@pytest.mark.parametrize("keep_as", ["ACTION", "NLA"])
def test_takes_go_on_tracks_one_after_the_other_and_none_hides_another(rigs, ob, take, keep_as):
    actions.assign(ob, rigs.animate(ob, "Own", (1, 20), bones=["head"]))
    parts = [take[0].slice(start, start + 101) for start in (0, 100, 200)]
    kept = [takes.keep(ob, part, "Take", 11 + 100 * index, keep_as) for index, part in enumerate(parts)]
    bound = ob.animation_data
    assert bound.action is None and all(action.mm.take for action in kept)
    track = bound.nla_tracks[-1]
    assert [strip.action for strip in track.strips] == kept
    assert [(strip.frame_start, strip.frame_end) for strip in track.strips] == [(11, 111), (111, 211), (211, 311)]
    for frame in (0, 50, 99, 101, 150, 199, 201, 299):
        assert np.allclose(foot_at(ob, 11 + frame), wanted_foot(ob, take, frame), atol=1e-3), frame


def test_a_take_from_the_middle_of_another_goes_on_a_track_above_it(ob, take):
    first = takes.keep(ob, take[0].slice(0, 200), "Take", 1)
    second = takes.keep(ob, take[0].slice(200, 300), "Take", 100)
    tracks = ob.animation_data.nla_tracks
    assert [[strip.action for strip in track.strips] for track in tracks] == [[first], [second]]
    assert np.allclose(foot_at(ob, 80), wanted_foot(ob, take, 79), atol=1e-3)
    assert np.allclose(foot_at(ob, 150), wanted_foot(ob, take, 250), atol=1e-3)


@pytest.mark.parametrize("state", ["mute", "lock"])
def test_a_track_that_the_artist_has_muted_or_locked_is_left_alone(ob, take, state):
    takes.keep(ob, take[0].slice(0, 50), "Take", 1, "NLA")
    setattr(ob.animation_data.nla_tracks[0], state, True)
    takes.keep(ob, take[0].slice(50, 150), "Take", 60, "NLA")
    assert len(ob.animation_data.nla_tracks) == 2
    assert np.allclose(foot_at(ob, 100), wanted_foot(ob, take, 90), atol=1e-3)


@pytest.mark.parametrize("keep_as", ["ACTION", "NLA"])
def test_takes_of_a_linked_character_are_there_when_the_file_is_opened_again(ob, take, tmp_path, keep_as):
    takes.keep(ob, take[0].slice(0, 50), "Theirs", 1, "NLA")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = [ob_name := "Demo Character"]
    bpy.context.collection.objects.link(bpy.data.objects[ob_name])
    mine = bpy.data.objects[ob_name].override_create(remap_local_usages=True)
    bpy.context.scene.render.fps = 60
    for begin in (100, 149):
        takes.keep(mine, take[0].slice(begin, begin + 50), "Mine", begin, keep_as)
    played = strips(mine)
    assert played[1:] == [[("Mine", 100, 149), ("Mine.001", 149, 198)]]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert strips(bpy.data.objects[ob_name, None]) == played


def strips(ob):
    return [[(strip.name, strip.frame_start, strip.frame_end) for strip in track.strips]
            for track in ob.animation_data.nla_tracks]


def test_what_a_take_has_of_other_bones_goes_on_in_the_next(rigs, ob, take):
    own = rigs.animate(ob, "Own", (1, 400), bones=["head"])
    actions.assign(ob, own)
    head = take[0].skeleton.index("head")
    headless = take[0].with_changes(
        skeleton=replace(take[0].skeleton, names=["gone" if joint == head else name for joint, name in
                                                  enumerate(take[0].skeleton.names)]))
    for index in range(2):
        takes.keep(ob, headless.slice(100 * index, 100 * index + 101), "Take", 11 + 100 * index)
    assert [(strip.frame_start, strip.frame_end) for strip in ob.animation_data.nla_tracks[0].strips] == [
        (11, 111), (111, 211)], "the head moves for longer"
    for frame in (50, 150):
        bpy.context.scene.frame_set(frame)
        turned = [curve.evaluate(frame) for curve in actions.fcurves(own, ob) if "quaternion" in curve.data_path]
        assert np.allclose(ob.pose.bones["head"].rotation_quaternion, turned, atol=1e-3)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
@pytest.mark.parametrize("tolerance", [0.0, TOLERANCE])
@pytest.mark.parametrize("begin", [150, 101, 71])
def test_a_lengthened_action_has_both_takes_and_the_one_before_stays(ob, take, tolerance, begin, mode):
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    first = takes.keep(ob, take[0].slice(0, 101), "Take", 1, tolerance=tolerance)
    before = sampling.fingerprint(ob, first)
    there = min(begin - 1, 100)
    second = takes.write(ob, take[0].slice(there, there + 101), "Take", begin, tolerance)
    for curve in (curve for curve in actions.fcurves(second, ob) if "quaternion" in curve.data_path):
        for key in curve.keyframe_points:  # the same rotations, spelled the other way
            key.co.y, key.handle_left.y, key.handle_right.y = -key.co.y, -key.handle_left.y, -key.handle_right.y
    takes.play(ob, second, begin, "LENGTHEN")
    assert ob.animation_data.action == second and not len(ob.animation_data.nla_tracks)
    assert sampling.fingerprint(ob, first) == before and first.users and len(bpy.data.actions) == 2
    assert tuple(second.frame_range) == (1, begin + 100)
    for frame in (1, 30.5, 60, begin - 1.5):
        assert np.allclose(shown(ob, second, [frame]), shown(ob, first, [frame]), atol=2e-3), frame
    for frame in (0.5, 1.5, 50, 100):
        apart = np.linalg.norm(shown(ob, second, [begin + frame]) - wanted(ob, take, there + frame), axis=-1).max()
        assert apart < (2 * tolerance or 1e-3 if frame == round(frame) else 1e-2), frame


def wanted(ob, take, frame):
    """(1, J, 3) where the joints of the take are."""
    finer = resample(takes.on_rig(ob, take[0]), 120)
    return finer.globals()[0][round(2 * frame)][None]


def test_without_a_take_before_lengthening_is_a_new_action(rigs, ob, take):
    own = rigs.animate(ob, "Own", (1, 20), bones=["hips"])
    actions.assign(ob, own)
    action = takes.keep(ob, take[0].slice(0, 50), "Take", 30, "LENGTHEN")
    assert ob.animation_data.action == action and tuple(action.frame_range) == (30, 79) and own.users


@pytest.mark.parametrize("spoil", ["renamed", "duplicated", "appended", "renamed armature"])
def test_a_take_is_known_as_one_whatever_became_of_it(ob, take, tmp_path, spoil):
    first = takes.keep(ob, take[0].slice(0, 101), "Take", 1)
    if spoil == "renamed":
        first.name = "Mine"
    elif spoil == "duplicated":
        actions.assign(ob, first.copy())
    elif spoil == "appended":
        bpy.data.libraries.write(str(tmp_path / "take.blend"), {first})
        bpy.data.actions.remove(first)
        with bpy.data.libraries.load(str(tmp_path / "take.blend")) as (_, loaded):
            loaded.actions = ["Take"]
        actions.assign(ob, bpy.data.actions["Take"])
    else:
        ob.name = "Hero"
    takes.keep(ob, take[0].slice(100, 201), "Take", 101)
    assert len(ob.animation_data.nla_tracks[0].strips) == 2
    assert np.allclose(foot_at(ob, 51), wanted_foot(ob, take, 50), atol=1e-3)
    assert np.allclose(foot_at(ob, 151), wanted_foot(ob, take, 150), atol=1e-3)


def test_a_deleted_take_is_missed_by_nobody(ob, take):
    first = takes.keep(ob, take[0].slice(0, 101), "Take", 1)
    takes.keep(ob, take[0].slice(100, 201), "Take", 101)
    bpy.data.actions.remove(first)
    takes.keep(ob, take[0].slice(200, 301), "Take", 201)
    assert np.allclose(foot_at(ob, 151), wanted_foot(ob, take, 150), atol=1e-3)
    assert np.allclose(foot_at(ob, 251), wanted_foot(ob, take, 250), atol=1e-3)


def test_takes_of_one_name_are_kept_side_by_side(ob, take):
    names = [takes.keep(ob, take[0].slice(0, 30), "Take").name for _ in range(3)]
    assert names == ["Take", "Take.001", "Take.002"]
    assert [track.strips[0].action.name for track in ob.animation_data.nla_tracks] == names


def test_an_action_that_nothing_else_uses_is_not_lost(rigs, ob, take):
    own = rigs.animate(ob, "Own", (1, 20), bones=["head"])
    actions.assign(ob, own)
    own.use_fake_user = False
    takes.keep(ob, take[0].slice(0, 30), "Take")
    assert own.users


@pytest.mark.parametrize("keep_as", ["ACTION", "NLA"])
def test_in_tweak_mode_the_take_is_kept_all_the_same(rigs, ob, take, keep_as):
    own, other = (rigs.animate(ob, name, (1, 20), bones=["hips"]) for name in ("Own", "Other"))
    actions.assign(ob, own)
    actions.push_to_nla(ob, other, 3)
    bound = ob.animation_data
    track = bound.nla_tracks[0]
    bound.nla_tracks.active = track
    track.strips[0].select = True
    bound.use_tweak_mode = True
    action = takes.keep(ob, take[0].slice(0, 30), "Take", keep_as=keep_as)
    assert not bound.use_tweak_mode and track.strips[0].action == other and own.users
    assert [track.name for track in bound.nla_tracks] == ["Other", "Own", "Take"][:1 if keep_as == "ACTION" else 3]
    assert bound.action == (action if keep_as == "ACTION" else None)


@pytest.mark.parametrize("frames", [1, 2, 3])
@pytest.mark.parametrize("tolerance", [0.0, TOLERANCE])
def test_the_shortest_takes_are_kept_too(ob, take, frames, tolerance):
    action = takes.keep(ob, take[0].slice(100, 100 + frames), "Take", tolerance=tolerance)
    wanted = takes.on_rig(ob, take[0]).globals()[0][100:100 + frames]
    assert np.abs(shown(ob, action, 1 + np.arange(frames)) - wanted).max() <= max(tolerance, 1e-4)


def test_a_rig_with_other_bones_is_named(rigs, take):
    with pytest.raises(MotionError, match='has no bone of "Chain": bake it again'):
        takes.keep(rigs.chain(), take[0], "Take")
