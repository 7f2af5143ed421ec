# SPDX-License-Identifier: GPL-3.0-or-later
"""Two characters among walls and on a slope: one is driven up and along, a click hands over to the other."""

import math

import bpy
from inside import drive_on, empty_scene, hold, in_view3d, let_go, picture, press, session, view3d
from mathutils import Euler


def steps(result):
    empty_scene()
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT")
        bpy.ops.mm.bake()
    hero = bpy.context.object
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT")
    other = bpy.context.object
    other.mm.bake.path, other.mm.bake.key = hero.mm.bake.path, hero.mm.bake.key
    walls, floor = collection("Walls"), collection("Ground")
    box(walls, (3.5, 3, 1.0), (0.3, 12, 2.0))
    box(floor, (-1.5, 4.5, 0), (7, 7, 0.02), (math.radians(12), 0, 0))
    for ob in (hero, other):
        ob.mm.drive.relative, ob.mm.drive.obstacles, ob.mm.drive.ground = "WORLD", walls, floor
        ob.select_set(True)
    bpy.context.view_layer.objects.active = hero
    look()
    with in_view3d():
        bpy.ops.mm.drive("INVOKE_DEFAULT")
    hold("W")
    yield from drive_on(4.5)
    let_go("W")
    yield from drive_on(1.0)
    result["up"] = place(hero)
    result["on the slope"] = {"ground": float(height(hero)), "toes": [float(toe[2]) for toe in session().paths.toes]}
    picture("drive_slope", view3d()[1])

    bpy.context.view_layer.objects.active = other
    hold("D")
    yield from drive_on(4.5)
    result["driven"] = session().driven.name
    hold("W")
    yield from drive_on(2.0)
    let_go("W", "D")
    result["along the wall"] = place(other)
    result["the first"] = place(hero)
    picture("drive_walls", view3d()[1])
    press("RET")
    yield 0.5
    result["kept"] = [ob.animation_data.action.name for ob in (hero, other)]


def collection(name):
    made = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(made)
    return made


def box(where, place, size, turn=(0, 0, 0)):
    bpy.ops.mesh.primitive_cube_add(size=1, location=place, rotation=turn)
    made = bpy.context.object
    made.scale = size
    made.select_set(False)
    for other in made.users_collection:
        other.objects.unlink(made)
    where.objects.link(made)


def look():
    space = view3d()[2]
    space.shading.type = "SOLID"
    space.region_3d.view_perspective = "PERSP"
    space.region_3d.view_location = (0.5, 1.0, 1.0)
    space.region_3d.view_rotation = Euler((1.2, 0.0, -0.5)).to_quaternion()
    space.region_3d.view_distance = 9


def place(ob):
    bpy.context.view_layer.update()
    return list(ob.matrix_world @ ob.pose.bones["hips"].head)


def height(ob):
    """Of the ground under an armature's hips."""
    x, y, _ = place(ob)
    floor = bpy.data.collections["Ground"].objects[0]
    inside = floor.matrix_world.inverted()
    hit, at, *_ = floor.ray_cast(inside @ type(inside.translation)((x, y, 9)), inside.to_3x3() @ type(
        inside.translation)((0, 0, -1)))
    return (floor.matrix_world @ at).z if hit else 0.0
