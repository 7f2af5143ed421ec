# SPDX-License-Identifier: GPL-3.0-or-later
"""Driving a character live: from the artist's settings and hands to its armature, and to takes.

Scripts ask this package for what is driven: `current()`, `start()`, `stop()`.
"""

from .session import Session, Status, current, finish, last_input, start, stop

__all__ = ["Session", "Status", "current", "finish", "last_input", "start", "stop"]
