# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons of training, from a script: each does its work at once, and says in a sentence what is wrong."""

import stat
import sys
from pathlib import Path

import bpy
import pytest

from mm_blender.scene.jobs import pythons, training
from tests.panels.test_panels import drawn

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
# Answers as a Python with torch does, and trains in a moment; the rest of `words` is what was ordered.
CHILD = f'''#!{sys.executable}
import json, os, sys
sys.path.insert(0, {str(ROOT)!r})
if sys.argv[1] == "-c":
    print(json.dumps({{"version": [3, 11, 0], "makes": True, "torch": "9.9", "device": "CPU"}}))
    sys.exit(0)
from mm_blender.training.watching.folder import TrainingFolder
words = sys.argv[sys.argv.index("train") + 1:]
output = words[words.index("-o") + 1]
job = TrainingFolder(output + ".training", "--resume" in words)
'''
DONE = '''open(output, "w").write(" ".join(words))
job.write(done=True, share=1.0, seconds=3.0, figures={"verdict": "usable", "reason": "More minutes make it better.",
                                                      "joint_error_cm": 0.71, "new_motion_cm": 0.93,
                                                      "drift_1s_learned_cm": 4.2})
'''
CANCELLED = '''job.write(stage="decompressor", share=0.4, seconds=3.0, seconds_left=200.0, losses={"pose": 1.0})
open(output + ".training/checkpoint.pt", "w").close()
job.write(cancelled=True, seconds=3.0)
sys.exit(130)
'''


@pytest.fixture
def trains(tmp_path, monkeypatch, character):
    """Call it with what the child does: that is the Python which trains from then on."""
    def choose(course):
        path = tmp_path / "python"
        path.write_text(CHILD + course)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv(pythons.CHOSEN, str(path))
        pythons.unregister()
    yield choose
    training.unregister()
    training.register()
    pythons.unregister()


def test_train_needs_a_database(character, trains):
    trains(DONE)
    assert not bpy.ops.mm.train.poll()
    with pytest.raises(RuntimeError, match="Bake first"):
        bpy.ops.mm.train()


def test_train_trains_and_says_how_good_it_is(character, trains, tmp_path, capfd):
    trains(DONE)
    bpy.ops.mm.bake()
    assert bpy.ops.mm.train(iterations=3) == {"FINISHED"}
    assert "motion.mmnet is trained: usable. More minutes make it better." in capfd.readouterr().out
    words = (tmp_path / "motion.mmnet").read_text().split()
    assert words[words.index("--iterations") + 1] == "3" and "--minutes" not in words
    bpy.ops.mm.train()
    assert "--minutes 15" in (tmp_path / "motion.mmnet").read_text(), "the number of iterations is not kept"


def test_train_says_what_went_wrong(character, trains, tmp_path):
    bpy.ops.mm.bake()
    trains("print('mm_blender: The database has too few frames.', file=sys.stderr); sys.exit(1)")
    with pytest.raises(RuntimeError, match="The database has too few frames"):
        bpy.ops.mm.train()
    assert not (tmp_path / "motion.mmnet").exists()


def test_resume_goes_on_with_one_that_was_cancelled(character, trains, tmp_path):
    bpy.ops.mm.bake()
    trains(CANCELLED)
    assert not bpy.ops.mm.train_resume.poll()
    assert bpy.ops.mm.train() == {"CANCELLED"}
    assert training.status(character).word == "cancelled" and bpy.ops.mm.train_resume.poll()
    trains(DONE)
    assert bpy.ops.mm.train_resume() == {"FINISHED"}
    assert "--resume" in (tmp_path / "motion.mmnet").read_text() and training.status(character).word == "done"


def test_before_training_anew_it_is_said_what_would_be_given_up(character, trains, monkeypatch):
    trains(CANCELLED)
    bpy.ops.mm.bake()
    assert training.given_up(character) == ""
    bpy.ops.mm.train()
    output = Path(training.own_networks_path(character))
    assert training.given_up(character) == (
        f"What was trained so far of {output.name} can be resumed, and would be given up")
    character.mm.bake.rate -= 1
    bpy.ops.mm.bake()
    assert training.given_up(character) == "", "it cannot be resumed on another bake"
    output.write_bytes(b"networks")
    assert training.given_up(character) == "", "they are of another bake"
    monkeypatch.setattr(training, "is_stale", lambda ob: False)
    assert training.given_up(character) == f"The new networks take the place of {output.name}"


def test_cancel_ends_what_waits_or_runs(character, trains):
    bpy.ops.mm.bake()
    trains("import time; time.sleep(1000)")
    assert not bpy.ops.mm.train_cancel.poll()
    training.start(training.order_of(character), character.name)
    assert not bpy.ops.mm.train.poll(), "it is being trained already"
    assert bpy.ops.mm.train_cancel() == {"FINISHED"}
    assert training.current() is None


def test_the_panel_says_how_it_stands(character, trains, tmp_path):
    trains(CANCELLED)
    seen = drawn("MM_PT_train")
    assert "Looking for a Python with torch" in seen.texts and "mm.train" in seen.operators
    pythons.wait()
    assert "torch 9.9, CPU, Python 3.11" in drawn("MM_PT_train").texts
    bpy.ops.mm.bake()
    bpy.ops.mm.train()
    seen = drawn("MM_PT_train")
    assert "The training was cancelled" in seen.texts and "mm.train_resume" in seen.operators
    training.start(training.order_of(character, resume=True), character.name)
    seen = drawn("MM_PT_train")
    assert seen.progress == [(0.4, "40%  Starting")] and "mm.train_cancel" in seen.operators
    assert "mm.train |" not in f"{seen.operators} |", "it cannot be started twice"
    training.cancel(training.own_networks_path(character))
    trains(DONE)
    bpy.ops.mm.train()
    seen = drawn("MM_PT_train")
    assert "Poses as stored | 0.71 cm | Poses, new motion | 0.93 cm" in seen.texts and "4.2 cm" in seen.texts
    assert "baked anew" in seen.texts, "what the child has written is no .mmnet of this bake"
    assert "Nothing was said yet." in drawn("MM_PT_train").texts


def test_the_panel_says_why_it_failed(character, trains):
    bpy.ops.mm.bake()
    trains("print('mm_blender: The disk is full.', file=sys.stderr); sys.exit(1)")
    training.start(training.order_of(character), character.name)
    while training.current() is not None:
        pythons.tick()
        training.tick()
    assert "The disk is full." in drawn("MM_PT_train").texts
    assert "mm_blender: The disk is full." in drawn("MM_PT_train").texts


def test_without_torch_the_panel_offers_a_private_environment(character, monkeypatch):
    monkeypatch.delenv(pythons.CHOSEN, raising=False)
    monkeypatch.setattr(pythons, "candidates", lambda: [])
    seen = drawn("MM_PT_train")
    assert "No Python with torch was found" in seen.texts and "mm.train_environment" in seen.operators
    assert "Allow Online Access first" in seen.texts
