# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs as games and downloads have them: feet outside the legs, further bones in the legs, a sword, another size. They
drive, as a Target and with Actions of their own, and what is different is told when bones are found."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from mm_blender.scene import driving
from mm_blender.scene.rig import advice
from mm_blender.scene.rig.character import character_of, fill_roles
from tests.scene.going import Feet, drive, place
from tests.scene.rigify import metarig

pytestmark = pytest.mark.once
SIDES = ("L", "R")


def outside(bones):
    """Feet hang from a bone on the ground, for IK."""
    root = bones.new("root")
    root.head, root.tail = (0, 0, 0), (0, 0.3, 0)
    bones["spine"].parent = root
    for side in SIDES:
        bones[f"foot.{side}"].use_connect = False
        bones[f"foot.{side}"].parent = root


def without_parents(bones):
    """Feet hang from nothing at all."""
    for side in SIDES:
        bones[f"foot.{side}"].use_connect = False
        bones[f"foot.{side}"].parent = None


def twisted(bones):
    """Each shin hangs from a second bone of the thigh, which lies along it."""
    for side in SIDES:
        shin, thigh = bones[f"shin.{side}"], bones[f"thigh.{side}"]
        twist = bones.new(f"twist.{side}")
        twist.head, twist.tail, twist.parent = (thigh.head + thigh.tail) / 2, thigh.tail, thigh
        shin.use_connect = False
        shin.parent = twist


def hub(bones):
    """Legs and spine hang from a bone of their own between them."""
    middle = bones.new("cog")
    middle.head, middle.tail = bones["spine"].head, bones["spine"].head + Vector((0, 0.2, 0))
    for name in ("spine", "spine.001"):
        bones[name].use_connect = False
        bones[name].parent = middle


def armed(bones):
    """A sword that hangs from nothing, and a bone on the ground that deforms."""
    outside(bones)
    for name, above in (("sword", None), ("blade", "sword")):
        bone = bones.new(name)
        bone.head, bone.tail = (1, 0, 1 + bool(above)), (1, 0, 2 + bool(above))
        bone.parent = bones[above] if above else None


ODD = {outside: "outside the legs, as for IK", without_parents: "outside the legs, as for IK", twisted: "", hub: "",
       armed: '"sword" and "blade" are not parts of the body'}


def made(change):
    """A metarig that was changed so; the source stays active."""
    active, ob = bpy.context.view_layer.objects.active, metarig()
    bpy.ops.object.mode_set(mode="EDIT")
    change(ob.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = active
    return ob


@pytest.mark.parametrize("change", ODD)
def test_odd_rigs_drive_as_targets_and_with_their_own_actions(source, change, tmp_path):
    ob = made(change)
    fill_roles(ob)
    assert ODD[change] in " ".join(advice.advice(ob)) and (ODD[change] or not advice.advice(ob))
    source.mm.drive.target, feet = ob, Feet(ob, ["toe.L", "toe.R"])
    ankle = np.linalg.norm(place(ob, "foot.L") - place(ob, "shin.L"))
    session = drive(source, 2, feet)
    assert place(ob, "spine")[1] > 1 and np.mean(feet.slides) < 0.005 and len(feet.slides) > 10
    assert np.linalg.norm(place(ob, "foot.L") - place(ob, "shin.L")) == pytest.approx(ankle, abs=2e-3)
    assert session.driven.poser.layout is not None, "all bones are posed at once"
    session.keep()
    driving.finish(bpy.context)
    take = ob.animation_data.action if ob.animation_data else None
    assert take is not None
    bpy.context.view_layer.objects.active = ob
    bpy.ops.mm.clips_add(source="ACTIVE")
    ob.mm.bake.path = str(tmp_path / "own.mmdb")
    bpy.ops.mm.bake()
    assert all(limb.bends for limb in character_of(ob).limbs)
    feet = Feet(ob, ["toe.L", "toe.R"])
    drive(ob, 1.5, feet)
    assert place(ob, "spine")[1] > 0.5 and np.mean(feet.slides) < 0.005


def test_an_ant_walks_and_can_be_made_as_tall_as_a_person(source):
    ob = metarig()
    ob.scale = (0.001, 0.001, 0.001)
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.collection.objects.link(empty)
    ob.parent = empty
    bpy.context.view_layer.update()
    fill_roles(ob)
    assert advice.advice(ob)[0].startswith("It is 1.78 mm tall.") and advice.is_of_another_size(ob)
    source.mm.drive.target, feet = ob, Feet(ob, ["toe.L", "toe.R"])
    session = drive(source, 2, feet)
    assert place(ob, "spine")[1] > 0.001 and np.mean(feet.slides) < 5e-6 and len(feet.slides) > 10
    session.cancel(bpy.context)
    bpy.context.view_layer.objects.active = ob
    assert bpy.ops.mm.character_resize() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert advice.height(ob) == pytest.approx(advice.TALL, rel=1e-3) and advice.advice(ob) == ()
    assert ob.scale.x == pytest.approx(0.001), "what carries it is scaled, with all that it carries"


def test_what_a_leg_lacks_is_told_and_the_rest_drives(source):
    ob = metarig()
    fill_roles(ob)
    ob.mm.roles["left_toe"].bone = "foot.L"
    assert advice.advice(ob)[0] == ('"foot.L" cannot be left foot and left toe at once: choose another bone for one of '
                                    "them.")
    ob.mm.roles["left_toe"].bone, ob.mm.roles["left_shin"].bone = "toe.L", ""
    assert advice.advice(ob) == ("Without a bone for left shin the left leg cannot bend: its foot is not held.",)
