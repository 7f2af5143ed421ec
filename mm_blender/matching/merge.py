# SPDX-License-Identifier: GPL-3.0-or-later
"""Merging: databases of one character become one, without their clips being read again."""

import hashlib
from dataclasses import asdict, replace

from ..errors import MotionError
from ..limits import check_all
from ..steps import run
from .bake import SAME_LENGTH, on_skeleton, same_skeleton
from .parts import part_of, taken_over, together


def merge(databases, names):
    """The clips of all databases as one Database, which is nobody's; features are normalised anew, over all of them.

    names: what to call each database where something is to be said of it, or two clips have the same name.
    The character, the features' weights and the settings are those of the first one.
    """
    first = databases[0]
    for database, name in zip(databases[1:], names[1:]):
        _check_alike(first, database, f'"{names[0]}" and "{name}" cannot be merged')
    check_all(sum(map(len, databases)), len(first.skeleton))
    parts, twice, known = [], [], set()
    sources = [{part.source for part in database.ranges} for database in databases]
    for number, (database, name) in enumerate(zip(databases, names)):
        others = set().union(*(sources[:number] + sources[number + 1:]))
        here = {part.key for part in database.ranges}
        for index, part in enumerate(database.ranges):
            if part.key in known:
                twice.append(f'Clip "{part.source}" is in several of the databases: it was taken once.')
                continue
            taken = _taken(database, index, first)
            called = f"{part.source} ({name})" if part.source in others else part.source
            parts.append(replace(taken, range=replace(taken.range, source=called)))
        known |= here
    key = hashlib.sha256("".join(database.key for database in databases).encode()).hexdigest()
    merged = run(together(parts, first.character, first.schema, first.recipe, key))
    merged.notes.update(left_out=list(dict.fromkeys(twice)), reused=0)
    return merged


def _taken(database, index, first):
    """A clip as a part of what is merged, on the skeleton of the first database."""
    if database.skeleton.same_joints(first.skeleton) and (database.fixed == first.fixed).all():
        return replace(taken_over(database, index, first.character, first.schema), cells=None)
    clip = on_skeleton(database.clip(index), first.skeleton, first.character.size * SAME_LENGTH)
    return part_of(clip, first.character, first.schema, database.ranges[index])


def _check_alike(one, other, sentence):
    """Fails with what differs between two databases."""
    if not same_skeleton(one.skeleton, other.skeleton):
        raise MotionError(f"{sentence}: {_apart(one.skeleton, other.skeleton)}.")
    roles = [role for role in {**one.character.roles, **other.character.roles}
             if one.character.roles.get(role) != other.character.roles.get(role)]
    if roles:
        bones = [database.character.roles.get(roles[0], "no bone") for database in (one, other)]
        raise MotionError(f'{sentence}: the role {roles[0]} is "{bones[0]}" in one and "{bones[1]}" in the other. '
                          "Bake them with the same roles.")
    if not one.schema.same_features(other.schema):
        raise MotionError(f"{sentence}: their features are others ({_features(one)}; {_features(other)}). Bake them "
                          "with the same features.")
    for name, value in asdict(one.recipe).items():
        if value != getattr(other.recipe, name):
            raise MotionError(f'{sentence}: their setting "{name}" is {value} in one and {getattr(other.recipe, name)} '
                              "in the other. Bake them with the same settings.")


def _apart(one, other):
    if odd := sorted(set(one.names) ^ set(other.names)):
        return f'only one of them has the bone "{odd[0]}"'
    return "they have the same bones in other lengths, or parented in another way"


def _features(database):
    channels = ", ".join(f"{channel.label} at {'/'.join(f'{time:g}' for time in channel.times)} s"
                         for channel in database.schema.channels)
    return f'"{database.schema.name}": {channels}'
