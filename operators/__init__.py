# SPDX-License-Identifier: GPL-3.0-or-later
"""The things that the artist does, one file for each."""

from importlib import import_module
from importlib.util import find_spec

from . import bake, character, clips, demo, direct, drive, features, import_motion, presets, tags, train, variations

PARTS = [demo, character, clips, import_motion, tags, features, presets, bake, train, drive, direct, variations]
# The zips for Blender's extensions platform leave it out.
if find_spec(".private_python", __package__):
    PARTS.append(import_module(".private_python", __package__))


def register():
    for part in PARTS:
        part.register()


def unregister():
    for part in reversed(PARTS):
        part.unregister()
