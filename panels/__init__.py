# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab "Motion Matching", one file for each panel, in the order in which the artist meets them."""

from . import bake, character, clips, features, tags

PARTS = (character, clips, tags, features, bake)


def register():
    for part in PARTS:
        part.register()


def unregister():
    for part in reversed(PARTS):
        part.unregister()
