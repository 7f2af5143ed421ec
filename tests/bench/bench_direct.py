# SPDX-License-Identifier: GPL-3.0-or-later
"""How well does a character follow a path? Ten paths each at a walk and at a run, on the demo motion, also with its
networks, and on LAFAN1 with its mirror image: with the usual pull of the root and without any, quick and planned.
Circles are so wide from side to side. Distances are those of the root from the path that was asked for."""

import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when NumPy is imported: work is compared with work
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from mm_blender.control.path import Mark
from mm_blender.control.path import Path as Way
from mm_blender.evaluate import directing, driving
from mm_blender.evaluate.paths import all_paths, spline
from mm_blender.networks.library import library_for
from mm_blender.playback.direct import direct
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.planner import Beam
from mm_blender.playback.player import Drive
from mm_blender.playback.root import Sync
from tests.databases import demo_motion, lafan1_mirrored

PULLED = {"walk": (0.02, 0.05), "run": (0.03, 0.10)}
ALONE = {"walk": (0.05, 0.12), "run": (0.15, 0.40)}
SPEED, STUCK, LATE = 0.03, 0.5, 2 / 60
PLANNED_APART, PLANNED_COST, PLANNED_PEAK, PLANNED_TIME = 0.5, 0.75, 1.0, 20.0
SLIDE, SKATE = 0.5, 0.01
FREE = Drive(sync=Sync(position="none", facing="none"))
TRAINED = Path(__file__).resolve().parents[2] / "trained" / "demo.mmnet"


def main():
    demo = BakedLibrary(demo_motion())
    measure("demo motion", demo)
    for method in ("dmm", "lmm"):
        pulled(f"demo motion, {method}", library_for(method, TRAINED, demo), demo.database)
    if (database := lafan1_mirrored()) is not None:
        measure("LAFAN1 mirrored", BakedLibrary(database))


def measure(label, library):
    pulled(label, library, library.database)
    timed(label, library)
    planned(label, library)


def pulled(label, library, database):
    """As it is directed usually."""
    own, slides, skates = driving.own_acceleration(database), [], []
    for gait, limits in PULLED.items():
        found = [report(library, database, path, own, name=f"{gait}, {name}")[0]
                 for name, path in all_paths(gait).items()]
        distances(f"{label}, {gait}", found, limits)
        speeds = [abs(each["speed_error"]) for each in found if each["speed_error"] is not None]
        row(f"{label}, {gait}, speed along the path, share off, worst", max(speeds, default=0.0), SPEED)
        row(f"{label}, {gait}, longest time stuck, s", max(each["stuck"] for each in found), STUCK)
        slides += [(each["slide_low"], each["slide_low_source"]) for each in found if "slide_low_source" in each]
        skates += [each["skating"] - each["skating_source"] for each in found if "skating_source" in each]
    if slides:
        row(f"{label}, slide of low feet to the source's", *(np.divide(*np.mean(slides, axis=0)), SLIDE))
        row(f"{label}, low feet that skate, more than the source's", np.mean(skates), SKATE)


def timed(label, library):
    """Marks with times, a third of the way, two thirds, and at the end."""
    lates, aparts = [], []
    for seed in range(1, 6):
        points = spline(seed)
        length = Way(points).length
        marks = {index: Mark(0.0, f"point {index}", time=1.0 + share * length / pace)
                 for index, share, pace in ((3, 3 / 8, 1.0), (5, 5 / 8, 1.05), (8, 1.0, 0.95))}
        directed = direct(library, Way(points, marks))
        found = directing.report(library.database, directed, own=1.0)["timed_marks"]
        lates += [abs(mark["late"]) for mark in found[:-1]]  # at the end one stands
        aparts += [mark["apart"] for mark in found]
    row(f"{label}, late or early at a timed mark, s, worst", max(lates), LATE)
    row(f"{label}, distance from a timed mark at its time, m, worst", max(aparts), PULLED["walk"][1])


def planned(label, library):
    """Without any pull, quick and planned, on twenty paths."""
    own, both = driving.own_acceleration(library.database), []
    for gait, limits in ALONE.items():
        found = []
        for name, path in all_paths(gait).items():
            pair = [report(library, library.database, path, own, FREE, False, beam, f"{gait}, alone, {name}")
                    for beam in (None, Beam())]
            found.append(pair[0][0])
            both.append(pair)
        distances(f"{label}, {gait}, without pull", found, limits)
    apart, cost, peak, seconds = (np.array([[pick(one) for one in pair] for pair in both]) for pick in (
        lambda one: one[0]["path_distance"]["mean"], lambda one: one[1], _peak, lambda one: one[2]))
    ratio = f"{label}, planned to quick, without pull,"
    row(f"{ratio} distance from the path", np.divide(*apart.mean(axis=0)[::-1]), PLANNED_APART)
    row(f"{ratio} mean cost of what is played", np.divide(*cost.mean(axis=0)[::-1]), PLANNED_COST)
    row(f"{ratio} peak acceleration at transitions", np.divide(*peak.mean(axis=0)[::-1]), PLANNED_PEAK)
    row(f"{ratio} time", np.divide(*seconds.sum(axis=0)[::-1]), PLANNED_TIME)


def report(library, database, path, own, settings=None, exact=True, beam=None, name=""):
    """The figures of a path, the mean cost of what was played, and the seconds of work."""
    begin = time.process_time()
    directed = direct(library, path, settings, exact=exact, beam=beam)
    seconds = time.process_time() - begin
    found = directing.report(database, directed, own)
    print(f"    {name}{', planned' if beam else ''}: {line(found)}, cost {directed.costs.mean():.2f}", flush=True)
    return found, float(directed.costs.mean()), seconds


def line(found):
    """A path in one line."""
    apart, speed = found["path_distance"], found["speed_error"]
    return (f"{apart['mean']:.3f} m from the path, 95 % {apart['p95']:.3f}, most {apart['max']:.2f}, speed "
            f"{'in corners only' if speed is None else f'{speed:+.1%}'}, end {found['end_distance']:.3f} m and "
            f"{found['end_facing_degrees']:.1f}° off, stuck {found['stuck']:.2f} s, slide {found['slide_low']:.2f}, "
            f"{found['transitions_per_second']:.1f} transitions a second, pops {found.get('pops', '–')}")


def distances(label, found, limits):
    for part, limit in zip(("mean", "p95"), limits):
        row(f"{label}, distance from the path, {part}, m",
            np.mean([each["path_distance"][part] for each in found]), limit)


def row(name, figure, target):
    print(f"  {name}: {figure:.3g}  (target at most {target:g})  {'ok' if figure <= target else 'short'}", flush=True)


def _peak(one):
    return one[0].get("transition_acceleration_ratio", {}).get("mean", 0.0)


if __name__ == "__main__":
    main()
