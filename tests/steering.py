# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that a test steers: with sticks, or with the very velocity and yaw that they should have."""

from mm_blender.control.intent import Intent
from mm_blender.control.stick_guide import StickGuide
from mm_blender.playback.group import Group
from mm_blender.playback.player import Player


def group_of(library, count=1, settings=None):
    return Group(library, [StickGuide(library.database.rate, library.speeds) for _ in range(count)], settings)


def player_of(motion, search, count=1, settings=None, begin=None):
    guides = [StickGuide(motion.database.rate) for _ in range(count)]
    return Player(motion, search, guides, settings, begin)


def want(player, wishes):
    """What each one wants from now on: [(velocity x + yi, yaw)]."""
    for guide, (velocity, yaw) in zip(player.guides, wishes):
        guide.want(Intent(velocity, yaw))


def step_on(player, wishes):
    want(player, wishes)
    player.step()
