# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work in steps: generators that yield how far they are and return what they made."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far the work has come: a share of the whole, and what is being done."""

    share: float
    text: str


def run(steps, on_step=lambda step: None):
    """Run a generator to its end in one go; returns what it returns."""
    kept = _Kept(steps)
    for step in kept:
        on_step(step)
    return kept.result


def mapped(steps, change):
    """The same steps, each changed on its way to whoever waits; returns what they return."""
    kept = _Kept(steps)
    for step in kept:
        yield change(step)
    return kept.result


class _Kept:
    """Iterates over a generator and keeps what it returns."""

    def __init__(self, steps):
        self._steps, self.result = steps, None

    def __iter__(self):
        self.result = yield from self._steps
