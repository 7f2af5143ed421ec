# SPDX-License-Identifier: GPL-3.0-or-later
"""What driving was like, in figures: does it follow, do the feet stay, does nothing pop."""

import numpy as np

from ..motion import quat
from ..motion.plane import wrapped
from ..motion.skeleton import forward
from ..playback.contact import COMES_DOWN, LEFT_BEHIND, OFF, TOO_SHORT
from . import feet

# Seconds after a transition in which a peak of acceleration is its doing.
AFTER = 0.1
# What is natural for a motion is this percentile of its joints' accelerations.
PERCENTILE = 99.9
# A transition pops if it is so many times faster than that, and faster than its frames are without it, if it has any.
POP = 1.5
# A velocity has been reached at this share of it, while a stick asks for at least so many m/s.
REACHED, WISH = 0.9, 0.5
# Why a foot that the source has in contact is not held, in words.
WHY = {COMES_DOWN: "it comes down", LEFT_BEHIND: "the body has left it behind", TOO_SHORT: "its leg is too short",
       OFF: "feet are not held"}
# Seconds over which the root's velocity is taken: shorter, the steps of the walk show.
SMOOTH = 0.1


def report(motion, clip, trace, own=None):
    """The figures of a drive as plain values.

    motion  the Database, or Networks, as the whole() of a library says; these tell nothing of how fast joints are in
            the data
    own     own_acceleration(motion) where it is known already
    """
    positions, turns = clip.globals()
    roots = positions[:, 0, :2]
    apart = np.linalg.norm(roots - trace.simulated[:, :2], axis=-1)
    yaws = quat.to_yaw(clip.rotations[:, 0])
    turned = np.degrees(np.abs(wrapped(yaws - trace.simulated[:, 2])))
    figures = {
        "seconds": round(len(clip) / clip.rate, 2),
        "transitions_per_second": _round(trace.jumped.mean() * clip.rate),
        "root_distance": {"mean": _round(apart.mean()), "p95": _round(np.percentile(apart, 95))},
        "facing_error_degrees": {"mean": _round(turned.mean()), "p95": _round(np.percentile(turned, 95))},
        "seconds_to_new_velocity": _summary(reversal_times(roots, trace, clip.rate)),
        "longest_against_the_stick": _round(longest_against(roots, trace, clip.rate)),
        **_feet(motion, motion.character.contact_places(positions, turns), trace),
    }
    if motion.ranges:
        own = own or own_acceleration(motion)
        # A moment has no acceleration, and a motion that holds one pose has nothing to compare it with.
        figures |= _smoothness(motion, positions, trace, own) if len(clip) > 2 and own else {}
        figures |= _sources(motion, trace)
    return figures


def _smoothness(database, positions, trace, own):
    accelerations = _accelerations(positions, database.rate) / own
    jumps = _jumps(trace, database.rate)
    peaks = accelerations.max(axis=-1)[jumps - 1].max(axis=-1, initial=0)
    figures = {"acceleration_ratio": _round(np.percentile(accelerations, PERCENTILE)),
               "transition_acceleration_ratio": _summary(peaks)}
    limit = np.full(len(peaks), POP)
    if (trace.frames >= 0).all():
        source_peaks = _source_peaks(database, trace.frames[jumps]) / own
        figures["transition_acceleration_ratio_of_the_source"] = _summary(source_peaks)
        limit = np.maximum(POP, source_peaks)
    return {**figures, "pops": int((peaks > limit).sum())}


def _sources(database, trace):
    """What was played, where it was frames of the database."""
    if (trace.frames < 0).any():
        return {}
    return {
        "frames_per_clip": _shares({part.name: (trace.frames >= part.start) & (trace.frames < part.stop)
                                    for part in database.ranges}),
        "frames_per_tag": _shares({name: mask[trace.frames] for name, mask in database.tags.items()}),
    }


def own_acceleration(database):
    """A percentile of the joints' accelerations (m/s²) in the clips themselves: what is natural for this motion."""
    parts = []
    for part in database.ranges:
        frames = slice(part.start, part.stop)
        positions, _ = forward(database.skeleton, database.local_positions(frames), database.rotations[frames])
        parts.append(_accelerations(positions, database.rate).ravel())
    accelerations = np.concatenate(parts)
    return float(np.percentile(accelerations, PERCENTILE)) if len(accelerations) else 0.0


def reversal_times(roots, trace, rate):
    """Seconds from each turn of the stick by more than 90 degrees until the root has 90 % of the new velocity; what is
    not held that long does not count."""
    velocities = _velocities(roots, rate)
    wanted = trace.wanted[:, :2]
    speed = np.linalg.norm(wanted, axis=-1)
    changes = np.flatnonzero(np.linalg.norm(np.diff(wanted, axis=0), axis=-1) > 0.1) + 1
    times = []
    for change, end in zip(changes, [*changes[1:], len(wanted)]):
        before, now = wanted[change - 1], wanted[change]
        if before @ now < 0 and min(speed[change - 1], speed[change]) > WISH:
            along = velocities[change:end] @ now / speed[change]
            if (there := along >= REACHED * speed[change]).any():
                times.append(float(there.argmax() / rate))
            elif end - change > 1.5 * rate:
                times.append((end - change) / rate)
    return np.array(times)


def _feet(motion, toes, trace):
    """Feet over the ground, whatever flags say of them, and beside them the same of the frames that were played; how
    much of the time that the source has them in contact they are not held, and why. toes: (F, C, 3)"""
    ground = standing_heights(motion) if motion.ranges else motion.heights[:, 0]
    shown = feet.over_the_ground(toes, ground, motion.rate)
    figures = {"slide_low": shown["slide"], "skating": shown["skating"]}
    if motion.ranges and (trace.frames >= 0).all():
        source = feet.of_steps(*_source_steps(motion, trace.frames[1:]), ground, motion.rate)
        figures |= {"slide_low_source": source["slide"], "skating_source": source["skating"]}
    loose = trace.contacts & ~trace.planted
    asked = max(int(trace.contacts.sum()), 1)
    because = {words: _round((trace.feet[loose] == state).sum() / asked) for state, words in WHY.items()}
    return {**figures, "contact_not_held": _round(loose.sum() / asked),
            "contact_not_held_because": {words: share for words, share in because.items() if share},
            "toe_penetration_mm": _round(1000 * max(0.0, float((ground - toes[..., 2]).max())))}


def _source_steps(database, frames):
    """Where toes are in the database's own frames (F,), and a frame before, each (F, C, 3)."""
    used, places = np.unique(frames, return_inverse=True)
    starts = np.array([part.start for part in database.ranges])[database.range_of_frame[used]]
    shown = np.maximum(used, np.minimum(starts + 1, len(database) - 1))
    now, before = (database.character.contact_places(*forward(
        database.skeleton, database.local_positions(at), database.rotations[at])) for at in (shown, shown - 1))
    return now[places], before[places]


def standing_heights(database):
    """(C,) how high each limb's toe is while it stands."""
    frames = np.arange(0, len(database), max(1, len(database) // 5000))
    shown = forward(database.skeleton, database.local_positions(frames), database.rotations[frames])
    heights, contacts = database.character.contact_places(*shown)[..., 2], database.contacts[frames]
    return np.array([np.median(heights[contacts[:, limb], limb]) if contacts[:, limb].any() else 0.0
                     for limb in range(contacts.shape[1])])


def longest_against(roots, trace, rate):
    """The longest time in seconds for which the root did not go where the stick pointed at all."""
    wanted = trace.wanted[:, :2]
    speed = np.linalg.norm(wanted, axis=-1)
    along = (_velocities(roots, rate) * wanted).sum(-1) / np.maximum(speed, 1e-6)
    against = (speed > WISH) & (along < 0.1 * speed)
    changed = np.concatenate([[False], np.linalg.norm(np.diff(wanted, axis=0), axis=-1) > 0.1])
    longest = now = 0
    for wrong, new in zip(against, changed):
        now = now + 1 if wrong and not new else int(wrong)
        longest = max(longest, now)
    return longest / rate


def _jumps(trace, rate):
    """(T, W) the frames around each transition in which it shows."""
    jumps, around = np.flatnonzero(trace.jumped), np.arange(-1, round(AFTER * rate) + 1)
    return np.minimum(jumps[jumps >= 2, None] + around, len(trace.jumped) - 2)


def _source_peaks(database, frames):
    """(T,) the largest acceleration of any joint that the database's frames (T, W) have without a transition."""
    used, places = np.unique(frames, return_inverse=True)
    bounds = np.array([(part.start + 1, part.stop - 2) for part in database.ranges])[database.range_of_frame[used]]
    middle = np.clip(used, *bounds.T)
    positions = [forward(database.skeleton, database.local_positions(frames), database.rotations[frames])[0]
                 for frames in (middle - 1, middle, middle + 1)]
    peaks = _accelerations(np.array(positions), database.rate)[0].max(axis=-1)
    return peaks[places.reshape(frames.shape)].max(axis=-1, initial=0)


def _accelerations(positions, rate):
    return np.linalg.norm(np.diff(positions, 2, axis=0), axis=-1) * rate ** 2


def _velocities(roots, rate):
    """(F, 2) over the SMOOTH seconds around each frame."""
    half = max(1, round(SMOOTH * rate / 2))
    padded = np.concatenate([roots[:1].repeat(half, axis=0), roots, roots[-1:].repeat(half, axis=0)])
    return (padded[2 * half:] - padded[:-2 * half]) * (rate / (2 * half))


def _shares(masks):
    shares = {name: _round(float(mask.mean())) for name, mask in masks.items() if mask.any()}
    return dict(sorted(shares.items(), key=lambda pair: -pair[1]))


def _summary(values):
    if not len(values):
        return {"count": 0}
    return {"count": len(values), "mean": _round(values.mean()), "p95": _round(np.percentile(values, 95)),
            "max": _round(values.max())}


def _round(value):
    return round(float(value), 4)
