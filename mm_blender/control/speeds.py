# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast the character walks, runs and crouches: measured from its own motion, so that the stick asks for no more."""

from dataclasses import dataclass

import numpy as np

from ..motion import quat

# Slower than this a character stands and shuffles (its legs' length per second); fewer seconds of a way of going than
# this say nothing about it.
MOVING, ENOUGH = 0.35, 1.0
# People begin to run where the Froude number v² / (g × leg) passes one half.
FROUDE, GRAVITY = 0.5, 9.81
# Full stick asks for a speed that this percentile of the frames does not reach, and for a little less, because half of
# them may have the very same speed: what is faster is for catching up in curves. Running a slalom without any sync the
# demo was 0.72 m off when it was asked for all of it, 0.58 m so.
FULL, SPARE = 65, 0.975


@dataclass(frozen=True)
class Speeds:
    """Metres per second at full stick: forward, sideways and backward, for each gait."""

    walk: tuple = (1.4, 0.8, 1.0)
    run: tuple = (3.6, 2.0, 2.0)
    crouch: tuple = (0.9, 0.6, 0.6)


def measure(database):
    """The Speeds of a database: of the frames tagged walk, run and crouch, or else of all that are slow or fast."""
    velocities, leg = root_velocities(database)[:, :2], _leg(database)
    speed = np.hypot(*velocities.T)
    fast, moving = speed > np.sqrt(FROUDE * GRAVITY * leg), speed > MOVING * leg
    crouched = database.tags.get("crouch", np.zeros(len(database), dtype=bool))
    seconds, gaits = _seconds(database), {}
    for gait, alike in (("walk", ~fast & ~crouched), ("run", fast & ~crouched), ("crouch", crouched)):
        tagged = database.tags.get(gait, alike)
        # What is not tagged with this gait is looked for in motion like it, then in walking: few run sideways.
        ways = gaits.get("walk", (0.0, 0.0, 0.0))
        for frames in (alike, tagged & (crouched == (gait == "crouch"))):
            ways = _ways(velocities[frames & moving], seconds[frames & moving], ways)
        gaits[gait] = ways
    return Speeds(**gaits)


def root_velocities(database):
    """(N, 3) velocity of the root in each frame, seen from itself: right, forward (m/s), turning (rad/s)."""
    column = int(np.flatnonzero(database.moving == 0)[0])
    places, turns = database.positions[:, column], database.rotations[:, 0]
    velocities = np.zeros((len(database), 3), dtype=np.float32)
    for part in database.ranges:
        if len(part) > 1:
            frames, steps = slice(part.start, part.stop), slice(part.start, part.stop - 1)
            step = quat.inv_rotate(turns[steps], np.diff(places[frames], axis=0)) * database.rate
            velocities[steps, :2] = step[:, :2]
            velocities[steps, 2] = quat.angular_velocity(turns[frames], 1 / database.rate)[:, 2]
            velocities[part.stop - 1] = velocities[part.start if part.loop else part.stop - 2]
    return velocities


def _ways(velocities, seconds, fallback):
    """Speeds forward, sideways and backward of root velocities (N, 2), each within 45 degrees of that direction;
    seconds (N,): how much each of them says."""
    right, forward = velocities.T
    speed, sideways = np.hypot(right, forward), np.abs(right) > np.abs(forward)
    ways = (~sideways & (forward > 0), sideways, ~sideways & (forward < 0))
    return tuple(round(SPARE * float(np.percentile(speed[way], FULL)), 2) if seconds[way].sum() >= ENOUGH - 1e-6
                 else other for way, other in zip(ways, fallback))


def _seconds(database):
    """(N,) how long each frame lasts. Those of a loop, which goes on for ever, say enough however short it is, even if
    half of them are something else."""
    seconds = np.full(len(database), 1 / database.rate)
    for part in database.ranges:
        if part.loop:
            seconds[part.start:part.stop] = max(1 / database.rate, 2 * ENOUGH / len(part))
    return seconds


def _leg(database):
    """Length of a leg from hip to ankle."""
    joints = [database.character.joint(f"left_{part}") for part in ("shin", "foot")]
    return float(np.linalg.norm(database.fixed[joints], axis=-1).sum())
