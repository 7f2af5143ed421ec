# SPDX-License-Identifier: GPL-3.0-or-later
"""Import Motion: a folder of BVH, FBX or glTF files becomes clips."""

import os

import bpy
from bpy.props import CollectionProperty, EnumProperty, FloatProperty, StringProperty

from ..mm_blender.errors import MotionError
from ..mm_blender.motion.bvh import UNITS
from ..mm_blender.scene.jobs import freshness, slices
from ..mm_blender.scene.reading import importing
from ..mm_blender.scene.rig.character import active_armature
from ..mm_blender.scene.settings import RELATIVE_PATH
from .base import no_job_running

_UNIT_ITEMS = [
    ("AUTO", "Automatic", "What makes the character nearest to the height of a person"),
    ("M", "Metres", "A unit of the file is a metre"),
    ("CM", "Centimetres", "A unit of the file is a centimetre"),
    ("CUSTOM", "Custom", "Give the length of a unit"),
]
_LONGEST_REPORT = 12


class MM_OT_import_motion(bpy.types.Operator):
    """Read BVH, FBX or glTF files, or all in a folder, as clips of the active armature. If there is none, an \
armature is made, and if it has other bones one that drives it. Cancel keeps the files that were read so far"""
    bl_idname = "mm.import_motion"
    bl_label = "Import Motion"
    bl_options = {"REGISTER", "UNDO"}

    filepath: StringProperty(name="File", subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"} | RELATIVE_PATH)
    directory: StringProperty(name="Folder", subtype="DIR_PATH", options={"SKIP_SAVE", "HIDDEN"} | RELATIVE_PATH,
                              description="The folder of the files")
    files: CollectionProperty(name="Files", type=bpy.types.OperatorFileListElement, options={"SKIP_SAVE", "HIDDEN"},
                              description="The names of the files; none for the whole folder")
    filter_glob: StringProperty(default=";".join(f"*{suffix}" for suffix in importing.SUFFIXES), options={"HIDDEN"})
    units: EnumProperty(name="BVH Units", items=_UNIT_ITEMS, description="In which unit BVH files are written")
    scale: FloatProperty(name="Unit Length", default=0.01, min=1e-6, max=1e3, precision=4, unit="LENGTH",
                         description="Length of a unit of the file, for custom units")

    @classmethod
    def poll(cls, _context):
        return no_job_running(cls)

    def invoke(self, context, _event):
        """From a button: after a look at the files, and in the background. Files that were dropped are chosen."""
        self.in_background = not bpy.app.background
        if self.filepath or self.directory:
            return self.execute(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def draw(self, _context):
        self.layout.use_property_split = True
        self.layout.prop(self, "units")
        if self.units == "CUSTOM":
            self.layout.prop(self, "scale")
        self.layout.label(text="Choose files, or none for all in the folder", icon="INFO")

    def execute(self, context):
        try:
            steps = importing.import_steps(self._paths(), active_armature(context), self._metres())
            if getattr(self, "in_background", False):
                slices.start(_with_undo(steps), "Importing motion", _show)
                return {"FINISHED"}
            result = slices.run(steps)
        except MotionError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        _activate(result)
        for note in result.notes:
            self.report({"WARNING"}, note)
        self.report({"INFO"} if result.actions else {"ERROR"}, result.summary())
        return {"FINISHED"} if result.actions else {"CANCELLED"}

    def _paths(self):
        if self.directory:
            names = [file.name for file in self.files if file.name]
            return importing.motion_files(bpy.path.abspath(self.directory), names)
        path = bpy.path.abspath(self.filepath)
        if os.path.isdir(path):
            return importing.motion_files(path)
        if not path:
            raise MotionError("No motion was chosen: give a file or a folder.")
        return importing.motion_files(os.path.dirname(path), [os.path.basename(path)])

    def _metres(self):
        return {"AUTO": None, "CUSTOM": self.scale}.get(self.units, UNITS.get(self.units.lower()))


class MM_FH_motion(bpy.types.FileHandler):
    """BVH files that are dropped into a viewport; of FBX and glTF files other things than motion may be wanted"""
    bl_idname = "MM_FH_motion"
    bl_label = "Motion Capture for Motion Matching"
    bl_import_operator = "mm.import_motion"
    bl_file_extensions = ".bvh"

    @classmethod
    def poll_drop(cls, context):
        return context.area is not None and context.area.type == "VIEW_3D"


def _with_undo(steps):
    """The same steps as one undo step, also when they are cancelled."""
    try:
        return (yield from steps)
    finally:
        bpy.ops.ed.undo_push(message="Import Motion")


def _activate(result):
    """Make the armature that has the Actions the active object, so that its panels are there and up to date."""
    freshness.look_again()
    ob = bpy.data.objects.get(result.armature)
    layer = bpy.context.view_layer
    if ob is None or ob.name not in layer.objects or layer.objects.active == ob or bpy.context.mode != "OBJECT":
        return
    for other in layer.objects:
        other.select_set(other == ob)
    layer.objects.active = ob


def _show(result):
    """Say in a window what came in, where there is no operator left to report."""
    _activate(result)

    def draw(popup, _context):
        for note in result.notes[:_LONGEST_REPORT]:
            popup.layout.label(text=note)
        if len(result.notes) > _LONGEST_REPORT:
            popup.layout.label(text=f"… and {len(result.notes) - _LONGEST_REPORT} more: see the system console")
    manager = bpy.context.window_manager
    for note in result.notes:
        print(note)
    with bpy.context.temp_override(window=manager.windows[0]):
        manager.popup_menu(draw, title=result.headline(), icon="INFO" if result.actions else "ERROR")


register, unregister = bpy.utils.register_classes_factory((MM_OT_import_motion, MM_FH_motion))
