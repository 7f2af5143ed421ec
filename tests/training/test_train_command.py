# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m mm_blender train: a database in, networks out."""

import json

import pytest

from mm_blender.commands import main
from mm_blender.networks import file


@pytest.fixture
def few_queries(monkeypatch):
    from mm_blender.training import queries

    monkeypatch.setattr(queries, "HANDS", 2)
    monkeypatch.setattr(queries, "SECONDS", 2.0)


def test_it_writes_networks_and_says_how_good_they_are(database, tmp_path, few_queries, capsys):
    database.save(tmp_path / "some.mmdb")
    output = tmp_path / "some.mmnet"
    assert main(["train", str(tmp_path / "some.mmdb"), "-o", str(output), "--iterations", "2", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["file"] == str(output) and said["verdict"] == "not yet" and said["joint_error_cm"] > 0
    assert file.load(output).key == database.key
    assert main(["info", str(output), "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["kind"] == "mmnet" and about["joint_error_cm"] == said["joint_error_cm"]


def test_a_training_that_is_cancelled_says_how_to_go_on(database, tmp_path, few_queries, capsys, monkeypatch):
    from mm_blender.training.decompressor import DecompressorStage

    def interrupted(*_):
        raise KeyboardInterrupt

    database.save(tmp_path / "some.mmdb")
    monkeypatch.setattr(DecompressorStage, "step", interrupted)
    assert main(["train", str(tmp_path / "some.mmdb"), "-o", str(tmp_path / "some.mmnet")]) == 130
    assert "resume" in capsys.readouterr().err
    assert (tmp_path / "some.mmnet.training" / "checkpoint.pt").exists() and not (tmp_path / "some.mmnet").exists()


@pytest.mark.parametrize("arguments, trouble", [
    (["nothing.mmdb", "-o", "some.mmnet"], "There is no file"),
    (["nothing.mmdb", "-o", "some.txt"], "is a .mmnet file"),
])
def test_bad_input_is_told_in_one_sentence(tmp_path, monkeypatch, capsys, arguments, trouble):
    monkeypatch.chdir(tmp_path)
    assert main(["train", *arguments]) == 1
    assert trouble in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
