# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist should know of a character before it is baked: what will not be held or moved, and how large it is."""

from collections import Counter
from itertools import pairwise

from ...errors import MotionError
from ...motion.character import FORE_LEG, LEG
from ...motion.families import SIDES
from . import controls
from .armatures import loose_bones, skeleton_of, whole_skeleton
from .character import character_of, given_roles

TALL = 1.7  # metres that a person is tall
# Names in a sentence; of more only their number is told.
NAMED = 3

_told = {}  # an armature, its roles and how it stands → its advice


def advice(ob):
    """Sentences about a character whose roles are found, for its panel; empty where all is as usual."""
    key = (ob.name, ob.session_uid, given_roles(ob), ob.mm.legs, len(ob.data.bones),
           tuple(round(value, 6) for row in ob.matrix_world for value in row))
    if key not in _told:
        if len(_told) > 16:
            forget()
        try:
            _told[key] = tuple(_sentences(ob))
        except MotionError as error:
            _told[key] = (str(error),)
    return _told[key]


def forget():
    """Armatures were edited."""
    _told.clear()


def height(ob):
    """How tall the character of an armature is at rest, in metres."""
    places = skeleton_of(ob).rest[0]
    return float(places[:, 2].max() - places[:, 2].min())


def is_of_another_size(ob):
    """Whether a character is so small or so large that its units must be others."""
    return any("tall" in sentence for sentence in advice(ob))


def make_a_person(ob):
    """Scale an armature object, or the empties that carry it, so that its character is as tall as a person. Its bones
    and Actions stay as they are. How many times as large it is then."""
    tall = height(ob)
    if tall <= 0:
        raise MotionError(f'"{ob.name}" has no height: all its bones are in one place.')
    top = ob
    while top.parent is not None and top.parent.type == "EMPTY":
        top = top.parent
    if top.library is not None or any(top.lock_scale):
        raise MotionError(f'The scale of "{top.name}" is locked: unlock it in the Sidebar (N).')
    top.scale = [TALL / tall * value for value in top.scale]
    return TALL / tall


def _sentences(ob):
    yield from _roles_given_twice(ob)
    character = character_of(ob)
    if character.four_legged:
        yield "It walks on four legs: it plays motion of its own bones, not that of characters with two legs."
    if controls.is_control_rig(ob):  # its controls are what is moved
        return
    yield from _limbs_not_held(character)
    yield from _led_by_ik(ob)
    if loose := loose_bones(ob):
        one = "is not part of the body: it keeps its pose."
        yield f"{_named(loose)} {one if len(loose) == 1 else 'are not parts of the body: they keep their pose.'}"
    if character.size != 1:
        yield (f"It is {_length(height(ob))} tall. That works; but cameras, ground and brushes are made for people, so "
               "you may want it as tall as one.")


def _roles_given_twice(ob):
    count = Counter(bone for _, bone in given_roles(ob) if bone)
    for bone in (bone for bone, times in count.items() if times > 1):
        roles = " and ".join(role.replace("_", " ") for role, other in given_roles(ob) if other == bone)
        yield f'"{bone}" cannot be {roles} at once: choose another bone for one of them.'


def _limbs_not_held(character):
    for limb in (limb for limb in character.limbs if not limb.bends):
        lacking = [role.replace("_", " ") for role in limb.roles[:3] if not character.has(role)]
        if lacking:
            yield f"Without a bone for {' and '.join(lacking)} the {limb.name} cannot bend: its foot is not held."
        else:
            yield f"The bones of the {limb.name} are not in one line: its foot is not held."


def _led_by_ik(ob):
    """Hands and feet that hang from elsewhere than their limbs."""
    built, bones = whole_skeleton(ob), dict(given_roles(ob))
    for line, what in ((LEG, "legs"), (FORE_LEG, "arms")):
        pairs = [(bones.get(f"{side}_{upper}"), bones.get(f"{side}_{lower}"))
                 for side in SIDES for upper, lower in pairwise(line)]
        loose = [lower for upper, lower in pairs if upper in built.names and lower in built.names
                 and built.index(upper) not in built.ancestors(built.index(lower))]
        if loose:
            verb = "hangs" if len(loose) == 1 else "hang"
            yield f"{_named(loose)} {verb} outside the {what}, as for IK: while driving they go along with the {what}."


def _named(names):
    shown = [f'"{name}"' for name in names[:NAMED]]
    if len(names) > NAMED:
        return f"{', '.join(shown)} and {len(names) - NAMED} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _length(metres):
    """A length as people say it."""
    for unit, size in (("m", 1), ("cm", 0.01), ("mm", 0.001)):
        if metres >= size:
            return f"{metres / size:.3g} {unit}"
    return f"{metres * 1000:.2g} mm"
