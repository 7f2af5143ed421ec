# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast a character goes at full stick in each gait: as its motion does, or as the artist has set it."""


from ...control.gaits import USUAL
from ...control.speeds import Speeds
from .drive_settings import check_numbers
from .libraries import last_read, library_of


def speeds_of(ob):
    """The Speeds at full stick: the artist's own, or those of the database or the networks; None before either was
    read."""
    measured, own = measured_speeds(ob), own_ways(ob)
    return measured if own is None else (measured or Speeds()).with_ways(own)


def measured_speeds(ob):
    """The Speeds of the database or the networks, or None before either was read."""
    library = last_read(ob)
    return library.speeds if library is not None else None


def own_ways(ob):
    """{name of a gait: speeds forward, sideways and backward} that the artist has set, or None."""
    ways = {gait: tuple(getattr(*there)) for gait, there in own_settings(ob).items()}
    check_numbers(ways)
    return ways or None


def own_settings(ob):
    """{name of a gait: (what has the speeds that the artist has set, how they are called there)}; empty where all are
    measured."""
    settings = ob.mm.drive
    if not settings.own_speeds:
        return {}
    return {gait: (settings, gait) for gait in USUAL} | {gait.name: (gait, "speeds") for gait in settings.gaits}


def own_as_measured(ob):
    """Let the artist's own speeds begin with those of the motion, which is read if it has not been yet."""
    settings = ob.mm.drive
    settings.gaits.clear()
    for gait in library_of(ob).speeds.gaits:
        if gait.name in USUAL:
            setattr(settings, gait.name, gait.ways)
        else:
            own = settings.gaits.add()
            own.name, own.speeds = gait.name, gait.ways
    settings.own_speeds = True
