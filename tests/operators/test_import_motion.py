# SPDX-License-Identifier: GPL-3.0-or-later
import os
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

import addon_utils  # isort: skip (it is there once bpy is)

from mm_blender.motion import bvh, quat
from mm_blender.motion.clip import Clip
from mm_blender.motion.skeleton import Skeleton
from mm_blender.scene import actions
from mm_blender.scene.jobs import slices
from mm_blender.scene.reading import importing
from mm_blender.scene.reading.keyframes import write_action
from mm_blender.scene.rig.building import build_armature, on_bones

pytestmark = pytest.mark.usefixtures("extension")

NAMES = ("Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "RightFoot", "Spine", "Head")
PARENTS = (-1, 0, 1, 2, 0, 4, 5, 0, 7)
# As a BVH file has them: the root turned from Y up to Z up, all others in Y-up frames.
PLACES = ((0, 0, 0.9), (0.1, -0.05, 0), (0, -0.4, 0.01), (0, -0.4, 0), (-0.1, -0.05, 0), (0, -0.4, 0.01), (0, -0.4, 0),
          (0, 0.3, 0), (0, 0.4, 0))


def _clip(name="walk", frames=20, rate=30.0, seed=0, scale=1.0, names=NAMES):
    rest = quat.identity((len(names),))
    rest[0] = bvh.UP
    skeleton = Skeleton(names, PARENTS, np.array(PLACES) * scale, rest)
    random = np.random.default_rng(seed)
    turns = np.cumsum(random.normal(scale=0.05, size=(frames, len(names), 3)), axis=0)
    positions = np.tile(skeleton.positions, (frames, 1, 1))
    positions[:, 0] += np.linspace((0, 0, 0), (0, 1, 0), frames) * scale
    return Clip(name, skeleton, rate, positions, quat.mul(rest, quat.from_scaled_angle_axis(turns)))


def _write(folder, *clips, units=0.01):
    for clip in clips:
        bvh.write(folder / f"{clip.name}.bvh", clip, units)


def _import(folder, *names, **options):
    return bpy.ops.mm.import_motion(directory=str(folder), files=[{"name": name} for name in names], **options)


def _assert_shows(ob, action, path, units, scene_rate=24.0, atol=1e-4):
    """The armature stands where the file says, at its beginning, middle and end."""
    clip = bvh.read(path, units)
    actions.assign(ob, action)
    expected = clip.globals()[0]
    for frame in np.unique(np.linspace(0, len(clip) - 1, 5).astype(int)):
        at = 1 + frame * scene_rate / clip.rate
        bpy.context.scene.frame_set(int(at), subframe=at - int(at))
        seen = [ob.matrix_world @ ob.pose.bones[name].head for name in clip.skeleton.names]
        assert np.abs(np.array(seen) - expected[frame]).max() < atol


def everything():
    return {(type(one).__name__, one.name) for one in importing.everything()}


def _standing_rig():
    ob = build_armature(_clip().skeleton, "Rig")
    bpy.context.view_layer.objects.active = ob
    return ob


def _dance(ob, name, frames=20):
    return write_action(ob, on_bones(ob, _clip(name, frames, rate=60.0, seed=3))[0], name, assign=True)


def _export(path, with_mesh=True, actions_of=("dance",)):
    """A scene at 60 frames per second with a dancing armature, written by Blender; returns (F, J, 3) where it was."""
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 60, 1, 20
    ob = _standing_rig()
    for name in actions_of:
        _dance(ob, name)
    if with_mesh:
        mesh = bpy.data.meshes.new("Body")
        mesh.from_pydata([(0, 0, 1), (0.1, 0, 1), (0, 0.1, 1)], [], [(0, 1, 2)])
        mesh.materials.append(bpy.data.materials.new("Skin"))
        body = bpy.data.objects.new("Body", mesh)
        scene.collection.objects.link(body)
        body.parent = ob
        body.modifiers.new("Armature", "ARMATURE").object = ob
        body.vertex_groups.new(name="Hips").add([0, 1, 2], 1, "ADD")
    seen = _poses(ob, range(1, 21))
    scene.frame_set(8)
    for one in scene.objects:
        one.select_set(True)
    if path.suffix == ".fbx":
        addon_utils.enable("io_scene_fbx")
        bpy.ops.export_scene.fbx(filepath=str(path), bake_anim_use_nla_strips=False, bake_anim_simplify_factor=0,
                                 bake_anim_use_all_actions=len(actions_of) > 1)
    else:
        addon_utils.enable("io_scene_gltf2")
        bpy.ops.export_scene.gltf(filepath=str(path))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return seen


def _poses(ob, frames):
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
        found.append([ob.matrix_world @ ob.pose.bones[name].head for name in NAMES])
    return np.array(found)


# BVH

def test_a_folder_of_bvh_files_becomes_actions_of_a_new_armature(tmp_path):
    _write(tmp_path, _clip("walk", seed=1), _clip("run", seed=2))
    assert _import(tmp_path) == {"FINISHED"}
    ob = bpy.context.object
    assert ob.type == "ARMATURE" and ob.name == tmp_path.name and ob.select_get()
    assert [clip.action.name for clip in ob.mm.clips] == ["run", "walk"]
    assert ob.animation_data.action.name == "run"
    assert {role.name: role.bone for role in ob.mm.roles}["left_foot"] == "LeftFoot"
    for name in ("walk", "run"):
        _assert_shows(ob, bpy.data.actions[name], tmp_path / f"{name}.bvh", 0.01)


def test_chosen_files_only_are_imported(tmp_path):
    _write(tmp_path, _clip("walk"), _clip("run"), _clip("jump"))
    _import(tmp_path, "walk.bvh", "jump.bvh")
    assert {action.name for action in bpy.data.actions} == {"walk", "jump"}


def test_a_single_file_may_be_given_by_its_path(tmp_path):
    _write(tmp_path, _clip("walk"), _clip("run"))
    bpy.ops.mm.import_motion(filepath=str(tmp_path / "walk.bvh"))
    assert [action.name for action in bpy.data.actions] == ["walk"] and bpy.context.object.name == "walk"


def test_what_lies_beside_the_file_may_be_given_as_such(tmp_path, recwarn):
    _write(tmp_path, _clip("walk"), _clip("run"))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.mm.import_motion(filepath="//walk.bvh")
    bpy.ops.mm.import_motion(directory="//", files=[{"name": "run.bvh"}])
    assert {"walk", "run"} <= {action.name for action in bpy.data.actions} and not recwarn.list


def test_files_for_the_active_armature_go_onto_it(tmp_path):
    _write(tmp_path, _clip("walk"))
    ob = _standing_rig()
    _import(tmp_path)
    assert [one.name for one in bpy.data.objects] == [ob.name]
    _assert_shows(ob, bpy.data.actions["walk"], tmp_path / "walk.bvh", 0.01)


def test_files_that_do_not_fit_the_active_armature_get_one_of_their_own(tmp_path):
    _write(tmp_path, _clip("walk"), _clip("hop", names=tuple(f"b{name}" for name in NAMES)))
    ob = _standing_rig()
    result = slices.run(importing.import_steps(importing.motion_files(tmp_path), ob))
    assert sorted(result.actions) == ["hop", "walk"]
    assert len(bpy.data.objects) == 2
    assert [clip.action.name for clip in ob.mm.clips] == ["walk"]
    assert result.notes == ['hop.bvh: it has an armature of its own. The armature "Rig" has no bone "bHips".']


def test_a_rig_with_other_bones_that_was_active_is_what_the_motion_is_for(tmp_path):
    _write(tmp_path, _clip("hop", names=tuple(f"b{name}" for name in NAMES)))
    rig = _standing_rig()
    result = slices.run(importing.import_steps(importing.motion_files(tmp_path), rig))
    made = bpy.data.objects[result.armature]
    assert made != rig and made.mm.drive.target == rig and result.headline().endswith(': its Target is "Rig"')
    _write(tmp_path, _clip("walk"))
    slices.run(importing.import_steps([tmp_path / "walk.bvh"], rig))
    _write(tmp_path, _clip("skip", names=tuple(f"c{name}" for name in NAMES)))
    result = slices.run(importing.import_steps([tmp_path / "skip.bvh"], rig))
    assert not bpy.data.objects[result.armature].mm.drive.target, "by now it has motion of its own"


def test_an_actor_of_another_size_is_named(tmp_path):
    _write(tmp_path, _clip("a_walk"), _clip("b_child", scale=0.8))
    result = slices.run(importing.import_steps(importing.motion_files(tmp_path)))
    assert len(bpy.data.objects) == 1 and len(result.actions) == 2
    assert [note for note in result.notes if note.startswith("b_child.bvh") and "0.8 times as large" in note]


def test_files_of_which_the_same_is_to_be_said_share_a_sentence(tmp_path):
    _write(tmp_path, _clip("a_walk"), *(_clip(f"b{index}", scale=0.8) for index in range(6)))
    result = slices.run(importing.import_steps(importing.motion_files(tmp_path)))
    assert len(result.notes) == 1 and result.notes[0].startswith("b0.bvh, b1.bvh, b2.bvh and 3 more: its character is")


def test_keys_of_120_hz_stay_in_time_at_24_frames_per_second(tmp_path):
    _write(tmp_path, _clip("quick", frames=121, rate=120.0))
    _import(tmp_path)
    action = bpy.data.actions["quick"]
    assert tuple(action.frame_range) == pytest.approx((1, 25))
    assert {len(curve.keyframe_points) for curve in actions.fcurves(action, bpy.context.object)} == {121}
    _assert_shows(bpy.context.object, action, tmp_path / "quick.bvh", 0.01)


@pytest.mark.parametrize("fps, base", [(25, 1.0), (30, 1.001), (60, 1.0)])
def test_motion_is_in_time_at_any_scene_rate(tmp_path, fps, base):
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = fps, base
    _write(tmp_path, _clip("walk"))
    _import(tmp_path)
    _assert_shows(bpy.context.object, bpy.data.actions["walk"], tmp_path / "walk.bvh", 0.01, fps / base)


@pytest.mark.parametrize("options, metres", [
    ({}, 0.01), ({"units": "CM"}, 0.01), ({"units": "M"}, 1.0), ({"units": "CUSTOM", "scale": 0.02}, 0.02)])
def test_units_are_guessed_or_chosen(tmp_path, options, metres):
    _write(tmp_path, _clip("walk"))
    _import(tmp_path, **options)
    _assert_shows(bpy.context.object, bpy.data.actions["walk"], tmp_path / "walk.bvh", metres, atol=1e-4 * metres * 100)


def test_the_guessed_units_are_told(tmp_path):
    _write(tmp_path, _clip("walk"))
    result = slices.run(importing.import_steps(importing.motion_files(tmp_path)))
    assert "centimetres" in result.summary()


def test_actions_that_are_there_keep_their_names(tmp_path):
    mine = bpy.data.actions.new("walk")
    mine.use_fake_user = True
    _write(tmp_path, _clip("walk"))
    _import(tmp_path)
    assert mine.name == "walk" and not len(actions.fcurves(mine))
    assert [clip.action.name for clip in bpy.context.object.mm.clips] == ["walk.001"]


def test_the_same_file_is_not_imported_twice_but_a_changed_one_is(tmp_path):
    _write(tmp_path, _clip("walk"))
    _import(tmp_path)
    with pytest.raises(RuntimeError, match=r"walk\.bvh: It is in the list of clips already"):
        _import(tmp_path)
    assert [action.name for action in bpy.data.actions] == ["walk"]
    path = tmp_path / "walk.bvh"
    os.utime(path, ns=(1, 1))
    _import(tmp_path)
    assert [action.name for action in bpy.data.actions] == ["walk", "walk.001"]


# FBX and glTF

@pytest.mark.parametrize("suffix", [".fbx", ".glb"])
@pytest.mark.parametrize("with_mesh", [True, False], ids=["body", "bones only"])
def test_the_motion_of_a_file_goes_onto_the_armature(tmp_path, suffix, with_mesh):
    expected = _export(tmp_path / f"dance{suffix}", with_mesh)
    ob = _standing_rig()
    bpy.ops.object.mode_set(mode="POSE")
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 24, 5, 77
    scene.frame_set(10)
    before = everything()
    assert _import(tmp_path) == {"FINISHED"}
    assert everything() - before == {("Action", "dance")}
    assert (scene.render.fps, scene.frame_start, scene.frame_end, scene.frame_current) == (24, 5, 77, 10)
    assert bpy.context.object == ob and ob.mode == "POSE"
    seen = _poses(ob, 1 + np.arange(20) * 24 / 60)
    assert np.abs(seen - expected).max() < 1e-4
    assert [clip.action.name for clip in ob.mm.clips] == ["dance"]


@pytest.mark.parametrize("suffix", [".fbx", ".glb"])
def test_without_an_armature_the_files_own_is_kept_and_nothing_else(tmp_path, suffix):
    expected = _export(tmp_path / f"dance{suffix}")
    before = everything()
    assert _import(tmp_path) == {"FINISHED"}
    ob = bpy.context.object
    assert everything() - before == {("Object", ob.name), ("Armature", ob.data.name), ("Action", "dance")}
    assert np.abs(_poses(ob, 1 + np.arange(20) * 24 / 60) - expected).max() < 1e-4


def test_hips_that_move_on_a_root_bone_are_where_they_were(tmp_path):
    """A file without a skin has whatever pose it was saved in as its rest pose."""
    names = ("root", *NAMES[1:])
    skeleton = Skeleton(names, (-1, 0, 1, 2, 1, 4, 5, 1, 7), _clip().skeleton.positions, _clip().skeleton.rotations)
    clip = _clip("dance", rate=60.0).with_changes(skeleton=skeleton)
    clip.positions[:, 1] += np.linspace((0, 0, 0), (0.3, 0.1, 0.2), 20)
    ob = build_armature(skeleton, "Rig")
    bpy.context.scene.render.fps = 60
    write_action(ob, on_bones(ob, clip)[0], "dance", assign=True)
    bpy.context.scene.frame_end = 20
    bpy.context.scene.frame_set(15)
    ob.select_set(True)
    addon_utils.enable("io_scene_fbx")
    bpy.ops.export_scene.fbx(filepath=str(tmp_path / "dance.fbx"), bake_anim_use_nla_strips=False,
                             bake_anim_use_all_actions=False, bake_anim_simplify_factor=0)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = build_armature(skeleton, "Rig")
    bpy.context.scene.render.fps = 60
    result = slices.run(importing.import_steps(importing.motion_files(tmp_path), ob))
    assert result.notes == [] and result.armature == "Rig"
    expected = clip.globals()[0]
    for frame in (1, 10, 20):
        bpy.context.scene.frame_set(frame)
        seen = [ob.pose.bones[name].head for name in names]
        assert np.abs(np.array(seen) - expected[frame - 1]).max() < 1e-4


@pytest.mark.parametrize("suffix", [".fbx", ".glb"])
def test_several_motions_in_a_file_are_named_after_it_and_themselves(tmp_path, suffix):
    _export(tmp_path / f"hero{suffix}", actions_of=("dance", "bow"))
    _standing_rig()
    _import(tmp_path)
    names = {action.name for action in bpy.data.actions}
    assert len(names) == 2
    assert any("dance" in name for name in names) and any("bow" in name for name in names)
    assert all(name.startswith("hero ") for name in names)


def test_files_of_all_kinds_share_an_armature(tmp_path):
    _export(tmp_path / "a.fbx")
    _export(tmp_path / "b.glb")
    _write(tmp_path, _clip("c"))
    _standing_rig()
    _import(tmp_path)
    assert len(bpy.data.objects) == 1
    assert [clip.action.name for clip in bpy.context.object.mm.clips] == ["a", "b", "c"]


@pytest.mark.parametrize("module, suffix", [("io_scene_gltf2", ".glb"), ("io_scene_fbx", ".fbx")])
def test_importers_that_were_off_are_off_again(tmp_path, module, suffix):
    _export(tmp_path / f"dance{suffix}")
    addon_utils.disable(module)
    try:
        assert _import(tmp_path) == {"FINISHED"}
        assert not addon_utils.check(module)[1]
    finally:
        addon_utils.enable(module)


# What goes wrong

def test_bad_files_are_left_out_with_a_sentence_each_and_leave_nothing(tmp_path):
    _write(tmp_path, _clip("good"))
    (tmp_path / "broken.bvh").write_text("HIERARCHY\nROOT Hips\n{\n")
    (tmp_path / "foreign.bvh").write_text("hello")
    (tmp_path / "broken.fbx").write_bytes(b"Kaydara FBX Binary  \0 and no more")
    (tmp_path / "broken.glb").write_bytes(b"glTF\2\0\0\0")
    (tmp_path / "broken.gltf").write_text("{")
    before = everything()
    result = slices.run(importing.import_steps(importing.motion_files(tmp_path)))
    assert result.actions == ["good"]
    for name in ("broken.bvh", "foreign.bvh", "broken.fbx", "broken.glb", "broken.gltf"):
        assert len([note for note in result.notes if note.startswith(name)]) == 1, name
    ob = bpy.data.objects[result.armature]
    assert everything() - before == {("Object", ob.name), ("Armature", ob.data.name), ("Action", "good")}


@pytest.mark.parametrize("suffix", [".fbx", ".glb"])
def test_a_file_without_an_armature_is_left_out(tmp_path, suffix):
    bpy.ops.mesh.primitive_cube_add()
    if suffix == ".fbx":
        addon_utils.enable("io_scene_fbx")
        bpy.ops.export_scene.fbx(filepath=str(tmp_path / "cube.fbx"))
    else:
        addon_utils.enable("io_scene_gltf2")
        bpy.ops.export_scene.gltf(filepath=str(tmp_path / "cube.glb"))
    before = everything()
    with pytest.raises(RuntimeError, match="has no armature"):
        _import(tmp_path)
    assert everything() == before


def test_an_error_halfway_through_a_file_leaves_nothing_behind(tmp_path, monkeypatch):
    _write(tmp_path, _clip("walk"))

    def fails(ob, clip, name):
        bpy.data.actions.new("half")
        raise KeyError("a mistake of ours")

    monkeypatch.setattr(importing, "write_action", fails)
    before = everything()
    with pytest.raises(KeyError):
        slices.run(importing.import_steps(importing.motion_files(tmp_path)))
    assert everything() == before


def test_an_empty_folder_and_one_that_is_not_there_get_a_sentence(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(RuntimeError, match="There are no BVH, FBX or glTF files"):
        _import(tmp_path)
    with pytest.raises(RuntimeError, match="There is no folder"):
        _import(tmp_path / "gone")
    with pytest.raises(RuntimeError, match=r"gone\.bvh: There is no such file"):
        _import(tmp_path, "gone.bvh")
    with pytest.raises(RuntimeError, match=r"notes\.txt: This is not a BVH, FBX or glTF file"):
        _import(tmp_path, "notes.txt")
    with pytest.raises(RuntimeError, match="No motion was chosen"):
        bpy.ops.mm.import_motion()


def test_a_cancelled_import_keeps_the_files_that_came_first(tmp_path):
    _write(tmp_path, *(_clip(f"walk{index}") for index in range(6)))
    slices.start(importing.import_steps(importing.motion_files(tmp_path)), "Importing motion", lambda _: None)
    steps = slices.current().steps
    seen = [next(steps) for _ in range(4)]
    assert [progress.share for progress in seen] == sorted(progress.share for progress in seen)
    slices.cancel()
    assert [action.name for action in bpy.data.actions] == ["walk0", "walk1"]
    ob = next(one for one in bpy.data.objects if one.type == "ARMATURE")
    assert [clip.action.name for clip in ob.mm.clips] == ["walk0", "walk1"]


def test_an_armature_that_is_deleted_in_between_is_made_anew(tmp_path):
    _write(tmp_path, _clip("a"), _clip("b"))
    steps = importing.import_steps(importing.motion_files(tmp_path))
    for _ in range(3):
        next(steps)
    bpy.data.objects.remove(bpy.data.objects[tmp_path.name])
    result = slices.run(steps)
    assert result.actions == ["a", "b"] and len([one for one in bpy.data.objects if one.type == "ARMATURE"]) == 1


# Real motion

def test_lafan1_is_shown_exactly(lafan1):
    chosen = sorted(lafan1.glob("*.bvh"))[:2]
    _import(lafan1, *(path.name for path in chosen))
    assert len(bpy.data.objects) == 1
    for path in chosen:
        _assert_shows(bpy.context.object, bpy.data.actions[path.stem], path, 0.01)


def test_cmu_is_shown_exactly(cmu):
    path = sorted(cmu.glob("*.bvh"))[0]
    _import(cmu, path.name)
    _assert_shows(bpy.context.object, bpy.data.actions[path.stem], path, bvh.UNITS["cmu"])


def test_cmu_subjects_share_an_armature_and_their_differences_are_named(cmu):
    subjects = {path.name.split("_")[0]: path for path in sorted(cmu.glob("*.bvh"))}
    result = slices.run(importing.import_steps(list(subjects.values())[:3]))
    assert len(result.actions) == 3 and len(bpy.data.objects) == 1
    assert len(result.notes) == 2


def test_files_that_are_dropped_into_a_viewport_come_in_at_once(tmp_path):
    handler = bpy.types.FileHandler.bl_rna_get_subclass_py("MM_FH_motion")
    assert handler.bl_file_extensions == ".bvh" and handler.bl_import_operator == "mm.import_motion"
    for area, wanted in (("VIEW_3D", True), ("NLA_EDITOR", False)):
        assert handler.poll_drop(SimpleNamespace(area=SimpleNamespace(type=area))) == wanted
    _write(tmp_path, _clip("walk"), _clip("run", seed=1))
    files = [{"name": "walk.bvh"}, {"name": "run.bvh"}]
    assert bpy.ops.mm.import_motion("INVOKE_DEFAULT", directory=str(tmp_path), files=files) == {"FINISHED"}
    assert {action.name for action in bpy.data.actions} == {"walk", "run"}
