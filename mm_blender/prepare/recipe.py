# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings with which raw clips become clean ones. Times in seconds, lengths in metres."""

from dataclasses import dataclass

from ..errors import MotionError

ROOTS = ("auto", "bone", "made", "adaptive")
# How much each setting may be: more says nothing of how anybody moves.
MOST = {"root_position": 60.0, "root_facing": 60.0, "contact_speed": 1000.0, "contact_height": 1000.0,
        "contact_filter": 60.0}


@dataclass(frozen=True)
class Recipe:
    """How clips are prepared.

    rate             frames per second of the database
    root             "bone": the rig's own root bone; "made": from hips and spine, smoothed; "adaptive": made, and
                     standing still while the character stands; "auto": the bone where there is one, else made
    root_position    seconds of the Savitzky–Golay window that smooths the made root's position
    root_facing      the same for its facing
    facing           what the facing is read from: the hips, or hips and shoulders
    contact_speed    m/s under which a foot counts as standing
    contact_height   m above its lowest height within which it may stand
    contact_filter   seconds of the median filter over contacts
    skip_rest        leave out frames at a clip's beginning that show the rest pose or a T-pose
    """

    rate: float = 60.0
    root: str = "auto"
    root_position: float = 0.5
    root_facing: float = 1.0
    facing: str = "hips"
    contact_speed: float = 0.15
    contact_height: float = 0.06
    contact_filter: float = 0.1
    skip_rest: bool = True

    def __post_init__(self):
        for name, most in MOST.items():
            value = getattr(self, name)
            if not (isinstance(value, (int, float)) and 0 <= value <= most):
                raise MotionError(f'The setting "{name.replace("_", " ")}" of the bake is {value}: use 0 to {most:g}.')
