# SPDX-License-Identifier: GPL-3.0-or-later
"""Which share of roles is right: of skeletons with the names of many makers, and of a thousand that Hypothesis draws,
with names and without; and whether any bone has two roles."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hypothesis import HealthCheck, Phase, given, settings

from mm_blender.motion.roles import find_roles
from tests.motion.makers import RIGS
from tests.motion.random_rigs import rigs
from tests.motion.test_roles import expected_of, skeleton_of

COUNT, GOAL = 1000, 0.95


class Score:
    """Of skeletons and of their roles how many there were, and how many were right; and bones with two roles."""

    def __init__(self):
        self.rigs = self.whole = self.roles = self.right = self.twice = 0

    def add(self, skeleton, expected):
        found = find_roles(skeleton).character.roles
        self.rigs += 1
        self.whole += found == expected
        self.roles += len(expected | found)
        self.right += sum(found.get(role) == name for role, name in expected.items())
        self.twice += len(found) - len(set(found.values()))

    def say(self, what):
        share = self.right / self.roles
        good = share >= GOAL and not self.twice
        print(f"  {what}: {share:.1%} of {self.roles:,} roles right, all of them in {self.whole} of {self.rigs} "
              f"skeletons; {self.twice} bones with two roles  (at least {GOAL:.0%}, 0)  {'ok' if good else 'short'}")
        return good


def main():
    makers, drawn = Score(), {True: Score(), False: Score()}
    for rig in RIGS.values():
        makers.add(skeleton_of(*rig[:2]), expected_of(rig[0], *rig[2:]))

    @settings(max_examples=COUNT, derandomize=True, deadline=None, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(rigs())
    def draw(rig):
        drawn[rig.told].add(rig.skeleton, rig.roles)

    draw()
    good = [makers.say("names of makers"), drawn[True].say("drawn, with names"),
            drawn[False].say("drawn, without names")]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
