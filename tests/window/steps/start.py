# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender starts with the extension enabled: what an artist finds in the sidebar."""

import bpy
from inside import open_sidebar, picture, region


def steps(result):
    yield from open_sidebar()
    result["tab"] = region("UI").active_panel_category
    result["operators"] = dir(bpy.ops.mm)
    picture("start")
