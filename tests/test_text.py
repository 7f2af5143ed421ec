# SPDX-License-Identifier: GPL-3.0-or-later
"""Text that people write: read, or named in a sentence without any of Python's words."""

import math
import os

import pytest

from mm_blender.errors import MotionError
from mm_blender.text import read_json, read_text, short_names


def test_text_is_read_as_it_stands(tmp_path):
    (tmp_path / "a.csv").write_bytes("\ufefftime\r\n0,ü\r\n".encode())
    assert read_text(tmp_path / "a.csv") == "time\r\n0,ü\r\n"


@pytest.mark.parametrize("content, words", [
    (b"\xff\xfe\0", "is not a text in UTF-8"), (b"{", "is not JSON: line 1, column 2 makes no sense"),
    (b"", "not JSON"),
    (b'{\n"a": 1,}', "line 2, column"),
    (b"[" * 100_000, "too many brackets inside one another"), (b"\0", "not JSON"),
])
def test_what_is_no_json_is_named(tmp_path, content, words):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(MotionError, match=words) as caught:
        read_json(tmp_path / "a.json")
    assert "a.json" in str(caught.value)


def test_numbers_that_nothing_can_count_with_are_infinite(tmp_path):
    (tmp_path / "a.json").write_text(f"[1{400 * '0'}, -1{5000 * '0'}, 123456789012345, 1e400, 7]")
    assert read_json(tmp_path / "a.json") == [math.inf, -math.inf, 123456789012345, math.inf, 7]


def test_a_file_of_more_than_the_stated_size_is_not_read(tmp_path):
    with open(tmp_path / "a.json", "wb") as file:
        file.truncate(25_000_000)
    with pytest.raises(MotionError, match="has 25 MB, and such a file has at most 10 MB"):
        read_text(tmp_path / "a.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes among its files")
def test_only_ordinary_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    (tmp_path / "round").symlink_to(tmp_path / "round")
    for name, words in (("pipe", "a device or a pipe"), ("link", "a device or a pipe"), (".", "it is a folder"),
                        ("none", "There is no file"), ("round", "cannot be read"), ("x" * 300, "cannot be read"),
                        ("a\0b", "cannot be read")):
        with pytest.raises(MotionError, match=words):
            read_text(tmp_path / name)


# Names where there is little room

def test_names_keep_what_tells_them_apart(subtests):
    for names, most, wanted in (
            (("pushAndPick_subject1_walk", "pushAndPick_subject2_walk", "pushAndPick_subject2_run"), 14,
             ("…subject1_walk", "…subject2_walk", "pushAnd…_run")),
            (("Armature|mixamo.com|Walk", "Armature|mixamo.com|Run"), 5, ("…Walk", "…Run")),
            (("walk_loop_start.001", "walk_loop_start.002"), 12, None), (("a" * 40, "a" * 39 + "b"), 6, None),
            (("走路向前很快很快很快一", "走路向前很快很快很快二"), 6, None),
            (("Ходьба вперёд 1", "Ходьба вперёд 2"), 10, None),
            (("short", "a name that is much too long for it"), 12, None)):
        with subtests.test(names[0]):
            found = short_names(names, most)
            assert list(found) == list(names) and len(set(found.values())) == len(names)
            assert all(len(text) <= most and (text == name if len(name) <= most else "…" in text)
                       for name, text in found.items())
            if wanted is not None:
                assert [found[name].strip("…_") for name in names[:2]] == [text.strip("…_") for text in wanted[:2]]


def test_names_of_a_hundred_clips_stay_different():
    names = [f"{what}{take}_subject{subject}_{how}_filtered" for what in ("pushAndStumble", "obstacles", "fallAndGetUp")
             for take in range(1, 5) for subject in range(1, 4) for how in ("walk", "jog2", "sidesteps")]
    found = short_names(names, 24)
    assert len(set(found.values())) == len(names) == 108
    assert all(how in found[name] for name in names for how in ("jog", "sid") if how in name)


def test_odd_names_are_no_trouble():
    for names in ([], [""], ["", "   ", "___________________"], ["...................1", "...................2"]):
        found = short_names(names, 5)
        assert list(found) == list(dict.fromkeys(names)) and all(len(text) <= 5 for text in found.values())
