# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine of Motion Matching: NumPy arrays in, NumPy arrays out."""

__version__ = "0.1.0"  # as in pyproject.toml and blender_manifest.toml
