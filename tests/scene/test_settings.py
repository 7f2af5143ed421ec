# SPDX-License-Identifier: GPL-3.0-or-later
"""The artist's settings are in the .blend, also those of an armature that is linked from another one."""

import bpy
import pytest

from tests import walker


@pytest.fixture
def overridden(extension, tmp_path):
    """An armature and its Action from another file, the armature with a library override, in a saved file."""
    walker.walk(walker.armature("Rig")).use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "rig.blend"), link=True) as (_, into):
        into.objects, into.actions = ["Rig"], ["walk"]
    ob = into.objects[0].override_create(remap_local_usages=True)
    bpy.context.collection.objects.link(ob)
    walker.ready(ob, tmp_path / "motion.mmdb", into.actions[0])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return tmp_path / "shot.blend"


def test_an_overridden_armature_keeps_its_settings_each_time_the_file_is_saved(overridden):
    for times in range(3):
        bpy.ops.wm.open_mainfile(filepath=str(overridden))
        ob = next(ob for ob in bpy.data.objects if ob.override_library)
        assert len(ob.mm.features.channels) == 7 + times and ob.mm.roles["hips"].bone == "hips"
        assert [clip.action.name for clip in ob.mm.clips] == ["walk"]
        walker.activate(ob)
        bpy.ops.mm.feature_add(kind="tag")
        bpy.ops.wm.save_mainfile()


def test_an_overridden_armature_is_baked_and_stays_up_to_date(overridden):
    from mm_blender.scene.jobs import baking

    ob = next(ob for ob in bpy.data.objects if ob.override_library)
    assert bpy.ops.mm.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(overridden))
    ob = next(ob for ob in bpy.data.objects if ob.override_library)
    assert baking.changes(ob, bpy.context.scene) == [] and baking.report(ob)["clips"] == 1


@pytest.mark.parametrize("text", ["", "5", "[]", "{", "[" * 100_000, f'{{"clips": {10 ** 400}}}'])
def test_a_report_that_another_program_has_written_is_none(extension, text):
    from mm_blender.scene.jobs import baking

    ob = walker.armature("Rig")
    ob.mm.bake.report = text
    assert baking.report(ob) == {}


def test_where_a_take_is_kept_is_known_from_older_files_and_scripts_too(extension, tmp_path):
    ob = bpy.data.objects.new("Old", bpy.data.armatures.new("Old"))
    drive = ob.mm.drive
    assert drive.keep_as == "ACTION"
    drive.push_nla = True  # as older files have it
    assert drive.keep_as == "NLA"
    for choice in ("LENGTHEN", "NLA", "ACTION"):
        drive.keep_as = choice
        assert drive.keep_as == choice and drive.push_nla == (choice == "NLA")
    drive.keep_as, ob.use_fake_user = "LENGTHEN", True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert bpy.data.objects["Old"].mm.drive.keep_as == "LENGTHEN"
