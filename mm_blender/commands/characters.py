# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose motion it is: the character of some clips, that which they are put onto, and the way from one to the other."""

import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..errors import MotionError, MotionWarning
from ..matching import database
from ..motion import bvh
from ..motion.character import ROLES
from ..motion.correspond import NEEDED
from ..motion.roles import find_character, walks_on_four
from ..motion.stance import find_stance
from ..playback.retarget import character_of
from ..prepare.onto import Onto, target_of
from ..prepare.recipe import Recipe
from ..prepare.root import find_forward
from .clips import SAMPLES, contents_of, some_readable, spread


def character_in(clips, assignments):
    """The character of some clips: its bones as in the first one, four-legged if most of them show it so."""
    clip = clips[0]
    character = find_character(clip.skeleton)
    roles = dict(character.roles)
    for text in assignments:
        role, given, bone = text.partition("=")
        if not given:
            raise MotionError(f'"--role {text}" should read --role ROLE=BONE, such as --role hips=Pelvis.')
        if role not in ROLES:
            raise MotionError(f'There is no role "{role}". Roles: {", ".join(ROLES)}.')
        if bone not in clip.skeleton.names:
            raise MotionError(f'The skeleton of "{clip.name}" has no bone "{bone}". '
                              f'Bones: {", ".join(clip.skeleton.names)}.')
        roles[role] = bone
    character = replace(character, roles=roles)
    alike = [one for one in clips if one.skeleton.same_joints(clip.skeleton)]
    on_four = [walks_on_four(character, one.globals()[0]) for one in alike]
    character = replace(character, four_legged=sum(on_four) > len(alike) / 2)
    if character.has("root") and not character.forward:
        character = replace(character, forward=find_forward(clip, character))
    return character


def target_in(path):
    """The character in a file, with a root, and how it stands."""
    if Path(path).suffix.lower() == ".mmdb":
        motion = database.load(path)
        character = with_roles(character_of(motion), path)
        return character, find_stance(character, motion.clips())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionWarning)
        clip = bvh.read(path)
    clip = clip.scaled(bvh.guess_units(clip))
    return target_of(with_roles(character_in([clip], []), path), [clip], Recipe(rate=clip.rate))


def with_roles(character, path):
    """The character of a file; fails if it lacks what retargeting needs."""
    if missing := _missing(character):
        raise MotionError(f'The character of "{path}" has no bones for these roles, and retargeting needs them: '
                          f"{missing}. Bake it with --role ROLE=BONE, and give that database instead.")
    return character


def ways_onto(files, roles, recipe, units, target, hands=0.0):
    """For each character in the files an Onto and its files: [(Onto, paths)]."""
    groups = {}
    for path in files:
        groups.setdefault(contents_of(path).partition(b"MOTION")[0], []).append(path)
    ways = []
    for paths in groups.values():
        try:
            character = character_in([some_readable(paths, 1)[0].scaled(units)], roles)
            if missing := _missing(character):
                raise MotionError(f"It has no bones for these roles: {missing}. Give them with --role ROLE=BONE.")
        except MotionError as error:
            ways.append((_NoWay(error), paths))
        else:
            ways.append((Onto(character, target, recipe, partial(_samples, paths, units), hands), paths))
    return ways


class _NoWay:
    """In an Onto's place where there is none: each clip hears why."""

    def __init__(self, trouble):
        self._trouble = trouble

    def clean(self, raw, *_):
        raise MotionError(f'Clip "{raw.name}" cannot be retargeted. {self._trouble}')

    before = clean


def _missing(character):
    """The roles that retargeting needs and a character does not have, as text."""
    return ", ".join(role for role in NEEDED if not character.has(role))


def _samples(paths, units):
    return [clip.scaled(units) for clip in some_readable(spread(paths), SAMPLES)]
