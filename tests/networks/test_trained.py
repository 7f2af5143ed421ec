# SPDX-License-Identifier: GPL-3.0-or-later
"""The networks that ship are those of the demo character, and their card tells the truth about them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.matching import schema
from mm_blender.motion import demo
from mm_blender.networks import file, provenance
from mm_blender.networks.library import library_for
from mm_blender.playback.library import BakedLibrary

SHIPPED = Path(__file__).resolve().parents[2] / "trained" / "demo.mmnet"


@pytest.fixture(scope="module")
def networks():
    return file.load(SHIPPED)


def test_they_are_of_the_demo_character():
    assert provenance.fit(SHIPPED, demo.skeleton(), schema.load("locomotion"))


def test_they_are_small():
    assert SHIPPED.stat().st_size < 6e6


def test_the_card_says_what_was_measured(networks):
    card, figures = SHIPPED.with_suffix(".md").read_text(encoding="utf-8"), networks.figures
    assert f"**{figures['verdict']}**. {figures['reason']}" in card
    assert f"{figures['joint_error_cm']:.2f} cm, {figures['joint_error_p95_cm']:.2f} cm" in card
    assert f"{figures['drift_1s_cm']:.2f} cm" in card and f"{figures['projector_ratio']:.3f}" in card


def test_poses_are_decompressed_for_the_demo_motion_as_any_blender_bakes_it(demo_database, tmp_path):
    elsewhere = replace(demo_database, key="rounded in another way")
    elsewhere.save(tmp_path / "demo.mmdb")
    assert provenance.know(SHIPPED, tmp_path / "demo.mmdb")
    frames = np.linspace(0, len(elsewhere) - 1, 50).astype(int)
    matcher = library_for("dmm", SHIPPED, BakedLibrary(elsewhere)).motion.matcher(None, len(frames), frames)
    turned = 2 * np.arccos(np.abs((matcher.pose().rotations * elsewhere.rotations[frames]).sum(-1))[:, 1:].clip(max=1))
    assert np.degrees(turned).mean() < 0.5


def test_latents_are_not_taken_for_those_of_other_frames(demo_database):
    turned_round = {name: np.roll(getattr(demo_database, name), 3000, axis=0) for name in ("features", "rotations")}
    with pytest.raises(MotionError, match="trained on another database"):
        file.load_latents(SHIPPED, replace(demo_database, key="another", **turned_round))
