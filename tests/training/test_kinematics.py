# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward kinematics in torch is that of the engine, and errors find their way back through it."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def kinematics(examples, database):
    from mm_blender.training.kinematics import Kinematics

    return Kinematics(database.skeleton, examples.layout, examples.moving, database.fixed)


def test_it_agrees_with_the_engine(examples, kinematics):
    places, axes = kinematics(examples.rows[::29])
    assert places.permute(2, 0, 1).numpy() == pytest.approx(examples.places[::29].numpy(), abs=5e-5)
    assert axes.permute(3, 0, 1, 2).numpy() == pytest.approx(examples.axes[::29].numpy(), abs=5e-5)


def test_axes_need_not_be_perpendicular_or_of_unit_length(examples, kinematics):
    rows = examples.rows[::29].clone()
    turns = rows[:, examples.layout.parts["rotations"]].reshape(len(rows), -1, 3, 2)
    turns[..., 1] = 3 * turns[..., 1] + 0.5 * turns[..., 0]
    turns[..., 0] *= 2
    rows[:, examples.layout.parts["rotations"]] = turns.reshape(len(rows), -1)
    assert kinematics(rows)[0].numpy() == pytest.approx(kinematics(examples.rows[::29])[0].numpy(), abs=5e-5)


def test_a_hand_that_is_off_moves_the_shoulder(examples, kinematics, database):
    rows = examples.rows[:5].clone().requires_grad_()
    skeleton = database.skeleton
    hand, shoulder = skeleton.index("hand.L"), skeleton.index("shoulder.L") - 1
    kinematics(rows)[0][:, np.concatenate(skeleton.levels).tolist().index(hand)].sum().backward()
    moved = rows.grad[:, examples.layout.parts["rotations"]].reshape(5, -1, 6).abs().sum((0, 2))
    assert moved[shoulder] > 0 and moved[skeleton.index("thigh.L") - 1] == 0
