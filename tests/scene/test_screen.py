# SPDX-License-Identifier: GPL-3.0-or-later
"""3D viewports are found again, whatever is done to them meanwhile."""

import bpy
import pytest

from mm_blender.scene.screen import Views, viewports


@pytest.fixture
def view():
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    return viewports()[0]


def test_they_are_found_again(view):
    views = Views()
    assert views.found() == views.found() == [view]


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


def test_those_of_a_screen_that_is_gone_are_not_looked_for_in_it(view):
    # An area that fills its window is on a screen of its own, which Blender frees afterwards.
    views, window = Views(), bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window, area=view, region=view.regions[-1]):
        bpy.ops.screen.screen_full_area()
    full, = views.found()
    gone = full.id_data
    with bpy.context.temp_override(window=window, area=full, region=full.regions[-1]):
        bpy.ops.screen.back_to_previous()
    with pytest.raises(ReferenceError):
        gone.name  # noqa: B018
    assert views.found() == viewports() and len(views.found()) == 1


def test_they_are_looked_for_anew_once_another_screen_is_shown(view):
    views, other = Views(), next(area for area in view.id_data.areas if area.type != "VIEW_3D")
    views.found()
    other.type = "VIEW_3D"
    assert len(views.found()) == 1
    with bpy.context.temp_override(screen=bpy.data.screens["Animation"]):
        assert len(views.found()) == 2
