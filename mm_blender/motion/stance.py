# SPDX-License-Identifier: GPL-3.0-or-later
"""How a character stands: the pose in which two of them are compared."""

from dataclasses import dataclass

import numpy as np

from ..errors import MotionError
from . import quat
from .skeleton import backward, forward
from .sole import sole_of

SIDES = ("left", "right")
# A rest pose whose feet are further (share of the hips' height) from the ground has its origin elsewhere.
OFF_GROUND = 0.2
# So many frames of a motion are looked at, about, to see how someone stands.
SAMPLES = 6000
# A foot that stands higher or lower by more (m) stands on something else than the ground.
STEP = 0.06
# So many frames in contact at least tell how a foot stands.
FLAT = 5
# Hips are turned to one side by at most so much (sine) to bring both ankles to the heights at which they stand.
TILT = 0.1


@dataclass(frozen=True, eq=False)
class Stance:
    """A pose in which a character stands, seen from its root.

    positions  (J, 3) of the joints
    rotations  (J, 4) of the joints
    heights    (2,) of the left and the right toe while it stands: of the sole where there are no toes
    """

    positions: np.ndarray
    rotations: np.ndarray
    heights: np.ndarray

    def bearing(self, heights):
        """The same, so high that toes are at these heights (2,), on average."""
        up = np.array([0, 0, np.mean(heights) - np.mean(self.heights)])
        return Stance(self.positions + up, self.rotations, np.asarray(heights))


def rest_stance(character):
    """The rest pose of a character with a root as a Stance."""
    return stance_in(character, *character.skeleton.rest)


def stance_in(character, positions, rotations):
    """A pose of a character with a root, positions (J, 3) and rotations (J, 4) in its space, as a Stance."""
    positions, rotations = from_root(positions, rotations)
    if not _stands(character, positions):
        raise MotionError(f'The character with the bone "{character.roles["hips"]}" does not stand in its rest pose: '
                          "give a pose in which it does.")
    heights = soles(character, positions, rotations)[:, 2]
    lowest = heights.min()
    # Files often have their origin in the hips.
    if abs(lowest) > OFF_GROUND * (positions[character.joint("hips"), 2] - lowest):
        positions[:, 2] -= lowest
        heights = heights - lowest
    return Stance(positions, rotations, heights)


def find_stance(character, clips):
    """How a character with a root stands, from its clean clips: the rest pose if it stands in it, or
    else the mean of the frames in which it is most upright and still, arms hanging. Feet and ground as in the clips."""
    clips = list(clips)
    stands = _stands(character, from_root(*character.skeleton.rest)[0])
    if not clips or (stands and not any(clip.contacts is not None and clip.contacts.any() for clip in clips)):
        return rest_stance(character)
    frames = _Frames(character, clips)
    stance = rest_stance(character) if stands else frames.mean(frames.score().argsort()[:max(20, len(frames) // 100)])
    return frames.level(frames.flat(stance)).bearing(frames.heights)


def _stands(character, positions):
    """Whether this is a pose in which a character stands: some files' zero pose is a line."""
    for side in SIDES:
        joints = [character.joint(f"{side}_{part}") for part in ("foot", "shin", "thigh")]
        steps = np.diff(positions[joints], axis=0)
        if (steps[:, 2] < 0.5 * np.linalg.norm(steps, axis=-1)).any():
            return False
    return True


class _Frames:
    """Some frames of clips, seen from the root."""

    def __init__(self, character, clips):
        self._character = character
        step = max(1, sum(map(len, clips)) // SAMPLES)
        rotations, positions, moved, contacts = [], [], [], []
        for clip in clips:
            frames = np.arange(0, max(len(clip) - 1, 1), step)
            now, later = (seen_from_root(clip.skeleton, clip.positions[some], clip.rotations[some])
                          for some in (frames, np.minimum(frames + 1, len(clip) - 1)))
            positions.append(now[0])
            rotations.append(now[1])
            moved.append(np.linalg.norm(later[0] - now[0], axis=-1).mean(axis=-1) * clip.rate)
            contacts.append(np.zeros((len(frames), 2), dtype=bool) if clip.contacts is None else clip.contacts[frames])
        self.positions, self.rotations, self._moved, self._contacts = map(
            np.concatenate, (positions, rotations, moved, contacts))

    def __len__(self):
        return len(self.positions)

    @property
    def heights(self):
        """(2,) of toes while they stand: on the lowest ground, where there are several."""
        toes = soles(self._character, self.positions, self.rotations)[..., 2]
        stands = [column[contact] if contact.any() else np.sort(column)[:len(column) // 10 + 1]
                  for column, contact in zip(toes.T, self._contacts.T)]
        heights = np.array([np.median(column) if np.ptp(np.percentile(column, (10, 90))) < STEP
                            else np.percentile(column, 10) for column in stands])
        return np.minimum(heights, heights.min() + STEP / 2)

    def score(self):
        """(F,) how little each frame looks like someone who stands."""
        place = {role: self.positions[:, self._character.joint(role)] for role in self._character.roles
                 if self._character.has(role)}
        tall = np.percentile(place["hips"][:, 2], 95)
        score = self._moved / 0.2 + 10 * np.abs(1 - place["hips"][:, 2] / tall) + (~self._contacts).sum(axis=1)
        score += np.abs(place["left_foot"] - place["right_foot"])[:, 1] / (0.3 * tall)
        if "head" in place:
            score += 3 * np.linalg.norm((place["head"] - place["hips"])[:, :2], axis=-1) / tall
        for side in SIDES:
            if f"{side}_hand" in place and f"{side}_upper_arm" in place:
                arm = place[f"{side}_hand"] - place[f"{side}_upper_arm"]
                score += 2 * (1 + arm[:, 2] / np.maximum(np.linalg.norm(arm, axis=-1), 1e-6))
        return score

    def mean(self, frames):
        """The Stance that these have in common."""
        skeleton = self._character.skeleton
        turns = _mean(self.rotations[frames])
        places = skeleton.positions.astype(np.float64)
        hips = self._character.joint("hips")
        places, _ = forward(skeleton, places[None], backward(skeleton, places[None], turns[None])[1])
        places = places[0] + self.positions[frames, hips].mean(axis=0) - places[0, hips]
        places[0] = 0
        return Stance(places, turns, soles(self._character, places, turns)[:, 2])

    def flat(self, stance):
        """The stance with feet that are flat on the ground, as they are in these frames: in a rest pose they may be
        turned along with legs that are apart."""
        character, turns, places = self._character, stance.rotations.copy(), stance.positions.copy()
        ankles = [character.joint(f"{side}_foot") for side in SIDES]
        own = soles(character, places, turns) - places[ankles]
        feet = soles(character, self.positions, self.rotations) - self.positions[:, ankles]
        for at, (foot, contacts) in enumerate(zip(ankles, self._contacts.T)):
            if not own[at].any() or contacts.sum() < FLAT:
                continue
            rise = np.where(contacts, -feet[:, at, 2], np.inf)
            frames = rise.argsort()[:max(FLAT, contacts.sum() // 3)]
            back, heading = quat.from_yaw(-quat.yaw(feet[frames, at])), quat.from_yaw(quat.yaw(own[at]))
            toe = toes_of(character)[at]
            for joint in {foot, toe}:
                turns[joint] = quat.mul(heading, _mean(quat.mul(back, self.rotations[frames, joint])))
            if toe != foot:
                places[toe] = places[foot] + quat.rotate(turns[foot], character.skeleton.positions[toe])
        return Stance(places, turns, soles(character, places, turns)[:, 2])

    def level(self, stance):
        """The stance with hips as they are while both feet are flat on the ground, turned to the side: no two legs are
        of the same length, and a rest pose does not tell which hip is higher."""
        character, turns, places = self._character, stance.rotations.copy(), stance.positions.copy()
        thighs, ankles = ([character.joint(f"{side}_{part}") for side in SIDES] for part in ("thigh", "foot"))
        if self._contacts.sum(axis=0).min() < FLAT:
            return stance
        ground = self.heights + places[ankles, 2] - soles(character, places, turns)[:, 2]
        across, middle = places[thighs[1]] - places[thighs[0]], places[thighs].mean(axis=0)
        sine = (ground[1] - ground[0] - across[2]) / max(np.linalg.norm(across), 1e-6)
        turn = quat.from_angle_axis(np.arcsin(np.clip(sine, -TILT, TILT)), np.array([0.0, -1.0, 0.0]))
        hips = character.joint("hips")
        for thigh in thighs:
            way = middle + quat.rotate(turn, places[thigh] - middle) - places[thigh]
            places[_below(character.skeleton, thigh)] += way
        for joint in {hips, *(joint for thigh in thighs for joint in character.skeleton.path(hips, thigh)[:-1])}:
            turns[joint] = quat.mul(turn, turns[joint])
        return Stance(places, turns, soles(character, places, turns)[:, 2])


def _below(skeleton, top):
    """A joint and all that hangs from it."""
    return [joint for joint in range(top, len(skeleton)) if top in skeleton.ancestors(joint)]


def _mean(turns):
    """The rotations (…, 4) in the middle of near ones (F, …, 4)."""
    turns = np.asarray(turns, dtype=np.float64)
    return quat.normalize(np.where((turns * turns[:1]).sum(axis=-1, keepdims=True) < 0, -turns, turns).mean(axis=0))


def seen_from_root(skeleton, positions, rotations):
    """Positions (F, J, 3) and rotations (F, J, 4) of joints seen from the root, from local ones."""
    positions, rotations = positions.copy(), rotations.copy()
    positions[:, 0], rotations[:, 0] = 0, quat.identity()
    return forward(skeleton, positions, rotations)


def ends_of(character):
    """(2, 3) where on the joints of toes_of() its feet stand."""
    return np.array([(0.0, 0.0, 0.0) if character.has(f"{side}_toe") else sole_of(character, side) for side in SIDES])


def toes_of(character):
    """(2,) the joints with which its feet stand: toes, or feet where there are none."""
    return np.array([character.joint(f"{side}_{'toe' if character.has(f'{side}_toe') else 'foot'}") for side in SIDES])


def soles(character, positions, rotations):
    """(…, 2, 3) where its feet touch the ground, from where its joints are (…, J, 3) and how they are turned
    (…, J, 4)."""
    joints = toes_of(character)
    return positions[..., joints, :] + quat.rotate(rotations[..., joints, :], ends_of(character))


def from_root(positions, rotations):
    """Positions and rotations (J, …) in the character's space as seen from joint 0."""
    back = quat.inv(rotations[:1])
    return quat.rotate(back, positions - positions[:1]), quat.mul(back, rotations)
