# SPDX-License-Identifier: GPL-3.0-or-later
"""Driving live: the characters that take part, their input, what their armatures show, and the way back.

One Session at a time. It holds names and never objects, because undo replaces everything that Python holds; each frame
fetches them anew. Actions stay assigned: what a frame change shows of them is covered at once.
"""

import gc
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace

import bpy
import numpy as np
from bpy.app.handlers import persistent
from mathutils import Vector

from ...control.gamepad import Gamepads
from ...control.keyboard import NUMBERED, Keyboard
from ...control.replay import Replay
from ...errors import MotionError
from ...playback.live import LONGEST
from ...playback.why import why
from ..jobs import slices
from ..reading.sampling import animated_parent, constraint_obstacle, scene_rate
from ..rig import targets
from ..rig.character import active_armature
from ..rig.restore import SceneBefore
from ..screen import Views, redraw_panels, redraw_views
from ..settings import changes
from . import rescue, takes
from .comparing import Copy, copy_trouble, other_method, remove_copies
from .driven import DrivenCharacter
from .group import DrivenGroup, shared
from .libraries import METHODS, forget, is_ready, method_trouble
from .view import Follower, heading_of, orbit, view_of

__all__ = ["Session", "Status", "current", "last_input", "start", "stop"]

# How fast the right stick of a gamepad turns the view (rad/s).
ORBIT = np.radians(140)
# Seconds between two looks at what nobody tells of, such as modes and animated settings, and at what is only told.
BEAT = 0.5
# Seconds that a drive has to last so that it is saved when it is interrupted.
LEAST = 1.0
ENDINGS = frozenset({"keep", "cancel"})  # what ends driving when it is pressed
# An armature that is so much larger or smaller than what it plays, as a share, is told to be baked again.
ANOTHER_SIZE = 0.05


@dataclass
class Status:
    """What the person should know, for the HUD."""

    name: str = ""  # of the character that is driven, if there are several
    device: str = "Keyboard"
    method: str = "Motion Matching"
    clip: str = ""
    short: str = ""  # the same where there is little room, with what tells it apart
    second: float = 0.0
    tags: tuple = ()
    gait: str = "walk"
    gaits: tuple = ()  # the names of those that can be chosen
    speed: float = 0.0
    cost: float = 0.0
    beside: str = ""  # the method of a copy that is compared
    apart: tuple = (0.0, 0.0)  # centimetres to it, now and so far
    search_ms: float = 0.0
    frame_ms: float = 0.0
    seconds: float = 0.0
    sentences: tuple = ()  # trouble
    notes: tuple = ()  # good to know; nothing is wrong


_session = None
_inputs = {}  # session_uid of an armature → the Recording of its last drive
_befores = {}  # session_uid of an armature → how it was before its last drive


def current():
    """The Session that is running, or None."""
    return _session


def start(context, obs, recording=None):
    """Begin to drive armatures, of which the first gets the input; the Session."""
    global _session
    if _session is not None:
        raise MotionError("A character is being driven already: press Enter or Esc in its viewport first.")
    try:
        _session = Session(context, obs, recording)
        rescue.forget()
    except MotionError:
        for ob in obs:
            targets.posed(ob).mm.drive.driving = False
        raise
    # All that Blender's Python holds by now is left out of its garbage collections until driving ends: to look through
    # it takes a twelfth of a second, in which the character would stand still.
    gc.freeze()
    return _session


def finish(context):
    """End though nobody said how: what was driven is kept, and saved as files in case that Blender ends, too. What
    became of it, as a sentence."""
    if _session is None:
        return ""
    session = _session
    session.rescue()
    try:
        kept = session.keep()
        return f"What was driven is kept. {session.not_kept}".rstrip() if kept else session.not_kept
    except Exception as error:  # whatever it is, it must not stop Blender from going on
        print(f"Motion Matching: what was driven cannot be kept as an Action: {error}")
        stop(context)
    return f"What was driven is in {rescue.saved()[0]}" if rescue.saved() else ""


def stop(context):
    """End at once, with everything as it was; nothing happens when nobody drives."""
    if _session is not None:
        _session.cancel(context)


def last_input(ob):
    """The Recording of what steered an armature last, or None."""
    return _inputs.get(ob.session_uid)


class Session:
    """The characters that are being driven. The active one gets the input; the others go on with what they wanted.

    groups     DrivenGroups: characters that share a database and settings
    characters all that take part, also those that are gone
    driven     the one of them that gets the input
    keyboard   the keys that are held
    devices    what can steer: the keyboard and the gamepads; or a Recording instead
    device     the one of them that steers: the one that was used last
    gait       the name of the gait that was chosen, for as long as no other one is held
    seconds    since the beginning
    not_kept   of those that were gone when the others were kept: where what they played is, as a sentence
    pressed    the controls that were pressed in this frame, as a Device has them, on any of them; keys are events
    """

    def __init__(self, context, obs, recording=None):
        self.seconds, self._took, self._sentences, self._notes = 0.0, 0.0, (), ()
        self._start_frame, self._before = context.scene.frame_current, SceneBefore(context)
        self.groups, self.characters, self._refused = [], [], {}  # refused: uid → why it cannot take part
        self._join(obs)
        self.driven, self.gait = self.characters[0], "walk"
        if recording is not None:
            recording.check(self.driven.guide.speeds)
        self.keyboard = Keyboard()
        self.devices = [Replay(recording)] if recording is not None else [
            device for device in (self.keyboard, Gamepads.open()) if device is not None]
        self.device, self.pressed = self.devices[0], set()
        self._clock, self._beat, self._calm, self._changes = time.perf_counter(), 0.0, 0.0, -1
        self._waits, self._relative, self._strafe, self._follows = "", "WORLD", False, False
        self._follower, self._paths, self._views = Follower(), None, Views()
        self._copy, self._not_compared = None, ""
        self._saved, self.not_kept = {}, ""  # saved: character → path of the file with what it has played, or nothing

    def tick(self, context, seconds=None):
        """Go on by so many seconds, or by the time since the last call. Raises MotionError when it cannot go on."""
        began = time.perf_counter()
        seconds = min(began - self._clock if seconds is None else seconds, LONGEST)
        self._clock, self._beat, self.pressed = began, self._beat - seconds, set()
        active = active_armature(context)
        if self._hand_to(active) or self._changes != changes() or self._beat <= 0 or self._waits:
            self._beat, self._changes = BEAT, changes()
            self._look(context)
            self._views.forget()
            active = None  # a look removes copies, and one of them may be active
        areas, redrawn = self._views.found(), False
        if not self._waits:
            view = view_of(context, areas)
            frames = self._steer(view, seconds)
            self._show(active)
            redrawn = self._take_view_along(view)
            self._tell(seconds, (time.perf_counter() - began) / max(frames, 1))
        if not redrawn:
            redraw_views(areas)

    @property
    def gamepads(self):
        """The Gamepads, or None."""
        return next((device for device in self.devices if isinstance(device, Gamepads)), None)

    @property
    def status(self):
        """What the person should know now; worked out only if somebody looks."""
        character, player, index = self.driven, self.driven.player, self.driven.index
        group, matcher = character.group, player.matcher
        library = group.libraries[index]
        clip, second = library.clip_of(int(matcher.frames[index]))
        return Status(
            name=character.name if len(self.characters) > 1 else "", device=self.device.name,
            method=group.method(index), clip=clip, second=second, tags=matcher.tags(index),
            short=library.baked.short(clip) if clip else "",
            gait=character.guide.intent.gait, gaits=character.speeds.offered,
            speed=float(np.hypot(*player.played.travel[index, :2])), cost=float(matcher.costs[index]),
            search_ms=1000 * player.search_seconds, frame_ms=1000 * self._took, seconds=self.seconds,
            sentences=self._sentences, notes=self._notes, beside=METHODS[self._copy.method] if self._copy else "",
            apart=self._copy.apart if self._copy else (0.0, 0.0))

    @property
    def why(self):
        """Why the driven character plays what it plays, as a Why; None where nothing was searched."""
        group, index = self.driven.group, self.driven.index
        library = group.libraries[index]
        return why(group.record, library, library.choice().search, index)

    @property
    def paths(self):
        """Paths of the driven character now; worked out only if somebody looks."""
        if self._paths is None:
            self._paths = self.driven.paths()
        return self._paths

    def command(self, label, command=None):
        """From now on the driven character wants something of a feature, by its label such as "head facing": a number,
        or several, or a Place in the world. None: as it would by itself."""
        self.driven.group.command(self.driven.index, label, command)

    def keep(self):
        """Every character's take as a new Action; their names. If one cannot be kept, none is: MotionError. What those
        have played that are gone is saved as files."""
        kept, obs = [], self._obs()
        if not obs:
            raise MotionError(f'"{self.driven.missing_name()}" is gone: bring it back with undo, then keep the take.')
        try:
            for character, ob in obs:
                if len(character.group.record):
                    kept.append((character, ob, self._write(character, ob)))
        except MotionError:
            for _, _, action in kept:
                bpy.data.actions.remove(action)
            raise
        for character, ob, action in kept:
            takes.play(ob, action, self._first_frame(character), character.owner().mm.drive.keep_as)
            character.before.respell(ob)
        extending = [action for character, _, action in kept if character.owner().mm.drive.extend]
        takes.show_whole(bpy.context.scene, extending)
        self._follower.go_back(view_of(bpy.context))  # the character stands where the take begins
        self._rescue_gone([character for character in self.characters if character not in dict(obs)])
        self._close()
        return [action.name for _, _, action in kept]

    def _write(self, character, ob):
        settings = character.owner().mm.drive
        return takes.write(ob, character.clip(ob), f"{ob.name} Drive", self._first_frame(character), settings.tolerance,
                           settings.ik_keys, settings.travel_bone)

    def _first_frame(self, character):
        """The frame of the scene with which its take begins."""
        return self._start_frame + round(character.group.began * scene_rate())

    def rescue(self, characters=None):
        """Save what characters (or all) have played as files, each once; nothing is, where it is hardly anything."""
        for character in self.characters if characters is None else characters:
            if character not in self._saved and len(character.group.record) >= LEAST * character.database.rate:
                self._saved[character] = rescue.save(character, self.seconds)

    def _rescue_gone(self, characters):
        """Save what those have played that are gone; of the others nothing but Actions is left to be told of."""
        self.rescue(characters)
        saved = {character: self._saved[character] for character in characters if character in self._saved}
        rescue.forget(besides=saved.values())
        self.not_kept = " ".join(
            f'"{character.missing_name()}" is gone: what "{character.name}" played '
            + (f"is in {path}, and Import Motion brings it back." if path else "cannot be saved.")
            for character, path in saved.items())

    def cancel(self, context):
        """End, with everything as it was."""
        obs = self._shown()
        try:
            for character, ob in obs:
                character.before.restore_action(ob)
            self._before.restore(context)
            self._follower.restore(view_of(context))
        finally:
            for character, ob in obs:
                character.before.restore_pose(ob)
            self._close()

    def press(self, control):
        """Do what a control does that was pressed, and does not end driving."""
        if control == "toggle_strafe":
            self.toggle_strafe()
            return
        speeds = self.driven.speeds
        # Each gait has its number, also where another character has no motion of one before it.
        numbered = dict(zip(NUMBERED, (gait.name for gait in speeds.gaits)))
        asked = speeds.following(self.gait) if control == "next_gait" else numbered.get(control)
        if asked in speeds.offered:
            self.gait = asked

    def toggle_strafe(self):
        if (ob := self.driven.owner()) is not None:
            self._strafe = ob.mm.drive.strafe = not ob.mm.drive.strafe

    def rebind(self):
        """After undo and redo, which have replaced everything."""
        self._beat = 0.0
        for character, ob in self._obs():
            character.rebind(ob)
        remove_copies(self._copy.uids if self._copy else ())

    def cover(self):
        """Show the characters over what Blender has evaluated from their Actions, or has saved."""
        for character, ob in self._obs():
            ob.mm.drive.driving, character.poser.settled = True, False
        self._show()

    def uncover(self):
        """Show the poses from before, while the file is being saved."""
        self._end_comparing()
        for character, ob in self._obs():
            ob.mm.drive.driving = False
            character.before.restore_pose(ob)

    def _obs(self):
        """(character, armature) of all that can still be driven."""
        return [(character, ob) for character in self.characters if (ob := character.fetch_both()) is not None]

    def _shown(self):
        """The same of all whose armature is there, also where the one with its settings is gone."""
        return [(character, ob) for character in self.characters if (ob := character.fetch()) is not None]

    def _join(self, obs):
        """Armatures take part from now on: those that share a database, and have the same settings, in one group."""
        members, taken = {}, {character.uid for character in self.characters}
        for ob in obs:
            if (target := targets.posed(ob)).session_uid in taken:
                raise MotionError(f'"{target.name}" is driven by another armature already: choose another Target.')
            taken.add(target.session_uid)
            members.setdefault(shared(ob), []).append(ob)
        for together in members.values():
            group = DrivenGroup(together, self.seconds)
            self.characters += [DrivenCharacter(ob, group, index) for index, ob in enumerate(together)]
            self.groups.append(group)

    def _try_to_join(self, ob):
        try:
            self._join([ob])
        except MotionError as error:
            self._refused[ob.session_uid] = str(error)

    def _look(self, context):
        """Look at all that the artist may have changed: what can be shown, the settings."""
        obs = self._obs()
        if not obs:
            self._wait_for_undo()
            return
        if not any(character is self.driven for character, _ in obs):
            self.driven = obs[0][0]
        waited = self._waits
        for character, ob in obs:
            if character.trouble or waited:
                character.rebind(ob)  # the armature may have been edited
            character.waits = character.why_it_waits(ob, context)
        self._waits = self.driven.waits
        owners = {character: character.owner() for character, _ in obs}
        driven = owners[self.driven]
        leaders = {character.group: owner for character, owner in owners.items()} | {self.driven.group: driven}
        for group, leader in leaders.items():
            group.prepare(leader, context)
            together = {character.index: owner for character, owner in owners.items() if character.group is group}
            group.switch(together)
            group.heed(together)
        self._compare(driven, context)
        settings = driven.mm.drive
        self._relative, self._strafe, self._follows = settings.relative, settings.strafe, settings.follow
        if self._waits:
            self._sentences, self._notes = (self._waits,), ()

    def _compare(self, ob, context):
        """Have a copy beside the driven armature, if that is wanted."""
        self._not_compared = ""
        wanted = ob.mm.drive.compare and not self._waits
        if self._copy is not None and not (wanted and self._copy.belongs_to(self.driven, ob)):
            self._end_comparing()
        if wanted:
            self._not_compared = copy_trouble(ob) or method_trouble(ob, other_method(ob.mm.drive.method))
        if wanted and not self._not_compared:
            try:
                self._copy = self._copy or Copy(self.driven, ob)
                self._copy.prepare(ob, context)
            except MotionError as error:
                self._not_compared = str(error)

    def _end_comparing(self):
        if self._copy is not None:
            self._copy.end()
            self._copy = None

    def _wait_for_undo(self):
        """All armatures are gone."""
        self._end_comparing()
        self._waits = f'Waiting: "{self.driven.missing_name()}" is gone. Undo brings it back.'
        self._sentences, self._notes = (self._waits,), ()

    def _hand_to(self, ob):
        """The active armature is driven; one that has a database and was not there yet joins. Whether that is new."""
        if ob is None or self.driven.is_of(ob) or ob.library is not None or ob.mm.drive.copied:
            return False
        known = ob.session_uid in self._refused or any(character.is_of(ob) for character in self.characters)
        if is_ready(ob) and not known:
            self._try_to_join(ob)
        self.driven = next((character for character in self.characters if character.is_of(ob)), self.driven)
        return self.driven.is_of(ob)

    def _steer(self, view, seconds):
        """Ask the hand what it wants, and let everybody go on; how many frames were played."""
        character = self.driven
        _, facing = character.guide.root
        if self.device.in_world or self._relative == "WORLD":
            heading = 0.0
        else:
            heading = heading_of(view) if self._relative == "VIEW" else facing
        stick = self._stick(view, heading, facing, seconds)
        character.hear(self.seconds, stick, heading)
        character.guide.steer(stick, heading)
        frames = [group.advance(seconds) for group in self.groups]
        if self._copy is not None:
            self._copy.go_on(stick, heading, seconds)
        self.seconds += seconds
        self._paths = None
        return frames[self.groups.index(character.group)]

    def _stick(self, view, heading, facing, seconds):
        """What the device says that was used last; the first one, if that is gone."""
        sticks = {device: device.poll(heading, facing, seconds, self._strafe) for device in self.devices}
        self.pressed = set().union(*(device.pressed for device in self.devices))
        for control in self.pressed - ENDINGS:
            self.press(control)
        if view is not None:
            for device in self.devices:
                right, up = device.look
                orbit(view, right * ORBIT * seconds, up * ORBIT * seconds)
        there = [device for device, stick in sticks.items() if stick is not None]
        last = self.device if self.device in there else there[0]
        self.device = next((device for device in there if device.in_use), last)
        return self._in_gait(sticks[self.device])

    def _in_gait(self, stick):
        """A Stick that asks for the gait that was chosen, if the character has it and no button asks for another."""
        held = self.device.in_world or stick.run or stick.crouch
        chosen = self.gait != "walk" and self.gait in self.driven.speeds.offered
        return replace(stick, gait=self.gait) if chosen and not held else stick

    def _show(self, active=None):
        """Pose all armatures; active: most often the driven one, which need not be looked for then."""
        driven, posed, missing = self.driven, {group: [] for group in self.groups}, True
        for character in self.characters:
            ob = character.fetch_both(active if character is driven else None)
            if ob is not None and not character.waits and character.can_be_posed(ob):
                posed[character.group].append((character.poser, ob, character.index))
                missing = missing and character is not driven
        if missing:  # the driven one is gone, or wrong: the next frame sees to that
            self._beat = 0.0
        for group, each in posed.items():
            group.poser.write(each, *group.live.shown())
        if self._copy is not None:
            try:
                self._copy.show()
            except MotionError:  # its armature is being edited, as that of the character is
                self._end_comparing()

    def _take_view_along(self, view):
        """Follow the driven character, if that is wanted; whether the view was moved, and so is drawn anew."""
        if view is None or not self._follows:
            self._follower.pause()
            return False
        character = self.driven
        place, _ = character.player.roots[character.index]
        height = character.player.heights[character.index] + character.poser.floor
        return self._follower.follow(view, character, Vector((place.real, place.imag, height)))

    def _tell(self, seconds, took):
        """Once in a while look for what the person should know; one frame took so many seconds."""
        self._took += min(1.0, seconds / BEAT) * (took - self._took)
        self._calm -= seconds
        if self._calm <= 0:
            self._calm = BEAT
            for character in self.characters:
                character.poser.settled = False
            self._sentences, self._notes = tuple(self._find_trouble()), tuple(self._find_notes())
            redraw_panels()

    def _find_trouble(self):
        character, ob = self.driven, self.driven.fetch()
        if ob is None:
            return
        if ob.data.pose_position == "REST":
            yield f'"{ob.name}" is shown in Rest Position: switch it to Pose Position in its Data properties.'
        if character.poser.controls is None and (found := constraint_obstacle(ob, character.database.skeleton.names)):
            yield f"What you drive may not show: {found}. Mute it while driving."
        if abs(character.poser.size - 1) > ANOTHER_SIZE:
            yield f'"{ob.name}" is {character.poser.size:.2f} times as large as its motion was baked for: bake again.'
        if character.player.matcher.starved[character.index]:
            yield "No frame may be entered from here: the motion waits at the end of its clip."
        if sentence := character.group.record.trouble:
            yield sentence
        if sentence := character.group.trouble[character.index]:
            yield sentence
        if sentence := character.group.refused[character.index]:
            yield sentence
        if sentence := character.unheard():
            yield sentence
        if self._not_compared:
            yield f"There is nothing to compare with: {self._not_compared}"
        yield from character.group.sentences
        yield from self._refused.values()
        yield from (other.trouble for other in self.characters if other.trouble)

    def _find_notes(self):
        yield from filter(None, (Gamepads.reason(), *(device.notice for device in self.devices)))
        if (ob := self.driven.fetch()) is not None and (parent := animated_parent(ob)) is not None:
            yield f'The take is made for where "{parent.name}" is now, which is animated and carries "{ob.name}".'
        character = self.driven
        if not getattr(character.group.libraries[character.index].baked, "stands", True):
            yield "No clip stands still: for it to stand when you stop, add an idle clip and bake."
        if bpy.context.preferences.filepaths.use_auto_save_temporary_files:
            yield "Autosave waits until you stop driving."

    def _close(self):
        global _session
        _session = None
        gc.unfreeze()
        self._end_comparing()
        for character, ob in self._shown():
            ob.mm.drive.driving = False
            _befores[character.uid] = character.before
            _inputs[character.owner_uid] = character.recording(self.seconds)
        for group in self.groups:
            group.clear()
        for device in self.devices:
            device.close()
        redraw_views()
        redraw_panels()


# What Blender does meanwhile

@persistent
def on_undo(*_):
    if _session is not None:
        _session.rebind()
        return
    # A step that was made while driving has come back: nobody drives, so it gets the pose from before.
    remove_copies()
    for ob in bpy.data.objects:
        if ob.type == "ARMATURE" and ob.mm.drive.driving:
            ob.mm.drive.driving = False
            if ob.session_uid in _befores:
                _befores[ob.session_uid].restore_pose(ob)


@persistent
def _on_frame(scene, *_):
    # Renders call from a thread of their own, and reading clips from a scene of its own: both have nothing to cover.
    if _session is not None and threading.current_thread() is threading.main_thread() and _is_in_a_window(scene):
        _session.cover()


@persistent
def _before_saving(*_):
    if _session is not None:
        _session.uncover()


@persistent
def _after_saving(*_):
    if _session is not None:
        _session.cover()


@persistent
def _before_loading(*_):
    try:
        if _session is not None:
            _session.rescue()
    finally:
        stop(bpy.context)
    _befores.clear()
    _inputs.clear()
    forget()


@persistent
def _after_loading(*_):
    remove_copies()  # of a file that was saved by another program than ours: by Blender as it crashed, say


def _is_in_a_window(scene):
    return any(window.scene == scene for window in bpy.context.window_manager.windows)


_HAPPENINGS = {"undo_post": on_undo, "redo_post": on_undo, "frame_change_post": _on_frame,
               "save_pre": _before_saving, "save_post": _after_saving, "save_post_fail": _after_saving,
               "load_pre": _before_loading, "load_post": _after_loading}


def _is_driving():
    return _session is not None


def register():
    slices.busy.append(_is_driving)
    with suppress(OSError):
        rescue.look()
    for name, answer in _HAPPENINGS.items():
        getattr(bpy.app.handlers, name).append(answer)


def unregister():
    finish(bpy.context)
    slices.busy.remove(_is_driving)
    rescue.forget()
    forget()
    _inputs.clear()
    _befores.clear()
    for name, answer in _HAPPENINGS.items():
        getattr(bpy.app.handlers, name).remove(answer)
