# SPDX-License-Identifier: GPL-3.0-or-later
"""What driving costs with each method, in the form of Table 3 of Learned Motion Matching: memory, time, training."""

import time

import numpy as np

from ..matching import database as databases
from ..networks.file import NAMES, load
from ..networks.library import library_for
from ..networks.network import Network
from ..playback.group import Group
from ..playback.library import BakedLibrary
from ..steps import Progress
from . import courses

# So many characters are a crowd; so long is driven, in parts of which the one in the middle counts; turns of a network.
CROWD, SECONDS, TURNS = 100, 8, 300
# Which parts of memory each method needs.
NEEDS = {"mm": ("features", "poses"), "dmm": ("features", "latents", "decompressor"), "lmm": NAMES}


def measure(database, networks=None, watch=None):
    """The figures as plain values, of the files of a database and of networks that were trained on it.

    Memory is in megabytes as the files have it, times are in microseconds: of a network alone the quickest of many
    turns, of whole frames what is usual.
    """
    library = BakedLibrary(databases.load(database))
    methods, trained = {"mm": library}, load(networks) if networks is not None else None
    if trained is not None:
        # Latents are of the very frames that networks were trained on.
        learned = ("dmm", "lmm") if trained.key == library.database.key else ("lmm",)
        methods |= {method: library_for(method, networks, library) for method in learned}
    memory, network_times = _memory(library.database, trained), _network_times(trained)
    result = {"frames": len(library.database), "joints": len(library.database.skeleton),
              "features": library.database.schema.size, "rate": library.database.rate, "methods": {}}
    for step, (method, played) in enumerate(methods.items()):
        if watch is not None:
            watch(Progress(step / len(methods), f"driving with {method}"))
        parts = {name: memory[name] for name in NEEDS[method]}
        alone, search = _drive(played, 1)
        crowd, _ = _drive(played, CROWD)
        times = {name: network_times[name] for name in NEEDS[method] if name in network_times}
        result["methods"][method] = {
            "megabytes": {**parts, "total": round(sum(parts.values()), 2)},
            "microseconds": {"search": search, **times, "frame": alone, f"frame_of_each_of_{CROWD}": crowd},
        }
    if trained is not None:
        for title, of in (("networks_of_a_frame", "alone"), (f"networks_of_each_of_{CROWD}", "each")):
            times = in_a_frame([network_times[name][of] for name in NAMES], trained.stride)
            result["methods"]["lmm"]["microseconds"][title] = round(times, 1)
        whole = result["methods"]["mm"]["megabytes"]["total"]
        result["database_to_networks"] = round(whole / result["methods"]["lmm"]["megabytes"]["total"], 1)
        result["training"] = trained.figures
    return result


def table(result, scenario):
    """The same as rows of a table in Markdown."""
    heads = ("Scenario", "Method", "X", "Y", "Z", "D", "S", "P", "MB", "D µs", "S µs", "P or search µs", "frame µs",
             f"of {CROWD}, each", "training min")
    columns = ("features", "poses", "latents", *NAMES)
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for method, figures in result["methods"].items():
        memory, times = figures["megabytes"], figures["microseconds"]
        alone = [times[name]["alone"] if name in times else "" for name in NAMES]
        minutes = result.get("training", {}).get("minutes", "") if method != "mm" else ""
        cells = [scenario, method.upper(), *(memory.get(name, "") for name in columns), memory["total"], *alone[:2],
                 alone[2] or times["search"], times["frame"], times[f"frame_of_each_of_{CROWD}"], minutes]
        lines.append(f"| {' | '.join(str(cell) for cell in cells)} |")
    return "\n".join(lines)


def _memory(database, networks):
    """Megabytes of each part."""
    poses = database.rotations, database.positions, database.contacts
    found = {"features": database.features.nbytes, "poses": sum(part.nbytes for part in poses)}
    if networks is not None:
        found["latents"] = 2 * len(database) * networks.latents
        found |= {name: 2 * getattr(networks, name).numbers for name in NAMES}
    return {name: round(size / 1e6, 2) for name, size in found.items()}


def _network_times(networks):
    """Microseconds of each network, for one character alone and for each of a crowd."""
    if networks is None:
        return {}
    return {name: {of: round(quickest(getattr(networks, name), count), 1)
                   for of, count in (("alone", 1), ("each", CROWD))} for name in NAMES}


def in_a_frame(times, stride):
    """Of the times of Decompressor, Stepper and Projector, where the Stepper is asked every so many frames: the
    Projector is asked every sixth, and the Stepper once more with its answer."""
    decompressor, stepper, projector = times
    return decompressor + stepper / stride + (projector + stepper) / 6


def sizes(networks, stride, crowd):
    """Megabytes of Decompressor, Stepper and Projector as the file has them, and their microseconds in a frame: for one
    character alone, and for each of a crowd."""
    alone, each = (in_a_frame([quickest(one, count) for one in networks], stride) for count in (1, crowd))
    return {"megabytes": sum(2e-6 * one.numbers for one in networks), "alone": alone, "each": each}


def quickest(weights, count):
    """Microseconds of a network for each of so many characters."""
    network, best = Network(weights, count), np.inf
    rows = np.random.default_rng(0).normal(size=(count, weights.inputs)).astype(np.float32)
    for _ in range(TURNS):
        begin = time.perf_counter()
        network(rows)
        best = min(best, time.perf_counter() - begin)
    return 1e6 * best / count


def _drive(library, count):
    """Microseconds of a whole frame of each of so many characters, and of a search: both in the middle of what they
    took while driving."""
    hands = [courses.random_walk(SECONDS, seed) for seed in range(count)]
    group = Group(library, [hand.guide(library.database.rate, library.speeds) for hand in hands])
    match, frames, searches, rate = group.player.matcher.match, [], [], round(library.database.rate)

    def timed(who, *asked):
        begin = time.perf_counter()
        jumped = match(who, *asked)
        searches.append((time.perf_counter() - begin) / len(who))
        return jumped

    group.player.matcher.match = timed
    for _ in range(SECONDS * rate):
        begin = time.perf_counter()
        group.step()
        frames.append(time.perf_counter() - begin)
    seconds = np.array(frames[rate:]).reshape(-1, rate).mean(axis=1)  # the first one fills caches
    return tuple(round(1e6 * float(value), 1) for value in (np.median(seconds) / count, np.median(searches)))
