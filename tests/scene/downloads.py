# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters as people download them, from ../shared/data/rigs.tar.xz, and variants of the demo's body without toes."""

import bpy

from mm_blender.scene.demo import character as demo_character
from tests.databases import unpacked

IMPORTERS = {".fbx": "import_scene.fbx", ".glb": "import_scene.gltf", ".gltf": "import_scene.gltf"}


def downloaded():
    """Name → what imports that character's armature; empty without the archive."""
    folder = unpacked("rigs")
    return armatures_in(folder) if folder else {}


def armatures_in(folder):
    """Name → what imports the armature of a file, for all files in a folder and in those within it."""
    return {path.name: lambda path=path: imported(path)
            for path in sorted(folder.rglob("*.*")) if path.suffix.lower() in IMPORTERS}


def imported(path):
    """The armature with the most bones of a file."""
    category, name = IMPORTERS[path.suffix.lower()].split(".")
    before = set(bpy.data.objects)
    getattr(getattr(bpy.ops, category), name)(filepath=str(path))
    made = [ob for ob in bpy.data.objects if ob not in before and ob.type == "ARMATURE"]
    return max(made, key=lambda ob: len(ob.data.bones))


def demo_without_toes(tip=False):
    """The demo character's armature without its toes; tip: its feet's bones end at the tips of the toes."""
    ob = demo_character.create(bpy.context, with_mesh=False)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for side in "LR":
        bones = ob.data.edit_bones
        if tip:
            bones[f"foot.{side}"].tail = bones[f"toe.{side}"].tail
        bones.remove(bones[f"toe.{side}"])
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.mm.roles.clear()
    return ob
