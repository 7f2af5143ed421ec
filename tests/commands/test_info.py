# SPDX-License-Identifier: GPL-3.0-or-later
"""bake --propose-tags and info --clips: what clips show, and which of them do harm, from the shell."""

import json

import pytest

from mm_blender.commands import main
from mm_blender.evaluate import triage
from mm_blender.motion import bvh
from tests.databases import demo_clips

NAMES = ("idle", "walk", "walk start left", "walk stop left")


@pytest.fixture(scope="module")
def clips(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clips")
    for clip in demo_clips():
        if clip.name in NAMES:
            bvh.write(folder / f"{clip.name.replace('walk', 'take')}.bvh", clip)
    return folder


def ask(capsys, *arguments):
    assert main([*map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_proposed_tags_are_baked_and_written_so_that_they_can_be_read_again(clips, tmp_path, capsys):
    (tmp_path / "own.json").write_text('{"take": ["walk"], "take st*": [{"name": "walk", "start": 1, "end": 2}]}')
    first = json.loads(ask(capsys, "bake", clips, "-o", tmp_path / "a.mmdb", "--json", "--tags", tmp_path / "own.json",
                           "--propose-tags", tmp_path / "tags.json"))
    assert first["frames_per_tag"]["idle"] > 700
    written = json.loads((tmp_path / "tags.json").read_text())
    assert written["idle"] == [{"name": "idle", "start": 0.0, "end": 12.0}]
    assert {tag["name"] for tag in written["take start left"]} == {"idle"}  # its walk is tagged already
    assert written["take"] == ["walk"] and written["take st*"] == [{"name": "walk", "start": 1.0, "end": 2.0}]
    again = json.loads(ask(capsys, "bake", clips, "-o", tmp_path / "b.mmdb", "--json",
                           "--tags", tmp_path / "tags.json"))
    assert again["frames_per_tag"] == first["frames_per_tag"]


def test_the_file_of_proposed_tags_is_checked_before_the_work(clips, tmp_path, capsys):
    for name in ("tags.txt", "nowhere/tags.json"):
        assert main(["bake", str(clips), "-o", str(tmp_path / "a.mmdb"), "--propose-tags", str(tmp_path / name)]) == 1
        assert not (tmp_path / "a.mmdb").exists()
    assert "does not exist" in capsys.readouterr().err


def test_clips_are_measured_and_driven(clips, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(triage.triage, "__defaults__", (3.0,))
    ask(capsys, "bake", clips, "-o", tmp_path / "a.mmdb")
    table = ask(capsys, "info", tmp_path / "a.mmdb", "--clips")
    assert all(f"\n{name.replace('walk', 'take')} " in table for name in NAMES) and "A test drive of 15 s" in table
    said = json.loads(ask(capsys, "info", tmp_path / "a.mmdb", "--clips", "--json"))
    assert said["kind"] == "mmdb" and [clip["clip"] for clip in said["test_drive"]["clips"]] == said["clip_names"]
