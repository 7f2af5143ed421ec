# SPDX-License-Identifier: GPL-3.0-or-later
"""A recording as a device: it does what the hand did, and keeps the take at its end."""

from mm_blender.control.replay import Replay
from mm_blender.control.stick import Recording, Stick


def test_it_does_what_the_hand_did_and_keeps_the_take_at_its_end():
    device = Replay(Recording.of([0.0, 0.5, 1.0], [Stick(move_y=1.0), Stick(move_x=1.0), Stick(move_x=1.0)]))
    sticks, pressed = zip(*((device.poll(seconds=0.25), set(device.pressed)) for _ in range(6)))
    assert [stick.move_y for stick in sticks] == [1, 1, 0, 0, 0, 0]
    assert pressed == (set(), set(), set(), set(), {"keep"}, set()), "once: whoever cannot keep it is not asked again"
    assert device.in_world and device.name == "Recording"
