# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine of Motion Matching: NumPy arrays in, NumPy arrays out."""
