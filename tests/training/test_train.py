# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole training: from a database to a file that drives, again with the same seed, and on after a stop."""

import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mm_blender.commands import main
from mm_blender.control import stick
from mm_blender.errors import Cancelled, MotionError
from mm_blender.evaluate import learned, random_hands
from mm_blender.matching import database as databases
from mm_blender.networks import file
from mm_blender.owner import Owner

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def path(database, tmp_path_factory):
    path = tmp_path_factory.mktemp("training") / "some.mmdb"
    database.save(path)
    return path


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    from mm_blender.training import queries, train

    monkeypatch.setattr(queries, "HANDS", 2)
    monkeypatch.setattr(queries, "SECONDS", 2.0)
    monkeypatch.setattr(train, "LINES", 0.0)


@pytest.fixture
def trained(path, tmp_path):
    from mm_blender.training.train import Budget, train

    def run(name, iterations=3, **options):
        result = train(path, tmp_path / f"{name}.mmnet", Budget(iterations=iterations), **options)
        return result, file.load(tmp_path / f"{name}.mmnet")

    return run


def test_networks_are_of_whom_the_database_is_and_no_other_one_trains_over_them(path, tmp_path, capsys):
    from mm_blender.training.train import Budget, train

    owners = Owner("1", "Hero", "/shots/hero.blend"), Owner("2", "Villain", "/shots/villain.blend")
    files = [tmp_path / f"{owner.name}.mmdb" for owner in owners]
    for owner, there in zip(owners, files):
        databases.give(path, owner, there)
    train(files[0], tmp_path / "hero.mmnet", Budget(iterations=1))
    assert file.load(tmp_path / "hero.mmnet").owner == owners[0]
    assert main(["train", str(files[1]), "-o", str(tmp_path / "hero.mmnet"), "--iterations", "1"]) == 1
    assert 'hero.mmnet" belongs to "Hero" in hero.blend: choose another output' in capsys.readouterr().err


def all_weights(networks, *names):
    return [part for name in names or file.NAMES for layer in getattr(networks, name).layers for part in layer]


def test_a_file_comes_out_that_a_character_can_be_driven_with(trained, database, tmp_path):
    from mm_blender.networks.matchers import LearnedMatcher
    from mm_blender.playback.library import BakedLibrary

    result, networks = trained("first")
    assert result["iterations"] == {"decompressor": 3, "stepper": 3, "projector": 3}
    assert result["verdict"] in ("good", "usable", "not yet") and result["reason"].endswith(".")
    assert networks.figures["joint_error_cm"] == result["joint_error_cm"] > 0
    assert result["joint_error_cm"] < result["new_motion_cm"] and result["worst_cm"] > result["joint_error_p95_cm"]
    assert f"most of all {result['worst_joint']}, by {result['worst_cm']:.1f} cm, in " in result["reason"]
    latents = file.load_latents(tmp_path / "first.mmnet", database)
    frame = BakedLibrary(database).standing
    assert networks.start == pytest.approx(np.append(database.features[frame], latents[frame]), abs=3e-3)
    matcher = LearnedMatcher(networks, 2)
    matcher.advance()
    matcher.match([0, 1], matcher.features() + 1)
    assert all(np.isfinite(part).all() for part in vars(matcher.pose()).values())


def test_threads_that_learn_have_no_numbers_that_a_processor_is_slow_at(trained, monkeypatch):
    import torch

    from mm_blender.training.stage import Stage

    found, gradients = {}, Stage._gradients

    def small():
        return (torch.tensor([1e-40]) * 1.0).item()

    def watched(stage, share, rng):
        found.setdefault(stage.name, set()).add(small())
        return gradients(stage, share, rng)

    monkeypatch.setattr(Stage, "_gradients", watched)
    trained("small")
    assert found == {"decompressor": {0.0}, "stepper": {0.0}, "projector": {0.0}}
    assert small() > 0, "elsewhere all is as it was"


def test_progress_is_written_line_by_line(trained, tmp_path):
    from mm_blender.training.watching.folder import TrainingFolder

    trained("first")
    plan, *lines = TrainingFolder(tmp_path / "first.mmnet.training", resume=True).lines()
    assert "frames" in plan["plan"]
    assert {line.get("stage") for line in lines} >= {"decompressor", "stepper", "projector"}
    shares = [line["share"] for line in lines]
    assert shares == sorted(shares) and lines[-1]["done"] and "verdict" in lines[-1]["figures"]
    assert all(line["losses"] and line["seconds_left"] >= 0 for line in lines[:-1])


def test_the_same_seed_gives_the_same_networks_and_another_one_others(trained):
    one, same, other = (trained(name, seed=seed)[1] for name, seed in (("one", 0), ("same", 0), ("other", 1)))
    assert all(np.array_equal(a, b) for a, b in zip(all_weights(one), all_weights(same)))
    assert not all(np.array_equal(a, b) for a, b in zip(all_weights(one), all_weights(other)))


def test_a_training_that_was_stopped_goes_on_where_it_was(trained, monkeypatch, tmp_path, subtests):
    from mm_blender.training.watching.folder import TrainingFolder

    cancelled, unbroken = TrainingFolder.is_cancelled, all_weights(trained("unbroken", 8)[1], "decompressor")
    for stop in (4, 12):
        with subtests.test(stop=stop):
            name, count = f"stopped {stop}", iter(range(1000))
            with monkeypatch.context() as patch, pytest.raises(Cancelled):
                patch.setattr(TrainingFolder, "is_cancelled",
                              lambda job, count=count, stop=stop: next(count) >= stop or cancelled(job))
                trained(name, 8)
            assert not (tmp_path / f"{name}.mmnet").exists()
            result, resumed = trained(name, 8, resume=True)
            assert result["iterations"] == {"decompressor": 8, "stepper": 8, "projector": 8}
            assert all(np.array_equal(a, b) for a, b in zip(all_weights(resumed, "decompressor"), unbroken))


@pytest.fixture
def slow(monkeypatch):
    """A clock by which one kind of work takes so many seconds each time, and all else next to nothing."""
    from mm_blender.playback.group import Group
    from mm_blender.training import figures, refine, train
    from mm_blender.training.stage import Stage

    places = {"step": (Stage, "step"), "refine": (refine, "_off"), "drive": (Group, "step"),
              "measure": (figures, "of_new_motion")}
    clock = [0.0]

    def now():
        clock[0] += 0.05
        return clock[0]

    def make(kind, seconds):
        place, name = places[kind]
        work = getattr(place, name)

        def slowly(*args, **options):
            clock[0] += seconds
            return work(*args, **options)

        monkeypatch.setattr(place, name, slowly)
        monkeypatch.setattr(train, "time", SimpleNamespace(monotonic=now))
    return make


@pytest.mark.parametrize("kind, seconds", [("step", 0.5), ("refine", 2.0), ("drive", 2.0), ("measure", 2.0)])
def test_a_training_of_some_minutes_ends_in_time_whatever_is_slow(path, tmp_path, slow, kind, seconds):
    from mm_blender.training.train import Budget, train

    slow(kind, seconds)
    result = train(path, tmp_path / "some.mmnet", Budget(minutes=0.2))
    assert 60 * result["minutes"] <= 12 + 2 * seconds + 3
    assert file.load(tmp_path / "some.mmnet").figures["verdict"] == result["verdict"]


def test_the_time_runs_from_when_it_was_started(path, tmp_path):
    from mm_blender.training.train import Budget, train

    result = train(path, tmp_path / "some.mmnet", Budget(minutes=1), started=time.monotonic() - 70)
    assert 60 * result["minutes"] < 90 and result["verdict"] == "not yet", "what was read in this time is all there is"


def test_another_database_or_seed_is_not_resumed(trained):
    trained("first")
    with pytest.raises(MotionError, match="another database or seed"):
        trained("first", seed=5, resume=True)


def test_a_checkpoint_of_another_version_is_told_in_one_sentence(trained, tmp_path):
    import torch

    trained("first")
    path = tmp_path / "first.mmnet.training" / "checkpoint.pt"
    kept = torch.load(path, weights_only=True)
    others = [torch.ones(3), {}, {**kept, "stages": None}, {**kept, "seconds": "long"}, {**kept, "begun": [1]},
              {**kept, "stages": {"decompressor": None}}]
    kept["stages"]["stepper"]["optimisers"][0]["param_groups"][0]["params"].append(99)
    for other in [*others, kept]:
        torch.save(other, path)
        with pytest.raises(MotionError, match="made by another version of Motion Matching: train without --resume"):
            trained("first", 4, resume=True)


def test_a_damaged_checkpoint_is_told_in_one_sentence(trained, tmp_path):
    trained("first")
    path = tmp_path / "first.mmnet.training" / "checkpoint.pt"
    whole = path.read_bytes()
    for damaged in (b"", b"nothing", whole[:len(whole) // 2], whole[:-1], pickle.dumps({"stages": {}})):
        path.write_bytes(damaged)
        with pytest.raises(MotionError, match="is damaged: train without --resume"):
            trained("first", resume=True)


def test_a_checkpoint_for_which_there_is_no_room_leaves_the_one_before(small_disk):
    import torch

    from mm_blender.training.watching.folder import TrainingFolder

    files = TrainingFolder(small_disk / "some.mmnet.training")
    files.keep({"iterations": 1})
    with pytest.raises(MotionError, match=r"checkpoint\.pt.* the disk is full; free some space"):
        files.keep({"iterations": 2, "much": torch.zeros(1_000_000)})
    assert files.kept() == {"iterations": 1}
    assert [path.name for path in files.folder.iterdir()] == ["checkpoint.pt"]


def test_where_only_the_last_checkpoint_finds_no_room_the_training_has_ended_well(trained, monkeypatch, tmp_path):
    from mm_blender.training.watching.folder import TrainingFolder

    def full(_folder, _state):
        assert (tmp_path / "last.mmnet").exists(), "the networks come first"
        raise MotionError("The disk is full.")

    monkeypatch.setattr(TrainingFolder, "keep", full)
    result, networks = trained("last")
    assert result["verdict"] and networks.nbytes
    assert TrainingFolder(tmp_path / "last.mmnet.training", resume=True).lines()[-1]["done"]


KILLED = """
import os, signal, sys
from contextlib import contextmanager
from mm_blender.training import queries, train
from mm_blender.training.watching import folder
real, kept = folder.replacing, []
@contextmanager
def killed(path):
    with real(path) as temporary:
        yield temporary
        kept.append(path)
        if len(kept) == 3:
            os.truncate(temporary, 1000)
            os.kill(os.getpid(), signal.SIGKILL)
folder.replacing, train.CHECKPOINTS = killed, 0.0
queries.HANDS, queries.SECONDS = 2, 2.0
train.train(sys.argv[1], sys.argv[2], train.Budget(iterations=10 ** 6), watch=lambda progress: None)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_a_training_that_was_killed_while_it_kept_a_checkpoint_goes_on(trained, path, tmp_path):
    from mm_blender.training.watching.folder import TrainingFolder

    outcome = subprocess.run([sys.executable, "-c", KILLED, path, tmp_path / "killed.mmnet"], cwd=ROOT,
                             capture_output=True, text=True)
    assert outcome.returncode == -signal.SIGKILL, outcome.stderr
    folder = tmp_path / "killed.mmnet.training"
    done = TrainingFolder(folder, resume=True).kept()["stages"]["decompressor"]["iterations"]
    assert done > 0 and len(list(folder.glob(".*-checkpoint.pt"))) == 1  # it died with half a checkpoint on the disk
    result, _ = trained("killed", done + 2, resume=True)
    assert result["iterations"]["decompressor"] == done + 2 and not list(folder.glob(".*"))


def test_the_verdict_says_why():
    from mm_blender.training.figures import verdict

    fine = {"joint_error_cm": 0.3, "drift_1s_learned_cm": 2.0, "projector_ratio": 1.1}
    assert verdict(fine)[0] == "good"
    word, reason = verdict({**fine, "drift_1s_learned_cm": 5.0})
    assert word == "usable" and "5.0 cm after a second" in reason
    assert verdict({**fine, "joint_error_cm": 4.0})[0] == "not yet"
    word, reason = verdict({**fine, "new_motion_cm": 0.9})
    assert word == "usable" and "poses of new motion are off by 0.90 cm" in reason.lower()
    where = {"new_motion_cm": 0.4, "worst_cm": 3.14, "worst_joint": "hand.L", "worst_clip": "walk", "worst_time": 2.5}
    assert verdict({**fine, **where})[1].endswith(
        "Poses are off by 0.30 cm as stored and by 0.40 cm in new motion; most of all hand.L, by 3.1 cm, in walk at "
        "2.50 s.")


def test_queries_come_from_driving_and_know_their_tags(database):
    from mm_blender.playback.library import BakedLibrary
    from mm_blender.training import queries

    asked, tags, frames = queries.of_chance(BakedLibrary(database))
    assert asked.shape == (len(tags), database.schema.size) and len(tags) == len(frames) > 20
    feet = database.schema.slices[2]  # what is playing has them, while trajectories are what is wanted
    assert np.array_equal(asked[:, feet], database.features[frames][:, feet])
    assert set(tags) <= {"crouch", "~crouch"}


def test_beside_each_query_is_one_of_a_hand_that_has_just_changed_its_mind(database):
    from mm_blender.playback.library import BakedLibrary
    from mm_blender.training import queries

    library = BakedLibrary(database)
    recordings = [random_hands.anything(4, seed) for seed in range(5)]
    plain, (asked, tags, frames) = (queries._driven(library, recordings, *chance)
                                    for chance in ((), (np.random.default_rng(0),)))
    assert len(asked) == 2 * len(plain[0]) and set(tags) == {"crouch", "~crouch"}
    # What is driven is not touched by it: the same queries come up, and between them the others.
    kept = {query.tobytes() for query in plain[0]}
    others = np.array([query.tobytes() not in kept for query in asked])
    assert kept <= {query.tobytes() for query in asked} and 0.45 < others.mean() <= 0.5
    trajectory = np.concatenate([np.arange(part.start, part.stop) for channel, part in zip(
        database.schema.channels, database.schema.slices) if channel.kind.startswith("trajectory")])
    pose = np.setdiff1d(np.arange(database.schema.size), trajectory)
    assert np.array_equal(asked[others][:, pose], database.features[frames[others]][:, pose])
    # They are farther from the data than what is asked in between.
    near = [learned.nearest(database, queries_) for queries_ in (asked[~others], asked[others])]
    assert np.median(near[1]) > 1.5 * np.median(near[0])


def test_queries_come_from_gaits_of_other_tags_too(many_gaits, monkeypatch):
    from mm_blender.playback.library import BakedLibrary
    from mm_blender.training import queries

    monkeypatch.setattr(queries, "HANDS", 2)
    monkeypatch.setattr(queries, "SECONDS", 5.0)
    _, tags, frames = queries.of_chance(BakedLibrary(many_gaits))
    assert set(tags) == {'"sneak"', '~"sneak"'}
    assert many_gaits.tags["sneak"][frames].mean() > 0.05 and many_gaits.tags["sprint"][frames].any()


def test_queries_come_from_hands_of_all_kinds(monkeypatch):
    from mm_blender.training import queries

    monkeypatch.setattr(queries, "_driven", lambda library, recordings, *_: recordings)
    hands, strafe = queries.of_chance(None), stick.NAMES.index("strafe")
    assert len(hands) == 3 * queries.HANDS and len({hand.values.tobytes() for hand in hands}) == len(hands)
    assert np.array_equal(hands[-1].values, random_hands.sideways(queries.SECONDS, queries.HANDS).values)
    assert all((hand.values[:, strafe] == 1).all() for hand in hands[-queries.HANDS:])


def test_the_latents_that_are_kept_are_the_better_ones(trained, tmp_path, database, monkeypatch):
    from mm_blender.training import train

    better = train.refined
    monkeypatch.setattr(train, "refined", lambda stage, latents, goes_on: better(stage, latents, goes_on) + 10)
    trained("better")
    assert file.load_latents(tmp_path / "better.mmnet", database).mean() > 5
