# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a character plays what it plays: what its last jump cost, feature by feature, beside what going on would have."""

from dataclasses import dataclass

import numpy as np

# Seconds to look back for the last jump.
BACK = 5.0


@dataclass(frozen=True)
class Why:
    """One decision of a search.

    ago      seconds since then
    jumped   whether it jumped; otherwise nothing was better than to go on
    frame    of the database that was chosen, and `instead` the one that would have come
    cost     of each of the two, (2,)
    shares   [(feature, what it adds to the cost of what was chosen, and of going on)], by how much they differ
    """

    ago: float
    jumped: bool
    frame: int
    instead: int
    cost: tuple
    shares: tuple


def why(record, library, search, index=0):
    """The Why of the last jump of a character, or of its last search where it has not jumped for a while; None where
    nothing was searched.

    record, library  what it has done (a FrameRecord) and what it plays from
    search           the Search of its database
    """
    if library.baked is None:
        return None
    last = None
    for back, jumped, query in record.searches(index, round(BACK * library.database.rate)):
        last = last or (back, jumped, query)
        if jumped:
            return _decision(record, library, search, index, back, jumped, query)
    return last and _decision(record, library, search, index, *last)


def _decision(record, library, search, index, back, jumped, query):
    """The Why of a search, as FrameRecord.searches() has it; None where networks played."""
    row, before = record.row(-back, index), record.row(-back - 1, index)
    if min(row["chosen"], before["chosen"]) < 0:
        return None
    database = library.baked.database
    instead = int(library.baked.motion.following[before["chosen"]])
    schema = database.schema
    chosen, stayed = (search.shares(query, frame, schema.slices) for frame in (row["chosen"], instead))
    order = np.argsort(-np.abs(stayed - chosen))
    shares = tuple((schema.channels[at].label, float(chosen[at]), float(stayed[at])) for at in order.tolist())
    return Why((back - 1) / database.rate, jumped, int(row["chosen"]), instead,
               (float(chosen.sum()), float(stayed.sum())), shares)
