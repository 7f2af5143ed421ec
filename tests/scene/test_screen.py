# SPDX-License-Identifier: GPL-3.0-or-later
"""3D viewports are found again, whatever is done to them meanwhile."""

import bpy
import pytest

from mm_blender.scene.screen import Views, viewports


@pytest.fixture
def view():
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    return viewports()[0]


def test_they_are_found_with_what_shows_the_scene(view):
    (area, regions), = Views().found()
    assert area == view and [region.type for region in regions] == ["WINDOW"]


def test_one_that_became_another_editor_is_not_taken_for_a_viewport(view):
    views = Views()
    views.found()
    view.type = "TEXT_EDITOR"
    assert views.found() == []


def test_one_that_is_new_is_found_once_the_others_are_forgotten(view):
    views, other = Views(), next(area for area in view.id_data.areas if area.type != "VIEW_3D")
    views.found()
    other.type = "VIEW_3D"
    views.forget()
    assert len(views.found()) == 2
