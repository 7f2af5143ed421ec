# SPDX-License-Identifier: GPL-3.0-or-later
"""A character whose motion is tagged `sneak` and `sprint` does so by key, by pad and from a recording."""

import bpy
import numpy as np
import pytest

from mm_blender.control.device import Device
from mm_blender.control.stick import Recording, Stick, load
from mm_blender.errors import MotionError
from mm_blender.playback.library import BakedLibrary
from mm_blender.scene import driving
from mm_blender.scene.driving import own_speeds


@pytest.fixture
def character(source, many_gaits):
    """The demo character with the motion of one who sneaks and sprints."""
    many_gaits.save(source.mm.bake.path)
    return source


@pytest.fixture(scope="module")
def speeds(many_gaits):
    return BakedLibrary(many_gaits).speeds


def go(session, seconds):
    """Drive for so long; how fast it went in the last second (m/s)."""
    one, places = session.driven, []
    for _ in range(round(seconds * 60)):
        session.tick(bpy.context, 1 / 60)
        places.append(one.player.roots[one.index][0])
    return abs(places[-1] - places[-60])


class Pad(Device):
    """Its stick is pushed forward; its button is pressed between two polls."""

    name, in_use, button = "Pad", True, frozenset()

    def poll(self, heading=0.0, facing=0.0, seconds=0.0, strafe=False):
        self.pressed, self.button = self.button, frozenset()
        return Stick(move_y=1.0)


@pytest.mark.parametrize(("presses", "gait"), [
    ((), "walk"), (("gait_4",), "sneak"), (("gait_5",), "sprint"), (("next_gait",) * 2, "sneak"),
    (("next_gait",) * 4, "walk"), (("gait_5", "gait_1"), "walk"), (("gait_5", "gait_9"), "sprint"),
    (("gait_3",), "walk")])
def test_keys_choose_the_gait_and_its_speed(character, speeds, presses, gait):
    session = driving.start(bpy.context, [character])
    for control in presses:
        session.press(control)
    session.keyboard.press("W", "forward")
    assert go(session, 4) == pytest.approx(speeds.gait(gait).ways[0], rel=0.12)
    assert session.status.gait == gait and session.status.gaits == ("walk", "run", "sneak", "sprint")


def test_the_button_of_a_pad_goes_from_gait_to_gait(character, speeds):
    session, pad = driving.start(bpy.context, [character]), Pad()
    session.devices.append(pad)
    for gait in ("run", "sneak", "sprint", "walk"):
        pad.button = {"next_gait"}
        assert go(session, 3) == pytest.approx(speeds.gait(gait).ways[0], rel=0.12), gait
        assert session.status.gait == gait


def test_a_key_that_is_held_counts_more_than_the_gait_that_was_chosen(character):
    session = driving.start(bpy.context, [character])
    session.press("gait_4")
    session.keyboard.press("W", "forward")
    session.keyboard.press("LEFT_SHIFT", "run")
    go(session, 1)
    assert session.status.gait == "run"
    session.keyboard.release("LEFT_SHIFT")
    go(session, 1)
    assert session.status.gait == "sneak"


def test_what_was_chosen_is_in_the_saved_input_and_steers_again(character, speeds, tmp_path):
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 1)
    session.press("gait_5")
    go(session, 3)
    session.cancel(bpy.context)
    bpy.ops.mm.drive_save_input(filepath=str(tmp_path / "stick.csv"))
    recording = load(tmp_path / "stick.csv")
    assert recording.at(0.5).gait == "" and recording.at(3).gait == "sprint"
    session = driving.start(bpy.context, [character], recording)
    assert go(session, 3.8) == pytest.approx(speeds.gait("sprint").ways[0], rel=0.12)
    session.cancel(bpy.context)
    bpy.ops.mm.drive_recording(filepath=str(tmp_path / "stick.csv"))
    assert character.animation_data.action.name.startswith("stick")


def test_a_recording_of_a_gait_that_the_motion_lacks_does_not_start(character):
    with pytest.raises(MotionError, match=r'names the gait "limp".*: it has walk, run, crouch, sneak, sprint'):
        driving.start(bpy.context, [character], Recording.of([0, 1], [Stick(), Stick(gait="limp")]))
    assert driving.current() is None and not character.mm.drive.driving


def test_own_speeds_begin_with_the_measured_ones_and_act(character, speeds):
    bpy.ops.mm.drive_measured_speeds()
    settings = character.mm.drive
    assert settings.own_speeds and list(settings.gaits.keys()) == ["sneak", "sprint"]
    own = own_speeds.speeds_of(character)
    for gait in speeds.gaits:
        np.testing.assert_allclose(own.gait(gait.name).ways, gait.ways, atol=1e-6)
    settings.gaits["sneak"].speeds = (0.5, 0.4, 0.4)
    session = driving.start(bpy.context, [character])
    session.press("gait_4")
    session.keyboard.press("W", "forward")
    go(session, 1)
    assert abs(session.driven.guide.intent.velocity) == pytest.approx(0.5)


def test_speeds_that_were_set_before_there_were_other_gaits_still_count(character):
    settings = character.mm.drive
    settings.own_speeds, settings.walk = True, (0.9, 0.5, 0.5)
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 1)
    assert abs(session.driven.guide.intent.velocity) == pytest.approx(0.9)
    session.press("gait_4")
    go(session, 1)
    assert session.status.gait == "sneak", "which is as fast as measured"
