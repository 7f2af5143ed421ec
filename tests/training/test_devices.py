# SPDX-License-Identifier: GPL-3.0-or-later
"""All that is trained lies on the device that was chosen."""

import numpy as np
import pytest

from mm_blender.errors import MotionError


@pytest.fixture
def elsewhere(database):
    """A device on which numbers have shapes but no values: whatever is not there refuses to be mixed with it."""
    from mm_blender.training.examples import Examples

    return Examples(database, "meta")


def test_a_device_that_is_not_there_is_told_in_one_sentence():
    from mm_blender.training import device

    assert device.choose("cpu").type == "cpu" and device.choose("auto").type in device.NAMES
    with pytest.raises(MotionError, match=r'cannot train on "abacus": use .*cpu'):
        device.choose("abacus")


def test_the_decompressor_is_all_in_one_place(elsewhere):
    from mm_blender.training.decompressor import DecompressorStage

    assert_all_there(DecompressorStage(elsewhere, seed=0))


def test_the_stepper_is_all_in_one_place(elsewhere):
    from mm_blender.training.stepper import StepperStage

    assert_all_there(StepperStage(elsewhere, latents(elsewhere), seed=0))


def test_the_projector_is_all_in_one_place(elsewhere, database):
    from mm_blender.training.projector import ProjectorStage

    driven = database.features[:70] + 0.5, [""] * 70, np.arange(70)
    assert_all_there(ProjectorStage(elsewhere, latents(elsewhere), driven, seed=0))


def latents(examples):
    import torch

    return torch.zeros((len(examples), 32), device=examples.device)


def assert_all_there(stage):
    losses = stage.losses(0.5, stage.rngs[0])
    assert {loss.device.type for loss in losses.values()} == {"meta"}
    sum(losses.values()).backward()
    assert {one.grad.device.type for one in stage.networks.parameters()} == {"meta"}
