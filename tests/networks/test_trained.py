# SPDX-License-Identifier: GPL-3.0-or-later
"""The networks that ship are those of the demo character, and their card tells the truth about them."""

from pathlib import Path

import pytest

from mm_blender.matching import schema
from mm_blender.motion import demo
from mm_blender.networks import file, origin

SHIPPED = Path(__file__).resolve().parents[2] / "trained" / "demo.mmnet"


@pytest.fixture(scope="module")
def networks():
    return file.load(SHIPPED)


def test_they_are_of_the_demo_character():
    assert origin.fit(SHIPPED, demo.skeleton(), schema.load("locomotion"))


def test_they_are_small():
    assert SHIPPED.stat().st_size < 6e6


def test_the_card_says_what_was_measured(networks):
    card, figures = SHIPPED.with_suffix(".md").read_text(encoding="utf-8"), networks.figures
    assert f"**{figures['verdict']}**. {figures['reason']}" in card
    assert f"{figures['joint_error_cm']:.2f} cm, {figures['joint_error_p95_cm']:.2f} cm" in card
    assert f"{figures['drift_1s_cm']:.2f} cm" in card and f"{figures['projector_ratio']:.3f}" in card
