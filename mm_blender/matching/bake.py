# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: many clips become one database, step by step, so that whoever waits can be shown progress and can cancel."""

import hashlib
import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial

import numpy as np

from ..errors import MotionError
from ..limits import check_all
from ..motion.character import Character
from ..prepare.arcs import arcs_of, is_straight_cycle, stands, turns
from ..prepare.clean import clean, excluded_seconds
from ..prepare.legs import check_legs
from ..prepare.loops import is_loop
from ..prepare.mirror import mirror
from ..prepare.recipe import Recipe
from ..prepare.root import find_forward
from ..steps import Progress, mapped, run
from .database import ARC, RATES, Database, Range
from .parts import clip_of, part_of, rooted, taken_over, together
from .schema import Schema

__all__ = ["Progress", "Source", "bake", "database_key", "foundation_key", "run", "same_skeleton", "source_key"]

IN_PLACE = "is in place"  # so it is said of a clip that was given travel
# Whether cycles that go straight on are bent, too: where no clip turns, always, or never.
ARCS = ("auto", "on", "off")
# Raised whenever preparation or a feature makes something else of the same clips: what an older one made is not taken
# over.
PREPARATION = 2
# Bones that differ more than this (metres of a person) make another skeleton.
SAME_LENGTH = 0.005
# How much more the path ahead counts where there are only cycles. Nothing leads from standing to going then, and their
# poses are so unlike that a character (Idle, Walk, Run) that was asked to walk stood: with 1.5 it walks, and with more
# it also starts and stops so soon that its feet slide less.
AHEAD = 2.5
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
    loop         whether it is a loop; None to see that from its ends
    travel       m/s that it should travel though it was made in place; 0 leaves it there, and None gives it what its
                 feet tell if it is in place
    warnings     sentences that `read` adds when something is odd but usable
    """

    name: str
    read: Callable
    fingerprint: str
    mirror: bool = False
    loop: bool | None = False
    speed: float = 1.0
    travel: float | None = None
    seconds: float = 0.0
    origin: float = 0.0
    warnings: list = field(default_factory=list)
    onto: object = None

    @classmethod
    def of(cls, clip, **wishes):
        """The source of a clip that is there already."""
        contents = hashlib.sha256(clip.positions.tobytes() + clip.rotations.tobytes())
        contents.update(repr((clip.rate, clip.loop, clip.tags)).encode(errors="surrogateescape"))
        for name, curve in clip.curves.items():
            contents.update(name.encode(errors="surrogateescape") + curve.tobytes())
        return cls(clip.name, partial(_at_once, clip), contents.hexdigest(), seconds=clip.duration, **wishes)


def _at_once(clip):
    yield 1.0
    return clip


def bake(sources: Sequence[Source], character: Character, schema: Schema, recipe: Recipe,
         previous: Database | None = None, jobs=None, arcs: str = "auto") -> Generator[Progress, None, Database]:
    """A generator: yields Progress, returns the Database.

    previous: a database whose clips are taken over where nothing that they were made from has changed.
    jobs: whoever has other processes: jobs.submit(function, *arguments) is a Future of what a function makes in one of
    them, and jobs.count says how many there are. The database is the same.
    arcs: one of ARCS, whether cycles that go straight on are bent, too: "auto" does it where no clip turns, if they
    come with one that stands, or were made in place.
    Clips that cannot be used are left out, each with a sentence in the database's notes.
    """
    _check_request(sources, character, schema, recipe, arcs)
    foundation = foundation_key(character, recipe)
    keys = [source_key(source, foundation) for source in sources]
    old, parts, left_out, reused = _reusable(previous), [], [], 0
    whole = (len(sources) + 1) / (1 - SORTING)
    begun_elsewhere = {key: jobs.submit(_prepared, source, character, schema, recipe, key)
                       for source, key in zip(sources, keys) if key not in old} if jobs else {}
    for index, (source, key) in enumerate(zip(sources, keys)):
        begun = index / whole
        if key in keys[:index]:
            left_out.append(f'Clip "{source.name}" is in the list twice: it was taken once.')
        elif key in old:
            yield Progress(begun, f'Unchanged: "{source.name}"')
            parts += [taken_over(previous, part, character, schema) for part in old[key]]
            reused += 1
        else:
            if jobs:
                yield Progress(begun, f'Reading "{source.name}"')
                made, trouble = begun_elsewhere.pop(key).result()
            else:
                steps = _prepare(source, character, schema, recipe, key)
                made, trouble = yield from _shown(steps, begun, whole, f'Reading "{source.name}"')
            parts += made
            left_out += trouble
            check_all(sum(len(part) for part in parts), len(character.skeleton))
    if not parts:
        raise MotionError(left_out[0])
    kept = [(key, taken_over(previous, part, character, schema)) for key in old if key.startswith(ARC)
            for part in old[key]]
    bent, only_cycles = _arcs(parts, character, schema, recipe, arcs, kept)
    parts += bent
    steps = together(parts, character, schema, recipe, database_key(sources, foundation, schema, arcs),
                     jobs.count if jobs else 1, AHEAD if only_cycles else 1.0)
    database = yield from _shown(steps, 1 - SORTING, 1 / SORTING, "Sorting similar frames")
    database.notes.update(left_out=left_out, reused=reused)
    return database


def foundation_key(character, recipe):
    """A hash of what all clips of a database share."""
    return _hash([PREPARATION, asdict(recipe), _about(character)])


def source_key(source, foundation):
    """A hash of everything that one clip's frames are made from."""
    return _hash([source.name, source.fingerprint, source.mirror, source.loop, source.speed, source.travel,
                  source.origin, foundation])


def database_key(sources, foundation, schema, arcs="auto"):
    """A hash of everything that a database is made from: another one means that it is stale."""
    return _hash([[source_key(source, foundation) for source in sources], schema.to_json(), arcs])


def _check_request(sources, character, schema, recipe, arcs):
    if not sources:
        raise MotionError("There are no clips to bake: add some, or enable those in the list.")
    missing = [role for role in schema.roles if not character.has(role)]
    if missing:
        raise MotionError(f"The features need bones for these roles, and the character has none: {', '.join(missing)}. "
                          "Choose them in the Character panel (or with --role), or remove the features.")
    if not character.contact_roles():
        raise MotionError("The character has no feet: give a bone the role left_foot or right_foot.")
    if arcs not in ARCS:
        raise MotionError(f'"{arcs}" does not say when arc copies are made: choose {", ".join(ARCS)}.')
    if not RATES[0] <= recipe.rate <= RATES[1]:
        raise MotionError(f"A database has {RATES[0]:g} to {RATES[1]:g} frames per second, not {recipe.rate:g}.")
    frames = sum(source.seconds * (2 if source.mirror else 1) for source in sources) * recipe.rate
    check_all(frames, len(character.skeleton))


def _shown(fractions, begun, whole, text):
    """Steps of one share of the whole as Progress."""
    return mapped(fractions, lambda fraction: Progress(begun + fraction / whole, text))


def _reusable(previous):
    """Which clips of a database were made from what: key → their numbers."""
    parts = {}
    for index, about in enumerate(previous.ranges if previous is not None else ()):
        parts.setdefault(about.key, []).append(index)
    return parts


def _arcs(parts, character, schema, recipe, wanted, kept):
    """What is bent of the parts, as parts; and whether there are only cycles that go straight on. kept: pairs of a key
    and an arc copy that was made before."""
    owner = rooted(character, parts[0].skeleton)
    cycles = {index: clip for index, part in enumerate(parts)
              if part.range.loop and is_straight_cycle(clip := clip_of(part, recipe.rate), owner)}
    # Clips as people have them: some to go with, and one to stand. A walk alone, with travel, is one to look at.
    meant = bool(cycles) and any(any(IN_PLACE in said for said in part.range.warnings)
                                 or stands(clip_of(part, recipe.rate), owner) for part in parts)
    only = meant and not any(turns(clip_of(part, recipe.rate), owner) for part in parts)
    bent = []
    for key in dict.fromkeys(parts[at].range.key for at in cycles if wanted == "on" or (wanted == "auto" and only)):
        bent += [arc for of, arc in kept if of == ARC + key] or [
            part_of(arc, character, schema, replace(parts[at].range, source=parts[at].range.source + text,
                                                    key=ARC + key, excluded=0.0, warnings=()))
            for at, clip in cycles.items() if parts[at].range.key == key for text, arc in arcs_of(clip, owner)]
    return bent, only


# One source

def _prepared(*ingredients):
    """What _prepare() returns, made in one go."""
    return run(_prepare(*ingredients))


def _prepare(source, character, schema, recipe, key):
    """Read, clean and measure one source: yields fractions, returns its parts, and sentences on why there are none."""
    try:
        raw, pieces, character = yield from cleaned(source, character, recipe)
        about = Range(source.name, 0, 0, speed=source.speed, key=key, excluded=round(excluded_seconds(raw), 3))
        for piece in pieces:
            check_legs(piece.clip, character)
        return [part_of(clip, character, schema, side) for piece in pieces
                for clip, side in _sides(piece, source, character, recipe, about)], []
    except MotionError as error:
        return [], [str(error)]


def cleaned(source, character, recipe):
    """Read and clean one source: yields fractions, returns the raw Clip, its Pieces, and the Character in them."""
    raw = yield from source.read()
    loop = is_loop(raw, getattr(source.onto, "character", character)) if source.loop is None else source.loop
    raw = raw.with_changes(loop=raw.loop or loop)
    if source.onto is not None:
        return raw, source.onto.clean(raw, recipe, source.speed, source.travel), character
    raw = on_skeleton(raw, character.skeleton, character.size * SAME_LENGTH)
    if character.has("root") and not character.forward:
        character = replace(character, forward=find_forward(raw, character))
    return raw, clean(raw, character, recipe, source.speed, source.travel), character


def _sides(piece, source, character, recipe, about):
    """A clean piece, and its mirror image where the artist wants one: pairs of a clip and its Range."""
    clip, warnings = piece.clip, [*source.warnings]
    if piece.skipped:
        warnings.append(f'Clip "{source.name}" begins with the rest pose; frames of it left out: {piece.skipped}.')
    if piece.travel:
        reason = "as you said" if source.travel else "as its feet tell"
        warnings.append(f'Clip "{source.name}" {IN_PLACE}: it travels {piece.travel:.2f} m/s now, {reason}.')
    if piece.left_behind:
        bone = character.roles["root"]
        warnings.append(
            f'The root bone "{bone}" does not go along with the hips: where it stays behind, a made root is used.'
            if recipe.root == "auto" else
            f'The root bone "{bone}" stays behind while the hips go or turn, and so does the character: choose the '
            "root Automatic, or Made.")
    about = replace(about, source_start=source.origin + piece.source_start, loop=clip.loop, warnings=warnings)
    sides = [(clip, about)]
    if source.mirror:
        root = clip.skeleton.names[0]
        sides.append((mirror(clip, {root: root, **character.mirror}), replace(about, mirrored=True)))
    return sides


def same_skeleton(one, other):
    """Whether clips of a skeleton can be baked for a character with another one just as they are."""
    if set(one.names) != set(other.names) or _tree(one) != _tree(other):
        return False
    apart = one.positions - other.positions[[other.index(name) for name in one.names]]
    return bool(np.linalg.norm(apart[1:], axis=-1).max(initial=0) < SAME_LENGTH)


def on_skeleton(clip, skeleton, same=SAME_LENGTH):
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


def _about(character):
    skeleton = character.skeleton
    positions = np.round(skeleton.positions, 5)
    positions[0, :2] = 0  # where the character stands does not matter
    # Zero is added because JSON tells -0.0 from 0.0.
    about = [skeleton.names, skeleton.parents.tolist(), (positions + 0.0).tolist(),
             (np.round(skeleton.rotations, 4) + 0.0).tolist(), character.roles, character.mirror, character.forward]
    ends = [np.round(limb.end, 5).tolist() for limb in character.limbs]
    return [*about, ends] if character.four_legged or np.any(ends) else about


def _hash(record):
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
