# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab "Motion Matching", one file for each panel, in the order in which the artist meets them.

And the viewport's header while driving, entries in Blender's menus, and the extension's page of the preferences."""

from . import bake, character, clips, direct, drive, driving, features, menus, preferences, tags, test_drive, train

PARTS = (character, clips, tags, features, bake, test_drive, train, drive, direct, driving, menus, preferences)


def register():
    for part in PARTS:
        part.register()


def unregister():
    for part in reversed(PARTS):
        part.unregister()
