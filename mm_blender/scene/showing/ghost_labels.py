# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ghost is which: the seed of each variation over its head, as the buttons of the Direct panel have it."""

import blf
import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d

from ..directing import recipe, variations
from ..rig import targets
from ..rig.character import active_armature
from .ground_lines import PLAYED

TEXT, ABOVE = 16, 8  # size of the numbers, and how far over the head they stand, where the resolution scale is 1


def place_of(ghost, roles):
    """Where the top of a ghost's head is in the world; roles: of the armature that it is a copy of."""
    names = [roles[role].bone for role in ("head", "hips") if role in roles]
    bone = next((ghost.pose.bones[name] for name in names if name in ghost.pose.bones), None)
    return ghost.matrix_world @ (bone or ghost.pose.bones[0]).tail


def _draw():
    context = bpy.context
    ob = active_armature(context) if context.space_data.overlay.show_overlays and variations.are_there() else None
    if ob is None:
        return
    owner, scale = targets.owner(ob), context.preferences.system.ui_scale
    roles = targets.posed(owner).mm.roles
    blf.size(0, TEXT * scale)
    blf.color(0, *PLAYED[:3], 1.0)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.9)
    for ghost in variations.ghosts_of(owner):
        pixel = location_3d_to_region_2d(context.region, context.region_data, place_of(ghost, roles))
        if pixel is not None and ghost.visible_get():
            said = str(recipe.seed_of(variations.take_of(ghost)))
            blf.position(0, pixel.x - blf.dimensions(0, said)[0] / 2, pixel.y + ABOVE * scale, 0)
            blf.draw(0, said)
    blf.disable(0, blf.SHADOW)


_drawing = None


def register():
    global _drawing
    if not bpy.app.background:
        _drawing = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL")


def unregister():
    global _drawing
    if _drawing is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_drawing, "WINDOW")
    _drawing = None
