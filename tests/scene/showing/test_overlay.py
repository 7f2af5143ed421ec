# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay knows where the character faces and what to draw for a frame, and measures again what has changed."""

from functools import cache

import bpy
import numpy as np
import pytest

from mm_blender.matching.feature_lines import COLOURS, cross
from mm_blender.motion import demo
from mm_blender.scene import actions
from mm_blender.scene.demo import character as demo_character
from mm_blender.scene.jobs import slices
from mm_blender.scene.showing import overlay


@cache
def _clips():
    return [clip for clip in demo.clips(60.0) if clip.name in ("walk", "walk arc 2 left")]


@pytest.fixture
def character(extension, monkeypatch):
    clips = _clips()
    monkeypatch.setattr(demo_character.demo, "clips", lambda rate: clips)
    bpy.ops.mm.create_demo(with_mesh=False)
    overlay.forget()
    yield bpy.context.object
    overlay.forget()


def drawn(ob):
    """What is drawn once the timer has done its work."""
    scene = bpy.context.scene
    overlay.lines(ob, scene)
    while overlay.work() is not None:
        pass
    return overlay.lines(ob, scene)


def of_kind(lines, kind):
    segments, colours = lines
    return segments[np.isclose(colours, COLOURS[kind]).all(axis=1)]


def world(ob, bone):
    return np.array(ob.matrix_world @ ob.pose.bones[bone].head)


def test_feet_are_marked_where_blender_shows_them(character):
    for frame in (1, 60, 250):
        bpy.context.scene.frame_set(frame)
        crosses = of_kind(drawn(character), "bone_position")
        assert np.allclose(crosses[:3], cross(world(character, "foot.L")), atol=1e-3)
        assert np.allclose(crosses[3:], cross(world(character, "foot.R")), atol=1e-3)


def test_a_moved_armature_takes_its_features_along(character):
    before, _ = drawn(character)
    character.location.x += 2
    bpy.context.view_layer.update()
    after, _ = drawn(character)
    assert np.allclose(after - before, (2, 0, 0), atol=1e-4)


def test_before_and_after_the_action_its_ends_are_shown(character):
    scene = bpy.context.scene
    scene.frame_set(1)
    first, _ = drawn(character)
    scene.frame_set(-50)
    assert np.array_equal(drawn(character)[0], first)
    scene.frame_set(9999)
    assert np.isfinite(drawn(character)[0]).all()


def test_scrubbing_only_looks_up_a_frame(character, monkeypatch):
    drawn(character)
    monkeypatch.setattr(overlay, "measure", lambda *_: pytest.fail("measured again"))
    for frame in (5, 80, 200):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        assert drawn(character) is not None


def test_what_blender_takes_for_an_edit_but_is_none_is_not_measured_again(character, monkeypatch):
    drawn(character)
    monkeypatch.setattr(overlay, "measure", lambda *_: pytest.fail("measured again"))
    overlay.ask(character.name, overlay.CALM)
    assert drawn(character) is not None


def test_an_edited_key_is_measured_again(character):
    character.mm.features.show = True
    bpy.context.scene.frame_set(60)
    before = of_kind(drawn(character), "bone_position")
    curve = next(curve for curve in actions.fcurves(character.animation_data.action, character)
                 if curve.data_path == 'pose.bones["root"].location' and curve.array_index == 1)
    for key in curve.keyframe_points:
        key.co.y += 1
    curve.update()
    character.animation_data.action.update_tag()
    bpy.context.view_layer.update()
    after = of_kind(drawn(character), "bone_position")
    assert np.abs(np.linalg.norm((after - before).reshape(-1, 3), axis=1) - 1).max() < 1e-3


def test_another_action_other_features_and_other_roles_are_measured_again(character):
    assert len(of_kind(drawn(character), "trajectory")) > 0
    actions.assign(character, bpy.data.actions["Demo walk arc 2 left"])
    path = of_kind(drawn(character), "trajectory")[:10].reshape(-1, 3)
    assert np.linalg.matrix_rank(path[:, :2] - path[0, :2], tol=0.05) == 2  # an arc, not a straight line
    for index in reversed(range(len(character.mm.features.channels))):
        if character.mm.features.channels[index].kind.startswith("trajectory"):
            character.mm.features.channels.remove(index)
    assert len(of_kind(drawn(character), "trajectory")) == 0
    character.mm.roles["left_foot"].bone = "hand.L"
    bpy.context.view_layer.update()
    assert np.allclose(of_kind(drawn(character), "bone_position")[:3], cross(world(character, "hand.L")), atol=1e-3)


def test_a_missing_role_draws_nothing_and_says_why(character):
    character.mm.roles["left_foot"].bone = ""
    assert drawn(character) is None
    assert "left_foot" in overlay.trouble(character)
    character.mm.roles["left_foot"].bone = "foot.L"
    assert drawn(character) is not None and overlay.trouble(character) == ""


def test_without_an_action_there_is_nothing_to_draw(character):
    character.animation_data.action = None
    assert drawn(character) is None and overlay.trouble(character) == ""


def test_a_rig_with_constraints_is_read_as_blender_shows_it(character):
    limit = character.pose.bones["thigh.L"].constraints.new("LIMIT_LOCATION")
    limit.use_min_z, limit.min_z, limit.owner_space = True, 1.5, "WORLD"
    bpy.context.scene.frame_set(60)
    assert np.allclose(of_kind(drawn(character), "bone_position")[:3], cross(world(character, "foot.L")), atol=1e-3)
    assert world(character, "foot.L")[2] > 0.5


def test_measuring_gives_way_to_whoever_waits(character):
    """It is a generator: a long Action is read a little at a time."""
    steps = overlay.measure(character, bpy.context.scene)
    shares = []
    while True:
        try:
            shares.append(next(steps))
        except StopIteration as end:
            assert end.value.drawn is not None
            break
    assert shares
    assert slices.run(overlay.measure(character, bpy.context.scene)).error == ""


def test_nothing_is_left_behind_when_the_extension_is_disabled(extension):
    handlers = [handler for name in ("depsgraph_update_post", "load_post", "undo_post", "redo_post")
                for handler in getattr(bpy.app.handlers, name)]
    assert sum(handler.__module__ == overlay.__name__ for handler in handlers) == 4
    overlay.unregister()
    try:
        handlers = [handler for name in ("depsgraph_update_post", "load_post", "undo_post", "redo_post")
                    for handler in getattr(bpy.app.handlers, name)]
        assert not any(handler.__module__ == overlay.__name__ for handler in handlers)
        assert not bpy.app.timers.is_registered(overlay.work)
    finally:
        overlay.register()
