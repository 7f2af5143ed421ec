# SPDX-License-Identifier: GPL-3.0-or-later
"""Features are drawn where they say: seen from the root they are numbers, in the world they are lines."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.matching.feature_lines import COLOURS, LIFT, POINTING, SPEED, arrow, cross, lines_of
from mm_blender.matching.features import measure
from mm_blender.matching.schema import PRESETS, Channel, Schema
from mm_blender.motion import demo, quat
from mm_blender.motion.roles import find_character

FRAME = 70


@cache
def curving():
    """Two seconds of a curved walk, away from the origin and turned."""
    names = {clip.name: clip for clip in demo.clips(30.0)}
    clip = names["walk arc 2 left"]
    return moved(clip.slice(0, 110), (3.0, -2.0), 1.1)


def moved(clip, by, turn):
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, 0] = quat.rotate(quat.from_yaw(turn), positions[:, 0]) + (*by, 0)
    rotations[:, 0] = quat.mul(quat.from_yaw(turn), rotations[:, 0])
    return clip.with_changes(positions=positions, rotations=rotations)


def drawn(clip, *channels, frame=FRAME):
    return lines_of(clip, find_character(clip.skeleton), Schema(channels)).lines(frame)


def world(clip, name):
    return clip.globals()[0][:, clip.skeleton.index(name)]


def coloured(segments, colours, kind):
    return segments[np.isclose(colours, COLOURS[kind]).all(axis=1)]


def test_a_bone_position_is_a_cross_at_the_bone():
    segments, colours = drawn(curving(), Channel("bone_position", "left_foot"))
    assert np.allclose(segments, cross(world(curving(), "foot.L")[FRAME]), atol=1e-4)
    assert np.allclose(colours, COLOURS["bone_position"])


def test_a_bone_velocity_is_an_arrow_from_the_bone_along_its_motion():
    segments, _ = drawn(curving(), Channel("bone_velocity", "left_foot"))
    places = world(curving(), "foot.L")
    velocity = (places[FRAME + 1] - places[FRAME - 1]) * curving().rate / 2
    assert np.allclose(segments, arrow(places[FRAME], SPEED * velocity), atol=2e-3)


def test_a_moved_bone_moves_its_segments_and_no_others():
    clip, up = curving(), np.array([0, 0, 0.3], np.float32)
    positions = clip.positions.copy()
    joint = clip.skeleton.index("hand.L")
    rotations = clip.globals()[1][:, clip.skeleton.parents[joint]]
    positions[:, joint] += quat.inv_rotate(rotations, np.broadcast_to(up, (len(clip), 3)))
    channels = (Channel("bone_position", "left_hand"), Channel("bone_position", "right_hand"))
    before, _ = drawn(clip, *channels)
    after, _ = drawn(clip.with_changes(positions=positions), *channels)
    assert np.allclose(after[:3] - before[:3], up, atol=1e-4)
    assert np.allclose(after[3:], before[3:], atol=1e-6)


def test_the_trajectory_is_a_line_on_the_ground_along_the_root():
    clip, times = curving(), (-1 / 3, 1 / 3, 2 / 3)
    segments, colours = drawn(clip, Channel("trajectory_position", times=times))
    line = coloured(segments, colours, "trajectory")
    assert np.allclose(segments[..., 2], LIFT)
    frames = [FRAME + round(time * clip.rate) for time in times]
    for place in clip.positions[frames, 0]:
        assert np.linalg.norm(line[..., :2] - place[:2], axis=-1).min() < 0.04
    rings = segments[-24:].reshape(3, 16, 3).mean(axis=1)
    assert np.allclose(rings[:, :2], clip.positions[frames, 0, :2], atol=1e-3)
    assert len(coloured(segments, colours, "past")) == 8


def test_facings_are_arrows_at_the_places_of_the_trajectory():
    clip, times = curving(), (1 / 3, 2 / 3)
    segments, colours = drawn(clip, Channel("trajectory_direction", times=times))
    arrows = coloured(segments, colours, "trajectory_direction").reshape(2, 3, 2, 3)
    for time, (start, end) in zip(times, arrows[:, 0]):
        frame = FRAME + round(time * clip.rate)
        way = quat.rotate(clip.rotations[frame, 0], np.array([0.0, 1.0, 0.0]))
        assert np.allclose(start[:2], clip.positions[frame, 0, :2], atol=1e-3)
        assert np.allclose(end - start, POINTING * way, atol=1e-3)


def test_a_height_is_an_upright_line_as_high_as_the_hips():
    segments, colours = drawn(curving(), Channel("trajectory_height", times=(1 / 3,)))
    line, = coloured(segments, colours, "trajectory_height")
    assert line[1, 2] - line[0, 2] == pytest.approx(world(curving(), "hips")[FRAME + 10, 2], abs=1e-3)
    assert np.allclose(line[0, :2], line[1, :2])


def test_tags_and_properties_have_no_place_to_be_drawn_at():
    segments, colours = drawn(curving(), Channel("tag", "walk"))
    assert segments.shape == (0, 2, 3) and colours.shape == (0, 3)


def test_moving_the_whole_clip_moves_the_whole_picture():
    clip, schema = curving(), PRESETS["locomotion"]
    before, _ = lines_of(clip, find_character(clip.skeleton), schema).lines(FRAME)
    after, _ = lines_of(moved(clip, (1, 2), 0.0), find_character(clip.skeleton), schema).lines(FRAME)
    assert np.allclose(after - before, (1, 2, 0), atol=1e-4)


def test_the_numbers_are_those_of_the_database():
    clip = curving()
    character = find_character(clip.skeleton)
    shown = lines_of(clip, character, PRESETS["locomotion"])
    assert np.array_equal(shown.features, measure(clip, character, PRESETS["locomotion"])) and len(shown) == len(clip)


def test_a_missing_role_is_named():
    character = find_character(curving().skeleton)
    roles = {role: name for role, name in character.roles.items() if role != "left_hand"}
    with pytest.raises(MotionError, match="left_hand"):
        lines_of(curving(), replace(character, roles=roles), Schema((Channel("bone_position", "left_hand"),)))


def test_an_arrow_without_length_is_no_trouble():
    assert np.isfinite(arrow(np.zeros(3), np.zeros(3))).all()
    assert np.isfinite(arrow(np.zeros(3), np.array([0, 0, 1.0]))).all()
