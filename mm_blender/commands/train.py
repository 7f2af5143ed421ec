# SPDX-License-Identifier: GPL-3.0-or-later
"""train: learn networks that take the database's place; needs torch."""

import os
import sys
import time

from ..errors import MotionError
from ..matching import database
from ..networks import provenance
from ..training.watching.folder import end_with_parent, folder_of, only_one
from .options import add_command, number
from .outputs import check_output, check_owner
from .terminal import Bar


def add(commands):
    command = add_command(commands, "train", run, help="train networks that take the database's place; needs torch")
    command.add_argument("database", metavar="DB.mmdb", help="what bake has made")
    command.add_argument("-o", "--output", required=True, metavar="OUT.mmnet", help="the networks to write; progress "
                         "and checkpoints go into the folder OUT.mmnet.training")
    command.add_argument("--model", choices=("lmm", "moe"), default="lmm", help="Learned Motion Matching (lmm), or "
                         "with sparse experts and a Lipschitz encoder (moe)")
    budget = command.add_mutually_exclusive_group()
    budget.add_argument("--minutes", type=_minutes, default=15.0, help="how long it may take, all in all (15)")
    budget.add_argument("--iterations", type=_iterations, help="of each network instead: exactly repeatable")
    command.add_argument("--seed", type=int, default=0, help="of all chance (0)")
    command.add_argument("--resume", action="store_true", help="go on with a training that was cancelled or killed")
    command.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda", "mps"),
                         help="what trains: a graphics card if there is one (auto), or what is named")
    command.add_argument("--watch-stdin", action="store_true", help="for programs that start this one: cancel when "
                         "standard input is closed, leave the processor to others, and print a line now and then")


def run(options):
    check_output(options.output, ".mmnet", options)
    started, folder = time.monotonic(), folder_of(options.output)  # it takes seconds to import torch
    if options.watch_stdin:
        end_with_parent(folder)
        if hasattr(os, "nice"):
            os.nice(5)
    try:
        from ..training.train import Budget, train
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MotionError("Training needs torch, which this Python does not have: install it (pip install torch), "
                          "or use a Python that has it.") from error
    budget = Budget(options.minutes, options.iterations)
    _, ours = database.read_about(options.database)  # what is no database leaves no folder behind
    check_owner(options.output, provenance.owner(options.output), ours)
    with Bar(quiet=options.json) as bar, only_one(folder):
        watch = _print_progress if options.watch_stdin else bar.show
        figures = train(options.database, options.output, budget, options.seed, options.resume, folder, watch,
                        options.device, options.model, started)
    return {"file": options.output, **figures}


def _print_progress(progress):
    print(f"{progress.share:4.0%} {progress.text}", file=sys.stderr, flush=True)


def _minutes(text):
    return number(text, 0.1, 60 * 24 * 30)


def _iterations(text):
    return int(number(text, 1, 1e9))
