# SPDX-License-Identifier: GPL-3.0-or-later
"""How many experts a database needs."""

import math

# Frames for each expert, and the least and the most of them. On LAFAN1 (87,715 frames), after 90 seconds of work, the
# decoder had 0.28, 0.30 and 0.33 cm with 16, 32 and 64 experts: more of them learn more slowly, and pay in long
# trainings alone; and each that is asked costs a crowd a call.
FRAMES, LEAST, MOST = 4000, 4, 16


def experts_for(frames):
    """Experts of each network: the power of two that is nearest to one for so many frames."""
    return 2 ** round(math.log2(min(max(frames / FRAMES, LEAST), MOST)))
