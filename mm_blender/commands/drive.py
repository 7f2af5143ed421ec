# SPDX-License-Identifier: GPL-3.0-or-later
"""drive: let a recorded stick steer the character."""

from ..control import stick
from ..control.intent import tag_query
from ..evaluate import driving
from ..motion import bvh
from ..playback.drive import drive
from .libraries import add_library, library_of, whole_of
from .options import add_command
from .outputs import check_output, check_report, write_report
from .terminal import Bar, say_all


def add(commands):
    command = add_command(commands, "drive", run, ("database", "input", "target"), ".bvh",
                          help="let a recorded stick steer the character")
    add_library(command)
    command.add_argument("--input", required=True, metavar="STICK.csv",
                         help="time,move_x,move_y,face_x,face_y,run,strafe[,crouch][,gait]: x right, y forward, in the "
                         "world; gait names one of the motion's, instead of run and crouch")
    command.add_argument("-o", "--output", required=True, metavar="OUT.bvh", help="the motion that was played")
    command.add_argument("--query", default="", metavar="TAGS", help='only frames with these tags: "walk & ~injured"')
    command.add_argument("--report", metavar="R.json", help="write the figures of the drive into a file")


def run(options):
    check_output(options.output, ".bvh", options)
    check_report(options)
    recording = stick.load(options.input)
    library, target = library_of(options)
    asked = {tag_query(gait, library.speeds, options.query) for gait in recording.asked}
    say_all(dict.fromkeys(trouble for query in sorted(asked) if (trouble := library.choice(query).trouble)))
    with Bar(quiet=options.json) as bar:
        clip, trace = drive(library, recording, watch=bar.show, query=options.query)
    figures = {"method": options.method, **driving.report(whole_of(options, library, target), clip, trace)}
    bvh.write(options.output, clip)
    if options.report:
        write_report(options.report, figures)
    return {"file": options.output, **figures}
