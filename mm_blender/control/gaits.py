# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways of going: walk, run and crouch, which buttons of their own ask for, and what else the tags of a motion name."""

from dataclasses import dataclass

USUAL = ("walk", "run", "crouch")
# Tags that say of themselves how somebody goes. Any other tag does so if its name begins with the prefix: gait.zombie.
KNOWN = ("canter", "crawl", "creep", "gallop", "hobble", "hop", "jog", "limp", "march", "prowl", "sneak", "sprint",
         "stroll", "strut", "tiptoe", "trot")
PREFIX = "gait."
MOST, LONGEST = 20, 63  # gaits beside the usual ones, and letters of their tags: tag queries speak of all of them


@dataclass(frozen=True)
class Gait:
    """One way of going.

    name    as the person reads it and a STICK.csv names it
    tag     of the frames that show it; empty where there are none
    ways    metres per second at full stick: forward, sideways and backward
    apart   whether it plays only frames with its tag, which no other gait plays. What is only faster is not apart: the
            speed that is wanted finds it, and leads there from any other gait
    stands  whether one also stands in this gait; who does not walks while the stick rests
    """

    name: str
    tag: str
    ways: tuple
    apart: bool = False
    stands: bool = True


def gait_named(tag):
    """The name of the gait that a tag stands for beside the usual ones; empty if it stands for none."""
    name = tag.removeprefix(PREFIX).strip().casefold()
    says_so = tag.startswith(PREFIX) or name in KNOWN
    return name if says_so and name not in USUAL and can_be_asked_for(tag) else ""


def can_be_asked_for(tag):
    """Whether a tag query can speak of a tag, and has room for it."""
    return '"' not in tag and len(tag) <= LONGEST


def tags_of_gaits(tags):
    """{name of a gait: its tag} of the tags that stand for one beside the usual ones, in the order of their names: the
    first ones, if there are more than anybody has keys for."""
    found = {name: tag for tag in sorted(tags, reverse=True) if (name := gait_named(tag))}
    return dict(sorted(found.items())[:MOST])
