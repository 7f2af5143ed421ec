# SPDX-License-Identifier: GPL-3.0-or-later
"""A four-legged armature bakes and drives with each paw held where its bones end."""

import bpy
import numpy as np
import pytest

from mm_blender.motion import bvh
from mm_blender.scene import driving
from mm_blender.scene.reading.features import apply_preset
from mm_blender.scene.rig.building import build_armature
from mm_blender.scene.rig.character import character_of
from tests import quadruped

pytestmark = pytest.mark.blender


@pytest.fixture
def animal(extension, tmp_path):
    """The animal of the tests, imported from a BVH file and baked."""
    bvh.write(tmp_path / "trot.bvh", quadruped.trot())
    bpy.ops.mm.import_motion(filepath=str(tmp_path / "trot.bvh"), units="CM")
    ob = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    bpy.context.view_layer.objects.active = ob
    ob.mm.legs = "FOUR"  # a BVH file's rest pose does not stand
    apply_preset(ob, "quadruped")
    ob.mm.bake.path = str(tmp_path / "animal.mmdb")
    bpy.ops.mm.bake()
    return ob


def test_it_is_seen_from_its_rest_pose_and_can_be_told(extension):
    ob = build_armature(quadruped.skeleton(), "Animal")
    ends = {limb.name: np.linalg.norm(limb.end) for limb in character_of(ob).limbs}
    assert ends == pytest.approx({"left hind leg": 0.0985, "right hind leg": 0.0985, "left fore leg": 0.0762,
                                  "right fore leg": 0.0762}, abs=1e-3)
    ob.mm.legs = "TWO"
    assert len(character_of(ob).limbs) == 2


def test_each_paw_stays_where_it_stands(animal):
    session = driving.start(bpy.context, [animal])
    session.keyboard.press("W", "forward")
    places, held = [], []
    for _ in range(150):
        session.tick(bpy.context, 1 / 60)
        bpy.context.view_layer.update()
        places.append([animal.matrix_world @ animal.pose.bones[name].tail for name in (
            "LeftFoot", "RightFoot", "LeftHand", "RightHand")])
        held.append(session.driven.player.feet.locked[0])
    driving.stop(bpy.context)
    places, held = np.array(places), np.array(held)
    steps, both = np.linalg.norm(np.diff(places[..., :2], axis=0), axis=-1), held[1:] & held[:-1]
    assert (both[60:].mean(axis=0) > 0.25).all() and steps[both].max() < 1e-3
    assert np.ptp(places[60:, :, 2], axis=0).min() > 0.02, "and each one is lifted to step"
