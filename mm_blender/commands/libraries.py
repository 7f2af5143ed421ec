# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command plays from: a database, networks or both, on the character that was asked for."""

from ..errors import MotionError
from ..matching import database
from ..networks.library import METHODS, library_for
from ..playback.library import BakedLibrary
from ..playback.retarget import retargeted
from .characters import target_in, with_roles
from .options import rate


def add_library(command):
    """The options that say it."""
    command.add_argument("database", metavar="DB.mmdb", nargs="?", help="what bake has made; lmm goes without, and "
                         "then its figures compare nothing with the data")
    command.add_argument("--networks", metavar="NET.mmnet", help="what train has made, for dmm and lmm")
    command.add_argument("--method", choices=METHODS, default="mm", help="Motion Matching, with the Decompressor, or "
                         "Learned Motion Matching (mm)")
    command.add_argument("--fps", type=rate, help="frames per second of what lmm plays (those of the data)")
    command.add_argument("--target", metavar="TARGET.bvh|DB.mmdb", help="whose character plays it (the database's)")


def library_of(options):
    """The Library with the method that was asked for; and whose character plays it and how it stands, or None for the
    motion's own."""
    target = target_in(options.target) if options.target else None
    library = _library(options)
    if target:
        with_roles(library.database.character, options.database or options.networks)
    return _on_target(library, target), target


def whole_of(options, library, target):
    """What figures compare the motion with. What was learned is played without the database; only the figures need
    that, if it is there."""
    if options.method == "lmm" and options.database:
        library = _on_target(BakedLibrary(database.load(options.database)), target)
    return library.whole()


def _library(options):
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


def _on_target(library, target):
    """A library on a character and how it stands, or as it is if there is none."""
    return library if target is None else retargeted(library, target[0], target_stance=target[1])
