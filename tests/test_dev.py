# SPDX-License-Identifier: GPL-3.0-or-later
"""dev.py says what is missing by name, and its exit codes are honest."""

import subprocess
import sys
from collections import Counter

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
    assert dev._blender_tests(["5.2"], []) == 1
    assert "Blender 5.2: skipped: Blender 5.2 needs Python 3.99, which was not found." in capsys.readouterr().out


def test_one_blender_that_fails_fails_all(monkeypatch, capsys):
    outcomes = iter([(1, Counter(passed=3, failed=1)), (0, Counter(passed=4))])
    monkeypatch.setattr(dev, "environment", lambda name: name)
    monkeypatch.setattr(dev, "_pytest", lambda *_: next(outcomes))
    assert dev._blender_tests(["4.2", "4.5"], []) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "7 passed, 1 failed, 0 skipped"


def test_blender_may_be_a_whole_command_line(monkeypatch):
    monkeypatch.setenv("BLENDER", "'/opt/my blender/blender' --debug")
    assert dev.blender_command() == ["/opt/my blender/blender", "--debug"]


def test_no_blender_is_said(monkeypatch):
    monkeypatch.delenv("BLENDER", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(dev.Trouble, match="set BLENDER"):
        dev.blender_command()
