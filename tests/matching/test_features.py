# SPDX-License-Identifier: GPL-3.0-or-later
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mm_blender.control.stick_guide import StickGuide
from mm_blender.errors import MotionError
from mm_blender.matching.features import KINDS, Kind, Normalisation, known, measure
from mm_blender.matching.schema import PRESETS, Channel, Schema
from mm_blender.motion import bvh, demo, quat
from mm_blender.motion.clip import Tag
from mm_blender.motion.roles import find_character
from mm_blender.playback.query import Queries
from mm_blender.prepare.clean import clean
from mm_blender.prepare.mirror import mirror
from mm_blender.prepare.recipe import Recipe
from mm_blender.prepare.root import rooted
from tests import quadruped

LOCOMOTION = PRESETS["locomotion"]


@pytest.fixture(scope="module")
def demo_clips():
    return {clip.name: clip for clip in demo.clips()}


# The numbers

def test_locomotion_is_the_27_numbers_of_the_papers(demo_clips):
    clip = next(clip for clip in demo_clips.values() if not clip.loop and len(clip) > 200)
    character = find_character(clip.skeleton)
    features = measure(clip, character, LOCOMOTION)
    assert features.shape == (len(clip), 27)
    for frame in (1, 37, 90, len(clip) - 61):
        assert np.abs(features[frame] - _by_the_book(clip, character, frame)).max() < 2e-4


def test_locomotion_past_is_31_numbers_one_past_and_three_future_samples(walk, character):
    clip = walk(seconds=3, turn=1.0)
    features = measure(clip, character, PRESETS["locomotion_past"])
    assert features.shape == (len(clip), 31)
    positions, _ = clip.globals()
    for frame in (6, 60, 120):
        for column, ahead in enumerate((-6, 18, 36, 60)):
            expected = _seen_from_root(clip, frame, positions[frame + ahead, 0] - positions[frame, 0])[:2]
            assert np.abs(features[frame, 2 * column:2 * column + 2] - expected).max() < 1e-5


def test_quadruped_follows_four_feet():
    clip = clean(quadruped.trot(), four := quadruped.character(), Recipe())[0].clip
    features = measure(clip, rooted(four), PRESETS["quadruped"])
    assert features.shape[1] == 12 + 4 * 6 + 3
    names = [f"{side}_{part}" for part in ("hand", "foot") for side in ("left", "right")]
    places = features[:, 12:24].reshape(-1, 4, 3)
    for number, role in enumerate(names):
        assert np.array_equal(places[:, number], measure(clip, rooted(four), Schema([Channel("bone_position", role)])))
    # Each foot goes its own way: those across from each other together, the others in turns.
    height = places[:, :, 2] - places[:, :, 2].mean(axis=0)
    along = np.corrcoef(height.T)
    assert along[0, 3] > 0.5 and along[1, 2] > 0.5 and along[0, 1] < 0 and along[2, 3] < 0


def test_the_root_frame_has_x_right_and_y_forward(walk, character):
    clip = walk(forward=2.0, right=0.5, turn=0.0, swing=0.0)
    turned = quat.from_yaw(np.float32(2.0))
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, 0], rotations[:, 0] = quat.rotate(turned, positions[:, 0]), quat.mul(turned, rotations[:, 0])
    features = measure(clip.with_changes(positions=positions, rotations=rotations), character, LOCOMOTION)[30]
    assert np.allclose(features[:6], [1 / 6, 2 / 3, 1 / 3, 4 / 3, 0.5, 2], atol=1e-5)
    assert np.allclose(features[6:12], [0, 1, 0, 1, 0, 1], atol=1e-6)
    assert np.allclose(features[12:18], [-0.1, 0, 0.05, 0.1, 0, 0.05], atol=1e-6)
    assert np.allclose(features[18:27], [0.5, 2, 0] * 3, atol=1e-4)


# Times

def test_times_between_frames_are_interpolated(walk, character):
    schema = Schema([Channel("trajectory_position", times=(0.11, -0.2025)),
                     Channel("trajectory_direction", times=(0.11,))])
    features = measure(walk(forward=1.0), character, schema)[30]
    assert np.allclose(features, [0, 0.11, 0, -0.2025, 0, 1], atol=1e-5)
    arc = measure(walk(forward=1.0, turn=1.0), character, schema)[30]
    assert np.allclose(arc[4:], [-np.sin(0.11), np.cos(0.11)], atol=1e-5)


@pytest.mark.parametrize("rate", [24.0, 30.0, 30000 / 1001, 120.0])
def test_another_rate_gives_the_same_features(walk, character, rate):
    fine = measure(walk(seconds=4, turn=0.8), character, LOCOMOTION)
    other = measure(walk(seconds=4, rate=rate, turn=0.8), character, LOCOMOTION)
    times = np.arange(len(other)) / rate
    inside = (times > 0.1) & (times < 2.9)
    same = np.stack([np.interp(times, np.arange(len(fine)) / 60, column) for column in fine.T], axis=-1)
    apart = np.abs(same - other)[inside]
    assert apart[:, :18].max() < 0.002  # metres and directions
    assert apart[:, 18:].max() < 0.06  # m/s, of swings of 3 m/s: differences over longer steps are flatter


# Past the ends

@pytest.mark.parametrize("motion", [{"forward": 1.5}, {"forward": 1.5, "turn": 2.0}, {"forward": 1.0, "turn": -5.0},
                                    {"forward": -0.6, "right": 1.0, "turn": 1.0}, {"forward": 0.0, "turn": 3.0}])
def test_straight_lines_and_arcs_continue_exactly_past_both_ends(walk, character, motion):
    schema = Schema([*PRESETS["locomotion_past"].channels, Channel("bone_velocity", "hips", (-0.5, 0.7)),
                     Channel("bone_position", "left_foot", (-0.3, 0.5))])
    features = measure(walk(seconds=1.0, swing=0.0, **motion), character, schema)
    assert np.abs(features - features[30]).max() < 2e-4


def test_one_frame_of_noise_at_the_end_does_not_throw_the_future_off(walk, character):
    clip = walk(forward=1.5, swing=0.0)
    positions = clip.positions.copy()
    positions[-1, 0, 0] += 0.002
    last = measure(clip.with_changes(positions=positions), character, LOCOMOTION)[-1]
    assert np.abs(last[4:6] - [0, 1.5]).max() < 0.03  # the last step alone would lead 12 cm astray


def test_poses_are_held_past_the_end_without_a_kink_in_velocities(walk, character):
    clip = walk(seconds=1.1)
    feet = measure(clip, character, LOCOMOTION)[:, 18:24]
    assert np.array_equal(feet[-1], feet[-2]) and np.array_equal(feet[0], feet[1])
    assert np.abs(np.diff(feet, axis=0)).max() < 0.5


def test_known_frames_are_those_whose_times_all_lie_inside(walk):
    inside = known(200, 60.0, PRESETS["locomotion_past"])
    assert inside.nonzero()[0].tolist() == list(range(6, 140))
    assert not known(40, 60.0, LOCOMOTION).any()


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_a_clip_of_few_frames_has_features_too(walk, character, frames):
    features = measure(walk().slice(10, 10 + frames), character, PRESETS["locomotion_past"])
    assert features.shape == (frames, 31) and np.isfinite(features).all()


# Loops

@pytest.mark.parametrize("turn", [0.0, 2.0, -2 * np.pi])
def test_a_looping_circle_has_constant_features_at_all_frames(walk, character, turn):
    features = measure(walk(seconds=1.0, turn=turn, swing=0.0, loop=True), character, PRESETS["locomotion_past"])
    assert np.abs(features - features[30]).max() < 2e-4


def test_a_loop_is_measured_as_if_it_went_round_for_ever(walk, character):
    schema = Schema([*PRESETS["locomotion_past"].channels, Channel("bone_position", "left_foot", (-1.4, 2.3)),
                     Channel("trajectory_position", times=(-2.5, 3.5))])
    loop = measure(_swaying(walk(seconds=1.0, loop=True)), character, schema)
    rounds = measure(_swaying(walk(seconds=9.0)), character, schema)[240:301]
    assert np.abs(loop - rounds).max() < 1e-3
    assert np.abs(loop[0] - loop[-1]).max() < 1e-3
    straight = measure(_swaying(walk(seconds=1.0)), character, schema)
    assert np.abs(straight - rounds).max() > 0.1  # without the loop it is otherwise


def _swaying(clip):
    """The clip on a path that turns and sways and hurries, each step seen from the root the same in every second."""
    phase = 2 * np.pi * np.arange(len(clip)) / clip.rate
    yaw = 0.2 * phase + 0.3 * np.sin(phase)
    steps = np.stack([0.2 * np.cos(phase), 1 + 0.5 * np.sin(phase), 0 * phase], axis=-1) / clip.rate
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[1:, 0] = np.cumsum(quat.rotate(quat.from_yaw(yaw), steps), axis=0)[:-1]
    rotations[:, 0] = quat.from_yaw(yaw)
    return clip.with_changes(positions=positions, rotations=rotations)


# The other channels

def test_bone_direction_points_to_the_child_seen_from_the_root(walk, character):
    features = measure(walk(turn=1.0), character, Schema([Channel("bone_direction", "left_thigh")]))
    swing = 0.5 * np.sin(2 * np.pi * np.arange(121) / 60)
    assert np.allclose(features, np.stack([0 * swing, np.sin(swing), -np.cos(swing)], axis=-1), atol=1e-5)


def test_bone_direction_of_a_bone_without_children_is_its_own_y(walk, character):
    clip = walk(turn=1.0, swing=0.0)
    rotations = clip.rotations.copy()
    rotations[:, 3] = quat.from_yaw(np.float32(0.3))
    schema = Schema([Channel("bone_direction", "left_foot")])
    features = measure(clip.with_changes(rotations=rotations), character, schema)
    assert np.allclose(features, [-np.sin(0.3), np.cos(0.3), 0], atol=1e-5)


@pytest.mark.parametrize("nod, turned, way", [
    (0.0, 0.0, (0, 1, 0)), (0.0, 0.7, (-np.sin(0.7), np.cos(0.7), 0)), (0.4, 0.0, (0, np.cos(0.4), np.sin(0.4)))])
def test_a_head_faces_where_its_front_is_whichever_way_its_bone_points(nod, turned, way):
    skeleton = demo.skeleton()
    character = find_character(skeleton)
    clip = next(clip for clip in demo.clips() if clip.name == "walk arc 2 left")
    _, rotations = clip.globals()
    head = skeleton.index("head")
    upright = quat.mul(quat.from_yaw(np.float32(np.pi)), skeleton.rest[1][head])  # at rest it faces backwards
    looks = quat.mul(quat.from_yaw(turned), quat.mul(quat.from_angle_axis(nod, [1.0, 0.0, 0.0]), upright))
    wanted = quat.mul(clip.rotations[:, 0], np.broadcast_to(looks, (len(clip), 4)))
    local = clip.rotations.copy()
    local[:, head] = quat.inv_mul(rotations[:, skeleton.parents[head]], wanted)
    schema = Schema([Channel("bone_facing", "head")])
    features = measure(clip.with_changes(rotations=local), character, schema)
    assert np.abs(features[5:-5] - way).max() < 1e-3
    image = measure(mirror(clip.with_changes(rotations=local), character.mirror), character, schema)
    assert np.abs(image[5:-5] - np.multiply(way, (-1, 1, 1))).max() < 1e-2


def test_without_a_rest_pose_that_stands_no_front_is_known(walk, character):
    lying = replace(character.skeleton, positions=character.skeleton.positions[:, [0, 2, 1]])
    with pytest.raises(MotionError, match='use the feature "bone_direction" instead'):
        measure(replace(walk(), skeleton=lying), replace(character, skeleton=lying),
                Schema([Channel("bone_facing", "hips")]))


class Nearness(Kind):
    """How far away something is that moves beside the clip."""

    name, tooltip, belongs, usual = "nearness", "How far away a thing is", "track", ("ball", (0.0,))

    def measure_at(self, scene, channel, time):
        return np.linalg.norm(scene.tracks[channel.of] - scene.here(), axis=-1, keepdims=True)

    def ask(self, channel, situation):
        return [2.0]


def test_a_new_kind_is_one_class_that_sees_what_is_beside_the_clip(walk, character, monkeypatch):
    monkeypatch.setitem(KINDS, "nearness", Nearness())
    clip, schema = walk(), Schema([Channel("nearness", "ball"), Channel("trajectory_height")])
    ball = clip.positions[:, 0] + (3, 4, 0)
    assert np.allclose(measure(clip, character, schema, {"ball": ball})[:, 0], 5)
    assert Schema.from_json(schema.to_json()) == schema and schema.channels[0].label == "ball nearness"
    facts = SimpleNamespace(schema=schema, character=character, tags=(),
                            normalisation=Normalisation(np.array([1.0, 0.9]), np.array([2.0, 1.0])))
    query, body = np.zeros(2), SimpleNamespace(root=(0j, 0.0))
    Queries(facts).write(query, StickGuide(60.0), body)
    assert query.tolist() == [0.5, 0.0]


def test_trajectory_height_is_the_height_of_the_hips_at_each_time(walk, character):
    features = measure(walk(), character, Schema([Channel("trajectory_height", times=(-0.1, 0.0, 0.25))]))
    times = np.arange(121)[:, None] / 60 + [-0.1, 0.0, 0.25]
    heights = 1 + 0.02 * np.cos(4 * np.pi * times)
    assert np.allclose(features[6:-15], heights[6:-15], atol=1e-5)
    assert np.allclose(features[-1], heights[-1, [0, 1, 1]], atol=1e-5)  # past the end the pose is held


def test_a_tag_is_one_where_it_is_set(walk, character):
    clip = walk(tags=(Tag("run", 0.5, 1.0),))
    schema = Schema([Channel("tag", "run"), Channel("tag", "run", (0.5,)), Channel("tag", "sit")])
    features = measure(clip, character, schema)
    frames = np.arange(121)
    assert np.array_equal(features[:, 0], (frames >= 30) & (frames <= 60))
    assert np.array_equal(features[:, 1], frames <= 30)
    assert not features[:, 2].any()


def test_a_property_is_the_value_of_its_curve(walk, character):
    mood = np.linspace(0, 5, 121)
    features = measure(walk(curves={"mood": mood}), character, Schema([Channel("property", "mood", (0.0, 0.1))]))
    assert np.allclose(features[:100, 0], mood[:100]) and np.allclose(features[:100, 1], mood[6:106], atol=1e-5)


# Mirrored

def test_a_mirrored_demo_clip_has_the_features_with_left_and_right_swapped(demo_clips):
    character = find_character(demo.skeleton())
    for name in list(demo_clips)[1::9]:
        _check_mirrored(demo_clips[name], character, within=1e-4)


def test_a_mirrored_mocap_clip_has_the_features_with_left_and_right_swapped(lafan1):
    raw = bvh.read(next(lafan1.glob("run*.bvh")), 0.01)
    character = find_character(raw.skeleton)
    for piece in clean(raw, character, Recipe()):
        # The actor's legs are alike to a few micrometres, not exactly.
        _check_mirrored(piece.clip, replace(character, skeleton=piece.clip.skeleton), within=2e-4)


# Normalisation

def test_each_number_is_centred_and_each_feature_has_one_scale(walk, character):
    features = measure(walk(turn=0.7), character, LOCOMOTION)
    normalisation = Normalisation.of(features, LOCOMOTION)
    normal = normalisation.apply(features)
    assert np.abs(normal.mean(axis=0)).max() < 1e-4
    for part in LOCOMOTION.slices:
        assert len(set(normalisation.scale[part])) == 1
    feet = LOCOMOTION.slices[2]
    assert np.isclose(np.sqrt(normal[:, feet].var(axis=0).mean()), 1, atol=1e-3)
    # One scale for a feature: the foot's small sideways motion stays small beside its large forward motion.
    assert normal[:, feet][:, 0].std() < 0.01 * normal[:, feet][:, 1].std()
    assert np.allclose(normalisation.undo(normal), features, atol=1e-5)


def test_a_feature_that_never_changes_does_not_explode(walk, character):
    features = measure(walk(swing=0.0), character, LOCOMOTION)
    noisy = features + np.random.default_rng(0).normal(0, 1e-6, features.shape).astype(np.float32)
    assert np.abs(Normalisation.of(noisy, LOCOMOTION).apply(noisy)).max() < 1e-3


def test_the_mean_of_a_million_frames_is_exact():
    schema = Schema([Channel("trajectory_height")])
    features = np.full((1_000_000, 1), 0.9, dtype=np.float32)
    features[::2] += 0.1
    assert abs(Normalisation.of(features, schema).mean[0] - 0.95) < 1e-6


def _by_the_book(clip, character, frame):
    """Equations 3.12 and 3.13 of the thesis, and section 3 of Learned Motion Matching, for one frame at 60 Hz."""
    positions, rotations = (part.astype(np.float64) for part in clip.globals())
    left, right, hips = (character.joint(role) for role in ("left_foot", "right_foot", "hips"))
    numbers = []
    for ahead in (20, 40, 60):
        numbers += list(_seen_from_root(clip, frame, positions[frame + ahead, 0] - positions[frame, 0])[:2])
    for ahead in (20, 40, 60):
        numbers += list(_seen_from_root(clip, frame, quat.rotate(rotations[frame + ahead, 0], [0, 1, 0]))[:2])
    for foot in (left, right):
        numbers += list(_seen_from_root(clip, frame, positions[frame, foot] - positions[frame, 0]))
    for joint in (left, right, hips):
        numbers += list(_seen_from_root(clip, frame, (positions[frame + 1, joint] - positions[frame - 1, joint]) * 30))
    return np.array(numbers)


def _seen_from_root(clip, frame, vector):
    return quat.to_matrix(clip.rotations[frame, 0].astype(np.float64)).T @ vector


def _check_mirrored(clip, character, within):
    original = measure(clip, character, PRESETS["locomotion_past"])
    image = measure(mirror(clip, character.mirror), character, PRESETS["locomotion_past"])
    expected = original.copy()
    expected[:, 0:16:2] *= -1  # trajectory positions and directions
    expected[:, 16:31:3] *= -1  # feet and hips
    feet = expected[:, 16:28].reshape(-1, 2, 2, 3)[:, :, ::-1]
    expected[:, 16:28] = feet.reshape(-1, 12)
    assert np.abs(image - expected).max() < within
    assert np.abs(original - expected).max() > 0.01  # nothing is compared with itself
