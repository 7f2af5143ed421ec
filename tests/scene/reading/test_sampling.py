# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading an Action gives the motion that Blender shows, whichever of the two ways reads it."""

import math

import bpy
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.scene import actions
from mm_blender.scene.reading import fcurves, from_curves, from_evaluation, sampling
from mm_blender.scene.reading.reference import Reference
from mm_blender.scene.rig import armatures

MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")
KEYS = (1, 4.25, 9.5, 10, 17.75, 24)


def read(ob, action, **options):
    return sampling.finished(sampling.read_action(ob, action, **options))


def both_ways(ob, action, start=1, end=24):
    """The same motion read by each way, whatever would be chosen."""
    frames = np.arange(start, end + 1e-4)
    skeleton = armatures.skeleton_of(ob)
    for way in (from_curves, from_evaluation):
        positions, rotations = sampling.finished(way.read(Reference.of(ob, action), skeleton, frames))
        yield sampling.Clip(action.name, skeleton, 24, positions, rotations)


def check(rigs, ob, action, start=1, end=24):
    frames = np.arange(start, end + 1e-4)
    clips = list(both_ways(ob, action, start, end))
    pose, floor = from_evaluation.AnimatedValues(ob), armatures.floor(ob)
    positions, rotations = rigs.truth(ob, action, frames, clips[0].skeleton.names)
    positions[..., 2] -= floor
    ob.animation_data.action = None
    pose.show(ob)
    for clip in clips:
        millimetres, degrees = rigs.apart(clip, positions, rotations)
        assert millimetres < 0.1 and degrees < 0.01


@pytest.mark.parametrize("mode", MODES)
def test_both_ways_show_what_blender_shows_in_every_rotation_mode(rigs, mode):
    ob = rigs.chain()
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    check(rigs, ob, rigs.animate(ob, "Wave", KEYS))


@pytest.mark.parametrize("interpolation", ["CONSTANT", "LINEAR", "BEZIER", "BOUNCE"])
def test_every_interpolation_is_followed_between_keys(rigs, interpolation):
    ob = rigs.chain()
    check(rigs, ob, rigs.animate(ob, "Wave", KEYS, interpolation=interpolation), 0.5, 23.5)


def test_keyed_scale_moves_children(rigs):
    ob = rigs.chain()
    action = rigs.animate(ob, "Stretch", KEYS, channels=("location", "rotation"))
    for curve in actions.fcurves(rigs.animate(ob, "Scale only", KEYS, channels=("scale",)), ob):
        made = actions.add_fcurves(action, [(curve.data_path, curve.array_index, "scale")])[0]
        for key in curve.keyframe_points:
            made.keyframe_points.insert(key.co.x, 1 + (key.co.y - 1 if curve.array_index == 0 else 0.3))
    positions, _ = rigs.truth(ob, action, range(1, 25), armatures.bones_of(ob))
    ob.animation_data.action = None
    for bone in ob.pose.bones:
        bone.matrix_basis.identity()
    a, b = both_ways(ob, action)
    assert np.abs(a.globals()[0] - positions).max() < 1e-4
    assert np.abs(b.globals()[0] - positions).max() < 1e-4
    assert rigs.apart(a, *b.globals())[1] < 0.01


def test_channels_without_keys_keep_the_present_pose(rigs):
    ob = rigs.chain()
    ob.pose.bones["b1"].rotation_quaternion = (0.8, 0.6, 0, 0)
    ob.pose.bones["b2"].location = (0.1, 0.2, 0.3)
    ob.pose.bones["b3"].scale = (1.2, 1.2, 1.2)
    check(rigs, ob, rigs.animate(ob, "Tip", KEYS, bones={"b0", "b4"}))


def test_muted_curves_and_groups_are_left_out_and_modifiers_followed(rigs):
    ob = rigs.chain()
    action = rigs.animate(ob, "Noisy", KEYS)
    curves = actions.fcurves(action, ob)
    curves[0].mute = True
    next(curve.group for curve in curves if curve.group.name == "b2").mute = True
    curves[-1].modifiers.new("NOISE").strength = 0.3
    check(rigs, ob, action)
    assert not actions.is_playing(curves[0]) and actions.is_playing(curves[1])


def test_connected_bones_do_not_move_away(rigs):
    ob = rigs.chain()
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["b2"].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
    check(rigs, ob, rigs.animate(ob, "Wave", KEYS))


def test_a_scaled_rotated_parented_object_is_read_in_metres_above_its_floor(extension, rigs):
    ob = rigs.chain()
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.collection.objects.link(empty)
    empty.location, empty.rotation_euler = (1, 2, 3), (0.3, 0.2, 0.1)
    ob.parent = empty
    ob.rotation_euler, ob.scale, ob.location = (math.pi / 2, 0, 0.5), (0.01,) * 3, (5, 6, 7)
    bpy.context.view_layer.update()
    check(rigs, ob, rigs.animate(ob, "Wave", KEYS))


def test_the_objects_own_channels_are_part_of_the_motion(rigs):
    ob = rigs.chain()
    action = rigs.animate(ob, "Walk", KEYS)
    for path, index, values in (("location", 0, (0, 3)), ("rotation_euler", 2, (0, 2)), ("scale", 0, (0.5, 0.5)),
                                ("scale", 1, (0.5, 0.5)), ("scale", 2, (0.5, 0.5))):
        curve = actions.add_fcurves(action, [(path, index, "Object")])[0]
        for frame, value in zip((1, 24), values):
            curve.keyframe_points.insert(frame, value)
    check(rigs, ob, action)


def test_curves_are_evaluated_as_blender_does(rigs):
    ob = rigs.chain(1)
    curve = actions.fcurves(rigs.animate(ob, "One", (1, 3, 3.5, 12, 20), channels=("location",)), ob)[0]
    frames = np.linspace(-5, 27, 331)
    for key, handle in zip(curve.keyframe_points, ((9, 3), (-4, 1), (0.1, 0), (14, -5), (2, 2))):
        key.handle_left_type = key.handle_right_type = "FREE"
        key.handle_right = (key.co.x + handle[0], handle[1])
        key.handle_left = (key.co.x - abs(handle[0]) / 2, handle[1])
    for extrapolation in ("CONSTANT", "LINEAR"):
        curve.extrapolation = extrapolation
        expected = np.array([curve.evaluate(frame) for frame in frames])
        assert np.abs(fcurves.sample([curve], frames) - expected).max() < 1e-5


def test_curves_are_evaluated_together_as_alone(rigs):
    ob = rigs.chain()
    curves = actions.fcurves(rigs.animate(ob, "Wave", KEYS), ob)
    curves[1].keyframe_points[2].co.x += 0.5  # times of its own
    curves[1].update()
    for index, kind in enumerate(("CONSTANT", "LINEAR", "BEZIER", "BOUNCE")):
        curves[2].keyframe_points[index].interpolation = kind
    curves[3].keyframe_points[1].handle_right_type = "FREE"
    curves[3].keyframe_points[1].handle_right.x += 1
    curves[4].extrapolation = "LINEAR"
    curves[5].modifiers.new("NOISE")
    frames = np.linspace(-3, 27, 121)
    expected = [[curve.evaluate(frame) for frame in frames] for curve in curves]
    assert np.abs(fcurves.sample(curves, frames) - expected).max() < 1e-5


def test_keys_are_the_same_whether_seen_at_once_or_asked_for_one_by_one(rigs, monkeypatch):
    ob = rigs.chain()
    curves = actions.fcurves(rigs.animate(ob, "Wave", KEYS), ob)
    for key, kind in zip(curves[0].keyframe_points, ("CONSTANT", "LINEAR", "SINE", "ELASTIC", "BACK", "BEZIER")):
        key.interpolation = kind
    seen = [fcurves._seen(curve.keyframe_points).tolist() for curve in curves]
    monkeypatch.setattr(fcurves, "_seen", lambda points: None)
    assert seen == [fcurves._keys(curve).tolist() for curve in curves]


@pytest.mark.parametrize("fps,base,rate", [(24, 1, 24), (25, 1, 25), (30, 1.001, 29.97)])
def test_a_clip_has_the_scenes_rate(rigs, fps, base, rate):
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = fps, base
    ob = rigs.chain()
    clip = read(ob, rigs.animate(ob, "Wave", KEYS))
    assert clip.rate == pytest.approx(rate, abs=1e-3)
    assert len(clip) == 24 and clip.name == "Wave"


def test_ranges_may_lie_between_frames(rigs):
    ob = rigs.chain()
    action = rigs.animate(ob, "Wave", KEYS)
    clip = read(ob, action, start=2.5, end=7.9)
    positions, rotations = rigs.truth(ob, action, (2.5, 3.5, 4.5, 5.5, 6.5, 7.5), clip.skeleton.names)
    assert max(rigs.apart(clip, positions, rotations)) < 0.01


def test_the_way_of_reading_is_chosen_and_explained(rigs):
    ob = rigs.chain()
    action = rigs.animate(ob, "Wave", KEYS)
    assert sampling.how_to_read(ob, action)[0] == "curves"
    limit = ob.pose.bones["b1"].constraints.new("LIMIT_ROTATION")
    assert sampling.how_to_read(ob, action) == ("evaluated", 'the bone "b1" has the constraint "Limit Rotation"')
    limit.mute = True
    assert sampling.how_to_read(ob, action)[0] == "curves"
    driver = ob.pose.bones["b1"].driver_add("location", 0)
    assert "driver" in sampling.how_to_read(ob, action)[1]
    driver.mute = True
    ob.data.bones["b2"].use_inherit_rotation = False
    assert sampling.how_to_read(ob, action) == ("evaluated", 'the bone "b2" does not inherit rotation')
    ob.data.bones["b2"].use_inherit_rotation = True
    ob.data.bones["b2"].inherit_scale = "NONE"
    assert sampling.how_to_read(ob, action)[0] == "curves"
    ob.pose.bones["b0"].scale = (1, 2, 1)
    assert "inherits scale" in sampling.how_to_read(ob, action)[1]


def test_constraints_ik_and_drivers_are_followed(rigs):
    ob = rigs.biped()
    action = rigs.animate(ob, "Step", KEYS, bones={"hips", "spine", "ik.L"})
    curve = actions.add_fcurves(action, [('["bend"]', 0, "Object")])[0]
    for frame, value in ((1, 0), (24, 0.5)):
        curve.keyframe_points.insert(frame, value)
    assert sampling.how_to_read(ob, action)[0] == "evaluated"
    clip = read(ob, action)
    assert "ik.L" not in clip.skeleton.names
    assert clip.curves["bend"][-1] == pytest.approx(0.5)
    millimetres, degrees = rigs.apart(clip, *rigs.truth(ob, action, range(1, 25), clip.skeleton.names))
    assert millimetres < 0.1 and degrees < 0.01


def test_the_nla_is_read_as_it_plays(rigs):
    ob = rigs.chain()
    first, second = (rigs.animate(ob, name, KEYS, seed=seed) for name, seed in (("A", 1), ("B", 2)))
    for action, start in ((first, 1), (second, 13)):
        strip = ob.animation_data.nla_tracks.new().strips.new(action.name, start, action)
        if hasattr(strip, "action_slot"):
            strip.action_slot = strip.action_suitable_slots[0]
    clip = sampling.finished(sampling.read_nla(ob, 1, 30))
    positions = []
    for frame in range(1, 31):
        bpy.context.scene.frame_set(frame)
        positions.append([ob.matrix_world @ ob.pose.bones[name].head for name in clip.skeleton.names])
    assert np.abs(clip.globals()[0] - np.array(positions)).max() < 1e-4


def state(ob):
    """All that an artist could miss after a read."""
    scene, bound = bpy.context.scene, ob.animation_data
    return {
        "action": bound.action, "slot": getattr(bound, "action_slot", None), "nla": bound.use_nla,
        "blend": (bound.action_blend_type, bound.action_extrapolation, bound.action_influence),
        "tweak": bound.use_tweak_mode, "tracks": [(track.mute, track.is_solo) for track in bound.nla_tracks],
        "frame": (scene.frame_current, scene.frame_subframe), "scenes": len(bpy.data.scenes),
        "pose": [tuple(np.ravel(bone.matrix_basis)) for bone in ob.pose.bones],
        "seen": np.round([np.ravel(bone.matrix) for bone in ob.pose.bones], 5).tolist(), "bend": ob["bend"],
        "hidden": [(thing.name, thing.hide_viewport, thing.hide_get()) for thing in scene.objects],
        "others": [tuple(np.ravel(thing.matrix_basis)) for thing in scene.objects],
        "active": bpy.context.view_layer.objects.active.name, "mode": ob.mode,
        "selected": [thing.name for thing in scene.objects if thing.select_get()],
        "rest": ob.data.pose_position, "users": [action.users for action in bpy.data.actions]}


@pytest.fixture
def busy(rigs):
    """An artist in mid-work: another Action, Pose Mode, a fractional frame, poses that are not keyed."""
    ob = rigs.biped()
    action = rigs.animate(ob, "To read", (1, 400), bones={"hips", "spine", "ik.L"})
    mine = rigs.animate(ob, "Mine", KEYS, bones={"hips", "head"}, seed=3)
    actions.assign(ob, mine)
    track = ob.animation_data.nla_tracks.new()
    track.mute = True
    cube = bpy.data.objects.new("Cube", bpy.data.meshes.new("Cube"))
    bpy.context.collection.objects.link(cube)
    cube.keyframe_insert("location", frame=1)
    hidden = bpy.data.objects.new("Hidden", bpy.data.meshes.new("Hidden"))
    bpy.context.collection.objects.link(hidden)
    hidden.hide_viewport = True
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="POSE")
    bpy.context.scene.frame_set(7, subframe=0.25)
    cube.location = (1, 2, 3)
    ob.pose.bones["hips"].rotation_quaternion = (0.9, 0.1, 0.2, 0.3)
    ob.pose.bones["spine"].location = (0.3, 0, 0)
    ob["bend"] = 0.25
    ob.update_tag()
    bpy.context.view_layer.update()
    return ob, action


def test_after_reading_everything_is_as_the_artist_left_it(busy):
    ob, action = busy
    before = state(ob)
    read(ob, action)
    assert state(ob) == before


def test_at_every_pause_and_after_cancel_everything_is_as_the_artist_left_it(busy, monkeypatch):
    monkeypatch.setattr(from_evaluation, "SLICE", 0)
    ob, action = busy
    before, reading = state(ob), sampling.read_action(ob, action)
    assert [next(reading) < 1 for _ in range(3)] == [True] * 3
    assert state(ob) == before
    reading.close()
    assert state(ob) == before


def test_after_an_error_everything_is_as_the_artist_left_it(busy, monkeypatch):
    ob, action = busy
    before = state(ob)
    monkeypatch.setattr(from_evaluation.np, "floor", lambda value: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sampling.finished(from_evaluation.read(Reference.of(ob, action), armatures.skeleton_of(ob), np.arange(1.0, 9)))
    monkeypatch.undo()
    assert state(ob) == before


def test_an_artist_who_works_on_does_not_change_what_is_read(busy, monkeypatch):
    monkeypatch.setattr(from_evaluation, "SLICE", 0)
    ob, action = busy
    undisturbed = read(ob, action)
    reading, result = sampling.read_action(ob, action), None
    for turn in range(1000):
        try:
            next(reading)
        except StopIteration as end:
            result = end.value
            break
        ob.pose.bones["spine"].location = (turn, 0, 0)
        ob.pose.bones["foot.L"].rotation_quaternion = (0, 1, 0, 0)
        bpy.context.scene.frame_set(turn)
    assert np.abs(result.positions - undisturbed.positions).max() < 1e-5
    assert ob.pose.bones["foot.L"].rotation_quaternion[1] == 1


def test_tweak_mode_comes_back(busy):
    ob, action = busy
    bound = ob.animation_data
    strip = bound.nla_tracks[0].strips.new("Mine", 1, bound.action)
    bound.nla_tracks[0].mute = False
    bound.nla_tracks.active = bound.nla_tracks[0]
    strip.select = True
    bound.use_tweak_mode = True
    if not bound.use_tweak_mode:
        pytest.skip("this Blender enters Tweak Mode in its own window only")
    before = state(ob)
    read(ob, action)
    assert state(ob) == before


def test_a_hidden_armature_shown_in_rest_position_is_read_all_the_same(rigs):
    ob = rigs.biped()
    action = rigs.animate(ob, "Step", KEYS, bones={"hips", "ik.L"})
    expected = read(ob, action)
    ob.hide_viewport, ob.data.pose_position = True, "REST"
    bpy.context.view_layer.update()
    clip = read(ob, action)
    assert np.abs(clip.positions - expected.positions).max() < 1e-5
    assert np.abs(clip.rotations - expected.rotations).max() < 1e-5
    assert ob.hide_viewport and ob.data.pose_position == "REST"


def test_custom_properties_become_curves(rigs):
    ob = rigs.chain()
    action = rigs.animate(ob, "Wave", KEYS)
    for path, value in (('["mood"]', 2), ('pose.bones["b1"]["grip"]', 3)):
        curve = actions.add_fcurves(action, [(path, 0, "Properties")])[0]
        curve.keyframe_points.insert(1, 0).interpolation = "LINEAR"
        curve.keyframe_points.insert(24, value)
    clip = read(ob, action)
    assert clip.curves["mood"][-1] == 2 and clip.curves["b1/grip"][-1] == 3
    assert clip.curves["mood"][0] == 0 and len(clip.curves["mood"]) == 24


def test_names_of_any_kind_are_read(rigs):
    names = ('Hüfte 骨', 'a.b/c', 'say "hi"', "back\\slash")
    points = [(0, 0, 0.2 * i) for i in range(5)]
    ob = rigs.armature("Привет", {name: (points[i], points[i + 1], names[i - 1] if i else None)
                                  for i, name in enumerate(names)})
    check(rigs, ob, rigs.animate(ob, "Бег / run.001", KEYS))


@pytest.mark.parametrize("way", ["curves", "evaluated"])
def test_a_value_that_is_not_a_number_is_named(rigs, way):
    ob = rigs.chain()
    action = rigs.animate(ob, "Broken", KEYS)
    if way == "evaluated":
        ob.pose.bones["b4"].constraints.new("LIMIT_ROTATION")
    curve = next(curve for curve in actions.fcurves(action, ob) if '"b2"' in curve.data_path)
    curve.keyframe_points[4].co.y = math.nan
    with pytest.raises(MotionError, match=r'"Broken".*"b2", location\[0\], frame 17\.75\.'):
        read(ob, action)


def test_actions_that_cannot_be_read_are_refused_in_a_sentence(rigs):
    ob, other = rigs.chain(), rigs.armature("Fish", {"fin": ((0, 0, 0), (0, 0, 1), None)})
    foreign = rigs.animate(other, "Swim", KEYS)
    with pytest.raises(MotionError, match=r'"Swim" animates no bone of the armature "Chain".*"fin"'):
        read(ob, foreign, slot=actions.slot_for(foreign))
    with pytest.raises(MotionError, match='"Empty" has no keys'):
        read(ob, bpy.data.actions.new("Empty"))
    with pytest.raises(MotionError, match='"Single" has no two frames'):
        read(ob, rigs.animate(ob, "Single", (5,)))


def test_fit_names_what_is_missing(rigs):
    ob, longer = rigs.chain(3), rigs.chain(4, "Longer")
    action = rigs.animate(longer, "Wave", KEYS)
    assert sampling.fit(longer, action) == (1.0, [])
    assert sampling.fit(ob, action) == (0.75, ["b3"])
    assert len(read(ob, action)) == 24


def test_markers_become_tags():
    markers = [("run[", 11), ("hop", 12), ("walk ]", 5), ("run]", 21), ("idle[", 31)]
    tags = sampling.tags_from_markers(markers, 10, 1, end=41)
    assert [(tag.name, tag.start, tag.end) for tag in tags] == [("walk", 0, 0.4), ("run", 1, 2), ("idle", 3, 4)]


def test_the_fingerprint_changes_with_anything_that_the_action_contributes(rigs):
    ob = rigs.chain()
    action = rigs.animate(ob, "Wave", KEYS)
    curve = actions.fcurves(action, ob)[3]
    changes = (lambda: None, lambda: setattr(curve.keyframe_points[1].co, "y", 7),
               lambda: setattr(curve.keyframe_points[1].handle_left, "y", 7), lambda: setattr(curve, "mute", True),
               lambda: setattr(curve.keyframe_points[0], "interpolation", "LINEAR"),
               lambda: curve.modifiers.new("NOISE"), lambda: setattr(curve.modifiers[0], "strength", 3),
               lambda: (setattr(action, "use_frame_range", True), setattr(action, "frame_end", 99)))
    prints = []
    for change in changes:
        change()
        prints.append(sampling.fingerprint(ob, action))
        assert prints[-1] == sampling.fingerprint(ob, action)
    assert len(set(prints)) == len(changes)
