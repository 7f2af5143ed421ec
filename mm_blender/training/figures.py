# SPDX-License-Identifier: GPL-3.0-or-later
"""How good networks are, in figures that a person understands, measured as they will be driven: in NumPy, float16."""

import numpy as np
import torch

from ..networks.network import Network
from ..networks.stepping import Stepping

# So many frames, windows and queries are looked at.
MOST = 4000
DRIFT = (0.25, 0.5, 1.0)
# Where queries are frames themselves, nothing is compared with a distance of nothing.
LEAST = 0.1
# Frames of going on from a start that is off by this share of what features and latents vary by.
FAR, NOISE = 120, 0.15
# What a figure may be at most for the verdicts "good" and "usable".
BOUNDS = {"joint_error_cm": (0.5, 1.5, "poses as stored are off by {:.2f} cm"),
          "new_motion_cm": (0.5, 1.5, "poses of new motion are off by {:.2f} cm"),
          "drift_1s_learned_cm": (3.0, 8.0, "motion that goes on by itself is off by {:.1f} cm after a second"),
          "projector_ratio": (1.15, 1.5, "jumps land {:.2f} times as far from what is wanted as the best frame")}


def of_new_motion(examples, kinematics, weights, latents):
    """Errors of poses that are new to the networks: frames that were held back, with latents (N, Z) as the Compressor
    makes them."""
    apart, _ = _joints_off(examples, kinematics, weights, latents, _held(examples))
    return _rounded({"new_motion_cm": apart.mean(), "new_motion_p95_cm": np.percentile(apart, 95)})


def of_stored(examples, kinematics, weights, latents):
    """Errors of poses as the file stores them, in frames that were held back: the Decompressor has not learned from
    them, but their latents (N, Z) were made better for these very poses (see refine.py)."""
    frames, parts = _held(examples), examples.layout.parts
    apart, rows = _joints_off(examples, kinematics, weights, latents, frames)
    true = examples.rows.cpu().numpy()[frames]
    travel = rows[:, parts["travel"]] - true[:, parts["travel"]]
    figures = {
        "joint_error_cm": apart.mean(), "joint_error_p95_cm": np.percentile(apart, 95),
        "root_velocity_error_cm_s": 100 * np.hypot(travel[:, 0], travel[:, 1]).mean(),
        "contacts_right": ((rows > 0) == (true > 0))[:, parts["contacts"]].mean(),
        "acceleration_ratio": _acceleration(examples, kinematics, weights, latents),
    }
    if examples.tags:
        signs = np.where(examples.combinations[0], 1, -1).T
        seen, has = (rows[:, parts["tags"]] @ signs).argmax(1), examples.combinations[1][frames]
        figures["tags_right"] = (seen == has)[has >= 0].mean()
    return _rounded(figures)


def worst_stored(examples, kinematics, weights, latents):
    """Which joint is farthest off of all that the file stores, and where: in which clip, at which of its seconds."""
    database, found = examples.database, []
    for frames in np.split(np.arange(len(examples)), range(MOST, len(examples), MOST)):
        apart, _ = _joints_off(examples, kinematics, weights, latents, frames)
        joint, frame = np.unravel_index(apart.argmax(), apart.shape)
        found.append((float(apart[joint, frame]), int(joint), int(frames[frame])))
    most, joint, frame = max(found)
    clip, seconds = database.clip_of(frame)
    return {**_rounded({"worst_cm": most, "worst_time": seconds}), "worst_clip": clip,
            "worst_joint": database.skeleton.names[np.concatenate(database.skeleton.levels)[joint]]}


class GoingOn:
    """How far joints are off where motion goes on by itself, in centimetres."""

    def __init__(self, examples, kinematics, decompressor, stepper, stride, latents):
        """stride: by how many frames the Stepper goes on at once."""
        self._examples, self._kinematics, self._states = examples, kinematics, _all_states(examples, latents)
        limits = np.stack([self._states.min(axis=0), self._states.max(axis=0)])
        self._stepping, self._show = Stepping(stepper.halved(), limits, stride), Network(decompressor.halved())

    def drift(self):
        """After some times, from frames that were held back; and, under names of their own, from frames that were
        learned from, which is what will mostly be played."""
        examples, lengths = self._examples, [round(seconds * self._examples.database.rate) for seconds in DRIFT]
        held, learned = (_some(examples.starts(lengths[-1], held), MOST // 4) for held in (True, False))
        starts, figures = np.append(held, learned), {}
        for seconds, off in zip(DRIFT, self._off(self._states[starts], starts, lengths)):
            for title, part in (("cm", off[:len(held)]), ("learned_cm", off[len(held):])):
                if len(part):
                    figures[f"drift_{seconds:g}s_{title}"] = part.mean()
        return _rounded(figures)

    def from_noise(self, noise=NOISE):
        """After each of FAR frames, the start too, from states with noise; from frames that were learned from, as the
        paper's are (section 6.2.1)."""
        starts = _some(self._examples.starts(FAR), MOST // 8)
        if not len(starts):
            return [float("nan")]
        states, noises = self._states[starts], np.random.default_rng(0).standard_normal
        states = states + noise * self._states.std(axis=0) * noises(states.shape, dtype=np.float32)
        return [float(off.mean()) for off in self._off(states, starts, range(FAR + 1))]

    def _off(self, states, starts, after):
        """(K,) after each of some numbers of frames that begin with states (K, D + Z), where frames (K,) are true."""
        last, true = max(after), self._examples.rows.cpu().numpy()
        rows = np.concatenate([states[None], self._stepping(states, last + last % 2)])
        frames = self._examples.window(starts, last)
        for at in after:
            wrong = _places(self._kinematics, self._show(rows[at])) - _places(self._kinematics, true[frames[at]])
            yield 100 * np.linalg.norm(wrong, axis=0).mean(axis=0)


def of_blends(examples, kinematics, decompressor, latents, playing, entered):
    """The share of poses half-way between frames (Q,) that are played and those that are jumped to, whose nearest
    frame is no farther than 95 % of neighbouring frames are from each other."""
    places, following = examples.places.cpu().numpy().reshape(len(examples), -1), examples.following
    pairs = _some(np.flatnonzero(following != np.arange(len(examples))))
    least = np.percentile(_apart(places[pairs], places[following[pairs]]), 95)
    some = _some(np.arange(len(playing)), MOST // 20)
    middle = (_states(examples, latents, playing[some]) + _states(examples, latents, entered[some])) / 2
    shown = _places(kinematics, Network(decompressor.halved())(middle)).transpose(2, 0, 1).reshape(len(some), -1)
    return float(np.mean([_apart(places, pose).min() <= least for pose in shown]))


def of_projector(stage, queries, limits, nearest):
    """How far the answers to queries (Q, D) are from them, as a share of how far the nearest frames (Q,) are; and how
    far the answers are from any frame at all, by the same measure."""
    rows = np.concatenate([queries, stage.limits.allowed[limits]], axis=1, dtype=np.float32)
    answers = Network(stage.weights().halved())(rows)[:, :queries.shape[1]].copy()
    weights, features = stage.search.weights, stage.examples.database.features
    distance = np.linalg.norm((answers - queries) * weights, axis=1)
    least = np.linalg.norm((features[nearest] - queries) * weights, axis=1)
    usual = max(least.mean(), LEAST)
    some = slice(None, None, max(1, len(queries) // 500))
    frames = stage.nearest(answers[some], limits[some])
    stray = np.linalg.norm((features[frames] - answers[some]) * weights, axis=1)
    return _rounded({"projector_ratio": distance.mean() / usual,
                     "projector_ratio_median": np.median(distance / np.maximum(least, 1e-6)),
                     "projector_stray": stray.mean() / usual})


def verdict(figures):
    """"good", "usable" or "not yet", and a sentence that says why."""
    worst, reasons = 0, []
    for name, (good, usable, text) in BOUNDS.items():
        value = figures.get(name)
        if value is not None and value > good:
            worst = max(worst, 2 if value > usable else 1)
            reasons.append(text.format(value))
    text = (f"{'; '.join(reasons).capitalize()}: more minutes make it better." if reasons
            else "Poses, steps and jumps are all close to the data.")
    return ("good", "usable", "not yet")[worst], f"{text} {_poses_in_words(figures)}".rstrip()


def _poses_in_words(figures):
    if "worst_cm" not in figures:
        return ""
    return ("Poses are off by {joint_error_cm:.2f} cm as stored and by {new_motion_cm:.2f} cm in new motion; most of "
            "all {worst_joint}, by {worst_cm:.1f} cm, in {worst_clip} at {worst_time:.2f} s.").format(**figures)


def _acceleration(examples, kinematics, weights, latents):
    """Mean acceleration of the joints, as a share of what it is in the data."""
    starts = _held(examples)
    after = examples.following[starts]
    last = examples.following[after]
    inside = (after != starts) & (last != after)
    windows = [frames[inside] for frames in (starts, after, last)]
    if not len(windows[0]):
        return 1.0
    mine = [_places(kinematics, _decompressed(examples, weights, latents, frames)) for frames in windows]
    true = [_places(kinematics, examples.rows.cpu().numpy()[frames]) for frames in windows]
    size = [np.linalg.norm(a - 2 * b + c, axis=0).mean() for a, b, c in (mine, true)]
    return size[0] / max(size[1], 1e-9)


def _held(examples):
    return _some(np.flatnonzero(examples.held))


def _joints_off(examples, kinematics, weights, latents, frames):
    """(J - 1, F) centimetres that joints are off, in the order of the tree's levels; and the rows of the poses."""
    rows = _decompressed(examples, weights, latents, frames)
    true = examples.rows.cpu().numpy()[frames]
    return 100 * np.linalg.norm(_places(kinematics, rows) - _places(kinematics, true), axis=0), rows


def _decompressed(examples, weights, latents, frames):
    return Network(weights.halved())(_states(examples, latents, frames))


def _states(examples, latents, frames):
    """Features and latents as the file keeps them."""
    return np.concatenate([examples.database.features[frames], latents[frames].astype(np.float16)], axis=1,
                          dtype=np.float32)


def _all_states(examples, latents):
    return _states(examples, latents, np.arange(len(examples)))


def _places(kinematics, rows):
    with torch.no_grad():
        return kinematics(torch.as_tensor(rows, device=kinematics.device))[0].cpu().numpy()


def _apart(places, others):
    """Mean distance of the joints in places (…, 3 J), components first."""
    wrong = (places - others).reshape(*places.shape[:-1], 3, -1)
    return np.sqrt(np.square(wrong).sum(axis=-2)).mean(axis=-1)


def _some(frames, most=MOST):
    return frames[::max(1, -(-len(frames) // most))]


def _rounded(figures):
    return {name: round(float(value), 4) for name, value in figures.items()}
