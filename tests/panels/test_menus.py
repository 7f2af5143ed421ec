# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own menus lead to us, and only where that makes sense."""

import sys
from types import SimpleNamespace

import bpy
import pytest

from tests.panels.test_panels import Notes, Pen

MENUS = ("TOPBAR_MT_file_import", "DOPESHEET_MT_context_menu", "NLA_MT_context_menu", "ASSETBROWSER_MT_context_menu")


@pytest.fixture
def menus(extension):
    return sys.modules["motion_matching.panels.menus"]


def drawn(draw, **context):
    layout = Notes()
    draw(SimpleNamespace(layout=layout), SimpleNamespace(**{"object": bpy.context.object, **context}))
    return layout.shared


def test_each_has_one_entry_of_ours(menus):
    for name in MENUS:
        assert sum(draw.__module__ == menus.__name__ for draw in getattr(bpy.types, name).draw._draw_funcs) == 1


def test_import_and_assets_are_offered_and_the_latter_only_for_actions(menus, character):
    assert drawn(menus.draw_import)["operators"] == ["mm.import_motion"]
    action = SimpleNamespace(id_type="ACTION", local_id=character.mm.clips[0].action)
    assert drawn(menus.draw_assets, selected_assets=[action])["operators"] == ["mm.clips_add_assets"]
    assert not drawn(menus.draw_assets, selected_assets=[SimpleNamespace(id_type="MESH")])["operators"]


def test_tags_are_offered_beside_keys_and_strips_of_armatures(menus, character):
    for draw, menu in ((menus.draw_keys, "MM_MT_tag_keys"), (menus.draw_strips, "MM_MT_tag_strips")):
        assert drawn(draw, space_data=SimpleNamespace(mode="ACTION"))["menus"] == [menu]
        assert not drawn(draw, space_data=SimpleNamespace(mode="ACTION"), object=None)["menus"]
    assert not drawn(menus.draw_keys, space_data=SimpleNamespace(mode="GPENCIL"))["menus"]


def test_a_click_tags_with_a_name_that_there_is_and_another_one_asks(menus, character):
    bpy.ops.mm.tag_clips(name="sneak", containing="walk")
    for menu, operator in ((menus.MM_MT_tag_keys, "mm.tag_add"), (menus.MM_MT_tag_strips, "mm.tag_strips")):
        layout = Notes()
        menu.draw(Pen(menu, layout), bpy.context)
        assert layout.shared["texts"][:2] == ["sneak", "exclude"] and layout.shared["texts"][-1] == "New Tag…"
        assert set(layout.shared["operators"]) == {operator}
