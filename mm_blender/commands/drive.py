# SPDX-License-Identifier: GPL-3.0-or-later
"""drive: let a recorded stick steer the character."""

from ..control import stick
from ..control.intent import tag_query
from ..errors import MotionError
from ..evaluate import driving
from ..matching import database
from ..motion import bvh
from ..networks.library import METHODS, library_for
from ..playback.drive import drive
from ..playback.library import BakedLibrary
from ..playback.retarget import retargeted
from .characters import target_in, with_roles
from .options import add_command, rate
from .outputs import check_output, check_report, write_report
from .terminal import Bar, say_all


def add(commands):
    command = add_command(commands, "drive", run, help="let a recorded stick steer the character")
    command.add_argument("database", metavar="DB.mmdb", nargs="?", help="what bake has made; lmm goes without, and "
                         "then its figures compare nothing with the data")
    command.add_argument("--networks", metavar="NET.mmnet", help="what train has made, for dmm and lmm")
    command.add_argument("--method", choices=METHODS, default="mm", help="Motion Matching, with the Decompressor, or "
                         "Learned Motion Matching (mm)")
    command.add_argument("--fps", type=rate, help="frames per second of what lmm plays (those of the data)")
    command.add_argument("--input", required=True, metavar="STICK.csv",
                         help="time,move_x,move_y,face_x,face_y,run,strafe[,crouch][,gait]: x right, y forward, in the "
                         "world; gait names one of the motion's, instead of run and crouch")
    command.add_argument("-o", "--output", required=True, metavar="OUT.bvh", help="the motion that was played")
    command.add_argument("--target", metavar="TARGET.bvh|DB.mmdb", help="whose character plays it (the database's)")
    command.add_argument("--query", default="", metavar="TAGS", help='only frames with these tags: "walk & ~injured"')
    command.add_argument("--report", metavar="R.json", help="write the figures of the drive into a file")


def run(options):
    check_output(options.output, ".bvh", options)
    check_report(options)
    recording = stick.load(options.input)
    target = target_in(options.target) if options.target else None
    library = _library(options)
    if target:
        with_roles(library.database.character, options.database or options.networks)
    library = _on_target(library, target)
    asked = {tag_query(gait, library.speeds, options.query) for gait in recording.asked}
    say_all(dict.fromkeys(trouble for query in sorted(asked) if (trouble := library.choice(query).trouble)))
    with Bar(quiet=options.json) as bar:
        clip, trace = drive(library, recording, watch=bar.show, query=options.query)
    # What was learned is driven without the database; only the figures compare it with that, if it is there.
    whole = library
    if options.method == "lmm" and options.database:
        whole = _on_target(BakedLibrary(database.load(options.database)), target)
    figures = {"method": options.method, **driving.report(whole.whole(), clip, trace)}
    bvh.write(options.output, clip)
    if options.report:
        write_report(options.report, figures)
    return {"file": options.output, **figures}


def _on_target(library, target):
    """A library on a character and how it stands, or as it is if there is none."""
    return library if target is None else retargeted(library, target[0], target_stance=target[1])


def _library(options):
    """What is driven with the method that was asked for."""
    if options.method == "lmm" and options.networks:
        return library_for("lmm", options.networks, rate=options.fps)
    if options.fps:
        raise MotionError("Only what was learned can be driven at another rate: leave --fps out, or use --method lmm.")
    if not options.database:
        raise MotionError("Only --method lmm with --networks NET.mmnet goes without a database: give it a DB.mmdb.")
    if options.method != "mm" and not options.networks:
        raise MotionError(f"The method {options.method} needs networks: train them, and give --networks NET.mmnet.")
    library = BakedLibrary(database.load(options.database))
    return library if options.method == "mm" else library_for(options.method, options.networks, library)
