# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody does in each frame of a clean clip, seen from the motion alone: stands, walks, runs, turns, jumps …

Lengths count in lengths of a leg, so that children and giants are measured alike.
"""

from dataclasses import replace

import numpy as np

from ..control.speeds import CREEPING, FROUDE, GRAVITY, MOVING
from ..motion import quat
from .database import runs

# Seconds over which speeds are taken, so that single steps do not show, and that a stretch lasts at the least.
SMOOTH, SHORTEST = 0.5, 0.5
# Who stands still: the mean speed of all joints (legs per second), and how fast the body turns (rad/s).
STILL, FACES = 0.18, np.radians(25)
# Turning: at least so fast (rad/s), walking or on the spot, and by so much in all (rad).
TURNS, ON_THE_SPOT, TURNED = np.radians(70), np.radians(35), np.radians(45)
# Sideways and backward are so far from where the body faces (rad).
SIDEWAYS, BACKWARD = np.radians(40), np.radians(130)
# How high the hips are, where 1 is on straight legs: below these somebody crouches, or lies.
CROUCHED, LIES = 0.78, 0.42
# Who sits has the hips so far (legs) from above the feet: nobody could stand like this.
BEHIND = 0.33
# Seconds in the air that are a jump and no step of a run, the height of both feet that goes with it, and what is shown
# of leaving the ground and of landing. In the air the hips are drawn down by at least so much (legs per second²).
FLIGHT, OFF_GROUND, AROUND, ARC = 0.25, 0.07, 0.3, 4.0
# Who falls loses so much of the height of the hips in so many seconds, and ends below where one crouches.
LOSES, WITHIN = 0.35, 0.7

NEEDED = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("thigh", "foot"))
MEASURED = ("idle", "walk", "run", "crouch", "strafe", "backward", "turn", "jump", "fall", "sit")


def kinds_of(clip, character):
    """{one of MEASURED: (F,) whether each frame shows it}; kinds that do not occur are left out.

    clip: as prepare.clean() makes it, with the root as joint 0 and contacts
    """
    character = replace(character, skeleton=clip.skeleton)
    if len(clip) < 3 or not _has_legs(character):
        return {}
    seen = _Seen(clip, character)
    moving, fast = seen.speed > MOVING, seen.speed > np.sqrt(FROUDE * GRAVITY * character.size / seen.leg)
    low = (seen.height < CROUCHED) & (seen.height > LIES) & ~fast  # who runs goes low, too
    air, fallen = seen.in_the_air(), seen.falling()
    if character.four_legged:  # whose hips say little
        low, fallen = low & False, fallen & False
        air = air & False
    upright = (seen.height > LIES) & ~low & ~air & ~fallen
    way, turn, sits = np.abs(seen.way), seen.turning(), np.zeros(len(clip), dtype=bool)
    for start, stop in runs(low):  # with sitting down and getting up
        sits[start:stop] = 2 * (seen.still & (seen.behind > BEHIND))[start:stop].sum() > stop - start
    found = {
        "idle": upright & seen.still & ~turn, "walk": upright & moving & ~fast, "run": upright & moving & fast,
        "crouch": low & ~sits & ~air & ~fallen, "sit": sits,
        "strafe": moving & ~air & (way > SIDEWAYS) & (way < BACKWARD), "backward": moving & ~air & (way >= BACKWARD)}
    found = {name: lasting(mask, clip.rate) for name, mask in found.items()}
    found |= {"turn": turn, "jump": air, "fall": fallen}
    return {name: found[name] for name in MEASURED if found[name].any()}


def still(clip, character):
    """(F,) whether nothing moves but breath, whatever the pose; None where no legs are known to tell it by."""
    character = replace(character, skeleton=clip.skeleton)
    return _Seen(clip, character).still if _has_legs(character) else None


def _has_legs(character):
    return all(map(character.has, NEEDED)) and character.leg > 0


def lasting(mask, rate, shortest=SHORTEST):
    """(F,) the same without gaps, and then without stretches, that are shorter than so many seconds. What reaches an
    end of the clip may go on beyond it."""
    most, filled = shortest * rate, mask.copy()
    for start, stop in runs(~mask):
        if stop - start < most and start > 0 and stop < len(mask):
            filled[start:stop] = True
    for start, stop in runs(filled):
        if stop - start < min(most, len(mask)):
            filled[start:stop] = False
    return filled


class _Seen:
    """What is measured of a clip: each is (F,), lengths in legs.

    speed, way  of the root over the ground; the direction that it goes, from where it faces (rad, left is positive)
    spin        how fast it turns (rad/s, left is positive)
    height      of the hips, where 1 is on straight legs
    behind      how far the hips are from above the feet
    still       whether nothing moves but breath
    """

    def __init__(self, clip, character):
        self._rate, self._contacts = clip.rate, clip.contacts
        places, turns = clip.globals()
        self.leg = character.leg
        feet = character.contact_places(places, turns)[:, :2] / self.leg
        ankles = places[:, [character.joint(f"{side}_foot") for side in ("left", "right")]] / self.leg
        hips = places[:, [character.joint(f"{side}_thigh") for side in ("left", "right")]].mean(axis=1) / self.leg
        # The lowest that feet are while they stand is the ground, and ankles are a little above it.
        stands = clip.contacts[:, :2].any(axis=1)
        self._low = feet[..., 2].min(axis=1)
        ground = np.median(self._low[stands]) if stands.any() else np.percentile(self._low, 5)
        self._low = self._low - ground
        ankle = np.percentile(ankles[..., 2].min(axis=1), 20) - ground
        self.height = (hips[:, 2] - ground) / (1 + max(ankle, 0.0))
        self.behind = np.linalg.norm(hips[:, :2] - ankles[..., :2].mean(axis=1), axis=-1)
        velocity = self._smooth(np.gradient(places[:, 0, :2] / self.leg, axis=0) * clip.rate)
        yaws = np.unwrap(quat.to_yaw(turns[:, 0]))
        self.spin = self._smooth(np.gradient(yaws) * clip.rate)
        self.speed = np.linalg.norm(velocity, axis=-1)
        seen = quat.inv_rotate(turns[:, 0], np.column_stack([velocity, np.zeros(len(velocity))]))
        self.way = np.arctan2(-seen[:, 0], seen[:, 1])
        speeds = np.linalg.norm(np.gradient(places / self.leg, axis=0), axis=-1) * clip.rate
        self.still = (self._smooth(speeds.mean(axis=1)) < STILL) & (self.speed < CREEPING) & (np.abs(self.spin) < FACES)

    def turning(self):
        """(F,) the stretches in which the body turns round."""
        turning = np.abs(self.spin) > np.where(self.speed < MOVING, ON_THE_SPOT, TURNS)
        mask = np.zeros(len(self.spin), dtype=bool)
        for way in (1, -1):
            for start, stop in runs(turning & (way * self.spin > 0)):
                if abs(self.spin[start:stop].sum()) / self._rate > TURNED:
                    mask[start:stop] = True
        return mask

    def in_the_air(self):
        """(F,) jumps, with leaving the ground and landing: both feet in the air for longer than in a step of a run."""
        mask, around = np.zeros(len(self.speed), dtype=bool), round(AROUND * self._rate)
        for start, stop in runs((self._low > OFF_GROUND) & ~self._contacts[:, :2].any(axis=1)):
            if (stop - start) / self._rate >= FLIGHT and self._falls_freely(start, stop):
                mask[max(start - around, 0):stop + around] = True
        return mask

    def _falls_freely(self, start, stop):
        """Whether the hips go along an arc between two frames: nothing carries them, as a stool or a rope would."""
        times = np.arange(stop - start) / self._rate
        return bool(2 * np.polyfit(times, self.height[start:stop], 2)[0] < -ARC)

    def falling(self):
        """(F,) from where somebody begins to go down to where they lie."""
        mask, steps = np.zeros(len(self.speed), dtype=bool), max(1, round(WITHIN * self._rate))
        if len(self.height) <= steps:
            return mask
        lost = self.height[:-steps] - self.height[steps:]
        for start, stop in runs((lost > LOSES) & (self.height[steps:] < LIES)):
            mask[start:stop + steps] = True
        return mask

    def _smooth(self, values):
        """The mean over SMOOTH seconds around each frame."""
        half = min(round(SMOOTH * self._rate / 2), (len(values) - 1) // 2)
        padded = np.concatenate([values[:1].repeat(half + 1, axis=0), values, values[-1:].repeat(half, axis=0)])
        total = padded.cumsum(axis=0, dtype=np.float64)
        return (total[2 * half + 1:] - total[:-(2 * half + 1)]) / (2 * half + 1)
