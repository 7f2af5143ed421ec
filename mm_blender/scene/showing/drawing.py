# SPDX-License-Identifier: GPL-3.0-or-later
"""Coloured lines and triangles in a viewport, with one look everywhere. What has not changed is not built again."""

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

LINE, RIM = 2.5, 5.0  # pixels: a line, and the dark line behind it that sets it off from any background
DARK = (0.0, 0.0, 0.0, 0.45)

_kept = {}  # what was made last → (from what, itself)


def draw_lines(key, make, width=LINE, rim=RIM):
    """Draw (segments (N, 2, 3), colours (N, 3 or 4)). They are asked for only where `key`, whose first part is a name,
    differs from that of the last time. Without a rim there is no dark line behind."""
    plain, coloured = (gpu.shader.from_builtin(f"POLYLINE_{kind}_COLOR") for kind in ("UNIFORM", "FLAT"))

    def build():
        segments, colours = make()
        if not len(segments):
            return None, None
        points = np.ascontiguousarray(segments, dtype=np.float32).reshape(-1, 3)
        colours = np.repeat(_with_alpha(colours), 2, axis=0)
        return (batch_for_shader(plain, "LINES", {"pos": points}) if rim else None,
                batch_for_shader(coloured, "LINES", {"pos": points, "color": colours}))

    behind, front = kept(f"lines of {key[0]}", key, build)
    scale = bpy.context.preferences.system.ui_scale
    for shader, batch, pixels in ((plain, behind, rim), (coloured, front, width)):
        if batch is not None:
            shader.bind()
            shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
            shader.uniform_float("lineWidth", pixels * scale)
            if shader is plain:
                shader.uniform_float("color", DARK)
            batch.draw(shader)


def draw_triangles(key, make):
    """Draw (triangles (N, 3, 3), colours (N, 3 or 4)), asked for as in draw_lines."""
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")

    def build():
        triangles, colours = make()
        if not len(triangles):
            return None
        points = np.ascontiguousarray(triangles, dtype=np.float32).reshape(-1, 3)
        return batch_for_shader(shader, "TRIS", {"pos": points, "color": np.repeat(_with_alpha(colours), 3, axis=0)})

    batch = kept(f"triangles of {key[0]}", key, build)
    if batch is not None:
        shader.bind()
        batch.draw(shader)


def kept(name, key, make):
    """What was made from this key the last time, or made now."""
    if _kept.get(name, (None,))[0] != key:
        _kept[name] = key, make()
    return _kept[name][1]


def forget():
    """Let go of everything that was kept."""
    _kept.clear()


def _with_alpha(colours):
    colours = np.asarray(colours, dtype=np.float32)
    return colours if colours.shape[1] == 4 else np.insert(colours, 3, 1.0, axis=1)
