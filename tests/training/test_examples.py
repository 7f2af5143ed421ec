# SPDX-License-Identifier: GPL-3.0-or-later
"""What networks learn from never crosses a clip's end, and leaves out what is held back."""

import numpy as np
import pytest

from mm_blender.motion.skeleton import forward


def test_a_twentieth_of_each_clip_is_held_back_in_one_piece(examples, database):
    for part in database.ranges:
        held = np.flatnonzero(examples.held[part.start:part.stop])
        assert len(held) == round(0.05 * len(part))
        assert len(held) == 0 or held[-1] - held[0] + 1 == len(held)


def test_a_mirror_image_holds_back_what_its_original_does(mirrored):
    from mm_blender.training.examples import Examples

    held, pieces = Examples(mirrored).held, {}
    for part in mirrored.ranges:
        pieces.setdefault((part.source, part.source_start), []).append(held[part.start:part.stop])
    assert held.any() and all(np.array_equal(one, other) for one, other in pieces.values())


@pytest.mark.parametrize("length", [1, 20])
def test_windows_stay_within_their_clip_and_touch_nothing_that_is_held_back(examples, database, length):
    windows = examples.window(examples.starts(length), length)
    clips = database.range_of_frame[windows]
    assert windows.shape[1] > 100 and (clips == clips[0]).all()
    assert not examples.held[windows].any()
    steps = np.diff(windows, axis=0)
    loops = np.array([part.loop for part in database.ranges])[clips[0]]
    assert (steps[:, ~loops] == 1).all() and ((steps == 1) | (steps < 0)).all()
    assert (steps[:, loops] < 0).any() or length == 1  # loops go round


def test_windows_that_are_held_back_begin_in_what_is_held_back(examples):
    assert examples.held[examples.starts(20, held=True)].all()


def test_places_are_those_of_the_character_with_its_root_at_the_origin(examples, database):
    frames = np.arange(0, len(database), 37)
    positions, rotations = database.local_positions(frames), database.rotations[frames].copy()
    positions[:, 0], rotations[:, 0] = 0, (1, 0, 0, 0)
    places, _ = forward(database.skeleton, positions, rotations)
    assert examples.places[frames].numpy() == pytest.approx(
        places[:, np.concatenate(database.skeleton.levels)].transpose(0, 2, 1), abs=1e-5)


def test_every_frame_that_may_be_entered_has_one_of_the_combinations_of_tags(examples):
    combinations, of_frame = examples.combinations
    assert (of_frame[examples.free] >= 0).all()
    assert np.array_equal(combinations[of_frame[examples.free]], examples.marks[examples.free])
