# SPDX-License-Identifier: GPL-3.0-or-later
"""Databases and networks beside the .blend go along wherever it is saved."""

import os
from pathlib import Path

import bpy
import pytest

from mm_blender.scene.driving import libraries
from mm_blender.scene.jobs import baking, ownership, saving, training
from mm_blender.scene.jobs.training import own_networks_path


@pytest.fixture
def baked(small_demo, tmp_path, monkeypatch):
    """A character that was baked before its file was ever saved; its networks are there, too."""
    monkeypatch.setattr(ownership, "provisional_folder", lambda: str(_made(tmp_path / "own")))
    small_demo.mm.bake.path = "//demo.mmdb"
    bpy.ops.mm.bake()
    Path(own_networks_path(small_demo)).write_bytes(b"networks")
    return small_demo


def _made(folder):
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _full(*_):
    raise OSError(28, "No space left on device")


def save(path, **options):
    path.parent.mkdir(exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), **options)


def test_a_file_that_is_saved_for_the_first_time_has_its_database(baked, tmp_path):
    before = libraries.library_of(baked).database.key
    save(tmp_path / "shot" / "a.blend")
    assert baking.database_path(baked) == str(tmp_path / "shot" / "demo.mmdb")
    assert libraries.library_of(baked).database.key == before and not baking.changes(baked, bpy.context.scene)
    assert Path(own_networks_path(baked)).read_bytes() == b"networks"
    assert sorted(each.name for each in (tmp_path / "shot").iterdir()) == ["a.blend", "demo.mmdb", "demo.mmnet"]


def test_it_goes_along_into_another_folder_and_with_a_copy(baked, tmp_path):
    save(tmp_path / "one" / "a.blend")
    save(tmp_path / "two" / "b.blend")
    save(tmp_path / "three" / "c.blend", copy=True)
    for folder in ("one", "two", "three"):
        assert (tmp_path / folder / "demo.mmdb").is_file() and (tmp_path / folder / "demo.mmnet").is_file(), folder
    assert baked.mm.bake.path == "//demo.mmdb" and not baking.changes(baked, bpy.context.scene)


@pytest.mark.parametrize("name", ["demo.mmdb", "demo.mmnet"])
def test_what_another_file_has_there_is_not_touched(baked, tmp_path, name):
    there = _made(tmp_path / "shot") / name
    there.write_bytes(b"what somebody else has made")
    save(tmp_path / "shot" / "a.blend")
    assert there.read_bytes() == b"what somebody else has made"
    assert baked.mm.bake.path == "//demo.001.mmdb" and not baking.changes(baked, bpy.context.scene)
    assert (tmp_path / "shot" / "demo.001.mmnet").read_bytes() == b"networks"


def test_a_database_that_cannot_be_read_does_not_get_in_the_way(baked, tmp_path):
    Path(baking.database_path(baked)).write_bytes(b"broken")
    save(tmp_path / "shot" / "a.blend")
    assert [each.name for each in (tmp_path / "shot").iterdir()] == ["a.blend"]


def test_a_file_that_an_armature_was_given_to_play_goes_along(baked, tmp_path):
    baked.mm.bake.key = ""
    baked.mm.clips.clear()
    save(tmp_path / "shot" / "a.blend")
    assert (tmp_path / "shot" / "demo.mmdb").is_file()


def test_what_is_being_trained_stays_together(baked, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "job_of", lambda output: object())
    before = baking.database_path(baked)
    save(tmp_path / "shot" / "a.blend")
    assert baking.database_path(baked) == before and not (tmp_path / "shot" / "demo.mmdb").exists()


@pytest.mark.parametrize("why", ["trained", "full"])
def test_what_stays_in_the_folder_of_a_run_is_kept_for_good_and_said(baked, tmp_path, monkeypatch, why):
    root = tmp_path / "databases"
    run = _made(root / "2020-01-01-aaaaaaaa")
    for each in (tmp_path / "own").iterdir():
        each.rename(run / each.name)
    baked.mm.bake.path = str(run / "demo.mmdb")
    monkeypatch.setattr(ownership, "provisional_folder", lambda: str(run))
    with monkeypatch.context() as trouble:
        if why == "trained":
            trouble.setattr(training, "job_of", lambda output: object())
        else:
            trouble.setattr("mm_blender.scene.jobs.saving.shutil.copyfile", _full)
        save(tmp_path / "shot" / "a.blend")
    path = Path(baking.database_path(baked))
    sentence = saving.why_it_stays(baked)
    assert sentence.startswith(f"demo.mmdb stays where it is, in {run}: ")
    assert {"trained": "are being trained, so save again", "full": "the disk is full; free some space"}[why] in sentence
    for each in (*run.iterdir(), run):
        os.utime(each, (each.stat().st_mtime - 99 * 86400,) * 2)
    monkeypatch.setattr(ownership, "RUNS", 1)
    ownership.make_room(root / ownership._RUN / "unsaved_Other.mmdb")
    assert path.parent == run and not baking.changes(baked, bpy.context.scene)
    save(tmp_path / "shot" / "a.blend")
    assert baking.database_path(baked) == str(tmp_path / "shot" / "demo.mmdb") and not saving.why_it_stays(baked)


def test_paths_that_are_not_relative_are_left_alone(baked, tmp_path):
    path = baked.mm.bake.path = str(tmp_path / "library.mmdb")
    bpy.ops.mm.bake()
    save(tmp_path / "shot" / "a.blend")
    assert baked.mm.bake.path == path and [each.name for each in (tmp_path / "shot").iterdir()] == ["a.blend"]


def test_where_it_cannot_be_written_nothing_is_lost(baked, tmp_path, monkeypatch):
    monkeypatch.setattr("mm_blender.scene.jobs.saving.shutil.copyfile", _full)
    before = baking.database_path(baked)
    save(tmp_path / "shot" / "a.blend")
    assert baking.database_path(baked) == before and not baking.changes(baked, bpy.context.scene)
    assert [each.name for each in (tmp_path / "shot").iterdir()] == ["a.blend"]
