# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a character faces is told by its root bone, or else by its hips."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from mm_blender.scene.rig.facing import facing_of


@pytest.fixture
def character(small_demo):
    return small_demo


def world(ob, bone):
    return np.array(ob.matrix_world @ ob.pose.bones[bone].head)


def test_the_arrow_follows_the_root_bone(character):
    scene = bpy.context.scene
    scene.frame_set(100)
    place, way = facing_of(character)
    assert np.allclose(place, world(character, "root"), atol=1e-5) and np.allclose(way, (0, -1, 0), atol=1e-4)
    character.mm.forward = "+X"
    assert np.allclose(facing_of(character)[1], (-1, 0, 0), atol=1e-4)


def test_without_a_root_bone_the_arrow_shows_where_the_hips_face(character):
    character.mm.roles["root"].bone = ""
    for turn in (0, 90):
        character.matrix_world = Matrix.Rotation(np.radians(turn), 4, "Z")
        bpy.context.view_layer.update()
        place, way = facing_of(character)
        wanted = np.array([np.sin(np.radians(turn)), -np.cos(np.radians(turn)), 0])
        assert np.dot(way, wanted) > 0.95
        assert np.allclose(np.array(place)[:2], world(character, "hips")[:2], atol=1e-5) and place.z == 0


def test_without_thighs_there_is_no_arrow(character):
    for role in ("root", "left_thigh"):
        character.mm.roles[role].bone = ""
    assert facing_of(character) is None
