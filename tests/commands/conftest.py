# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of commands have in common with those of the whole command line."""

from tests.test_command_line import ask, fails, out, walk

__all__ = ["ask", "fails", "out", "walk"]
