# SPDX-License-Identifier: GPL-3.0-or-later
"""The gaits of a motion come from its tags: which ones there are, how fast each one is, and how a recording asks."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.control import speeds
from mm_blender.control.gaits import Gait, tags_of_gaits
from mm_blender.control.intent import tag_query
from mm_blender.control.speeds import Speeds
from mm_blender.control.stick import Recording, Stick
from mm_blender.errors import MotionError
from mm_blender.limits import QUERY
from mm_blender.playback.drive import drive_all
from mm_blender.playback.library import BakedLibrary


@pytest.fixture(scope="module")
def library(many_gaits):
    return BakedLibrary(many_gaits)


def test_tags_that_name_a_way_of_going_are_gaits_and_no_others():
    tags = ("walk", "run", "crouch", "Sneak", "gait.zombie", "injured", "idle", "gait.walk", "gait.", 'gait."')
    tags += (f"gait.{'long' * 20}",)
    assert tags_of_gaits(tags) == {"sneak": "Sneak", "zombie": "gait.zombie"}


def test_of_very_many_gaits_the_first_twenty_count():
    found = tags_of_gaits([f"gait.{number:03d}" for number in range(300)])
    assert list(found) == [f"{number:03d}" for number in range(20)]
    speeds = Speeds(further=tuple(Gait(name, tag, (1, 1, 1), apart=True) for name, tag in found.items()))
    assert len(tag_query("walk", speeds)) < QUERY / 2


def test_the_demo_has_the_usual_three_and_nothing_else(demo_database):
    assert speeds.measure(demo_database).further == ()
    assert speeds.measure(demo_database).offered == ("walk", "run", "crouch")


def test_each_gait_has_the_speed_of_the_frames_with_its_tag(many_gaits, demo_database):
    measured, usual = speeds.measure(many_gaits), speeds.measure(demo_database)
    assert measured.offered == ("walk", "run", "sneak", "sprint")
    sneak, sprint = measured.further
    assert sneak.ways[0] == usual.crouch[0] and max(sneak.ways) == sneak.ways[0]
    assert sprint.ways[0] > measured.run[0] + 0.3 and min(sprint.ways) > 0
    assert measured.walk == usual.walk


def test_who_goes_slowly_is_apart_and_who_goes_fast_is_not(many_gaits):
    sneak, sprint = speeds.measure(many_gaits).further
    assert (sneak.apart, sneak.stands) == (True, True)
    assert (sprint.apart, sprint.stands) == (False, False)


def test_a_tag_whose_frames_do_not_travel_is_no_gait(demo_database):
    tags = demo_database.tags
    still = tags["idle"] & ~np.logical_or.reduce([mask for name, mask in tags.items() if name != "idle"])
    still &= np.hypot(*speeds.root_velocities(demo_database)[:, :2].T) < 0.02
    assert speeds.measure(replace(demo_database, tags={**tags, "sneak": still})).further == ()


def test_who_only_limps_walks_so(demo_database):
    everything = np.ones(len(demo_database), dtype=bool)
    measured = speeds.measure(replace(demo_database, tags={"limp": everything}))
    assert measured.walk[0] > 0.8 and not measured.gait("limp").apart


def test_a_larger_character_is_as_much_faster(many_gaits):
    measured = speeds.measure(many_gaits)
    twice = measured.scaled(2.0)
    assert [gait.ways for gait in twice.gaits] == [tuple(2 * speed for speed in gait.ways) for gait in measured.gaits]


@pytest.mark.parametrize("gait", ["sneak", "sprint", "run"])
def test_a_recording_that_names_a_gait_goes_as_fast_as_it(library, gait):
    end = 6.0
    rows = [Stick(move_y=1, gait=gait, run=1, crouch=1)] * 2
    (clip, trace), = drive_all(library, [Recording.of([0, end], rows)])
    late = clip.positions[round(3 * clip.rate):, 0, 1]
    expected = library.speeds.gait(gait).ways[0]
    assert (late[-1] - late[0]) / (end - 3) == pytest.approx(expected, rel=0.08)
    played = np.array([library.database.tags[gait][frame] for frame in trace.frames[-120:]]).mean()
    assert played > 0.9


def test_who_walks_never_sneaks(library):
    rows = [Stick(move_y=0.6), Stick(move_y=0.6)]
    (_, trace), = drive_all(library, [Recording.of([0, 6], rows)])
    assert not library.database.tags["sneak"][trace.frames].any()


def test_who_stops_after_a_sprint_stands(library):
    rows = [Stick(move_y=1, gait="sprint"), Stick(gait="sprint"), Stick(gait="sprint")]
    (clip, _), = drive_all(library, [Recording.of([0, 3, 6], rows)])
    assert np.abs(np.diff(clip.positions[-40:, 0], axis=0)).max() * clip.rate < 0.3


def test_a_recording_of_a_gait_that_the_motion_does_not_have_says_which_it_has():
    recording = Recording.of([0, 1], [Stick(), Stick(gait="snek")])
    recording.path = "a.csv"
    with pytest.raises(MotionError, match=r'"a\.csv" names the gait "snek".* it has walk, run, crouch'):
        recording.guide(60, Speeds())
