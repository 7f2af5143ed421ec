# SPDX-License-Identifier: GPL-3.0-or-later
"""What trains: a graphics card if there is one, else the processor."""

import os

import torch

from ..errors import MotionError

NAMES = ("auto", "cpu", "cuda", "mps")


def choose(name="auto"):
    """The device of that name; with "auto" the quickest that there is."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        name = next(kind for kind in there if there[kind])
    if not there.get(name):
        raise MotionError(f'This torch cannot train on "{name}": use {" or ".join(k for k in there if there[k])}.')
    return torch.device(name, int(os.environ.get("LOCAL_RANK", 0))) if name == "cuda" else torch.device(name)


def leave_room():
    """One thread for each network. torch's own threads wait for each other in circles: beside another program that uses
    the processor, such as Blender, training with two of them took fifty times as long as with one."""
    torch.set_num_threads(1)


def drop_small():
    """In this thread, and in those that it begins, numbers too small to have all their digits are zero. The momentum of
    a unit that has gone silent never gets beyond them, and a processor is slow at them: the Decompressor of LAFAN1 was
    down to an eighth of its speed after half an hour."""
    torch.set_flush_denormal(True)
