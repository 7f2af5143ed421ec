# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings in the background: started, queued, cancelled, killed and found again. The child is a real process, a small
script that takes the place of a Python with torch; those at the end train for real, where there is one."""

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import bpy
import pytest

from mm_blender.errors import MotionError
from mm_blender.matching import database as databases
from mm_blender.scene.jobs import pythons, training
from mm_blender.training.watching import folder as jobs
from mm_blender.training.watching import run as runs
from mm_blender.training.watching.pythons import python_in
from tests import walker
from tests.networks.conftest import untrained

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[3]
# Answers as a Python with torch does, or trains: `course` says how that goes, step by step.
CHILD = '''#!{python}
import json, os, sys, time
if sys.argv[1] == "-c":
    print(json.dumps(dict(version=[3, 11, 0], makes=True, numpy="2.0", torch="9.9", device="CPU")))
    sys.exit(0)
words = sys.argv[sys.argv.index("train") + 1:]
output = words[words.index("-o") + 1]
folder = output + ".training"
sys.path.insert(0, {root!r})
from mm_blender.training.watching import folder as jobs
jobs.end_with_parent(folder)
jobs.GRACE = 5.0
with jobs.only_one(folder):
    job = jobs.TrainingFolder(folder, "--resume" in words)
    spent = 0
    if "--resume" in words and os.path.exists(folder + "/checkpoint.pt"):
        spent = int(open(folder + "/checkpoint.pt").read())
    def keep():
        with open(folder + "/checkpoint.pt", "w") as file:
            file.write(str(spent))
    def tell():
        global spent
        spent += 1
        job.write(stage="decompressor", share=spent / 10, seconds=float(spent), seconds_left=10.0 - spent,
                  iteration=spent, losses=dict(pose=1 / spent), figures=dict(joint_error_cm=10 / spent))
        keep()
    def train_on():
        while True:
            if os.path.exists(folder + "/cancel"):
                keep()
                job.write(cancelled=True, seconds=float(spent))
                print("mm_blender: The training was cancelled: resume it (--resume) to go on.", file=sys.stderr)
                sys.exit(130)
            time.sleep(0.02)
    def done():
        open(output, "w").write(open(words[0], "rb").read(8).hex())
        job.write(done=True, share=1.0, seconds=float(spent), figures=dict(
            joint_error_cm=0.3, verdict="good", reason="All is well."))
    {course}
'''


@pytest.fixture(autouse=True)
def nothing_under_way(extension):
    yield
    for job in training._jobs:
        if job.run is not None:
            job.run.let_go()
            os.kill(job.run.pid, signal.SIGKILL)
            while job.run.poll():
                time.sleep(0.01)
    training.unregister()
    training.register()
    pythons.unregister()


@pytest.fixture
def child(tmp_path, monkeypatch):
    """Call it with the course of a training: that is the Python which trains from then on."""
    def choose(course):
        path = tmp_path / "python"
        path.write_text(CHILD.format(python=sys.executable, root=str(ROOT),
                                     course=textwrap.indent(textwrap.dedent(course), "    ").strip()))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv(pythons.CHOSEN, str(path))
        pythons.unregister()
        return path
    return choose


@pytest.fixture
def hero(extension, tmp_path):
    return baked("Hero", tmp_path)


def baked(name, folder):
    ob = walker.armature(name)
    walker.ready(ob, folder / f"{name.lower()}.mmdb", walker.walk(ob, f"{name} walk"))
    bpy.ops.mm.bake()
    return ob


def start(ob, **options):
    training.start(training.order_of(ob, **options), ob.name)


def tick():
    pythons.tick()
    return training.tick()


def until(condition, what="nothing happens"):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, what
        tick()
        time.sleep(0.01)


def word(ob):
    return training.status(ob).word


def finish(ob):
    until(lambda: word(ob) not in ("running", "waiting", "stopping"), f"{ob.name} is {word(ob)}")


def test_networks_lie_beside_the_database(hero, tmp_path):
    assert training.networks_path(hero) == str(tmp_path / "hero.mmnet")
    hero.mm.bake.path = str(tmp_path / "Other.MMDB")
    assert training.networks_path(hero) == str(tmp_path / "Other.mmnet")


def test_the_demo_character_has_networks_from_the_beginning(small_demo, demo_database, monkeypatch, tmp_path):
    shipped = tmp_path / "shipped.mmnet"
    untrained(demo_database).save(shipped)
    monkeypatch.setattr(training, "SHIPPED", shipped)
    assert training.networks_path(small_demo) == str(shipped) and training.is_shipped(small_demo)
    hand = small_demo.data.bones["hand.L"]
    hand.name = "claw"
    assert not training.is_shipped(small_demo), "it is another character now"
    hand.name = "hand.L"
    bpy.ops.mm.bake()
    assert not training.is_shipped(small_demo), "it has a few clips of the motion only"
    os.remove(small_demo.mm.bake.path)
    Path(training.own_networks_path(small_demo)).touch()
    assert training.networks_path(small_demo) == training.own_networks_path(small_demo), "its own come first"


def test_a_training_shows_its_progress_and_ends_with_a_verdict(hero, child):
    child("tell(); tell(); time.sleep(0.5); done()")
    assert word(hero) == "none"
    start(hero)
    assert word(hero) == "running" and bpy.app.timers.is_registered(training.tick)
    until(lambda: len(training.status(hero).progress.lines) == 2)
    progress = training.status(hero).progress
    assert progress.share == 0.2 and progress.figures == {"joint_error_cm": 5.0}
    assert progress.text == "10 s left, 5.00 cm"
    finish(hero)
    status = training.status(hero)
    assert (status.word, status.trouble, status.resumable) == ("done", "", False)
    assert status.progress.figures["verdict"] == "good" and tick() is None
    assert os.path.isfile(training.own_networks_path(hero))


def test_the_settings_are_what_is_ordered(hero, child, tmp_path):
    child("print(' '.join(words)); done()")
    hero.mm.train.minutes, hero.mm.train.seed = 2.5, 7
    start(hero)
    finish(hero)
    said = training.log(hero)[0].split()
    assert said[0] == str(tmp_path / "hero.mmdb") and said[said.index("--minutes") + 1] == "2.5"
    assert said[said.index("--seed") + 1] == "7" and "--watch-stdin" in said and "--resume" not in said


def test_the_engine_of_the_extension_trains_wherever_blender_was_started(hero, child, tmp_path, monkeypatch):
    (tmp_path / "elsewhere" / "mm_blender").mkdir(parents=True)
    (tmp_path / "elsewhere" / "mm_blender" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(tmp_path / "elsewhere")
    child(f"""
        import subprocess
        code = "import mm_blender; print(mm_blender.__file__)"
        print(subprocess.run([{sys.executable!r}, "-c", code], capture_output=True, text=True))
        done()
    """)
    start(hero)
    finish(hero)
    assert str(ROOT / "mm_blender" / "__init__.py") in "".join(training.log(hero))


def test_it_is_cancelled_with_a_checkpoint_and_goes_on_from_there(hero, child):
    child("tell(); tell(); train_on()")
    start(hero)
    until(lambda: len(training.status(hero).progress.lines) == 2)
    training.cancel(training.own_networks_path(hero))
    assert word(hero) == "stopping"
    finish(hero)
    status = training.status(hero)
    assert (status.word, status.trouble, status.resumable) == ("cancelled", "", True)
    assert not os.path.exists(training.own_networks_path(hero))
    child("tell(); done()")
    start(hero, resume=True)
    finish(hero)
    status = training.status(hero)
    assert status.word == "done" and [line["seconds"] for line in status.progress.lines if "stage" in line] == [1, 2, 3]


def test_one_that_is_cancelled_while_it_starts_does_not_start_after_all(hero, child):
    child("train_on()")
    start(hero)
    until(lambda: training.current().run is not None)
    training.cancel(training.own_networks_path(hero))
    finish(hero)
    assert word(hero) == "cancelled"


def test_one_that_does_not_listen_is_ended(hero, child, monkeypatch):
    monkeypatch.setattr(runs, "GRACE", 0.5)
    child("tell(); time.sleep(1000)")
    start(hero)
    until(lambda: training.status(hero).progress.lines)
    training.cancel(training.own_networks_path(hero))
    finish(hero)
    status = training.status(hero)
    assert (status.word, status.trouble, status.resumable) == ("interrupted", "", True)


def test_several_wait_for_each_other(hero, child, tmp_path):
    child("tell(); time.sleep(0.3); done()")
    other, third = baked("Other", tmp_path), baked("Third", tmp_path)
    for ob in (hero, other, third):
        start(ob)
    tick()
    assert [word(ob) for ob in (hero, other, third)] == ["running", "waiting", "waiting"]
    assert training.status(third).before == ("Hero", "Other")
    training.cancel(training.own_networks_path(other))
    assert word(other) == "none" and training.status(third).before == ("Hero",)
    finish(hero)
    assert word(third) == "running"
    finish(third)
    assert [word(ob) for ob in (hero, other, third)] == ["done", "none", "done"]


def test_the_same_networks_are_not_trained_twice_at_once(hero, child):
    child("train_on()")
    start(hero)
    with pytest.raises(MotionError, match=r'"hero.mmnet" is being trained already'):
        start(hero)


@pytest.mark.parametrize("course, sentence", [
    ("tell(); os.kill(os.getpid(), 9)", "perhaps for want of memory (signal 9): resume it to go on."),
    ("os.kill(os.getpid(), 9)", "perhaps for want of memory (signal 9): train again."),
    ("tell(); raise OSError(28, 'No space left on device')", "disk is full: free some space and resume it to go on."),
    ("tell(); print('mm_blender: x was not written: the disk is full.', file=sys.stderr); sys.exit(1)",
     "disk is full: free some space and resume it to go on."),
    ("raise MemoryError", "ran out of memory: close other programs and train again."),
    ("tell(); raise KeyError('oops')", "The training failed (KeyError: 'oops'): see its log."),
    ("print('mm_blender: The database has too few frames.', file=sys.stderr); sys.exit(1)",
     "The database has too few frames."),
    ("print('mm_blender: It is damaged: train without --resume (bad).', file=sys.stderr); sys.exit(1)",
     "It is damaged: train again (bad)."),
])
def test_whatever_ends_it_is_told_in_one_sentence_and_loses_nothing(hero, child, course, sentence):
    output = Path(training.own_networks_path(hero))
    output.write_text("from before")
    child(course)
    start(hero)
    finish(hero)
    status = training.status(hero)
    assert status.word == "failed" and status.trouble.endswith(sentence)
    assert output.read_text() == "from before" and status.resumable == ("tell()" in course)
    training.on_load()
    training._troubles.clear()
    assert training.status(hero).trouble == status.trouble, "it is there when the file is opened again"
    child("tell(); done()")
    start(hero, resume=status.resumable)
    finish(hero)
    assert word(hero) == "done"


def test_a_full_disk_is_seen_even_if_the_child_could_not_say_it(hero, child, monkeypatch):
    child("sys.exit(120)")
    monkeypatch.setattr(runs.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 0}))
    start(hero)
    finish(hero)
    assert "the disk is full" in training.status(hero).trouble


def test_no_torch_is_told_in_one_sentence(hero, tmp_path, monkeypatch):
    monkeypatch.setenv(pythons.CHOSEN, str(tmp_path / "nothing"))
    start(hero)
    finish(hero)
    assert "cannot be started" in training.status(hero).trouble and "preferences" in training.status(hero).trouble


def test_without_a_database_nothing_is_started(hero, child):
    child("done()")
    os.remove(hero.mm.bake.path)
    with pytest.raises(MotionError, match=r'"Hero" has no database yet \(hero.mmdb is missing\): bake first'):
        start(hero)
    assert training.current() is None and not Path(f"{training.own_networks_path(hero)}.training").exists()


def test_a_database_that_is_deleted_meanwhile_or_is_none_hurts_nothing(hero, child):
    child("tell(); time.sleep(0.2); done()")
    Path(hero.mm.bake.path).write_bytes(b"nothing")
    with pytest.raises(MotionError, match=r"hero.mmdb\" is damaged"):
        start(hero)


def test_a_training_is_not_resumed_on_another_bake(hero, child):
    child("tell(); train_on()")
    start(hero)
    until(lambda: training.status(hero).progress.lines)
    training.cancel(training.own_networks_path(hero))
    finish(hero)
    hero.mm.bake.rate = 30
    bpy.ops.mm.bake()
    with pytest.raises(MotionError, match=r'"hero.mmdb" was baked anew since: train again'):
        start(hero, resume=True)
    assert training.status(hero).resumable, "and the old one can still be gone back to"


def test_it_goes_on_when_the_armature_is_renamed_or_deleted_or_another_file_is_opened(hero, child, tmp_path):
    child("tell(); time.sleep(1); done()")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    start(hero)
    until(lambda: training.status(hero).progress.lines)
    hero.name = "Villain"
    assert word(hero) == "running"
    output, pid = training.own_networks_path(hero), training.current().run.pid
    bpy.data.objects.remove(hero)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    tick()
    assert training.current().run.pid == pid
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hero.blend"))
    hero = bpy.data.objects["Hero"]
    assert word(hero) == "running" and training.own_networks_path(hero) == output
    finish(hero)
    assert word(hero) == "done"


def test_what_became_of_it_is_found_again_in_a_new_session(hero, child):
    child("tell(); done()")
    start(hero)
    finish(hero)
    training.unregister()
    training.register()
    status = training.status(hero)
    assert status.word == "done" and status.progress.figures["verdict"] == "good"


def test_disabling_the_extension_ends_it_with_a_checkpoint(hero, child):
    child("tell(); train_on()")
    start(hero)
    until(lambda: training.status(hero).progress.lines)
    run = training.current().run
    training.unregister()
    training.register()
    until(lambda: not run.poll())
    assert word(hero) == "cancelled" and training.status(hero).resumable


def test_one_whose_blender_was_killed_ends_with_a_checkpoint(hero, child, tmp_path):
    """A process that starts the training as Blender does, and is killed without a chance to say anything."""
    python = child("tell(); train_on()")
    order = training.order_of(hero)
    script = (f"import sys, time; sys.path.insert(0, {str(ROOT)!r})\n"
              "from mm_blender.training.watching.run import Order, Run\n"
              f"run = Run(Order({order.database!r}, {order.output!r}), {str(python)!r})\n"
              "while not run.progress.lines: run.poll(); time.sleep(0.02)\n"
              "print(run.pid, flush=True); time.sleep(1000)")
    blender = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    pid = int(blender.stdout.readline())
    assert word(hero) == "running", "it is seen from here, too"
    with pytest.raises(MotionError, match="Another process is training"):
        start(hero)
    assert training.status(hero).progress.lines, "and how far it is"
    blender.kill()
    blender.wait()
    until(lambda: word(hero) != "running")
    assert word(hero) == "cancelled" and training.status(hero).resumable
    until(lambda: not alive(pid), "the child is still there")


def test_one_that_another_process_has_started_can_be_cancelled(hero, child):
    python = child("tell(); train_on()")
    order = training.order_of(hero)
    other = runs.Run(order, str(python))
    until(lambda: training.status(hero).progress.lines)
    assert word(hero) == "running" and training.current() is None
    training.cancel(order.output)
    until(lambda: not other.poll())
    assert not other.trouble() and word(hero) == "cancelled"


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_one_that_is_busy_when_its_blender_is_gone_ends_all_the_same(hero, child):
    child("jobs.GRACE = 0.3; tell(); time.sleep(1000)")
    start(hero)
    until(lambda: training.status(hero).progress.lines)
    run = training.current().run
    training.unregister()
    training.register()
    until(lambda: not run.poll())
    assert training.status(hero).word == "interrupted" and training.status(hero).resumable


def test_networks_of_another_bake_are_stale(hero, tmp_path):
    assert not training.is_stale(hero), "there are none"
    Path(training.own_networks_path(hero)).write_bytes(b"nothing that can be read")
    assert training.is_stale(hero)
    assert training.figures(hero) == {}


def test_progress_that_was_cut_off_or_rewritten_is_read_right(tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    progress, file = runs.ProgressLines(folder), folder / jobs.PROGRESS
    assert not progress.read() and progress.share == 0
    lines = [{"stage": "stepper", "share": 0.1 * n, "seconds": float(n), "seconds_left": 10.0 - n} for n in range(5)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines[:3]) + '{"stage": "decom')
    assert progress.read() and len(progress.lines) == 3 and not progress.read()
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"failed": "Killed."}\n')
    assert progress.read() and progress.last == {"failed": "Killed."}
    with open(file, "a") as more:  # resumed from a checkpoint at two seconds
        more.write(json.dumps({**lines[2], "seconds": 2.5}) + "\n")
    assert progress.read() and [line["seconds"] for line in progress.lines] == [0, 1, 2, 2.5]
    file.write_text(json.dumps(lines[0]) + "\n")
    assert progress.read() and len(progress.lines) == 1


def test_why_it_failed_is_not_lost_after_a_line_that_was_cut_off(tmp_path):
    output = str(tmp_path / "some.mmnet")
    jobs.folder_of(output).mkdir()
    (jobs.folder_of(output) / jobs.PROGRESS).write_text('{"stage": "stepper", "seconds": 1.0}\n{"stage": "ste')
    runs.note_trouble(output, "It was killed.")
    assert runs.look(output).word == "failed" and runs.look(output).trouble == "It was killed."


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no disk that is always full")
def test_progress_on_a_full_disk_is_told_in_one_sentence(tmp_path):
    job = jobs.TrainingFolder(tmp_path / "job")
    (tmp_path / "job" / jobs.PROGRESS).symlink_to("/dev/full")
    with pytest.raises(MotionError, match="the disk is full; free some space and try again"):
        job.write(share=0.5)


# For real

def python_with_torch():
    tests = python_in(ROOT / ".venv-torch")  # that of dev.py test --torch
    for path in filter(None, (os.environ.get(pythons.CHOSEN), sys.executable, *pythons.on_path(), tests)):
        if os.path.exists(path) and not subprocess.run([path, "-c", "import torch"], capture_output=True).returncode:
            return path
    return None


def test_a_real_training_is_cancelled_and_resumed(small_demo, monkeypatch):
    python = python_with_torch()
    if python is None:
        pytest.skip(f"no Python with torch was found: name one in {pythons.CHOSEN}, or run dev.py test --torch once")
    monkeypatch.setenv(pythons.CHOSEN, python)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    pythons.unregister()
    bpy.ops.mm.bake()
    small_demo.mm.train.minutes = 60
    start(small_demo)
    until(lambda: training.status(small_demo).progress.lines)
    training.cancel(training.own_networks_path(small_demo))
    finish(small_demo)
    assert word(small_demo) == "cancelled" and training.status(small_demo).resumable, training.log(small_demo)
    start(small_demo, resume=True, iterations=1)
    finish(small_demo)
    assert word(small_demo) == "done", training.status(small_demo).trouble
    assert training.figures(small_demo)["verdict"] and not training.is_stale(small_demo)
    assert databases.read_key(small_demo.mm.bake.path)
