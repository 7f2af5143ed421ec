# SPDX-License-Identifier: GPL-3.0-or-later
"""Each network learns, has the paper's losses, and runs in NumPy as it does in torch."""

import numpy as np
import pytest

from mm_blender.networks.network import Network


@pytest.fixture(scope="module")
def decompressor(examples):
    from mm_blender.training.decompressor import DecompressorStage

    return DecompressorStage(examples, seed=0)


@pytest.fixture(scope="module")
def latents(decompressor):
    return decompressor.all_latents()


@pytest.fixture(scope="module")
def stepper(examples, latents):
    from mm_blender.training.stepper import StepperStage

    return StepperStage(examples, latents, seed=0)


@pytest.fixture(scope="module")
def projector(examples, latents, database):
    from mm_blender.training.projector import ProjectorStage

    queries = database.features[10:500:7] + 0.5
    return ProjectorStage(examples, latents, (queries, ["crouch"] * 35 + [""] * 35, np.arange(10, 500, 7)),
                          seed=0)


def learns(stage, count, share=0.1):
    """The sum of the losses of some first and some last iterations."""
    sums = [sum(float(loss) for loss in stage.step(share).values()) for _ in range(count)]
    return np.mean(sums[:5]), np.mean(sums[-5:])


def test_the_decompressor_has_all_losses_of_the_paper(decompressor):
    assert {*decompressor.losses(0.5, decompressor.rngs[0])} >= {
        "local rotations", "local positions", "local travel", "local rotations speed", "local positions speed",
        "character places", "character axes", "character places speed", "character axes speed", "contacts",
        "latent size", "latent sparsity", "latent speed"}


def test_no_loss_of_the_decompressor_drowns_the_others(examples):
    from mm_blender.training.decompressor import WEIGHTS, DecompressorStage

    stage = DecompressorStage(examples, seed=1)
    losses = {name: float(loss.detach()) / WEIGHTS.get(name, 1.0)
              for name, loss in stage.losses(0.0, stage.rngs[0]).items()}
    poses = [loss for name, loss in losses.items() if name.startswith(("local", "character")) and "speed" not in name]
    assert max(poses) < 5 * min(poses)


def test_the_decompressor_learns(decompressor):
    from mm_blender.training import figures

    before = figures.of_decompressor(decompressor.examples, decompressor.kinematics, decompressor.weights(),
                                     decompressor.all_latents().numpy())
    first, last = learns(decompressor, 60)
    after = figures.of_decompressor(decompressor.examples, decompressor.kinematics, decompressor.weights(),
                                    decompressor.all_latents().numpy())
    assert last < 0.6 * first and after["joint_error_cm"] < 0.5 * before["joint_error_cm"]


def test_latents_are_bettered_where_poses_are_far_off_and_do_not_tremble(examples, decompressor):
    from mm_blender.training import figures
    from mm_blender.training.refine import refined

    plain = decompressor.all_latents()
    before, after = (figures.of_decompressor(examples, decompressor.kinematics, decompressor.weights(), found.numpy())
                     for found in (plain, refined(decompressor, plain)))
    assert after["joint_error_p95_cm"] < 0.8 * before["joint_error_p95_cm"]
    assert after["joint_error_cm"] < 0.9 * before["joint_error_cm"]
    assert after["acceleration_ratio"] < 1.1 * before["acceleration_ratio"]


def test_whoever_watches_can_stop_the_bettering_of_latents(decompressor):
    from mm_blender.errors import Cancelled
    from mm_blender.training.refine import refined

    def cancel():
        raise Cancelled

    with pytest.raises(Cancelled):
        refined(decompressor, decompressor.all_latents(), cancel)


def test_latents_are_as_they_were_where_no_time_is_left_to_better_them(decompressor):
    from mm_blender.training.refine import refined

    plain = decompressor.all_latents()
    assert refined(decompressor, plain, lambda: False).equal(plain)


def test_the_decompressor_is_the_same_in_numpy(examples, decompressor, latents):
    torch_rows = decompressor.decompress(examples.features[:50], latents[:50]).detach().numpy()
    states = np.concatenate([examples.features[:50], latents[:50]], axis=1)
    assert np.abs(Network(decompressor.weights())(states) - torch_rows).max() < 1e-4


def test_the_stepper_learns(stepper):
    first, last = learns(stepper, 25)
    assert last < 0.8 * first


@pytest.mark.parametrize("stride", [1.0, 2.5])
def test_the_stepper_is_the_same_in_numpy(stepper, stride):
    states = stepper.states[100:120]
    after = stepper.run(states, 1, stride)[1].detach().numpy()
    rows = np.concatenate([states.numpy(), np.full((20, 1), stride)], axis=1).astype(np.float32)
    assert np.abs(states.numpy() + stride * Network(stepper.weights())(rows) - after).max() < 1e-4


def test_steps_of_another_length_lie_between_the_frames(stepper, examples):
    start = examples.starts(20)[:3]
    window = stepper.window(start, 4, 1.5)
    frames = examples.window(start, 6)
    assert np.array_equal(window[2], stepper.states[frames[3]])
    between = (stepper.states[frames[1]] + stepper.states[frames[2]]) / 2
    assert window[1].numpy() == pytest.approx(between.numpy(), abs=1e-5)


def test_the_projector_learns(projector):
    first, last = learns(projector, 40)
    assert last < 0.8 * first


def test_the_projector_is_the_same_in_numpy(projector):
    import torch

    queries, limits = projector.queries(30, projector.rngs[0])
    allowed = projector.limits.allowed[limits].astype(np.float32)
    answers = projector.project(torch.as_tensor(queries), torch.as_tensor(allowed)).detach().numpy()
    assert np.abs(Network(projector.weights())(np.concatenate([queries, allowed], axis=1)) - answers).max() < 1e-4


def test_the_projector_is_taught_only_frames_that_tags_allow_and_that_may_be_entered(projector, examples):
    queries, limits = projector.queries(200, projector.rngs[0])
    frames = projector.nearest(queries, limits)
    assert len(np.unique(limits)) > 5 and examples.free[frames].all()
    assert projector.limits.allowed[limits, examples.combinations[1][frames]].all()


def test_those_frames_are_the_nearest(projector, examples, database):
    queries, limits = projector.queries(20, projector.rngs[0])
    frames = projector.nearest(queries, limits)
    costs = (((queries[:, None] - database.features) * projector.search.weights) ** 2).sum(axis=2)
    costs[~np.stack([projector.limits.frames(limit) for limit in limits])] = np.inf
    assert costs[np.arange(20), frames] == pytest.approx(costs.min(axis=1), rel=1e-4)


def test_poses_that_are_far_off_are_learned_from_more_often(examples, monkeypatch):
    from mm_blender.training.decompressor import LOOK, DecompressorStage

    stage = DecompressorStage(examples, seed=0)
    bad = slice(100, 150)
    monkeypatch.setattr(stage, "_off_by",
                        lambda frames: np.where((frames >= bad.start) & (frames < bad.stop), 3.0, 1.0))

    def share():
        drawn = np.concatenate([stage.drawn(stage.rngs[0]).numpy().reshape(2, -1)[0] for _ in range(200)])
        assert len(np.unique(drawn)) > 0.9 * len(examples.starts(1))  # nothing is forgotten
        return np.mean((drawn >= bad.start) & (drawn < bad.stop))

    before = share()
    stage.iterations = LOOK
    stage.step(0.5)
    assert share() > 1.8 * before
