# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be known of Actions and rigs, each thing found out once: a panel that draws many clips cannot wait."""

import math
import time

from ...matching.bake import same_skeleton
from .. import actions
from ..rig import armatures
from . import fingerprints, sampling


class NotNow(Exception):
    """Enough was found out for one go."""


class Facts:
    """Answers about Actions on armatures, remembered. Whoever keeps one for long tells it what was edited.

    until: when to stop finding things out (time.perf_counter()), with NotNow; at least one thing is found each time.
    """

    def __init__(self):
        self._of_actions, self._of_rigs = {}, {}
        self.until, self._progress = math.inf, False

    def frame_range(self, armature, action, slot=None):
        return self._about(actions.frame_range, action, armature, slot)

    def fraction(self, armature, action, slot=None):
        """How much of what the Action animates the armature has."""
        return self._about(_fraction, action, armature, slot, self._bones(armature))

    def fingerprint(self, armature, action, slot=None):
        return self._about(_fingerprint, action, armature, slot)

    def way(self, armature, action, slot, fingerprint):
        """How the Action is read (sampling.how_to_read) while the armature has this fingerprint."""
        return self._about(_way, action, armature, slot, fingerprint)

    def paths(self, armature, action, slot=None):
        """The data paths that the Action keys."""
        return self._about(_paths, action, armature, slot)

    def key_step(self, armature, action, slot=None):
        """How many frames lie between the Action's keys, as sampling.py has it."""
        return self._about(_key_step, action, armature, slot)

    def rig(self, ob, armature, evaluated, animated):
        """The fingerprint of an armature that a character is read from; animated() gives the paths that clips key."""
        key = (ob.session_uid, armature.session_uid, evaluated)
        if key not in self._of_rigs:
            self._of_rigs[key] = fingerprints.rig_fingerprint(armature, animated(), evaluated)
        return self._of_rigs[key]

    def alike(self, ob, armature):
        """Whether two armatures have the same skeleton, as far as a bake tells."""
        key = ("alike", ob.session_uid, armature.session_uid)
        if key not in self._of_rigs:
            self._of_rigs[key] = same_skeleton(armatures.skeleton_of(ob), armatures.skeleton_of(armature))
        return self._of_rigs[key]

    @property
    def any(self):
        return bool(self._of_actions or self._of_rigs)

    def learn(self, other, action):
        """Take over what another one has found out about an Action just now."""
        self._of_actions.update({key: fact for key, fact in other._of_actions.items() if key[1] == action.session_uid})

    def forget_action(self, action):
        """The Action was edited."""
        for key in [key for key in self._of_actions if key[1] == action.session_uid]:
            del self._of_actions[key]

    def forget_rigs(self):
        """An armature, or something that it hangs from, was edited."""
        self._of_rigs.clear()

    def forget(self):
        self._of_actions.clear()
        self._of_rigs.clear()

    def begin(self, seconds):
        """Find things out for so long, then raise NotNow."""
        self.until, self._progress = time.perf_counter() + seconds, False

    def end(self):
        self.until = math.inf

    def _bones(self, armature):
        if armature.session_uid not in self._of_rigs:
            self._of_rigs[armature.session_uid] = hash(tuple(armature.data.bones.keys()))
        return self._of_rigs[armature.session_uid]

    def _about(self, find, action, armature, slot, state=None):
        """An answer that holds while the state (of the rig) is the same."""
        key = (find, action.session_uid, armature.session_uid, slot.identifier if slot is not None else "")
        if key not in self._of_actions or self._of_actions[key][0] != state:
            if self._progress and time.perf_counter() > self.until:
                raise NotNow
            self._of_actions[key] = state, find(action, armature, slot)
            self._progress = True
        return self._of_actions[key][1]


known = Facts()  # what panels show; freshness.py keeps it true


def _fraction(action, armature, slot):
    return sampling.fit(armature, action, slot)[0]


def _fingerprint(action, armature, slot):
    return sampling.fingerprint(armature, action, slot)


def _way(action, armature, slot):
    return sampling.how_to_read(armature, action, slot)


def _paths(action, armature, slot):
    return frozenset(curve.data_path for curve in actions.fcurves(action, armature, slot))


def _key_step(action, armature, slot):
    return sampling.key_step(armature, action, slot)
