# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet are measured over the ground, and those of a retargeted clip by what the source does."""

import numpy as np
import pytest

from mm_blender.evaluate import retargeting
from mm_blender.evaluate.feet import over_the_ground
from mm_blender.motion.retarget import Retarget
from tests.rigs import with_lengths

RATE, STANDING = 60.0, np.array([0.03, 0.03])


def going(speed, height=0.03, frames=60):
    """A toe that goes straight at so many m/s, beside one that is up in the air: (F, 2, 3)."""
    toes = np.zeros((frames, 2, 3))
    toes[:, 0, 0], toes[:, 0, 2], toes[:, 1, 2] = speed * np.arange(frames) / RATE, height, 0.3
    return toes


def test_a_toe_that_creeps_over_the_ground_slides():
    assert over_the_ground(going(0.1), STANDING, RATE) == {"slide": pytest.approx(10), "skating": 0.0}


def test_a_toe_that_is_low_and_goes_skates():
    after = going(1.0)
    after[:, 0, 0] += going(0.0)[-1, 0, 0]
    found = over_the_ground(np.concatenate([going(0.0, frames=61), after[1:]]), STANDING, RATE)
    assert found["skating"] == pytest.approx(59 / 119, abs=1e-3) and found["slide"] == 0.0
    assert over_the_ground(going(3.0), STANDING, RATE)["skating"] == 0.0, "it is on its way"


def test_what_is_in_the_air_is_not_measured():
    assert over_the_ground(going(0.5, height=0.06), STANDING, RATE) == {"slide": 0.0, "skating": 0.0}


@pytest.fixture
def retargeted(demo_database):
    """A Retarget, a clip of its source, and what it made of that."""
    names = [part.name for part in demo_database.ranges]
    character, before = demo_database.character, demo_database.clip(names.index("walk"))
    retarget = Retarget(character, with_lengths(character, 1.25, shin=1.1))
    return retarget, before, retarget.clip(before)


def test_contacts_are_the_sources_whatever_is_said_of_the_target(retargeted):
    retarget, before, after = retargeted
    assert retargeting.report(retarget, before, after)["foot_slide"] < 0.5
    drift = np.arange(len(after))[:, None] / after.rate * [0.1 * retarget.scale, 0, 0]
    adrift = after.with_changes(positions=np.concatenate([(after.positions[:, :1] + drift[:, None]).astype(np.float32),
                                                          after.positions[:, 1:]], axis=1))
    for contacts in (after.contacts, np.zeros_like(after.contacts)):
        report = retargeting.report(retarget, before, adrift.with_changes(contacts=contacts))
        assert report["foot_slide"] == pytest.approx(10, abs=0.5) and report["foot_slide_source"] < 0.2


def test_the_source_stands_beside_each_figure_of_feet(retargeted):
    report = retargeting.report(*retargeted)
    together = retargeting.together([report, report])
    for name in ("foot_slide", "slide_low", "skating"):
        assert together[name] == report[name] and together[f"{name}_source"] == report[f"{name}_source"]
