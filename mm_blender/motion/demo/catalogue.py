# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of demo clips: what the character can do, each as a plan for the root."""

import numpy as np

from ..clip import Clip, Tag
from .body import skeleton
from .gait import manner, plan
from .path import Path, Stepping
from .pose import pose

WALK, RUN = 1.35, 3.5  # m/s
ANGLES = (45, 90, 135, 180)
WAYS = (("left", 1), ("right", -1))  # name, and the sign of a turn
FOREVER = (Stepping(),)


def clips(rate=60):
    """Every demo clip, prepared: the root on the ground, contacts known, tags set. About eight minutes."""
    return [_clip(*entry) for entry in plans(float(rate))]


def plans(rate):
    """The plan of every clip: name, path, tags and, where it loops, True."""
    for kind in (_standing, _steady, _changes, _arcs, _turns_in_place, _turns_on_the_move, _strafes, _backward,
                 _crouch, _wander):
        yield from kind(rate)


def _clip(name, path, tags, loop=False):
    """One clip from its plan. A tag is a name, or (name, start, end) in seconds."""
    gait, feet = plan(path)
    positions, rotations = pose(path, gait, feet)
    contacts = np.stack([foot.contact for foot in feet], axis=-1)
    inside = slice(path.inside.start, path.inside.stop + loop)  # a loop ends with its first pose
    last = (inside.stop - inside.start - 1) / path.rate
    tags = [(tag, 0.0, last) if isinstance(tag, str) else tag for tag in tags]
    return Clip(name, skeleton(), path.rate, positions[inside], rotations[inside], contacts=contacts[inside], loop=loop,
                tags=tuple(Tag(tag, max(start, 0.0), min(end, last)) for tag, start, end in tags))


def _standing(rate):
    yield "idle", Path(12, rate), ("idle",), True
    shift = ((1, 0), (2, 0.9), (5, 0.8), (6.2, -0.9), (9.5, -0.8), (11, 0))
    yield "idle shift", Path(12, rate, shift=shift, look=((5, 0), (6, -8), (9, -8), (10, 0))), ("idle",)
    look = ((1, 0), (1.6, 40), (3, 35), (4, -35), (5.5, -40), (6.3, 0))
    yield "idle look", Path(8, rate, look=look, shift=((1, 0), (2, -0.4), (4, 0.4), (6, 0))), ("idle",)


def _steady(rate):
    for name, speed in (("walk slow", 0.8), ("walk", WALK), ("walk fast", 1.6)):
        yield _loop(name, rate, speed, 6, ("walk",))
    for name, speed in (("jog", 2.6), ("run", RUN), ("run fast", 4.5)):
        yield _loop(name, rate, speed, 7, ("run",))


def _changes(rate):
    """Starts, stops and changes of speed."""
    for foot in ("left", "right"):
        for gait, speed, up in (("walk", WALK, 0.7), ("run", RUN, 1.2)):
            yield (f"{gait} start {foot}", Path(4, rate, ((1.2, 0), (1.2 + up, speed)),
                                                steps=(Stepping(1.1, None, foot),)),
                   (("idle", 0, 1), ("start", 0.9, 1.4 + up), (gait, 1.2, 4)))
        for gait, speed, down in (("walk", WALK, 0.75), ("run", RUN, 1.3)):
            end = 1.5 + down
            yield (f"{gait} stop {foot}", Path(4.5, rate, ((1.5, speed), (end, 0)),
                                               steps=(Stepping(None, end + 0.15, foot),)),
                   ((gait, 0, end), ("stop", 1.3, end + 0.7), ("idle", end + 0.5, 5)))
    for way, sign in WAYS:
        for angle in (90, 180):
            turn = ((1.15, 0), (1.65 + angle / 280, sign * angle))
            speed = ((1.15 + angle / 300, 0), (2.05 + angle / 300, WALK))
            yield (f"start {angle} {way}", Path(4.5, rate, speed, turn, steps=(Stepping(1.1, None, way),)),
                   (("idle", 0, 1), ("start", 0.9, 2.5), ("turn", 1.0, 2.2), ("walk", 1.4, 5)))
    yield ("walk to run", Path(7, rate, ((2, WALK), (3, RUN), (4.5, RUN), (5.6, WALK)), steps=FOREVER),
           (("walk", 0, 2.4), ("run", 2.4, 5.2), ("walk", 5.2, 7)))
    yield ("walk to jog", Path(7, rate, ((2, 1.5), (2.8, 2.7), (4.5, 2.7), (5.3, 1.0)), steps=FOREVER),
           (("walk", 0, 2.3), ("run", 2.3, 4.9), ("walk", 4.9, 7)))


def _arcs(rate):
    for gait, speed, radius in (("walk", 1.1, 1), ("walk", 1.3, 2), ("walk", WALK, 4),
                                ("run", 2.8, 2.5), ("run", 3.2, 5), ("run", RUN, 9)):
        for way, sign in WAYS:
            yield _loop(f"{gait} arc {radius} {way}", rate, speed, 5, (gait,), sign * np.degrees(speed / radius))
    for gait, speed, radius in (("walk", WALK, 1.5), ("run", 3.0, 3.5)):
        bend = np.degrees(speed / radius)
        half = 90 / bend  # seconds to a quarter turn
        heading = np.cumsum([(-half, -90), (2 * half, 180), (2 * half, -180), (2 * half, 180)], axis=0)
        yield f"{gait} weave", Path(4 * half, rate, speed, heading, steps=FOREVER), (gait,)


def _turns_in_place(rate):
    for angle in ANGLES:
        for way, sign in WAYS:
            length = 0.55 + angle / 180
            yield (f"turn {angle} {way}", Path(2.2 + length, rate, heading=((1, 0), (1 + length, sign * angle)),
                                               steps=(Stepping(0.9, 1.1 + length, way),)),
                   (("idle", 0, 0.8), ("turn", 0.8, 1.3 + length), ("idle", 1.3 + length, 5)))


def _turns_on_the_move(rate):
    for gait, speed in (("walk", WALK), ("run", 3.2)):
        for angle in ANGLES:
            for way, sign in WAYS:
                yield _corner(f"{gait} turn {angle} {way}", rate, gait, speed, angle, sign)


def _strafes(rate):
    for way, sign in WAYS:
        yield _there(f"strafe {way}", rate, 0.7, sign * 90, ("strafe",), way)
        yield _there(f"strafe fast {way}", rate, 1.25, sign * 90, ("strafe",), way)
        yield _there(f"strafe {way} forward", rate, 1.15, sign * 45, ("strafe",), way)
        yield _there(f"strafe {way} backward", rate, 0.85, sign * 135, ("strafe", "backward"), way)
        swing = ((1.2, 0), (1.8, 0.75), (3.3, 0.75), (4.3, -0.75), (5.8, -0.75), (6.4, 0))
        yield (f"strafe {way} and back", Path(7.5, rate, swing, sign * 90, 0, steps=(Stepping(1.1, 6.5, way),)),
               (("strafe", 1, 6.6),))


def _backward(rate):
    yield _loop("backward", rate, -1.1, 5, ("backward",))
    yield _there("backward start stop", rate, -1.0, 0, ("backward",), "left")
    for way, sign in WAYS:
        yield _loop(f"backward arc {way}", rate, -0.9, 5, ("backward",), sign * np.degrees(0.9 / 2))
    yield ("forward and backward", Path(7, rate, ((2, 1.2), (3, -0.9), (5, -0.9), (5.9, 1.2)), steps=FOREVER),
           (("walk", 0, 2.5), ("backward", 2.5, 5.4), ("walk", 5.4, 7)))


def _crouch(rate):
    yield "crouch idle", Path(12, rate, crouch=1), ("idle", "crouch"), True
    yield ("crouch down and up", Path(6.5, rate, crouch=((1.2, 0), (1.9, 1), (4, 1), (4.7, 0))),
           (("idle", 0, 7), ("crouch", 1.5, 4.4)))
    yield _loop("crouch walk", rate, 0.9, 5, ("walk", "crouch"), crouch=1)
    yield _there("crouch start stop", rate, 0.9, 0, ("walk", "crouch"), "left", crouch=1)
    for way, sign in WAYS:
        yield _loop(f"crouch arc {way}", rate, 0.85, 4, ("walk", "crouch"), sign * np.degrees(0.85 / 1.5), crouch=1)
        yield (f"crouch turn 90 {way}", Path(3.3, rate, 0, ((1, 0), (2.05, sign * 90)), crouch=1,
                                             steps=(Stepping(0.9, 2.15, way),)), ("turn", "crouch"))


def _wander(rate):
    """Longer walks in which one thing leads to another."""
    speed = ((1, 0), (1.7, 1.3), (6, 1.3), (7, 1.6), (10, 1.5), (11, 1.0), (14, 1.1), (15, 1.4), (18, 1.4), (18.8, 0))
    heading = ((2.5, 0), (4, 70), (6, 20), (8.5, -90), (10.5, -60), (12.5, 60), (15, 90), (17.5, -10))
    yield ("wander walk", Path(20, rate, speed, heading, steps=(Stepping(0.9, 18.95),)),
           (("idle", 0, 0.9), ("start", 0.8, 1.9), ("walk", 1.1, 18.6), ("stop", 17.9, 19.5), ("idle", 19.2, 20)))
    speed = ((1, 0), (2.2, 3.2), (6, 3.4), (7, 2.7), (10, 2.8), (11, 3.8), (14, 3.8), (15.4, 0))
    heading = ((2.5, 0), (4.3, -110), (6, -70), (8.5, 100), (10.5, 60), (12.5, 140), (14, 100))
    yield ("wander run", Path(17, rate, speed, heading, steps=(Stepping(0.9, 15.55),)),
           (("idle", 0, 0.9), ("start", 0.8, 2.3), ("run", 1.4, 15.2), ("stop", 13.9, 16.3), ("idle", 15.9, 17)))


def _loop(name, rate, speed, strides, tags, turning=0.0, crouch=0.0):
    """Steady motion, as long as a whole number of strides takes; turning in degrees per second."""
    cadence = manner(Path(1, rate, speed, crouch=crouch, steps=FOREVER))[0].cadence[0]
    duration = round(strides / cadence * rate) / rate
    heading = ((-9, -9 * turning), (duration + 9, (duration + 9) * turning))
    return (name, Path(duration, rate, speed, heading, crouch=crouch, steps=(Stepping(cycles=strides),)), tags, True)


def _there(name, rate, speed, heading, tags, first, crouch=0.0):
    """From standing, some steps in one direction without turning, and standing again."""
    path = Path(6, rate, ((1.2, 0), (1.9, speed), (4.1, speed), (4.8, 0)), heading, 0, crouch,
                steps=(Stepping(1.1, 4.95, first),))
    around = ("idle", "crouch") if crouch else ("idle",)
    return (name, path, (*((tag, 1, 5) for tag in tags), ("start", 0.9, 2.1), ("stop", 3.9, 5.5),
                         *((tag, 0, 1) for tag in around), *((tag, 5.2, 6) for tag in around)))


def _corner(name, rate, gait, speed, angle, sign):
    """A change of direction on the move: slower into the corner, out of it at full speed."""
    begin, length = 1.8, (0.35 + angle / 300) * (1 if gait == "walk" else 1.15)
    outer = "right" if sign > 0 else "left"  # the foot that stands while the body turns
    if angle == 180:
        end = begin + length + 0.3
        path = Path(end + 1.8, rate, ((begin, speed), (end, -speed)), 0, ((begin, 0), (end, sign * angle)),
                    steps=(Stepping(first=outer, at=begin + 0.4 * (end - begin)),))
    else:
        slow = speed * (1 - 0.6 * angle / 180)
        middle, end = begin + length / 2, begin + length
        pace = ((begin - 0.4, speed), (middle, slow), (end + 0.4, speed))
        path = Path(end + 2, rate, pace, ((begin, 0), (end, sign * angle)),
                    steps=(Stepping(first=outer, at=begin + 0.1),))
    return name, path, (gait, ("turn", begin - 0.3, end + 0.3))
