# SPDX-License-Identifier: GPL-3.0-or-later
"""Training on what is odd: it says beforehand what it will do, and ends with numbers."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.matching import bake, schema
from mm_blender.motion import quat
from mm_blender.motion.character import Character
from mm_blender.motion.clip import Clip
from mm_blender.motion.roles import find_character
from mm_blender.motion.skeleton import Skeleton, forward
from mm_blender.networks import file
from mm_blender.prepare.recipe import Recipe
from mm_blender.steps import run
from tests.databases import demo_clips


@pytest.fixture(autouse=True)
def short_driving(monkeypatch):
    """What is driven to learn from takes longer than anything else here."""
    from mm_blender.training import queries

    monkeypatch.setattr(queries, "SECONDS", 4.0)
    monkeypatch.setattr(queries, "HANDS", 2)


def clips(*names):
    return [clip for clip in demo_clips() if clip.name in names]


def baked(motions, character=None, features=None):
    def ready(clip):
        yield 1.0
        return clip
    sources = [bake.Source(clip.name, partial(ready, clip), clip.name) for clip in motions]
    return run(bake.bake(sources, character or find_character(motions[0].skeleton),
                         features or schema.load("locomotion"), Recipe()))


def with_leaves(clip, count):
    """So many joints more, on the last one."""
    old, frames = clip.skeleton, len(clip)
    skeleton = Skeleton([*old.names, *(f"leaf {index}" for index in range(count))],
                        np.append(old.parents, [len(old) - 1] * count),
                        np.concatenate([old.positions, np.full((count, 3), 0.05)]),
                        np.concatenate([old.rotations, np.tile([1.0, 0, 0, 0], (count, 1))]))
    return Clip(clip.name, skeleton, clip.rate,
                np.concatenate([clip.positions, np.full((frames, count, 3), 0.05)], axis=1),
                np.concatenate([clip.rotations, np.tile([1.0, 0, 0, 0], (frames, count, 1))], axis=1), loop=clip.loop)


def with_five_joints(clip):
    """Root, hips, head and both feet, all on the root."""
    character = find_character(clip.skeleton)
    kept = [0, *(character.joint(role) for role in ("hips", "head", "left_foot", "right_foot"))]
    places, turns = forward(clip.skeleton, clip.positions, clip.rotations)
    rest, rest_turns = forward(clip.skeleton, clip.skeleton.positions[None], clip.skeleton.rotations[None])
    parents = np.array([-1, 0, 0, 0, 0])

    def seen(places, turns):
        back = quat.inv(turns[:, :1])
        return (np.concatenate([places[:, :1], quat.rotate(back, places[:, kept[1:]] - places[:, :1])], axis=1),
                np.concatenate([turns[:, :1], quat.mul(back, turns[:, kept[1:]])], axis=1))

    rest, rest_turns = seen(rest, rest_turns)
    names = [clip.skeleton.names[joint] for joint in kept]
    skeleton = Skeleton(names, parents, rest[0], rest_turns[0])
    roles = dict(zip(("root", "hips", "head", "left_foot", "right_foot"), names))
    return Clip(clip.name, skeleton, clip.rate, *seen(places, turns), loop=clip.loop), Character(
        skeleton, roles, {name: name for name in names})


def train_for_a_moment(database, tmp_path, model="moe", iterations=3, **options):
    from mm_blender.training.train import Budget, train

    said = []
    database.save(tmp_path / "odd.mmdb")
    figures = train(tmp_path / "odd.mmdb", tmp_path / "odd.mmnet", Budget(iterations=iterations), model=model,
                    watch=lambda progress: said.append(progress.text), **options)
    assert all(np.isfinite(value) for value in figures.values() if isinstance(value, float))
    assert file.load(tmp_path / "odd.mmnet").model == model
    return said[0]


def test_one_clip_with_few_frames(tmp_path):
    said = train_for_a_moment(baked(clips("walk")), tmp_path)
    assert "4 experts" in said and "one clip" in said and "That is little" in said


def test_clips_of_less_than_a_second(tmp_path):
    short = [replace(clip, positions=clip.positions[:45], rotations=clip.rotations[:45], contacts=None, loop=False)
             for clip in clips("walk", "run")]
    train_for_a_moment(baked(short), tmp_path)
    assert "drift_1s_cm" not in file.load(tmp_path / "odd.mmnet").figures


def test_what_is_said_of_the_experts_is_what_is_made(tmp_path):
    said = train_for_a_moment(baked(clips("walk")), tmp_path)
    experts = file.load(tmp_path / "odd.mmnet").report()["experts"]
    assert experts["stepper"] > experts["projector"] == experts["decompressor"]
    assert f"{experts['projector']} experts in each network, {experts['stepper']} in the Stepper" in said


def test_features_without_a_trajectory(tmp_path):
    usual = schema.load("locomotion")
    features = replace(usual, channels=tuple(one for one in usual.channels if not one.kind.startswith("trajectory")))
    assert "cannot steer" in train_for_a_moment(baked(clips("walk", "idle"), features=features), tmp_path)


def test_a_skeleton_of_150_joints(tmp_path):
    motions = [with_leaves(clip, 127) for clip in clips("walk", "idle")]
    assert "149 joints" in train_for_a_moment(baked(motions), tmp_path)


def test_a_skeleton_of_5_joints_has_no_legs_to_hold_and_is_learned_all_the_same(tmp_path):
    motions, characters = zip(*map(with_five_joints, clips("walk", "idle")))
    assert "4 joints below the root" in train_for_a_moment(baked(motions, characters[0]), tmp_path)


def test_fewer_frames_than_experts_would_have():
    from mm_blender.training.examples import Examples
    from mm_blender.training.experts.decompressor import ExpertDecompressorStage

    whole = baked(clips("walk"))
    stage = ExpertDecompressorStage(Examples(whole), 0, experts=2 * len(whole))
    for _ in range(2):
        losses = stage.step(0.1)
    assert all(np.isfinite(float(loss)) for loss in losses.values())


def test_a_checkpoint_of_the_other_model_is_not_gone_on_with(tmp_path):
    database = baked(clips("walk"))
    train_for_a_moment(database, tmp_path, "lmm")
    with pytest.raises(MotionError, match="of another model"):
        train_for_a_moment(database, tmp_path, "moe", resume=True)
