# SPDX-License-Identifier: GPL-3.0-or-later
"""The second model: experts and Lipschitz layers do what their equations say, learn, and run in NumPy as in torch."""

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.networks.network import Network

EXPERTS = 6


@pytest.fixture(scope="module", params=["gated", "soft"])
def experts(request):
    import torch

    from mm_blender.training.experts.layers import Experts, Hidden, Soft

    torch.manual_seed(0)
    return Experts(EXPERTS, 9, Hidden(4, 3) if request.param == "gated" else Soft(7), 5)


@pytest.fixture(scope="module")
def decompressor(examples):
    from mm_blender.training.experts.decompressor import ExpertDecompressorStage

    return ExpertDecompressorStage(examples, seed=0, experts=EXPERTS)


@pytest.fixture(scope="module")
def latents(decompressor):
    return decompressor.all_latents()


@pytest.fixture(scope="module")
def stepper(examples, latents):
    from mm_blender.training.experts.stepper import ExpertStepperStage

    return ExpertStepperStage(examples, latents, seed=0, experts=EXPERTS)


@pytest.fixture(scope="module")
def projector(examples, latents, database):
    from mm_blender.training.experts.projector import ExpertProjectorStage

    queries = database.features[10:500:7] + 0.5
    return ExpertProjectorStage(examples, latents, (queries, ["crouch"] * 35 + [""] * 35, np.arange(10, 500, 7)),
                                seed=0, experts=EXPERTS)


def one_by_one(experts, row):
    """Equations 2 and 3, with all experts."""
    import torch

    (into, out), (biases, last) = experts.weights, experts.biases
    answers = []
    for index in range(experts.count):
        made = row @ into[index] + biases[index, 0]
        seen = (made * made.sigmoid() if len(made) == 7
                else torch.cat([made[:4].clamp(min=0) * made[4:8], made[8:]]))
        answers.append(seen @ out[index] + last[index, 0])
    likely = experts.gate(row).softmax(0)
    share, chosen = likely.topk(2)
    return (share[:, None] * torch.stack(answers)[chosen]).sum(0) / share.sum()


def test_each_row_is_answered_by_its_two_best_experts(experts):
    import torch

    rows = torch.randn(40, 9)
    expected = torch.stack([one_by_one(experts, row) for row in rows])
    assert torch.allclose(experts(rows), expected, atol=1e-5)


def test_even_use_costs_least(experts):
    import torch

    from mm_blender.training.experts.layers import BALANCE

    even = torch.eye(EXPERTS).repeat(5, 1) * 20
    uneven = torch.zeros(5 * EXPERTS, EXPERTS)
    uneven[:, 0] = 20
    costs = [float(experts.balance(scores, scores.argmax(1))) for scores in (even, uneven)]
    assert costs[0] == pytest.approx(BALANCE, rel=1e-3) and costs[1] == pytest.approx(EXPERTS * BALANCE, rel=1e-3)


def test_an_expert_that_gets_nothing_begins_anew_beside_a_busy_one():
    import torch

    from mm_blender.training.experts.layers import Experts

    torch.manual_seed(0)
    experts, rows = Experts(4, 5, 3), torch.randn(400, 5)
    with torch.no_grad():
        experts.gate.bias[2] = -1e3
    experts(rows)
    assert experts.used[2] == 0 and experts.revive(np.random.default_rng(0)) == 1
    experts(rows)
    assert experts.used[2] > 0 and all(torch.isfinite(part).all() for part in experts.parameters())


def test_distances_grow_no_more_than_the_bound_says():
    import torch

    from mm_blender.training.experts.layers import bound, encoder

    torch.manual_seed(0)
    network = encoder(20, 16, 16, 4)
    with torch.no_grad():
        for layer in network[::2]:
            layer.weight *= 10  # far beyond its bound
    rows = torch.randn(500, 20)
    near = rows + 0.01 * torch.randn(500, 20)
    grown = (network(near) - network(rows)).abs().amax(1) / (near - rows).abs().amax(1)
    # A GELU's own slope is at most 1.13.
    assert grown.max() <= bound(network) * 1.13 ** 2


def test_a_layer_within_its_bound_is_a_plain_one():
    import torch

    from mm_blender.training.experts.layers import Lipschitz

    layer, rows = Lipschitz(6, 3), torch.randn(10, 6)
    assert torch.allclose(layer(rows), torch.nn.functional.linear(rows, layer.weight, layer.bias), atol=1e-5)


def test_the_angle_between_rotations_is_found():
    import torch

    from mm_blender.training.experts.losses import angles_off

    def turn(angle):
        cos, sin = np.cos(angle), np.sin(angle)
        return torch.tensor([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]], dtype=torch.float32).reshape(3, 3, 1, 1)

    one = torch.ones(1, 1)
    for angle in (1e-3, 0.5, 2.0, 3.0):
        assert float(angles_off(turn(0.3), turn(0.3 + angle), one)) == pytest.approx(angle / (2 * np.pi), rel=1e-2)


def test_joints_vote_for_those_that_carry_them():
    from mm_blender.training.experts.votes import joint_weights, votes

    parents = np.array([-1, 0, 1, 2, 1])
    assert votes(parents).tolist() == [5, 4, 2, 1, 1]
    own, seen = joint_weights(parents)
    assert own.tolist() == [2, 1, 0.5, 0.5] and np.argsort(seen).tolist()[:2] == [0, 1] and seen.mean() == 1


def test_feet_that_stand_are_right_where_the_root_takes_back_what_they_move():
    import torch

    from mm_blender.training.experts.losses import standing_off

    places, stand = torch.tensor([[[0.5]], [[1.0]], [[0.0]]]), torch.ones(1, 1)
    travel = torch.tensor([[0.0], [0.6], [0.2]])  # too fast forward, and turning too much
    moved = -torch.tensor([[[-0.2]], [[0.6 + 0.1]], [[0.0]]]) / 60
    assert float(standing_off(moved, travel, places, stand, 60)) < 1e-3
    assert float(standing_off(torch.zeros(3, 1, 1), travel, places, stand, 60)) == pytest.approx(np.hypot(0.2, 0.7))


def test_the_decompressor_has_all_losses_of_the_paper(decompressor):
    assert {*decompressor.losses(0.5, decompressor.rngs[0])} >= {
        "local rotations", "local positions", "local travel", "character positions", "character rotations",
        "speeds, of positions", "speeds, of rotations", "contacts", "standing", "tags", "balance", "bound",
        "latent size", "latent square", "latent speed"}


def learns(stage, count, share=0.1):
    sums = [sum(float(loss) for loss in stage.step(share).values()) for _ in range(count)]
    return np.mean(sums[-5:]) / np.mean(sums[:5])


def test_all_learn(decompressor, stepper, projector):
    assert learns(decompressor, 40) < 0.7 and learns(stepper, 40) < 0.95 and learns(projector, 30) < 0.8


def test_the_decompressor_is_the_same_in_numpy(examples, decompressor):
    latents = decompressor.all_latents()
    torch_rows = decompressor.decompress(examples.features[:50], latents[:50]).detach().numpy()
    states = np.concatenate([examples.features[:50], latents[:50]], axis=1)
    assert np.abs(Network(decompressor.weights())(states) - torch_rows).max() < 1e-4


def test_the_stepper_is_the_same_in_numpy(stepper):
    states = stepper.states[100:120]
    after = stepper.run(states, 1)[1].detach().numpy()
    rows = np.concatenate([states.numpy(), np.ones((20, 1))], axis=1).astype(np.float32)
    assert np.abs(states.numpy() + Network(stepper.weights())(rows) - after).max() < 1e-4


def test_the_stepper_learns_to_go_on_by_two_frames(stepper, monkeypatch):
    taken, run = [], stepper.run
    monkeypatch.setattr(stepper, "run", lambda state, length, stride: (taken.append((length, stride)),
                                                                       run(state, length, stride))[1])
    for seed in range(20):
        stepper.losses(0.5, np.random.default_rng(seed))
    usual = [length for length, stride in taken if stride == 2]
    assert 10 < len(usual) < 20 and set(usual) == {30}
    frames = stepper.examples.window(stepper.examples.starts(8)[:5], 8)
    assert np.array_equal(stepper.window(frames[0], 4, 2), stepper.states[frames[::2]])


def test_the_projector_is_the_same_in_numpy(projector):
    import torch

    queries, limits = projector.queries(30, projector.rngs[0])
    allowed = projector.limits.allowed[limits].astype(np.float32)
    answers = projector.project(torch.as_tensor(queries), torch.as_tensor(allowed)).detach().numpy()
    assert np.abs(Network(projector.weights())(np.concatenate([queries, allowed], axis=1)) - answers).max() < 1e-4


def test_the_stepper_begins_with_noise_and_is_compared_with_what_is_true(stepper):
    from mm_blender.training.experts.stepper import NOISE

    state = stepper.states[:2000]
    off = (stepper.begin(state, np.random.default_rng(0)) - state) / stepper._scale
    sizes = off.std(1)
    assert 0.8 * NOISE < float(sizes.max()) < 1.4 * NOISE and float(sizes.min()) < 0.1 * NOISE


def test_a_gradient_that_is_no_number_is_not_followed(examples, latents):
    import torch

    from mm_blender.training.experts.stepper import ExpertStepperStage

    stage = ExpertStepperStage(examples, latents, seed=0, experts=2)
    before = [one.detach().clone() for one in stage.parameters]
    stage.losses = lambda share, rng: {"bad": sum(one.sum() for one in stage.parameters) * torch.nan}
    stage.step(0.1)
    assert all(torch.equal(one, other) for one, other in zip(before, stage.parameters))
    with pytest.raises(MotionError, match="cannot be trained"):
        for _ in range(30):
            stage.step(0.1)


def test_the_projectors_experts_have_a_layer_more(stepper, projector):
    assert [len(stage.weights().experts.layers) for stage in (stepper, projector)] == [2, 3]


@pytest.mark.parametrize("frames, count", [(3, 4), (17000, 4), (28517, 8), (87715, 16), (10 ** 7, 16)])
def test_more_frames_get_more_experts(frames, count):
    from mm_blender.training.experts.sizes import experts_for

    assert experts_for(frames) == count


def test_the_encoder_sees_how_poses_move(examples, decompressor):
    faster = examples.table[:50].clone()
    faster[:, -1] += 1  # how the last joint turns
    assert (decompressor.compress(faster) - decompressor.compress(examples.table[:50])).abs().max() > 1e-4
