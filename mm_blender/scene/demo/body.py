# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of the demo character: a mannequin of pale shells over dark joints, as vertices, faces and weights."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ...motion import demo
from ...motion.sides import swap_side

SHELL, JOINT, ACCENT = range(3)
LEFT, FRONT, UP = np.array([[1.0, 0, 0], [0, -1.0, 0], [0, 0, 1.0]])


@dataclass(frozen=True, eq=False)
class Shape:
    """A closed surface.

    vertices   (V, 3) in the space of the rest pose
    faces      the vertices of each face, anticlockwise seen from outside
    materials  SHELL, JOINT or ACCENT for each face
    weights    bone name → (V,) how far each vertex follows the bone; over all bones they add up to 1
    """

    vertices: np.ndarray
    faces: list
    materials: list
    weights: dict


@cache
def body():
    """The whole mannequin, left and right alike."""
    parts = [*_trunk(), *_head()]
    for part in (*_arm(), *_leg()):
        parts += [part, _mirrored(part)]
    return _joined(parts)


# The parts. A station of a tube is: how far along, half its width, half its depth, its middle's way to the front and
# to the side. Along is in metres for what stands on the ground, and in lengths of the bone for limbs.

STANDING = (np.zeros(3), UP, FRONT)


def _trunk():
    yield _tube(STANDING, ((0.850, 0.034, 0.046, 0.000), (0.868, 0.060, 0.070, 0.000), (0.905, 0.106, 0.094, -0.004),
                           (0.955, 0.141, 0.107, -0.009), (1.000, 0.143, 0.104, -0.009), (1.032, 0.130, 0.092, -0.009)),
                SHELL, "hips", sides=12, square=2.3)
    yield _tube(STANDING, ((1.000, 0.104, 0.076, -0.008), (1.055, 0.104, 0.074, -0.008), (1.110, 0.102, 0.073, -0.007),
                           (1.165, 0.107, 0.079, -0.008), (1.220, 0.112, 0.084, -0.012)),
                JOINT, (("hips", 1.03), ("spine", 1.11), ("chest", 1.19)))
    yield _tube(STANDING, ((1.148, 0.112, 0.082, -0.008), (1.178, 0.121, 0.093, -0.007), (1.250, 0.136, 0.108, -0.004),
                           (1.315, 0.149, 0.119, -0.001), (1.365, 0.155, 0.118, -0.004), (1.408, 0.150, 0.101, -0.012),
                           (1.438, 0.128, 0.082, -0.018), (1.462, 0.080, 0.060, -0.020)),
                SHELL, (("chest", 1.24), ("upper_chest", 1.36)), sides=12, square=2.6)
    yield _tube(STANDING, ((1.440, 0.058, 0.053, -0.018), (1.480, 0.047, 0.050, -0.014), (1.530, 0.044, 0.048, 0.000),
                           (1.580, 0.044, 0.048, 0.006)),
                JOINT, (("upper_chest", 1.46), ("neck", 1.51), ("head", 1.56)), sides=8)
    badge = (np.array([0, 0, 1.350]), FRONT, UP)
    yield _tube(badge, ((0.100, 0.027, 0.027), (0.116, 0.027, 0.027), (0.120, 0.022, 0.022)), ACCENT, "upper_chest")


def _head():
    yield _tube(STANDING, ((1.530, 0.024, 0.026, 0.050), (1.540, 0.042, 0.049, 0.037), (1.575, 0.060, 0.081, 0.018),
                           (1.630, 0.073, 0.096, 0.010), (1.680, 0.077, 0.100, 0.005), (1.716, 0.069, 0.089, 0.001),
                           (1.742, 0.047, 0.061, -0.003), (1.754, 0.020, 0.026, -0.005)),
                SHELL, "head", sides=14, square=2.3)
    # The visor shows which way the character looks.
    yield _tube(STANDING, ((1.612, 0.066, 0.072, 0.032), (1.622, 0.0765, 0.082, 0.033), (1.676, 0.080, 0.085, 0.029),
                           (1.687, 0.070, 0.074, 0.028)), ACCENT, "head", sides=14, square=2.3)


def _arm():
    yield _tube(_along("shoulder.L"), ((0.05, 0.030, 0.030, -0.02, 0.012), (0.30, 0.038, 0.040, -0.012, 0.006),
                                       (0.70, 0.040, 0.046), (1.00, 0.040, 0.046)), SHELL, "shoulder.L", sides=8)
    yield _tube(_along("upper_arm.L"), ((-0.20, 0.020, 0.022), (-0.16, 0.039, 0.042), (-0.06, 0.055, 0.059),
                                        (0.12, 0.058, 0.062), (0.30, 0.054, 0.058), (0.60, 0.045, 0.048),
                                        (0.87, 0.037, 0.040)), SHELL, "upper_arm.L", sides=8)
    yield _ball("forearm.L", 0.037)
    yield _tube(_along("forearm.L"), ((0.09, 0.037, 0.039), (0.30, 0.041, 0.045), (0.75, 0.032, 0.036),
                                      (0.76, 0.0345, 0.0385), (0.915, 0.031, 0.035)),
                SHELL, "forearm.L", band=(2, 4), sides=8)
    yield _tube(_along("hand.L"), ((-0.06, 0.022, 0.024), (0.06, 0.017, 0.022), (0.17, 0.019, 0.033),
                                   (0.60, 0.018, 0.041), (0.96, 0.013, 0.032, 0, -0.008),
                                   (1.04, 0.007, 0.018, 0, -0.013)),
                JOINT, "hand.L", square=2.6, sides=8)
    head, along, front = _along("hand.L")
    thumb = (head + 0.20 * along + 0.026 * front, 0.36 * along + 0.045 * front, front)
    yield _tube(thumb, ((-0.1, 0.011, 0.011), (0.35, 0.014, 0.015), (0.8, 0.012, 0.013), (1.05, 0.006, 0.007)),
                JOINT, "hand.L", sides=5)


def _leg():
    hub = (_heads()["thigh.L"], LEFT, FRONT)
    yield _tube(hub, ((0, 0.052, 0.052), (0.068, 0.052, 0.052), (0.076, 0.044, 0.044)), JOINT, "thigh.L")
    yield _tube(_along("thigh.L"), ((-0.08, 0.034, 0.040), (-0.04, 0.056, 0.066), (0.06, 0.071, 0.084),
                                    (0.22, 0.076, 0.088), (0.50, 0.066, 0.075), (0.80, 0.054, 0.060),
                                    (0.89, 0.050, 0.055)), SHELL, "thigh.L")
    yield _ball("shin.L", 0.050)
    yield _tube(_along("shin.L"), ((0.09, 0.049, 0.051), (0.28, 0.052, 0.059, -0.011), (0.55, 0.043, 0.048, -0.008),
                                   (0.765, 0.035, 0.038, -0.004), (0.77, 0.038, 0.041, -0.004),
                                   (0.885, 0.0355, 0.0375)),
                SHELL, "shin.L", band=(3, 5))
    yield _ball("foot.L", 0.036)
    lying = (_heads()["foot.L"] * (1, 0, 0), FRONT, UP)
    bend = (("foot.L", 0.115), ("toe.L", 0.150))
    yield _tube(lying, ((-0.072, 0.022, 0.018, 0.034), (-0.062, 0.035, 0.032, 0.042), (-0.020, 0.043, 0.046, 0.050),
                        (0.040, 0.045, 0.037, 0.045), (0.095, 0.050, 0.029, 0.037), (0.132, 0.052, 0.024, 0.033),
                        (0.172, 0.048, 0.021, 0.029), (0.202, 0.033, 0.014, 0.024)), SHELL, bend, sides=8, square=2.4)
    yield _tube(lying, ((-0.076, 0.030, 0.009, 0.010), (-0.062, 0.041, 0.010, 0.010), (0.132, 0.056, 0.010, 0.010),
                        (0.180, 0.051, 0.010, 0.010), (0.210, 0.032, 0.009, 0.010)), JOINT, bend, sides=8, square=4)


# What parts are made of

def _tube(frame, stations, material, bones, band=(0, 0), sides=10, square=2.0):
    """Rings around an axis, joined and closed at both ends.

    frame   where it begins, the axis, and the direction of its depth
    bones   the bone that it follows, or pairs of a bone and where along the axis the tube follows it fully
    band    from which station to which one it has the accent's colour
    square  2 makes elliptic rings, more makes them boxier
    """
    origin, axis, front = frame
    stations = np.array([(*station, 0, 0)[:5] for station in stations])
    along, wide, deep, forth, aside = (column[:, None, None] for column in stations.T)
    straight = axis / np.linalg.norm(axis)
    front = front - straight * (front @ straight)
    front /= np.linalg.norm(front)
    side = np.cross(front, straight)
    angles = (np.linspace(0, 2 * np.pi, sides, endpoint=False) + np.pi / sides)[:, None]
    across, inward = (np.sign(part) * np.abs(part) ** (2 / square) for part in (np.cos(angles), np.sin(angles)))
    middles = origin + along * axis + forth * front + aside * side
    rings = middles + wide * across * side + deep * inward * front
    at = np.arange(len(stations) * sides).reshape(-1, sides)
    turned = np.roll(at, -1, axis=1)
    faces = np.stack([at[:-1], turned[:-1], turned[1:], at[1:]], axis=-1).reshape(-1, 4)
    ring = np.repeat(np.arange(len(stations) - 1), sides)
    materials = np.where((ring >= band[0]) & (ring < band[1]), ACCENT, material)
    bones = ((bones, 0.0),) if isinstance(bones, str) else bones
    places, reach = np.repeat(stations[:, 0], sides), [place for _, place in bones]
    weights = {bone: np.interp(places, reach, hat) for (bone, _), hat in zip(bones, np.eye(len(bones)))}
    return Shape(rings.reshape(-1, 3), [*faces.tolist(), at[0, ::-1].tolist(), at[-1].tolist()],
                 [*materials.tolist(), materials[0].item(), materials[-1].item()], weights)


def _ball(bone, radius):
    """A joint's ball, where a bone begins. It is roundest where the joint bends: seen from the side."""
    turns = np.radians((-62, -22, 22, 62))
    stations = [(radius * np.sin(turn), radius * np.cos(turn), radius * np.cos(turn)) for turn in turns]
    return _tube((_heads()[bone], LEFT, FRONT), stations, JOINT, bone, sides=8)


def _along(bone):
    return _heads()[bone], _tails()[bone] - _heads()[bone], FRONT


def _heads():
    return dict(zip(demo.skeleton().names, demo.skeleton().rest[0].astype(float)))


def _tails():
    return dict(zip(demo.skeleton().names, demo.tails().astype(float)))


def _mirrored(shape):
    return Shape(shape.vertices * (-1, 1, 1), [face[::-1] for face in shape.faces], shape.materials,
                 {swap_side(bone): weights for bone, weights in shape.weights.items()})


def _joined(shapes):
    starts = np.cumsum([0] + [len(shape.vertices) for shape in shapes]).tolist()
    weights = {}
    for start, shape in zip(starts, shapes):
        for bone, values in shape.weights.items():
            weights.setdefault(bone, np.zeros(starts[-1]))[start:start + len(values)] = values
    return Shape(np.concatenate([shape.vertices for shape in shapes]),
                 [[start + index for index in face] for start, shape in zip(starts, shapes) for face in shape.faces],
                 [material for shape in shapes for material in shape.materials], weights)
