# SPDX-License-Identifier: GPL-3.0-or-later
"""When each of many characters searches: again after a while, in turns, so that no frame has to bear all searches
(section 3.5.3 of Motion Matching in Unity VR)."""

import math

# So many searches at once cost hardly more than half as many: no frame has a smaller share of them.
GROUP = 12


class Beats:
    """Gives each of K characters its turn. One alone has them all."""

    def __init__(self, count):
        self._count, self._waits = count, [0.0] * count

    def due(self, urgent, every, dt):
        """Who searches in this frame, as indices in order: those who cannot wait, and of those who have waited for so
        many seconds `every` as many as there is room for, those first who have waited longest.
        In the beginning that goes by index: the first ones search in this frame, the next ones in the one after it."""
        frames = max(1, math.ceil(every / dt - 1e-6))
        share = max(math.ceil(self._count / frames), min(GROUP, self._count))
        self._waits = [min(wait, every) - dt for wait in self._waits]
        waited = sorted((wait, index) for index, wait in enumerate(self._waits) if wait < 1e-6)
        rest = [index for _, index in waited if index not in urgent]
        return sorted([*urgent, *rest[:max(0, share - len(urgent))]])

    def searched(self, who, every):
        """They have just searched."""
        for index in who:
            self._waits[index] = every
