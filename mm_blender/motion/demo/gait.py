# SPDX-License-Identifier: GPL-3.0-or-later
"""How people step: cadence and stride from speed, footsteps beside the path, and each foot's way from one to the next.

A foot is described at the ball, its toe joint: that point stands still from touch to lift while the heel comes down
and goes up about it. Pitch is positive with the heel up.
"""

from dataclasses import dataclass, replace

import numpy as np

from .body import HEEL, SIDES, SOLE, TOES
from .curves import above_zero, between, bump, ease, smooth, travel
from .path import turned

CLEAR = 0.115  # metres that a swinging foot keeps to the side of the standing one
CREST = 0.2    # part of the swing after which the heel is highest
AIM = 0.7      # part of the swing after which the foot is turned for landing


@dataclass(frozen=True)
class Gait:
    """The manner of moving at each frame (F,): see manner()."""

    forward: np.ndarray    # m/s in the direction of the pelvis
    sideways: np.ndarray   # m/s to its left
    speed: np.ndarray      # m/s
    running: np.ndarray    # 0 walk to 1 run
    cross: np.ndarray      # 0 to 1: fast sidesteps in which the feet cross
    turn: np.ndarray       # radians by which pelvis and feet turn from the facing towards the way
    cadence: np.ndarray    # strides per second
    airborne: np.ndarray   # part of a stride that the ball of a foot is off the ground
    phase: np.ndarray      # strides so far; the left foot touches at whole numbers, the right one half-way


@dataclass(frozen=True)
class Steps:
    """One foot's N swings and the N + 1 stances before, between and after them."""

    side: int            # -1 left, 1 right
    lift: np.ndarray     # (N,) seconds
    touch: np.ndarray    # (N,) seconds
    spot: np.ndarray     # (N + 1, 2) where the ball stands in the world
    yaw: np.ndarray      # (N + 1,) where the foot points
    when: np.ndarray     # (N + 1,) seconds at which the root passes the foot

    @property
    def half_way(self):
        """(N,) seconds at which each swing is half over."""
        return (self.lift + self.touch) / 2


@dataclass(frozen=True)
class Foot:
    """One foot at each frame."""

    ball: np.ndarray      # (F, 3) metres in the world
    yaw: np.ndarray       # (F,) radians in the world
    pitch: np.ndarray     # (F,) radians, heel up
    toes: np.ndarray      # (F,) radians, pitch of the toes
    contact: np.ndarray   # (F,) whether the ball stands on the ground


def plan(path):
    """The gait along a path, and its left and right foot."""
    gait, swings = manner(path)
    left, right = (_place(path, gait, *swing, side) for swing, side in zip(swings, SIDES))
    left, right = _apart(path, gait, left, right), _apart(path, gait, right, left)
    return gait, (_foot(path, gait, left, right), _foot(path, gait, right, left))


def manner(path):
    """The gait at each frame, and for each foot the times (N,) of lifts and touches."""
    ahead, left = turned(path.velocity, -path.yaw).T[::-1] * np.array([[1], [-1]])
    speed = np.hypot(ahead, left)
    running = between(speed, 1.65, 2.15)
    spin = smooth(np.abs(np.gradient(path.yaw, 1 / path.rate)), 0.1, path.rate)
    cross = between(np.abs(left), 0.8, 1.1) * (1 - running) * (1 - between(spin, 0.2, 1.0))
    turn = np.radians(25) * 2 * ahead * left / (speed**2 + 0.2) * (1 - cross) + np.radians(65) * np.sign(left) * cross
    forward, sideways = ahead * np.cos(turn) + left * np.sin(turn), left * np.cos(turn) - ahead * np.sin(turn)

    backward = between(-forward, 0.1, 0.5)
    aside = between(np.abs(sideways), 0.1, 0.7)
    walk = np.maximum(0.56 + 0.29 * speed, 0.8) + 0.12 * backward + 0.1 * path.crouching
    walk = walk + aside * (0.6 - 0.5 * cross)
    walk = np.maximum(walk, np.minimum(0.8 + 0.17 * spin, 1.35))
    run = 1.10 + 0.10 * speed
    hurry = np.abs((path.acceleration * path.velocity).sum(-1)) / (speed + 0.3)  # steps are short while speed changes
    cadence = smooth(walk + (run - walk) * running + 0.14 * hurry, 0.1, path.rate)
    airborne = 0.455 + 0.025 * np.clip(speed - 0.8, 0, 1) + running * (0.17 + 0.05 * (speed - 2.5))
    airborne = smooth(airborne, 0.1, path.rate)

    phase = np.zeros(len(path.times))
    swings = ([], [])
    for stretch in path.steps:
        strides = _phase(path, stretch, cadence, airborne)
        start = path.times[0] if stretch.start is None else stretch.start
        phase = np.where(path.times >= start, strides, phase)
        for k in (0, 1):
            swings[k].append(_swings(path, stretch, strides, airborne, 0.5 * k))
    swings = [np.concatenate(swing, axis=1) if swing else np.zeros((2, 0)) for swing in swings]
    return Gait(forward, sideways, speed, running, cross, turn, cadence, airborne, phase), swings


def _phase(path, stretch, cadence, airborne):
    """Strides so far (F,), shifted and stretched so that first lift and last touch fall where they should."""
    phase = np.concatenate([[0], np.cumsum((cadence[1:] + cadence[:-1]) / (2 * path.rate))])
    offset = 0.5 if stretch.first == "right" else 0.0
    if stretch.cycles:
        phase *= stretch.cycles / (path.at(phase, path.duration) - path.at(phase, 0.0))
    if stretch.start is None:
        return phase - path.at(phase, stretch.at if stretch.stop is None else stretch.stop) + offset
    phase -= path.at(phase, stretch.start)
    swing = path.at(airborne, stretch.start)
    if stretch.stop is not None:
        strides = path.at(phase, stretch.stop)
        phase *= (max(np.round(2 * (strides - swing)) / 2, 0.5) + swing) / strides
    return phase + offset - swing


def _swings(path, stretch, phase, airborne, offset):
    """Lifts and touches (2, N) of the foot that touches at whole phases plus offset."""
    start = path.times[0] if stretch.start is None else stretch.start
    stop = path.times[-1] if stretch.stop is None else stretch.stop
    low, high = path.at(phase, np.array([start, stop]))
    touches = np.arange(np.ceil(low - offset), np.floor(high - offset + 1e-6) + 1) + offset
    when = np.interp(touches, phase, path.times)
    lifts = touches - path.at(airborne, np.interp(touches - 0.3, phase, path.times))
    keep = touches > low + 0.2  # a shorter swing would have begun before the stretch
    return np.stack([np.interp(np.maximum(lifts, low), phase, path.times), when])[:, keep]


def _place(path, gait, lift, touch, side):
    """Steps beside the path: a foot stands where the root passes in the middle of its stance."""
    begin, end = np.append(path.times[0], touch), np.append(lift, path.times[-1])
    middle = (begin + end) / 2
    middle[0], middle[-1] = path.times[0], path.times[-1]  # standing, or far outside the clip
    forward, sideways = path.at(gait.forward, middle), path.at(gait.sideways, middle)
    running, crouch = path.at(gait.running, middle), path.at(path.crouching, middle)
    brisk = between(np.abs(forward), 0.0, 1.3)

    width = 0.10 - 0.042 * brisk - 0.023 * running + 0.04 * crouch
    spread = (0.5 * np.abs(sideways) / path.at(gait.cadence, middle) + CLEAR) / 2
    width = width + above_zero(spread - width, 0.02) * (1 - path.at(gait.cross, middle))
    reach = 0.10 - np.where(forward > 0, 0.08, 0.05) * brisk - 0.02 * running
    reach = reach + 0.06 * side * np.sign(sideways) * path.at(gait.cross, middle)
    yaw = path.at(path.yaw, middle) + path.at(gait.turn, middle)
    ball = path.at(path.position, middle) + turned(np.stack([side * width, reach], axis=-1), yaw)
    # Feet trail behind a push and land on the outside of a curve: the body leans over them.
    push = path.at(path.acceleration, middle) * 0.04
    ball -= push * np.minimum(1, 0.13 / np.maximum(np.hypot(*push.T), 1e-9))[:, None]
    out = np.radians(8 - 4 * brisk - 2 * running + 6 * crouch)
    return Steps(side, lift, touch, ball, yaw - side * out, middle)


def _apart(path, gait, steps, other):
    """The steps, moved outward where the foot would come down beside the standing one and too close to it."""
    standing = np.searchsorted(other.touch, steps.touch, side="right")
    yaw = (steps.yaw[1:] + other.yaw[standing]) / 2
    gap, ahead = turned(steps.spot[1:] - other.spot[standing], -yaw).T
    beside = (1 - between(np.abs(ahead), 0.1, 0.35)) * (1 - path.at(gait.cross, steps.touch))
    push = steps.side * beside * above_zero(0.16 - steps.side * gap, 0.01)
    spot = steps.spot.copy()
    spot[1:] += turned(np.stack([push, 0 * push], axis=-1), yaw)
    return replace(steps, spot=spot)


def _foot(path, gait, steps, other):
    """The foot at each frame: standing, and swinging from spot to spot."""
    count = len(steps.lift)
    now = path.times + 1e-6  # so that rounding cannot decide on which side of a touch a frame lies
    if count == 0:
        zero = np.zeros(len(now))
        ball = np.tile(np.append(steps.spot[0], SOLE), (len(now), 1))
        return Foot(ball, zero + steps.yaw[0], zero, zero, zero == 0)

    stance = np.searchsorted(steps.touch, now, side="right")  # the one that is, or that the swing came from
    k = np.minimum(stance, count - 1)                         # the swing that is, or that comes next
    u = np.clip((now - steps.lift[k]) / (steps.touch - steps.lift)[k], 0, 1)
    u = np.where(stance == count, 1.0, u)
    contact = (u == 0) | (u == 1)

    speed, running = path.at(gait.speed, steps.half_way), path.at(gait.running, steps.half_way)
    go = travel(u, 0.34, 0.57 - 0.24 * running[k])
    spot = steps.spot[k] + (steps.spot[k + 1] - steps.spot[k]) * go[:, None]
    spot = spot + _bow(path, gait, steps, other)[k] * bump(u, 0.5)[:, None]
    yaw = steps.yaw[k] + (steps.yaw[k + 1] - steps.yaw[k]) * go

    pitch, toes, onward = _pitch(path, gait, steps, stance, k, u)
    high = 0.042 - 0.02 * onward + 0.02 * path.at(path.crouching, steps.half_way)
    early = high + running * (0.075 + 0.02 * (speed - 2.5))
    late = running * (0.12 + 0.03 * (speed - 2.5))
    # Neither heel nor toes may go into the ground, however the foot is turned.
    soft = 0.05 * bump(u, 0.5)
    heel = above_zero(-HEEL * np.sin(pitch) - SOLE * (1 - np.cos(pitch)), soft)
    tip = above_zero(TOES * np.sin(toes) - SOLE * (1 - np.cos(toes)), soft)
    height = early[k] * bump(u, 0.38) + late[k] * bump(u, 0.73) + (heel + tip) * ~contact
    return Foot(np.column_stack([spot, SOLE + height]), yaw, pitch, toes, contact)


def _pitch(path, gait, steps, stance, k, u):
    """Pitch of the foot and of the toes (F,), and how much each swing goes forward (N,).

    Down from the landing, flat, up to a crest just after the lift, then towards the next landing: heel first forward,
    ball first sideways and backward.
    """
    count, now = len(steps.lift), path.times
    speed, running = path.at(gait.speed, steps.half_way), path.at(gait.running, steps.half_way)
    crouch = path.at(path.crouching, steps.half_way)
    ahead = path.at(gait.forward, steps.half_way) / np.maximum(speed, 0.3)
    onward, back = np.clip(ahead, 0, 1), np.clip(-ahead, 0, 1)
    pace = between(speed, -0.5, 1.3)
    crest = np.radians(16 + 52 * onward * pace + 18 * running + 10 * back) * (1 - 0.3 * crouch)
    heel_first = np.radians(21) * onward * pace * (1 - 0.75 * running) * (1 - 0.6 * crouch)
    ball_first = np.radians(4 + 18 * back) * (1 - np.clip(onward * 1.6, 0, 1)) * between(speed, 0.1, 0.5)
    landing = ball_first - heel_first

    begin, end = np.append(-np.inf, steps.touch)[stance], np.append(steps.lift, np.inf)[stance]
    length, after = end - begin, CREST * (steps.touch - steps.lift)[k]
    rise = ease(1 - np.maximum(end + after - now, 0) / (np.minimum(0.52 * length, 0.3) + after))
    lowered = 1 - ease((now - begin) / np.minimum(0.3 * length, 0.16))
    standing = crest[k] * rise * (stance < count) + np.append(0, np.maximum(landing, 0))[stance] * lowered

    aim = landing[k]
    swinging = crest[k] + (aim - crest[k]) * between(u, CREST, AIM) - np.minimum(aim, 0) * between(u, AIM, 1.0)
    swinging = np.where(u > CREST, swinging, crest[k] * rise)
    contact = (u == 0) | (u == 1)
    pitch = np.where(contact, standing, swinging)
    loose = ease(u / 0.55) * np.where(aim > 0, 1 - between(u, 0.6, 0.95), 1)
    return pitch, np.where(contact, 0, pitch * loose), onward


def _bow(path, gait, steps, other):
    """(N, 2) how far aside each swing bends: along the path's own curve, and around the standing foot."""
    way = steps.spot[1:] - steps.spot[:-1]
    length = np.hypot(*way.T)
    root = path.at(path.position, steps.when)
    curve = path.at(path.position, steps.half_way) - (root[1:] + root[:-1]) / 2
    across = turned(way, np.pi / 2) / np.maximum(length, 0.3)[:, None]
    curve = across * (curve * across).sum(-1, keepdims=True)

    # Feet that cross pass before and behind each other, others beside.
    cross = path.at(gait.cross, steps.half_way)
    before = steps.side * np.sign(path.at(gait.sideways, steps.half_way))
    out = np.stack([steps.side * (1 - cross), before * cross], axis=-1)
    out = turned(out, (steps.yaw[1:] + steps.yaw[:-1]) / 2)
    standing = other.spot[np.searchsorted(other.touch, steps.half_way, side="right")] - steps.spot[:-1]
    along = np.clip((standing * way).sum(-1) / np.maximum(length**2, 1e-9), 0, 1)
    gap = ((along[:, None] * way + curve - standing) * out).sum(-1)
    passing = between(length, 0.1, 0.3)
    return curve + out * (passing * above_zero(CLEAR + 0.165 * cross - gap, 0.01))[:, None]
