# SPDX-License-Identifier: GPL-3.0-or-later
"""How many experts a database needs."""

import math

# Frames for each expert, and the least and the most experts: two are asked at a time, and more than these no longer fit
# into a processor's cache.
FRAMES, LEAST, MOST = 1400, 4, 64


def experts_for(frames):
    """The power of two that is nearest to one expert for so many frames."""
    return 2 ** round(math.log2(min(max(frames / FRAMES, LEAST), MOST)))
