# SPDX-License-Identifier: GPL-3.0-or-later
"""retarget: put motion onto another character."""

import warnings
from pathlib import Path

from ..errors import Cancelled, MotionError, MotionWarning
from ..evaluate import retargeting
from ..motion import bvh
from ..prepare.recipe import Recipe
from ..steps import Progress
from .characters import target_in, ways_onto
from .clips import SAMPLES, bvh_files, some_readable, units_of
from .options import add_command, add_strict, check_strict, number, scale
from .outputs import check_output, check_report, write_report
from .terminal import Bar, say_all


def add(commands):
    command = add_command(commands, "retarget", run, ("clips", "onto"), ".bvh", help="put motion onto another "
                          "character; rest poses at the beginning of clips are left out")
    command.add_argument("clips", nargs="+", metavar="CLIP.bvh", help="BVH files, or folders of them")
    command.add_argument("--onto", required=True, metavar="TARGET.bvh|DB.mmdb", help="whose character it is put onto")
    command.add_argument("-o", "--output", required=True, metavar="OUT.bvh|FOLDER", help="the file to write, or the "
                         "folder where there are several clips")
    command.add_argument("--units", type=scale, metavar="cm|m|SCALE",
                         help="the clips' unit, or metres per unit (guessed from the character's height)")
    command.add_argument("--hands", type=_share, default=0.0, help="0: arms keep their angles; 1: hands keep their "
                         "height above the ground, by the length of the legs (0)")
    command.add_argument("--role", action="append", default=[], metavar="ROLE=BONE",
                         help="which bone of the clips plays a role, where it is not found by itself")
    add_strict(command)
    command.add_argument("--report", metavar="R.json", help="write the figures into a file")


def run(options):
    files = bvh_files(options.clips)
    outputs = _outputs(files, options.output)
    for path in outputs.values():
        check_output(path, ".bvh", options, files)
    check_report(options)
    some = some_readable(files, SAMPLES)
    units = options.units or units_of(some)
    ways = ways_onto(files, options.role, Recipe(), units, target_in(options.onto), options.hands)
    with Bar(quiet=options.json) as bar:
        reports, left_out = _retarget_all(ways, units, outputs, bar, options)
    say_all(left_out)
    result = {"units": units, **retargeting.together(list(reports.values())), "left_out": left_out, "each": reports}
    if options.report:
        write_report(options.report, result)
    return {"file": options.output, **result}


def _outputs(files, output):
    """path → the file that is written of it."""
    if len(files) == 1 and not Path(output).is_dir():
        return {files[0]: Path(output)}
    if not Path(output).is_dir():
        raise MotionError(f'"{output}" is not a folder: several clips are written into one, create it first.')
    return {path: Path(output) / f"{path.stem}.bvh" for path in files}


def _retarget_all(ways, units, outputs, bar, options):
    """The figures of each clip that was retargeted and written, by name; and why others were not, in sentences."""
    reports, left_out, waiting = {}, [], []
    try:
        for onto, path in [(onto, path) for onto, paths in ways for path in paths]:
            bar.show(Progress((len(reports) + len(left_out)) / len(outputs), path.stem))
            try:
                clip, report = _retarget_one(path, units, onto)
            except MotionError as error:
                left_out.append(str(error))
                continue
            if options.strict:  # none is written before all are known to be usable
                waiting.append((outputs[path], clip))
            else:
                bvh.write(outputs[path], clip)
            reports[path.stem] = report
        check_strict(options, left_out)
        while waiting:
            bvh.write(*waiting.pop(0))
    except KeyboardInterrupt:
        raise Cancelled(f"cancelled; {len(reports) - len(waiting)} of {len(outputs)} clips were written.") from None
    if not reports:
        raise MotionError(left_out[0])
    return reports, left_out


def _retarget_one(path, units, onto):
    """A clip that was retargeted, and its figures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionWarning)
        raw = bvh.read(path, units)
    (piece,) = onto.before(raw, Recipe(rate=raw.rate))
    clip = onto.retarget.clip(piece.clip)
    return clip, retargeting.report(onto.retarget, piece.clip, clip)


def _share(text):
    return number(text, 0, 1)
