# SPDX-License-Identifier: GPL-3.0-or-later
"""What scripts/demo.py leaves behind: a driven take that Space plays, and its figures in words."""

import importlib.util
from pathlib import Path

import bpy
import pytest

pytestmark = pytest.mark.once

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "demo.py"


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("demo_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def character(small_demo):
    bpy.ops.mm.bake()
    return small_demo


def test_the_drive_is_what_space_plays(script, character):
    figures = script.keep_drive(character)
    action, scene = character.animation_data.action, bpy.context.scene
    assert action.name == "Demo drive" and (scene.frame_start, scene.frame_end) == tuple(action.frame_range)
    assert scene.frame_current == scene.frame_start == 1
    assert character.pose.bones["root"].y_axis.y < -0.99, "it begins as the demo's clips do"
    assert (scene.frame_end - 1) / 60 == pytest.approx(figures["seconds"], abs=0.1)
    start = character.pose.bones["hips"].head.copy()
    scene.frame_set(scene.frame_end // 4)
    assert (character.pose.bones["hips"].head - start).length > 1
    assert scene.frame_end > 60 * max(first + span for _, _, first, span, _ in script.DRIVEN)


def test_the_report_has_the_figures_of_the_drive(script, character):
    report, figures = script.report_of_bake(character, 1.0, 1.0), script.keep_drive(character)
    words = script.in_words(report | {"seconds_to_drive": 1.5, "drive": figures})
    assert "drove it for 23.5 s, which took 1.5 s" in words
    assert "| slide of low feet | " in words and " cm/s; in the clips " in words
    assert "![The drive](drive.png)" in words
