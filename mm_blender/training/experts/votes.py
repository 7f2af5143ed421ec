# SPDX-License-Identifier: GPL-3.0-or-later
"""How much each joint counts, from the skeleton alone (section 5.3)."""

import numpy as np


def votes(parents):
    """(J,) how many joints hang from each one, itself among them: every joint votes for all that carry it."""
    found = np.ones(len(parents))
    for joint in range(len(parents) - 1, 0, -1):  # parents come first
        found[parents[joint]] += found[joint]
    return found


def joint_weights(parents):
    """(J - 1,) for what joints below the root do by themselves, and for where they are in the character's space: the
    first are the larger the more hangs from a joint, the second the less. The mean of each is 1."""
    own = votes(parents)[1:]
    seen = own.max() + 1 - own
    return own / own.mean(), seen / seen.mean()
