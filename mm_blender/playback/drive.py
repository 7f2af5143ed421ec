# SPDX-License-Identifier: GPL-3.0-or-later
"""Driving without a window: a recorded stick in, the motion that was played out."""

from ..matching.database import Database
from ..steps import Progress
from .cast import Cast
from .library import BakedLibrary, search_of

__all__ = ["drive", "drive_all", "search_of"]


def drive(database, recording, settings=None, speeds=None, search=None, watch=None, **stage):
    """The Clip that a Recording makes the character play, with the database's own skeleton, root first; and its Trace.

    database  a Database, or the Library of whatever is played
    settings  a Drive, or None for the usual one
    speeds    Speeds, or None to measure them
    search    a Search over the database, where there is one already
    watch     is called with the Progress, once for each second that was driven
    stage     what drive_all() takes beside these
    """
    return drive_all(database, [recording], settings, speeds, search, watch, **stage)[0]


def drive_all(database, recordings, settings=None, speeds=None, search=None, watch=None, query="", place=None,
              poses=(), ground=None, obstacles=None):
    """drive() for several recordings at once, each with a character of its own; all as long as the longest.

    query   tags that are allowed, beside those that the gait asks for
    place   positions (K, 2), yaws (K,) and perhaps heights (K,) to begin at, or None for the origin
    poses   {index: (positions, rotations)} to begin with, as Player.begin_from() takes them, or those of the motion
    ground, obstacles  as a Cast takes them
    """
    library = BakedLibrary(database, search) if isinstance(database, Database) else database
    cast = Cast(library, len(recordings), settings, ground, obstacles)
    if place is not None:
        cast.place(*place)
    for index, pose in dict(poses).items():
        cast.player.begin_from(index, *pose)
    rate = library.database.rate
    count = max(1, round(max(one.duration for one in recordings) * rate))
    for step in range(count):
        if watch is not None and step % round(rate) == 0:
            watch(Progress(step / count, f"driving, {step / rate:.0f} s"))
        for index, recording in enumerate(recordings):
            cast.want(index, recording.at(step / rate), speeds=speeds, query=query)
        cast.step()
    return [(cast.film.clip(index), cast.film.trace(index)) for index in range(len(recordings))]
