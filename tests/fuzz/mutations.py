# SPDX-License-Identifier: GPL-3.0-or-later
"""Damage: small healthy inputs in, odd ones out. All chance comes from the generator that is given."""

import io
import json
import re
import zipfile

import numpy as np

NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
WORDS = [b"nan", b"inf", b"-inf", b"0", b"-0.0", b"-1", b"1", b"2", b"60", b"1e5", b"1e-38", b"1e30", b"-1e308",
         b"1e999", b"9" * 400, b"2147483648", b"18446744073709551616", b"0.1", b"1e-9", b"", b"x", b"\xff", b"\0",
         b"\x1b[31m", "Füße 走る".encode(), b'"', b"{", b"}", b"[", b"]", b",", b"\n", b"null", b"true", b"../..", b" "]
VALUES = [None, True, False, 0, 1, -1, 2, 60, 1000, 10 ** 6, 10 ** 12, 10 ** 400, 0.5, 1e-38, 1e30, 1e308, -1e308,
          float("nan"), float("inf"), "", "x", "walk", "hips", "+Y", "\x1b[31m", "n" * 5000, [], {}, [0], [[]],
          {"a": 1}, ["x", "x"], [1, -1]]
FLOATS = [0, -0.0, 1, -1, np.nan, np.inf, -np.inf, 1e-45, 1e-38, 1e-9, 1e-3, 100, 1e5, 1e6, 1e9, 1e18, 1e30, -1e30,
          3e38]
TYPES = ["f2", "f4", "f8", "c8", "i1", "i4", "i8", "u1", "?", "U1", "S1", "V4", ">f4", "M8[s]"]


def some(rng, things):
    return things[rng.integers(len(things))]


def few(rng):
    """How often: most often once."""
    return range(some(rng, (1, 1, 1, 2, 3, 5)))


def text(rng, content):
    """Bytes of a text with a few changes."""
    for _ in few(rng):
        content = some(rng, (_number, _number, _number, _line, _line, _word, _noise, _cut, _repeat))(rng, content)
    return content[:400_000]


def bvh(rng, content):
    """Bytes of a BVH file with a few changes, most of them before its frames, which are most of it."""
    begin = content.index(b"Frame Time:")
    end = content.index(b"\n", begin)
    deed = rng.random()
    if deed < 0.4:
        return text(rng, content)
    if deed < 0.55:
        return content[:begin] + b"Frame Time: " + some(rng, WORDS) + content[end:]
    if deed < 0.65:  # joints without channels, side by side or one below the other, perhaps all of one name
        count, numbered, deep = int(some(rng, (2, 30, 400, 3000))), rng.random() < 0.5, rng.random() < 0.5
        begins = [b"JOINT more%d\n{\nOFFSET 0 1 0\nCHANNELS 0\n" % (at * numbered) for at in range(count)]
        tail = b"End Site\n{\nOFFSET 0 1 0\n}\n}\n"
        more = b"".join(begins) + tail + b"}\n" * (count - 1) if deep else b"".join(one + tail for one in begins)
        at = content.index(b"JOINT")
        return content[:at] + more + content[at:]
    return text(rng, content[:end]) + content[end:]


def data(rng, content):
    """Bytes of any file with a few changes."""
    for _ in few(rng):
        content = some(rng, (_noise, _noise, _noise, _cut, _repeat, _swap))(rng, content)
    return content


def archive(rng, content):
    """Bytes of one of our archives with changes to its header, its arrays, or what it is packed into."""
    if rng.random() < 0.1:
        return data(rng, content)
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        arrays = {name.removesuffix(".npy"): np.load(packed.open(name)) for name in packed.namelist()}
    header = json.loads(arrays.pop("header").tobytes())
    for _ in few(rng):
        if rng.random() < 0.4:
            header = record(rng, header)
        else:
            _array(rng, arrays)
    said = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    packed = {name: _as_npy(array) for name, array in {"header": said, **arrays}.items()}
    if rng.random() < 0.1:
        name = some(rng, list(packed))
        packed[name] = some(rng, (_noise, _number, _cut))(rng, packed[name])
    return _packed(packed, some(rng, [zipfile.ZIP_STORED] * 19 + [zipfile.ZIP_DEFLATED]))


def record(rng, value):
    """What JSON can hold with one change somewhere in it."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name, value = some(rng, list(value)), dict(value)
        deed = rng.random()
        if deed < 0.08:
            del value[name]
        elif deed < 0.12:
            value[some(rng, ["x", "", "name", "10"])] = value[name]
        elif deed < 0.16:
            value[name] = value[some(rng, list(value))]
        else:
            value[name] = record(rng, value[name])
        return value
    if isinstance(value, list) and value and rng.random() < 0.9:
        at, value = rng.integers(len(value)), list(value)
        deed = rng.random()
        if deed < 0.1:
            del value[at]
        elif deed < 0.2:
            value.insert(rng.integers(len(value)), value[at])
        elif deed < 0.25:
            value = (value * int(some(rng, (2, 50))))[:1000]
        else:
            value[at] = record(rng, value[at])
        return value
    if isinstance(value, (int, float)) and abs(value) < 1e300 and rng.random() < 0.5:
        return value * some(rng, [0, -1, 2, 0.5, 10, 1000, 1e-6]) + some(rng, [0, 0, 1, -1])
    return some(rng, VALUES)


@np.errstate(all="ignore")
def _array(rng, arrays):
    """Change one of some arrays, by name."""
    name = some(rng, list(arrays))
    array = arrays[name]
    deed = rng.random() if array.dtype.kind in "biuf" else 0.99
    if deed < 0.45:
        arrays[name] = _spoiled(rng, array.copy())
    elif deed < 0.6 and array.size:
        arrays[name] = (array * some(rng, [0, -1, 2, 0.5, 0.99, 100, 1e4, 1e-4, 1e20, 1e-30])).astype(array.dtype)
    elif deed < 0.68:
        arrays[name] = array.astype("f4").astype(some(rng, TYPES))
    elif deed < 0.78 and array.ndim:
        axis = rng.integers(array.ndim)
        kept = np.arange(max(0, array.shape[axis] + some(rng, [-1, 1, -3])))
        arrays[name] = array.take(kept, axis, mode="clip") if array.shape[axis] else array
    elif deed < 0.83:
        arrays[name] = some(rng, [array.T, array.ravel(), array[None], array[:0] if array.ndim else array[None]])
    elif deed < 0.9 and array.ndim:
        arrays[name] = rng.permutation(array)
    elif deed < 0.94 and len(array.shape) and len(array):
        arrays[name] = np.broadcast_to(array[:1], array.shape)
    elif deed < 0.97:
        arrays[name] = arrays[some(rng, list(arrays))]
    else:
        del arrays[name]
    if not arrays:
        arrays[name] = array


def _spoiled(rng, array):
    """An array with other numbers in one place, in a row, or in some places."""
    if not array.size:
        return array
    flat, value = array.reshape(-1), some(rng, FLOATS)
    deed = rng.random()
    at = rng.integers(array.size) if deed < 0.5 else rng.integers(array.size, size=max(1, array.size // 20))
    if array.dtype.kind in "iub":
        value = some(rng, [0, 1, -1, 2, 5, 127, 1000, 2 ** 31 - 1, -2 ** 31])
        value = np.array(value).astype(array.dtype)
    if 0.5 <= deed < 0.7 and array.ndim > 1:
        array[rng.integers(len(array))] = value
    elif deed < 0.9:
        flat[at] = value
    elif array.dtype.kind == "f":
        flat[:] += rng.normal(0, some(rng, [1e-3, 1e-1, 10]), array.size).astype(array.dtype)
    return array


def _as_npy(array):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), version=(1, 0), allow_pickle=False)
    return file.getvalue()


def _packed(entries, compression):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as packed:
        for name, entry in entries.items():
            packed.writestr(f"{name}.npy", entry)
    return file.getvalue()


def _number(rng, content):
    begin = int(rng.integers(len(content) + 1))  # the first one after any place
    found = NUMBER.search(content, begin) or NUMBER.search(content)
    return content[:found.start()] + some(rng, WORDS) + content[found.end():] if found else _word(rng, content)


def _word(rng, content):
    at = rng.integers(len(content) + 1)
    return content[:at] + some(rng, WORDS) + content[at + some(rng, [0, 1, 5]):]


def _line(rng, content):
    lines = content.split(b"\n")
    at, other, deed = rng.integers(len(lines)), rng.integers(len(lines)), rng.integers(5)
    if deed == 0:
        del lines[at]
    elif deed == 1:
        lines.insert(other, lines[at])
    elif deed == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif deed == 3:
        lines[at] = some(rng, WORDS)
    else:
        lines[at:at + rng.integers(1, 60)] = []
    return b"\n".join(lines)


def _noise(rng, content):
    if not content:
        return content
    changed = bytearray(content)
    for at in rng.integers(len(content), size=some(rng, [1, 1, 2, 8, 64])):
        changed[at] = rng.integers(256) if rng.random() < 0.5 else changed[at] ^ (1 << rng.integers(8))
    return bytes(changed)


def _cut(rng, content):
    begin = rng.integers(len(content) + 1)
    return content[:begin] if rng.random() < 0.5 else content[:begin] + content[begin + rng.integers(1, 200):]


def _repeat(rng, content):
    begin = rng.integers(len(content) + 1)
    part = content[begin:begin + rng.integers(1, 400)]
    return content[:begin] + part * int(some(rng, [2, 3, 30, 1000])) + content[begin + len(part):]


def _swap(rng, content):
    one, other = sorted(rng.integers(len(content) + 1, size=2))
    return content[other:] + content[one:other] + content[:one]
