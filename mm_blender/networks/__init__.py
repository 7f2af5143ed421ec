# SPDX-License-Identifier: GPL-3.0-or-later
"""Running trained networks in NumPy, and their file."""
