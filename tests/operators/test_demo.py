# SPDX-License-Identifier: GPL-3.0-or-later
"""Create Demo Character: armature, body and tagged Actions, ready to bake; nothing else in the file changes."""

from collections import Counter
from functools import cache

import bpy
import numpy as np
import pytest

from mm_blender.motion import demo
from mm_blender.scene import actions
from mm_blender.scene.demo import body as demo_body
from mm_blender.scene.demo import character as demo_character
from mm_blender.scene.reading import sampling
from mm_blender.scene.reading.features import schema_of
from mm_blender.scene.rig import armatures

FEW_CLIPS = ("idle", "walk", "run")


@pytest.fixture(autouse=True)
def few_clips(monkeypatch):
    """Three of the demo's clips: what is true of them is true of all, and eight minutes take a while."""
    clips = [clip for clip in _every_clip() if clip.name in FEW_CLIPS]
    monkeypatch.setattr(demo_character.demo, "clips", lambda rate: clips)
    return {clip.name: clip for clip in clips}


@pytest.fixture
def character(extension):
    bpy.ops.mm.create_demo()
    return bpy.context.object


def test_the_armature_is_the_demo_skeleton(character):
    found, wanted = armatures.skeleton_of(character), demo.skeleton()
    order = [found.index(name) for name in wanted.names]
    assert [found.names[parent] if parent >= 0 else None for parent in found.parents[order]] == \
           [wanted.names[parent] if parent >= 0 else None for parent in wanted.parents]
    assert np.abs(found.rest[0][order] - wanted.rest[0]).max() < 1e-5
    assert np.abs((found.rest[1][order] * wanted.rest[1]).sum(-1)).min() > 1 - 1e-5


def test_it_is_selected_active_and_ready_to_bake(character):
    settings = character.mm
    assert character.name == "Demo Character" and character.select_get()
    assert [clip.action.name for clip in settings.clips] == [f"Demo {name}" for name in FEW_CLIPS]
    assert not any(clip.mirror for clip in settings.clips) and all(clip.loop for clip in settings.clips)
    assert all(role.bone in character.data.bones for role in settings.roles)
    assert schema_of(character).name == "locomotion" and schema_of(character).size == 27
    assert character.animation_data.action.name == "Demo walk"
    assert {bone.name for group in character.data.collections for bone in group.bones} == set(demo.skeleton().names)


def test_an_action_plays_the_clip_at_its_true_speed(character, few_clips):
    clip, action = few_clips["run"], bpy.data.actions["Demo run"]
    scene = bpy.context.scene
    assert scene.render.fps == 60 and tuple(action.frame_range) == (1, len(clip))
    actions.assign(character, action)
    wanted = demo_character.facing_front(clip).globals()[0]
    for frame in (0, 17, len(clip) - 1):
        scene.frame_set(1 + frame)
        for joint, name in enumerate(clip.skeleton.names):
            head = character.matrix_world @ character.pose.bones[name].head
            assert np.abs(np.array(head) - wanted[frame, joint]).max() < 1e-4


def test_it_walks_towards_the_viewer_of_the_front_view(character):
    scene = bpy.context.scene
    scene.frame_set(1)
    assert character.pose.bones["root"].y_axis.y < -0.99
    start = character.pose.bones["hips"].head.y
    scene.frame_set(120)
    assert character.pose.bones["hips"].head.y < start - 1


def test_tags_are_in_frames_of_the_action(extension, monkeypatch):
    clips = [clip for clip in _every_clip() if clip.name in ("walk", "walk start left")]
    monkeypatch.setattr(demo_character.demo, "clips", lambda rate: clips)
    bpy.ops.mm.create_demo()
    start = next(clip for clip in clips if clip.name == "walk start left")
    tags = bpy.data.actions["Demo walk start left"].mm.tags
    assert [tag.name for tag in tags] == [tag.name for tag in start.tags]
    for tag, wanted in zip(tags, start.tags):
        assert tag.start == pytest.approx(1 + 60 * wanted.start, abs=2e-3)
        assert tag.end == pytest.approx(1 + 60 * wanted.end, abs=2e-3)


def test_actions_outlive_the_character(character):
    assert all(bpy.data.actions[f"Demo {name}"].use_fake_user for name in FEW_CLIPS)


def test_a_file_with_actions_keeps_its_frame_rate(extension, few_clips):
    scene = bpy.context.scene
    scene.render.fps = 24
    bpy.data.actions.new("somebody's work")
    bpy.ops.mm.create_demo()
    walk = bpy.data.actions["Demo walk"]
    assert scene.render.fps == 24 and scene.frame_end == 250
    assert (walk.frame_end - walk.frame_start) / 24 == pytest.approx(few_clips["walk"].duration, abs=1 / 24)
    frames = {key.co.x for curve in actions.fcurves(walk) for key in curve.keyframe_points}
    assert all(frame == round(frame) for frame in frames)


def test_it_stands_beside_the_default_cube_and_on_a_floor(extension, few_clips):
    bpy.ops.mesh.primitive_plane_add(size=20)
    bpy.ops.mm.create_demo(with_mesh=False)
    assert bpy.context.object.location.x == 0, "on the floor"
    bpy.data.objects.remove(bpy.context.object)
    bpy.ops.mesh.primitive_cube_add(size=2)
    bpy.ops.mm.create_demo(with_mesh=False)
    assert bpy.context.object.location.x == 2


def test_a_second_one_stands_beside_the_first_and_shares_its_actions(character):
    count = len(bpy.data.actions)
    bpy.ops.mm.create_demo()
    second = bpy.context.object
    assert second.name == "Demo Character.001" and second != character
    assert (second.location - character.location).length > 0.5
    assert len(bpy.data.actions) == count
    assert [clip.action for clip in second.mm.clips] == [clip.action for clip in character.mm.clips]
    before = second.pose.bones["hips"].head.copy()
    bpy.context.scene.frame_set(60)
    assert (second.pose.bones["hips"].head - before).length > 0.1


def test_an_edited_action_is_left_alone_and_made_anew(character):
    edited = bpy.data.actions["Demo walk"]
    actions.fcurves(edited)[0].keyframe_points[5].co.y += 1
    print_before = sampling.fingerprint(character, edited)
    bpy.ops.mm.create_demo()
    assert bpy.context.object.animation_data.action.name == "Demo walk.001"
    assert sampling.fingerprint(character, edited) == print_before
    assert [clip.action.name for clip in bpy.context.object.mm.clips] == ["Demo idle", "Demo walk.001", "Demo run"]


def test_nothing_else_in_the_scene_changes(extension):
    cube = bpy.data.objects.new("Cube", bpy.data.meshes.new("Cube"))
    bpy.context.collection.objects.link(cube)
    cube.location = (1, 2, 3)
    bpy.context.view_layer.update()
    place = cube.matrix_world.copy()
    bpy.ops.mm.create_demo()
    bpy.context.view_layer.update()
    assert cube.matrix_world == place and bpy.context.mode == "OBJECT"
    assert {ob.name for ob in bpy.data.objects} == {"Cube", "Demo Character", "Demo Body"}


def test_without_the_body_there_is_only_the_armature(extension):
    bpy.ops.mm.create_demo(with_mesh=False)
    assert [ob.name for ob in bpy.data.objects] == ["Demo Character"] and not len(bpy.data.materials)


def test_in_pose_mode_the_button_says_why_it_is_grey(character):
    bpy.ops.object.mode_set(mode="POSE")
    assert not bpy.ops.mm.create_demo.poll()


def test_the_body_is_closed_light_and_alike_on_both_sides(character):
    mesh = bpy.data.objects["Demo Body"].data
    mesh.calc_loop_triangles()
    assert len(mesh.loop_triangles) <= 3000
    assert set(Counter(key for polygon in mesh.polygons for key in polygon.edge_keys).values()) == {2}
    corners = np.array([[mesh.vertices[index].co for index in triangle.vertices] for triangle in mesh.loop_triangles])
    assert 0.03 < np.linalg.det(corners).sum() / 6 < 0.12  # cubic metres; negative if it were inside out
    vertices = demo_body.body().vertices
    assert np.abs(np.sort(vertices[:, 0]) - np.sort(-vertices[:, 0])).max() < 1e-6
    assert vertices[:, 2].min() >= -1e-6 and vertices[:, 2].max() < 1.8


def test_every_vertex_follows_bones_that_exist_with_weights_of_one(character):
    shape = demo_body.body()
    assert set(shape.weights) <= set(character.data.bones.keys())
    assert np.abs(sum(shape.weights.values()) - 1).max() < 1e-6


def test_the_skinned_body_moves_with_the_armature(character):
    body, scene = bpy.data.objects["Demo Body"], bpy.context.scene
    scene.frame_set(100)
    shown = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    vertices = np.empty(3 * len(shown.vertices), dtype=np.float32)
    shown.vertices.foreach_get("co", vertices)
    middle = vertices.reshape(-1, 3).mean(axis=0)
    hips = np.array(character.pose.bones["hips"].head)
    assert np.linalg.norm(middle[:2] - hips[:2]) < 0.15 and np.abs(hips[1]) > 1
    assert vertices.reshape(-1, 3)[:, 2].min() > -0.03


@cache
def _every_clip():
    return demo.clips(60.0)
