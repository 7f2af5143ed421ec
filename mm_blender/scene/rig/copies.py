# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of an armature and of the meshes that show what it does, to stand beside it for a while."""

import bpy

from .restore import objects_in


def copies_of(ob, name):
    """Copies of an armature and of the meshes that hang from it, {object: copy}, the armature first. They share data
    with what they are copies of, play nothing, cannot be selected by a click, and lie in no collection yet. name: is
    added to theirs."""
    copies = {original: original.copy() for original in (ob, *_bodies(ob))}
    for original, copy in copies.items():
        copy.name = f"{original.name} {name}"
        copy.animation_data_clear()
        copy.hide_select = True
        copy.parent = copies.get(copy.parent, copy.parent)
        for modifier in copy.modifiers:
            if getattr(modifier, "object", None) == ob:
                modifier.object = copies[ob]
    for bone in copies[ob].pose.bones:
        for constraint in bone.constraints:
            if getattr(constraint, "target", None) == ob:
                constraint.target = copies[ob]
    return copies


def _bodies(ob):
    """The meshes that show what an armature does."""
    def shows(other):
        return other.parent == ob or any(modifier.type == "ARMATURE" and modifier.object == ob
                                         for modifier in other.modifiers)

    return [other for other in objects_in(bpy.context.view_layer) if other.type == "MESH" and shows(other)]
