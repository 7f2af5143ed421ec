# SPDX-License-Identifier: GPL-3.0-or-later
"""What is recorded of each frame."""

import gc
import tracemalloc

import numpy as np
import pytest

from mm_blender.control.stick import Stick
from mm_blender.motion import quat
from mm_blender.playback import columns
from mm_blender.playback.contact import HELD
from mm_blender.playback.library import BakedLibrary
from tests.steering import group_of

FRAMES = 90


@pytest.fixture(params=["in memory", "on the disk"])
def driven(request, demo_database, search, monkeypatch):
    """Two characters of which the second is driven in a circle, and what a look at their Player told in each frame."""
    if request.param == "on the disk":
        monkeypatch.setattr(columns, "CHUNK", 20_000)
    group = group_of(BakedLibrary(demo_database, search.allowing(search.allowed)), 2)
    group.player.ground = lambda points: 0 * points[..., 2] + 0.1
    looks = []
    for frame in range(FRAMES):
        group.guides[1].steer(Stick(move_y=1.0), heading=0.03 * frame)
        group.step()
        looks.append(look(group.player))
    return group, looks


def look(player, index=1):
    """What a Player shows of one of its characters."""
    who, queries = player.asked
    intent, (place, yaw) = player.guides[index].intent, player.roots[index]
    return {"wanted": [intent.velocity.real, intent.velocity.imag, intent.yaw], "root": [place.real, place.imag, yaw],
            "asked": queries[list(who).index(index)].copy() if index in who else None,
            "chosen": player.matcher.frames[index], "cost": player.matcher.costs[index], "jumped": player.jumped[index],
            "contacts": player.contacts[index], "feet": player.feet.states()[index], "height": player.heights[index],
            "moving": player.moving[index].copy(), "rotations": player.rotations[index].copy()}


def test_a_frame_tells_what_was_wanted_asked_chosen_and_shown(driven):
    group, looks = driven
    assert len(group.record) == FRAMES and any(each["jumped"] for each in looks)
    for at, seen in enumerate(looks):
        frame = group.record.frame(at, 1)
        assert (frame.asked is None) == (seen["asked"] is None)
        for name, value in seen.items():
            assert value is None or getattr(frame, name) == pytest.approx(np.asarray(value), rel=1e-6), (at, name)
    assert group.record.frame(-1, 1).chosen == group.record.frame(FRAMES - 1, 1).chosen


def test_queries_are_kept_of_frames_that_searched_and_of_no_others(driven):
    group, looks = driven
    frames, queries = group.record.asked(1)
    assert frames.tolist() == [at for at, seen in enumerate(looks) if seen["asked"] is not None]
    assert 0.05 < len(frames) / FRAMES < 0.5 and np.isfinite(queries).all()
    for at in (frames[-1], frames[-1] - FRAMES):  # counted from the beginning, and back from the end
        assert np.array_equal(group.record.frame(at, 1).asked, queries[-1])


def test_a_trace_and_a_clip_have_all_frames(driven):
    group, looks = driven
    trace, clip = group.record.trace(1), group.record.clip(1)
    assert trace.frames.tolist() == [seen["chosen"] for seen in looks]
    assert trace.feet.tolist() == [list(seen["feet"]) for seen in looks]
    assert 0 < trace.planted.sum() == (trace.feet == HELD).sum() < trace.planted.size
    assert trace.wanted == pytest.approx(np.array([seen["wanted"] for seen in looks]))
    roots = np.array([[*seen["root"][:2], seen["height"]] for seen in looks], np.float32)
    assert np.array_equal(clip.positions[:, 0], roots) and np.array_equal(clip.contacts, trace.planted)
    moving = group.player.motion.moving
    assert np.array_equal(clip.positions[:, moving], [seen["moving"] for seen in looks])
    assert np.array_equal(clip.rotations[:, 1:], [seen["rotations"][1:] for seen in looks])
    assert clip.rotations[:, 0] == pytest.approx(quat.from_yaw(np.array([seen["root"][2] for seen in looks])))


def test_hours_of_driving_take_no_more_memory_than_a_minute(demo_database, search, monkeypatch):
    monkeypatch.setattr(columns, "CHUNK", 30_000)  # full several times
    group = group_of(BakedLibrary(demo_database, search.allowing(search.allowed)))
    used = []
    tracemalloc.start()
    for frame in range(900):
        group.guides[0].steer(Stick(move_y=1.0), heading=0.01 * frame)
        group.step()
        if frame in (299, 899):
            gc.collect()
            used.append((tracemalloc.get_traced_memory()[0], len(gc.get_objects())))
    tracemalloc.reset_peak()
    clip = group.record.clip()
    peak = tracemalloc.get_traced_memory()[1] - used[-1][0]
    tracemalloc.stop()
    assert peak < 1.6 * (clip.positions.nbytes + clip.rotations.nbytes), "nor is a take twice in memory to be kept"
    (bytes_before, objects_before), (bytes_after, objects_after) = used
    assert (bytes_after - bytes_before) / 600 * 216_000 < 60e6, "bytes in an hour"
    assert objects_after - objects_before < 100, "Python's garbage collector has nothing to look through"
