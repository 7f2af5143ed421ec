# SPDX-License-Identifier: GPL-3.0-or-later
"""From the settings of the Direct panel to a take on the armature."""

import math
from dataclasses import dataclass

import bpy

from ...errors import MotionError
from ...motion.clip import Clip
from ...playback.direct import direct_steps, in_place
from ...playback.planner import Beam
from ..driving import takes, travel
from ..driving.commands import commands_of
from ..driving.drive_settings import settings_of
from ..driving.libraries import library_of, played_library, weigh
from ..driving.surroundings import Surroundings
from ..rig import targets
from ..rig.armatures import floor
from . import recipe
from .paths import line_of, path_of, place_of


@dataclass(frozen=True, eq=False)
class Directed:
    """What came of a direction.

    clip       the motion, with the database's skeleton
    sentences  what was asked and cannot be done, and what is good to know
    """

    clip: Clip
    sentences: list


def steps(ob, depsgraph, seed=None):
    """Steps that return the Directed of an armature's settings, with another seed if one is given. All that is
    Blender's is read before the first one, so that whatever is done to it meanwhile does no harm."""
    path, notes = path_of(ob, depsgraph)
    direct, library = ob.mm.direct, library_of(ob)
    weigh(library, ob)
    played, level = played_library(ob, library), floor(targets.posed(ob))
    ground, height = _ground_of(ob, depsgraph, level)
    loop, beam = direct.loop and path.closed and played.baked is not None, Beam() if direct.plan == "PLANNED" else None
    made = direct_steps(played, path, settings_of(ob), query=ob.mm.drive.query, loop=loop, beam=beam,
                        seed=(direct.seed if seed is None else seed) or None, ground=ground, height=height,
                        commands=commands_of(ob, library.database.schema, level))
    return _told(made, notes)


def made_from(ob, depsgraph):
    """All that a take of an armature's settings is made from, to tell whether it is up to date."""
    path, _ = path_of(ob, depsgraph)
    around = ob.mm.drive.ground.session_uid if ob.mm.drive.ground is not None else 0
    return (recipe.text_of(ob), path.places.tobytes(), path.marks, settings_of(ob), ob.mm.drive.query, around,
            ob.mm.drive.tolerance, ob.mm.drive.travel_bone, id(played_library(ob)))


def write(ob, directed, instead=None):
    """The take of a Directed as an Action that the armature plays; instead: of another take, which then shows that."""
    return accept(ob, written(ob, directed), instead)


def written(ob, directed, seed=None):
    """The take of a Directed as an Action that nobody plays yet, which knows how it was made; seed: with which, if not
    with that of the settings."""
    settings, direct, posed = ob.mm.drive, ob.mm.direct, targets.posed(ob)
    clip = directed.clip
    if direct.in_place:
        clip = in_place(clip, *travel.stand_of(posed, clip))
    action = takes.write(posed, clip, name_of(ob), direct.start,
                         tolerance=settings.tolerance, ik=settings.ik_keys, bone=settings.travel_bone)
    recipe.note(ob, action, seed)
    return action


def accept(ob, action, instead=None):
    """Let the armature play a take that was written; instead: of another one, which then shows that."""
    settings, posed, edited_since = ob.mm.drive, targets.posed(ob), recipe.is_edited(ob, action)
    if instead is None:
        takes.play(posed, action, math.floor(action.frame_range[0]), settings.keep_as)
    else:
        instead.mm.recipe, instead.mm.written = action.mm.recipe, action.mm.written
        takes.put_into(posed, instead, action)
        action = instead
    if not edited_since:  # it has more by now: what the take before has of bones that are not driven
        recipe.stamp(ob, action)
    ob.mm.direct.take = action
    if settings.extend:
        takes.show_whole(bpy.context.scene, [action])
    return action


def name_of(ob):
    """What takes of an armature's direction are called."""
    path = ob.mm.direct.path
    return f"{targets.posed(ob).name} {path.name if path is not None else 'Places'}"


def replaceable(ob):
    """The take that the next one may replace: the last one that was directed, if nobody has edited it. None if there is
    none."""
    take = ob.mm.direct.take
    if not recipe.is_directed(take) or recipe.is_edited(ob, take):
        return None
    return take


def edited(ob):
    """The last take that was directed, if somebody has edited it since."""
    take = ob.mm.direct.take
    return take if recipe.is_directed(take) and recipe.is_edited(ob, take) else None


def _told(made, notes):
    directed = yield from made
    if not len(directed.clip):
        raise MotionError("Nothing was played: the path takes no time.")
    return Directed(directed.clip, [*notes, *directed.schedule.trouble])


def _ground_of(ob, depsgraph, level):
    """The ground under an armature, or None, and about how high above its floor the path begins."""
    if ob.mm.drive.ground is None:
        return None, 0.0
    direct = ob.mm.direct
    around = Surroundings(None, ob.mm.drive.ground, [level])
    if direct.path is not None:
        height = line_of(direct, depsgraph).points[0, 2] - level
    else:
        height = place_of(direct.marks[0], direct, depsgraph)[2] - level
    around.stand_at(level + height)
    around.refresh(depsgraph)
    return around.ground, float(height)
