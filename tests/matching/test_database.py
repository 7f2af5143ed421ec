# SPDX-License-Identifier: GPL-3.0-or-later
import errno
import json
import os
import signal
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from mm_blender import archive
from mm_blender.errors import MotionError
from mm_blender.limits import FURTHEST
from mm_blender.matching import database
from mm_blender.matching.bake import bake, run
from mm_blender.matching.features import measure
from mm_blender.matching.parts import taken_over
from mm_blender.matching.schema import PRESETS
from mm_blender.matching.search import Search
from mm_blender.motion import quat
from mm_blender.motion.clip import Tag
from mm_blender.prepare.recipe import Recipe

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def made(character, walk, source):
    """A walk with its mirror image, a loop, and a clip of which most is excluded."""
    go = walk("go", tags=(Tag("walk", 0.0, 2.0), Tag("no-enter", 0.5, 0.75)), curves={"mood": np.linspace(0, 1, 121)})
    sources = [source(go, mirror=True), source(walk("Röund & röund", 1.0, turn=1.0), loop=True),
               source(walk("short", 1.5, tags=(Tag("exclude", 0.0, 1.25),)))]
    return run(bake(sources, character, PRESETS["locomotion"], Recipe()))


@pytest.fixture
def file(made, tmp_path):
    path = tmp_path / "walk.mmdb"
    made.save(path)
    return path


# What is in it

def test_poses_are_stored_once_and_translations_that_stay_only_once(made, walk):
    assert made.rotations.shape == (121 + 121 + 61 + 15, 6, 4) and made.rotations.dtype == np.float32
    assert [made.skeleton.names[joint] for joint in made.moving] == ["root", "hips"]
    assert made.positions.shape == (318, 2, 3)
    assert made.pose_nbytes == 318 * (6 * 16 + 2 * 12) + 6 * 12 + 2 * 4
    clip = walk()
    assert np.allclose(made.local_positions(slice(0, 121)), clip.positions, atol=1e-6)
    assert np.allclose(made.local_positions(30), clip.positions[30], atol=1e-6)
    assert np.allclose(made.local_positions(np.array([[3, 4], [5, 6]]))[1, 0], clip.positions[5], atol=1e-6)


def test_clips_come_back_as_they_went_in(made, walk):
    clip, image, loop, short = (made.clip(index) for index in range(4))
    assert (clip.name, image.name, loop.name) == ("go", "go (mirrored)", "Röund & röund")
    assert np.allclose(clip.rotations, walk().rotations, atol=1e-6)
    assert np.allclose(clip.positions, walk().positions, atol=1e-6)
    assert np.allclose(image.globals()[0][:, 3], clip.globals()[0][:, 5] * [-1, 1, 1], atol=1e-5)
    assert loop.loop and not clip.loop
    assert sorted(clip.tags, key=lambda tag: tag.name) == [Tag("no-enter", 0.5, 0.75), Tag("walk", 0.0, 2.0)]
    assert np.allclose(clip.curves["mood"], np.linspace(0, 1, 121)) and not loop.curves["mood"].any()
    assert short.contacts.shape == (15, 2)


def test_features_are_those_of_the_poses_that_are_stored(made):
    for index, part in enumerate(made.ranges):
        features = made.normalisation.apply(measure(made.clip(index), made.character, made.schema))
        assert np.array_equal(features, made.features[part.start:part.stop])


def test_every_frame_knows_its_clip(made):
    assert np.bincount(made.range_of_frame).tolist() == [121, 121, 61, 15]
    assert [part.source for part in made.ranges] == ["go", "go", "Röund & röund", "short"]
    assert [part.mirrored for part in made.ranges] == [False, True, False, False]
    assert np.isclose(made.ranges[3].source_start, 76 / 60)


def test_velocities_are_derived_within_clips_only(made, walk):
    velocities, spins = made.velocities
    clip = walk()
    assert np.allclose(velocities[:120, 0], np.diff(clip.positions[:, 0], axis=0) * 60, atol=1e-3)
    assert np.allclose(spins[:120, 2], quat.angular_velocity(clip.rotations, 1 / 60)[:, 2], atol=1e-3)
    for part in made.ranges:
        assert np.array_equal(velocities[part.stop - 1], velocities[part.stop - 2])
        assert np.array_equal(spins[part.stop - 1], spins[part.stop - 2])
    # From the end of one clip to the beginning of the next it is more than two metres.
    assert np.abs(velocities).max() < 2 and np.abs(spins).max() < 4


def test_a_query_selects_frames(made):
    assert np.flatnonzero(made.select("walk & ~no-enter")).tolist() == [*range(30), *range(46, 151), *range(167, 242)]
    assert made.select("").all()
    with pytest.raises(MotionError, match='"run", which no clip has'):
        made.select("run")


# Frames that are not entered

def test_reasons_for_which_frames_are_not_entered(made):
    barred = made.barred()
    assert barred[:121].tolist() == [0] * 30 + [1] * 16 + [0] * 55 + [2] * 20
    assert not barred[242:303].any()  # a loop has no end
    assert (barred[303:] == 2).all()  # the last clip is shorter than a third of a second
    assert made.barred(end=1.0)[:121].tolist() == [0] * 30 + [1] * 16 + [0] * 15 + [2] * 60


def test_frames_just_before_a_jolt_of_the_legs_are_not_entered(made):
    rotations = made.rotations.copy()
    leg = made.skeleton.parents[made.character.joint(made.character.contact_roles()[0])]
    rotations[20, leg] = quat.mul(quat.from_scaled_angle_axis(np.array([0.5, 0, 0], np.float32)), rotations[20, leg])
    jolting = replace(made, rotations=rotations, steps=None)
    assert not made.before_jolts.any()
    # It shows in the frames before and after it as well.
    assert np.flatnonzero(jolting.before_jolts).tolist() == [*range(13, 21)]
    assert (jolting.barred()[13:21] == 4).all() and jolting.barred()[21:30].tolist() == [0] * 9


def test_nor_are_frames_just_before_an_arm_is_suddenly_elsewhere(demo_database):
    rotations, begin = demo_database.rotations.copy(), demo_database.ranges[5].start
    arm = demo_database.character.joint("left_upper_arm")
    raised = quat.from_scaled_angle_axis(np.array([1.5, 0, 0], np.float32))
    rotations[begin:begin + 2, arm] = quat.mul(raised, rotations[begin:begin + 2, arm])
    jolting = replace(demo_database, rotations=rotations, steps=None)
    new = np.flatnonzero(jolting.before_jolts & ~demo_database.before_jolts)
    assert new.tolist() == [begin, begin + 1]  # the clip comes out of another pose


def test_frames_that_look_past_an_end_are_barred_where_that_is_chosen(made):
    chosen = replace(made, schema=replace(PRESETS["locomotion_past"], past_end="exclude"))
    assert chosen.barred()[:121].tolist() == [3] * 6 + [0] * 24 + [1] * 16 + [0] * 15 + [3] * 40 + [2] * 20
    assert not chosen.barred()[242:303].any()
    assert chosen.report()["not_entered"] == {
        "tagged no-enter": 32, "too near the end of its clip": 55, "too near an end of its clip for its features": 92}
    assert replace(made, schema=PRESETS["locomotion_past"]).report()["not_entered"] == {
        "tagged no-enter": 32, "too near the end of its clip": 55}


def test_the_report_counts(made):
    report = made.report()
    assert report["clips"] == 3 and report["ranges"] == 4 and report["frames"] == 318
    assert report["minutes"] == round(318 / 3600, 3) and report["rate"] == 60 and report["joints"] == 6
    assert report["features"] == 27 and report["schema"] == "locomotion" and report["past_end"] == "extrapolate"
    assert report["frames_per_tag"] == {"no-enter": 32, "walk": 242}
    assert report["excluded"] == {"short": 1.267} and report["left_out"] == []
    assert report["pose_bytes_per_frame"] == round(made.pose_nbytes / 318, 1) < 125
    assert report["megabytes"] == round((made.pose_nbytes + 318 * (27 * 4 + 2 + 4)) / 1e6, 2)
    assert set(report["contact_share"]) == {"left_foot", "right_foot"}
    assert len(report["warnings"]) == 1 and '"short" (0.25 s)' in report["warnings"][0]
    json.dumps(report)


# The file

def test_a_database_survives_its_file_exactly(made, file):
    loaded = database.load(file, to_bake=True)
    for one in fields(made):
        before, after = getattr(made, one.name), getattr(loaded, one.name)
        if isinstance(before, np.ndarray):
            assert before.dtype == after.dtype and np.array_equal(before, after), one.name
        elif one.name not in ("character", "normalisation", "tags"):
            assert before == after, one.name
    assert np.array_equal(loaded.normalisation.mean, made.normalisation.mean)
    assert np.array_equal(loaded.normalisation.scale, made.normalisation.scale)
    assert made.tags.keys() == loaded.tags.keys()
    assert all(np.array_equal(made.tags[name], loaded.tags[name]) for name in made.tags)
    one, other = made.character, loaded.character
    assert (one.roles, one.mirror, one.forward) == (other.roles, other.mirror, other.forward)
    assert one.skeleton.same_joints(other.skeleton)
    assert np.array_equal(one.skeleton.positions, other.skeleton.positions)
    assert np.array_equal(one.skeleton.rotations, other.skeleton.rotations)
    assert loaded.report() == made.report()


def test_the_key_is_read_without_the_rest(made, file):
    assert database.read_key(file) == made.key and len(made.key) == 64


def test_its_name_may_have_spaces_and_any_letters(made, tmp_path):
    made.save(tmp_path / "Füße & Hände 走る.mmdb")
    assert len(database.load(tmp_path / "Füße & Hände 走る.mmdb")) == 318


def test_saving_again_replaces_and_leaves_nothing_else(made, file):
    replace(made, key="new").save(file)
    assert database.read_key(file) == "new" and os.listdir(file.parent) == ["walk.mmdb"]


@pytest.mark.parametrize("number, words", [(errno.ENOSPC, "disk is full"), (errno.EACCES, "read-only")])
def test_a_file_that_cannot_be_written_leaves_the_previous_one(made, file, monkeypatch, number, words):
    def refuse(*_args, **_kwargs):
        raise OSError(number, os.strerror(number))
    monkeypatch.setattr(np.lib.format, "write_array", refuse)
    with pytest.raises(MotionError, match=f"walk.*{words}"):
        replace(made, key="new").save(file)
    assert database.load(file).key == made.key and os.listdir(file.parent) == ["walk.mmdb"]


def test_a_folder_that_does_not_exist_is_named(made, tmp_path):
    with pytest.raises(MotionError, match=r"nowhere.* does not exist"):
        made.save(tmp_path / "nowhere" / "walk.mmdb")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_killed_in_the_middle_of_saving_the_previous_file_still_loads(made, file):
    outcome = subprocess.run([sys.executable, "-c", KILLED, str(file)], cwd=ROOT, capture_output=True, text=True)
    assert outcome.returncode == -signal.SIGKILL, outcome.stderr
    assert len(os.listdir(file.parent)) == 2  # it died with half a file on the disk
    assert database.load(file).key == made.key


KILLED = """
import os, signal, sys
import numpy as np
from mm_blender.matching import database
made, write, written = database.load(sys.argv[1]), np.lib.format.write_array, []
def kill(file, array, **options):
    if len(written) == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    written.append(array)
    write(file, array, **options)
np.lib.format.write_array = kill
made.save(sys.argv[1])
"""


# Damaged files: tests/test_archive.py has the archive itself; here is what only a database can have wrong

def damaged(file, header=None, **arrays):
    """Write the file again with changes: to its header by a function, to its arrays by name."""
    old, contents = archive.read(file, "mmdb", 1, database._ARRAYS, database.OPTIONAL)
    kind, version = old.pop("kind"), old.pop("version")
    if header:
        header(old)
    contents |= {name: change(contents[name]) for name, change in arrays.items()}
    archive.write(file, kind, version, old, contents)


def refused(file, words="damaged", **how):
    with pytest.raises(MotionError, match=words) as caught:
        database.load(file, **how)
    sentence = str(caught.value)
    assert sentence.startswith(f'"{file}" is damaged') and "anew (" in sentence and sentence.endswith(").")
    assert "\n" not in sentence


def test_writing_it_again_does_no_damage(made, file):
    damaged(file)
    assert database.load(file).key == made.key


@pytest.mark.parametrize("name", [name for name in database._ARRAYS if name not in ("parents",)])
def test_an_array_of_another_shape_is_refused(file, name):
    damaged(file, **{name: lambda array: array[:-1]})
    refused(file)


@pytest.mark.parametrize("name", ["rotations", "positions", "moving", "fixed", "contacts", "features", "mean", "scale"])
def test_an_array_of_another_type_is_refused(made, file, name, subtests):
    for kind in (np.complex64, np.float64, np.dtype("U1"), np.int8):
        with subtests.test(kind=kind):
            made.save(file)
            damaged(file, **{name: lambda array, kind=kind: np.ones(array.shape).astype(kind)})
            refused(file)


@pytest.mark.parametrize("name", ["rotations", "positions", "fixed", "curves", "features", "mean", "scale",
                                  "rest_positions", "rest_rotations"])
def test_values_that_are_not_numbers_are_refused(made, file, name, subtests):
    for value in (np.nan, np.inf):
        with subtests.test(value=value):
            def spoil(array, value=value):
                array = array.copy()
                array.reshape(-1)[-1] = value
                return array
            made.save(file)
            damaged(file, **{name: spoil})
            refused(file, "not all numbers")


@pytest.mark.parametrize("name, value, words", [
    ("positions", 1e30, "positions are larger than"), ("fixed", -1e30, "fixed are larger than"),
    ("rest_positions", 1e30, "rest positions are larger"), ("features", 3e38, "features are larger"),
    ("curves", 3e38, "curves are larger"), ("mean", 1e30, "mean are larger"), ("scale", 3e38, "scale are larger"),
    ("scale", 0, "almost nothing"), ("scale", 1e-38, "almost nothing"), ("scale", -1, "almost nothing"),
    ("rotations", 5, "rotations are none"), ("rotations", 1e30, "rotations are larger"),
    ("rest_rotations", 5, "rest rotations are none"),
])
def test_numbers_that_no_motion_has_are_refused(file, name, value, words):
    def spoil(array):
        array = array.copy()
        array.reshape(-1)[-1] = value
        return array
    damaged(file, **{name: spoil})
    refused(file, words)


@pytest.mark.parametrize("name, value", [
    ("positions", 2e7), ("rotations", 5), ("curves", 1e12), ("features", np.nan)])
def test_what_would_not_load_is_not_written(made, file, name, value):
    before = file.read_bytes()
    with pytest.raises(MotionError, match=rf'^"{file}" was not written: .*{name}.* Look at the clips') as caught:
        replace(made, **{name: np.full_like(getattr(made, name), value)}).save(file)
    assert "\n" not in str(caught.value) and file.read_bytes() == before


def test_what_lies_as_far_away_as_a_clip_may_is_written_and_loads(character, walk, source, tmp_path):
    clip = walk()
    clip.positions[:, 0, 0] += 0.99 * FURTHEST
    run(bake([source(clip)], character, PRESETS["locomotion"], Recipe())).save(tmp_path / "far.mmdb")
    assert database.load(tmp_path / "far.mmdb").positions.max() > 0.98 * FURTHEST


def test_a_root_that_never_moves_is_refused(file):
    damaged(file, moving=lambda moving: np.array([1, 2], dtype=np.int32))
    refused(file, "root does not move")


def test_a_leg_that_cannot_bend_is_refused(file):
    damaged(file, lambda header: header["roles"].update(left_shin=header["names"][-1]), fixed=np.zeros_like)
    refused(file, "has no length")


@pytest.mark.parametrize("name", ["rest_positions", "rest_rotations"])
@pytest.mark.parametrize("kind", [np.complex64, np.float64, np.int8, np.dtype("U1")])
def test_a_rest_pose_of_another_type_is_refused(file, name, kind):
    damaged(file, **{name: lambda array: array.astype(kind)})
    refused(file)


@pytest.mark.parametrize("factor", [1e20, 1e308])
@pytest.mark.parametrize("where", [("responsiveness",), ("quality",), ("channels", 0, "weight")])
def test_features_of_a_weight_that_would_hide_all_others_are_refused(file, where, factor):
    def change(header):
        *path, last = where
        record = header["schema"]
        for name in path:
            record = record[name]
        record[last] = factor
    damaged(file, change)
    refused(file)


@pytest.mark.parametrize("moving", [[0, 6], [-1, 0], [0, 0], [2 ** 31 - 1, 0]])
def test_joints_that_are_not_there_are_refused(file, moving):
    damaged(file, moving=lambda array: np.array(moving, dtype=np.int32))
    refused(file, "joints that it does not have")


@pytest.mark.parametrize("parents", [[0, 0, 1, 2, 1, 4], [-1, 5, 1, 2, 1, 4], [-1, -1, 1, 2, 1, 4],
                                     [-1, 0, 1, 2, 1, 99]])
def test_a_tree_that_is_none_is_refused(file, parents):
    damaged(file, parents=lambda array: np.array(parents, dtype=np.int32))
    refused(file)


def shift(header):
    header["ranges"][1]["start"] += 1


def gap(header):
    del header["ranges"][1]


def short(header):
    del header["ranges"][-1]


def backwards(header):
    header["ranges"][0] |= {"stop": -5}


def no_clips(header):
    header["ranges"] = []


def long(header):
    header["ranges"][-1]["stop"] = 10 ** 12


def fraction(header):
    header["ranges"][0]["stop"] = 121.0


@pytest.mark.parametrize("change", [shift, gap, short, backwards, no_clips, long, fraction])
def test_clips_that_do_not_cover_the_frames_are_refused(file, change):
    damaged(file, change)
    refused(file, "clips")


@pytest.mark.parametrize("span", [[0, 319], [-1, 5], [5, 5], [9, 5], [0.5, 5], ["a", 5], [1], None])
def test_tags_that_reach_past_the_frames_are_refused(file, span):
    damaged(file, lambda header: header["tags"].update(walk=[span]))
    refused(file)


@pytest.mark.parametrize("name", ["rate", "names", "roles", "mirror", "recipe", "schema", "ranges", "tags",
                                  "curve_names", "notes", "key"])
def test_anything_else_in_the_header_is_refused_or_harmless(made, file, name, subtests):
    for value in (None, 5, -1, "x", [], {}, [5], {"a": 5}, True, float("nan"), 10 ** 400):
        with subtests.test(value=f"{value!r:.20}"):
            made.save(file)
            damaged(file, lambda header, value=value: header.update({name: value}))
            try:
                loaded = database.load(file)
            except MotionError as error:
                assert str(error).startswith(f'"{file}" is damaged')
            else:
                assert (name, type(value)) in HARMLESS
                loaded.report(), loaded.clip(0), loaded.velocities, loaded.save(file)


HARMLESS = {("rate", int), ("notes", dict), ("key", str), ("mirror", dict), ("tags", dict), ("recipe", dict),
            ("curve_names", str), ("curve_names", dict)}


@pytest.mark.parametrize("name", ["rate", "names", "roles", "mirror", "forward", "recipe", "schema", "ranges", "tags",
                                  "curve_names", "notes", "key"])
def test_a_header_without_one_of_its_parts_is_refused(file, name):
    damaged(file, lambda header: header.pop(name))
    refused(file, name)


@pytest.mark.parametrize("setting, value", [("rate", "fast"), ("root", 5), ("skip_rest", "no"), ("colour", 1),
                                            ("root_facing", float("nan")), ("contact_speed", float("inf")),
                                            ("contact_filter", 1e300), ("rate", -1.0)])
def test_a_recipe_that_makes_no_sense_is_refused(file, setting, value):
    damaged(file, lambda header: header["recipe"].update({setting: value}))
    refused(file, setting.replace("_", "."))


def test_features_of_bones_that_it_does_not_have_are_refused(file):
    damaged(file, lambda header: header["roles"].pop("hips"))
    refused(file, "hips")


def test_a_database_may_be_put_together_without_properties(made):
    bare = replace(made, curves=None, curve_names=())
    assert bare.curves.shape == (318, 0) and bare.report()["frames"] == 318


def test_stretches_of_a_mask():
    assert database.runs(np.array([1, 1, 0, 0, 1, 0, 1], dtype=bool)) == [[0, 2], [4, 5], [6, 7]]
    assert database.runs(np.zeros(3, dtype=bool)) == [] and database.runs(np.ones(3, dtype=bool)) == [[0, 3]]


# Cells for the search

def test_the_search_finds_its_cells_in_the_file(made, file, monkeypatch):
    loaded = database.load(file)
    assert np.array_equal(loaded.cells, made.cells) and loaded.cells.dtype == np.int32
    weights = np.ones(made.schema.size)
    anew = Search(loaded.features, weights)
    monkeypatch.delattr("mm_blender.matching.search.gather")  # from here on no frames are gathered into cells
    search = Search(loaded.features, weights, cells=loaded.cells)
    query = made.features[50] + 0.3
    assert search.nearest(query).frame == anew.nearest(query).frame


def test_a_file_from_before_there_were_cells_loads(made, tmp_path):
    replace(made, cells=None).save(tmp_path / "old.mmdb")
    assert database.load(tmp_path / "old.mmdb").cells is None


@pytest.mark.parametrize("change", [lambda cells: cells[1:], lambda cells: cells - 1, lambda cells: cells * 2,
                                    lambda cells: cells.astype(np.float32)])
def test_cells_that_make_no_sense_are_refused(file, change):
    damaged(file, cells=change)
    refused(file, "cells")


@pytest.mark.parametrize("name", ["measured", "steps", "some_steps"])
def test_what_a_bake_would_take_over_is_checked_too(file, name, subtests):
    whole = file.read_bytes()
    for change in (lambda array: array[1:], lambda array: array * np.float32(1e12), lambda array: array * np.nan,
                   lambda array: array.astype(np.float64)):
        with subtests.test():
            file.write_bytes(whole)
            damaged(file, **{name: change})
            refused(file, to_bake=True)


def test_a_file_from_before_features_were_kept_as_measured_loads_and_is_taken_over(made, tmp_path):
    replace(made, measured=None, steps=None, some_steps=None).save(tmp_path / "old.mmdb")
    loaded = database.load(tmp_path / "old.mmdb", to_bake=True)
    assert loaded.measured is None and np.array_equal(loaded.before_jolts, made.before_jolts)
    part = taken_over(loaded, 0, made.character, made.schema)
    assert np.array_equal(part.measured, made.measured[:len(part)])
    assert np.array_equal(part.steps, made.steps[:len(part)])
