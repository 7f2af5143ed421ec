# SPDX-License-Identifier: GPL-3.0-or-later
"""Clean clips on their way into a database: each as it is stored and measured, and all of them together."""

from dataclasses import dataclass, replace

import numpy as np

from ..errors import MotionError
from ..limits import TAG_NAMES
from ..motion.character import Character
from ..motion.clip import Clip, Tag
from ..prepare.clean import EXCLUDE
from .database import REASONS, Database, Range, runs
from .features import Normalisation, measure
from .jolts import steps_of
from .schema import weights_of
from .search import gather_more

# A joint that moves less than this (metres of a person) in its parent during a clip stands still, at a place rounded
# to this.
STILL = 1e-4


@dataclass(frozen=True, eq=False)
class Part:
    """A clean clip of F frames on its way into the database, with all that is stored of it, whichever clips come with
    it: joints that hardly move stand still, properties that are zero throughout are none.

    positions  (F, M, 3) of the joints in `moving`; the others stay at `fixed` (J, 3)
    tags       tag name → (F,) bool
    measured   (F, D) its features as they are
    steps, some_steps  as steps_of() has them
    cells      (F,) similar frames of the database that it is taken from; None if it is new
    """

    range: Range
    skeleton: object
    rotations: np.ndarray
    positions: np.ndarray
    moving: np.ndarray
    fixed: np.ndarray
    contacts: np.ndarray
    curves: dict
    tags: dict
    measured: np.ndarray
    steps: np.ndarray
    some_steps: np.ndarray
    cells: np.ndarray | None = None

    def __len__(self):
        return len(self.rotations)

    def places(self, moving):
        """(F, …, 3) where some joints are, among them all that move in this part."""
        if np.array_equal(moving, self.moving):
            return self.positions
        places = np.broadcast_to(self.fixed[moving], (len(self), len(moving), 3)).copy()
        places[:, np.searchsorted(moving, self.moving)] = self.positions
        return places


def part_of(clip, character, schema, about):
    """A clean clip as it is stored, and measured like that."""
    rest, least = clip.skeleton.positions, character.size * STILL
    low, high = clip.positions.min(axis=0), clip.positions.max(axis=0)
    still = (high - low).max(axis=-1) < least
    still[0] = False
    fixed = clip.positions[0].copy()
    fixed[still] = (rest + np.round(((low + high) / 2 - rest) / least) * least).astype(np.float32)[still]
    moving = np.flatnonzero(~still).astype(np.int32)
    positions = np.broadcast_to(fixed, clip.positions.shape).copy()
    positions[:, moving] = clip.positions[:, moving]
    clip = clip.with_changes(positions=positions, curves=_animated(clip.curves))
    return Part(about, clip.skeleton, clip.rotations, positions[:, moving], moving, fixed, clip.contacts, clip.curves,
                {tag.name: clip.tag_mask(tag.name) for tag in clip.tags}, *_measured(clip, character, schema))


def _animated(curves):
    return {name: curve for name, curve in curves.items() if np.any(curve)}


def _measured(clip, character, schema):
    """The features (F, D) of a clip as it is stored, and its steps, as steps_of() has them."""
    curves = {name: np.zeros(len(clip), dtype=np.float32) for name in schema.properties}
    character = rooted(character, clip.skeleton)
    return measure(clip.with_changes(curves=curves | clip.curves), character, schema), *steps_of(character, clip)


def clip_of(part, rate):
    """A part as a clean clip again."""
    positions = np.broadcast_to(part.fixed, (len(part), *part.fixed.shape)).copy()
    positions[:, part.moving] = part.positions
    tags = [Tag(name, start / rate, (stop - 1) / rate)
            for name, mask in part.tags.items() for start, stop in runs(mask)]
    return Clip(part.range.name, part.skeleton, rate, positions, part.rotations, tags, part.contacts, part.curves,
                part.range.loop)


def taken_over(previous, index, character, schema):
    """A clip of a database as a part of another one."""
    about = previous.ranges[index]
    frames = slice(about.start, about.stop)
    has_all = all(array is not None for array in (previous.measured, previous.steps, previous.some_steps))
    if has_all and previous.schema.same_features(schema):
        some = previous.some_steps[slice(*previous.first_samples[index:index + 2])]
        measured = previous.measured[frames], previous.steps[frames], some
    else:
        measured = _measured(previous.clip(index), previous.character, schema)
    positions, moving = previous.positions[frames], previous.moving
    moves = np.ptp(positions, axis=0).max(axis=-1) >= character.size * STILL
    moves[moving == 0] = True
    fixed = previous.fixed.copy()
    fixed[moving] = positions[0]
    return Part(
        about, previous.skeleton, previous.rotations[frames], positions if moves.all() else positions[:, moves],
        moving[moves], fixed, previous.contacts[frames],
        _animated({name: previous.curves[frames, column] for column, name in enumerate(previous.curve_names)}),
        {name: mask[frames] for name, mask in previous.tags.items()}, *measured,
        None if previous.cells is None else previous.cells[frames])


# All of them

def together(parts, character, schema, recipe, key, threads=1, ahead=1.0):
    """The Database in which parts lie end to end; a generator that yields fractions, most of them of sorting frames.
    ahead: how much more the path ahead counts than usual."""
    _check_properties(schema, parts)
    fixed, moving = _moving(parts, character.size * STILL)
    measured = np.concatenate([part.measured for part in parts])
    normalisation = Normalisation.of(measured, schema, ahead)
    features = normalisation.apply(measured)
    cells = yield from gather_more(features, weights_of(schema), _cells(parts), threads)
    curve_names = tuple(sorted({name for part in parts for name in part.curves}))
    database = Database(
        character=rooted(character, parts[0].skeleton), rate=recipe.rate, recipe=recipe, schema=schema,
        rotations=np.concatenate([part.rotations for part in parts]),
        positions=np.concatenate([part.places(moving) for part in parts]),
        moving=moving, fixed=fixed, contacts=np.concatenate([part.contacts for part in parts]),
        features=features, normalisation=normalisation, ranges=_laid_out(parts), tags=_tag_masks(parts),
        curve_names=curve_names, curves=np.concatenate([_columns(part, curve_names) for part in parts]), key=key,
        cells=cells, measured=measured, steps=np.concatenate([part.steps for part in parts]),
        some_steps=np.concatenate([part.some_steps for part in parts]))
    database.notes.update(_notes(database))
    return database


def _moving(parts, least):
    """Local positions (J, 3) of the joints that stay in one place, over all parts, and the other joints (M,)."""
    fixed = parts[0].fixed
    moves = np.zeros(len(fixed), dtype=bool)
    for part in parts:
        moves[part.moving] = True
        # Places are rounded, so what differs by less is the same place, seen from where the armature stands now.
        moves |= (np.abs(part.fixed - fixed) > least / 2).any(axis=-1)
    return fixed, np.flatnonzero(moves).astype(np.int32)


def _cells(parts):
    """(N,) the cells of frames that are taken over, all from one database; -1 where a frame is new."""
    return np.concatenate([np.full(len(part), -1, dtype=np.int32) if part.cells is None else part.cells
                           for part in parts])


def _check_properties(schema, parts):
    missing = [name for name in schema.properties if not any(name in part.curves for part in parts)]
    if missing:
        raise MotionError(f'No clip has a property "{missing[0]}" that is ever other than zero: animate it, or remove '
                          "that feature.")


def _columns(part, names):
    """(F, P) every property that some clip has: zero where this one does not animate it."""
    columns = np.zeros((len(part), len(names)), dtype=np.float32)
    for column, name in enumerate(names):
        if name in part.curves:
            columns[:, column] = part.curves[name]
    return columns


def rooted(character, skeleton):
    """The character with the skeleton that the clean clips have, whose joint 0 is the root, facing +Y."""
    root = skeleton.names[0]
    return Character(skeleton, {**character.roles, "root": root}, {**character.mirror, root: root}, "+Y",
                     four_legged=character.four_legged)


def _laid_out(parts):
    ends = np.cumsum([len(part) for part in parts]).tolist()
    return tuple(replace(part.range, start=end - len(part), stop=end) for part, end in zip(parts, ends))


def _tag_masks(parts):
    names = sorted({name for part in parts for name in part.tags} - {EXCLUDE})
    if len(names) > TAG_NAMES:
        raise MotionError(f"The clips have {len(names):,} different tags: use at most {TAG_NAMES}.")
    none = {len(part): np.zeros(len(part), dtype=bool) for part in parts}
    masks = {name: np.concatenate([part.tags.get(name, none[len(part)]) for part in parts]) for name in names}
    return {name: mask for name, mask in masks.items() if mask.any()}


# What to tell the person

def _notes(database):
    """Seconds excluded by source, and what is odd, in sentences."""
    excluded = {}
    for part in {part.key: part for part in database.ranges}.values():  # one of each source
        if part.excluded:
            excluded[part.source] = excluded.get(part.source, 0.0) + part.excluded
    warnings = dict.fromkeys(sentence for part in database.ranges for sentence in part.warnings)
    return {"excluded": excluded, "warnings": [*warnings, *_never_entered(database)]}


def _never_entered(database):
    barred = database.barred()
    if barred.all():
        raise MotionError(f"No search could enter any frame: {_main_reason(barred)}. Use longer clips, shorter feature "
                          "times, or let features be extrapolated past a clip's end.")
    return [f'No search can enter clip "{part.source}" ({len(part) / database.rate:.2f} s): '
            f"{_main_reason(barred[part.start:part.stop])}."
            for part in database.ranges if barred[part.start:part.stop].all() and not part.mirrored]


def _main_reason(codes):
    return f"most frames are {REASONS[int(np.bincount(codes).argmax())]}"
