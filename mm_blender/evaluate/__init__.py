# SPDX-License-Identifier: GPL-3.0-or-later
"""How good is it: courses to drive, and what to measure about the motion that comes out."""
