# SPDX-License-Identifier: GPL-3.0-or-later
"""Which clips of a database do harm: each one measured, and how much a short test drive plays of it.

A test drive is a few hands at once for the better part of a minute each. It takes some seconds, in small steps.
"""

import numpy as np

from ..control.gaits import KNOWN
from ..control.speeds import root_velocities
from ..matching.database import runs
from ..matching.kinds import kinds_of, still
from ..matching.proposals import named
from ..motion.skeleton import forward
from ..playback.group import Group
from ..steps import Progress
from .courses import random_walk, reversals, slalom, stop_and_go

SECONDS = 40.0  # of each hand
# Of a stop: seconds for which the stick rests, that stand still at its end, and just before that, which what comes next
# is already seen in, because speeds are means over a while.
STOP, SETTLED, NEXT = 3.0, 0.5, 0.3
# So many frames of a clip are compared with all other clips.
SAMPLES = 24
# What is played so much of a drive (shares) is worth a word: if its name says that it is no way of going; if where it
# is played the character goes otherwise than the stick says, so many times as far off as usual and by so many m/s.
NOTICED, MUCH, ASTRAY, BY = 0.03, 0.1, 2.0, 0.2
# A clip jolts where a joint accelerates so many times more than in nineteen of twenty of its own frames, and by so much
# (m/s²): steps of a run do not, a marker that was lost for a frame does. Jolts in so many seconds are one.
JOLT, LEAST, TOGETHER = 3.5, 15.0, 0.2
# A clip that jolts once in so many seconds is better left out; of a longer one that is for its artist to say.
OFTEN = 10.0
# Who does this goes about as a drive asks for: nothing to wonder about in a name.
EXPECTED = {"idle", "walk", "run", "crouch", "strafe", "backward", "turn", *KNOWN}
SMOOTH = 0.25  # seconds over which the velocity is taken that is compared with the stick's


def triage(library, seconds=SECONDS):
    """A generator: yields Progress, returns a report as plain values.

    library  a BakedLibrary
    clips    one dict for each source: clip, seconds, speed and fastest (m/s), degrees_per_second, contact_share,
             jolts, apart (how far it lies from all others, as so many times what is usual), played (share)
    hints    [{clip, played, why}], those that are played most first
    stops    how many there were, and how many of them came to rest
    said     sentences about the whole
    """
    database, group = library.database, None
    clips = yield from _measured(library)
    hands = [slalom(seconds), stop_and_go(seconds, 2.5, STOP), reversals(seconds), random_walk(seconds),
             random_walk(seconds, 1)]
    group = Group(library, [hand.guide(database.rate, library.speeds) for hand in hands])
    count = round(seconds * database.rate)
    for step in range(count):
        yield Progress(0.3 + 0.7 * step / count, "Test drive")
        group.step()
    traces, shown = zip(*((group.record.trace(index), group.record.clip(index)) for index in range(len(hands))))
    played, astray = _played(database, traces, shown)
    for clip in clips:
        clip["played"] = round(played.get(clip["clip"], 0.0), 4)
    stops = _stops(database, traces[1], shown[1])
    usual = sum(share * astray[name] for name, share in played.items())
    return {"driven_seconds": round(seconds * len(hands)), "clips": clips, "stops": stops,
            "hints": _hints(clips, astray, usual, database.character.size), "said": _said(stops, clips)}


def table(report):
    """A report as lines of text for a terminal: a head, and one clip in each."""
    width = max(len(clip["clip"]) for clip in report["clips"])
    lines = [f"{'clip':{width}}  seconds   m/s  up to  deg/s  contact  jolts  apart  played"]
    for clip in sorted(report["clips"], key=lambda clip: -clip["played"]):
        apart = "    –" if clip["apart"] is None else f"{clip['apart']:5.1f}"
        lines.append(f"{clip['clip']:{width}}  {clip['seconds']:7.1f}  {clip['speed']:4.1f}  {clip['fastest']:5.1f}  "
                     f"{clip['degrees_per_second']:5.0f}  {clip['contact_share']:7.0%}  "
                     f"{clip['jolts']:5}  {apart}  {clip['played']:6.1%}")
    stops = report["stops"]
    lines += ["", f"A test drive of {report['driven_seconds']} s; {stops['settled']} of {stops['count']} stops came to "
                  "rest."]
    lines += [f"{hint['clip']}: {hint['why']}" for hint in report["hints"]] + report["said"]
    return "\n".join(lines)


# Clips by themselves

def _measured(library):
    """What each source of a database is like: yields Progress, returns [dict]."""
    database, clips = library.database, []
    travel, parts = root_velocities(database), {}
    for part in database.ranges:
        parts.setdefault(part.source, []).append(part)
    for index, (name, mine) in enumerate(parts.items()):
        yield Progress(0.3 * index / len(parts), "Measuring clips")
        seen = [part for part in mine if not part.mirrored] or mine
        frames = np.concatenate([np.arange(part.start, part.stop) for part in seen])
        speed = np.hypot(*travel[frames, :2].T)
        clips.append({
            "clip": name, "seconds": round(len(frames) / database.rate, 2), "speed": round(float(speed.mean()), 3),
            "fastest": round(float(np.percentile(speed, 95)), 3),
            "degrees_per_second": round(float(np.degrees(np.abs(travel[frames, 2]).mean())), 1),
            "contact_share": round(float(database.contacts[frames].any(axis=1).mean()), 3),
            "jolts": _jolts(database, seen), "shows": _shows(database, seen),
            "apart": _apart(library, mine, frames) if len(parts) > 1 else None})
    distances = [clip["apart"] for clip in clips if clip["apart"] is not None]
    usual = max(float(np.median(distances)), 1e-6) if distances else 1.0
    for clip in clips:
        clip["apart"] = None if clip["apart"] is None else round(clip["apart"] / usual, 2)
    return clips


def _jolts(database, parts):
    """How often one of the joints jolts."""
    count = 0
    for part in parts:
        frames = slice(part.start, part.stop)
        places, _ = forward(database.skeleton, database.local_positions(frames), database.rotations[frames])
        if len(places) > 2:
            peaks = np.linalg.norm(np.diff(places, 2, axis=0), axis=-1).max(axis=1) * database.rate ** 2
            jolts = peaks > max(JOLT * np.percentile(peaks, 95), LEAST * database.character.size)
            count += len(runs(_together(jolts, round(TOGETHER * database.rate))))
    return count


def _together(mask, gap):
    """(F,) the same with gaps of up to so many frames filled: one jolt shakes for a moment."""
    filled = mask.copy()
    for start, stop in runs(~mask):
        if start > 0 and stop < len(mask) and stop - start <= gap:
            filled[start:stop] = True
    return filled


def _shows(database, parts):
    """Seconds of each kind of motion."""
    seconds = {}
    for index, part in enumerate(database.ranges):
        if part in parts:
            for kind, mask in kinds_of(database.clip(index), database.character).items():
                seconds[kind] = round(seconds.get(kind, 0.0) + float(mask.sum()) / database.rate, 2)
    return seconds


def _apart(library, parts, frames):
    """How far the frames of a clip are from those of all others, in the middle; None where no other may be entered."""
    search = library.choice().search
    besides = [bound for part in parts for bound in (part.start, part.stop - 1)]
    some = frames[::max(1, len(frames) // SAMPLES)][:SAMPLES]
    found = search.nearest_many(library.database.features[some], [besides] * len(some))
    found = [match.cost for match in found if match is not None]
    return float(np.sqrt(np.median(found))) if found else None


# The drive

def _played(database, traces, shown):
    """{source: share of the drive that played it}, {source: how far from the stick it went meanwhile (m/s)}."""
    names = [part.source for part in database.ranges]
    frames, off = np.concatenate([trace.frames for trace in traces]), []
    for trace, clip in zip(traces, shown):
        off.append(np.linalg.norm(_velocity(clip.positions[:, 0, :2], database.rate)
                                  - _velocity(trace.simulated[:, :2], database.rate), axis=-1))
    off, ranges, played, astray = np.concatenate(off), database.range_of_frame[frames], {}, {}
    for index in np.unique(ranges).tolist():
        mine = ranges == index
        played[names[index]] = played.get(names[index], 0) + int(mine.sum())
        astray[names[index]] = astray.get(names[index], 0.0) + float(off[mine].sum())
    return ({name: count / len(frames) for name, count in played.items()},
            {name: astray[name] / count for name, count in played.items()})


def _velocity(places, rate):
    half = max(1, round(SMOOTH * rate / 2))
    padded = np.concatenate([places[:1].repeat(half, axis=0), places, places[-1:].repeat(half, axis=0)])
    return (padded[2 * half:] - padded[:-2 * half]).astype(np.float64) * (rate / (2 * half))


def _stops(database, trace, shown):
    """How many times the stick came to rest, and after how many of these the character did."""
    rests = ~trace.wanted[:, :2].any(axis=1)
    long, calmly, late = (round(seconds * database.rate) for seconds in (STOP, SETTLED, NEXT))
    ends = np.flatnonzero(np.diff(rests.astype(np.int8)) < 0) + 1
    ends = [stop for stop in ends.tolist() if rests[max(stop - long + 1, 0):stop].all() and stop >= long]
    calm = still(shown, database.character)
    if calm is None:
        return {"count": 0, "settled": 0}
    return {"count": len(ends), "settled": sum(bool(calm[stop - late - calmly:stop - late].all()) for stop in ends)}


# What is said

def _hints(clips, astray, usual, size):
    hints = [{"clip": clip["clip"], "played": clip["played"],
              "why": f"{clip['played']:.0%} of a test drive played it{why}"} for clip in clips
             if (why := _why(clip, astray.get(clip["clip"], 0.0), usual, size))]
    return sorted(hints, key=lambda hint: -hint["played"])


def _why(clip, astray, usual, size):
    """Why a clip should perhaps not be played, as the end of a sentence; empty if it may."""
    tags, played = named(clip["clip"]), clip["played"]
    if played >= NOTICED and tags and not EXPECTED & set(tags):
        return f", and its name says {' and '.join(tags)}."
    if played >= MUCH and astray > max(ASTRAY * usual, BY * size):
        return f", and went {astray:.1f} m/s beside the stick."
    if played >= NOTICED and clip["jolts"] > clip["seconds"] / OFTEN:
        return f", and it jolts {_times(clip['jolts'])}."
    return ""


def _times(count):
    return "once" if count == 1 else f"{count} times"


def _said(stops, clips):
    if stops["count"] and 2 * stops["settled"] < stops["count"]:
        if not any("idle" in clip["shows"] for clip in clips):
            return ["Nothing stands still: add an idle clip, or tag one."]
        return [f"Only {stops['settled']} of {stops['count']} stops came to rest: add an idle clip that begins where "
                "walks end, or clips that stop."]
    return []
