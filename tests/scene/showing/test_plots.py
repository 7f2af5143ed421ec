# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of a training: what it shows, and that nothing of it is left in the file."""

import bpy
import numpy as np
import pytest

from mm_blender.scene.showing import plots
from mm_blender.training.watching import plot
from mm_blender.training.watching.run import ProgressLines


def line(seconds, stage="decompressor", loss=1.0, left=0.0, **figures):
    return {"stage": stage, "seconds": float(seconds), "seconds_left": float(left), "losses": {"pose": loss},
            "figures": figures}


def places(picture, network):
    """(N, 2) rows and columns that have a network's colour."""
    return np.argwhere(np.abs(picture[..., :3] - plot.COLOURS[network]).max(axis=-1) < 0.02)


def upper(spots):
    return spots[spots[:, 0] > 240]


def lower(spots):
    return spots[spots[:, 0] < 240]


def test_losses_fall_from_the_upper_left_to_the_lower_right():
    picture = plot.paint([line(seconds, loss=100.0 / (1 + seconds)) for seconds in range(100)])
    spots = lower(places(picture, "decompressor"))
    left, right = spots[spots[:, 1].argmin()], spots[spots[:, 1].argmax()]
    assert left[1] < 80 and right[1] > 440 and left[0] > right[0] + 100
    assert picture.shape == (480, 480, 4) and picture.dtype == np.float32 and (picture[..., 3] == 1).all()


def test_the_time_that_is_left_is_left_empty():
    half = plot.paint([line(seconds, left=50 - seconds) for seconds in range(25)])
    assert 220 < places(half, "decompressor")[:, 1].max() < 300


def test_each_network_has_its_colour_and_errors_their_own_half():
    lines = [line(10, joint_error_cm=2.0), line(20, "stepper", joint_error_cm=1.0, drift_1s_learned_cm=8.0),
             line(30, "projector", joint_error_cm=1.0, drift_1s_learned_cm=6.0), line(40, "stepper"),
             line(50, "projector")]
    picture = plot.paint(lines)
    poses, drift = (upper(places(picture, name)) for name in ("decompressor", "stepper"))
    assert len(poses) and len(drift) and drift[:, 0].min() > poses[:, 0].max(), "8 cm lie above 2 cm"
    assert len(lower(places(picture, "projector"))) and not len(upper(places(picture, "projector")))


@pytest.mark.parametrize("lines", [
    [], [{"cancelled": True, "seconds": 3.0}], [line(0)], [{"seconds": "x", "losses": None}],
    [line(5, loss=0.0), line(6, loss=float("nan")), line(7, loss=float("inf"))],
    [{"done": True, "seconds": 9.0, "figures": {"joint_error_cm": float("nan")}}],
    [line(7200 * n, loss=10.0 ** -n) for n in range(9)]])
def test_anything_that_may_stand_in_the_file_can_be_painted(lines):
    assert np.isfinite(plot.paint(lines)).all()


def test_a_panel_gets_it_as_an_icon_and_the_file_knows_nothing_of_it(extension, tmp_path):
    progress = ProgressLines(tmp_path)
    assert plots.icon_of("hero", progress) == 0, "there is nothing to show yet"
    progress.lines = [line(seconds) for seconds in range(5)]
    assert plots.icon_of("hero", progress) == 0 and bpy.app.timers.is_registered(plots.paint)
    plots.paint()
    assert plots.icon_of("hero", progress) == plots._previews["hero"].icon_id
    preview = plots._previews["hero"]
    shown = np.empty(480 * 480 * 4, dtype=np.float32)
    preview.image_pixels_float.foreach_get(shown)
    assert np.abs(shown - plot.paint(progress.lines).ravel()).max() < 1 / 250
    progress.lines = [line(seconds) for seconds in range(6)]
    bpy.app.timers.unregister(plots.paint)
    plots.icon_of("hero", progress)
    assert bpy.app.timers.is_registered(plots.paint), "it is painted anew when there is more to show"
    assert plots.swatch("stepper") == plots._previews["swatch stepper"].icon_id
    assert not bpy.data.images and not bpy.data.textures
    plots.unregister()
    assert plots._previews is None and not bpy.app.timers.is_registered(plots.paint)
