# SPDX-License-Identifier: GPL-3.0-or-later
"""How many experts a database needs."""

import math

# Frames for each expert of the decoder, and the least and the most of them: the others have half as many, and two are
# asked at a time; more than these would be larger than the networks of the first model.
FRAMES, LEAST, MOST = 1000, 4, 64


def experts_for(frames):
    """Experts of Decompressor, Stepper and Projector: the power of two that is nearest to one for so many frames, and
    half of it for the others, as in appendix E."""
    count = 2 ** round(math.log2(min(max(frames / FRAMES, LEAST), MOST)))
    return count, count // 2, count // 2
