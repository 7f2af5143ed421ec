# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m mm_blender bake | info, as a shell and as a pipeline see it."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mm_blender.commands import main
from mm_blender.files import only_us
from mm_blender.matching import database
from mm_blender.matching.schema import PRESETS
from mm_blender.motion import bvh
from mm_blender.owner import Owner
from tests.databases import demo_clips

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "-m", "mm_blender"]

# Legs and a spine, in centimetres, Y up; the name of the right thigh can be chosen.
HIERARCHY = """HIERARCHY
ROOT Hips
{{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Spine
  {{
    OFFSET 0 30 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    JOINT Head
    {{
      OFFSET 0 45 0
      CHANNELS 3 Zrotation Yrotation Xrotation
      End Site
      {{ OFFSET 0 15 0 }}
    }}
  }}
  JOINT LeftUpLeg
  {{
    OFFSET 10 0 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    JOINT LeftFoot
    {{
      OFFSET 0 -90 0
      CHANNELS 3 Zrotation Yrotation Xrotation
      End Site
      {{ OFFSET 0 0 15 }}
    }}
  }}
  JOINT {thigh}
  {{
    OFFSET -10 0 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    JOINT RightFoot
    {{
      OFFSET 0 -90 0
      CHANNELS 3 Zrotation Yrotation Xrotation
      End Site
      {{ OFFSET 0 0 15 }}
    }}
  }}
}}
"""


def write_walk(path, frames=91, rate=30, scale=1.0, thigh="RightUpLeg", announced=None):
    """Someone who walks along +Z with swinging legs."""
    text = HIERARCHY.format(thigh=thigh)
    text = re.sub(r"(OFFSET) (\S+) (\S+) (\S+)", lambda match: " ".join(
        [match[1], *(f"{float(number) * scale:g}" for number in match.groups()[1:])]), text)
    lines = [text, "MOTION", f"Frames: {announced or frames}", f"Frame Time: {1 / rate:.8f}"]
    for frame in range(frames):
        swing = 25 * np.sin(2 * np.pi * frame / rate)
        place = [0, 92 * scale, frame / rate * 120 * scale]
        lines.append(" ".join(f"{number:.5f}" for number in [*place, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, swing, 0, 0, 0,
                                                            0, 0, -swing, 0, 0, 0]))
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def walk(tmp_path):
    return write_walk(tmp_path / "walk.bvh")


@pytest.fixture
def out(tmp_path):
    return str(tmp_path / "out.mmdb")


def shell(*arguments, **settings):
    return subprocess.run([*COMMAND, *map(str, arguments)], cwd=ROOT, capture_output=True, encoding="utf-8", **settings)


@pytest.fixture
def ask(capsys):
    """Calls main() with --json; returns the object."""
    def asked(*arguments):
        code = main([*map(str, arguments), "--json"])
        output = capsys.readouterr()
        assert code == 0, output.err
        return json.loads(output.out)
    return asked


@pytest.fixture
def fails(capsys):
    """Calls main(); it must end with code 1 and the sentence on stderr, which is returned."""
    def failed(*arguments):
        assert main([*map(str, arguments)]) == 1
        output = capsys.readouterr()
        assert output.out == "" and output.err.startswith("mm_blender: ") and output.err.count("\n") == 1
        return output.err
    return failed


# As a shell sees it

def test_help_names_the_commands_and_each_its_options():
    outcome = shell("--help")
    assert outcome.returncode == 0 and "bake" in outcome.stdout and "info" in outcome.stdout
    outcome = shell("bake", "--help")
    for option in ("--output", "--fps", "--mirror", "--schema", "--units", "--tags", "--role", "--json", "--past-end"):
        assert outcome.returncode == 0 and option in outcome.stdout
    assert all(preset in outcome.stdout for preset in PRESETS)
    assert "--json" in shell("info", "--help").stdout


def test_bake_writes_a_database_and_says_what_is_in_it(walk, out):
    outcome = shell("bake", walk, "-o", out)
    assert outcome.returncode == 0 and outcome.stderr == ""
    assert re.search(r"^frames +181$", outcome.stdout, re.MULTILINE)
    assert re.search(r"^features +27$", outcome.stdout, re.MULTILINE)
    assert len(database.load(out)) == 181


def test_json_is_one_object_on_stdout_and_nothing_else(walk, out):
    outcome = shell("bake", walk, "-o", out, "--mirror", "--json")
    report = json.loads(outcome.stdout)
    assert outcome.returncode == 0 and outcome.stderr == "" and outcome.stdout.count("\n") == 1
    assert report["file"] == out and report["frames"] == 362 and report["features"] == 27 and report["units"] == 0.01
    about = json.loads(shell("info", out, "--json").stdout)
    assert about["frames"] == 362 and about["kind"] == "mmdb" and about["clip_names"] == ["walk"]


def test_a_wrong_input_is_a_sentence_and_code_1(tmp_path, out):
    outcome = shell("bake", tmp_path / "nobody.bvh", "-o", out, "--json")
    assert outcome.returncode == 1 and outcome.stdout == ""
    assert outcome.stderr == f'mm_blender: There is no file "{tmp_path / "nobody.bvh"}".\n'


def test_progress_is_shown_on_a_terminal_only(walk, out):
    with_bar, code = on_terminal("bake", walk, "-o", out)
    assert code == 0 and "[██" in with_bar and "100%" in with_bar and 'Reading "walk"' in with_bar
    without, code = on_terminal("bake", walk, "-o", out, "--json")
    assert code == 0 and without == ""


def on_terminal(*arguments):
    """What comes out on stderr when that is a terminal, and the exit code."""
    ours, theirs = pytest.importorskip("pty", reason="no terminals to be had on this system").openpty()
    child = subprocess.Popen([*COMMAND, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 1024):
            parts.append(part)
    except OSError as error:  # how Linux says that the other side is closed
        assert error.errno == errno.EIO
    os.close(ours)
    return b"".join(parts).decode(), child.wait()


def test_ctrl_c_is_130_and_leaves_what_was_there(tmp_path, walk, out):
    assert shell("bake", walk, "-o", out).returncode == 0
    key = database.read_key(out)
    many = tmp_path / "many"
    many.mkdir()
    for index in range(40):
        write_walk(many / f"walk {index}.bvh", frames=600)
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED, "bake", many, "-o", out], cwd=ROOT,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "reading\n"
    child.send_signal(signal.SIGINT)
    rest, errors = child.communicate()
    assert child.returncode == 130 and rest == "" and errors == "mm_blender: cancelled; nothing was written.\n"
    assert database.read_key(out) == key
    assert sorted(os.listdir(tmp_path)) == ["many", "out.mmdb", "walk.bvh"]


# Says when the bake is in its midst, so that the interruption meets it there. It listens even where our own process was
# started in the background, where shells switch interruptions off.
INTERRUPTED = """
import signal
import sys
from mm_blender.commands import main, terminal
signal.signal(signal.SIGINT, signal.default_int_handler)
show = terminal.Bar.show
def tell(bar, progress):
    if 0.02 < progress.share < 0.04:
        print("reading", flush=True)
    show(bar, progress)
terminal.Bar.show = tell
sys.exit(main())
"""


def test_ctrl_c_while_it_starts_is_130_without_a_traceback(tmp_path, walk, out):
    # A NumPy that says when it is imported, and never comes to an end.
    (tmp_path / "numpy.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    child = subprocess.Popen([sys.executable, "-c", STARTED, "info", walk], cwd=ROOT, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert child.stdout.readline() == "importing\n"
    child.send_signal(signal.SIGINT)
    rest, errors = child.communicate()
    assert (child.returncode, rest, errors) == (130, "", "")


STARTED = """
import runpy
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("mm_blender", run_name="__main__", alter_sys=True)
"""


def test_what_numpy_has_to_say_of_divisions_is_not_said(walk):
    outcome = subprocess.run([sys.executable, "-W", "always", "-c", DIVIDING, "info", walk], cwd=ROOT,
                             capture_output=True, text=True)
    assert (outcome.returncode, outcome.stderr) == (0, "") and "frames" in outcome.stdout


DIVIDING = """
import sys
import numpy as np
from mm_blender.commands import main
from mm_blender.motion import bvh
read = bvh.read
def divide_by_zero(path):
    np.ones(1) / np.zeros(1), np.zeros(1) / np.zeros(1), np.mean([])
    return read(path)
bvh.read = divide_by_zero
sys.exit(main(sys.argv[1:]))
"""


def test_whoever_reads_may_stop_reading(walk):
    child = subprocess.Popen([*COMMAND, "info", *[walk] * 100], cwd=ROOT, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    child.stdout.readline()
    child.stdout.close()
    assert child.stderr.read() == b"" and child.wait() == 0
    child.stderr.close()


def test_a_console_that_cannot_show_a_name_shows_it_otherwise(tmp_path, out):
    path = write_walk(tmp_path / "走る.bvh")
    surroundings = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}
    outcome = shell("bake", path, "-o", out, env=surroundings)
    assert outcome.returncode == 0 and outcome.stderr == ""
    assert "\\u8d70" in shell("info", out, env=surroundings).stdout


# Usage

@pytest.mark.parametrize("arguments, words", [
    ([], "required"), (["dance"], "invalid choice"), (["bake"], "required"), (["bake", "a.bvh"], "--output"),
    (["info"], "FILE"),
    (["bake", "a.bvh", "-o", "o.mmdb", "--fps", "fast"], '"fast" is not a number'),
    (["bake", "a.bvh", "-o", "o.mmdb", "--fps", "0"], "0 is not between 1 and 1000"),
    (["bake", "a.bvh", "-o", "o.mmdb", "--fps", "nan"], "nan is not between"),
    (["bake", "a.bvh", "-o", "o.mmdb", "--fps", "-30"], "-30"),
    (["bake", "a.bvh", "-o", "o.mmdb", "--units", "miles"], "use m, cm, mm, ft, in, cmu, or metres per unit"),
    (["bake", "a.bvh", "-o", "o.mmdb", "--units", "0"], "0 is not between"),
    (["bake", "a.bvh", "-o", "o.mmdb", "--units", "inf"], "inf is not between"),
    (["bake", "a.bvh", "-o", "o.mmdb", "--root", "tail"], "invalid choice"),
    (["bake", "a.bvh", "-o", "o.mmdb", "--past-end", "guess"], "invalid choice"),
    (["bake", "a.bvh", "-o", "o.mmdb", "--colour"], "unrecognized"),
    (["bake", "a.bvh", "", "-o", "o.mmdb"], "clips: the text is empty"),
    (["drive", "a.mmdb", "--input", "s.csv", "-o", "o.bvh", "--target", ""], "target: the text is empty"),
])
def test_wrong_usage_is_code_2(capsys, arguments, words):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2 and words in capsys.readouterr().err


# bake: clips

def test_a_folder_gives_its_bvh_files_in_order(tmp_path, out, ask):
    for name in ("b.bvh", "a.BVH", "Füße und Hände.bvh"):
        write_walk(tmp_path / name)
    (tmp_path / "readme.txt").write_text("hello")
    report = ask("bake", tmp_path, "-o", out)
    assert report["clips"] == 3 and [part.source for part in database.load(out).ranges] == ["Füße und Hände", "a", "b"]


def test_paths_may_have_spaces_and_any_letters(tmp_path):
    folder = tmp_path / "Füße 走る"
    folder.mkdir()
    path = write_walk(folder / "läuft – schnell.bvh")
    outcome = shell("bake", path, "-o", folder / "öut put.mmdb", "--json")
    assert outcome.returncode == 0 and json.loads(outcome.stdout)["file"] == str(folder / "öut put.mmdb")
    assert database.load(folder / "öut put.mmdb").ranges[0].source == "läuft – schnell"


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text on this system")
def test_a_file_name_that_is_no_text_is_no_trouble(tmp_path, out):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/wa\xfflk.bvh")
    write_walk(Path(path))
    for arguments in (("bake", path, "-o", out, "--json"), ("bake", path, "-o", out), ("info", out)):
        outcome = shell(*arguments)
        assert outcome.returncode == 0 and outcome.stderr == ""


def test_frame_times_that_are_rates_do_not_stretch_a_clip(tmp_path, walk, out, ask):
    for seconds in ("60", "10"):
        Path(walk).write_text(re.sub(r"Frame Time: \S+", f"Frame Time: {seconds}", Path(walk).read_text()))
        report = ask("bake", walk, "-o", out)
        assert report["frames"] == 91 and f"the Frame Time is {seconds}; 60 frames" in report["warnings"][0]


def test_escape_codes_of_a_file_do_not_reach_the_terminal(tmp_path, out):
    path = write_walk(tmp_path / "wa\x1b[31mlk.bvh", announced=5)
    Path(path).write_text(Path(path).read_text().replace("LeftFoot", "Left\x1b[2JFoot"))
    (tmp_path / "tags.json").write_text(json.dumps({"*": "ta\x1b]0;g\x07", "no\x1bne": "x"}))
    for arguments in (("bake", path, "-o", out, "--tags", tmp_path / "tags.json", "--role",
                       "left_foot=Left\x1b[2JFoot"), ("info", out), ("info", path),
                      ("info", f"{path}.none")):
        outcome = shell(*arguments)
        assert "�" in outcome.stdout + outcome.stderr
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", outcome.stdout + outcome.stderr)


def test_of_many_sentences_some_are_said(tmp_path, walk, out, capsys):
    (tmp_path / "tags.json").write_text(json.dumps({f"none {index}": "x" for index in range(5000)}))
    assert main(["bake", walk, "-o", out, "--tags", str(tmp_path / "tags.json")]) == 0
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 101 and said[-1] == "mm_blender: 4,900 more sentences like these."


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes among its files")
@pytest.mark.parametrize("arguments", [
    ("info", "{odd}.bvh"), ("bake", "{odd}.bvh", "-o", "{out}"), ("bake", "{folder}", "-o", "{out}"),
    ("bake", "{walk}", "-o", "{out}", "--onto", "{odd}.bvh"), ("bake", "{walk}", "-o", "{out}", "--tags", "{odd}.json"),
    ("bake", "{walk}", "-o", "{out}", "--schema", "{odd}.json"),
])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_never_ends_is_not_read(tmp_path, walk, out, fails, arguments, kind):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "odd.bvh", tmp_path / "odd.json", tmp_path / "folder" / "odd.bvh"):
        os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    places = {"odd": tmp_path / "odd", "folder": tmp_path / "folder", "walk": walk, "out": out}
    assert "it is a device or a pipe; choose an ordinary file" in fails(*(text.format(**places) for text in arguments))


def test_a_name_that_is_too_long_is_a_sentence(tmp_path, walk, out, fails):
    long = tmp_path / ("x" * 300 + ".bvh")
    for arguments in (("info", long), ("bake", long, "-o", out), ("bake", walk, "-o", long.with_suffix(".mmdb"))):
        said = fails(*arguments)
        assert "name too long" in said and "Errno" not in said and len(said) < 500


def test_two_files_of_one_name_are_named(tmp_path, walk, out, fails):
    (tmp_path / "other").mkdir()
    other = write_walk(tmp_path / "other" / "walk.bvh")
    assert 'Two of the files are named "walk"' in fails("bake", walk, other, "-o", out)


def test_an_empty_folder_is_named(tmp_path, out, fails):
    (tmp_path / "none").mkdir()
    assert 'none" has no .bvh files' in fails("bake", tmp_path / "none", "-o", out)


def test_files_that_cannot_be_used_are_left_out_with_a_sentence_each(tmp_path, walk, out, capsys):
    text = Path(walk).read_text()
    for name, contents in (("cut", text[:900]), ("empty", ""), ("nan", text.replace("92.00000", "nan")), ("no", "x")):
        (tmp_path / f"{name}.bvh").write_text(contents)
    write_walk(tmp_path / "one.bvh", frames=1)
    write_walk(tmp_path / "other.bvh", thigh="RightUpperLimb")
    before = sorted(path.read_bytes() for path in tmp_path.glob("*.bvh"))
    assert main(["bake", walk, str(tmp_path / "other.bvh"), *(str(tmp_path / f"{name}.bvh") for name in (
        "cut", "empty", "nan", "no", "one")), "-o", out]) == 0
    sentences = capsys.readouterr().err.splitlines()
    for sentence, words in zip(sentences, [
            'Clip "other" has another skeleton', "cut.bvh, line 47", "empty.bvh, line 1", "nan.bvh, line 47",
            "no.bvh, line 1", 'Clip "one" has no two frames'], strict=True):
        assert sentence.startswith(f"mm_blender: {words}")
    assert len(database.load(out)) == 181 and before == sorted(path.read_bytes() for path in tmp_path.glob("*.bvh"))


def test_the_first_readable_file_gives_the_character(tmp_path, walk, out, capsys):
    (tmp_path / "a.bvh").write_text("not a BVH file")
    write_walk(tmp_path / "few.bvh", announced=500)
    assert main(["bake", str(tmp_path), "-o", out, "--json"]) == 0
    output = capsys.readouterr()
    report, sentences = json.loads(output.out), output.err.splitlines()
    assert report["clips"] == 2 and len(sentences) == 2 and all(line.startswith("mm_blender: ") for line in sentences)
    assert "a.bvh" in sentences[0] and report["left_out"] == [sentences[0].removeprefix("mm_blender: ")]
    assert "few.bvh" in sentences[1] and report["warnings"] == [sentences[1].removeprefix("mm_blender: ")]


def test_no_readable_file_at_all_is_the_first_ones_sentence(tmp_path, out, fails):
    (tmp_path / "a.bvh").write_text("not a BVH file")
    assert "a.bvh" in fails("bake", tmp_path / "a.bvh", "-o", out)
    assert not Path(out).exists()


# bake: output

@pytest.mark.parametrize("name, words", [("nowhere/out.mmdb", "does not exist"), ("walk.bvh", "is a .mmdb file"),
                                         ("out", "is a .mmdb file"), ("folder.mmdb", "is a folder")])
def test_a_wrong_output_is_told_before_the_work(tmp_path, walk, fails, name, words):
    (tmp_path / "folder.mmdb").mkdir()
    before = Path(walk).read_bytes()
    assert words in fails("bake", walk, "-o", tmp_path / name)
    assert Path(walk).read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes among its files")
def test_a_device_or_a_pipe_is_no_output(tmp_path, walk, fails):
    os.mkfifo(tmp_path / "pipe.mmdb")
    for name in ("/dev/null", tmp_path / "pipe.mmdb"):
        assert f'The output "{name}" is a device or a pipe, not a file' in fails("bake", walk, "-o", name)
    assert not Path("/dev/null.mmdb").exists()


def test_a_read_only_folder_is_told_before_the_work(walk, out, fails, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "is read-only" in fails("bake", walk, "-o", out)


def test_a_full_disk_leaves_the_previous_database(walk, out, ask, fails, monkeypatch):
    ask("bake", walk, "-o", out)
    key = database.read_key(out)

    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(np.lib.format, "write_array", full)
    assert "the disk is full" in fails("bake", walk, "-o", out, "--mirror")
    assert database.load(out).key == key and sorted(os.listdir(Path(out).parent)) == ["out.mmdb", "walk.bvh"]


def test_a_relative_output_is_written_where_one_stands(tmp_path, walk, ask, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ask("bake", "walk.bvh", "-o", "here.mmdb")["file"] == "here.mmdb" and (tmp_path / "here.mmdb").is_file()


# bake: options

def test_fps_is_the_rate_of_the_database(walk, out, ask):
    for rate, frames in ((24, 73), (29.97, 90), (60, 181), (120, 361)):
        report = ask("bake", walk, "-o", out, "--loops", "tagged", "--fps", rate)
        assert report["frames"] == frames and report["rate"] == rate


@pytest.mark.parametrize("scale, units, expected", [(1, None, 0.01), (0.01, None, 1.0), (1 / 2.54, None, 0.0254),
                                                    (1, "cm", 0.01), (0.01, "m", 1.0), (10, "0.001", 0.001)])
def test_units_are_guessed_or_given(tmp_path, out, ask, scale, units, expected):
    path = write_walk(tmp_path / "scaled.bvh", scale=scale)
    report = ask("bake", path, "-o", out, *(["--units", units] if units else []))
    assert report["units"] == expected
    assert np.isclose(np.linalg.norm(database.load(out).fixed[-1]), 0.9, atol=0.002)


def test_the_unit_is_guessed_from_several_clips_not_from_one_who_crawls(tmp_path, out, ask):
    crawl = write_walk(tmp_path / "a crawl.bvh")
    flat = Path(crawl).read_text().replace("92.00000", "40.00000").splitlines()
    start = next(index for index, line in enumerate(flat) if line.startswith("Frame Time")) + 1
    flat[start:] = [" ".join([*line.split()[:5], "90", *line.split()[6:]]) for line in flat[start:]]
    Path(crawl).write_text("\n".join(flat))
    for name in "bcde":
        write_walk(tmp_path / f"{name}.bvh")
    assert ask("info", crawl)["units"] != 0.01
    assert ask("bake", tmp_path, "-o", out)["units"] == 0.01


def test_schema_is_a_preset_or_a_file(tmp_path, walk, out, ask, fails):
    assert ask("bake", walk, "-o", out, "--schema", "locomotion_past")["features"] == 31
    (tmp_path / "own.json").write_text('{"channels": [{"kind": "bone_position", "of": "head"}]}')
    report = ask("bake", walk, "-o", out, "--schema", tmp_path / "own.json")
    assert report["features"] == 3 and report["schema"] == "own"
    assert "neither a preset" in fails("bake", walk, "-o", out, "--schema", "nothing")
    (tmp_path / "own.json").write_text("{")
    assert 'own.json" is not JSON' in fails("bake", walk, "-o", out, "--schema", tmp_path / "own.json")
    assert '"quadruped" need bones' in (said := fails("bake", walk, "-o", out, "--schema", "quadruped"))
    assert 'character of "walk" has none: left_hand, right_hand. Give them with --role' in said
    assert "mm_blender: " in fails("bake", walk, "-o", out, "--schema", "x" * 5000)


def test_past_end_is_a_choice_and_is_reported(walk, out, ask):
    report = ask("bake", walk, "-o", out, "--loops", "tagged", "--past-end", "exclude")
    reason = "too near an end of its clip for its features"
    assert report["past_end"] == "exclude" and report["not_entered"][reason] == 40
    assert reason not in ask("bake", walk, "-o", out)["not_entered"]


def test_root_is_a_choice(walk, out, ask):
    ask("bake", walk, "-o", out, "--root", "adaptive")
    assert database.load(out).recipe.root == "adaptive"


def test_tags_come_from_a_file_with_patterns(tmp_path, walk, out, ask, capsys):
    write_walk(tmp_path / "run fast.bvh")
    tags = tmp_path / "tags.json"
    record = {"run*": ["run", {"name": "fast", "start": 1, "end": 2}], "walk.bvh": "walk",
              "*": {"name": "late", "start": 2.5}, "W*": "wrong case", "Ünd": ["none"]}
    tags.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    assert main(["bake", str(tmp_path), "-o", out, "--tags", str(tags)]) == 0
    said = capsys.readouterr().err
    assert 'speaks of "Ünd"' in said and 'speaks of "W*"' in said and said.count("\n") == 2
    assert database.load(out).report()["frames_per_tag"] == {"fast": 61, "late": 62, "run": 181, "walk": 181}


def test_exclude_in_the_tag_file_cuts(tmp_path, walk, out, ask):
    tags = tmp_path / "tags.json"
    tags.write_text('{"walk": [{"name": "exclude", "start": 0, "end": 1}]}')
    report = ask("bake", walk, "-o", out, "--tags", tags)
    assert report["frames"] == 119 and report["excluded"] == {"walk": 1.033}


@pytest.mark.parametrize("text, words", [
    ("", "is not JSON: line 1, column 1"), ("{", "is not JSON"), ("[" * 100_000, "too many brackets"),
    ("5", "not in braces"), ("[]", "not in braces"),
    ('"x"', "not in braces"), ('{"a": 5}', 'a tag of "a" has no name'), ('{"a": [5]}', "has no name"),
    ('{"a": {"start": 0}}', "has no name"), ('{"a": null}', "has no name"), ('{"a": " "}', "has no name"),
    ('{"a": {"name": 5}}', "has no name"), ('{"a": {"name": "x", "start": "soon"}}', 'the tag "x" of "a" are not seco'),
    ('{"a": {"name": "x", "end": NaN}}', "not seconds"), ('{"a": {"name": "x", "end": 1' + 400 * "0" + "}}", "not sec"),
    ('{"a": {"name": "x", "start": null}}', "not seconds"),
    ('{"a": {"name": "x", "end": []}}', "not seconds"), ('{"a": {"name": "x", "start": 2, "end": 1}}', "ends before"),
])
def test_a_tag_file_that_makes_no_sense_says_why_and_shows_how_it_should_look(tmp_path, walk, out, fails, text, words):
    (tmp_path / "tags.json").write_text(text)
    said = fails("bake", walk, "-o", out, "--tags", tmp_path / "tags.json")
    assert "tags.json" in said and words in said and '{"run*": ["run"' in said and "Error" not in said


def test_a_tag_that_lies_outside_of_its_clip_is_told(tmp_path, walk, out, capsys):
    (tmp_path / "tags.json").write_text('{"walk": ["all", {"name": "late", "start": 5, "end": 6}, {"name": "later", '
                                        '"start": 4}, {"name": "early", "start": -2, "end": -1}]}')
    assert main(["bake", walk, "-o", out, "--tags", str(tmp_path / "tags.json")]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f'mm_blender: The tag "{name}" at {start} s lies outside of clip "walk", which lasts 3.00 s.'
        for name, start in (("late", 5), ("later", 4), ("early", -2))]
    assert list(database.load(out).tags) == ["all"]


def test_a_missing_tag_file_is_named(tmp_path, walk, out, fails):
    assert "nothing.json" in fails("bake", walk, "-o", out, "--tags", tmp_path / "nothing.json")


def test_a_role_can_be_given(walk, out, ask, fails):
    ask("bake", walk, "-o", out, "--role", "left_hand=Head", "--role", "right_hand=Spine", "--schema", "quadruped")
    assert database.load(out).character.roles["left_hand"] == "Head"
    assert 'no role "tail"' in fails("bake", walk, "-o", out, "--role", "tail=Head")
    assert 'has no bone "Tail". Bones: Hips, Spine' in fails("bake", walk, "-o", out, "--role", "head=Tail")
    assert "--role ROLE=BONE" in fails("bake", walk, "-o", out, "--role", "head")


def test_the_same_command_makes_the_same_database(walk, out, tmp_path, ask):
    ask("bake", walk, "-o", out, "--mirror")
    ask("bake", walk, "-o", tmp_path / "again.mmdb", "--mirror")
    one, other = database.load(out), database.load(tmp_path / "again.mmdb")
    assert one.key == other.key
    # Within rounding: on a busy machine a product is shared among threads in another way each time.
    np.testing.assert_allclose(one.features, other.features, rtol=0, atol=1e-6)
    ask("bake", walk, "-o", out, "--mirror", "--units", "0.0101")
    assert database.read_key(out) != one.key


# info

def test_info_tells_about_a_bvh_file(walk, ask):
    about = ask("info", walk)
    assert about["kind"] == "bvh" and about["frames"] == 91 and about["rate"] == 30 and about["seconds"] == 3
    assert about["joints"] == 7 and about["units"] == 0.01 and about["roles"]["left_foot"] == "LeftFoot"
    assert about["family"] == ""


def test_info_tells_about_a_database(walk, out, ask):
    ask("bake", walk, "-o", out)
    about = ask("info", out)
    assert about["kind"] == "mmdb" and about["frames"] == 181 and about["roles"]["hips"] == "Hips"
    assert about["channels"][0] == "trajectory position" and len(about["key"]) == 64


def test_info_in_words(walk, out, capsys):
    main(["bake", walk, "-o", out])
    capsys.readouterr()
    assert main(["info", out, walk]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^pose bytes per frame +\S+$", text, re.MULTILINE)
    assert re.search(r"^  left_foot +LeftFoot$", text, re.MULTILINE), "roles, clips and tags keep their names"


@pytest.mark.parametrize("name, contents", [("x.mmdb", b""), ("x.mmdb", b"hello"), ("x.bvh", b"hello"), ("x.bvh", b""),
                                            ("x.txt", b"hello"), ("x", b"\0" * 99), ("x.bvh", b"\xff\xfe\0")])
def test_info_on_a_damaged_file_is_a_sentence(tmp_path, fails, name, contents):
    (tmp_path / name).write_bytes(contents)
    assert name in fails("info", tmp_path / name)


def test_info_on_several_files_tells_of_the_good_ones_too(tmp_path, walk, capsys):
    (tmp_path / "x.mmdb").write_bytes(b"hello")
    assert main(["info", str(tmp_path / "x.mmdb"), walk, str(tmp_path / "none.mmdb"), "--json"]) == 1
    damaged, good, missing = json.loads(capsys.readouterr().out)["files"]
    assert "damaged" in damaged["error"] and good["frames"] == 91 and "There is no file" in missing["error"]


# Whose the output is

def test_what_a_character_in_blender_has_baked_is_not_replaced(walk, out, ask, fails):
    ask("bake", walk, "-o", out)
    database.give(out, Owner("1", "Hero", "/shots/hero.blend"))
    before = Path(out).read_bytes()
    assert 'belongs to "Hero" in hero.blend: choose another output' in fails("bake", walk, "-o", out)
    assert Path(out).read_bytes() == before
    database.give(out, None)
    ask("bake", walk, "-o", out)
    assert Path(out).read_bytes() != before


def test_a_bake_into_a_file_that_is_being_written_says_so(walk, out, fails):
    with only_us(out):
        assert "is being written by another Blender or shell" in fails("bake", walk, "-o", out)


def test_clips_in_place_travel_loop_and_turn_from_the_shell(tmp_path, out, ask, fails):
    clip = next(clip for clip in demo_clips() if clip.name == "walk")
    positions = clip.positions.copy()
    positions[:, 0, :2] = 0
    walk = tmp_path / "walk.bvh"
    bvh.write(walk, clip.with_changes(positions=positions))
    report = ask("bake", walk, "-o", out)
    assert 'Clip "walk" is in place: it travels 1.35 m/s now, as its feet tell.' in report["warnings"]
    assert report["arcs"] == 4 and all(part.loop for part in database.load(out).ranges)
    for options, warned, arcs in ((("--travel-speed", "w*=1.4"), "travels 1.40 m/s now, as you said", 4),
                                  (("--travel", "off"), "", 0), (("--arcs", "off"), "1.35", 0)):
        report = ask("bake", walk, "-o", out, *options)
        assert warned in " ".join(report["warnings"]) and report["arcs"] == arcs
    ask("bake", walk, "-o", out, "--loops", "tagged")
    assert not database.load(out).ranges[0].loop
    assert '"rnu"' in fails("bake", str(walk), "-o", out, "--travel-speed", "rnu=1")
