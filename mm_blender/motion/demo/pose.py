# SPDX-License-Identifier: GPL-3.0-or-later
"""The body over its feet: pelvis, legs by inverse kinematics, spine, head and arms, all frames at once.

Everything is in the root's frame (X right, Y forward, Z up). The upper body follows what the feet do: where they are
and which one carries the weight; so the same rules serve walking, running, sidestepping and turning on the spot.
"""

import numpy as np

from .. import quat
from .body import SIDES, skeleton, upright
from .curves import above_zero, between, over, settle, smooth
from .path import turned

EXTENSION = 0.994  # the longest that a leg gets, as a part of its length
GRAVITY = 9.81
BREATH, DRIFT = 4, 6  # seconds of a breath, and of a slow sway, while standing


def pose(path, gait, feet):
    """Local positions (F, J, 3) and rotations (F, J, 4) of the character along its path."""
    body = skeleton()
    world = _rotations(path, gait, feet)
    hips, legs = _hips_and_legs(path, gait, feet, world["hips"])
    world |= legs

    frames = len(path.times)
    world["root"] = np.broadcast_to(upright()[1][0], (frames, 4))
    turns = np.stack([world[name] for name in body.names], axis=1)
    rotations = turns.copy()
    rotations[:, 1:] = quat.inv_mul(turns[:, body.parents[1:]], turns[:, 1:])
    rotations[:, 0] = quat.from_yaw(path.yaw)
    positions = np.broadcast_to(body.positions.astype(float), (frames, len(body), 3)).copy()
    positions[:, 0] = np.concatenate([path.position, np.zeros((frames, 1))], axis=-1)
    positions[:, 1] = hips
    return positions, quat.unroll(quat.normalize(rotations))


def _rotations(path, gait, feet):
    """Pelvis, spine, head and arms by name, as rotations (F, 4) in the root's frame."""
    rate = path.rate
    stride = turned((feet[1].ball - feet[0].ball)[:, :2], -path.yaw - gait.turn)
    apart = smooth(stride[:, 1] / 2, 0.04, rate)  # how far the right foot is ahead
    load = _load(path, feet)
    still = 1 - between(smooth(gait.speed, 0.2, rate), 0.0, 0.5)
    run, crouch = gait.running, path.crouching
    breath = still * np.sin(2 * np.pi * path.times / BREATH)
    drift = still * np.sin(2 * np.pi * path.times / DRIFT + 1)

    push = turned(path.acceleration, -path.yaw) / GRAVITY
    push = settle(push, 1.3, 0.55, 0.16, rate)
    pace = np.clip(gait.forward, -1.5, 6)
    lean = 0.05 + 0.03 * between(gait.speed, 0.2, 1.2) + 0.03 * pace + 0.06 * run + 0.5 * crouch
    lean = lean + 0.5 * np.tanh(push[:, 1] / 0.5)
    tilt = 0.6 * np.tanh(push[:, 0] / 0.6)
    lead = _lookahead(path)
    nod = 0.014 * between(gait.speed, 0.2, 1.2) * np.cos(4 * np.pi * gait.phase - 1)

    twist = settle(apart, 2.2, 0.7, 0.1, rate)
    hips = _about(-(0.3 - 0.1 * run) * lean,
                  0.5 * tilt - 0.075 * load * (1 - 0.35 * run),
                  gait.turn + (0.22 + 0.06 * run) * apart + 0.15 * lead)
    chest = _about(-lean - nod + 0.016 * breath + 0.01 * drift,
                   0.8 * tilt + 0.03 * load * (1 - run),
                   (0.2 + 0.25 * gait.cross) * gait.turn - (0.2 + 0.16 * run) * twist + 0.4 * lead + 0.01 * drift)
    gaze = np.radians(path.curve(path.look, 0.2))
    head = _about(-0.15 * lean - 0.06 * run + 0.01 * drift + 0.05 * crouch,
                  0.35 * tilt,
                  0.9 * lead + gaze + 0.02 * drift)
    spine = {"hips": hips, "spine": hips * 0.65 + chest * 0.35, "chest": hips * 0.3 + chest * 0.7,
             "upper_chest": chest, "neck": chest * 0.55 + head * 0.45, "head": head}
    world = {name: _apply(name, quat.from_scaled_angle_axis(vector)) for name, vector in spine.items()}
    for side, letter in zip(SIDES, "LR"):
        world |= _arm(path, gait, -side * apart, breath, lean, side, letter, quat.from_scaled_angle_axis(chest))
    return world


def _arm(path, gait, apart, breath, lean, side, letter, chest):
    """Shoulder, arm and hand of one side: the arm swings with the opposite foot."""
    rate, crouch = path.rate, path.crouching
    run = smooth(gait.running, 0.2, rate)
    reach = settle(apart, 1.9, 0.6, 0.13, rate)
    later = settle(apart, 1.5, 0.6, 0.10, rate)
    swing = (0.87 + 0.18 * run) * reach - 0.05 - 0.22 * run + (0.55 + 0.12 * side) * crouch + 0.3 * lean * (1 - run)
    apartness = 0.15 + 0.17 * run + 0.10 * crouch + 0.02 * breath + 0.05 * np.abs(reach)
    inward = 0.2 + (0.02 + 0.45 * reach) * run + 0.1 * crouch
    bend = 0.45 + 0.97 * run + (0.7 + 0.2 * side) * crouch + 0.05 * np.clip(gait.speed, 0, 2)
    bend = 0.12 + above_zero(bend - 0.12 + (0.65 - 0.1 * run) * later, 0.1)  # an elbow never straightens out

    shrug = quat.mul(_turn(-side * (0.045 * breath + 0.06 * crouch), 1), _turn(side * 0.12 * reach, 2))
    shoulder = quat.mul(chest, shrug)
    hang = _along(np.array([0.0, 0, -1]), np.array([1.0, 0, 0]))
    upper = quat.mul(_turn(swing, 0), quat.mul(_turn(-side * apartness, 1), hang))
    upper = quat.mul(quat.mul(shoulder, upper), _turn(-side * inward, 1))
    lower = quat.mul(quat.mul(upper, _turn(bend, 0)), _turn(np.array(-side * 0.5), 1))
    hand = quat.mul(lower, _turn(0.18 + 0.25 * (later - reach), 0))
    return {f"shoulder.{letter}": _apply(f"shoulder.{letter}", shoulder), f"upper_arm.{letter}": upper,
            f"forearm.{letter}": lower, f"hand.{letter}": hand}


def _hips_and_legs(path, gait, feet, pelvis):
    """Hips (F, 3) in the root's frame, as high as the legs allow, and leg rotations by name."""
    rest = dict(zip(skeleton().names, upright()[0]))
    thigh = np.linalg.norm(rest["shin.R"] - rest["thigh.R"])
    shin = np.linalg.norm(rest["foot.R"] - rest["shin.R"])
    longest = (EXTENSION - 0.016 * gait.running) * (thigh + shin)
    turn = quat.mul(pelvis, quat.inv(upright()[1][1]))
    balls = [_in_root(path, foot.ball) for foot in feet]

    hips = _hips(path, gait, feet, balls)
    soles, ankles, sockets, limits = [], [], [], []
    for foot, ball, letter in zip(feet, balls, "LR"):
        sole = quat.mul(quat.from_yaw(foot.yaw - path.yaw), _turn(-foot.pitch, 0))
        ankle = ball + quat.rotate(sole, rest["foot.R"] - rest["toe.R"])
        socket = quat.rotate(turn, rest[f"thigh.{letter}"] - rest["hips"])
        apart = ((hips + socket - ankle)[:, :2] ** 2).sum(-1)
        limits.append(ankle[:, 2] - socket[:, 2] + np.sqrt(np.maximum(longest**2 - apart, 0.04)))
        soles.append(sole)
        ankles.append(ankle)
        sockets.append(socket)
    hips[:, 2] -= over(np.maximum(hips[:, 2] - np.minimum(*limits), 0), 0.14, path.rate)

    legs = {}
    for foot, sole, ankle, socket, letter in zip(feet, soles, ankles, sockets, "LR"):
        yaw = foot.yaw - path.yaw
        point = 0.65 * yaw + 0.35 * quat.yaw(quat.rotate(turn, np.array([0.0, 1, 0])))
        pole = _about(-np.sin(point), np.cos(point), 0.0)
        legs[f"thigh.{letter}"], legs[f"shin.{letter}"] = _two_bones(hips + socket, ankle, pole, thigh, shin)
        legs[f"foot.{letter}"] = _apply(f"foot.{letter}", sole)
        legs[f"toe.{letter}"] = _apply(f"toe.{letter}", quat.mul(quat.from_yaw(yaw), _turn(-foot.toes, 0)))
    return hips, legs


def _hips(path, gait, feet, balls):
    """Where the hips (F, 3) would like to be: over the standing foot, rising and falling with the steps."""
    still = 1 - between(gait.speed, 0.0, 0.5)
    spread = smooth(np.abs(balls[1][:, 0] - balls[0][:, 0]) / 2, 0.1, path.rate)
    x = (0.62 - 0.25 * between(gait.speed, 0.2, 1.3)) * spread * _load(path, feet)
    y = -0.07 * path.crouching + 0.012 * gait.running + still * 0.004 * np.sin(2 * np.pi * path.times / DRIFT)
    z = upright()[0][1, 2] - 0.01 - 0.028 * between(gait.speed, 0.2, 1.6) - 0.035 * gait.running
    z = z - 0.27 * path.crouching + still * 0.002 * np.sin(2 * np.pi * path.times / BREATH - 0.6)
    return _about(x, y, z + _bob(gait, smooth(gait.running, 0.12, path.rate)))


def _two_bones(start, end, pole, upper, lower):
    """Rotations of two bones whose joint bends towards the pole: Y along the bone, X the hinge."""
    way = end - start
    distance = np.linalg.norm(way, axis=-1, keepdims=True)
    way = way / distance
    hinge = quat.cross(way, pole)
    hinge /= np.linalg.norm(hinge, axis=-1, keepdims=True)
    out = quat.cross(hinge, way)
    cos = np.clip((upper**2 + distance**2 - lower**2) / (2 * upper * distance), -1, 1)
    joint = start + upper * (cos * way + np.sqrt(1 - cos**2) * out)
    return _along(joint - start, hinge), _along(end - joint, hinge)


def _along(y, x):
    """The rotation of a bone along y that hinges about x."""
    y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    return quat.from_matrix(np.stack([x, y, quat.cross(x, y)], axis=-1))


def _bob(gait, running):
    """How the pelvis rises and falls: highest over the standing foot in a walk, in the air in a run."""
    walk = 0.014 * between(gait.speed, 0.1, 1.0) + 0.014 * between(gait.speed, 0.9, 1.9)
    beat = 4 * np.pi * gait.phase
    stance = 1 - gait.airborne
    return -walk * (1 - running) * np.cos(beat) - 0.042 * running * np.cos(beat - 2 * np.pi * stance)


def _load(path, feet):
    """Which foot carries the weight (F,): -1 left to 1 right, shifting a little before the other one lifts."""
    weight = smooth(np.stack([foot.contact for foot in feet], axis=-1).astype(float), 0.09, path.rate)
    load = (weight[:, 1] - weight[:, 0]) / (weight.sum(-1) + 0.1)
    return load + path.curve(path.shift, 0.25)


def _lookahead(path):
    """Radians (F,) by which the eyes turn ahead of the body into a turn."""
    ahead = path.at(path.yaw, path.times + 0.4) - path.yaw
    return smooth(0.7 * np.tanh(ahead / 0.7), 0.1, path.rate)


def _in_root(path, points):
    flat = turned(points[:, :2] - path.position, -path.yaw)
    return np.concatenate([flat, points[:, 2:]], axis=-1)


def _about(x, y, z):
    return np.stack(np.broadcast_arrays(x, y, z), axis=-1)


def _turn(angle, axis):
    return quat.from_angle_axis(angle, np.eye(3)[axis])


def _apply(name, turn):
    """The joint's rest rotation, turned."""
    return quat.mul(turn, upright()[1][skeleton().names.index(name)])
