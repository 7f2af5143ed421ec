# SPDX-License-Identifier: GPL-3.0-or-later
"""Clearance: toe and heel do not go through the ground, nor meet it faster than they can brake; a foot that would drag
is lifted."""

import math

from ..motion import spring

# Half-life in seconds of the lift of a foot that would drag, and how high (m) such a foot, or one that steps, is at
# least.
LIFT_HALFLIFE, STEP_HEIGHT = 0.035, 0.05
# How hard (m/s²) toe and heel of a foot that comes down can brake before they meet the ground. So near to it (m) they
# brake the softer the straighter the leg is, down to a share: pushed back by a little, a straight leg throws its knee.
BRAKE = 40.0
NEAR, SOFTEST = 0.1, 1 / 6
# A foot that points down, so that this cosine is not reached, turns less than its heel asks for: on its tip it would
# have to turn a lot to raise the ankle a little.
LEVEL = 1 / 1.2
# A lift that is so small (m) is none.
FLAT = 1e-6


class Clearance:
    """How high one foot is lifted, and its heel.

    lift, rising  by how much it is lifted, and how fast that changes
    heel          how high the ankle was shown, None before the first frame
    """

    def __init__(self):
        self.lift, self.rising, self.heel = 0.0, 0.0, None

    def forget_lift(self):
        """The limb goes on from how it was shown, the lift included."""
        self.lift, self.rising = 0.0, 0.0

    def raise_dragging(self, height, pace, steps, lock, dt):
        """Lift a free foot that is at a height over where it stands: one that steps, and one that is too low for how
        fast it goes over the ground. Lower any other."""
        goal = 0.0
        if lock.on:
            goal = max(min(pace * lock.lift, STEP_HEIGHT) - max(height, 0.0), STEP_HEIGHT * steps, 0.0)
        if goal or self.lift:
            self.lift, self.rising = spring.towards_number(self.lift, self.rising, goal, LIFT_HALFLIFE, dt)
            if self.lift < FLAT and goal == 0:
                self.lift, self.rising = 0.0, 0.0

    def keep_toe_above(self, height, rise, before, ground, heel_ground, soft, dt):
        """The toe's height, raised so that it is neither under the ground nor so fast towards it that it cannot brake;
        and the least height of the heel, for the same reasons.

        height, before       of the toe, as it would be and as it was shown
        rise                 from the ankle up to the toe
        ground, heel_ground  how high toe and ankle are that stand here
        soft                 with which share of BRAKE the foot brakes when it is NEAR
        """
        heel = height - rise if self.heel is None else self.heel
        # A toe that is up comes down as the foot turns; what the leg has to do is the heel's to say.
        up = min(max((before - ground - heel + heel_ground) / NEAR, 0.0), 1.0)
        lowest = braked(ground, before, soft + (1 - soft) * up, dt)
        return max(height, lowest), braked(heel_ground, heel, soft, dt)

    def lift_to(self, height, lowest, dt):
        """A free foot is raised to a height, and by what it is raised that goes back as a lift does."""
        if height >= lowest:
            return height
        self.lift += lowest - height
        self.rising = min(self.rising + (lowest - height) / dt, 0.0)
        return lowest


def braked(low, before, soft, dt):
    """How low a point may be at least that was so high a step before, if it can brake before the ground: at a distance
    s it may be as fast as √(2 a s). NEAR the ground it brakes with the share `soft` of BRAKE alone."""
    room = before - low
    if room <= 0:
        return low
    fastest = math.sqrt(2 * BRAKE * (room - (1 - soft) * min(room, NEAR)))
    return max(before - fastest * dt, low)


def softness(far, longest):
    """How softly a foot has to come down so far from the hip: the share that its way is of the knee's, if both bones
    of the leg are alike."""
    share = 4 * (longest * longest / (far * far + 1e-12) - 1)
    return math.sqrt(min(max(share, SOFTEST * SOFTEST), 1.0))


def pitch(foot, most, slope):
    """The angle by which a foot, from ankle to toe, is turned to lie on a slope, or more: until the toe is at most so
    much above the ankle."""
    x, y, rise = foot
    if not slope and rise <= most:
        return 0.0
    level = math.hypot(x, y)
    size = math.hypot(level, rise)
    if size < 1e-6:
        return 0.0
    # Not where it points down: a foot on its tip lies on nothing.
    turn = math.atan2(rise, level) - math.asin(min(max(most / size, -1.0), 1.0))
    return max(math.atan(slope) * level / size, turn if turn < 0 else turn * min(level / size / LEVEL, 1.0))
