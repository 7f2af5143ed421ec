# SPDX-License-Identifier: GPL-3.0-or-later
"""The artist's list of clips and their tags, as the engine's sources.

Functions that take `facts` look at Actions through it: panels give one that remembers, others let it be made anew.
"""

from functools import lru_cache

import bpy
import numpy as np

from ...errors import MotionError
from ...limits import check_clip, check_rate
from ...matching.bake import Source
from ...matching.database import runs
from ...matching.tags import EXCLUDE, LOOP, select
from ...motion import quat
from ...motion.clip import Clip, Tag
from ...motion.sides import swap_side
from ...motion.skeleton import Skeleton
from ...prepare.loops import is_loop
from ...prepare.resample import resample
from ...prepare.travel import find_travel
from ...steps import run as finished
from .. import actions
from ..rig.character import character_of
from . import sampling
from .facts import Facts
from .features import USUAL, apply_preset
from .fingerprints import hashed, nla_fingerprint
from .reference import Reference

# A clip shorter than this cannot be entered by a search, which stays clear of clip ends.
SHORT = 1 / 3
# Seconds that a cycle lasts at most: longer ones are not read to see whether they are one.
CYCLES = 20.0


def add_clips(ob, new_actions, source=None, mirror=True, look=False):
    """Append Actions to the list of clips, each once; returns the new entries' names. An armature that has no features
    yet gets the usual ones, so that it can be baked at once. look: see which are loops, and which were made in place.
    """
    known = {(clip.action, clip.source) for clip in ob.mm.clips}
    added = []
    for action in new_actions:
        if (action, source) in known:
            continue
        clip = ob.mm.clips.add()
        clip.name, clip.action, clip.source, clip.mirror = action.name, action, source, mirror
        added.append(action.name)
        if look:
            look_at(ob, clip)
    if added:
        ob.mm.clip_index = len(ob.mm.clips) - 1
        if not len(ob.mm.features.channels):
            apply_preset(ob, USUAL)
    return added


def look_at(ob, clip):
    """See whether a clip is a loop, and whether it was made in place, and write that into its settings."""
    try:
        if seconds(ob, clip, bpy.context.scene) > CYCLES:
            return
        raw = finished(source_of(ob, clip, bpy.context.scene).read())
        character = character_of(armature_of(ob, clip))
        clip.loop = is_loop(raw, character)
        found = find_travel(raw.with_changes(loop=clip.loop), character)
        clip.in_place = found.speed if found is not None else 0.0
    except MotionError:
        pass  # what is wrong with it is said where it matters


def given_travel(clip):
    """m/s that a clip is given as far as it is known, 0 for none."""
    return (clip.travel_speed or clip.in_place) if clip.travel else 0.0


def armature_of(ob, clip):
    """The armature whose motion a clip is read from."""
    return clip.source or ob


def is_foreign(ob, armature, facts=None):
    """Whether an armature has another skeleton than the character: its motion is retargeted."""
    return armature != ob and not (facts or Facts()).alike(ob, armature)


def take_over(ob, other):
    """Append the clips of another armature's list as its owner has them; returns the new entries' names."""
    names = []
    for clip in other.mm.clips:
        if clip.action is not None and not clip.source:
            for name in add_clips(ob, [clip.action], source=other):
                names.append(name)
                for setting in ("slot", "use", "mirror", "loop", "speed", "travel", "travel_speed",
                                "in_place", "use_range", "start", "end"):
                    setattr(ob.mm.clips[-1], setting, getattr(clip, setting))
    return names


def enabled(ob):
    return [clip for clip in ob.mm.clips if clip.use]


def frame_range(ob, clip, facts=None):
    """First and last frame of a clip, or None when there is nothing to play."""
    if clip.use_nla:
        strips = [strip for track in nla_tracks(armature_of(ob, clip)) for strip in track.strips if not strip.mute]
        whole = (min(s.frame_start for s in strips), max(s.frame_end for s in strips)) if strips else None
    elif clip.action is not None:
        whole = (facts or Facts()).frame_range(armature_of(ob, clip), clip.action, slot_of(clip))
    else:
        whole = None
    return (clip.start, clip.end) if whole and clip.use_range else whole


def seconds(ob, clip, scene, facts=None):
    """How long a clip plays."""
    span = frame_range(ob, clip, facts)
    return max(0.0, span[1] - span[0]) / fps(scene) / clip.speed if span else 0.0


def slot_of(clip):
    return actions.slot_named(clip.action, clip.slot) if clip.slot and clip.action else None


def nla_tracks(ob):
    """The tracks that play."""
    tracks = ob.animation_data.nla_tracks if ob.animation_data else ()
    return [track for track in tracks if track.is_solo] or [track for track in tracks if not track.mute]


def nla_actions(ob):
    """The Actions in an armature's NLA strips, each once."""
    tracks = ob.animation_data.nla_tracks if ob.animation_data else ()
    return list(dict.fromkeys(strip.action for track in tracks for strip in track.strips if strip.action))


def fps(scene):
    return scene.render.fps / scene.render.fps_base


def trouble(ob, clip, scene, facts=None):
    """Why a clip cannot be used, or will be of no use, in one sentence; empty when all is well."""
    if sentence := unusable(ob, clip, facts, scene):
        return sentence
    if seconds(ob, clip, scene, facts) < SHORT and not _loops(clip):
        return f"{_named(ob, clip)} is shorter than {SHORT:.2f} s: no search can enter it."
    return ""


def unusable(ob, clip, facts=None, scene=None):
    """Why a bake would leave the clip out, in one sentence; empty when it would not."""
    facts, armature = facts or Facts(), armature_of(ob, clip)
    if clip.use_nla:
        span = frame_range(ob, clip, facts)
        if span is None:
            return f'"{armature.name}" has no NLA strips that play: add some, or remove this clip.'
    else:
        if clip.action is None:
            return f'The Action "{clip.name}" was deleted: remove this clip.'
        if clip.slot and slot_of(clip) is None:
            return f'Action "{clip.action.name}" has no slot "{clip.slot}" any more: choose another one.'
        span = frame_range(ob, clip, facts)
        if span is None:
            return f'Action "{clip.action.name}" has no keys for "{armature.name}": animate it, or remove this clip.'
        if not facts.fraction(armature, clip.action, slot_of(clip)):
            return f'Action "{clip.action.name}" moves no bone of "{armature.name}": it belongs to another rig.'
    if not span[1] - span[0] >= 1:
        what = f"the range {span[0]:g} to {span[1]:g}" if clip.use_range else "a single frame"
        return f"{_named(ob, clip)} has {what}: it needs at least two frames."
    rate = sampling.scene_rate(scene)
    playing = (span[1] - span[0]) / rate / clip.speed
    try:
        check_rate("The scene", rate)
        check_clip(f"{_named(ob, clip)}, which plays for {playing:,.7g} s,",
                   max(playing * ob.mm.bake.rate, span[1] - span[0]))
    except MotionError as error:
        return str(error)
    return ""


def way(ob, clip, facts=None):
    """How a clip is read: "curves" or "evaluated", and why."""
    facts, armature = facts or Facts(), armature_of(ob, clip)
    if clip.use_nla:
        return "evaluated", "the NLA editor mixes Actions"
    return facts.way(armature, clip.action, slot_of(clip), _rig(ob, armature, True, facts))


def tags_of(action, span):
    """An Action's ranges as (name, first frame, last frame): its tags, and its pose markers `name[` and `name]`."""
    if action is None:
        return []
    own = [(tag.name, min(tag.start, tag.end), max(tag.start, tag.end)) for tag in action.mm.tags if tag.name]
    marked = sampling.tags_from_markers(actions.pose_markers(action), 1.0, *span)  # at one frame per second
    return own + [(tag.name, span[0] + tag.start, span[0] + tag.end) for tag in marked]


def tag_names(ob):
    """The names of the tags that the clips have, in order."""
    return sorted({tag.name for clip in ob.mm.clips if clip.action is not None for tag in clip.action.mm.tags
                   if tag.name}, key=str.lower)


def count_selected(ob, scene, query, rate, facts=None):
    """How many of the frames that a bake would give a query selects: (selected, all).

    A rest pose that a clip begins with is counted here and left out by the bake: only the motion shows it.
    """
    facts, both = facts or Facts(), ob.mm.bake.mirror
    parts = []
    for clip in enabled(ob):
        if not unusable(ob, clip, facts, scene):
            span = frame_range(ob, clip, facts)
            ranges = tuple(tags_of(None if clip.use_nla else clip.action, span))
            parts.append((span, ranges, round(clip.speed, 4), clip.loop, clip.mirror and both))
    return _count(tuple(parts), query, fps(scene), rate)


def source_of(ob, clip, scene, facts=None):
    """The engine's Source for a clip: what it reads, how, and a fingerprint of it."""
    facts, armature = facts or Facts(), armature_of(ob, clip)
    if sentence := unusable(ob, clip, facts, scene):
        raise MotionError(sentence)
    span, rate = frame_range(ob, clip, facts), fps(scene)
    action, slot = (None, None) if clip.use_nla else (clip.action, slot_of(clip))
    name = f"{armature.name} NLA" if clip.use_nla else clip.action.name
    ranges = tags_of(action, span)
    tags = [Tag(tag, (first - span[0]) / rate, (last - span[0]) / rate) for tag, first, last in ranges]
    contents = [_fingerprint(ob, clip, facts), armature.name if clip.source else "", ranges, span, rate]
    return Source(name, _reader(armature, action, slot, span, name, tags, rate), hashed(contents),
                  mirror=clip.mirror and ob.mm.bake.mirror, loop=clip.loop, speed=round(clip.speed, 4),
                  travel=(round(clip.travel_speed, 4) or None) if clip.travel else 0.0,
                  seconds=seconds(ob, clip, scene, facts), origin=round(span[0] / rate, 6))


def _named(ob, clip):
    return f'The NLA of "{armature_of(ob, clip).name}"' if clip.use_nla else f'Action "{clip.action.name}"'


def _loops(clip):
    return clip.loop or (clip.action is not None and any(tag.name == LOOP for tag in clip.action.mm.tags))


def _fingerprint(ob, clip, facts):
    """What the Action and the rig bring to the motion of a clip."""
    armature = armature_of(ob, clip)
    if clip.use_nla:
        return [nla_fingerprint(armature, facts.fingerprint), _rig(ob, armature, True, facts)]
    how = way(ob, clip, facts)[0]
    return [facts.fingerprint(armature, clip.action, slot_of(clip)), how,
            _rig(ob, armature, how == "evaluated", facts)]


def _rig(ob, armature, evaluated, facts):
    def animated():
        played = [clip for clip in ob.mm.clips if clip.action is not None and armature_of(ob, clip) == armature]
        return frozenset().union(*(facts.paths(armature, clip.action, slot_of(clip)) for clip in played))
    return facts.rig(ob, armature, evaluated, animated)


def _reader(armature, action, slot, span, name, tags, rate):
    # Names, not references: between two steps of a bake the artist may undo, and references die.
    where = Reference.of(armature, action, slot)

    def read():
        ob, action, slot = where.fetch()
        reading = (sampling.read_action(ob, action, slot, *span, to_end=True) if action else
                   sampling.read_nla(ob, *span, to_end=True))
        clip = yield from reading
        # The artist may have turned to another scene meanwhile: the rate is the one that the tags were counted with.
        return clip.with_changes(name=name, tags=tuple(tags), rate=rate / sampling.step_of(*span))
    return read


# What a query selects, without reading any motion: the frames of a clip are those of a single dot that stands still.

_DOT = Skeleton(["dot"], [-1], np.zeros((1, 3)), quat.identity((1,)))


@lru_cache(maxsize=8)
def _count(parts, query, fps, rate):
    names = {name for _, ranges, _, _, _ in parts for name, _, _ in ranges}
    masks = {name: [] for name in (names | {swap_side(name) for name in names}) - {EXCLUDE}}
    total = 0
    for span, ranges, speed, loop, mirror in parts:
        count, own = _masks(span, ranges, fps, rate, speed, loop)
        total += count * (1 + mirror)
        for name, found in masks.items():
            nothing = np.zeros(count, dtype=bool)
            found.append(own.get(name, nothing))
            if mirror:
                found.append(own.get(swap_side(name), nothing))
    masks = {name: np.concatenate(found) for name, found in masks.items()}
    return int(select(query, {name: mask for name, mask in masks.items() if mask.any()}, total).sum()), total


@lru_cache(maxsize=4096)
def _masks(span, ranges, fps, rate, speed, loop):
    """How many frames a clip has in the database, and which of them each tag marks."""
    rate_of_frames, count, fps = fps, sampling.count_of(*span), fps / sampling.step_of(*span)
    tags = [Tag(name, (first - span[0]) / rate_of_frames, (last - span[0]) / rate_of_frames)
            for name, first, last in ranges]
    clip = Clip("", _DOT, fps, np.zeros((count, 1, 3)), quat.identity((count, 1)), tags)
    clip = clip.with_changes(loop=loop or bool(clip.tag_mask(LOOP).any()))
    pieces = [resample(clip.slice(*part), rate, speed) for part in runs(~clip.tag_mask(EXCLUDE))]
    pieces = [piece for piece in pieces if len(piece) > 1]
    names = {name for name, _, _ in ranges}
    return sum(map(len, pieces)), {name: np.concatenate([piece.tag_mask(name) for piece in pieces]) for name in names
                                   if pieces}
