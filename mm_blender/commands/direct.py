# SPDX-License-Identifier: GPL-3.0-or-later
"""direct: let the character follow a path."""

from ..control import path_file
from ..control.intent import tag_query
from ..errors import MotionError
from ..evaluate import directing
from ..motion import bvh
from ..playback.direct import direct, in_place
from ..playback.planner import Beam
from .libraries import add_library, library_of, whole_of
from .options import add_command, number
from .outputs import check_output, check_report, write_report
from .terminal import Bar, say_all

PLANS = ("quick", "planned")


def add(commands):
    command = add_command(commands, "direct", run, ("database", "path", "target"), ".bvh",
                          help="let the character follow a path")
    add_library(command)
    command.add_argument("--path", required=True, metavar="PATH.csv",
                         help="x,y and any of z,speed,gait,wait,face_x,face_y,time,exact,query: points of the path in "
                         "metres, with what changes from there on")
    command.add_argument("-o", "--output", required=True, metavar="OUT.bvh", help="the motion")
    command.add_argument("--plan", choices=PLANS, default="quick", help="quick: at each moment what is best then; "
                         "planned: the best of many ways to the end, from the frames of a database (quick)")
    command.add_argument("--seed", type=_seed, help="another take of the same, for each number another one")
    command.add_argument("--loop", action="store_true", help="a round of the closed path, whose last frame "
                         "continues as its first one")
    command.add_argument("--in-place", action="store_true", help="without the root's travel, for engines")
    command.add_argument("--query", default="", metavar="TAGS", help='only frames with these tags: "walk & ~injured"')
    command.add_argument("--report", metavar="R.json", help="write the figures into a file")


def run(options):
    check_output(options.output, ".bvh", options)
    check_report(options)
    if options.method == "lmm" and (options.plan == "planned" or options.seed is not None or options.loop):
        raise MotionError("Only frames of a database can be planned, varied or looped: leave --plan planned, --seed "
                          "and --loop out, or use --method mm or dmm.")
    path = path_file.load(options.path, closed=options.loop)
    library, target = library_of(options)
    with Bar(quiet=options.json) as bar:
        directed = direct(library, path, watch=bar.show, query=options.query, seed=options.seed,
                          beam=Beam() if options.plan == "planned" else None, loop=options.loop)
    say_all(directed.schedule.trouble)
    asked = {tag_query(gait, library.speeds, query) for gait, query in directed.schedule.pace.names}
    say_all(dict.fromkeys(trouble for query in sorted(asked) if (trouble := library.choice(query).trouble)))
    figures = directing.report(whole_of(options, library, target), directed)
    figures = {"method": options.method, "plan": options.plan, **figures}
    bvh.write(options.output, in_place(directed.clip) if options.in_place else directed.clip)
    if options.report:
        write_report(options.report, figures)
    return {"file": options.output, **figures}


def _seed(text):
    return int(number(text, 0, 2 ** 31))
