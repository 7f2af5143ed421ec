# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo character in Blender."""
