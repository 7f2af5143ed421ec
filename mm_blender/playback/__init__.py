# SPDX-License-Identifier: GPL-3.0-or-later
"""One character's frame: which pose to play, how to get there smoothly, where the root goes, where the feet stand."""
