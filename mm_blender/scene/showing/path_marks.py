# SPDX-License-Identifier: GPL-3.0-or-later
"""The marks of a path in the viewport: a handle for each, to be dragged along the curve, with what changes there."""

from itertools import pairwise

import blf
import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Matrix, Vector

from ...errors import MotionError
from .. import driving
from ..directing import marks
from ..directing.paths import line_of, place_of
from ..rig import targets
from ..rig.character import active_armature
from .ground_lines import FACED, PLAYED

RADIUS = 6.0  # of a handle, in pixels of a screen whose resolution scale is 1
TEXT, BESIDE = 11, 12  # size of the letters, and how far they are from the handle
_ROUND = [(np.cos(turn), np.sin(turn)) for turn in np.arange(0, 2.01, 1 / 12) * np.pi]
_DISC = [point for first, second in pairwise(_ROUND) for point in ((0, 0), first, second)]


def shown(context):
    """The armature whose marks are shown, and its settings; None if there are none."""
    ob = active_armature(context)
    if ob is None or driving.current() is not None or not context.space_data.overlay.show_overlays:
        return None
    owner = targets.owner(ob)
    return (owner, owner.mm.direct) if len(owner.mm.direct.marks) else None


class MM_GT_mark(bpy.types.Gizmo):
    """A handle of one mark: a disc on the screen, where the mark is."""
    bl_idname = "MM_GT_mark"

    __slots__ = ("_before", "_disc", "_line", "index")

    def setup(self):
        self._disc = self.new_custom_shape("TRIS", _DISC)
        self.use_draw_modal = True
        self.use_draw_scale = False

    def draw(self, context):
        size = RADIUS * context.preferences.system.ui_scale
        self.draw_custom_shape(self._disc, matrix=self.matrix_basis @ Matrix.Scale(size, 4))

    def test_select(self, context, location):
        """0 if the mouse is on it, otherwise -1, as Blender has it."""
        away = (Vector(location) - self.matrix_basis.translation.xy).length
        return 0 if away < 1.6 * RADIUS * context.preferences.system.ui_scale else -1

    def invoke(self, context, _event):
        _, direct = shown(context)
        direct.mark_index = self.index
        self._before = tuple(direct.marks[self.index].place)
        self._line = None
        try:
            self._line = line_of(direct, context.evaluated_depsgraph_get())
        except MotionError:
            return {"CANCELLED"}
        return {"RUNNING_MODAL"}

    def modal(self, context, event, _tweak):
        found = shown(context)
        if found is not None and self.index < len(found[1].marks):
            place = _under(context, self._line, (event.mouse_region_x, event.mouse_region_y))
            _, direct = found
            marks.put(direct, direct.marks[self.index], context.evaluated_depsgraph_get(), place)
        return {"RUNNING_MODAL"}

    def exit(self, context, cancel):
        found = shown(context)
        if found is None or self.index >= len(found[1].marks):
            return
        if cancel:
            found[1].marks[self.index].place = self._before
        else:
            bpy.ops.ed.undo_push(message="Move Mark")


class MM_GGT_marks(bpy.types.GizmoGroup):
    """The handles of all marks of the active character's curve. Marks with objects are moved with these."""
    bl_idname = "MM_GGT_marks"
    bl_label = "Path Marks"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"PERSISTENT"}

    @classmethod
    def poll(cls, context):
        found = shown(context)
        return found is not None and found[1].path is not None and any(mark.ob is None for mark in found[1].marks)

    def setup(self, context):
        self.refresh(context)

    def refresh(self, context):
        self.draw_prepare(context)

    def draw_prepare(self, context):
        """Have a handle for each mark, where that is."""
        _, direct = shown(context)
        free = [index for index, mark in enumerate(direct.marks) if mark.ob is None]
        while len(self.gizmos) > len(free):
            self.gizmos.remove(self.gizmos[-1])
        while len(self.gizmos) < len(free):
            gizmo = self.gizmos.new(MM_GT_mark.bl_idname)
            gizmo.alpha, gizmo.alpha_highlight = 0.9, 1.0
            gizmo.color_highlight = 1.0, 1.0, 1.0
        depsgraph = context.view_layer.depsgraph
        for gizmo, index in zip(self.gizmos, free):
            gizmo.index = index
            gizmo.color = PLAYED if index == direct.mark_index else FACED
            pixel = _pixel(context, place_of(direct.marks[index], direct, depsgraph))
            gizmo.hide = pixel is None
            if pixel is not None:
                gizmo.matrix_basis = Matrix.Translation((*pixel, 0.0))


def _pixel(context, place):
    """Where in the viewport a place of the world is seen; None if it is behind."""
    return location_3d_to_region_2d(context.region, context.region_data, Vector(place))


def _under(context, line, mouse):
    """The place on a Line that is nearest to the mouse, as one sees it."""
    points = line.points if not line.closed else np.concatenate([line.points, line.points[:1]])
    fine = np.linspace(points[:-1], points[1:], 8, endpoint=False).swapaxes(0, 1).reshape(-1, 3)
    fine = np.concatenate([fine, points[-1:]])
    seen = np.column_stack([fine, np.ones(len(fine))]) @ np.array(context.region_data.perspective_matrix).T
    before = seen[:, 3] > 1e-6
    size = np.array([context.region.width, context.region.height])
    pixels = (seen[:, :2] / np.where(before, seen[:, 3], 1.0)[:, None] + 1) / 2 * size
    away = np.where(before, np.hypot(*(pixels - mouse).T), np.inf)
    return fine[away.argmin()]


def _draw_labels():
    """What changes at each mark, beside it."""
    context = bpy.context
    found = shown(context)
    if found is None or (found[1].path is None and not any(mark.ob for mark in found[1].marks)):
        return
    _, direct = found
    depsgraph, scale = context.view_layer.depsgraph, context.preferences.system.ui_scale
    blf.size(0, TEXT * scale)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.8)
    for index, mark in enumerate(direct.marks):
        pixel = _pixel(context, place_of(mark, direct, depsgraph))
        if pixel is None:
            continue
        blf.position(0, pixel.x + BESIDE * scale, pixel.y - TEXT * scale / 3, 0)
        blf.color(0, *(PLAYED if index == direct.mark_index else (1.0, 1.0, 1.0)), 1.0)
        said = marks.summary(mark)
        blf.draw(0, f"{mark.name}: {said}" if said else mark.name)
    blf.disable(0, blf.SHADOW)


_CLASSES = (MM_GT_mark, MM_GGT_marks)
_drawing = None


def register():
    global _drawing
    if bpy.app.background:
        return
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    _drawing = bpy.types.SpaceView3D.draw_handler_add(_draw_labels, (), "WINDOW", "POST_PIXEL")


def unregister():
    global _drawing
    if _drawing is None:
        return
    bpy.types.SpaceView3D.draw_handler_remove(_drawing, "WINDOW")
    _drawing = None
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
