# SPDX-License-Identifier: GPL-3.0-or-later
"""Directing a character: along a curve or from place to place, straight to keyframes."""
