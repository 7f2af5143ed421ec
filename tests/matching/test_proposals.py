# SPDX-License-Identifier: GPL-3.0-or-later
"""Tags are proposed from names and from motion; what is tagged already is left alone."""

from functools import partial

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.matching.bake import Source
from mm_blender.matching.proposals import believed, named, propose
from mm_blender.motion import demo
from mm_blender.motion.clip import Tag
from mm_blender.motion.roles import find_character
from mm_blender.prepare.recipe import Recipe
from mm_blender.steps import run
from tests.databases import demo_clips


def test_names_are_read_word_by_word(subtests):
    for name, tags in {
            "Armature|mixamo.com|Layer0": (), "Armature|Walking": ("walk",), "mixamorig:RunForward_L": ("run",),
            "idle2walk": ("idle", "walk"), "walkNturn": ("walk", "turn"), "CrouchedWalkLeft": ("crouch", "walk"),
            "HipHopDancing.001": ("dance",), "Standing_Jump_Running": ("jump", "run"), "Sandwalker runner": (),
            "side_steps": ("strafe",), "SideStepsLeft": ("strafe",), "Punch": ("fight",), "Death": ("die",),
            "walk_backwards": ("walk", "backward"), "JOGGING_03": ("jog",), "trunk": (), "Waves": ("wave",),
            "falling idle": ("fall", "idle"), "one hop": ("hop",), "sat": (), "": ()}.items():
        with subtests.test(name):
            assert named(name) == tags


def mask(*shares, frames=100):
    """True between shares of the frames."""
    made = np.zeros(frames, dtype=bool)
    for start, stop in shares:
        made[round(start * frames):round(stop * frames)] = True
    return made


def spans(tags, found, frames=100):
    return {tag: (int(on.argmax()), int(on.sum())) for tag, on in believed(tags, found, frames).items()}


def test_motion_decides_where_names_say_nothing():
    found = {"idle": mask((0, 0.3)), "walk": mask((0.3, 1))}
    assert spans((), found) == {"idle": (0, 30), "walk": (30, 70)}


def test_a_name_says_what_a_way_of_going_is_called():
    assert spans(("limp",), {"idle": mask((0, 0.3)), "walk": mask((0.3, 1))}) == {"idle": (0, 30), "limp": (30, 70)}
    both = {"walk": mask((0, 0.4)), "run": mask((0.4, 1))}
    assert spans(("jog",), both) == {"walk": (0, 40), "jog": (40, 60)}
    assert spans(("walk", "jog"), both) == {"walk": (0, 40), "jog": (40, 60)}
    assert spans(("run",), {"walk": mask((0, 1))}) == {"run": (0, 100)}  # a slow one


def test_what_motion_cannot_tell_is_believed_for_the_whole_clip():
    assert spans(("dance",), {"walk": mask((0, 0.5))}) == {"walk": (0, 50), "dance": (0, 100)}
    assert spans(("walk",), {}) == {"walk": (0, 100)}  # on the spot, without its travel
    assert spans(("run",), {"jump": mask((0, 1))}) == {"run": (0, 100)}


def test_what_motion_can_tell_is_not_believed_blindly():
    assert spans(("fall", "jump", "turn"), {"walk": mask((0, 1))}) == {"walk": (0, 100)}
    assert spans(("walk",), {"idle": mask((0, 1))}) == {"idle": (0, 100)}


@pytest.fixture
def proposed():
    def proposed_for(name, **settings):
        clip = next(clip for clip in demo_clips() if clip.name == "wander walk")
        clip = clip.with_changes(tags=settings.pop("tags", ()))
        source = Source(name, partial(ready, clip), name, **settings)
        return run(propose([source], find_character(demo.skeleton()), Recipe()))[0]
    return proposed_for


def ready(clip):
    yield 1.0
    return clip


def test_ranges_are_in_the_sources_own_seconds(proposed):
    walk = next(clip for clip in demo_clips() if clip.name == "wander walk")
    true = [tag for tag in walk.tags if tag.name == "walk"]
    found = [tag for tag in proposed("take 3") if tag.name == "walk"]
    assert abs(found[0].start - true[0].start) < 0.4 and abs(found[-1].end - true[-1].end) < 0.4
    later = [tag for tag in proposed("take 3", origin=10.0) if tag.name == "walk"]
    assert later[0].start == pytest.approx(found[0].start + 10)
    twice = [tag for tag in proposed("take 3", speed=2.0) if tag.name in ("walk", "run")]
    assert max(tag.end for tag in twice) == pytest.approx(found[-1].end, abs=0.6)


def test_tags_that_are_there_are_not_proposed_again(proposed):
    assert {tag.name for tag in proposed("take 3")} >= {"walk", "idle"}
    assert "walk" not in {tag.name for tag in proposed("take 3", tags=[Tag("walk", 0.0, 1.0)])}
    outside = proposed("take 3", tags=[Tag("exclude", 0.0, 5.0)])
    assert outside and all(tag.start > 5 for tag in outside)


def test_a_clip_that_cannot_be_read_gets_none():
    def broken():
        yield 0.0
        raise MotionError("It is damaged.")
    assert run(propose([Source("walk", broken, "x")], find_character(demo.skeleton()), Recipe())) == [[]]
