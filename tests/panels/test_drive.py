# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel Drive: it starts, says how to end, and shows the settings that count; and the page of the preferences."""

import sys
from types import SimpleNamespace

import bpy
import pytest

from mm_blender.control.gaits import Gait
from mm_blender.control.keyboard import CONTROLS
from mm_blender.control.speeds import Speeds
from mm_blender.scene import driving
from mm_blender.scene.driving import Status, gamepads, keymap, libraries, own_speeds
from tests.panels.test_panels import PANELS, Notes, drawn


@pytest.fixture
def driven(character, monkeypatch):
    """The character while it is being driven."""
    status = Status(clip="walk", gait="walk", speed=1.24, seconds=12.0, sentences=("No frame may be entered.",),
                    notes=("Autosave waits.",))
    driven = SimpleNamespace(name=character.name, owner=lambda: character)
    session = SimpleNamespace(status=status, driven=driven, gamepads=None)
    monkeypatch.setattr(driving, "current", lambda: session)
    return session


def shown(*names):
    return set(drawn(*names).properties.split(" | "))


def grey(name):
    return set(filter(None, drawn(name).grey.split(" | ")))


def test_before_the_first_bake_it_says_what_is_missing(character):
    seen = drawn("MM_PT_drive")
    assert "Bake a database first" in seen.texts
    assert {"mm.drive", "mm.drive_recording", "mm.drive_save_input", "mm.drive_preset_save"} == set(
        seen.operators.split(" | "))


def test_after_it_the_button_is_all_there_is_to_read(character):
    character.mm.bake.key = "baked"
    assert "Bake a database" not in drawn("MM_PT_drive").texts


def test_while_driving_it_says_how_it_goes_and_how_it_ends(driven):
    seen = drawn("MM_PT_drive")
    assert "mm.drive" not in seen.operators.split(" | ")
    assert "Walker | 12 s | Keep (Enter) | Cancel (Esc)" in seen.texts
    assert {"mm.drive_keep", "mm.drive_cancel"} <= set(seen.operators.split(" | "))
    assert "Walk, 1.2 m/s: walk" in seen.texts and "No frame may be entered." in seen.texts
    assert "Autosave waits." in seen.texts and "ERROR" in seen.icons and "INFO" in seen.icons


def test_while_driving_only_the_panel_drive_is_there_with_the_weights_of_features(driven):
    gone = {"MM_PT_character", "MM_PT_roles", "MM_PT_clips", "MM_PT_tags", "MM_PT_features", "MM_PT_bake",
            "MM_PT_bake_details", "MM_PT_bake_report", "MM_PT_bake_test_drive", "MM_PT_train", "MM_PT_direct",
            "MM_PT_direct_take"}
    assert {name for name in PANELS if getattr(getattr(bpy.types, name), "poll", lambda _: True)(bpy.context)} == {
        *PANELS} - gone
    bpy.context.view_layer.objects.active = None  # whatever is selected meanwhile
    assert {"method", "compare", "follow", "responsiveness"} <= shown("MM_PT_drive", "MM_PT_drive_matching")
    weights = drawn("MM_PT_drive_matching").properties.split(" | ").count("weight")
    assert weights == len(driven.driven.owner().mm.features.channels) > 3


def test_nothing_hops_while_driving_however_long_the_texts_are(driven):
    def lines(*sentences):
        driven.status = Status(clip="walk", sentences=sentences)
        return drawn("MM_PT_drive").icons.count(" | ")  # each line has one, if only a blank one
    found = {lines(*sentences) for sentences in ((), ("Odd.",), ("A sentence of many words. " * 20,),
                                                      ("One.", "Two.", "Three.", "Four.", "Five."))}
    assert len(found) == 1
    lines("word " * 200)
    assert "word…" in drawn("MM_PT_drive").texts
    lines()
    assert "Whatever you change here acts at once" in drawn("MM_PT_drive").texts.replace(" | ", " ")


def test_the_header_has_what_is_wanted_most_while_driving(driven, monkeypatch):
    assert {"method", "compare", "follow", "stay"} <= shown("MM_PT_driving")
    menu = Notes()
    draw = sys.modules["motion_matching.panels.driving"].draw_header
    draw(SimpleNamespace(layout=menu), bpy.context)
    assert menu.shared["operators"] == ["mm.drive_keep", "mm.drive_cancel"]
    monkeypatch.setattr(driving, "current", lambda: None)
    menu = Notes()
    draw(SimpleNamespace(layout=menu), bpy.context)
    assert not menu.shared["operators"] and not shown("MM_PT_driving") - {""}


def test_every_setting_of_driving_is_somewhere(character):
    hidden = {"rna_type", "name", "driving", "copied", "push_nla", "lengthen", "gaits"}
    settings = character.mm.drive
    settings.own_speeds = True
    found = shown()
    settings.target = bpy.data.objects.new("Other", character.data)
    for settings.blend in ("quintic", "latent"):
        found |= shown()
    assert {prop.identifier for prop in settings.bl_rna.properties} - hidden <= found
    assert {"responsiveness", "quality"} <= shown("MM_PT_drive_matching")


def test_what_can_be_commanded_of_features_is_listed(character):
    assert "can be commanded" in drawn("MM_PT_drive_commands").texts.replace(" | ", " ")
    for kind, setting in (("tag", "on"), ("trajectory_height", "value"), ("bone_facing", "target")):
        bpy.ops.mm.feature_add(kind=kind)
        assert setting in shown("MM_PT_drive_commands")
    assert grey("MM_PT_drive_commands") == {"on", "value"}


def test_methods_that_cannot_be_used_are_grey_and_a_sentence_says_why(character, monkeypatch):
    bpy.ops.mm.bake()
    assert grey("MM_PT_drive") == {"DMM", "LMM", "compare"}
    assert "There are no networks yet" in drawn("MM_PT_drive").texts
    monkeypatch.setattr(libraries, "method_trouble", lambda ob, method: "")
    seen = drawn("MM_PT_drive")
    assert seen.grey == "" and "networks" not in seen.texts
    monkeypatch.setattr(libraries, "method_trouble", lambda ob, method: "No database." if method == "MM" else "")
    character.mm.drive.method = "LMM"
    assert grey("MM_PT_drive") == {"MM", "compare"} and "No database." in drawn("MM_PT_drive").texts
    assert grey("MM_PT_drive_matching") == {"responsiveness", "quality"}


def test_speeds_are_shown_as_measured_or_set_by_the_artist(character, monkeypatch):
    assert "measured from the database when driving starts" in drawn("MM_PT_drive_speeds").texts.replace(" | ", " ")
    monkeypatch.setattr(own_speeds, "speeds_of", lambda ob: Speeds(run=(3.21, 2.0, 1.5)))
    seen = drawn("MM_PT_drive_speeds")
    assert "3.21" in seen.texts and "Sideways" in seen.texts and "run" not in seen.properties.split(" | ")
    character.mm.drive.own_speeds = True
    assert drawn("MM_PT_drive_speeds").properties.split(" | ").count("run") == 3


def test_gaits_of_other_tags_are_shown_too_and_have_own_speeds(character, monkeypatch):
    sneak = Gait("sneak", "sneak", (0.61, 0.3, 0.3), apart=True)
    monkeypatch.setattr(own_speeds, "speeds_of", lambda ob: Speeds(further=(sneak,)))
    assert {"Sneak", "0.61"} <= set(drawn("MM_PT_drive_speeds").texts.split(" | "))
    settings = character.mm.drive
    settings.own_speeds = True
    seen = drawn("MM_PT_drive_speeds")
    assert "0.61" in seen.texts and "mm.drive_measured_speeds" in seen.operators
    settings.gaits.add().name = "sneak"
    seen = drawn("MM_PT_drive_speeds")
    assert "0.61" not in seen.texts and seen.properties.split(" | ").count("speeds") == 3


def test_only_settings_that_count_are_not_grey(character):
    settings = character.mm.drive
    settings.root_position, settings.root_facing = "none", "none"
    assert grey("MM_PT_drive_root") == {"root_halflife", "root_share", "root_radius", "root_angle"}
    settings.root_facing = "adjust_clamp"
    assert grey("MM_PT_drive_root") == {"root_radius"}
    settings.root_position = "clamp"
    assert grey("MM_PT_drive_root") == set()
    assert grey("MM_PT_drive_feet") == set()
    settings.lock_feet = False
    assert grey("MM_PT_drive_feet") == {"lock_release", "lock_halflife"}


def test_a_transition_has_either_a_half_life_or_a_duration(character):
    assert "blend_halflife" in shown("MM_PT_drive_matching") and "blend_duration" not in shown("MM_PT_drive_matching")
    character.mm.drive.blend = "quintic"
    assert "blend_duration" in shown("MM_PT_drive_matching") and "blend_halflife" not in shown("MM_PT_drive_matching")


def preferences():
    """What the extension's page of the preferences shows."""
    cls = bpy.types.AddonPreferences.bl_rna_get_subclass_py("MM_AddonPreferences")
    layout = Notes()
    cls.draw(SimpleNamespace(layout=layout, bl_rna=cls.bl_rna), bpy.context)
    return layout.shared


def test_without_a_window_there_are_no_keys_to_change(extension):
    assert "Keys can be changed where Blender has a window" in preferences()["texts"]


def test_every_control_can_be_given_another_key(extension, monkeypatch):
    rna = bpy.types.KeyMapItem.bl_rna
    items = [SimpleNamespace(idname=f"mm_drive.{control}", type=key, active=True, bl_rna=rna)
             for control in CONTROLS for key in keymap.KEYS[control]]
    table = SimpleNamespace(keymap_items=items, is_user_modified=False)
    monkeypatch.setattr(keymap, "keymap", lambda: table)
    monkeypatch.setattr(keymap, "shortcut", lambda: SimpleNamespace(type="D", bl_rna=rna))
    monkeypatch.setattr(gamepads, "sentence", lambda: "Pad of a Friend")
    seen = preferences()
    assert seen["properties"].count("type") == len(items) + 1 and seen["properties"].count("active") == len(items)
    assert {"Forward", "Strafe, Held", "Keep the Take", "Start Driving", "Pad of a Friend"} <= set(seen["texts"])
    assert "preferences.keymap_restore" not in seen["operators"]
    table.is_user_modified = True
    assert "preferences.keymap_restore" in preferences()["operators"]


def test_a_target_that_cannot_be_driven_is_said(character):
    character.mm.bake.key = "baked"
    other = bpy.data.objects.new("Other", character.data)
    character.mm.drive.target = other
    assert 'The Target "Other" is in no scene' in drawn("MM_PT_drive").texts.replace(" | ", " ")
    bpy.context.scene.collection.objects.link(other)
    assert "Target" not in drawn("MM_PT_drive").texts
    bpy.context.view_layer.objects.active = other
    assert 'With the motion of "Walker"' in drawn("MM_PT_drive").texts


def test_a_target_is_told_that_it_needs_no_clips_and_whose_motion_it_has(character):
    rig = bpy.data.objects.new("Puppet", character.data.copy())
    bpy.context.scene.collection.objects.link(rig)
    character.mm.drive.target, character.mm.bake.key = rig, "baked"
    bpy.context.view_layer.objects.active = rig
    assert 'With the motion of "Walker"' in drawn("MM_PT_drive").texts
    seen = drawn("MM_PT_clips")
    assert "None are needed" in seen.texts and "mm.import_motion" in seen.operators
