# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the sole of a foot without toes is."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.motion import demo, quat
from mm_blender.motion.roles import find_character
from mm_blender.motion.sole import sole_of
from tests.rigs import without


@pytest.fixture(scope="module")
def bare():
    """The demo character without toes: it faces -Y, as Blender's do."""
    return without(find_character(demo.skeleton()), "left_toe", "right_toe")


def ending(character, way):
    """The same with a left foot whose bone ends there, seen from the ankle at rest, in shares of the ankle's height."""
    foot = character.joint("left_foot")
    way = np.array(way) * character.skeleton.rest[0][foot, 2]
    end = quat.inv_rotate(character.skeleton.rest[1][foot].astype(float), way)
    return replace(character, skeleton=replace(character.skeleton, ends={
        character.roles["left_foot"]: tuple(end.tolist())}))


def found(character):
    """That of the left foot in the same measure: how far to the side, ahead and up from the ankle."""
    foot = character.joint("left_foot")
    way = quat.rotate(character.skeleton.rest[1][foot].astype(float), np.array(sole_of(character, "left")))
    return way / character.skeleton.rest[0][foot, 2]


def test_it_is_where_the_bone_ends_if_that_is_about_on_the_ground(bare, subtests):
    for way in ((0, -1.5, -0.8), (0.3, -1.2, -1), (0, -2.5, -0.95), (0, 0, -1)):
        with subtests.test(way):
            assert found(ending(bare, way)) == pytest.approx(way, abs=1e-5)


def test_it_is_below_an_end_that_is_as_high_as_the_ankle(bare):
    assert found(ending(bare, (0, -2, 0.05))) == pytest.approx((0, -2, -1), abs=1e-5)


def test_an_end_that_cannot_be_meant_is_about_at_the_ball_of_the_toes(bare, subtests):
    for name, way in (("up", (0, 0, 2)), ("backwards", (0, 1, 0)), ("to the side", (1, 0, 0)), ("tiny", (0, 0.01, 0)),
                      ("metres away", (0, -200, 0))):
        with subtests.test(name):
            side, ahead, up = found(ending(bare, way))
            assert abs(side) < 0.2 and 0.8 < -ahead < 2.5 and up == pytest.approx(-1)


def test_an_ankle_of_which_no_end_is_known_stands_itself(bare):
    assert sole_of(bare, "left") == (0, 0, 0)
    assert not any(any(limb.end) for limb in bare.limbs)


def test_without_a_ground_in_the_rest_pose_an_end_has_to_lead_ahead_and_down(bare, subtests):
    skeleton = bare.skeleton
    lifted = replace(skeleton, positions=skeleton.positions - np.eye(len(skeleton))[:, :1] * [0, 0, 1.0])
    for way, sole in (((0, -1.5, -1), (0, -1.5, -1)), ((0, 1, 0), (0, 0, 0)), ((0, 0, 1), (0, 0, 0))):
        with subtests.test(way):
            low = ending(bare, way)
            low = replace(low, skeleton=replace(lifted, ends=low.skeleton.ends))
            foot = low.joint("left_foot")
            way = quat.rotate(low.skeleton.rest[1][foot].astype(float), np.array(sole_of(low, "left")))
            assert way / bare.skeleton.rest[0][foot, 2] == pytest.approx(sole, abs=1e-5)


def test_feet_stand_with_it_and_toes_stay_joints(bare):
    left, right = ending(bare, (0, -1.5, -0.8)).limbs
    assert left.contact == "left_foot" and any(left.end) and not any(right.end)
    whole = find_character(demo.skeleton())
    toed = replace(whole, skeleton=replace(whole.skeleton, ends={whole.roles["left_toe"]: (0, 0.1, 0)}))
    assert [limb.contact for limb in toed.limbs] == ["left_toe", "right_toe"]
    assert not any(any(limb.end) for limb in toed.limbs)
