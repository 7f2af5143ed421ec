# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel Direct: a path, its marks, and Generate."""

import bpy

from mm_blender.scene.directing import live
from tests.panels.test_panels import drawn


def test_before_there_is_a_path_it_says_how_to_come_by_one(character):
    seen = drawn("MM_PT_direct")
    assert "Choose a curve, or add places to go between" in seen.texts.replace(" | ", " ")
    assert {"mm.path_mark_add", "mm.path_mark_remove", "mm.generate_path", "mm.take_variations"} == set(
        seen.operators.split(" | "))


def test_marks_are_listed_with_what_changes_there_and_the_selected_one_in_full(character):
    direct = character.mm.direct
    empty = bpy.data.objects.new("Door", None)
    bpy.context.collection.objects.link(empty)
    for name, settings in (("Door", {"ob": empty, "gait": "run", "use_speed": True, "speed": 3.0}),
                           ("Window", {"wait": 2.0, "face": "OBJECT", "exact": True})):
        mark = direct.marks.add()
        mark.name = name
        for key, value in settings.items():
            setattr(mark, key, value)
    direct.mark_index = 1
    seen = drawn("MM_PT_direct")
    assert "run, 3.0 m/s" in seen.texts and "wait 2.0 s, looks, exact" in seen.texts
    assert {"face_object", "wait", "exact"} <= set(seen.properties.split(" | "))
    assert {"speed", "frame", "query"} <= set(seen.grey.split(" | "))


def test_what_is_to_be_said_about_the_take_is_said(character, monkeypatch):
    monkeypatch.setattr(live, "sentences", lambda ob: ["The curve needs 9.0 m/s."])
    assert "The curve needs 9.0 m/s." in drawn("MM_PT_direct").texts


def test_with_the_curve_selected_it_is_still_there(character):
    curve = bpy.data.objects.new("Way", bpy.data.curves.new("Way", "CURVE"))
    bpy.context.collection.objects.link(curve)
    character.mm.direct.path = curve
    bpy.context.view_layer.objects.active = curve
    assert "mm.generate_path" in drawn("MM_PT_direct").operators
