# SPDX-License-Identifier: GPL-3.0-or-later
"""dev.py says what is missing by name, and its exit codes are honest."""

import hashlib
import os
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from types import SimpleNamespace

import pytest

import dev


@pytest.mark.parametrize("command", ["demo", "test", "bench", "package", "pictures"])
def test_each_command_explains_itself(command):
    outcome = subprocess.run([sys.executable, dev.ROOT / "dev.py", command, "--help"], capture_output=True, text=True)
    assert outcome.returncode == 0
    assert " ".join(getattr(dev, command).__doc__.split()) in " ".join(outcome.stdout.split())


def test_an_unknown_option_is_refused():
    outcome = subprocess.run([sys.executable, dev.ROOT / "dev.py", "package", "--fast"], capture_output=True, text=True)
    assert outcome.returncode
    assert "--fast" in outcome.stderr


def test_a_python_that_is_not_there_is_named(monkeypatch, capsys):
    monkeypatch.setitem(dev.RELEASES, "5.2", dev.Release("5.2.3", "3.99", "2.5.4"))
    assert dev.blender_tests(["5.2"], []) == 1
    assert "Blender 5.2: skipped: Blender 5.2 needs Python 3.99, which was not found." in capsys.readouterr().out


def test_one_blender_that_fails_fails_all(monkeypatch, capsys):
    outcomes = iter([(1, Counter(passed=3, failed=1)), (0, Counter(passed=4))])
    monkeypatch.setattr(dev, "environment", lambda name: name)
    monkeypatch.setattr(dev, "_pytest", lambda *_: next(outcomes))
    assert dev.blender_tests(["4.2", "4.5"], []) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "7 passed, 1 failed, 0 skipped"


@pytest.mark.parametrize("fails", ["blender", "not blender"])
def test_all_tests_run_in_two_halves_and_either_fails_all(monkeypatch, capsys, fails):
    def half(python, words, output=None, **_):
        if output:
            output.write(b"What the other half says\n")
        return int(words[-1] == fails), Counter(passed=3, failed=int(words[-1] == fails))
    monkeypatch.setattr(dev, "environment", lambda name: name)
    monkeypatch.setattr(dev, "_run", lambda command: 0)
    monkeypatch.setattr(dev, "_pytest", half)
    assert dev.test(SimpleNamespace(window=False, torch=False, blender=None, pytest=[])) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "What the other half says" and said[-1] == "6 passed, 1 failed, 0 skipped"


@pytest.mark.parametrize("extra, folders", [([], True), (["--durations=3"], True), (["tests/test_files.py"], False)])
def test_with_torch_only_the_tests_that_need_it_run_unless_others_are_named(monkeypatch, extra, folders):
    ran = []
    monkeypatch.setattr(dev, "torch_environment", lambda: "python")
    monkeypatch.setattr(dev, "_pytest", lambda python, words, **_: (ran.append(words), (0, Counter()))[1])
    assert dev.torch_tests(extra) == 0
    assert ran == [[*(["tests/training", "tests/networks"] if folders else []), *extra]]


def test_blender_may_be_a_whole_command_line(monkeypatch):
    monkeypatch.setenv("BLENDER", "'/opt/my blender/blender' --debug")
    assert dev.blender_command() == ["/opt/my blender/blender", "--debug"]


def test_no_blender_is_said(monkeypatch):
    monkeypatch.delenv("BLENDER", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(dev.Trouble, match="set BLENDER"):
        dev.blender_command()


def test_subtests_are_no_tests_of_their_own(tmp_path):
    (tmp_path / "test_some.py").write_text(
        "def test_one():\n    assert True\n"
        "def test_three(subtests):\n    for n in range(3):\n        with subtests.test(n):\n            assert n < 2\n")
    code, counts = dev._pytest(sys.executable, ["-q", "-p", "no:cacheprovider", str(tmp_path)])
    assert code == 1 and counts == Counter(passed=1, failed=1)


@pytest.mark.blender
def test_the_zip_brings_the_pinned_wheels_and_lists_exactly_them(tmp_path):
    if not dev.fetch_wheels(sys.executable):
        pytest.skip("the wheels are not in wheels/ and could not be fetched")
    listed, found = wheels_of(dev.build(sys.executable, tmp_path))
    assert found == dev.WHEELS
    assert sorted(listed) == sorted(f"./wheels/{name}" for name in dev.WHEELS)


@pytest.mark.blender
def test_without_a_network_the_zip_is_built_without_wheels(tmp_path, no_network, monkeypatch, capsys):
    monkeypatch.setitem(dev.WHEELS, "PySDL2-9.9.9-py3-none-any.whl", "0" * 64)
    assert wheels_of(dev.build(sys.executable, tmp_path)) == (None, {})
    assert "without gamepads" in capsys.readouterr().out


def test_the_zip_brings_the_trained_networks(tmp_path):
    copy = dev.copy_with_wheels(tmp_path / "copy", (dev.ROOT / "blender_manifest.toml").read_text(), [])
    assert {path.name for path in (copy / "trained").iterdir()} == {"demo.mmnet", "demo.md"}


def test_the_projects_own_manifest_needs_no_wheels():
    assert "wheels" not in tomllib.loads((dev.ROOT / "blender_manifest.toml").read_text())


def test_wheels_are_fetched_once(tmp_path, downloads):
    assert [wheel.read_bytes() for wheel in dev.fetch_wheels("python")] == [b"one", b"two"]
    dev.fetch_wheels("python")
    assert downloads == ["one==1", "two==2"]


def test_a_damaged_wheel_is_fetched_again(tmp_path, downloads):
    wheel = dev.fetch_wheels("python")[0]
    wheel.write_bytes(b"on")
    dev.fetch_wheels("python")
    assert wheel.read_bytes() == b"one"
    assert downloads == ["one==1", "two==2", "one==1"]


def test_a_wheel_that_is_another_one_is_refused(tmp_path, downloads, monkeypatch):
    monkeypatch.setitem(dev.WHEELS, "two-2-py3-none-any.whl", hashlib.sha256(b"the real two").hexdigest())
    with pytest.raises(dev.Trouble, match=r"two-2-py3-none-any\.whl is not the file"):
        dev.fetch_wheels("python")
    assert sorted(path.name for path in (tmp_path / "wheels").iterdir()) == ["one-1-py3-none-any.whl"]


@pytest.fixture
def no_network(monkeypatch):
    """pip finds nothing to download."""
    for setting in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(setting)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.fixture
def downloads(tmp_path, monkeypatch):
    """Two small wheels instead of the real ones, and no pip; what was downloaded."""
    wheels = {"one-1-py3-none-any.whl": b"one", "two-2-py3-none-any.whl": b"two"}
    asked = []

    def download(command, **_):
        asked.append(command[-1])
        name = "{}-{}-py3-none-any.whl".format(*asked[-1].split("=="))
        (tmp_path / command[command.index("--dest") + 1] / name).write_bytes(wheels[name])
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(dev, "ROOT", tmp_path)
    monkeypatch.setattr(dev, "WHEELS", {name: hashlib.sha256(held).hexdigest() for name, held in wheels.items()})
    monkeypatch.setattr(dev.subprocess, "run", download)
    return asked


def wheels_of(zip_file):
    """The wheels that a zip's manifest lists, and those that are in it, as {name: SHA-256}."""
    with zipfile.ZipFile(zip_file) as archive:
        inside = [name for name in archive.namelist() if name.startswith("wheels/") and not name.endswith("/")]
        listed = tomllib.loads(archive.read("blender_manifest.toml").decode()).get("wheels")
        return listed, {name.rpartition("/")[2]: hashlib.sha256(archive.read(name)).hexdigest() for name in inside}
