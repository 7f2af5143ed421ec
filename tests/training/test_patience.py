# SPDX-License-Identifier: GPL-3.0-or-later
"""A network that no longer improves on what was held back stops, and gives its time to the next."""

import pytest

SHARES = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]


@pytest.fixture
def patience():
    from mm_blender.training.stage import Patience

    return Patience()


@pytest.mark.parametrize("errors, over", [
    ([4.0, 2.0, 1.5, 1.2, 1.0, 0.9], False),  # falls
    ([4.0, 2.0, 1.0, 1.0, 1.0, 1.0], True),  # stays
    ([4.0, 1.0, 1.1, 1.2, 1.3, 1.4], True),  # rises: it learns by heart
    ([4.0, 2.0, 1.0, 1.1, 1.1, 0.9], False),  # goes on after a while
])
def test_it_ends_when_nothing_was_gained_for_a_quarter_of_the_time(patience, errors, over):
    for share, error in zip(SHARES, errors):
        patience.add(share, error)
    assert patience.over == over


def test_nothing_ends_while_the_learning_rate_is_high(patience):
    for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        patience.add(share, 1.0)
        assert not patience.over


def test_a_checkpoint_remembers_it(patience):
    from mm_blender.training.stage import Patience

    for share in SHARES:
        patience.add(share, 1.0)
    other = Patience()
    other.restore(patience.state())
    assert patience.over and other.over


@pytest.fixture
def trained(database, tmp_path, monkeypatch):
    """The iterations of each network, where what is measured of one is given, and nothing is of the others."""
    from mm_blender.training import figures, queries, train

    monkeypatch.setattr(queries, "HANDS", 2)
    monkeypatch.setattr(queries, "SECONDS", 2.0)
    monkeypatch.setattr(train, "FIGURES", 0.0)
    monkeypatch.setattr(train, "POLL", 0.01)
    for of in ("of_new_motion", "of_stored", "worst_stored"):
        monkeypatch.setattr(figures, of, lambda *_: {})
    monkeypatch.setattr(figures, "of_projector", lambda *_: {})
    monkeypatch.setattr(figures.GoingOn, "drift", lambda _: {})
    monkeypatch.setattr(figures, "verdict", lambda _: ("good", ""))
    database.save(tmp_path / "some.mmdb")

    def run(of, figures_of, iterations=40):
        monkeypatch.setattr(figures, of, figures_of)
        budget = train.Budget(iterations=iterations)
        return train.train(tmp_path / "some.mmdb", tmp_path / "some.mmnet", budget, device="cpu")["iterations"]

    return run


def test_a_decompressor_that_no_longer_improves_gives_its_time_to_the_others(trained):
    assert trained("of_new_motion", lambda *_: {"new_motion_cm": 1.0})["decompressor"] < 39


def test_a_projector_goes_on_while_its_answers_come_nearer_to_the_data(trained):
    stray = iter(0.9 ** number for number in range(10000))
    iterations = trained("of_projector", lambda *_: {"projector_ratio": 0.98, "projector_stray": next(stray)})
    assert iterations["projector"] == 40
    iterations = trained("of_projector", lambda *_: {"projector_ratio": next(stray), "projector_stray": 0.5})
    assert iterations["projector"] < 39
