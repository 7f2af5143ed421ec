# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Python trains: every one is really asked. And the private one, really made, from packages that lie at hand."""

import os
import stat
import subprocess
import sys
import time
import zipfile

import bpy
import pytest

from mm_blender.errors import MotionError
from mm_blender.scene.jobs import private_python, pythons
from mm_blender.training.watching import environment
from mm_blender.training.watching.pythons import Question, python_in

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def nothing_known(extension, monkeypatch, tmp_path):
    monkeypatch.delenv(pythons.CHOSEN, raising=False)
    monkeypatch.setattr(pythons, "own_folder", lambda name: str(tmp_path))
    pythons.unregister()
    yield
    private_python.stop()
    private_python.forget()
    pythons.unregister()


@pytest.fixture
def python(tmp_path):
    """Call it with what a Python is to answer, as lines of Python: its path."""
    def make(name, *lines):
        path = tmp_path / name
        path.write_text("\n".join([f"#!{REAL}", *lines]) + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)
    return make


def says(**answer):
    return f"import json; print(json.dumps({answer!r}))"


REAL = sys.executable
GOOD = {"version": [3, 12, 1], "makes": True, "numpy": "2.0", "torch": "2.9.0+cpu", "device": "CPU"}


def asked(path, tmp_path):
    question = Question(path, tmp_path / "log.txt")
    end = time.monotonic() + 60
    while question.answer() is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    return question.answer()


def test_a_python_with_torch_says_which(python, tmp_path):
    answer = asked(python("good", "print('a warning of torch')", says(**GOOD)), tmp_path)
    assert answer.trouble == "" and answer.makes and answer.sentence == "torch 2.9.0, CPU, Python 3.12"


@pytest.mark.parametrize("answer, trouble", [
    ({"version": [3, 9, 0]}, "is Python 3.9.0, and training needs 3.11 or later."),
    ({"version": [3, 12, 0], "missing": "torch", "numpy": "2.0"}, "has no torch."),
    ({"version": [3, 12, 0], "missing": "numpy"}, "has no numpy."),
    ({"version": [3, 12, 0], "missing": "torch", "error": "OSError: libcudart.so is missing\nand more"},
     "cannot load torch (OSError: libcudart.so is missing)."),
])
def test_what_is_wrong_with_one_is_told_in_one_sentence(python, tmp_path, answer, trouble):
    path = python("bad", says(**answer))
    assert asked(path, tmp_path).trouble == f'"{path}" {trouble}'


def test_what_is_no_python_is_told_too(python, tmp_path):
    assert "cannot be started" in asked(str(tmp_path / "nothing"), tmp_path).trouble
    assert "is no Python that works (sh: what?)" in asked(python("sh", "print('sh: what?')"), tmp_path).trouble
    assert "is no Python that works" in asked(python("dead", "import os; os.kill(os.getpid(), 9)"), tmp_path).trouble


def test_one_that_does_not_answer_is_not_waited_for(python, tmp_path, monkeypatch):
    monkeypatch.setattr("mm_blender.training.watching.pythons.PATIENCE", 0.3)
    assert "does not answer" in asked(python("slow", "import time; time.sleep(1000)"), tmp_path).trouble


def test_the_question_is_understood_by_a_real_python(tmp_path):
    answer = asked(sys.executable, tmp_path)
    assert answer.version == "{}.{}.{}".format(*sys.version_info)
    has = subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0
    assert bool(answer.torch) == has and bool(answer.trouble) != has


def test_the_first_one_with_torch_is_found_in_the_background(python, monkeypatch):
    bad, good = python("bad", says(version=[3, 12, 0], missing="torch")), python("good", says(**GOOD))
    last = python("last", "import pathlib; pathlib.Path(__file__ + '.asked').touch()", says(**GOOD))
    monkeypatch.setattr(pythons, "on_path", lambda: [good, last])
    monkeypatch.setattr(pythons.sys, "executable", bad)
    assert pythons.sentence() == "" and pythons.searching() and bpy.app.timers.is_registered(pythons.tick)
    pythons.wait()
    assert pythons.found().python == good and pythons.sentence() == "torch 2.9.0, CPU, Python 3.12"
    assert not os.path.exists(f"{last}.asked"), "nobody is asked who need not be"


def test_the_chosen_one_is_the_only_one(python, monkeypatch):
    bad, good = python("bad", says(version=[3, 12, 0], missing="torch")), python("good", says(**GOOD))
    monkeypatch.setattr(pythons, "on_path", lambda: [good])
    monkeypatch.setenv(pythons.CHOSEN, bad)
    pythons.wait()
    assert pythons.found() is None
    assert pythons.sentence() == f'"{bad}" has no torch. Choose another Python in the preferences.'


def test_where_there_is_none_it_says_what_to_do_and_a_test_asks_again(python, monkeypatch):
    path = python("bad", says(version=[3, 12, 0], missing="torch"))
    monkeypatch.setattr(pythons, "on_path", lambda: [])
    monkeypatch.setattr(pythons.sys, "executable", path)
    pythons.wait()
    assert pythons.sentence().startswith("No Python with torch was found: make a private one")
    python("bad", says(**GOOD))
    assert pythons.found() is None
    assert bpy.ops.mm.train_test() == {"FINISHED"}
    assert pythons.found().python == path


def test_a_broken_torch_is_worth_a_word(python, monkeypatch):
    path = python("bad", says(version=[3, 12, 0], missing="torch", error="OSError: no libraries"))
    monkeypatch.setattr(pythons, "on_path", lambda: [])
    monkeypatch.setattr(pythons.sys, "executable", path)
    pythons.wait()
    assert pythons.sentence() == f'"{path}" cannot load torch (OSError: no libraries).'


# The private environment

def test_it_is_made_only_where_blender_may_go_online(monkeypatch):
    assert not bpy.app.online_access and not bpy.ops.mm.train_environment.poll()
    with pytest.raises(MotionError, match="Allow Online Access first: Preferences, System, Network"):
        private_python.make()


@pytest.fixture
def online(monkeypatch):
    """As if Blender were allowed to; pip finds nothing but what lies in a folder."""
    class App:
        online_access = True

        def __getattr__(self, name):
            return getattr(bpy.app, name)

    class Bpy:
        app = App()

        def __getattr__(self, name):
            return getattr(bpy, name)

    monkeypatch.setattr(private_python, "bpy", Bpy())
    for module in (private_python, pythons):
        monkeypatch.setattr(module, "on_path", lambda: [])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


def wheel(folder, name, text):
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-1.5-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}/__init__.py", text)
        file.writestr(f"{name}-1.5.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
        file.writestr(f"{name}-1.5.dist-info/WHEEL",
                      "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{name}-1.5.dist-info/RECORD", "")


def test_a_private_environment_is_made_found_and_used(online, monkeypatch, tmp_path):
    wheel(tmp_path / "wheels", "torch", "__version__ = '1.5'\n"
          "class cuda:\n    is_available = staticmethod(lambda: False)\nclass backends:\n    pass\n")
    wheel(tmp_path / "wheels", "numpy", "__version__ = '1.5'\n")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    pythons.wait()
    private_python.make(waiting=True)
    pythons.wait()
    assert private_python.trouble() == "" and private_python.making() is None
    assert pythons.found().python == python_in(tmp_path / "environment")
    assert pythons.sentence().startswith("torch 1.5, CPU, Python ")


def test_one_that_cannot_be_made_is_told_in_one_sentence(online):
    with pytest.raises(MotionError, match="could not be made: No matching distribution found for"):
        private_python.make(waiting=True)
    assert "No matching distribution" in private_python.trouble() and private_python.making() is None


def test_making_it_can_be_stopped(online, tmp_path):
    pythons.wait()
    private_python.make()
    process = private_python._making._popen
    assert private_python.making() == (0.0, "Making the environment")
    private_python.stop()
    assert process.wait(timeout=30) != 0 and private_python.making() is None


def test_how_far_it_is_can_be_seen():
    said = ["Making the environment", "Collecting torch"]
    assert environment.progress(said) == (0.0, "Collecting torch")
    said += ["  Downloading torch-2.9.0-cp311-cp311-manylinux_2_28_x86_64.whl (184.4 MB)", "Progress 46 of 184"]
    assert environment.progress(said) == (0.25, "Downloading torch-2.9.0 (184.4 MB)")
    assert environment.progress([*said, "Installing collected packages: torch"]) == (1.0, "Unpacking")


def test_a_full_disk_is_told_by_its_name():
    said = ["ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"]
    assert "the disk is full" in environment.trouble(said)
