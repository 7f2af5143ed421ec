# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception that carries a sentence for the person in front of the screen."""


class MotionError(Exception):
    """Something in the input is wrong. The message names it (Action, bone, file) and says what to do."""


class Cancelled(Exception):
    """The person asked to stop."""


class MotionWarning(UserWarning):
    """Something in the input is odd, and it was used all the same. The message says what was done."""
