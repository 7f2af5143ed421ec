# SPDX-License-Identifier: GPL-3.0-or-later
"""How things were before driving."""

import bpy
import pytest

from mm_blender.scene.rig.restore import SceneBefore

pytestmark = pytest.mark.usefixtures("extension")


@pytest.fixture
def crowd():
    """Many objects, every other one selected; half of them have just been taken out of the scene."""
    objects = [bpy.data.objects.new(f"object {number:03}", None) for number in range(300)]
    for ob in objects:
        bpy.context.scene.collection.objects.link(ob)
    for ob in objects[::2]:
        ob.select_set(True)
    for ob in objects[:150]:
        bpy.context.scene.collection.objects.unlink(ob)
    return objects


def test_a_selection_is_kept_while_the_view_layer_is_out_of_date(crowd):
    before = SceneBefore(bpy.context)
    for ob in crowd[150:]:
        ob.select_set(False)
    bpy.context.scene.collection.objects.unlink(crowd[150])
    before.restore(bpy.context)
    assert [ob.select_get() for ob in crowd[151:]] == [False, True] * 74 + [False]


def test_what_was_renamed_meanwhile_is_still_selected_active_and_at_its_frame(crowd):
    layer, scene = bpy.context.view_layer, bpy.context.scene
    layer.objects.active = crowd[152]
    scene.frame_set(12)
    before = SceneBefore(bpy.context)
    crowd[152].name, scene.name = "Hero", "Shot"
    crowd[152].select_set(False)
    layer.objects.active = crowd[153]
    scene.frame_set(30)
    before.restore(bpy.context)
    assert crowd[152].select_get() and layer.objects.active == crowd[152] and scene.frame_current == 12
