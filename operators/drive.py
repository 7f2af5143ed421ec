# SPDX-License-Identifier: GPL-3.0-or-later
"""Drive: steer the character."""

import os

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from ..mm_blender.control import stick
from ..mm_blender.control.keyboard import PRESSED
from ..mm_blender.errors import MotionError
from ..mm_blender.playback.drive import drive
from ..mm_blender.scene import driving
from ..mm_blender.scene.driving import group, keymap, libraries, own_speeds, rescue, takes
from ..mm_blender.scene.driving.never import never_play
from ..mm_blender.scene.jobs import baking, ownership
from ..mm_blender.scene.rig import targets
from ..mm_blender.scene.settings import RELATIVE_PATH
from .base import CharacterOperator, active_armature, no_job_running

RATE = 1 / 60  # seconds between two frames, if Blender can draw that fast
BUTTONS = {"LEFTMOUSE", "RIGHTMOUSE"}
# Keys that do not repeat while they are held; every event knows them.
MODIFIERS = {f"{side}_{name.upper()}": name for side in ("LEFT", "RIGHT") for name in ("shift", "ctrl", "alt")}


class DatabaseOperator(CharacterOperator):
    """An operator that needs a baked database."""

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not libraries.is_ready(targets.owner(active_armature(context))):
            cls.poll_message_set("Bake a database first")
            return False
        return True


class MM_OT_drive(DatabaseOperator):
    """Steer the character in the viewport with keyboard or gamepad. Enter keeps the take, Esc brings everything back. \
Other selected characters that have a database take part"""
    bl_idname = "mm.drive"
    bl_label = "Drive"
    bl_options = {"UNDO"}

    filepath: StringProperty(name="Recording", subtype="FILE_PATH", options={"SKIP_SAVE"} | RELATIVE_PATH,
                             description="A recorded stick (STICK.csv) that steers instead of your hands; the take is "
                                         "kept at its end")

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if driving.current() is not None:
            cls.poll_message_set("Driving already: Enter keeps the take, Esc cancels")
            return False
        return no_job_running(cls)

    def run(self, context, ob):
        raise MotionError("Driving by hand needs a window: use mm.drive_recording without one.")

    def invoke(self, context, _event):
        if bpy.app.background:
            return self.execute(context)
        context.window.cursor_set("WAIT")
        try:
            recording = stick.load(bpy.path.abspath(self.filepath)) if self.filepath else None
            characters = _characters(context)
            _warn_of_other_bakes(self, characters)
            self._session = driving.start(context, characters, recording)
        except MotionError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            context.window.cursor_set("DEFAULT")
        self._busy = self._elsewhere = False
        self._timer = context.window_manager.event_timer_add(RATE, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        try:
            return self._answer(context, event)
        except Exception:  # a mistake of ours: nobody stays in a drive that cannot be ended, and what was driven stays
            self.cancel(context)
            raise

    def _answer(self, context, event):
        session = driving.current()
        if session is not self._session:  # ended from elsewhere
            return self._end(context, {"CANCELLED"})
        if event.type == "TIMER":
            self._watch_others(context, session, event)
            return self._go_on(context, session)
        if event.type == "WINDOW_DEACTIVATE":
            session.keyboard.release_all()
        elif self._elsewhere:  # sliders, text fields and menus take all keys too
            _release_what_was_not_heard(session, event)
        self._elsewhere = event.type in BUTTONS and event.value == "PRESS" and not _over_view(context, event)
        control = keymap.control_of(event)
        if control is None or event.value not in {"PRESS", "RELEASE"}:
            return {"PASS_THROUGH"}
        if event.value == "RELEASE":
            return {"RUNNING_MODAL"} if session.keyboard.release(event.type) else {"PASS_THROUGH"}
        return self._press(context, session, event, control)

    def cancel(self, context):
        """Blender ends it: another file is opened, or the window is closed."""
        driving.finish(context)
        self._end(context, None)

    def _watch_others(self, context, session, event):
        """Orbiting and the like take all keys until they end."""
        busy = any(other.bl_idname != self.bl_idname for other in getattr(context.window, "modal_operators", ()))
        if self._busy and not busy:
            _release_what_was_not_heard(session, event)
        self._busy = busy

    def _press(self, context, session, event, control):
        if control in {"keep", "cancel"}:
            if event.is_repeat:  # still held from the menu that it was called from
                return {"RUNNING_MODAL"}
            return self._keep(context, session) if control == "keep" else self._cancel(context)
        if control in PRESSED:
            if not event.is_repeat:
                session.press(control)
        else:
            session.keyboard.press(event.type, control)
        return {"RUNNING_MODAL"}

    def _go_on(self, context, session):
        try:
            session.tick(context)
        except MotionError as error:
            self.report({"ERROR"}, f"{error} {driving.finish(context)}".rstrip())
            return self._end(context, {"FINISHED"})
        pressed = session.pressed
        if "keep" in pressed:
            return self._keep(context, session)
        return self._cancel(context) if "cancel" in pressed else {"PASS_THROUGH"}

    def _keep(self, context, session):
        try:
            _keep(self, context, session)
        except MotionError as error:  # nothing is lost: driving goes on
            self.report({"ERROR"}, str(error))
            return {"RUNNING_MODAL"}
        return self._end(context, {"FINISHED"})

    def _cancel(self, context):
        driving.stop(context)
        return self._end(context, {"CANCELLED"})

    def _end(self, context, result):
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
        return result


class MM_OT_never_play(CharacterOperator):
    """Exclude what is playing now, or all of its clip, at once and from the next bake. Undo brings it back"""
    bl_idname = "mm.never_play"
    bl_label = "Never Play This"

    what: EnumProperty(name="What", items=[
        ("MOMENT", "Moment", "Tag the last second and the next half of the clip with \"exclude\""),
        ("CLIP", "Clip", "Disable the whole clip in the list of clips")], description="How much is excluded")

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if driving.current() is None:
            cls.poll_message_set("Drive first: what is playing then is excluded")
            return False
        return True

    def run(self, context, ob):
        self.report({"INFO"}, never_play(driving.current(), context.scene, self.what == "CLIP"))


class _Ending(bpy.types.Operator):
    """An operator that ends driving."""

    @classmethod
    def poll(cls, _context):
        if driving.current() is None:
            cls.poll_message_set("No character is being driven: press Drive first")
            return False
        return True


class MM_OT_drive_keep(_Ending):
    """Stop driving, and keep what was driven as new keyframes: see Take for where they go"""
    bl_idname = "mm.drive_keep"
    bl_label = "Keep"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        try:
            _keep(self, context, driving.current())
        except MotionError as error:  # nothing is lost: driving goes on
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class MM_OT_drive_cancel(_Ending):
    """Stop driving, and bring everything back as it was"""
    bl_idname = "mm.drive_cancel"
    bl_label = "Cancel"
    bl_options = {"REGISTER"}

    def execute(self, context):
        driving.stop(context)
        return {"FINISHED"}


class MM_OT_drive_recording(DatabaseOperator):
    """Let a recorded stick (STICK.csv) steer the character, and keep what it plays as a new Action"""
    bl_idname = "mm.drive_recording"
    bl_label = "Drive from Recording"

    filepath: StringProperty(name="Recording", subtype="FILE_PATH", options={"SKIP_SAVE"} | RELATIVE_PATH,
                             description="A file with the columns time, move_x, move_y, face_x, face_y, run, strafe "
                                         "and perhaps crouch and gait")
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"}, description="Which files are shown")

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context, ob):
        ob = targets.owner(ob)
        recording = stick.load(bpy.path.abspath(self.filepath))
        _warn_of_other_bakes(self, [ob])
        library = libraries.library_of(ob)
        clip, _ = drive(libraries.played_library(ob, library), recording,
                        **group.drive_arguments(ob, context.evaluated_depsgraph_get(), library))
        name = os.path.splitext(os.path.basename(self.filepath))[0]
        settings, scene = ob.mm.drive, context.scene
        action = takes.keep(targets.posed(ob), clip, name, scene.frame_current, settings.keep_as,
                            tolerance=settings.tolerance, ik=settings.ik_keys, bone=settings.travel_bone)
        end = scene.frame_end
        if settings.extend:
            takes.show_whole(scene, [action])
        besides = _besides(scene, end, [action.name])
        self.report({"INFO"}, f'{clip.duration:.1f} s kept as the Action "{action.name}"{besides}')


class MM_OT_drive_save_input(CharacterOperator, ExportHelper):
    """Save what your hands did in the last drive as a recording (STICK.csv), to drive with it again"""
    bl_idname = "mm.drive_save_input"
    bl_label = "Save Input"
    bl_options = {"REGISTER"}
    filename_ext = ".csv"  # the file browser shows in red that a file of this name is there

    filepath: StringProperty(name="Recording", subtype="FILE_PATH", options={"SKIP_SAVE"} | RELATIVE_PATH,
                             description="The file that is written")
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"}, description="Which files are shown")

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if driving.last_input(targets.owner(active_armature(context))) is None:
            cls.poll_message_set("Drive first")
            return False
        return True

    def invoke(self, context, _event):
        # Whoever presses Save without looking at the name writes over no recording from before.
        self.filepath = self.filepath or f"{rescue.stem_of(active_armature(context).name)}.csv"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context, ob):
        path = bpy.path.ensure_ext(bpy.path.abspath(self.filepath), ".csv")
        try:
            driving.last_input(targets.owner(ob)).save(path)
        except OSError as error:
            raise MotionError(f'The recording "{path}" cannot be written: {error.strerror}.') from error
        self.report({"INFO"}, f'Saved "{path}"')


class MM_OT_drive_measured_speeds(DatabaseOperator):
    """Let Own Speeds begin with those that are measured from the motion, for each gait that it has"""
    bl_idname = "mm.drive_measured_speeds"
    bl_label = "Begin with the Measured Ones"

    def run(self, context, ob):
        own_speeds.own_as_measured(targets.owner(ob))


def _keep(operator, context, session):
    """Keep the takes, and say where they are."""
    seconds, end = session.seconds, context.scene.frame_end
    kept = session.keep()
    names = ", ".join(f'"{name}"' for name in kept)
    operator.report({"INFO"}, f"{seconds:.1f} s kept as {names}{_besides(context.scene, end, kept)}" if kept else
                    "Nothing was driven yet: nothing is kept")
    if session.not_kept:
        operator.report({"WARNING"}, session.not_kept)


def _release_what_was_not_heard(session, event):
    """Let go of keys that may have been released meanwhile: one that is still held repeats, and is pressed again."""
    session.keyboard.release_all(besides=[key for key, name in MODIFIERS.items() if getattr(event, name)])


def _over_view(context, event):
    """Whether the mouse is over what a viewport shows, and not over panels, headers or another editor."""
    under = [(area.type, region.type) for area in context.window.screen.areas for region in area.regions
             if 0 <= event.mouse_x - region.x < region.width and 0 <= event.mouse_y - region.y < region.height]
    return set(under) == {("VIEW_3D", "WINDOW")}


def _besides(scene, end, kept):
    """What else there is to say of kept takes: that the scene ended at another frame before, and where they play."""
    said = f"; the scene ends at frame {scene.frame_end} now" if scene.frame_end != end else ""
    tracks = [f'"{track}"' for name in kept if (track := takes.track_of(bpy.data.actions[name]))]
    return said + (f"; on the NLA track {', '.join(tracks)}" if tracks else "")


def _warn_of_other_bakes(operator, obs):
    """Say so where the file of an armature is not what it has baked: it is played all the same."""
    for ob in obs:
        if sentence := ownership.said(ob):
            operator.report({"INFO"}, sentence)
        elif ob.mm.bake.key and (sentence := baking.file_trouble(ob)):
            operator.report({"WARNING"}, f'{sentence}: bake "{ob.name}" again')


def _characters(context):
    """The active armature, and the others that are selected and have a database: each one whose settings count."""
    selected = [ob for ob in context.selected_objects if ob.type == "ARMATURE"]
    first, *others = dict.fromkeys(map(targets.owner, (active_armature(context), *selected)))
    return [first, *(ob for ob in others if libraries.is_ready(ob) and ob.library is None)]


register, unregister = bpy.utils.register_classes_factory((
    MM_OT_drive, MM_OT_drive_keep, MM_OT_drive_cancel, MM_OT_never_play, MM_OT_drive_recording, MM_OT_drive_save_input,
    MM_OT_drive_measured_speeds))
