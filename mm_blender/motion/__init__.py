# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion is: rotations, springs, skeleton, clip, and where motions come from."""
