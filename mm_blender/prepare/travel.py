# SPDX-License-Identifier: GPL-3.0-or-later
"""In-place clips: the hips stay while the feet slide backwards. Feet that stand tell how fast it should travel.

A foot that stands on the ground moves backwards, seen from hips that stay, as fast as the character should go forwards:
its velocity with the sign reversed is the missing travel. Which foot stands in a clip that slides all over cannot be
seen from its speed, as contacts.py does it; but it is low, and low feet agree with one another.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..motion import quat
from .resample import closed

# Shares of a leg's length: how high above its lowest a foot still stands, about, and how far per second a character
# travels at least. Who stands, looks about and shifts weight has feet that stay.
LOW, SLOWEST = 0.03, 0.25
# The hips of an in-place clip go no further than this share of what its feet tell, and so slow are its feet on average:
# whatever slides backwards has come forwards again.
STAYS, RETURNS = 0.25, 0.4
# Low feet agree that go the same way: at this share of the middle speed of all of them at least, and no further aside
# than that. So many of them have to, on each side: dancers and those who turn on the spot put their feet anywhere. Only
# those count for the travel that are no further from the middle than the second share of it: others are on their way.
SAME_WAY, ALIKE, AGREE = 0.3, 0.5, 0.7
# Seconds over which the travel is smoothed, and how much (of one foot that stands) the mean travel counts in each
# frame: through the flight of a run it alone carries on.
SMOOTH, BRIDGE = 0.04, 0.05
# A foot that goes aside from the others, up or down by this share of the speed counts half; so often that is found.
STEADY, ROUNDS = 0.1, 5
# A foot that stands for less than this share of a clip hardly does; then it stands below this share of the speed.
HARDLY, LOOSE = 0.1, 0.25
# The roles without which nothing can be told.
NEEDED = ("hips", "left_thigh", "right_thigh", "left_foot", "right_foot")


@dataclass(frozen=True)
class Travel:
    """Where to an in-place clip should go, as its feet tell: velocity x, y on the ground, m/s."""

    velocity: tuple

    @property
    def speed(self):
        return float(np.hypot(*self.velocity))

    def faster(self, factor):
        """The same of a clip that is played so many times as fast."""
        return Travel(tuple(factor * part for part in self.velocity))


def find_travel(raw, character):
    """The Travel that a clip lacks; None if its hips travel, if it stands, or if its feet agree on nothing."""
    clip, character = closed(raw), replace(character, skeleton=raw.skeleton)
    if len(clip) < 4 or len(character.limbs) < 2 or not all(map(character.has, NEEDED)):
        return None
    feet = _Feet(clip, character)
    middle = feet.middle()
    speed = np.linalg.norm(middle)
    hips = clip.globals()[0][[0, -1], character.joint("hips"), :2]
    if speed < SLOWEST * character.leg or np.linalg.norm(hips[1] - hips[0]) > STAYS * speed * clip.duration:
        return None
    if np.linalg.norm(feet.velocities.mean(axis=0), axis=-1).max() > RETURNS * speed:
        return None
    if feet.agree(middle).min() < AGREE:
        return None
    return Travel(tuple((-middle).tolist()))


def give_travel(clip, character, travel, factor=1.0):
    """The clip with its feet standing and its body travelling; so many times as fast as its feet tell."""
    steps = factor * _Feet(clip, character).travel(np.array(travel.velocity))
    positions = clip.positions.copy()
    positions[1:, 0, :2] += np.cumsum(steps, axis=0) / clip.rate
    return clip.with_changes(positions=positions)


def with_loose_contacts(clip, character, travel):
    """The clip with contacts of feet that hardly ever stand: while they are low and as good as still. In drawn cycles
    the feet do not all go back as one, and none stands as exactly as contacts.py asks."""
    feet, contacts = _Feet(clip, character), clip.contacts.copy()
    tagged = {tag.name for tag in clip.tags}
    slow = np.linalg.norm(feet.velocities, axis=-1) < LOOSE * travel.speed
    stands = slow & (feet.weights > 0.5) & (np.abs(feet.rising) < LOOSE * travel.speed)
    for column, limb in enumerate(character.limbs):
        if contacts[:, column].mean() < HARDLY and f"contact.{limb.tag}" not in tagged:
            contacts[1:, column] |= stands[:, column]
            contacts[:-1, column] |= stands[:, column]
    return clip.with_changes(contacts=contacts)


def ahead(clip, character, speed):
    """The Travel to where the hips face, for a clip of which only the artist knows that it travels."""
    positions, _ = clip.globals()
    right = positions[:, character.joint("right_thigh")] - positions[:, character.joint("left_thigh")]
    facing = quat.cross(quat.AXES[2], right).mean(axis=0)[:2]
    return Travel(tuple((speed * facing / max(np.linalg.norm(facing), 1e-6)).tolist()))


class _Feet:
    """What the feet of a clip do between its frames.

    velocities  (F - 1, C, 2) over the ground
    rising      (F - 1, C) upwards
    weights     (F - 1, C) how much each looks as if it stood
    """

    def __init__(self, clip, character):
        # The joints themselves: where a bone ends is a guess in some files, and what turns as it swings would be lowest
        # then.
        joints = [clip.skeleton.index(character.roles[limb.contact]) for limb in character.limbs]
        places = clip.globals()[0][:, joints].astype(np.float64)
        heights = places[..., 2] - np.percentile(places[..., 2], 2, axis=0)
        rise = (heights[1:] + heights[:-1]) / 2 / (LOW * character.leg)
        self.rising = np.diff(places[..., 2], axis=0) * clip.rate
        self.velocities = np.diff(places[..., :2], axis=0) * clip.rate
        self.weights = np.exp(-np.maximum(rise, 0) ** 2 / 2)
        self._rate, self._loop = clip.rate, clip.loop

    def middle(self):
        """(2,) the velocity of low feet on which most of them agree: their geometric median."""
        velocities, weights = self.velocities.reshape(-1, 2), self.weights.ravel()
        middle = np.array([_median(velocities[:, axis], weights) for axis in (0, 1)])
        for _ in range(20):  # Weiszfeld's steps
            near = weights / np.maximum(np.linalg.norm(velocities - middle, axis=-1), 1e-3)
            middle = near @ velocities / near.sum()
        return middle

    def agree(self, middle):
        """(C,) how much of what is low goes the same way."""
        speed = np.linalg.norm(middle)
        along, aside = self.velocities @ middle / speed, self.velocities @ (middle[[1, 0]] * (1, -1)) / speed
        same = (along > SAME_WAY * speed) & (np.abs(aside) < np.maximum(along, speed) * ALIKE)
        return (self.weights * same).sum(axis=0) / self.weights.sum(axis=0)

    def travel(self, velocity):
        """(F - 1, 2) how the body travels so that low feet stand, smoothed: with such a velocity where none is low."""
        speed = np.linalg.norm(velocity)
        # Feet that come down or peel off are low, too, but they also rise or sink, and do not go along with the others.
        weights = self.weights * self._near(-velocity) / (1 + (self.rising / (STEADY * speed)) ** 2)
        steps = velocity
        for _ in range(ROUNDS):
            apart = np.linalg.norm(-self.velocities - np.reshape(steps, (-1, 1, 2)), axis=-1)
            steps = self._smoothed(weights / (1 + (apart / (STEADY * speed)) ** 2), velocity)
        return steps

    def _smoothed(self, weights, velocity):
        told = np.concatenate([(weights[..., None] * -self.velocities).sum(axis=1), weights.sum(axis=1)[:, None]], -1)
        told = _smooth(told, SMOOTH * self._rate, self._loop)
        return (told[:, :2] + BRIDGE * velocity) / (told[:, 2:] + BRIDGE)

    def _near(self, velocity):
        return np.linalg.norm(self.velocities - velocity, axis=-1) < ALIKE * np.linalg.norm(velocity)


def _median(values, weights):
    order = values.argsort()
    return values[order][np.searchsorted(weights[order].cumsum(), weights.sum() / 2)]


def _smooth(values, width, loop):
    """Values (F, …) with a bell of this width in frames; a loop goes round."""
    half = max(1, round(3 * width))
    bell = np.exp(-(np.arange(-half, half + 1) / max(width, 1e-6)) ** 2 / 2)
    around = np.arange(-half, len(values) + half)
    padded = values[around % len(values)] if loop else np.pad(values, ((half, half), (0, 0)))
    return np.stack([np.convolve(column, bell / bell.sum(), "valid") for column in padded.T], axis=-1)
