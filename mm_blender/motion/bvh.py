# SPDX-License-Identifier: GPL-3.0-or-later
"""BVH files: a skeleton and its motion as text, Y up, in whatever unit the author liked."""

import math
import re
import warnings
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from ..errors import MotionError, MotionWarning
from ..files import check_regular, replacing
from ..limits import BVH, check_joints
from . import quat
from .clip import Clip
from .skeleton import Skeleton, forward

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "ft": 0.3048, "in": 0.0254, "cmu": 0.056444}  # metres per file unit
FURTHEST = 1e7  # file units or degrees: ten kilometres in a file of millimetres
FRAME_TIMES = (1e-5, 1.0)  # seconds; who writes 30 or 60 meant a rate
IDLE = 10, 2_000_000  # poses of joints without channels there may be for each number, and besides


def read(path: str | PathLike, units: float = 1.0) -> Clip:
    """The clip in a BVH file, Z up, in metres when units says how many metres the file's unit is.

    Only the root is turned from Y up to Z up (the file's +Y becomes +Z, its +Z becomes -Y): the other joints keep their
    own frames. Position channels take the place of the joint's OFFSET. A damaged file is a MotionError with the line;
    what is odd but readable (other frame counts, no frame time, equal names) is a MotionWarning.
    """
    path = Path(path)
    text = _load(path)
    motion = MOTION.search(text)
    if motion is None:
        raise _error(path, _line(text, len(text)), "the file ends without MOTION: it is cut short or has no motion")
    joints = _hierarchy(path, _decoded(text[:motion.start()]))
    check_joints(f'"{path.name}"', len(joints))
    values, rate = _motion(path, text, motion.end(), sum(len(joint.channels) for joint in joints))
    _check_idle(path, len(joints) * len(values), values.size)
    offsets = np.array([joint.offset for joint in joints]) * units
    positions, rotations = _transforms(joints, offsets, values, units)
    rest = quat.identity((len(joints),))
    rest[0] = UP
    names = _unique(path, [joint.name for joint in joints])
    ends = {name: tuple(units * number for number in joint.end) for name, joint in zip(names, joints) if joint.end}
    skeleton = Skeleton(names, np.array([joint.parent for joint in joints]), _turn_root(offsets, 1), rest, ends)
    return Clip(path.stem, skeleton, rate, positions, rotations)


def write(path: str | PathLike, clip: Clip, units: float = 0.01) -> None:
    """Write a clip as a BVH file, Y up; read(path, units) gives it back.

    Joints come in depth-first order, as the format demands. Joints whose translation differs from the rest pose get
    position channels. The format knows no rest rotations: those of the skeleton are lost, the motion is not.
    """
    skeleton = clip.skeleton
    offsets = _turn_root(skeleton.positions.astype(np.float64), -1) / units
    positions = _turn_root(clip.positions.astype(np.float64), -1) / units
    rotations = quat.normalize(clip.rotations.astype(np.float64))
    rotations[:, 0] = quat.mul(quat.inv(UP), rotations[:, 0])
    angles = np.degrees(quat.to_euler(rotations, "XYZ"))[..., ::-1]
    moves = np.abs(clip.positions - skeleton.positions).max(axis=(0, 2)) > 1e-6
    moves[0] = True
    hierarchy, order = _hierarchy_lines(skeleton, offsets, moves, units)
    rows = np.concatenate([part[:, joint] for joint in order
                           for part in ((positions, angles) if moves[joint] else (angles,))], axis=1)
    layout = " ".join(["%.6f"] * rows.shape[1])
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(["HIERARCHY", *hierarchy, "MOTION", f"Frames: {len(clip)}",
                              f"Frame Time: {1 / clip.rate:.10f}", ""]))
        file.writelines(layout % tuple(row) + "\n" for row in rows.tolist())


def seconds_of(text):
    """About how many seconds of motion are in the contents of a BVH file (bytes), without reading them; or 0."""
    motion = MOTION.search(text)
    timing = TIMING.match(text, motion.end()) if motion else None
    try:
        frames, seconds = (float(number) for number in timing.groups())
    except (AttributeError, ValueError):  # reading it tells what is wrong
        return 0.0
    frames = min(frames if frames > 0 else math.inf, text.count(b"\n", timing.end()))
    return frames * (seconds if FRAME_TIMES[0] <= seconds <= FRAME_TIMES[1] else 1 / 60)


def guess_units(clip: Clip | float) -> float:
    """Metres per unit for a clip that was read with units=1.0 (or for its height): what makes it nearest to 1.7 m tall.

    For a folder of clips of one source take the median of their heights, so that all get the same unit.
    """
    tall = height(clip) if isinstance(clip, Clip) else float(clip)
    if not tall > 0:
        return UNITS["m"]
    return min(UNITS.values(), key=lambda unit: abs(math.log(tall * unit / 1.7)))


def height(clip):
    """How tall the character stands: from its lowest to its highest joint, in the frames where it is most upright."""
    some = np.unique(np.linspace(0, len(clip) - 1, 60).astype(int))
    positions, _ = forward(clip.skeleton, clip.positions[some], clip.rotations[some])
    return float(np.percentile(np.ptp(positions[..., 2], axis=1), 90))


# ---------------------------------------------------------------------------------------------------------------------
# The text

MOTION = re.compile(rb"^[ \t]*MOTION\b", re.IGNORECASE | re.MULTILINE)
TIMING = re.compile(rb"\s*Frames[ \t:]*([^\s:]+)\s+Frame[ \t]*Time[ \t:]*([^\s:]+)", re.IGNORECASE)
COMMENT = re.compile(rb"(?:^|(?<=\s))(?:#|//)[^\n]*")
# A joint's name runs to the end of its line: it may have spaces in it.
WORD = re.compile(r"(?P<newline>\n)|(?P<comment>(?:#|//)[^\n]*)"
                  r"|(?P<keyword>ROOT|JOINT|END)\b(?P<name>[^{\n]*)|[{}]|[^\s{}]+", re.IGNORECASE)
CHANNELS = {f"{axis}{kind}".lower(): (kind, axis) for kind in ("position", "rotation") for axis in "XYZ"}
USUAL_RATES = (10, 12, 12.5, 15, 20, 24, 25, 30, 48, 50, 60, 72, 75, 90, 100, 120, 144, 150, 180, 200, 240, 250, 300,
               360, 480, 500, 600, 1000)
VIDEO_RATES = tuple(rate * 1000 / 1001 for rate in (24, 30, 48, 60, 120, 240))


@dataclass
class _Joint:
    name: str
    parent: int
    offset: list | None = None
    channels: tuple = ()
    end: list | None = None  # of the End Site below it


def _load(path):
    check_regular(path, BVH)
    try:
        text = path.read_bytes()
    except OSError as error:
        raise MotionError(f'"{path}" cannot be read: {error.strerror or error}.') from error
    text = text.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not text.strip():
        raise _error(path, 1, "the file is empty")
    if b"\0" in text or not re.match(rb"\s*((#|//)[^\n]*\n\s*)*HIERARCHY\b", text, re.IGNORECASE):
        raise _error(path, 1, "this is not a BVH file: its first word is not HIERARCHY")
    return text


def _decoded(text):
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _line(text, position):
    return text.count(b"\n", 0, position) + 1


def _error(path, line, sentence):
    return MotionError(f"{path.name}, line {line}: {sentence}.")


def _warn(path, sentence):
    warnings.warn(f"{path.name}: {sentence}.", MotionWarning, stacklevel=4)


def _hierarchy(path, text):
    """The joints in the order of the file: parents before children."""
    joints = []
    inside = []  # the joints whose braces are open; an End Site is None
    unopened = False
    words = _words(text)
    for word, line in words:
        keyword = word.upper()
        if unopened and keyword != "{":
            raise _error(path, line, f'"{word}" stands where the "{{" of {_called(joints, inside[-1])} is expected')
        if keyword in ("ROOT", "JOINT"):
            name, _ = next(words)
            _check_place(path, line, keyword, name, joints, inside)
            joints.append(_Joint(name, inside[-1] if inside else -1))
            inside.append(len(joints) - 1)
            unopened = True
        elif keyword == "END" and inside and inside[-1] is not None:
            next(words)  # "Site", a name that nothing asks for
            inside.append(None)
            unopened = True
        elif keyword == "{" and unopened:
            unopened = False
        elif keyword == "}" and inside:
            joint = inside.pop()
            if joint is not None and joints[joint].offset is None:
                raise _error(path, line, f'joint "{joints[joint].name}" has no OFFSET')
        elif keyword == "OFFSET" and inside:
            offset = [_value(path, *next(words)) for _ in "XYZ"]
            if inside[-1] is not None:
                joints[inside[-1]].offset = offset
            else:
                joints[inside[-2]].end = offset
        elif keyword == "CHANNELS" and inside and inside[-1] is not None:
            count = _number(path, *next(words))
            joints[inside[-1]].channels = tuple(_channel(path, *next(words)) for _ in range(int(count)))
        elif keyword == "" and not inside and joints:
            return joints
        elif keyword == "":
            raise _error(path, line, f'the "}}" of {_called(joints, inside[-1])} is missing' if inside
                         else "there is no ROOT joint before MOTION")
        elif keyword != "HIERARCHY":
            raise _error(path, line, f'"{word}" is not expected here')


def _words(text):
    """Each word of the text and its line, a joint's name being one word; then empty words without end."""
    line = 1
    for match in WORD.finditer(text):
        if match["newline"]:
            line += 1
        elif match["keyword"]:
            yield match["keyword"], line
            yield match["name"].strip(), line
        elif not match["comment"]:
            yield match[0], line
    while True:
        yield "", line


def _called(joints, joint):
    return f'the End Site in "{joints[-1].name}"' if joint is None else f'joint "{joints[joint].name}"'


def _check_place(path, line, keyword, name, joints, inside):
    if not name:
        raise _error(path, line, f"this {keyword} has no name")
    if keyword == "ROOT" and joints:
        raise _error(path, line, f'"{name}" is a second ROOT beside "{joints[0].name}": save each character in a file '
                                 "of its own")
    if keyword == "JOINT" and (not inside or inside[-1] is None):
        raise _error(path, line, f'joint "{name}" stands outside of its parent\'s braces')


def _channel(path, word, line):
    if word.lower() not in CHANNELS:
        raise _error(path, line, f'"{word}" is not a channel: there are Xposition, Xrotation and the same for Y and Z')
    return CHANNELS[word.lower()]


def _number(path, word, line):
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _error(path, line, _not_a_number(word))
    return value


def _value(path, word, line):
    value = _number(path, word, line)
    if abs(value) > FURTHEST:
        raise _error(path, line, f'"{word}" is further than any scene reaches: the file is damaged')
    return value


def _not_a_number(word):
    if re.fullmatch(r"[-+]?\d*,\d+([eE][-+]?\d+)?", word):
        return f'"{word}" has a decimal comma: export the file with decimal points'
    return f'"{word}" stands where a number is expected' if word else "the file ends where a number is expected"


def _check_idle(path, poses, numbers):
    """Joints without channels take memory, too, and a small file may have many of them in many frames."""
    if poses > IDLE[0] * numbers + IDLE[1]:
        raise MotionError(f"{path.name}: nearly all joints are without CHANNELS, more than {IDLE[1]:,} times over all "
                          "frames: leave joints out that never move.")


def _unique(path, names):
    """The names, each one given a number where it was there before."""
    taken, numbers, unique, renamed = set(names), {}, [], []
    for name in names:
        number, new = numbers.get(name, -1) + 1, name
        while number and (new := f"{name}.{number:03}") in taken:
            number += 1
        numbers[name] = number
        if number:
            taken.add(new)
            renamed.append((name, new))
        unique.append(new)
    if renamed:
        name, new = renamed[0]
        others = f", and {len(renamed) - 1:,} others were renamed, too" if len(renamed) > 1 else ""
        _warn(path, f'there are several joints named "{name}"; one of them is now "{new}"{others}')
    return unique


def _motion(path, text, start, width):
    """The values (F, width) after MOTION, and the frames per second."""
    if text.find(b"#", start) >= 0 or text.find(b"//", start) >= 0:
        text = text[:start] + COMMENT.sub(b"", text[start:])
    timing = TIMING.match(text, start)
    if timing is None:
        raise _error(path, _line(text, start), 'after MOTION the lines "Frames:" and "Frame Time:" are missing')
    announced, seconds = (_number(path, timing[group].decode("latin-1"), _line(text, timing.start(group)))
                          for group in (1, 2))
    if width == 0:
        raise _error(path, _line(text, start), "no joint has CHANNELS: there is no motion in this file")
    body = text[timing.end():].lstrip()
    line = _line(text, len(text) - len(body))
    values = _values(path, body.rstrip(), line, width, announced)
    if len(values) == 0:
        raise _error(path, line, "there are no frames in this file")
    if len(values) != announced:
        _warn(path, f"the number of frames is said to be {announced:g}; the {len(values)} that are there were read")
    return values, _rate(path, seconds, timing[2].decode("latin-1"))


def _values(path, body, line, width, announced):
    try:
        values = np.array(body.split(), dtype=np.float64)
    except ValueError:
        return _values_by_line(path, body, line, width, announced)
    if values.size != width * (body.count(b"\n") + 1) or not (np.abs(values) <= FURTHEST).all():
        return _values_by_line(path, body, line, width, announced)
    return values.reshape(-1, width)


def _values_by_line(path, body, first_line, width, announced):
    """The slow way: finds the line with the mistake, and reads frames that are wrapped over several lines."""
    rows = [_decoded(row).split() for row in body.split(b"\n")]
    wrapped = sum(len(row) == width for row in rows) < sum(len(row) > 0 for row in rows) / 2
    values = []
    for line, row in enumerate(rows, first_line):
        try:
            numbers = [_value(path, word, line) for word in row]
            if row and not wrapped and len(row) != width:
                raise _error(path, line, f"this row has {len(row)} values, and the joints {width} channels")
        except MotionError:
            if not 0 < announced * width <= len(values):
                raise
            _warn(path, f"line {line} and what follows are not motion and were left out")
            break
        values += numbers
    if len(values) % width:
        raise _error(path, line, f"the last frame has {len(values) % width} values, and the joints {width} channels")
    return np.array(values).reshape(-1, width)


def _rate(path, seconds, written):
    """Frames per second: the usual rate that the written frame time, which has few digits, was meant to be."""
    if not FRAME_TIMES[0] <= seconds <= FRAME_TIMES[1]:
        _warn(path, f"the Frame Time is {written}; 60 frames per second are assumed")
        return 60.0
    digits = len(written.partition(".")[2]) if re.fullmatch(r"[\d.]+", written) else 15
    slack = min(max(10.0 ** -digits, 2e-4 * seconds), 0.12 * seconds)
    for rates in (USUAL_RATES, VIDEO_RATES, (max(round(1 / seconds), 1),)):
        nearest = min(rates, key=lambda rate: abs(1 / rate - seconds))
        if abs(1 / nearest - seconds) < slack:
            return float(nearest)
    return 1 / seconds


# ---------------------------------------------------------------------------------------------------------------------
# Numbers ↔ transforms

UP = np.array([math.sqrt(0.5), math.sqrt(0.5), 0, 0])  # turns Y up to Z up


def _transforms(joints, offsets, values, units):
    """Local positions (F, J, 3) and rotations (F, J, 4) from the values of all channels (F, C)."""
    positions = np.tile(offsets, (len(values), 1, 1))
    rotations = quat.identity((len(values), len(joints)))
    orders = {}  # joints whose rotation channels come in the same order are computed together
    column = 0
    for index, joint in enumerate(joints):
        order, columns = "", []
        for kind, axis in joint.channels:
            if kind == "position":
                positions[:, index, "XYZ".index(axis)] = values[:, column] * units
            else:
                order += axis
                columns.append(column)
            column += 1
        if order:
            orders.setdefault(order, []).append((index, columns))
    for order, found in orders.items():
        angles = np.radians(values[:, [columns for _, columns in found]])
        rotations[:, [index for index, _ in found]] = quat.from_euler(angles[..., ::-1], order[::-1])
    rotations[:, 0] = quat.mul(UP, rotations[:, 0])
    rotations[0] = quat.absolute(rotations[0])
    return _turn_root(positions, 1), quat.unroll(rotations)


def _turn_root(positions, sign):
    """Positions (…, J, 3) with the root's turned from Y up to Z up (sign 1) or back (sign -1)."""
    turned = positions.copy()
    turned[..., 0, 1] = -sign * positions[..., 0, 2]
    turned[..., 0, 2] = sign * positions[..., 0, 1]
    return turned


def _hierarchy_lines(skeleton, offsets, moves, units):
    """The lines of the HIERARCHY block, and the joints in the order in which they come."""
    lines, order, coming = [], [], [(0, 0, False)]
    while coming:
        joint, depth, closes = coming.pop()
        tab = "\t" * depth
        if closes:
            lines.append(f"{tab}}}")
            continue
        order.append(joint)
        name = re.sub(r"[{}\s]", lambda odd: " " if odd[0] == " " else "_", skeleton.names[joint])
        channels = "6 Xposition Yposition Zposition" if moves[joint] else "3"
        lines.extend([f"{tab}{'JOINT' if depth else 'ROOT'} {name}", f"{tab}{{",
                      f"{tab}\tOFFSET {_triple(offsets[joint])}",
                      f"{tab}\tCHANNELS {channels} Zrotation Yrotation Xrotation"])
        children = skeleton.children(joint).tolist()
        if not children:
            tail = offsets[joint] / 2  # where its end is not known, most skeletons look right like this
            if skeleton.names[joint] in skeleton.ends:
                tail = np.array(skeleton.ends[skeleton.names[joint]]) / units
            lines.extend([f"{tab}\tEnd Site", f"{tab}\t{{", f"{tab}\t\tOFFSET {_triple(tail)}", f"{tab}\t}}"])
        coming += [(joint, depth, True), *((child, depth + 1, False) for child in reversed(children))]
    return lines, order


def _triple(vector):
    return " ".join(f"{value:.6f}" for value in vector)
