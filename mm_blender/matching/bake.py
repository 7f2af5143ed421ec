# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: many clips become one database, step by step, so that whoever waits can be shown progress and can cancel."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from ..errors import MotionError
from ..limits import TAG_NAMES, check_all
from ..motion.character import Character
from ..prepare.clean import EXCLUDE, clean, excluded_seconds
from ..prepare.mirror import mirror
from ..prepare.root import find_forward
from ..steps import Progress, mapped, run
from .database import RATES, REASONS, Database, Range
from .features import Normalisation, measure
from .schema import weights_of
from .search import gather

__all__ = ["Progress", "Source", "bake", "database_key", "foundation_key", "run", "same_skeleton", "source_key"]

# Raised whenever preparation makes something else of the same clips: what an older one made is not taken over.
PREPARATION = 1
# A joint that moves less than this (metres of a person) in its parent during a clip stands still, at a place rounded
# to this.
STILL = 1e-4
# Bones that differ more than this (metres of a person) make another skeleton.
SAME_LENGTH = 0.005
# A bone of a leg that is shorter than this share of it has no length: the leg cannot bend.
STUB = 1e-3
# The share of the time that sorting the frames for the search takes, about.
SORTING = 0.25


@dataclass(frozen=True)
class Source:
    """Where a clip comes from, and how the artist wants it.

    read         starts a generator that yields fractions of its work (0 … 1) and returns the raw Clip, tags included
    fingerprint  changes whenever what `read` would return changes
    seconds      how long it plays, where that is known before it is read
    origin       where the raw clip begins in its Action or file, in seconds of its own
    onto         the Onto through which it comes, where it is of another character than the database; the fingerprint
                 is to tell of it too
    warnings     sentences that `read` adds when something is odd but usable
    """

    name: str
    read: Callable
    fingerprint: str
    mirror: bool = False
    loop: bool = False
    speed: float = 1.0
    seconds: float = 0.0
    origin: float = 0.0
    warnings: list = field(default_factory=list)
    onto: object = None


def bake(sources, character, schema, recipe, previous=None):
    """A generator: yields Progress, returns the Database.

    previous: a database whose clips are taken over where nothing that they were made from has changed.
    Clips that cannot be used are left out, each with a sentence in the database's notes.
    """
    _check_request(sources, character, schema, recipe)
    foundation = foundation_key(character, recipe)
    keys = [source_key(source, foundation) for source in sources]
    old, parts, left_out, reused = _reusable(previous), [], [], 0
    whole = (len(sources) + 1) / (1 - SORTING)
    for index, (source, key) in enumerate(zip(sources, keys)):
        begun = index / whole
        if key in keys[:index]:
            left_out.append(f'Clip "{source.name}" is in the list twice: it was taken once.')
        elif key in old:
            yield Progress(begun, f'Unchanged: "{source.name}"')
            parts += old[key]
            reused += 1
        else:
            steps = _prepare(source, character, recipe, key, left_out)
            parts += yield from _shown(steps, begun, whole, f'Reading "{source.name}"')
            check_all(sum(len(part.clip) for part in parts), len(character.skeleton))
    if not parts:
        raise MotionError(left_out[0])
    steps = _assemble(parts, character, schema, recipe)
    database = yield from _shown(steps, len(sources) / whole, whole, "Measuring features")
    steps = gather(database.features, weights_of(schema))
    cells = yield from _shown(steps, 1 - SORTING, 1 / SORTING, "Sorting similar frames")
    notes = {**_notes(database), "left_out": left_out, "reused": reused}
    return replace(database, cells=cells, notes=notes, key=database_key(sources, foundation, schema))


def foundation_key(character, recipe):
    """A hash of what all clips of a database share."""
    return _hash([PREPARATION, asdict(recipe), _about(character)])


def source_key(source, foundation):
    """A hash of everything that one clip's frames are made from."""
    return _hash([source.name, source.fingerprint, source.mirror, source.loop, source.speed, source.origin, foundation])


def database_key(sources, foundation, schema):
    """A hash of everything that a database is made from: another one means that it is stale."""
    return _hash([[source_key(source, foundation) for source in sources], schema.to_json()])


@dataclass(frozen=True, eq=False)
class _Part:
    """A clean clip on its way into the database."""

    clip: object
    range: Range


def _check_request(sources, character, schema, recipe):
    if not sources:
        raise MotionError("There are no clips to bake: add some, or enable those in the list.")
    missing = [role for role in schema.roles if not character.has(role)]
    if missing:
        raise MotionError(f"The features need bones for these roles, and the character has none: {', '.join(missing)}. "
                          "Choose them in the Character panel (or with --role), or remove the features.")
    if not character.contact_roles():
        raise MotionError("The character has no feet: give a bone the role left_foot or right_foot.")
    if not RATES[0] <= recipe.rate <= RATES[1]:
        raise MotionError(f"A database has {RATES[0]:g} to {RATES[1]:g} frames per second, not {recipe.rate:g}.")
    frames = sum(source.seconds * (2 if source.mirror else 1) for source in sources) * recipe.rate
    check_all(frames, len(character.skeleton))


def _shown(fractions, begun, whole, text):
    """Steps of one share of the whole as Progress."""
    return mapped(fractions, lambda fraction: Progress(begun + fraction / whole, text))


def _reusable(previous):
    """The parts of a database by the key of what they were made from."""
    parts = {}
    if previous is not None:
        for index, about in enumerate(previous.ranges):
            parts.setdefault(about.key, []).append(_Part(previous.clip(index), about))
    return parts


# One source

def _prepare(source, character, recipe, key, left_out):
    """Read and clean one source: yields fractions, returns its parts; trouble becomes a sentence in left_out."""
    try:
        raw, pieces, character = yield from cleaned(source, character, recipe)
        about = Range(source.name, 0, 0, speed=source.speed, key=key, excluded=round(excluded_seconds(raw), 3))
        for piece in pieces:
            _check_legs(piece.clip, character)
        return [part for piece in pieces for part in _sides(piece, source, character, about)]
    except MotionError as error:
        left_out.append(str(error))
        return []


def cleaned(source, character, recipe):
    """Read and clean one source: yields fractions, returns the raw Clip, its Pieces, and the Character in them."""
    raw = yield from source.read()
    raw = raw.with_changes(loop=raw.loop or source.loop)
    if source.onto is not None:
        return raw, source.onto.clean(raw, recipe, source.speed), character
    raw = _on_skeleton(raw, character.skeleton, character.size * SAME_LENGTH)
    if character.has("root") and not character.forward:
        character = replace(character, forward=find_forward(raw, character))
    return raw, clean(raw, character, recipe, source.speed), character


def _check_legs(clip, character):
    """Fails if a leg cannot bend, for then its foot cannot be held."""
    for limb in (limb for limb in character.limbs if limb.bends):
        names = [character.roles.get(role) for role in limb.roles[:3]]
        if not all(name in clip.skeleton.names for name in names):
            continue
        joints = [clip.skeleton.index(name) for name in names]
        if clip.skeleton.parents[joints[1:]].tolist() != joints[:-1]:
            continue  # with bones between
        lengths = np.linalg.norm(clip.positions[:, joints[1:]], axis=-1).min(axis=0)
        if lengths.min() <= STUB * lengths.max():
            short = int(lengths.argmin())
            raise MotionError(f'Clip "{clip.name}" has "{names[short]}" and "{names[short + 1]}" in the same place, '
                              "where no leg can bend: give the bone a length, or the roles to other bones.")


def _sides(piece, source, character, about):
    """A clean piece, and its mirror image where the artist wants one."""
    clip, warnings = piece.clip, [*source.warnings]
    if piece.skipped:
        warnings.append(f'Clip "{source.name}" begins with the rest pose; frames of it left out: {piece.skipped}.')
    about = replace(about, source_start=source.origin + piece.source_start, loop=clip.loop, warnings=warnings)
    parts = [_Part(clip, about)]
    if source.mirror:
        root = clip.skeleton.names[0]
        parts.append(_Part(mirror(clip, {root: root, **character.mirror}), replace(about, mirrored=True)))
    return parts


def same_skeleton(one, other):
    """Whether clips of a skeleton can be baked for a character with another one just as they are."""
    if set(one.names) != set(other.names) or _tree(one) != _tree(other):
        return False
    apart = one.positions - other.positions[[other.index(name) for name in one.names]]
    return bool(np.linalg.norm(apart[1:], axis=-1).max(initial=0) < SAME_LENGTH)


def _on_skeleton(clip, skeleton, same=SAME_LENGTH):
    """The clip on the character's own skeleton: joints in its order, bones that are as long as its own but for so
    much (m)."""
    clip = _in_order(clip, skeleton)
    apart = skeleton.positions - clip.skeleton.positions
    # A joint that has its place from the motion, not from the rest pose, has no length to compare.
    apart[np.abs(clip.positions - clip.skeleton.positions).max(axis=(0, 2)) > same] = 0
    apart[0] = 0
    lengths = np.linalg.norm(apart, axis=-1)
    if lengths.max() > same:
        joint = int(lengths.argmax())
        raise MotionError(f'Clip "{clip.name}" has other bone lengths than the character ("{skeleton.names[joint]}" '
                          f"differs by {lengths[joint] * 100:.1f} cm): bake it separately.")
    return clip.with_changes(skeleton=skeleton, positions=clip.positions + apart)


def _in_order(clip, skeleton):
    """The clip with its joints in the skeleton's order."""
    own = clip.skeleton
    if own.same_joints(skeleton):
        return clip
    odd = sorted(set(own.names) ^ set(skeleton.names))
    if odd or _tree(own) != _tree(skeleton):
        what = f'only one of them has "{odd[0]}"' if odd else "the same bones, parented in another way"
        raise MotionError(f'Clip "{clip.name}" has another skeleton than the character ({what}): bake it separately.')
    order = [own.index(name) for name in skeleton.names]
    ordered = replace(skeleton, positions=own.positions[order], rotations=own.rotations[order])
    return clip.with_changes(skeleton=ordered, positions=clip.positions[:, order], rotations=clip.rotations[:, order])


def _tree(skeleton):
    return {name: skeleton.names[parent] if parent >= 0 else "" for name, parent in
            zip(skeleton.names, skeleton.parents)}


# All together

def _assemble(parts, character, schema, recipe):
    """Lay the clips end to end and measure their features: yields fractions, returns the Database."""
    still = character.size * STILL
    clips = [_settled(part.clip, still) for part in parts]
    fixed, moving = _moving(clips, still)
    curve_names = tuple(sorted({name for clip in clips for name in clip.curves}))
    _check_properties(schema, curve_names)
    clips = [clip.with_changes(curves=_all_curves(clip, curve_names)) for clip in clips]
    character = _rooted(character, clips[0].skeleton)
    features = []
    for index, clip in enumerate(clips):
        features.append(measure(clip, character, schema))
        yield (index + 1) / len(clips)
    features = np.concatenate(features)
    normalisation = Normalisation.of(features, schema)
    return Database(
        character=character, rate=recipe.rate, recipe=recipe, schema=schema,
        rotations=np.concatenate([clip.rotations for clip in clips]),
        positions=np.concatenate([clip.positions[:, moving] for clip in clips]),
        moving=moving, fixed=fixed, contacts=np.concatenate([clip.contacts for clip in clips]),
        features=normalisation.apply(features), normalisation=normalisation,
        ranges=_laid_out(parts), tags=_tag_masks(clips), curve_names=curve_names,
        curves=np.concatenate([np.stack([np.zeros(len(clip)), *clip.curves.values()], axis=-1)[:, 1:]
                               for clip in clips]).astype(np.float32))


def _settled(clip, least):
    """A clip as the database stores it, whichever clips come with it: joints that move less than that (m) stand still,
    properties that are zero throughout are none."""
    rest = clip.skeleton.positions
    low, high = clip.positions.min(axis=0), clip.positions.max(axis=0)
    still = (high - low).max(axis=-1) < least
    still[0] = False
    positions = clip.positions.copy()
    positions[:, still] = (rest + np.round(((low + high) / 2 - rest) / least) * least).astype(np.float32)[still]
    curves = {name: curve for name, curve in clip.curves.items() if np.any(curve)}
    return clip.with_changes(positions=positions, curves=curves)


def _moving(clips, least):
    """Local positions (J, 3) of the joints that stay in one place, over all clips, and the other joints (M,)."""
    fixed = clips[0].positions[0].copy()
    # Places are rounded, so what differs by less is the same place, seen from where the armature stands now.
    moves = np.any([(np.abs(clip.positions - fixed) > least / 2).any(axis=(0, 2)) for clip in clips], axis=0)
    moves[0] = True
    return fixed, np.flatnonzero(moves).astype(np.int32)


def _check_properties(schema, curve_names):
    missing = [name for name in schema.properties if name not in curve_names]
    if missing:
        raise MotionError(f'No clip has a property "{missing[0]}" that is ever other than zero: animate it, or remove '
                          "that feature.")


def _all_curves(clip, names):
    """Every property that some clip has: zero where this one does not animate it."""
    return {name: clip.curves.get(name, np.zeros(len(clip), dtype=np.float32)) for name in names}


def _rooted(character, skeleton):
    """The character with the skeleton that the clean clips have, whose joint 0 is the root, facing +Y."""
    root = skeleton.names[0]
    return Character(skeleton, {**character.roles, "root": root}, {**character.mirror, root: root}, "+Y",
                     four_legged=character.four_legged)


def _laid_out(parts):
    ends = np.cumsum([len(part.clip) for part in parts]).tolist()
    return tuple(replace(part.range, start=end - len(part.clip), stop=end) for part, end in zip(parts, ends))


def _tag_masks(clips):
    names = sorted({tag.name for clip in clips for tag in clip.tags} - {EXCLUDE})
    if len(names) > TAG_NAMES:
        raise MotionError(f"The clips have {len(names):,} different tags: use at most {TAG_NAMES}.")
    masks = {name: np.concatenate([clip.tag_mask(name) for clip in clips]) for name in names}
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


def _about(character):
    skeleton = character.skeleton
    positions = np.round(skeleton.positions, 5)
    positions[0, :2] = 0  # where the character stands does not matter
    # Zero is added because JSON tells -0.0 from 0.0.
    about = [skeleton.names, skeleton.parents.tolist(), (positions + 0.0).tolist(),
             (np.round(skeleton.rotations, 4) + 0.0).tolist(), character.roles, character.mirror, character.forward]
    return [*about, [np.round(limb.end, 5).tolist() for limb in character.limbs]] if character.four_legged else about


def _hash(record):
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
