# SPDX-License-Identifier: GPL-3.0-or-later
"""BVH files: what is in them comes out, what is odd is said, and what is broken is named with its line."""

import contextlib
import time
import warnings

import numpy as np
import pytest

from mm_blender.errors import MotionError, MotionWarning
from mm_blender.motion import bvh, quat
from mm_blender.motion.clip import Clip
from mm_blender.motion.skeleton import Skeleton

# Mixed channel orders, a six-channel child, a child with one position channel, joints with two, one and no rotations.
MIXED = """HIERARCHY
ROOT Hips
{
\tOFFSET 1.0 90.0 2.0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
\tJOINT Left Leg.001
\t{
\t\tOFFSET 10.0 -5.0 0.0
\t\tCHANNELS 3 Xrotation Zrotation Yrotation
\t\tJOINT Füße
\t\t{
\t\t\tOFFSET 0.0 -40.0 1e0
\t\t\tCHANNELS 6 Zposition Xposition Yposition Yrotation Xrotation Zrotation
\t\t\tEnd Site
\t\t\t{
\t\t\t\tOFFSET 0.0 -40.0 0.0
\t\t\t}
\t\t}
\t}
\tJOINT Spine
\t{
\t\tOFFSET 0.0 20.0 0.0
\t\tCHANNELS 1 Yrotation
\t\tJOINT Slider
\t\t{
\t\t\tOFFSET 0.0 15.0 3.0
\t\t\tCHANNELS 3 Yposition Xrotation Yrotation
\t\t\tJOINT Fixed
\t\t\t{
\t\t\t\tOFFSET 0.0 5.0 0.0
\t\t\t\tCHANNELS 0
\t\t\t\tJOINT Tip
\t\t\t\t{
\t\t\t\t\tOFFSET 0.0 5.0 0.5
\t\t\t\t}
\t\t\t}
\t\t}
\t}
}
MOTION
Frames: 3
Frame Time: 0.016667
1.0 90.0 2.0 10 20 30 5 -15 25 1.5 0.5 -41 40 -50 60 70 14 12 -33
1.5 91.0 2.5 11 21 31 6 -16 26 1.5 0.5 -42 41 -51 61 71 15 13 -34
2.0 9.2E+01 3.0 12 22 32 7 -17 27 1.5 5e-1 -43 42 -52 62 170 16 14 -35
"""

SMALL = """HIERARCHY
ROOT Hips
{
  OFFSET 0 1 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Leg
  {
    OFFSET 0 -1 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {
      OFFSET 0 -1 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.033333
0 1 0 0 0 0 10 20 30
0 1 1 0 0 0 11 21 31
"""


def save(folder, text, name="walk.bvh"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def quiet_read(path, **options):
    """Read where nothing odd is expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return bvh.read(path, **options)


def reference(path):
    """World positions (F, J, 3), Y up: line by line with 4×4 matrices. Knows no more than healthy files need."""
    joints, stack, lines = [], [], [line.split() for line in path.read_text("utf-8").splitlines()]
    motion = lines.index(["MOTION"])
    for words in lines[:motion]:
        if words[0] in ("ROOT", "JOINT"):
            stack.append(len(joints))
            joints.append({"parent": stack[-2] if len(stack) > 1 else None, "channels": []})
        elif words[0] == "End":
            stack.append(None)
        elif words[0] == "}":
            stack.pop()
        elif words[0] == "OFFSET" and stack[-1] is not None:
            joints[stack[-1]]["offset"] = [float(word) for word in words[1:]]
        elif words[0] == "CHANNELS":
            joints[stack[-1]]["channels"] = words[2:]
    return np.array([_world_positions(joints, [float(word) for word in words]) for words in lines[motion + 3:]])


def _world_positions(joints, values):
    worlds = []
    for joint in joints:
        local = np.eye(4)
        local[:3, 3] = joint["offset"]
        for channel in joint["channels"]:
            value, axis = values.pop(0), "XYZ".index(channel[0])
            if channel.endswith("position"):
                local[axis, 3] = value
            else:
                local[:3, :3] = local[:3, :3] @ _about(axis, np.radians(value))
        worlds.append(local if joint["parent"] is None else worlds[joint["parent"]] @ local)
    return [world[:3, 3] for world in worlds]


def _about(axis, angle):
    turn, (j, k) = np.eye(3), ((axis + 1) % 3, (axis + 2) % 3)
    turn[j, j] = turn[k, k] = np.cos(angle)
    turn[k, j] = np.sin(angle)
    turn[j, k] = -turn[k, j]
    return turn


def z_up(positions):
    return np.stack([positions[..., 0], -positions[..., 2], positions[..., 1]], axis=-1)


def assert_same_clip(a, b, off=1e-5):
    assert a.skeleton.names == b.skeleton.names
    np.testing.assert_array_equal(a.skeleton.parents, b.skeleton.parents)
    np.testing.assert_allclose(a.skeleton.positions, b.skeleton.positions, atol=off)
    assert a.rate == pytest.approx(b.rate, rel=1e-6)
    np.testing.assert_allclose(a.positions, b.positions, atol=off)
    assert quat.to_scaled_angle_axis(quat.absolute(quat.inv_mul(a.rotations, b.rotations))).max() < off


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def test_every_channel_order_comes_out_as_matrices_say(tmp_path):
    path = save(tmp_path, MIXED)
    clip = quiet_read(path, units=0.01)
    assert clip.name == "walk"
    assert clip.rate == 60.0
    assert clip.skeleton.names == ("Hips", "Left Leg.001", "Füße", "Spine", "Slider", "Fixed", "Tip")
    assert clip.skeleton.parents.tolist() == [-1, 0, 1, 0, 3, 4, 5]
    np.testing.assert_allclose(clip.globals()[0], z_up(reference(path)) * 0.01, atol=1e-6)


def test_only_the_root_is_turned_up(tmp_path):
    clip = quiet_read(save(tmp_path, MIXED), units=0.01)
    np.testing.assert_allclose(clip.skeleton.positions[:2], [(0.01, -0.02, 0.9), (0.1, -0.05, 0)], atol=1e-7)
    np.testing.assert_allclose(clip.skeleton.rotations[0], quat.from_angle_axis(np.pi / 2, (1, 0, 0)), atol=1e-7)
    np.testing.assert_array_equal(clip.skeleton.rotations[1:], quat.identity((6,)))
    np.testing.assert_allclose(clip.positions[1, :2], [(0.015, -0.025, 0.91), (0.1, -0.05, 0)], atol=1e-7)


def test_positions_replace_the_offset_and_missing_ones_keep_it(tmp_path):
    clip = quiet_read(save(tmp_path, MIXED))
    np.testing.assert_allclose(clip.positions[0, 2], (0.5, -41, 1.5))
    np.testing.assert_allclose(clip.positions[0, 4], (0, 14, 3))
    np.testing.assert_allclose(clip.positions[:, 6], np.tile((0, 5, 0.5), (3, 1)))


def test_results_are_float32_with_signs_that_do_not_jump(tmp_path):
    wrapped = [(7 * frame + 180) % 360 - 180 for frame in range(200)]
    rows = "\n".join(f"0 1 0 0 {angle} 0 {angle} 0 {-angle}" for angle in wrapped)
    clip = quiet_read(save(tmp_path, SMALL.split("Frames:")[0] + f"Frames: 200\nFrame Time: 0.04\n{rows}\n"))
    assert clip.positions.dtype == clip.rotations.dtype == np.float32
    assert ((clip.rotations[1:] * clip.rotations[:-1]).sum(-1) > 0).all()


@pytest.mark.parametrize("change", [
    pytest.param(lambda text: text.replace("\n", "\r\n"), id="CRLF"),
    pytest.param(lambda text: text.replace("\n", "\r"), id="CR"),
    pytest.param(lambda text: "\ufeff" + text, id="BOM"),
    pytest.param(lambda text: text.replace("  ", "\t").replace(" ", "\t \t"), id="tabs"),
    pytest.param(lambda text: text.lower().replace("hips", "Hips").replace("leg", "Leg"), id="lowercase"),
    pytest.param(lambda text: text.upper().replace("HIPS", "Hips").replace("LEG", "Leg"), id="uppercase"),
    pytest.param(lambda text: "# by hand\n// twice\n" + text.replace("MOTION\n", "// now\nMOTION # here\n# and\n")
                 .replace("  OFFSET 0 1 0", "  # a joint { }\n  OFFSET 0 1 0 // metres")
                 .replace("0 1 1", "// 9 9 9\n0 1 1"), id="comments"),
    pytest.param(lambda text: text.replace("10 20 30", "1e1 +2.0E+01 3000e-2"), id="exponents"),
    pytest.param(lambda text: text.replace("0 0 0 ", "0 0\n0\n"), id="wrapped rows"),
    pytest.param(lambda text: text.replace("0 1 1", "\n\n0 1 1") + "\n \n\n", id="blank lines"),
    pytest.param(lambda text: text.replace("\n  {", " {").replace("\n    {", "{"), id="brace on the name's line"),
    pytest.param(lambda text: text.split("MOTION")[0].replace("\n    ", " ").replace("\n  }", " }")
                 + "MOTION" + text.split("MOTION")[1], id="few lines"),
    pytest.param(lambda text: text.replace("    End Site\n    {\n      OFFSET 0 -1 0\n    }\n", ""), id="no End Site"),
    pytest.param(lambda text: text.replace("End Site", "End Site toe"), id="named End Site"),
    pytest.param(lambda text: text.replace("Frames: 2", "Frames:2").replace("Time: 0", "Time:0"), id="no space"),
    pytest.param(lambda text: text.replace("Frames:", "Frames :").replace("Time:", "Time\t:"), id="space and colon"),
    pytest.param(lambda text: text.rstrip("\n"), id="no newline at the end"),
])
def test_other_ways_of_writing_say_the_same(tmp_path, change):
    expected = quiet_read(save(tmp_path, SMALL))
    assert change(SMALL) != SMALL
    assert_same_clip(quiet_read(save(tmp_path, change(SMALL))), expected, 1e-7)


def test_names_in_another_encoding_are_read(tmp_path):
    assert quiet_read(save(tmp_path, SMALL.replace("Leg", "Füße").encode("latin-1"))).skeleton.names[1] == "Füße"


@pytest.mark.parametrize("written, rate", [
    ("0.016667", 60), ("0.0166667", 60), ("0.016666", 60), ("0.0167", 60), ("0.017", 60), ("0.01666667163372", 60),
    (".0083333", 120), ("0.008333", 120), ("0.0083", 120), ("0.033333", 30), ("0.0333333", 30), ("0.033", 30),
    ("0.041667", 24), ("0.0417", 24), ("0.04", 25), ("0.040000", 25), ("0.02", 50), ("0.01", 100), ("0.005", 200),
    ("0.004167", 240), ("1.6667e-2", 60), ("0.033367", 30000 / 1001), ("0.0333667", 30000 / 1001),
    ("0.041708", 24000 / 1001), ("0.016683", 60000 / 1001), ("0.0142857", 70), ("1", 1), ("0.02703", 37), ("0.5", 2),
    ("0.01234000", 1 / 0.01234),
])
def test_frame_times_mean_the_rate_that_they_were_rounded_from(tmp_path, written, rate):
    clip = quiet_read(save(tmp_path, SMALL.replace("0.033333", written)))
    assert clip.rate == pytest.approx(rate, rel=1e-12)


@pytest.mark.parametrize("text, words", [
    pytest.param(SMALL.replace("Frames: 2", "Frames: 5"), "said to be 5; the 2 that", id="fewer frames"),
    pytest.param(SMALL.replace("Frames: 2", "Frames: 1"), "said to be 1; the 2 that", id="more frames"),
    pytest.param(SMALL + "END OF FILE\n", "line 21 and what follows", id="trailing words"),
    pytest.param(SMALL + "1 2 3\n", "line 21 and what follows", id="trailing numbers"),
    pytest.param(SMALL + "\x1a", "line 21 and what follows", id="trailing control character"),
    pytest.param(SMALL.replace("0.033333", "0"), "Frame Time is 0; 60", id="frame time 0"),
    pytest.param(SMALL.replace("0.033333", "-0.1"), "Frame Time is -0.1; 60", id="negative frame time"),
    pytest.param(SMALL.replace("0.033333", "1e-310"), "Frame Time is 1e-310; 60", id="absurdly short frame time"),
    pytest.param(SMALL.replace("0.033333", "1e300"), "Frame Time is 1e300; 60", id="absurdly long frame time"),
    pytest.param(SMALL.replace("0.033333", "60"), "Frame Time is 60; 60", id="frame time that is a rate"),
    pytest.param(SMALL.replace("0.033333", "10"), "Frame Time is 10; 60", id="frame time of seconds"),
    pytest.param(SMALL.replace("Leg", "Hips"), 'several joints named "Hips"; one of them is now "Hips.001"',
                 id="equal names"),
])
def test_what_is_odd_is_read_and_said(tmp_path, text, words):
    with pytest.warns(MotionWarning, match=words) as caught:
        clip = bvh.read(save(tmp_path, text))
    assert len(caught) == 1
    assert str(caught[0].message).startswith("walk.bvh")
    expected = quiet_read(save(tmp_path, SMALL))
    np.testing.assert_array_equal(clip.rotations, expected.rotations)
    assert clip.rate == (60 if "60" in words else 30)
    assert clip.skeleton.names == (("Hips", "Hips.001") if "joints" in words else ("Hips", "Leg"))


@pytest.mark.parametrize("text, line, words", [
    pytest.param("", 1, "empty", id="empty file"),
    pytest.param(" \n\n", 1, "empty", id="blank file"),
    pytest.param(b"\x89PNG\r\n\x1a\n\0\0\0", 1, "not a BVH file", id="binary file"),
    pytest.param(SMALL.encode("utf-16"), 1, "not a BVH file", id="UTF-16"),
    pytest.param("<html>", 1, "not a BVH file", id="other text"),
    pytest.param("HIERARCHY\nMOTION\nFrames: 0\nFrame Time: 1\n", 2, "no ROOT", id="no joints"),
    pytest.param(SMALL.split("MOTION")[0], 16, "without MOTION", id="no motion"),
    pytest.param(SMALL[:200], 10, "without MOTION", id="cut in the hierarchy"),
    pytest.param(SMALL[:-6], 20, "7 values, and the joints 9", id="cut in the motion"),
    pytest.param(SMALL.replace("Frames: 2", "Frames: 0").split("0 1 0 0 0")[0], 19, "no frames", id="0 frames"),
    pytest.param(SMALL.replace("Frames: ", f"Frames{300_000 * ' '}x y"), 16, '"Frames:"', id="pages of space"),
    pytest.param(SMALL.replace("Frames: 2\n", ""), 16, '"Frames:"', id="no frame count"),
    pytest.param(SMALL.replace("Frame Time: 0.033333\n", ""), 16, '"Frame Time:"', id="no frame time line"),
    pytest.param(SMALL.replace("Frame Time: 0.033333", "Frame Time:"), 16, '"Frame Time:"', id="no frame time value"),
    pytest.param(SMALL.replace("Frames: 2", "Frames: two"), 17, '"two"', id="frame count in words"),
    pytest.param(SMALL.replace("0.033333", "fast"), 18, '"fast"', id="frame time in words"),
    pytest.param(SMALL.replace("0.033333", "nan"), 18, '"nan"', id="frame time not a number"),
    pytest.param(SMALL.replace("0.033333", "0,033333"), 18, "decimal comma", id="comma in frame time"),
    pytest.param(SMALL.split("0 1 0 0 0")[0], 19, "no frames", id="no rows"),
    pytest.param(SMALL.replace("11 21 31", "11 21"), 20, "8 values, and the joints 9", id="row too short"),
    pytest.param(SMALL.replace("10 20 30", "10 20 30 40"), 19, "10 values, and the joints 9", id="row too long"),
    pytest.param(SMALL.replace("0 0 0 1", "0 0\n0 1").replace("11 21 31", "11 21"), 22, "last frame has 8",
                 id="wrapped and cut"),
    pytest.param(SMALL.replace("11 21 31", "11 x1 31"), 20, '"x1" stands where a number', id="word in a row"),
    pytest.param(SMALL.replace("11 21 31", "11 21,5 31"), 20, '"21,5" has a decimal comma', id="comma in a row"),
    pytest.param(SMALL.replace("11 21 31", "11 nan 31"), 20, '"nan"', id="NaN"),
    pytest.param(SMALL.replace("11 21 31", "11 -inf 31"), 20, '"-inf"', id="infinity"),
    pytest.param(SMALL.replace("11 21 31", "11 1e999 31"), 20, '"1e999"', id="too large"),
    pytest.param(SMALL.replace("11 21 31", "11 1e30 31"), 20, '"1e30" is further than any scene', id="absurdly far"),
    pytest.param(SMALL.replace("OFFSET 0 1 0", "OFFSET 0 -1e300 0"), 4, '"-1e300" is further', id="absurd offset"),
    pytest.param(SMALL.replace("OFFSET 0 1 0", "OFFSET 0 0,5 0"), 4, "decimal comma", id="comma in an offset"),
    pytest.param(SMALL.replace("OFFSET 0 1 0", "OFFSET 0 nan 0"), 4, '"nan"', id="NaN in an offset"),
    pytest.param(SMALL.replace("OFFSET 0 1 0", "OFFSET 0 1"), 5, '"CHANNELS" stands where a number', id="short offset"),
    pytest.param(SMALL.replace("OFFSET 0 1 0", "OFFSET 0 1 0 0"), 4, '"0" is not expected', id="long offset"),
    pytest.param(SMALL.replace("  OFFSET 0 1 0\n", ""), 14, '"Hips" has no OFFSET', id="no offset"),
    pytest.param(SMALL.replace("6 Xposition", "6 Wposition"), 5, '"Wposition" is not a channel', id="unknown channel"),
    pytest.param(SMALL.replace("CHANNELS 3", "CHANNELS 4"), 10, '"End" is not a channel', id="channel missing"),
    pytest.param(SMALL.replace("CHANNELS 3", "CHANNELS 2"), 9, '"Xrotation" is not expected', id="channel too many"),
    pytest.param(SMALL.replace("CHANNELS 3", "CHANNELS three"), 9, '"three"', id="channel count in words"),
    pytest.param(SMALL.replace("CHANNELS 3", "CHANNELS -3"), 9, '"Zrotation" is not expected', id="-3 channels"),
    pytest.param(SMALL.replace("CHANNELS 3", "CHANNELS 1e9"), 10, "not a channel", id="absurd channel count"),
    pytest.param(SMALL.replace("ROOT Hips\n{", "ROOT Hips"), 3, 'the "{" of joint "Hips"', id="opening brace missing"),
    pytest.param(SMALL.replace("  }\n}\nMOTION", "  }\nMOTION"), 15, 'the "}" of joint "Hips" is missing',
                 id="closing brace missing"),
    pytest.param(SMALL.replace("    }\n  }", "  }"), 15, 'the "}" of joint "Hips" is missing',
                 id="End Site's brace missing"),
    pytest.param(SMALL.replace("}\nMOTION", "}\n}\nMOTION"), 16, '"}" is not expected', id="a brace too many"),
    pytest.param(SMALL.replace("ROOT Hips", "ROOT"), 2, "no name", id="no name"),
    pytest.param(SMALL.replace("ROOT", "JOINT"), 2, '"Hips" stands outside', id="no root"),
    pytest.param(SMALL.replace("ROOT Hips", "BONE Hips"), 2, '"BONE" is not expected', id="unknown keyword"),
    pytest.param(SMALL.replace("}\nMOTION", "}\nROOT Prop\n{\n  OFFSET 0 0 0\n}\nMOTION"), 16,
                 '"Prop" is a second ROOT beside "Hips"', id="two roots"),
    pytest.param(SMALL.replace("CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation", "CHANNELS 0")
                 .replace("CHANNELS 3 Zrotation Yrotation Xrotation", "CHANNELS 0"), 16, "no joint has CHANNELS",
                 id="no channels"),
])
def test_what_is_broken_is_one_sentence_with_the_line(tmp_path, text, line, words):
    with pytest.raises(MotionError) as caught:
        quiet_read(save(tmp_path, text))
    sentence = str(caught.value)
    assert sentence.startswith(f"walk.bvh, line {line}: ")
    assert words in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_line_numbers_count_comments_and_windows_line_ends(tmp_path):
    text = "# one\n// two\n" + SMALL.replace("0 1 1", "# a comment\n0 1 1").replace("11 21 31", "11 21")
    with pytest.raises(MotionError, match="line 23: this row has 8 values"):
        bvh.read(save(tmp_path, text.replace("\n", "\r\n")))


def test_a_file_cut_anywhere_is_refused_or_read_never_a_traceback(tmp_path, subtests):
    for cut in range(1, len(SMALL) - 6, 7):
        with subtests.test(cut=cut), warnings.catch_warnings(), contextlib.suppress(MotionError):
            warnings.simplefilter("ignore", MotionWarning)
            assert 1 <= len(bvh.read(save(tmp_path, SMALL[:cut]))) <= 2


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(MotionError, match=r"no file .*nowhere\.bvh"):
        bvh.read(tmp_path / "nowhere.bvh")
    with pytest.raises(MotionError, match="cannot be read"):
        bvh.read(tmp_path)


# ---------------------------------------------------------------------------------------------------------------------
# Writing


@pytest.mark.parametrize("units", [1.0, 0.01, 0.0254])
def test_what_is_written_is_read_back(tmp_path, units):
    clip = quiet_read(save(tmp_path, MIXED), units=0.01)
    bvh.write(tmp_path / "again.bvh", clip, units)
    again = quiet_read(tmp_path / "again.bvh", units=units)
    assert_same_clip(again, clip)
    assert again.name == "again"
    np.testing.assert_allclose(again.skeleton.rotations, clip.skeleton.rotations, atol=1e-6)


def test_any_clip_is_written_and_read_back(tmp_path):
    rng = np.random.default_rng(4)
    count, frames = 9, 50
    skeleton = Skeleton([f"bone {index}" for index in range(count)], [-1, 0, 1, 2, 2, 1, 0, 6, 7],
                        rng.normal(size=(count, 3)), quat.normalize(rng.normal(size=(count, 4))))
    positions = np.tile(skeleton.positions, (frames, 1, 1))
    positions[:, [0, 3]] = rng.normal(size=(frames, 2, 3))
    rotations = quat.normalize(rng.normal(size=(frames, count, 4)))
    rotations[:6, 1:] = quat.from_euler(np.array([0.3, np.pi / 2, -0.4]), "XYZ")  # gimbal lock
    clip = Clip("turn", skeleton, 30000 / 1001, positions, rotations)
    bvh.write(tmp_path / "turn.bvh", clip)
    assert_same_clip(quiet_read(tmp_path / "turn.bvh", units=0.01), clip)


def test_only_joints_that_move_get_positions_and_every_chain_an_end(tmp_path):
    bvh.write(tmp_path / "walk.bvh", quiet_read(save(tmp_path, MIXED), units=0.01))
    text = (tmp_path / "walk.bvh").read_text("utf-8")
    assert text.count("CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation") == 3
    assert text.count("CHANNELS 3 Zrotation Yrotation Xrotation") == 4
    assert text.count("End Site") == 2
    assert text.count("{") == text.count("}") == 9
    assert "Frames: 3\nFrame Time: 0.0166666667\n" in text


def test_a_root_that_stands_still_has_positions_too(tmp_path):
    skeleton = Skeleton(["root"], [-1], [(1, 2, 3)], quat.identity((1,)))
    bvh.write(tmp_path / "idle.bvh", Clip("idle", skeleton, 24, np.tile((1, 2, 3), (2, 1, 1)), quat.identity((2, 1))))
    assert "CHANNELS 6" in (tmp_path / "idle.bvh").read_text()


def test_joints_are_written_depth_first_whatever_their_order(tmp_path):
    skeleton = Skeleton(["root", "left", "right", "left end", "right end"], [-1, 0, 0, 1, 2], np.eye(5, 3),
                        quat.identity((5,)))
    rotations = quat.from_euler(np.arange(30).reshape(2, 5, 3) / 10, "XYZ")
    clip = Clip("walk", skeleton, 24, np.tile(skeleton.positions, (2, 1, 1)), rotations)
    bvh.write(tmp_path / "walk.bvh", clip)
    again = quiet_read(tmp_path / "walk.bvh", units=0.01)
    assert again.skeleton.names == ("root", "left", "left end", "right", "right end")
    order = [skeleton.index(name) for name in again.skeleton.names]
    np.testing.assert_allclose(again.globals()[0], clip.globals()[0][:, order], atol=1e-5)


def test_names_that_would_break_the_file_are_mended(tmp_path):
    skeleton = Skeleton(["hips {1}\n", "DEF-leg.L\t"], [-1, 0], np.zeros((2, 3)), quat.identity((2,)))
    bvh.write(tmp_path / "walk.bvh", Clip("walk", skeleton, 24, np.zeros((1, 2, 3)), quat.identity((1, 2))))
    assert quiet_read(tmp_path / "walk.bvh").skeleton.names == ("hips _1__", "DEF-leg.L_")


def test_a_file_that_cannot_be_written_is_said_and_the_old_one_stays(tmp_path, monkeypatch):
    clip = quiet_read(save(tmp_path, SMALL))
    with pytest.raises(MotionError, match="does not exist"):
        bvh.write(tmp_path / "nowhere" / "walk.bvh", clip)

    def full(*_args):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr("os.replace", full)
    with pytest.raises(MotionError, match="disk is full"):
        bvh.write(tmp_path / "walk.bvh", clip)
    assert (tmp_path / "walk.bvh").read_text() == SMALL
    assert [path.name for path in tmp_path.iterdir()] == ["walk.bvh"]


# ---------------------------------------------------------------------------------------------------------------------
# Units


@pytest.mark.parametrize("height, units", [
    (1.6, 1.0), (170, 0.01), (1750, 0.001), (66, 0.0254), (5.5, 0.3048), (27, 0.056444), (0, 1.0), (0.9, 1.0)])
def test_units_are_guessed_from_the_height(height, units):
    assert bvh.guess_units(height) == units


def test_units_are_guessed_from_where_the_clip_stands_tallest(tmp_path):
    lying = "0 5 0 90 0 0 0 0 0\n" * 50
    standing = "0 85 0 0 0 0 0 0 0\n" * 20
    text = SMALL.split("Frames:")[0].replace("OFFSET 0 -1 0", "OFFSET 0 -160 0")
    clip = quiet_read(save(tmp_path, text + "Frames: 70\nFrame Time: 0.01\n" + lying + standing))
    assert bvh.height(clip) == pytest.approx(160, rel=1e-3)
    assert bvh.guess_units(clip) == 0.01
    assert bvh.height(clip.scaled(0.01)) == pytest.approx(1.6, rel=1e-3)


# ---------------------------------------------------------------------------------------------------------------------
# Real files


@pytest.mark.parametrize("archive, rate, units, joints", [("lafan1", 60, 0.01, 23), ("cmu", 120, 0.056444, 31)])
def test_real_files_are_read_as_matrices_say(request, tmp_path, archive, rate, units, joints):
    folder = request.getfixturevalue(archive)
    files = sorted((path for path in folder.glob("*.bvh") if path.stat().st_size), key=lambda path: path.stat().st_size)
    for path in (files[0], files[len(files) // 2]):
        clip = quiet_read(path)
        assert clip.rate == rate
        assert len(clip.skeleton) == joints
        assert bvh.guess_units(clip) == units
        short = tmp_path / "short.bvh"
        text = path.read_text("utf-8").splitlines()
        start = next(number for number, line in enumerate(text) if line.startswith("Frame Time")) + 1
        short.write_text("\n".join([*text[:start], *text[start:start + 20]]))
        np.testing.assert_allclose(clip.globals()[0][:20], z_up(reference(short)), rtol=1e-5, atol=2e-3)
        clip = clip.scaled(units)
        bvh.write(tmp_path / "again.bvh", clip)
        assert_same_clip(quiet_read(tmp_path / "again.bvh", units=0.01), clip)


# As much as a file may ask for

def test_a_file_of_more_joints_than_any_rig_has_is_refused(tmp_path):
    with pytest.raises(MotionError, match=r'"walk.bvh" has 30,001 joints, and a skeleton has at most 2,000'):
        bvh.read(save(tmp_path, beside(30_000)))


def test_a_small_file_of_many_still_joints_in_many_frames_is_refused_before_memory_is_taken(tmp_path):
    with pytest.raises(MotionError, match=r"nearly all joints are without CHANNELS, more than 2,000,000 times"):
        bvh.read(save(tmp_path, beside(1900, frames=2000)))
    assert len(quiet_read(save(tmp_path, beside(900, frames=2000)))) == 2000


def test_many_joints_of_one_name_are_told_apart_at_once(tmp_path):
    begun = time.perf_counter()
    with pytest.warns(MotionWarning, match='"x.001", and 1,896 others were renamed, too') as said:
        clip = bvh.read(save(tmp_path, beside(1899, "x").replace("JOINT x", "JOINT x.002", 1)))
    assert time.perf_counter() - begun < 3 and len(said) == 1
    assert clip.skeleton.names[:5] == ("Hips", "x.002", "x", "x.001", "x.003")


def test_a_chain_of_any_length_is_written_and_read(tmp_path):
    count = 1100
    skeleton = Skeleton([f"link{index}" for index in range(count)], np.arange(count) - 1, np.full((count, 3), 0.1),
                        quat.identity((count,)))
    clip = Clip("chain", skeleton, 30.0, skeleton.positions[None].repeat(2, 0), quat.identity((2, count)))
    bvh.write(tmp_path / "chain.bvh", clip)
    again = quiet_read(tmp_path / "chain.bvh", units=0.01)
    assert again.skeleton.same_joints(skeleton) and np.allclose(again.positions, clip.positions, atol=1e-6)


@pytest.mark.parametrize("text, seconds", [
    (SMALL, 2 / 30), (SMALL.replace("Frames: 2", "Frames: 90000"), 2 / 30), (SMALL.replace("0.033333", "60"), 2 / 60),
    (SMALL.replace("Frames: 2", "Frames: nan"), 2 / 30), (SMALL[:200], 0), ("", 0), (SMALL.replace("Time", "x"), 0),
])
def test_how_long_a_file_plays_is_told_without_reading_it(text, seconds):
    assert bvh.seconds_of(text.encode()) == pytest.approx(seconds, abs=0.04)


def beside(count, name="j{}", frames=2):
    """A file with that many joints without channels beside one another."""
    joints = "".join(f"JOINT {name.format(index)}\n{{\nOFFSET 0 1 0\n}}\n" for index in range(count))
    return ("HIERARCHY\nROOT Hips\n{\nOFFSET 0 1 0\nCHANNELS 1 Yposition\n" + joints + "}\nMOTION\n"
            f"Frames: {frames}\nFrame Time: 0.033333\n" + frames * "1\n")
