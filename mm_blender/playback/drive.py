# SPDX-License-Identifier: GPL-3.0-or-later
"""Driving without a window: recorded sticks in, or whatever else guides; the motion that was played out."""

from ..matching.database import Database
from ..steps import Progress
from .group import Group
from .library import BakedLibrary


def drive(database, recording, settings=None, speeds=None, search=None, watch=None, **further):
    """The Clip that a Recording makes the character play, with the database's own skeleton, root first; and its Trace.

    database  a Database, or the Library of whatever is played
    settings  a Drive, or None for the usual one
    speeds    Speeds, or None to measure them
    search    a Search over the database, where there is one already
    watch     is called with the Progress, once for each second that was driven
    further   what drive_all() takes beside these
    """
    return drive_all(database, [recording], settings, speeds, search, watch, **further)[0]


def drive_all(database, recordings, settings=None, speeds=None, search=None, watch=None, place=None, shown=(),
              ground=None, commands=None, **guidance):
    """drive() for several recordings at once, each with a character of its own; all as long as the longest. A recording
    is whatever has a `duration` and makes a `guide()`.

    place     positions (K, 2), yaws (K,) and perhaps heights (K,) and speeds (K, 3) to begin with, as Group.place()
              takes them, or None for the origin
    shown     {index: Shown} what characters begin with; the others with a pose of the motion
    ground    as a Group takes it
    commands  {label: command} what all of them want of features, as a Group's command() takes it
    guidance  query, halflives and obstacles, as a StickGuide takes them
    """
    library = BakedLibrary(database, search) if isinstance(database, Database) else database
    rate, speeds = library.database.rate, speeds or library.speeds
    group = Group(library, [one.guide(rate, speeds, **guidance) for one in recordings], settings, ground)
    if place is not None:
        group.place(*place)
    for index, pose in dict(shown).items():
        group.begin_from(index, pose)
    for label, command in dict(commands or {}).items():
        for index in range(len(recordings)):
            group.command(index, label, command)
    count = max(1, round(max(one.duration for one in recordings) * rate))
    for step in range(count):
        if watch is not None and step % round(rate) == 0:
            watch(Progress(step / count, f"driving, {step / rate:.0f} s"))
        group.step()
    return [(group.record.clip(index), group.record.trace(index)) for index in range(len(recordings))]
