# SPDX-License-Identifier: GPL-3.0-or-later
"""The things that the artist does, one file for each."""

from . import bake, character, clips, demo, drive, features, import_motion, tags, train

PARTS = (demo, character, clips, import_motion, tags, features, bake, train, drive)


def register():
    for part in PARTS:
        part.register()


def unregister():
    for part in reversed(PARTS):
        part.unregister()
