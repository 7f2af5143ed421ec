# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes in a real window: one after the other, none displaced; and what becomes of a drive that something else ends."""

import numpy as np
import pytest


def test_no_take_is_lost(blender, pictures):
    found = blender.play("takes", pictures)
    (track,) = found["tracks"]
    assert [strip[1:] for strip in track] == [[1, track[0][2]], [track[0][2], track[1][2]], [track[1][2], track[2][2]]]
    assert not found["covered"] and found["own"] and found["end"] >= found["last"]
    speeds = 60 * np.linalg.norm(np.diff(np.array(found["ways"])[:, :2], axis=0), axis=-1)
    assert speeds.max() < 5 and speeds[60:].min() > 0.4, "it goes on from take to take"
    assert (found["undone"], found["redone"]) == (2, 3)
    assert found["joined"]["driving"] and found["joined"]["bones"] > 23
    assert not found["deleted"][0] and "Undo brings it back" in found["deleted"][1] and found["refused"]
    assert found["kept"]["new"] == 1 and found["kept"]["seconds"] > 1.7
    assert len(found["saved"]) == 1
    files = sorted(blender.profile.rglob("interrupted/*.bvh"))
    assert len(files) == 2, "of the file that was opened, and of the end"
    frames = int(files[1].read_text().partition("Frames: ")[2].split()[0])
    assert frames == pytest.approx(found["frames"], abs=20)
