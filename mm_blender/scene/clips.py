# SPDX-License-Identifier: GPL-3.0-or-later
"""The artist's list of clips and their tags, as the engine's sources."""

import hashlib
import json

import numpy as np

from ..errors import MotionError
from ..matching.bake import Source
from ..matching.tags import select
from ..motion.clip import Tag
from . import actions, sampling
from .source import Source as Names

# A clip shorter than this cannot be entered by a search, which stays clear of clip ends.
SHORT = 1 / 3


def add_clips(ob, new_actions, source=None, mirror=True):
    """Append Actions to the list of clips, each once; returns the new entries' names."""
    known = {(clip.action, clip.source) for clip in ob.mm.clips}
    added = []
    for action in new_actions:
        if (action, source) in known:
            continue
        clip = ob.mm.clips.add()
        clip.name, clip.action, clip.source, clip.mirror = action.name, action, source, mirror
        added.append(action.name)
    if added:
        ob.mm.clip_index = len(ob.mm.clips) - 1
    return added


def armature_of(ob, clip):
    """The armature whose motion a clip is read from."""
    return clip.source or ob


def frame_range(ob, clip):
    """First and last frame of a clip, or None when its Action has no keys."""
    if clip.use_range:
        return clip.start, clip.end
    armature = armature_of(ob, clip)
    if clip.use_nla:
        strips = [strip for track in nla_tracks(armature) for strip in track.strips]
        return (min(s.frame_start for s in strips), max(s.frame_end for s in strips)) if strips else None
    return actions.frame_range(clip.action, armature, slot_of(clip)) if clip.action else None


def seconds(ob, clip, scene):
    """How long a clip plays."""
    span = frame_range(ob, clip)
    return (span[1] - span[0]) / fps(scene) / clip.speed if span else 0.0


def slot_of(clip):
    return actions.slot_named(clip.action, clip.slot) if clip.slot and clip.action else None


def nla_tracks(ob):
    return [track for track in ob.animation_data.nla_tracks if not track.mute] if ob.animation_data else []


def nla_actions(ob):
    """The Actions in an armature's NLA strips, each once."""
    tracks = ob.animation_data.nla_tracks if ob.animation_data else ()
    return list(dict.fromkeys(strip.action for track in tracks for strip in track.strips if strip.action))


def fps(scene):
    return scene.render.fps / scene.render.fps_base


def trouble(ob, clip, scene):
    """Why a clip cannot be used as it is, in one sentence; empty when all is well."""
    armature = armature_of(ob, clip)
    if clip.use_nla:
        return "" if nla_tracks(armature) else f'"{armature.name}" has no NLA tracks: remove this clip.'
    if clip.action is None:
        return f'The Action "{clip.name}" was deleted: remove this clip.'
    name = clip.action.name
    if clip.slot and slot_of(clip) is None:
        return f'Action "{name}" has no slot "{clip.slot}" any more: choose another one.'
    span = frame_range(ob, clip)
    if span is None:
        return f'Action "{name}" has no keys.'
    if span[1] - span[0] < 1:
        return f'Action "{name}" has a single frame: it needs motion.'
    if not sampling.fit(armature, clip.action, slot_of(clip))[0]:
        return f'Action "{name}" moves no bone of "{armature.name}": it belongs to another rig.'
    if seconds(ob, clip, scene) < SHORT and not clip.loop:
        return f'Action "{name}" is shorter than {SHORT:.2f} s: no search can enter it.'
    return ""


def tags_of(action, span):
    """An Action's ranges as (name, first frame, last frame): its tags, and its pose markers `name[` and `name]`."""
    if action is None:
        return []
    own = [(tag.name, min(tag.start, tag.end), max(tag.start, tag.end)) for tag in action.mm.tags if tag.name]
    marked = sampling.tags_from_markers(actions.pose_markers(action), 1.0, *span)  # at one frame per second
    return own + [(tag.name, span[0] + tag.start, span[0] + tag.end) for tag in marked]


def tag_masks(ob, scene, rate):
    """Tag name → (N,) bool over the frames of all enabled clips, for counting what a query selects."""
    spans = [(clip, frame_range(ob, clip)) for clip in ob.mm.clips if clip.use]
    spans = [(clip, span) for clip, span in spans if span]
    counts = [int((span[1] - span[0]) / fps(scene) / clip.speed * rate) + 1 for clip, span in spans]
    masks, at = {}, 0
    for (clip, span), count in zip(spans, counts):
        frames = np.linspace(span[0], span[1], count)
        for name, first, last in tags_of(None if clip.use_nla else clip.action, span):
            mask = masks.setdefault(name, np.zeros(sum(counts), dtype=bool))
            mask[at:at + count] |= (frames >= first - 1e-3) & (frames <= last + 1e-3)
        at += count
    return masks, sum(counts)


def count_selected(ob, scene, query, rate):
    """How many of the frames a query selects: (selected, all)."""
    masks, total = tag_masks(ob, scene, rate)
    return int(select(query, masks, total).sum()), total


def enabled(ob):
    return [clip for clip in ob.mm.clips if clip.use]


def source_of(ob, clip, scene, fingerprint=sampling.fingerprint):
    """The engine's Source for a clip: what it reads, how, and a fingerprint of it."""
    armature, span = armature_of(ob, clip), frame_range(ob, clip)
    if span is None or (clip.action is None and not clip.use_nla):
        raise MotionError(trouble(ob, clip, scene))
    action, slot = (None, None) if clip.use_nla else (clip.action, slot_of(clip))
    name = f"{armature.name} NLA" if clip.use_nla else clip.action.name
    ranges, rate = tags_of(action, span), fps(scene)
    tags = [Tag(tag, (first - span[0]) / rate, (last - span[0]) / rate) for tag, first, last in ranges]
    contents = fingerprint(armature, action, slot) if action else _nla_fingerprint(armature, fingerprint)
    return Source(name, _reader(armature, action, slot, span, name, tags), _hash(contents, ranges, span, rate),
                  mirror=clip.mirror and ob.mm.bake.mirror, loop=clip.loop, speed=round(clip.speed, 4),
                  origin=round(span[0] / rate, 6))


def _reader(armature, action, slot, span, name, tags):
    # Names, not references: between two steps of a bake the artist may undo, and references die.
    where = Names.of(armature, action, slot)

    def read():
        ob, action, slot = where.fetch()
        reading = sampling.read_action(ob, action, slot, *span) if action else sampling.read_nla(ob, *span)
        clip = yield from reading
        return clip.with_changes(name=name, tags=tuple(tags))
    return read


def _nla_fingerprint(ob, fingerprint):
    return _hash([(track.name, track.mute, [_strip_fingerprint(ob, strip, fingerprint) for strip in track.strips])
                  for track in ob.animation_data.nla_tracks])


def _strip_fingerprint(ob, strip, fingerprint):
    values = [strip.name, strip.type, strip.frame_start, strip.frame_end, strip.scale, strip.repeat, strip.mute,
              strip.influence, strip.blend_type, strip.use_reverse, strip.blend_in, strip.blend_out]
    if strip.action:
        values += [strip.action_frame_start, strip.action_frame_end, fingerprint(ob, strip.action)]
    return values


def _hash(*parts):
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
