# SPDX-License-Identifier: GPL-3.0-or-later
"""The artist's armature: its skeleton, which bone plays which role, its controls, its Target, how it was before."""
