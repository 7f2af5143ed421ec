# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the Drive panel as the engine has them."""

import math
from functools import lru_cache

from ...errors import MotionError
from ...playback.contact import Lock
from ...playback.inertialise import Blend
from ...playback.player import Drive
from ...playback.root import Sync


def settings_of(ob):
    """The engine's Drive for an armature's settings."""
    settings = ob.mm.drive
    blend = _known(Blend, kind=settings.blend, halflife=settings.blend_halflife, duration=settings.blend_duration,
                   overshoot=settings.overshoot, fade=settings.blend_fade)
    sync = _known(Sync, position=settings.root_position, facing=settings.root_facing, halflife=settings.root_halflife,
                  share=settings.root_share, radius=settings.root_radius, angle=settings.root_angle)
    lock = _known(Lock, on=settings.lock_feet, release=settings.lock_release, halflife=settings.lock_halflife)
    return _known(Drive, search_every=settings.search_every, stay=settings.stay, blend=blend, sync=sync, lock=lock)


def halflives_of(ob):
    """How soon the stick's point follows, as a StickGuide has it, for an armature's settings."""
    settings = ob.mm.drive
    halflives = {"velocity": settings.velocity_halflife, "facing": settings.facing_halflife}
    check_numbers(halflives)
    return tuple(halflives.values())


def check_numbers(values):
    """Fails for settings (name → value) that are no numbers, as scripts and drivers can make them."""
    for name, value in values.items():
        numbers = value if isinstance(value, tuple) else (value,)
        if not all(math.isfinite(number) for number in numbers if isinstance(number, float)):
            raise MotionError(f'The setting "{name.replace("_", " ")}" of the Drive panel is not a number: set it '
                              "anew.")


@lru_cache(maxsize=32)
def _known(made, /, **values):
    """An object with these values, the same one each time: settings are looked at often, and seldom change."""
    check_numbers(values)
    return made(**values)
