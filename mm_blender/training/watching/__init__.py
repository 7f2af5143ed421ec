# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings as Blender sees them: which Python can train, its process, what it says. Nothing here needs torch."""
