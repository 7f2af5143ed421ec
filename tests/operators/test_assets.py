# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips from the Asset Browser: Actions of this file and of other ones, appended or linked, each once."""

from types import SimpleNamespace

import bpy
import pytest

from mm_blender.scene.reading import assets
from tests import walker


@pytest.fixture
def library(extension, tmp_path):
    """A .blend with two Actions of the walker as assets, a pose, one of another rig, and one that is no asset."""
    ob = walker.armature()
    for name in ("stroll", "march", "secret"):
        walker.walk(ob, name)
    pose = walker.walk(ob, "pose", seconds=0.0)
    other = walker.armature("Box", {"lid": ((0, 0, 0), (0, 0, 1), None)})
    other.pose.bones["lid"].keyframe_insert("location", frame=1)
    other.pose.bones["lid"].keyframe_insert("location", frame=20)
    other.animation_data.action.name = "open"
    for action in bpy.data.actions:
        action.use_fake_user = True
        if action.name != "secret":
            action.asset_mark()
    assert pose.frame_range[0] == pose.frame_range[1]
    path = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    walker.armature()
    return path


def names():
    return sorted(clip.action.name for clip in bpy.context.object.mm.clips)


def test_the_actions_of_a_library_are_appended_once_and_poses_and_others_are_left_out(library):
    for _ in range(2):
        assert bpy.ops.mm.clips_add_assets(filepath=str(library)) == {"FINISHED"}
    assert names() == ["march", "stroll"] == sorted(bpy.data.actions.keys())
    for action in bpy.data.actions:
        assert action.library is None and action.asset_data is None and action.use_fake_user
    assert bpy.context.object.mm.roles["hips"].bone == "hips"


def test_one_that_is_named_need_not_be_an_asset(library):
    bpy.ops.mm.clips_add_assets(filepath=str(library), name="secret")
    assert names() == ["secret"]


def test_they_may_be_linked(library):
    for _ in range(2):
        bpy.ops.mm.clips_add_assets(filepath=str(library), name="march", link=True)
    assert names() == ["march"] and bpy.data.actions["march"].library is not None


def test_what_is_selected_in_the_asset_browser_comes_from_this_file_and_from_others(library, monkeypatch):
    own = walker.walk(bpy.context.object, "own")
    asset = SimpleNamespace(id_type="ACTION", local_id=None, full_library_path=str(library), name="march")
    context = SimpleNamespace(selected_assets=[
        SimpleNamespace(id_type="ACTION", local_id=own), asset, SimpleNamespace(id_type="OBJECT")])
    found = assets.selected(context)
    assert found == [own, (str(library), "march")] and assets.selected(SimpleNamespace(selected_assets=None)) == []
    monkeypatch.setattr(assets, "selected", lambda _context: found)
    bpy.ops.mm.clips_add_assets()
    assert names() == ["march", "own"]


@pytest.mark.parametrize("method, linked", [("LINK", True), ("APPEND", False), ("APPEND_REUSE", False)])
def test_they_are_linked_where_the_asset_browser_links(method, linked):
    params = SimpleNamespace(import_method=method)
    assert assets.is_linked(SimpleNamespace(space_data=SimpleNamespace(params=params)), "/a.blend") == linked


def test_what_cannot_be_read_is_told(library, tmp_path):
    (tmp_path / "odd.blend").write_text("no .blend")
    for path, name, sentence in ((tmp_path / "gone.blend", "", "There is no file"),
                                 (tmp_path / "odd.blend", "", "Blender cannot read"),
                                 (library, "dance", 'has no Action "dance"'),
                                 ("", "", "No Actions are selected in the Asset Browser")):
        with pytest.raises(RuntimeError, match=sentence):
            bpy.ops.mm.clips_add_assets(filepath=str(path), name=name)
    assert not len(bpy.data.actions)
