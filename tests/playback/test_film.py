# SPDX-License-Identifier: GPL-3.0-or-later
"""What is filmed."""

import gc

from mm_blender.control.stick import Stick
from mm_blender.playback.cast import Cast
from mm_blender.playback.library import BakedLibrary


def test_a_long_film_leaves_the_garbage_collector_nothing_to_look_through(demo_database, search):
    cast = Cast(BakedLibrary(demo_database, search.allowing(search._allowed)), 2)
    cast.player.ground = lambda points: 0 * points[..., 2] + 0.1  # heights are filmed frame by frame, too
    for frame in range(30):
        cast.want(0, Stick(move_y=1.0), heading=0.01 * frame)
        cast.step()
    for _ in range(3):  # what tuples hold is settled before they are
        gc.collect()
    assert len(cast.film) == 30 and not any(map(gc.is_tracked, cast.film._rows))
