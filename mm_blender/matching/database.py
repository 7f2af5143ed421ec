# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion database: every pose once, the features that describe it, and the .mmdb file."""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from os import PathLike

import numpy as np

from .. import archive, records
from ..errors import MotionError
from ..limits import FURTHEST, HIGHEST
from ..motion import quat
from ..motion.character import Character
from ..motion.clip import Clip, Tag
from ..motion.skeleton import Skeleton
from ..owner import Owner, owner_in, signed
from ..prepare.recipe import Recipe
from .features import Normalisation, known
from .jolts import BEFORE, jolts, sampled, steps_of
from .schema import Schema
from .tags import NO_ENTER, select

# What walks on two legs is written as version 1, which knows no others.
KIND, VERSION, TWO_LEGS = "mmdb", 2, 1
RATES = (1.0, 1000.0)  # frames per second that make sense
# No feature that changes at all is scaled by less.
LEAST_SCALE = 1e-6
# Metres of the shortest bone that a leg can bend with.
STUB = 1e-6
# The key of an arc copy is this and that of the range of which it was made.
ARC = "arc "
# How far the length of a rotation's quaternion may be from one.
UNEVEN = 1e-2
MIRRORED = " (mirrored)"  # the end of the name of a mirror image
OPTIONAL = ("cells", "measured", "steps", "some_steps")  # what older files do not have
BUT_MEASURED = tuple(name for name in OPTIONAL if name != "measured")
_ARRAYS = ("parents", "rest_positions", "rest_rotations", "fixed", "moving", "positions", "rotations", "contacts",
           "curves", "features", "mean", "scale")

# Why a search may not enter a frame, beside the tag query. The order is the order of the codes; 0 is free to enter.
REASONS = ("", "tagged no-enter", "too near the end of its clip", "too near an end of its clip for its features",
           "just before a jolt of its clip")


@dataclass(frozen=True)
class Range:
    """Consecutive frames that come from one clip.

    source        name of the Action or file
    start, stop   frames of the database, stop not included
    source_start  where in the source the first frame lies, in the source's own seconds
    key           hash of everything that these frames were made from
    excluded      seconds of the source that are tagged "exclude"
    warnings      what was odd about the source, in sentences
    """

    source: str
    start: int
    stop: int
    source_start: float = 0.0
    speed: float = 1.0
    loop: bool = False
    mirrored: bool = False
    key: str = ""
    excluded: float = 0.0
    warnings: tuple = ()

    def __post_init__(self):
        object.__setattr__(self, "warnings", tuple(self.warnings))

    def __len__(self):
        return self.stop - self.start

    @property
    def name(self):
        return self.source + MIRRORED if self.mirrored else self.source


@dataclass(frozen=True, eq=False)
class Database:
    """N frames of one character.

    rotations   (N, J, 4) local rotations
    positions   (N, M, 3) local positions of the joints in `moving` (root, hips, …)
    moving      (M,) those joints; the others stay at `fixed`
    fixed       (J, 3) local positions of all joints; those of moving joints are not used
    contacts    (N, C) bool, columns as character.contact_roles()
    curves      (N, P) custom properties, columns as curve_names
    features    (N, D) normalised, not weighted
    ranges      the clips, in order, without gaps
    tags        tag name → (N,) bool
    notes       what the person should know: counts of left-out frames, warnings
    cells       (N,) similar frames, gathered for the search; None in a file that was baked without
    measured    (N, D) the features before they were normalised; None if they were not loaded (see load())
    steps, some_steps  as steps_of() has them, clip by clip; None in a file that was baked without
    owner       the character for which it was baked in Blender; None if it is nobody's
    """

    character: Character
    rate: float
    recipe: Recipe
    schema: Schema
    rotations: np.ndarray
    positions: np.ndarray
    moving: np.ndarray
    fixed: np.ndarray
    contacts: np.ndarray
    features: np.ndarray
    normalisation: Normalisation
    ranges: tuple
    tags: dict = field(default_factory=dict)
    curves: np.ndarray | None = None
    curve_names: tuple = ()
    notes: dict = field(default_factory=dict)
    key: str = ""
    cells: np.ndarray | None = None
    measured: np.ndarray | None = None
    steps: np.ndarray | None = None
    some_steps: np.ndarray | None = None
    owner: Owner | None = None

    def __post_init__(self):
        if self.curves is None:
            object.__setattr__(self, "curves", np.zeros((len(self), 0), dtype=np.float32))

    def __len__(self):
        return len(self.rotations)

    @property
    def skeleton(self):
        return self.character.skeleton

    @cached_property
    def range_of_frame(self):
        """(N,) index into ranges."""
        return np.repeat(np.arange(len(self.ranges)), [len(part) for part in self.ranges])

    def clip_of(self, frame):
        """The name of a frame's clip, and where in it the frame lies, in the source's own seconds."""
        part = self.ranges[self.range_of_frame[frame]]
        return part.name, part.source_start + (frame - part.start) / self.rate * part.speed

    def local_positions(self, frames):
        """(…, J, 3) for frames (…): an index, a slice or an array."""
        moving = self.positions[frames]
        positions = np.broadcast_to(self.fixed, (*moving.shape[:-2], *self.fixed.shape)).copy()
        positions[..., self.moving, :] = moving
        return positions

    def clip(self, index):
        """A range of the database as a clip, features aside."""
        part = self.ranges[index]
        frames = slice(part.start, part.stop)
        tags = [Tag(name, start / self.rate, (stop - 1) / self.rate)
                for name, mask in self.tags.items() for start, stop in runs(mask[frames])]
        return Clip(part.name, self.skeleton, self.rate, self.local_positions(frames), self.rotations[frames], tags,
                    self.contacts[frames], {name: self.curves[frames, column]
                                            for column, name in enumerate(self.curve_names)}, part.loop)

    def clips(self):
        """All of it as clips, one by one."""
        return map(self.clip, range(len(self.ranges)))

    @cached_property
    def velocities(self):
        """Local velocities (N, M, 3) of the moving joints, angular velocities (N, J, 3); derived within each clip."""
        velocities = np.zeros_like(self.positions)
        spins = np.zeros((*self.rotations.shape[:2], 3), dtype=np.float32)
        for part in self.ranges:
            if len(part) > 1:
                frames, steps, last = slice(part.start, part.stop), slice(part.start, part.stop - 1), part.stop - 1
                velocities[steps] = np.diff(self.positions[frames], axis=0) * self.rate
                spins[steps] = quat.angular_velocity(self.rotations[frames], 1 / self.rate)
                velocities[last], spins[last] = velocities[last - 1], spins[last - 1]
        return velocities, spins

    @cached_property
    def before_jolts(self):
        """(N,) the frames soon after which something jolts, as in a hard step or a glitch: with the offset of a jump on
        top it would pop."""
        steps, some = self.steps, self.some_steps
        if steps is None or some is None:
            steps, some = map(np.concatenate, zip(*(steps_of(self.character, clip) for clip in self.clips())))
        soon = np.zeros(len(self), dtype=bool)
        for frame in jolts(steps, some):
            start = self.ranges[self.range_of_frame[frame]].start
            soon[max(frame - round(BEFORE * self.rate), start):frame] = True
        return soon

    @cached_property
    def first_samples(self):
        """Where the rows of some_steps begin that each range has."""
        return np.cumsum([0, *(sampled(len(part)) for part in self.ranges)]).tolist()

    def barred(self, end=1 / 3):
        """(N,) why each frame may not be entered by a search: an index into REASONS, 0 where it may be.

        end: seconds before a clip's end in which it is not entered (appendix A: it would only lead to another search).
        """
        barred = np.where(self.before_jolts, 4, 0).astype(np.uint8)
        late = int(np.ceil(end * self.rate - 1e-3))
        for part in self.ranges:
            if part.loop:
                continue
            if self.schema.past_end == "exclude":
                barred[part.start:part.stop][~known(len(part), self.rate, self.schema)] = 3
            barred[max(part.start, part.stop - late):part.stop] = 2
        if NO_ENTER in self.tags:
            barred[self.tags[NO_ENTER]] = 1
        return barred

    def select(self, query):
        """(N,) the frames that a tag query selects."""
        return select(query, self.tags, len(self))

    def report(self):
        """What a person wants to know about it, as plain values."""
        barred = self.barred()
        return {
            "clips": len({part.source for part in self.ranges if not part.key.startswith(ARC)}),
            "arcs": sum(part.key.startswith(ARC) for part in self.ranges),
            "ranges": len(self.ranges),
            "frames": len(self),
            "minutes": round(len(self) / self.rate / 60, 3),
            "rate": self.rate,
            "joints": len(self.skeleton),
            "features": self.schema.size,
            "schema": self.schema.name,
            "past_end": self.schema.past_end,
            "megabytes": round(self.nbytes / 1e6, 2),
            "pose_bytes_per_frame": round(self.pose_nbytes / len(self), 1),
            "frames_per_tag": {name: int(mask.sum()) for name, mask in sorted(self.tags.items())},
            "not_entered": {REASONS[code]: int((barred == code).sum()) for code in range(1, len(REASONS))
                            if (barred == code).any()},
            "contact_share": {role: round(float(share), 3) for role, share in
                              zip(self.character.contact_roles(), self.contacts.mean(axis=0))},
            **self.notes,
        }

    @property
    def pose_nbytes(self):
        """Bytes that the poses take: rotations, moving positions and what is stored once."""
        return sum(array.nbytes for array in (self.rotations, self.positions, self.fixed, self.moving))

    @property
    def nbytes(self):
        return self.pose_nbytes + self.features.nbytes + self.contacts.nbytes + self.curves.nbytes

    def save(self, path: str | PathLike) -> None:
        character = self.character
        header = {
            "rate": self.rate, "names": character.skeleton.names, "roles": character.roles,
            "mirror": character.mirror, "forward": character.forward, "recipe": asdict(self.recipe),
            "schema": self.schema.to_json(), "ranges": [vars(part) for part in self.ranges],
            "tags": {name: runs(mask) for name, mask in self.tags.items()},
            "curve_names": self.curve_names, "notes": self.notes, "key": self.key,
            "four_legged": character.four_legged, "ends": character.skeleton.ends, **signed(self.owner),
        }
        skeleton = character.skeleton
        arrays = {
            "parents": skeleton.parents, "rest_positions": skeleton.positions, "rest_rotations": skeleton.rotations,
            "fixed": self.fixed, "moving": self.moving, "positions": self.positions, "rotations": self.rotations,
            "contacts": self.contacts, "curves": self.curves, "features": self.features,
            "mean": self.normalisation.mean, "scale": self.normalisation.scale,
            **{name: array for name in OPTIONAL if (array := getattr(self, name)) is not None}}
        try:
            _checked(records.from_text(records.to_text(header)), arrays)
        except Exception as error:  # whatever would keep it from being loaded
            raise MotionError(f'"{path}" was not written: no such database can be used ({archive.in_short(error)}). '
                              "Look at the clips, their units and custom properties, for a value that is wrong."
                              ) from error
        archive.write(path, KIND, VERSION if character.four_legged else TWO_LEGS, header, arrays)


def load(path: str | PathLike, to_bake: bool = False) -> Database:
    """A database from its file, checked; to_bake: with what only a bake wants that takes clips over."""
    header, arrays = archive.read(path, KIND, VERSION, _ARRAYS, OPTIONAL if to_bake else BUT_MEASURED)
    try:
        return _checked(header, arrays)
    except Exception as error:  # the header may hold anything that JSON can
        raise MotionError(f'"{path}" is damaged: bake it anew ({archive.in_short(error)}).') from error


def read_key(path):
    """The key of the database in a file, without loading its poses."""
    return read_about(path)[0]


def read_about(path):
    """The key and the Owner of the database in a file, without loading its poses."""
    header, _ = archive.read(path, KIND, VERSION, ())
    return header.get("key", ""), owner_in(header)


def give(path, owner, there=None):
    """Let a database in a file be somebody's, or nobody's; or a copy of it in another place."""
    archive.copy(path, there or path, KIND, VERSION, {"owner": None} | signed(owner))


def runs(mask):
    """The stretches of a (N,) bool that are true, as [start, stop] pairs."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return edges.reshape(-1, 2).tolist()


def _checked(header, arrays):
    """What a file holds as a database, or an exception if it makes none: a file that does not is not written either."""
    database = _from_file(header, arrays)
    _check(database)
    return database


def _from_file(header, arrays):
    check_rest(arrays)
    skeleton = Skeleton(header["names"], arrays["parents"], arrays["rest_positions"], arrays["rest_rotations"],
                        header.get("ends", {}))
    character = Character(skeleton, header["roles"], header["mirror"], header["forward"],
                          four_legged=header.get("four_legged", False))
    frames = len(arrays["rotations"])
    return Database(
        character=character, rate=header["rate"], recipe=Recipe(**header["recipe"]),
        schema=Schema.from_json(header["schema"]), rotations=arrays["rotations"], positions=arrays["positions"],
        moving=arrays["moving"], fixed=arrays["fixed"], contacts=arrays["contacts"], features=arrays["features"],
        normalisation=Normalisation(arrays["mean"], arrays["scale"]),
        ranges=tuple(Range(**part) for part in header["ranges"]),
        tags={name: _mask(spans, frames) for name, spans in header["tags"].items()}, curves=arrays["curves"],
        curve_names=tuple(header["curve_names"]), notes=header["notes"], key=header["key"],
        owner=owner_in(header), **{name: arrays.get(name) for name in OPTIONAL})


def _mask(spans, frames):
    mask = np.zeros(frames, dtype=bool)
    for start, stop in spans:
        _expect(0 <= start < stop <= frames, "its tags reach past its frames")
        mask[start:stop] = True
    return mask


# What a file must be: one that was patched or put together badly must not fail later, in the middle of a take.

def _check(database):
    _check_arrays(database)
    _check_ranges(database)
    character, recipe = database.character, database.recipe
    joints, moving = len(character.skeleton), database.moving
    _expect(type(database.rate) in (int, float) and RATES[0] <= database.rate <= RATES[1], "its rate makes no sense")
    _expect(len(moving) == len(set(moving.tolist()) & set(range(joints))), "it moves joints that it does not have")
    _expect(0 in moving, "its root does not move")
    _expect(isinstance(database.key, str) and isinstance(database.notes, dict), "its notes make no sense")
    _expect(isinstance(character.roles, dict) and isinstance(character.mirror, dict), "its roles make no sense")
    _expect(all(isinstance(text, str) for text in (*character.skeleton.names, *database.curve_names)),
            "its names are not words")
    check_legs(character, database.fixed, moving)
    missing = [role for role in database.schema.roles if not character.has(role)]
    _expect(not missing, f"its features need bones that it does not have: {', '.join(missing)}")
    for name, usual in asdict(Recipe()).items():
        _expect(type(getattr(recipe, name)) in ((int, float) if isinstance(usual, float) else (type(usual),)),
                f'its setting "{name}" makes no sense')
    _expect(RATES[0] <= recipe.rate <= RATES[1], 'its setting "rate" makes no sense')


def _check_arrays(database):
    frames, joints, size = len(database), len(database.skeleton), database.schema.size
    expected = {
        "rotations": (database.rotations, np.float32, (frames, joints, 4)),
        "positions": (database.positions, np.float32, (frames, len(database.moving), 3)),
        "moving": (database.moving, np.int32, (len(database.moving),)),
        "fixed": (database.fixed, np.float32, (joints, 3)),
        "contacts": (database.contacts, np.bool_, (frames, len(database.character.contact_roles()))),
        "curves": (database.curves, np.float32, (frames, len(database.curve_names))),
        "features": (database.features, np.float32, (frames, size)),
        "mean": (database.normalisation.mean, np.float32, (size,)),
        "scale": (database.normalisation.scale, np.float32, (size,)),
        "rest positions": (database.skeleton.positions, np.float32, (joints, 3)),
        "rest rotations": (database.skeleton.rotations, np.float32, (joints, 4)),
    }
    optional = {"cells": (np.int32, (frames,)), "steps": (np.float32, (frames, 2)),
                "measured": (np.float32, (frames, size))}
    expected |= {name: (array, *about) for name, about in optional.items()
                 if (array := getattr(database, name)) is not None}
    check_arrays(expected)
    check_sizes({"positions": database.positions, "fixed": database.fixed, "features": database.features}, FURTHEST)
    if (some := database.some_steps) is not None:
        _expect(some.ndim == 2 and some.dtype == np.float32, "its steps make no sense")
        _expect(len(some) == database.first_samples[-1], "its steps are not those of its clips")
        _expect(np.isfinite(some).all(), "its steps are not all numbers")
    there = {name: array for name in ("curves", "measured", "steps", "some_steps")
             if (array := getattr(database, name)) is not None}
    check_sizes(there, HIGHEST)
    check_rotations("rotations", database.rotations)
    check_normalisation(database.normalisation)
    if database.cells is not None:
        _expect(database.cells.min() >= 0 and database.cells.max() < frames, "its cells are not numbered from 0 on")
        _expect(np.bincount(database.cells).all(), "its cells are not numbered without gaps")


# The same of databases and of networks.

def check_arrays(expected):
    """Fails if arrays are not what they should be; expected: {name: (array, type, shape)}."""
    for name, (array, kind, shape) in expected.items():
        _expect(array.shape == shape, f"its {name} have the shape {array.shape} instead of {shape}")
        _expect(array.dtype == kind, f"its {name} are {array.dtype} instead of {np.dtype(kind)}")
        _expect(np.isfinite(array).all(), f"its {name} are not all numbers")


def check_rest(arrays):
    """Fails if the arrays of a file have no rest pose; before a Skeleton makes other numbers of them."""
    for name in ("rest_positions", "rest_rotations"):
        _expect(arrays[name].dtype == np.float32, f"its {name.replace('_', ' ')} are {arrays[name].dtype}")
        _expect(np.isfinite(arrays[name]).all(), f"its {name.replace('_', ' ')} are not all numbers")
    _expect(arrays["parents"].dtype == np.int32, f"its parents are {arrays['parents'].dtype}")
    check_sizes({"rest positions": arrays["rest_positions"]}, FURTHEST)
    check_rotations("rest rotations", arrays["rest_rotations"])


def check_sizes(arrays, most):
    """Fails if an array, by its name, has a number beyond the most; all are finite."""
    for name, array in arrays.items():
        _expect(not array.size or max(-float(array.min()), float(array.max())) <= most,
                f"its {name} are larger than {most:,.0f}")


def check_rotations(name, rotations):
    """Fails if quaternions (…, 4) turn nothing, or more than turn."""
    check_sizes({name: rotations}, FURTHEST)
    squares = np.einsum("...i,...i->...", rotations, rotations)
    _expect(not squares.size or max(1 - float(squares.min()), float(squares.max()) - 1) <= 2 * UNEVEN,
            f"some of its {name} are none")


def check_legs(character, fixed, moving):
    """Fails if a leg cannot bend, for then its foot cannot be held: a bake refuses such bones, too."""
    for role in (role for limb in character.limbs for role in limb.roles[1:3]):
        if character.has(role) and (joint := character.joint(role)) not in moving:
            _expect(np.linalg.norm(fixed[joint]) >= STUB, f"the bone above its {role.replace('_', ' ')} has no length")


def check_normalisation(normalisation):
    """Fails if features would be normalised to what no sum can hold."""
    check_sizes({"mean": normalisation.mean, "scale": normalisation.scale}, HIGHEST)
    _expect((normalisation.scale >= LEAST_SCALE).all(), "it divides by almost nothing")


def _check_ranges(database):
    at = 0
    for part in database.ranges:
        _expect(all(type(value) in (int, float) for value in (part.source_start, part.speed, part.excluded)) and
                type(part.start) is int and type(part.stop) is int, "its clips have no numbers")
        _expect(all(isinstance(text, str) for text in (part.source, part.key, *part.warnings)),
                "its clips have no names")
        _expect(part.start == at and part.stop > part.start, "its clips do not follow one another")
        at = part.stop
    _expect(at == len(database) > 0, "its clips do not cover its frames")


def _expect(condition, otherwise):
    if not condition:
        raise ValueError(otherwise)
