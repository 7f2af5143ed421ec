# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes with odd rates and frames: what is driven in them is kept as it was played, or a sentence says why not."""

import bpy
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.scene import driving
from tests.scene.going import drive, place

pytestmark = pytest.mark.once


@pytest.fixture
def scene(source):
    """The scene, once motion is baked at 60 frames per second."""
    bpy.context.scene.frame_set(1)
    return bpy.context.scene


def driven(source, scene, seconds=2.0):
    """Where the hips were every thirtieth of a second while the character was driven, and the take."""
    places = [place(source, "hips")]
    session = drive(source, seconds, watch=lambda _: places.append(place(source, "hips")))
    (name,) = session.keep()
    return np.array(places), bpy.data.actions[name]


@pytest.mark.parametrize("fps, base, frame", [(1, 1, 1), (240, 1, -250), (24, 1.001, 0), (60, 7.77, 100_000),
                                              (24, 0.1, -1_000_000), (1000, 3.3, -3)])
def test_a_take_is_what_was_driven(source, scene, fps, base, frame):
    scene.render.fps, scene.render.fps_base = fps, base
    scene.frame_set(frame)
    places, take = driven(source, scene)
    rate, (first, last) = fps / base, take.frame_range
    assert first == frame and last - first == pytest.approx(2 * rate, abs=1 + rate / 30)
    for at in range(frame, round(last) + 1, max(1, round(last - first) // 8)):
        scene.frame_set(at)
        then = 30 * (at - frame) / rate
        shown = [np.interp(then, range(len(places)), column) for column in places.T]
        assert place(source, "hips") == pytest.approx(shown, abs=0.06), at


@pytest.mark.parametrize("fps, base", [(1, 100), (1, 1e6)])
def test_a_scene_that_is_slower_than_the_take_gets_its_beginning(source, scene, fps, base):
    scene.render.fps, scene.render.fps_base = fps, base
    before = place(source, "hips")
    _, take = driven(source, scene)
    scene.frame_set(1)
    assert tuple(take.frame_range) == (1, 1) and place(source, "hips") == pytest.approx(before, abs=0.06)


@pytest.mark.parametrize("fps, base", [(32767, 1e-5)])
def test_where_no_take_fits_a_sentence_says_so_and_driving_goes_on(source, scene, fps, base):
    scene.render.fps, scene.render.fps_base = fps, base
    session, before = drive(source, 2.0), {*bpy.data.actions}
    with pytest.raises(MotionError, match=r"would have 6,[0-9]{3},[0-9]{3},[0-9]{3} frames, and a clip has at most"):
        session.keep()
    assert driving.current() is session and {*bpy.data.actions} == before
