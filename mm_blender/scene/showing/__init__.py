# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn: over the viewport, on the ground, and as pictures in panels."""
