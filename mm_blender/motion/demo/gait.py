# SPDX-License-Identifier: GPL-3.0-or-later
"""How people step: cadence and stride from speed, footsteps beside the path, and each foot's way from one to the next.

A foot is described at the ball, its toe joint: that point stands still from touch to lift while the heel comes down
and goes up about it. Pitch is positive with the heel up.
"""

from dataclasses import dataclass

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
    stances = [_stances(path, gait, lift, touch, side) for (lift, touch), side in zip(swings, SIDES)]
    feet = [_foot(path, gait, swings[k], stances[k], swings[1 - k], stances[1 - k], SIDES[k]) for k in (0, 1)]
    return gait, feet


def manner(path):
    """The gait at each frame, and for each foot the times (N,) of lifts and touches."""
    ahead, left = turned(path.velocity, -path.yaw).T[::-1] * np.array([[1], [-1]])
    speed = np.hypot(ahead, left)
    cross = between(np.abs(left), 0.8, 1.1)
    turn = np.radians(25) * 2 * ahead * left / (speed**2 + 0.2) * (1 - cross) + np.radians(35) * np.sign(left) * cross
    forward, sideways = ahead * np.cos(turn) + left * np.sin(turn), left * np.cos(turn) - ahead * np.sin(turn)
    running = between(speed, 1.65, 2.15)
    spin = smooth(np.abs(np.gradient(path.yaw, 1 / path.rate)), 0.1, path.rate)

    backward = between(-forward, 0.1, 0.5)
    aside = between(np.abs(sideways), 0.1, 0.7)
    walk = np.maximum(0.56 + 0.29 * speed, 0.8) + 0.12 * backward + 0.1 * path.crouching
    walk = walk + aside * (0.6 - 0.36 * cross)
    walk = np.maximum(walk, np.minimum(0.8 + 0.17 * spin, 1.35))
    run = 1.10 + 0.10 * speed
    hurry = np.abs((path.acceleration * path.velocity).sum(-1)) / (speed + 0.3)  # steps are short while speed changes
    cadence = smooth(walk + (run - walk) * running + 0.1 * hurry, 0.1, path.rate)
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
    if stretch.start is None and stretch.stop is None:
        if stretch.cycles:
            phase *= stretch.cycles / (path.at(phase, path.duration) - path.at(phase, 0.0))
        return phase - path.at(phase, stretch.at) + offset
    if stretch.start is None:
        return phase - path.at(phase, stretch.stop) + offset
    begin = path.at(phase, stretch.start)
    first = offset - path.at(airborne, stretch.start)
    if stretch.stop is not None:
        strides = path.at(phase, stretch.stop) - begin - path.at(airborne, stretch.start)
        whole = max(np.round(2 * strides) / 2, 0.5)
        phase = begin + (phase - begin) * (whole + path.at(airborne, stretch.start)) / (
            path.at(phase, stretch.stop) - begin)
    return phase - begin + first


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


def _stances(path, gait, lift, touch, side):
    """Where the ball stands (N + 1, 2), where the foot points (N + 1,) and when the root passes it, for each stance:
    before, between and after the swings."""
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
    yaw = path.at(path.yaw, middle) + path.at(gait.turn, middle)
    ball = path.at(path.position, middle) + turned(np.stack([side * width, reach], axis=-1), yaw)
    # Feet trail behind a push and land on the outside of a curve: the body leans over them.
    push = path.at(path.acceleration, middle) * 0.04
    ball -= push * np.minimum(1, 0.13 / np.maximum(np.hypot(*push.T), 1e-9))[:, None]
    out = np.radians(8 - 4 * brisk - 2 * running + 6 * crouch)
    return ball, yaw - side * out, middle


def _foot(path, gait, swing, stance, other_swing, other_stance, side):
    """The foot at each frame, from its swings and stances."""
    (lift, touch), (spot, yaw, _) = swing, stance
    now = path.times
    last = np.searchsorted(touch, now, side="right")    # the stance that is, or that the swing leads to, minus one
    count = len(lift)
    if count == 0:
        ball = np.append(spot[0], SOLE) * np.ones((len(now), 1))
        zero = np.zeros(len(now))
        return Foot(ball, zero + yaw[0], zero, zero, np.ones(len(now), dtype=bool))

    # Manner of each swing, taken half-way.
    middle = (lift + touch) / 2
    speed, running = path.at(gait.speed, middle), path.at(gait.running, middle)
    ahead = path.at(gait.forward, middle) / np.maximum(speed, 0.3)
    crouch = path.at(path.crouching, middle)
    onward, back = np.clip(ahead, 0, 1), np.clip(-ahead, 0, 1)
    pace = between(speed, -0.5, 1.3)
    off = np.radians(16 + 52 * onward * pace + 18 * running + 10 * back) * (1 - 0.3 * crouch)
    strike = np.radians(21) * onward * pace * (1 - 0.75 * running) * (1 - 0.6 * crouch)
    land = np.radians(4 + 18 * back) * (1 - np.clip(onward * 1.6, 0, 1)) * between(speed, 0.1, 0.5)
    height = 0.022 + 0.02 * crouch + 0.02 * (1 - onward) + running * (0.10 + 0.03 * (speed - 2.5))
    late = running * (0.12 + 0.03 * (speed - 2.5))

    # The swing that is under way, or the one that comes next while standing.
    k = np.minimum(last, count - 1)
    u = np.clip((now - lift[k]) / (touch[k] - lift[k]), 0, 1)
    u = np.where(last == count, 1.0, u)
    go = travel(u, 0.34, 0.57 - 0.24 * running[k])
    bow = _bow(path, gait, swing, stance, other_swing, other_stance, side)
    flat = spot[k] + (spot[k + 1] - spot[k]) * go[:, None] + bow[k] * bump(u, 0.5)[:, None]
    heading = yaw[k] + (yaw[k + 1] - yaw[k]) * go

    # Pitch: down from the landing, flat, up to a peak just after the lift, then towards the next landing.
    since = now - np.append(-np.inf, touch)[last]
    until = np.append(lift, np.inf)[last] - now
    length = np.append(lift, np.inf)[last] - np.append(-np.inf, touch)[last]
    duration = touch - lift
    crest = CREST * duration[k]
    rise = np.minimum(0.52 * length, 0.3) + crest
    lifted = off[k] * ease(1 - np.maximum(until + crest, 0) / rise) * (last < count)
    landing = land - strike  # heel first where negative
    aim = landing[k]
    fall = between(u, CREST, AIM)
    pitch = np.where(u > CREST, off[k] + (aim - off[k]) * fall, lifted)
    pitch = np.where(u > AIM, aim * (1 - np.where(aim < 0, between(u, AIM, 1.0), 0)), pitch)
    landed = np.append(0, np.maximum(landing, 0))[last] * (1 - ease(since / np.minimum(0.3 * length, 0.16)))
    pitch = np.where((u == 0) | (last == count), lifted + landed, pitch)

    loose = ease(u / 0.55) * np.where(aim > 0, 1 - between(u, 0.6, 0.95), 1)
    contact = (u == 0) | (u == 1)
    toes = np.where(contact, 0, pitch * loose)
    soft = 0.05 * bump(u, 0.5)
    need = above_zero(-HEEL * np.sin(pitch) - SOLE * (1 - np.cos(pitch)), soft)
    need = need + above_zero(TOES * np.sin(toes) + SOLE * (np.cos(toes) - 1), soft)
    aloft = height[k] * bump(u, 0.38) + late[k] * bump(u, 0.73) + need * ~contact
    ball = np.concatenate([flat, (SOLE + aloft)[:, None]], axis=-1)
    return Foot(ball, heading, pitch, toes, contact)


def _bow(path, gait, swing, stance, other_swing, other_stance, side):
    """(N, 2) how far aside each swing bends: along the path's own curve, and around the standing foot."""
    (lift, touch), (spot, yaw, when) = swing, stance
    way = spot[1:] - spot[:-1]
    root, half = path.at(path.position, when), path.at(path.position, (lift + touch) / 2)
    curve = half - (root[1:] + root[:-1]) / 2
    across = turned(way, np.pi / 2) / np.maximum(np.hypot(*way.T), 0.3)[:, None]
    curve = across * (curve * across).sum(-1, keepdims=True)

    other = other_stance[0][np.searchsorted(other_swing[1], (lift + touch) / 2, side="right")]
    along = np.clip(((other - spot[:-1]) * way).sum(-1) / np.maximum((way**2).sum(-1), 1e-9), 0, 1)
    # Feet that cross pass before and behind each other, others beside.
    cross, before = path.at(gait.cross, (lift + touch) / 2), side * np.sign(path.at(gait.sideways, (lift + touch) / 2))
    out = turned(np.stack([side * (1 - cross), before * cross], axis=-1), (yaw[1:] + yaw[:-1]) / 2)
    gap = ((spot[:-1] + along[:, None] * way + curve - other) * out).sum(-1)
    passing = between(np.hypot(*way.T), 0.1, 0.3)
    return curve + out * (passing * above_zero(CLEAR + 0.07 * cross - gap, 0.01))[:, None]
