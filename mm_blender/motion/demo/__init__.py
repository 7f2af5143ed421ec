# SPDX-License-Identifier: GPL-3.0-or-later
"""Demo motion made by rule: a biped that stands, walks, runs, turns, strafes and crouches; no motion capture needed."""

from .body import skeleton, tails
from .catalogue import clips

__all__ = ["clips", "skeleton", "tails"]
