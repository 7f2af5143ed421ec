# SPDX-License-Identifier: GPL-3.0-or-later
"""Never play this: what the driven character plays now is excluded, at once and from the next bake."""

from ...errors import MotionError
from ...matching.tags import EXCLUDE
from ..reading import clips
from ..rig import targets

# Seconds before and after what is playing: a hand comes later than what it has seen.
BEFORE, AFTER = 1.0, 0.5


def never_play(session, scene, whole=False):
    """Exclude what is playing, or the whole clip that it belongs to; what was done, as a sentence."""
    ob, (source, second) = session.driven.owner(), _playing(session)
    found = [clip for clip in ob.mm.clips if clip.action is not None and not clip.use_nla
             and clip.action.name == source]
    if not found:
        raise MotionError(f'"{source}" is not in the list of clips of "{ob.name}": its name has changed since the '
                          "bake, or it is no Action. Bake again.")
    return _disable(ob, found) if whole else _exclude(ob, found[0], second * clips.fps(scene), clips.fps(scene))


def _playing(session):
    """The source that is playing and where in it, in seconds."""
    group, index = session.driven.group, session.driven.index
    library, frame = group.libraries[index], int(group.player.matcher.frames[index])
    if library.baked is None or frame < 0:
        raise MotionError("Networks alone have no clips: exclude it while Motion Matching plays, and train again.")
    database = library.baked.database
    if not targets.baked_by(session.driven.owner(), database):
        whose = database.owner or "another character"
        raise MotionError(f"What is playing is the motion of {whose}: exclude it there.")
    return database.ranges[database.range_of_frame[frame]].source, library.baked.clip_of(frame)[1]


def _disable(ob, found):
    if len({clip.action for clip in clips.enabled(ob)}) < 2:
        raise MotionError(f'"{found[0].action.name}" is the only clip that is used: exclude a moment of it.')
    for clip in found:
        clip.use = False
    return f'"{found[0].action.name}" is not played any more, and the next bake leaves it out'


def _exclude(ob, clip, frame, rate):
    action = clip.action
    if action.library is not None:
        raise MotionError(f'The Action "{action.name}" is linked from another file: tag it there.')
    span = clips.frame_range(ob, clip)
    tag = action.mm.tags.add()
    tag.name, tag.start, tag.end = (EXCLUDE, max(round(frame - BEFORE * rate), span[0]),
                                    min(round(frame + AFTER * rate), span[1]))
    action.mm.tag_index = len(action.mm.tags) - 1
    return (f'Frames {tag.start:g} to {tag.end:g} of "{action.name}" are tagged "{EXCLUDE}": they are not played any '
            "more, and the next bake leaves them out")
