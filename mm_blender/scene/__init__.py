# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender ↔ engine: settings, reading Actions and rigs, writing keys, drawing."""
