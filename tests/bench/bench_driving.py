# SPDX-License-Identifier: GPL-3.0-or-later
"""How well does a character follow, do its feet stand, does anything pop? All courses, two minutes each, on the demo
motion, on LAFAN1 with its mirror image, and on CMU's subjects 16 and 69 with the body of the demo. Feet are measured
over the ground, whatever flags say of them, beside the same of the frames that were played."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mm_blender.evaluate import courses, driving
from mm_blender.playback.drive import drive, drive_all
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.player import Drive
from mm_blender.playback.root import Sync
from tests.databases import cmu_on_demo, demo_motion, lafan1_mirrored

SLIDE, SKATE, LOOSE, SUNK = 0.5, 0.01, 0.03, 5.0
APART, ALONE, TURN_BACK, USUAL_POP, POP, STUCK = 0.12, 0.5, 0.6, 1.2, 1.6, 1.5


def main():
    measure("demo motion", demo_motion())
    if (database := lafan1_mirrored()) is not None:
        measure("LAFAN1 mirrored", database)
    if (database := cmu_on_demo(("16", "69"))) is not None:
        measure("CMU 16 and 69", database)


def measure(label, database):
    """Print all figures of a database; what → (figure, at most)."""
    library, own, made = BakedLibrary(database), driving.own_acceleration(database), courses.all_courses()
    takes = drive_all(library, list(made.values()))
    reports = {name: driving.report(database, *take, own) for name, take in zip(made, takes)}
    print(f"  {label}: {library.speeds}")
    for name, report in reports.items():
        print(f"    {name}: {line(report)}")
    free = Drive(sync=Sync(position="none", facing="none"))
    alone = driving.report(database, *drive(library, made["slalom"], free), own)
    print(f"    slalom without sync: {line(alone)}")
    rows = figures(reports, alone)
    for what, (figure, most) in rows.items():
        print(f"  {label}, {what}: {figure:.3g}  (target at most {most:g})  {'ok' if figure <= most else 'short'}",
              flush=True)
    return rows


def figures(reports, alone):
    """Of feet the mean of all courses, of the rest the worst; alone: the slalom without sync."""
    def worst(name, part=None):
        return max((report[name] if part is None else report[name].get(part, 0)) for report in reports.values())

    def mean(name):
        return sum(report[name] for report in reports.values()) / len(reports)

    pop = "acceleration at transitions to the source's 99.9th percentile, of"
    return {
        "slide of low feet to the source's": (mean("slide_low") / mean("slide_low_source"), SLIDE),
        "low feet that skate, more than the source's": (mean("skating") - mean("skating_source"), SKATE),
        "contact of the source in which a foot is not held": (mean("contact_not_held"), LOOSE),
        "toes under the ground, mm": (worst("toe_penetration_mm"), SUNK),
        "distance to the simulated root, m": (worst("root_distance", "mean"), APART),
        "the same on the slalom without sync, m": (alone["root_distance"]["mean"], ALONE),
        "seconds to the new velocity of a reversal": (reports["reversals"]["seconds_to_new_velocity"]["mean"],
                                                      TURN_BACK),
        f"{pop} 95 %": (worst("transition_acceleration_ratio", "p95"), USUAL_POP),
        f"{pop} all": (worst("transition_acceleration_ratio", "max"), POP),
        "longest time against the stick, s": (worst("longest_against_the_stick"), STUCK),
    }


def line(report):
    """A course in one line."""
    peaks, source, turns = (report[name] for name in (
        "transition_acceleration_ratio", "transition_acceleration_ratio_of_the_source", "seconds_to_new_velocity"))
    return (f"root {report['root_distance']['mean']:.3f} m, facing {report['facing_error_degrees']['mean']:.0f}°, "
            f"{report['transitions_per_second']:.1f} transitions a second, slide {report['slide_low']:.2f} cm/s "
            f"(source {report['slide_low_source']:.2f}), skating {report['skating']:.1%} "
            f"(source {report['skating_source']:.1%}), not held {_because(report)}, "
            f"acceleration {report['acceleration_ratio']:.2f}, at transitions {peaks['mean']:.2f} mean "
            f"{peaks['p95']:.2f} p95 {peaks['max']:.2f} max, in the same frames of the source {source['mean']:.2f} "
            f"{source['p95']:.2f} {source['max']:.2f}, {report['pops']} of {peaks['count']} pop, "
            f"against the stick {report['longest_against_the_stick']:.2f} s"
            + (f", turned round in {turns['mean']:.2f} s" if turns["count"] else ""))


def _because(report):
    reasons = ", ".join(f"{why} {share:.1%}" for why, share in report["contact_not_held_because"].items())
    return f"{report['contact_not_held']:.1%} of their contact" + (f" ({reasons})" if reasons else "")


if __name__ == "__main__":
    main()
