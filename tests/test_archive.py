# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives: what was written comes back, and whatever else a file may be ends in one sentence."""

import gc
import io
import json
import os
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest

from mm_blender import archive
from mm_blender.errors import MotionError

ARRAYS = {"numbers": np.arange(3000, dtype=np.float32).reshape(100, 10, 3), "flags": np.array([True, False]),
          "none": np.zeros((0, 4), dtype=np.int32)}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "thing.mmdb"
    archive.write(path, "mmdb", 3, {"name": "Füße", "list": [1, 2.5, None]}, ARRAYS)
    return path


def read(path, names=tuple(ARRAYS)):
    return archive.read(path, "mmdb", 3, names)


def refused(path, words="is damaged or not a .mmdb file: make it anew"):
    with pytest.raises(MotionError, match=words) as caught:
        read(path)
    sentence = str(caught.value)
    assert sentence.startswith(f'"{path}"') and sentence.endswith(".") and "\n" not in sentence
    return sentence


def test_what_was_written_comes_back(file):
    header, arrays = read(file)
    assert header == {"kind": "mmdb", "version": 3, "name": "Füße", "list": [1, 2.5, None]}
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype and np.array_equal(arrays[name], array)
    assert arrays["none"].shape == (0, 4)


def test_numpy_itself_can_read_it(file):
    with np.load(file, allow_pickle=False) as contents:
        assert np.array_equal(contents["numbers"], ARRAYS["numbers"])


def test_only_the_arrays_asked_for_are_read(file):
    assert list(read(file, ("flags",))[1]) == ["flags"] and read(file, ())[1] == {}


def test_an_older_version_is_read(file):
    assert archive.read(file, "mmdb", 4, ())[0]["version"] == 3


def test_a_newer_version_says_what_to_do(file):
    with pytest.raises(MotionError, match=r"newer Motion Matching \(format 3; this one reads up to 2\): update"):
        archive.read(file, "mmdb", 2, ())


def test_a_file_of_another_kind_is_told_by_its_kind(file):
    with pytest.raises(MotionError, match=r"is a \.mmdb file, not a \.mmnet file"):
        archive.read(file, "mmnet", 3, ())


def test_a_name_that_is_no_text_survives(tmp_path):
    archive.write(tmp_path / "thing.mmdb", "mmdb", 1, {"name": "broken \udcff name"}, {})
    assert archive.read(tmp_path / "thing.mmdb", "mmdb", 1, ())[0]["name"] == "broken \udcff name"


def test_a_missing_file_and_a_folder_are_told(tmp_path):
    with pytest.raises(MotionError, match=r'There is no file ".*thing.mmdb"\.'):
        read(tmp_path / "thing.mmdb")
    refused(tmp_path, "cannot be read: it is a folder")


# Damaged

def test_a_file_cut_short_anywhere_is_refused(file):
    whole = file.read_bytes()
    for length in {*range(0, len(whole), 997), 1, 4, 30, 200, len(whole) - 1, len(whole) - 22, len(whole) - 60}:
        file.write_bytes(whole[:length])
        refused(file)


def test_a_changed_byte_is_noticed_or_harmless(file):
    whole = file.read_bytes()
    before = read(file)
    noticed = 0
    for at in range(0, len(whole), 61):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x5A]) + whole[at + 1:])
        try:
            header, arrays = read(file)
        except MotionError:
            noticed += 1
        else:  # a date, or some other byte of the archive that says nothing about the contents
            assert header == before[0] and all(np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS)
    assert noticed > 0.9 * len(whole) / 61


@pytest.mark.parametrize("contents", [
    b"", b"\0", b"HIERARCHY\nROOT Hips\n", b"PK\x03\x04", b"PK\x05\x06" + b"\0" * 18, b"\x93NUMPY", b"\0" * 100_000,
    "Füße".encode() * 999, pickle.dumps([1, 2, 3]), b'{"kind": "mmdb", "version": 3}',
], ids=["empty", "zero", "bvh", "zip start", "empty zip", "npy start", "zeros", "text", "pickle", "json"])
def test_what_is_no_archive_is_refused(tmp_path, contents):
    path = tmp_path / "thing.mmdb"
    path.write_bytes(contents)
    refused(path)


def test_a_bare_array_is_refused(tmp_path):
    path = tmp_path / "thing.mmdb"
    with open(path, "wb") as file:
        np.save(file, np.arange(5))
    refused(path)


def test_a_foreign_zip_is_refused(tmp_path):
    path = tmp_path / "thing.mmdb"
    with zipfile.ZipFile(path, "w") as contents:
        contents.writestr("readme.txt", "hello")
    refused(path)


@pytest.mark.parametrize("text", [
    b"", b"{", b"[]", b"5", b"null", b'"mmdb"', b"\xff\xfe", b"[" * 100_000, b"{}", b'{"kind": "mmdb"}',
    b'{"version": 3}',
    b'{"kind": 5, "version": 3}', b'{"kind": "mmdb", "version": "3"}', b'{"kind": "mmdb", "version": 0}',
    b'{"kind": "mmdb", "version": null}', b'{"kind": "mmdb", "version": 2.5}',
])
def test_a_header_that_makes_no_sense_is_refused(tmp_path, text):
    pack(tmp_path / "thing.mmdb", header=npy(np.frombuffer(text, dtype=np.uint8)))
    refused(tmp_path / "thing.mmdb")


def test_a_missing_array_is_named(file):
    with pytest.raises(MotionError, match="wings"):
        read(file, ("numbers", "wings"))


# Malicious

class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("where", ["header", "numbers"])
def test_a_pickle_is_never_executed(tmp_path, where):
    sprung, path = tmp_path / "sprung", tmp_path / "thing.mmdb"
    trap = pickle.dumps(Trap(sprung))
    trap += b"\0" * (-len(trap) % 8)  # exactly as large as the objects that it claims to be
    pack(path, **{where: npy(np.frombuffer(trap, dtype=np.uint8), (len(trap) // 8,), "|O")})
    refused(path)
    assert not sprung.exists()
    with np.load(path, allow_pickle=True) as contents:
        contents[where].close()
    assert sprung.exists()  # the trap was a trap


def test_a_bare_pickle_is_never_executed(tmp_path):
    sprung, path = tmp_path / "sprung", tmp_path / "thing.mmdb"
    path.write_bytes(pickle.dumps(Trap(sprung)))
    refused(path)
    assert not sprung.exists()


@pytest.mark.parametrize("shape", [(10 ** 9, 4), (2 ** 62, 2 ** 62), (10 ** 30,), (-1, 4), (-2, -2), (3,), (5,)])
def test_an_array_that_claims_another_size_gets_no_memory(tmp_path, shape):
    path = tmp_path / "thing.mmdb"
    pack(path, numbers=npy(np.zeros(4, dtype=np.float32), shape=shape))
    assert peak_of(lambda: refused(path)) < 5e6


def test_an_archive_that_claims_another_size_gets_no_memory(tmp_path):
    path = tmp_path / "thing.mmdb"
    pack(path, numbers=npy(np.zeros(4, dtype=np.float32), shape=(10 ** 8,)))
    contents = bytearray(path.read_bytes())
    entry = contents.index(b"numbers.npy", contents.index(b"PK\x01\x02"))  # in the directory at the end
    contents[entry - 46 + 24:entry - 46 + 28] = (4 * 10 ** 8 + 128).to_bytes(4, "little")
    path.write_bytes(contents)
    assert peak_of(lambda: refused(path, "not what they claim")) < 5e6


def test_an_archive_that_unpacks_to_a_thousand_times_its_size_is_refused(tmp_path):
    path = tmp_path / "thing.mmdb"
    pack(path, compression=zipfile.ZIP_DEFLATED, numbers=npy(np.zeros(10_000_000, dtype=np.float32)))
    assert path.stat().st_size < 100_000
    assert peak_of(lambda: refused(path, "not what they claim")) < 5e6


@pytest.mark.skipif(os.name != "posix", reason="this system has no holes in files")
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_hole_before_the_archive_is_no_excuse(tmp_path, compression):
    path = tmp_path / "thing.mmdb"
    pack(path, compression=compression, numbers=npy(np.zeros(10_000_000, dtype=np.float32)))
    contents = path.read_bytes()
    with open(path, "wb") as file:  # its length says nothing any more
        file.seek(2 * 10 ** 9)
        file.write(contents)
    if compression == zipfile.ZIP_DEFLATED:
        assert path.stat().st_blocks * 512 < 1e6
        assert peak_of(lambda: refused(path, "not what they claim")) < 5e6
    else:
        assert len(read(path)[1]["numbers"]) == 10_000_000, "what is written in front of an archive does no harm"


def test_arrays_that_lie_within_one_another_get_no_memory(tmp_path):
    path = tmp_path / "thing.mmdb"
    pack(path, numbers=npy(np.zeros(10 ** 6, dtype=np.float32)))
    contents = bytearray(path.read_bytes())
    for name in (b"flags.npy", b"none.npy"):  # their entries in the directory now lead to the numbers
        entry, numbers = (contents.index(text, contents.index(b"PK\x01\x02")) - 46 for text in (name, b"numbers.npy"))
        contents[entry + 16:entry + 28] = contents[numbers + 16:numbers + 28]
        contents[entry + 42:entry + 46] = contents[numbers + 42:numbers + 46]
    path.write_bytes(contents)
    assert peak_of(lambda: refused(path)) < 5e6


@pytest.mark.skipif(os.name != "posix", reason="this system has no holes in files")
def test_a_directory_that_claims_to_be_endless_gets_no_memory(tmp_path):
    path, size = tmp_path / "thing.mmdb", 10 ** 9
    with open(path, "wb") as file:
        file.seek(size)
        file.write(b"PK\x05\x06" + b"\0" * 4 + b"\1\0\1\0" + size.to_bytes(4, "little") + b"\0" * 6)
    assert peak_of(lambda: refused(path, "directory is too large")) < 5e6


def test_a_header_that_is_too_long_gets_no_memory(tmp_path):
    path = tmp_path / "thing.mmdb"
    pack(path, header=npy(np.zeros(archive.LONGEST + 1, dtype=np.uint8)))
    assert peak_of(lambda: refused(path, "header has more than 16 MB")) < 5e6


@pytest.mark.parametrize("part", [b"[],", b"{},"])
def test_a_header_of_countless_parts_gets_little_memory(tmp_path, part):
    path = tmp_path / "thing.mmdb"
    text = b'{"kind": "mmdb", "version": 3, "ranges": [' + part * 5_000_000 + b"0]}"
    pack(path, header=npy(np.frombuffer(text, dtype=np.uint8)))
    assert peak_of(lambda: refused(path, "more than 1,000,000 lists and records")) < 5 * len(text)


def test_an_archive_of_countless_entries_gets_little_memory(tmp_path):
    path = tmp_path / "thing.mmdb"
    pack(path)
    contents = path.read_bytes()
    begin, end = contents.index(b"PK\x01\x02"), contents.index(b"PK\x05\x06")
    directory = contents[begin:end] * 20_000
    path.write_bytes(contents[:begin] + directory + contents[end:end + 12] + len(directory).to_bytes(4, "little")
                     + contents[end + 16:])
    assert peak_of(lambda: refused(path, "directory is too large")) < 5e6


@pytest.mark.skipif(os.name != "posix", reason="this system has no such files")
def test_what_has_no_end_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.mmdb")
    os.symlink("/dev/zero", tmp_path / "zero.mmdb")
    for name in ("pipe.mmdb", "zero.mmdb"):
        refused(tmp_path / name, "a device or a pipe")


def test_a_name_that_no_disk_takes_is_told(tmp_path):
    for name in ("n" * 300, "null\0"):
        with pytest.raises(MotionError, match="cannot be read: "):
            read(tmp_path / f"{name}.mmdb")


@pytest.mark.parametrize("number", [10 ** 400, -10 ** 400])
def test_a_number_that_breaks_sums_is_refused(tmp_path, number):
    with pytest.raises(MotionError, match=r"40[12] digits"):
        archive.write(tmp_path / "thing.mmdb", "mmdb", 3, {"rate": number}, ARRAYS)
        read(tmp_path / "thing.mmdb")


@pytest.mark.parametrize("kind", [np.dtype("c8"), np.dtype("U3"), np.dtype("S0"), np.dtype("M8[s]"), np.dtype("V2"),
                                  np.dtype([("a", "f4")])])
def test_arrays_of_what_are_no_numbers_are_refused(tmp_path, kind):
    pack(tmp_path / "thing.mmdb", numbers=npy(np.zeros(3, dtype=kind), kind=np.lib.format.dtype_to_descr(kind)))
    refused(tmp_path / "thing.mmdb", "numbers is not what it claims")


@pytest.mark.parametrize("header", [b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"(" * 200,
                                    b"__import__('os').getcwd()", b"{" * 5000, b"5", b"'''", b"\xff" * 64,
                                    b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
                                    b"{'descr': 'colour', 'fortran_order': False, 'shape': (1,)}"])
def test_an_array_header_that_makes_no_sense_is_refused(tmp_path, header):
    body = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 16
    pack(tmp_path / "thing.mmdb", numbers=body)
    refused(tmp_path / "thing.mmdb")


@pytest.mark.parametrize("magic", [b"\x93NUMPY\x02\x00", b"\x93NUMPY\x09\x00", b"NUMPY", b""])
def test_an_array_of_another_format_is_refused(tmp_path, magic):
    pack(tmp_path / "thing.mmdb", numbers=magic + npy(np.zeros(4, dtype=np.float32))[8:])
    refused(tmp_path / "thing.mmdb")


# Writing

def test_objects_are_not_written(tmp_path):
    with pytest.raises(ValueError):
        archive.write(tmp_path / "thing.mmdb", "mmdb", 1, {}, {"numbers": np.array([{}], dtype=object)})
    assert os.listdir(tmp_path) == []


def test_failing_leaves_the_previous_file(file, monkeypatch):
    class Full(io.BufferedWriter):
        def write(self, contents):
            raise OSError(28, "No space left on device")
    monkeypatch.setattr(io, "open", lambda path, mode="r", *rest: Full(io.FileIO(path, "w")))
    with pytest.raises(MotionError, match="disk is full"):
        archive.write(file, "mmdb", 4, {}, ARRAYS)
    monkeypatch.undo()
    assert read(file)[0]["version"] == 3 and os.listdir(file.parent) == [file.name]


def test_a_file_is_closed_before_its_changed_copy_replaces_it(file, monkeypatch):
    replace = os.replace

    def as_on_windows(source, target):
        if any(isinstance(each, io.FileIO) and not each.closed and str(each.name) == str(target)
               for each in gc.get_objects()):
            raise PermissionError(13, "The file is open", str(target))
        replace(source, target)
    monkeypatch.setattr(os, "replace", as_on_windows)
    archive.copy(file, file, "mmdb", 3, {"name": "another"})
    assert read(file)[0]["name"] == "another" and np.array_equal(read(file)[1]["numbers"], ARRAYS["numbers"])


def npy(array, shape=None, kind=None):
    """An array as NumPy stores it; its header may claim another shape and type."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": kind or array.dtype.str, "fortran_order": False,
                                                "shape": shape or array.shape})
    return file.getvalue() + array.tobytes()


def pack(path, compression=zipfile.ZIP_STORED, **entries):
    """An archive with these entries, and what it needs beside them to be one."""
    header = npy(np.frombuffer(json.dumps({"kind": "mmdb", "version": 3}).encode(), dtype=np.uint8))
    entries = {"header": header, **{name: npy(array) for name, array in ARRAYS.items()}, **entries}
    with zipfile.ZipFile(path, "w") as contents:
        for name, entry in entries.items():
            contents.writestr(f"{name}.npy", entry, zipfile.ZIP_STORED if name == "header" else compression)


def peak_of(work):
    """The most memory that NumPy and Python took meanwhile, in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_packed_archive_is_one(tmp_path):
    pack(tmp_path / "thing.mmdb")
    assert np.array_equal(read(tmp_path / "thing.mmdb")[1]["numbers"], ARRAYS["numbers"])
