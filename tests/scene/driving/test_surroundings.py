# SPDX-License-Identifier: GPL-3.0-or-later
"""Walls and ground from meshes in Blender: as they are seen, and seen again when they change."""

import re

import bpy
import numpy as np
import pytest

from mm_blender.playback.library import search_of
from mm_blender.playback.matcher import BakedMotion
from mm_blender.scene.driving import surroundings
from mm_blender.scene.driving.surroundings import RADIUS, Surroundings
from tests.steering import player_of, step_on

# A room of 4 by 3 metres with a door of one metre in the wall y = 3, as one line.
ROOM = [(1.5, 3), (0, 3), (0, 0), (4, 0), (4, 3), (2.5, 3)]


@pytest.fixture
def collection():
    found = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(found)
    return found


@pytest.fixture
def watching(collection, monkeypatch):
    """Surroundings whose walls and ground are one Collection, watched without a pause."""
    monkeypatch.setattr(surroundings, "PAUSE", 0)
    monkeypatch.setattr(surroundings, "SHARE", 0)
    place("Box", box(), collection)
    watched = Surroundings(collection, collection)
    watched.begin()
    watched.refresh(depsgraph())
    yield watched
    watched.end()


def seen(collection, floors=(0.0,)):
    """What a Collection is as walls and as ground."""
    found = Surroundings(collection, collection, floors)
    found.refresh(depsgraph())
    return found


def test_one_mesh_with_a_floor_and_walls_is_a_room_with_a_door(collection):
    place("Room", room(), collection)
    walls = seen(collection).obstacles
    assert len(walls) == len(ROOM) - 1
    through, against = walked(walls, [2, 1], [0, 1]), walked(walls, [1, 1], [0, 1])
    assert through[1] > 4 and against[1] == pytest.approx(3 - RADIUS, abs=1e-3)


def test_modifiers_and_transforms_count(collection):
    ob = place("Box", box(), collection)
    ob.location, ob.rotation_euler, ob.scale = (10, 0, 0), (0, 0, np.pi / 2), (2, 1, 1)
    array = ob.modifiers.new("Two", "ARRAY")
    array.relative_offset_displace = (2, 0, 0)
    low, high = bounds(seen(collection).obstacles)
    np.testing.assert_allclose([low, high], [[9.5, -1], [10.5, 5]], atol=1e-3)


def test_instances_of_collections_count_also_nested_ones(collection):
    instanced(collection)
    low, high = bounds(seen(collection).obstacles)
    np.testing.assert_allclose([low, high], [[19.5, 4.5], [20.5, 5.5]], atol=1e-3)


def test_a_curve_with_faces_is_a_wall(collection):
    curve = bpy.data.curves.new("Fence", "CURVE")
    curve.dimensions, curve.extrude = "3D", 1.0
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (3, 0, 0, 1)
    place("Fence", curve, collection)
    np.testing.assert_allclose(bounds(seen(collection).obstacles), [[0, 0], [3, 0]], atol=1e-3)


def test_a_mesh_in_edit_mode_is_as_it_is_shown(collection):
    import bmesh

    ob = place("Box", box(), collection)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(ob.data)
    for vertex in edited.verts:
        vertex.co.x += 3
    bmesh.update_edit_mesh(ob.data)
    assert bounds(seen(collection).obstacles)[0][0] == pytest.approx(2.5, abs=1e-3)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_what_moves_with_an_armature_is_no_wall(collection):
    rig = place("Hero", bpy.data.armatures.new("Hero"), collection)
    place("Body", box(), collection).modifiers.new("Rig", "ARMATURE").object = rig
    place("Sword", box(), collection).parent = rig
    place("Box", box(), collection).location.x = 9
    found = seen(collection)
    assert len(found.sentences) == 1 and re.search('"Set".*armature.*"Body", "Sword"', found.sentences[0])
    assert bounds(found.obstacles)[0][0] == pytest.approx(8.5, abs=1e-3)


def test_what_has_no_faces_is_left_out_and_named(collection):
    place("Box", box(), collection)
    place("Line", bpy.data.curves.new("Line", "CURVE"), collection)
    place("Lamp", bpy.data.lights.new("Lamp", "POINT"), collection)
    found = seen(collection)
    assert len(found.obstacles) == 4
    assert found.sentences == ['The Collection "Set" has objects without faces, which are left out: "Line".']


def test_an_empty_collection_says_so_and_is_the_bare_plane(collection):
    found = seen(collection)
    assert '"Set" has no visible mesh' in found.sentences[0]
    assert len(found.obstacles) == 0 and found.ground is None


def test_too_many_triangles_are_refused_by_name(collection, monkeypatch):
    monkeypatch.setattr(surroundings, "MOST", 20)
    place("Box", box(), collection)
    place("Ball", ball(), collection)
    assert '"Set" has more than 20 triangles, most of them in "Ball"' in seen(collection).sentences[0]


def test_no_collection_is_the_bare_plane():
    found = seen(None)
    assert len(found.obstacles) == 0 and found.ground is None and not found.sentences


def test_the_ground_is_a_slope_a_step_and_the_plane_beside_them(collection):
    slope = [(0, 0, 0), (4, 0, 1), (4, 2, 1), (0, 2, 0)]
    place("Slope", mesh(slope, [(0, 1, 2, 3)]), collection)
    place("Step", box(), collection).location = (10, 0, -0.3)  # its top is at 0.2
    points = [[[1, 1, 0], [3, 1, 0.7], [10, 0, 0]], [[2, 1, 0.4], [10, 0, 0.2], [50, 0, 3]]]
    heights = seen(collection, [0.0, 0.0]).ground(points)
    np.testing.assert_allclose(heights, [[0.25, 0.75, 0.2], [0.5, 0.2, 0]], atol=1e-6)


@pytest.mark.once
def test_an_upper_floor_is_not_stood_on_from_below_but_from_above(collection):
    for z in (0.1, 3):
        place("Floor", mesh([(-5, -5, z), (5, -5, z), (5, 5, z), (-5, 5, z)], [(0, 1, 2, 3)]), collection)
    heights = seen(collection).ground([[[0, 0, 0], [1, 0, 2.4], [2, 0, 2.9], [3, 0, 3.2]]])
    np.testing.assert_allclose(heights, [[0.1, 0.1, 3, 3]], atol=1e-6)


@pytest.mark.once
def test_what_is_higher_than_a_step_is_reached_by_stairs_only(collection):
    place("Gallery", mesh([(-5, 1, 1), (5, 1, 1), (5, 5, 1), (-5, 5, 1)], [(0, 1, 2, 3)]), collection)
    points = [[[0, 0, 0], [0, 0.5, 0], [0, 2, 0], [0, 4, 0]]]
    assert seen(collection).ground(points)[0] == pytest.approx([0, 0, 0, 0])
    for step in (1, 2):
        place("Step", box(), collection).location = 0, step / 3 + 0.5, step / 3 - 0.5
    update()
    assert seen(collection).ground(points)[0] == pytest.approx([0, 1 / 3, 1, 1], abs=1e-6)
    assert seen(collection).ground([[[0, 4, 0], [0, 3, 0]]])[0] == pytest.approx([0, 0]), "not from below"


@pytest.mark.once
def test_nobody_falls_into_a_narrow_gap(collection):
    for x in (-5.03, 5.03):
        place("Platform", mesh([(x - 5, -5, 1.5), (x + 5, -5, 1.5), (x + 5, 5, 1.5), (x - 5, 5, 1.5)], [(0, 1, 2, 3)]),
              collection)
    points = [[[0, 0, 1.5], [0.02, 0, 1.5], [12, 0, 1.5]]]
    assert seen(collection).ground(points)[0] == pytest.approx([1.5, 1.5, 0.0], abs=1e-6)
    place("Terrain", mesh([(-20, -20, -1), (20, -20, -1), (20, 20, -1), (-20, 20, -1)], [(0, 1, 2, 3)]), collection)
    assert seen(collection).ground(points)[0] == pytest.approx([1.5, 1.5, -1.0], abs=1e-6), "nor over something"


def test_each_one_sees_the_ground_from_its_own_floor(collection):
    for z in (0.1, 3.2):
        place("Floor", mesh([(-5, -5, z), (5, -5, z), (5, 5, z), (-5, 5, z)], [(0, 1, 2, 3)]), collection)
    ground = seen(collection, [0.0, 3.0]).ground
    # Beside the meshes each one has the plane that it began on.
    np.testing.assert_allclose(ground([[[0, 0, 0], [9, 9, 0]]] * 2), [[0.1, 0], [0.2, 0]], atol=1e-6)


def test_walls_are_those_of_the_storey_that_it_walks_on(collection):
    place("Below", box(), collection).location.z = 0.5
    place("Upstairs", box(), collection).location = (5, 0, 3.5)
    assert bounds(seen(collection).obstacles)[1][0] == pytest.approx(0.5, abs=1e-3)
    assert bounds(seen(collection, [3.0]).obstacles)[0][0] == pytest.approx(4.5, abs=1e-3)


@pytest.mark.once
def test_who_climbs_the_stairs_meets_the_walls_upstairs(watching, collection):
    place("Upstairs", box(), collection).location = (5, 0, 3.5)
    update()
    watching.refresh(depsgraph())
    watching.stand_at(0.4)
    assert not watching.refresh(depsgraph()) and bounds(watching.obstacles)[1][0] == pytest.approx(0.5, abs=1e-3)
    watching.stand_at(3.0)
    assert watching.refresh(depsgraph()) and bounds(watching.obstacles)[0][0] == pytest.approx(4.5, abs=1e-3)


@pytest.mark.parametrize("rise, tread", [(0.18, 0.6), (0.15, 0.45), (0.15, 0.3)])
@pytest.mark.once
def test_stairs_are_climbed_and_not_walked_through(collection, demo_database, rise, tread):
    for step in range(1, 9):
        ob, deep = place("Step", box(), collection), 9.0 if step == 8 else tread  # the last one is a platform
        ob.scale, ob.location = (4, deep, step * rise), (0, 2 + step * tread + deep / 2, step * rise / 2)
    update()
    player = player_of(BakedMotion(demo_database), search_of(demo_database))
    player.ground = seen(collection).ground
    player.place([[0.0, 0.0]], [0.0])
    for _ in range(60 * 9):
        step_on(player, [(1.3j * (player.positions[0, 1] < 8 * tread + 3.5), 0.0)])
    assert player.heights[0] == pytest.approx(8 * rise, abs=0.02)
    assert player.toes[0, :, 2] == pytest.approx(8 * rise + player.feet.standing[:, 0], abs=0.02)


@pytest.mark.parametrize("thick", [None, 0.04], ids=["solid", "open"])
@pytest.mark.parametrize("speed", [1.3, 3.5], ids=["walk", "run"])
@pytest.mark.parametrize("rise, tread", [(0.17, 0.29), (0.2, 0.3), (0.15, 0.3), (0.1, 0.3)])
@pytest.mark.once
def test_stairs_that_people_build_are_climbed_and_descended(collection, demo_database, rise, tread, speed, thick):
    count, top = 12, 6.0
    end = 2 + 2 * count * tread + top
    for step in range(1, count + 1):
        high, low = step * rise, 0 if thick is None else step * rise - thick
        near, far = 2 + step * tread, 2 + (step + 1) * tread
        # Up, and down on the other side of a platform.
        for start, stop in [(near, far), (end - far, end - near)] if step < count else [(near, end - near)]:
            ob = place("Step", box(), collection)
            ob.scale, ob.location = (4, stop - start, high - low), (0, (start + stop) / 2, (high + low) / 2)
    update()
    player = player_of(BakedMotion(demo_database), search_of(demo_database))
    player.ground = seen(collection).ground
    player.place([[0.0, 0.0]], [0.0])
    toes, roots = [], []
    while player.positions[0, 1] < end:
        step_on(player, [(1j * speed, 0.0)])
        toes.append(player.toes[0])
        roots.append((*player.positions[0], player.heights[0]))
    toes, roots = np.array(toes), np.array(roots)
    over_toes, over_root = (places[..., 2] - rise * np.clip(np.minimum(
        (places[..., 1] - 2) // tread, (end - places[..., 1] - 2) // tread), 0, count) for places in (toes, roots))
    assert over_toes.min() > -0.03, "through the steps"
    assert over_root.min() > -0.4 and over_root.max() < 0.15
    assert roots[:, 2].max() == pytest.approx(count * rise, abs=0.02) and roots[-1, 2] < 0.05


def test_a_moved_mesh_is_noticed(watching):
    bpy.data.objects["Box"].location.x = 7
    update()
    assert watching.refresh(depsgraph())
    assert bounds(watching.obstacles)[0][0] == pytest.approx(6.5, abs=1e-3)
    assert watching.ground([[[7, 0, 0.5]]])[0, 0] == pytest.approx(0.5)


def test_a_mesh_moved_by_its_parent_is_noticed(watching):
    parent = place("Parent", None, bpy.context.scene.collection)
    bpy.data.objects["Box"].parent = parent
    update()
    watching.refresh(depsgraph())
    parent.location.x = 7
    update()
    assert watching.refresh(depsgraph())
    assert bounds(watching.obstacles)[0][0] == pytest.approx(6.5, abs=1e-3)


def test_an_edited_mesh_is_noticed(watching):
    data = bpy.data.objects["Box"].data
    for vertex in data.vertices:
        vertex.co.x *= 4
    data.update()
    update()
    assert watching.refresh(depsgraph())
    assert bounds(watching.obstacles)[0][0] == pytest.approx(-2, abs=1e-3)


@pytest.mark.parametrize("how", ["eye", "screen", "collection", "layer", "excluded", "unlinked", "deleted"])
def test_a_mesh_that_is_gone_from_sight_is_noticed(watching, collection, how):
    ob, layer = bpy.data.objects["Box"], bpy.context.view_layer.layer_collection.children["Set"]
    {"eye": lambda: ob.hide_set(True), "screen": lambda: setattr(ob, "hide_viewport", True),
     "collection": lambda: setattr(collection, "hide_viewport", True),
     "layer": lambda: setattr(layer, "hide_viewport", True), "excluded": lambda: setattr(layer, "exclude", True),
     "unlinked": lambda: collection.objects.unlink(ob), "deleted": lambda: bpy.data.objects.remove(ob)}[how]()
    update()
    assert watching.refresh(depsgraph())
    assert len(watching.obstacles) == 0 and watching.ground is None
    assert "no visible mesh" in watching.sentences[0]


@pytest.mark.parametrize("how", ["moved", "edited", "hidden"])
def test_a_mesh_in_an_instanced_collection_is_noticed(watching, collection, how):
    inside = instanced(collection)
    update()
    watching.refresh(depsgraph())
    before = bounds(watching.obstacles)[1][0]
    {"moved": lambda: setattr(inside, "location", (1, 0, 0)), "hidden": lambda: setattr(inside, "hide_viewport", True),
     "edited": lambda: (setattr(inside.data.vertices[0], "co", (3, 3, 3)), inside.data.update())}[how]()
    update()
    assert watching.refresh(depsgraph())
    assert bounds(watching.obstacles)[1][0] != pytest.approx(before, abs=0.1)


def test_a_mesh_that_comes_back_is_noticed(watching):
    bpy.data.objects["Box"].hide_set(True)
    update()
    watching.refresh(depsgraph())
    bpy.data.objects["Box"].hide_set(False)
    update()
    assert watching.refresh(depsgraph()) and len(watching.obstacles) == 4 and not watching.sentences


def test_a_mesh_that_is_added_is_noticed(watching, collection):
    place("Other", box(), collection).location.x = 5
    update()
    assert watching.refresh(depsgraph()) and len(watching.obstacles) == 8


def test_a_renamed_collection_is_still_the_same_and_a_deleted_one_is_named(watching, collection):
    collection.name = "Renamed"
    bpy.data.objects["Box"].location.x = 7
    update()
    assert watching.refresh(depsgraph()) and len(watching.obstacles) == 4
    bpy.data.collections.remove(collection)
    update()
    assert watching.refresh(depsgraph()) and len(watching.obstacles) == 0 and watching.ground is None
    assert '"Set" is gone' in watching.sentences[0]


def test_nothing_is_read_again_for_what_is_not_in_it(watching, rigs):
    other = place("Other", box(), bpy.context.scene.collection)
    inside = instanced(bpy.context.scene.collection)
    rig = rigs.chain()
    update()
    watching.refresh(depsgraph())
    other.location.x = inside.location.x = 3
    rig.pose.bones[0].location.x = 1
    rig.update_tag()
    rig.select_set(False)
    update()
    bpy.context.scene.frame_set(7)
    assert not watching.refresh(depsgraph())


def test_a_character_that_moves_in_the_same_collection_is_no_reason_to_read_again(watching, collection, rigs):
    rig = rigs.chain()
    collection.objects.link(rig)
    place("Body", box(), collection).modifiers.new("Rig", "ARMATURE").object = rig
    update()
    watching.refresh(depsgraph())
    rig.pose.bones[0].location.x = 1
    rig.update_tag()
    update()
    assert not watching.refresh(depsgraph())


def test_meshes_that_go_on_moving_are_read_a_few_times_a_second(watching, monkeypatch):
    monkeypatch.setattr(surroundings, "PAUSE", 1000)
    reads = 0
    for x in range(1, 20):
        bpy.data.objects["Box"].location.x = x
        update()
        reads += watching.refresh(depsgraph())
    assert reads == 1


def test_after_the_end_nothing_is_left_behind(watching):
    before = len(bpy.app.handlers.depsgraph_update_post)
    watching.end()
    watching.end()
    assert len(bpy.app.handlers.depsgraph_update_post) == before - 1


def place(name, data, collection):
    ob = bpy.data.objects.new(name, data)
    collection.objects.link(ob)
    return ob


def instanced(collection):
    """A box in a Collection that is instanced in another, which is instanced in this one, far away; returns the box."""
    inner, outer = bpy.data.collections.new("Inner"), bpy.data.collections.new("Outer")
    for name, content, where, holder in (("A", inner, (0, 5, 0), outer), ("B", outer, (20, 0, 0), collection)):
        empty = place(name, None, holder)
        empty.instance_type, empty.instance_collection, empty.location = "COLLECTION", content, where
    return place("Inside", box(), inner)


def mesh(vertices, faces):
    made = bpy.data.meshes.new("Mesh")
    made.from_pydata(vertices, [], faces)
    return made


def room():
    """The room's walls, three metres high, and its floor, in one mesh."""
    count = len(ROOM)
    vertices = [(x, y, z) for z in (0, 3) for x, y in ROOM]
    walls = [(i, i + 1, count + i + 1, count + i) for i in range(count - 1)]
    return mesh(vertices, [*walls, (1, 2, 3, 4)])


def box():
    """A cube of one metre around its origin."""
    return _made("create_cube", size=1)


def ball():
    return _made("create_icosphere", subdivisions=2, radius=1)


def _made(what, **options):
    import bmesh  # it exists once bpy is there

    shape, made = bmesh.new(), bpy.data.meshes.new("Mesh")
    getattr(bmesh.ops, what)(shape, **options)
    shape.to_mesh(made)
    shape.free()
    return made


def depsgraph():
    return bpy.context.evaluated_depsgraph_get()


def update():
    bpy.context.view_layer.update()


def bounds(walls):
    ends = walls.segments.reshape(-1, 2)
    return ends.min(axis=0), ends.max(axis=0)


def walked(walls, start, way):
    """Where somebody gets from a start who walks in one direction for a while."""
    place = complex(*start)
    for _ in range(100):
        place = walls.moved(place, place + 0.05 * complex(*way))
    return np.array([place.real, place.imag])
