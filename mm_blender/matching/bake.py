# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: many clips become one database, step by step, so that whoever waits can be shown progress and can cancel."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from ..errors import MotionError
from ..motion.character import Character
from ..prepare.clean import Piece, clean
from ..prepare.mirror import mirror
from ..prepare.root import find_forward
from .database import REASONS, Database, Range
from .features import Normalisation, measure
from .tags import EXCLUDE, LOOP

# Translations that move less than this (metres) are stored once.
STILL = 5e-5
# Bones that differ more than this (metres) make another skeleton.
SAME_LENGTH = 0.005


@dataclass(frozen=True)
class Source:
    """Where a clip comes from, and how the artist wants it.

    read         starts a generator that yields fractions of its work (0 … 1) and returns the raw Clip, tags included
    fingerprint  changes whenever what `read` would return changes
    start, end   seconds of the raw clip, None for all of it
    origin       where the raw clip begins in its Action or file, in seconds of its own
    warnings     sentences that `read` adds when something is odd but usable
    """

    name: str
    read: Callable
    fingerprint: str
    mirror: bool = False
    loop: bool = False
    speed: float = 1.0
    start: float | None = None
    end: float | None = None
    origin: float = 0.0
    warnings: list = field(default_factory=list)


@dataclass(frozen=True)
class Progress:
    """How far a bake has come: a share of the whole, and what it is doing."""

    share: float
    text: str


def bake(sources, character, schema, recipe, previous=None):
    """A generator: yields Progress, returns the Database.

    previous: a database whose clips are taken over where nothing that they were made from has changed.
    Clips that cannot be used are left out, each with a sentence in the database's notes.
    """
    _check_request(sources, character, schema)
    parts, notes = [], {"left_out": [], "warnings": [], "excluded": {}, "reused": 0}
    old, foundation = _reusable(previous), foundation_key(character, recipe)
    for index, source in enumerate(sources):
        key = source_key(source, foundation)
        if key in old:
            yield Progress(index / (len(sources) + 1), f'Unchanged: "{source.name}"')
            parts += old[key]
            notes["reused"] += 1
            if source.name in previous.notes.get("excluded", {}):
                notes["excluded"][source.name] = previous.notes["excluded"][source.name]
            continue
        for fraction in (steps := _Steps(_prepare(source, character, recipe, key, notes))):
            yield Progress((index + fraction) / (len(sources) + 1), f'Reading "{source.name}"')
        parts += steps.result
    if not parts:
        raise MotionError(notes["left_out"][0] if notes["left_out"] else "There are no clips to bake.")
    share = len(sources) / (len(sources) + 1)
    for fraction in (steps := _Steps(_assemble(parts, character, schema, recipe, notes))):
        yield Progress(share + fraction / (len(sources) + 1), "Measuring features")
    return replace(steps.result, key=database_key(sources, foundation, schema))


def run(steps, on_progress=lambda progress: None):
    """Run a bake to its end in one go."""
    steps = _Steps(steps)
    for progress in steps:
        on_progress(progress)
    return steps.result


def foundation_key(character, recipe):
    """A hash of what all clips of a database share."""
    return _hash([asdict(recipe), _about(character)])


def source_key(source, foundation):
    """A hash of everything that one clip's frames are made from."""
    return _hash([source.name, source.fingerprint, source.mirror, source.loop, source.speed, source.start, source.end,
                  source.origin, foundation])


def database_key(sources, foundation, schema):
    """A hash of everything that a database is made from: another one means that it is stale."""
    return _hash([[source_key(source, foundation) for source in sources], schema.to_json()])


@dataclass(frozen=True, eq=False)
class _Part:
    """A clean clip on its way into the database."""

    clip: object
    range: Range


class _Steps:
    """Iterates over a generator and keeps what it returns."""

    def __init__(self, generator):
        self._generator, self.result = generator, None

    def __iter__(self):
        self.result = yield from self._generator


def _check_request(sources, character, schema):
    if not sources:
        raise MotionError("There are no clips to bake: add some, or enable those in the list.")
    missing = [role for role in schema.roles if not character.has(role)]
    if missing:
        raise MotionError(f"The features need bones for these roles, and the character has none: {', '.join(missing)}. "
                          "Choose them in the Character panel (or with --role), or remove the features.")
    if not character.contact_roles():
        raise MotionError("The character has no feet: give a bone the role left_foot or right_foot.")


def _prepare(source, character, recipe, key, notes):
    """Read and clean one source: yields fractions, returns its parts; trouble becomes a note."""
    try:
        raw = yield from source.read()
        _check_skeleton(raw, character)
        if character.has("root") and not character.forward:
            character = replace(character, forward=find_forward(raw, character))
        pieces = clean(raw, character, recipe, source.start, source.end, source.speed)
    except MotionError as error:
        notes["left_out"].append(str(error))
        return []
    notes["warnings"] += source.warnings
    _note_excluded(raw, source, notes)
    parts = []
    for piece in pieces:
        parts += _sides(piece, source, character, key, looped=len(pieces) == 1)
    return parts


def _sides(piece: Piece, source, character: Character, key, looped):
    """A clean piece, and its mirror image where the artist wants one."""
    loop = looped and (source.loop or bool(piece.clip.tag_mask(LOOP).any()))
    clip = piece.clip.with_changes(loop=loop)
    about = Range(source.name, 0, len(clip), source.origin + piece.source_start, source.speed, loop, key=key)
    parts = [_Part(clip, about)]
    if source.mirror:
        pairs = {clip.skeleton.names[0]: clip.skeleton.names[0], **character.mirror}
        parts.append(_Part(mirror(clip, pairs), replace(about, mirrored=True)))
    return parts


def _check_skeleton(clip, character):
    skeleton = character.skeleton
    if not clip.skeleton.same_joints(skeleton):
        odd = sorted(set(clip.skeleton.names) ^ set(skeleton.names))
        what = f'only one of them has "{odd[0]}"' if odd else "the same bones, parented in another way"
        raise MotionError(f'Clip "{clip.name}" has another skeleton than the character ({what}): bake it separately.')
    apart = np.linalg.norm(clip.skeleton.positions - skeleton.positions, axis=-1)
    apart[0] = 0
    if apart.max() > SAME_LENGTH:
        joint = int(apart.argmax())
        raise MotionError(f'Clip "{clip.name}" has other bone lengths than the character ("{skeleton.names[joint]}" '
                          f"differs by {apart[joint] * 100:.1f} cm): bake it separately.")


def _note_excluded(raw, source, notes):
    seconds = float(raw.tag_mask(EXCLUDE).sum() / raw.rate)
    if seconds:
        notes["excluded"][source.name] = round(seconds, 3)


def _reusable(previous):
    """The parts of a database by the key of what they were made from."""
    parts = {}
    if previous is not None:
        for index, about in enumerate(previous.ranges):
            parts.setdefault(about.key, []).append(_Part(previous.clip(index), about))
    return parts


def _assemble(parts, character, schema, recipe, notes):
    """Lay the clips end to end and measure their features: yields fractions, returns the Database."""
    skeleton = parts[0].clip.skeleton
    character = _rooted(character, skeleton)
    moving = _moving(parts)
    curve_names = tuple(sorted({name for part in parts for name in part.clip.curves}))
    features = []
    for index, part in enumerate(parts):
        features.append(measure(_with_all_curves(part.clip, curve_names), character, schema))
        yield (index + 1) / len(parts)
    features = np.concatenate(features)
    normalisation = Normalisation.of(features, schema)
    database = Database(
        character=character, rate=recipe.rate, recipe=recipe, schema=schema,
        rotations=np.concatenate([part.clip.rotations for part in parts]),
        positions=np.concatenate([part.clip.positions[:, moving] for part in parts]),
        moving=moving, fixed=parts[0].clip.positions[0].copy(),
        contacts=np.concatenate([part.clip.contacts for part in parts]),
        features=normalisation.apply(features).astype(np.float32), normalisation=normalisation,
        ranges=_laid_out(parts), tags=_tag_masks(parts), curve_names=curve_names,
        curves=np.concatenate([_curves(part.clip, curve_names) for part in parts]), notes=notes)
    _note_unenterable(database)
    return database


def _rooted(character, skeleton):
    """The character with the skeleton that the clean clips have, whose joint 0 is the root, facing +Y."""
    root = skeleton.names[0]
    return Character(skeleton, {**character.roles, "root": root}, {**character.mirror, root: root}, "+Y")


def _moving(parts):
    """The joints whose local position changes, over all clips."""
    first = parts[0].clip.positions[0]
    most = np.max([np.abs(part.clip.positions - first).max(axis=(0, 2)) for part in parts], axis=0)
    return np.flatnonzero(most > STILL).astype(np.int32)


def _laid_out(parts):
    ends = np.cumsum([len(part.clip) for part in parts]).tolist()
    return tuple(replace(part.range, start=end - len(part.clip), stop=end) for part, end in zip(parts, ends))


def _tag_masks(parts):
    names = sorted({tag.name for part in parts for tag in part.clip.tags})
    return {name: np.concatenate([part.clip.tag_mask(name) for part in parts]) for name in names if name != EXCLUDE}


def _with_all_curves(clip, names):
    """A clip that knows every property that some clip has: zero where it was not animated."""
    missing = {name: np.zeros(len(clip), dtype=np.float32) for name in names if name not in clip.curves}
    return clip.with_changes(curves={**clip.curves, **missing}) if missing else clip


def _curves(clip, names):
    zeros = np.zeros(len(clip), dtype=np.float32)
    columns = [np.asarray(clip.curves.get(name, zeros), dtype=np.float32) for name in names]
    return np.stack(columns, axis=-1) if columns else np.zeros((len(clip), 0), dtype=np.float32)


def _note_unenterable(database):
    barred = database.barred()
    for part in database.ranges:
        codes = barred[part.start:part.stop]
        if codes.all() and not part.mirrored:
            reason = REASONS[int(np.bincount(codes).argmax())]
            database.notes["warnings"].append(
                f'No search can enter clip "{part.source}" ({len(part) / database.rate:.2f} s): every frame is {reason}.')
    if barred.all():
        raise MotionError("No frame of any clip can be entered: the clips are shorter than the longest feature time. "
                          "Use longer clips, shorter times, or let features be extrapolated past a clip's end.")


def _about(character):
    skeleton = character.skeleton
    positions = np.round(skeleton.positions, 5)
    positions[0, :2] = 0  # where the character stands does not matter
    return [skeleton.names, skeleton.parents.tolist(), positions.tolist(),
            np.round(skeleton.rotations, 4).tolist(), character.roles, character.mirror, character.forward]


def _hash(record):
    return hashlib.sha256(json.dumps(record, sort_keys=True, default=list).encode()).hexdigest()


