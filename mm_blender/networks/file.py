# SPDX-License-Identifier: GPL-3.0-or-later
"""The .mmnet file: trained networks with all that driving needs to know, so that no database is needed."""

from dataclasses import asdict, dataclass, field
from functools import cached_property

import numpy as np

from .. import archive, records
from ..control.gaits import MOST, USUAL, Gait, can_be_asked_for
from ..control.speeds import Speeds
from ..errors import MotionError
from ..limits import FURTHEST, HIGHEST
from ..matching import database as databases
from ..matching.features import Normalisation
from ..matching.schema import Schema
from ..matching.tags import select
from ..motion.character import Character
from ..motion.skeleton import Skeleton
from ..owner import Owner, owner_in, signed
from .experts import Experts, gated_between
from .layout import Layout
from .network import Network, Weights, farthest
from .stepping import REACHES

# What has no experts is written as version 1, which has none. Version 2 had experts of another kind. Characters that
# walk on four legs came with version 4, gaits beside walk, run and crouch with version 5; with version 6 feet without
# toes stand with their soles, and no longer with their ankles.
KIND, VERSION, FOUR_LEGS, EXPERTS, WITHOUT_EXPERTS, EARLIER_EXPERTS = "mmnet", 6, 4, 3, 1, 2
NAMES = ("decompressor", "stepper", "projector")
MOST_LAYERS = 32
FASTEST = 100.0  # metres per second that a character goes
# Metres, or metres a second, that are asked of the Projector; the most that numbers of a pose may be, whatever is
# decompressed, and any number on the way: they are squared, and a float32 has to hold that.
WANTED, POSE, LARGEST = 1e3, 1e12, 1e34
# So many frames tell whether latents are of a database.
LOOKED_AT = 200
_ARRAYS = ("parents", "rest_positions", "rest_rotations", "fixed", "moving", "mean", "scale", "limits", "start",
           "heights", "fronts", "combinations")
_NORMALS = ("mean", "scale", "centre", "span")


@dataclass(frozen=True, eq=False)
class Networks:
    """Trained networks of one character. With D features, Z latents, T tags and U combinations of tags:

    decompressor  features and latents (D + Z) → row of a pose (see Layout)
    stepper       features, latents and the step in frames (D + Z + 1) → their change per frame (D + Z)
    projector     query and the combinations of tags that are allowed (D + U) → features and latents (D + Z)
    moving        (M,) joints that have positions of their own, the root not among them
    fixed         (J, 3) local positions of all joints
    limits        (2, D + Z) the least and the largest features and latents in the data
    start         (D + Z) features and latents to begin with: of someone who stands
    heights       (L, 2) how high toe and ankle of each limb are while it stands
    fronts        (L, 3) where each knee bends to, seen from its thigh
    tags          T names
    combinations  (U, T) bool, those that frames have which may be entered
    stride        by how many frames the Stepper goes on at once, 1 or 2
    key           of the database that they were trained on
    figures       how good they are, as plain values
    owner         the character for which they were trained: that of the database
    """

    character: Character
    rate: float
    schema: Schema
    normalisation: Normalisation
    moving: np.ndarray
    fixed: np.ndarray
    limits: np.ndarray
    start: np.ndarray
    heights: np.ndarray
    fronts: np.ndarray
    tags: tuple
    combinations: np.ndarray
    speeds: Speeds
    decompressor: Weights
    stepper: Weights
    projector: Weights
    stride: int = 1
    key: str = ""
    figures: dict = field(default_factory=dict)
    owner: Owner | None = None
    ranges = ()  # the clips are gone: a Database has them

    @property
    def skeleton(self):
        return self.character.skeleton

    @property
    def latents(self):
        """How many numbers each frame has beside its features."""
        return self.limits.shape[1] - self.schema.size

    @property
    def model(self):
        """"moe" where there are experts, else "lmm"."""
        return "moe" if any(getattr(self, name).experts for name in NAMES) else "lmm"

    @cached_property
    def layout(self):
        return Layout(len(self.skeleton), len(self.moving), len(self.character.contact_roles()), len(self.tags))

    @property
    def nbytes(self):
        """Bytes of the weights in the file."""
        return 2 * sum(getattr(self, name).numbers for name in NAMES)

    def allowed(self, query=""):
        """(U,) the combinations of tags that a tag query selects, and a sentence if it selects none."""
        masks = {name: self.combinations[:, column] for column, name in enumerate(self.tags)}
        everything = np.ones(len(self.combinations), dtype=bool)
        if (asked := select(query, masks, len(self.combinations))).any():
            return asked, ""
        return everything, f'No motion that was learned is selected by the tag query "{query}": it is not heeded.'

    def report(self):
        """What a person wants to know about it, as plain values."""
        experts = {name: known.count for name in NAMES if (known := getattr(self, name).experts)}
        return {"model": self.model, **({"experts": experts} if experts else {}), "rate": self.rate,
                "joints": len(self.skeleton), "features": self.schema.size, "latents": self.latents,
                "schema": self.schema.name, "tags": list(self.tags), "megabytes": round(self.nbytes / 1e6, 2),
                **self.figures}

    def save(self, path, latents=None):
        """latents: (N, Z) of the database's frames, for Motion Matching with the Decompressor alone."""
        character, skeleton = self.character, self.skeleton
        header = {
            "rate": self.rate, "names": skeleton.names, "roles": character.roles, "mirror": character.mirror,
            "forward": character.forward, "schema": self.schema.to_json(), "tags": self.tags,
            "speeds": {name: self.speeds.gait(name).ways for name in USUAL}, "stride": self.stride, "key": self.key,
            "figures": self.figures,
            "layers": {name: len(getattr(self, name).layers) for name in NAMES}, "model": self.model,
            "experts": {name: len(known.layers) for name in NAMES if (known := getattr(self, name).experts)},
            "four_legged": character.four_legged, "ends": skeleton.ends, **signed(self.owner),
        }
        if self.speeds.further:
            header["gaits"] = [asdict(gait) for gait in self.speeds.further]
        arrays = {
            "parents": skeleton.parents, "rest_positions": skeleton.positions, "rest_rotations": skeleton.rotations,
            "fixed": self.fixed, "moving": self.moving, "mean": self.normalisation.mean,
            "scale": self.normalisation.scale, "limits": self.limits, "start": self.start,
            "heights": self.heights, "fronts": self.fronts, "combinations": self.combinations,
        }
        with np.errstate(over="ignore"):  # it is told below
            for name in NAMES:
                arrays.update(_to_arrays(name, getattr(self, name)))
            latents = (np.zeros((0, self.latents)) if latents is None else latents).astype(np.float16)
        try:
            _checked(records.from_text(records.to_text(header)), arrays)
            _expect(np.isfinite(latents).all(), "its latents are not all numbers")
        except Exception as error:  # whatever would keep them from being loaded
            raise MotionError(f'"{path}" was not written: no such networks can be used ({archive.in_short(error)}). '
                              "Look at the database's clips for a value that is wrong, and train it anew.") from error
        soles = not character.four_legged and any(any(limb.end) for limb in character.limbs)
        version = (VERSION if self.speeds.further or soles else FOUR_LEGS if character.four_legged
                   else EXPERTS if self.model == "moe" else WITHOUT_EXPERTS)
        archive.write(path, KIND, version, header, {**arrays, "latents": latents})


def load(path):
    """Networks from their file, checked; latents stay in it."""
    header, _ = archive.read(path, KIND, VERSION, ())
    if header["version"] == EARLIER_EXPERTS:
        raise MotionError(f'"{path}" has experts of an earlier version of the extension: train it anew.')
    try:
        names = [*_ARRAYS, *(name for network in NAMES for name in _array_names(network, *_counts(header, network)))]
    except Exception as error:  # the header may hold anything that JSON can
        raise _damaged(path, error) from error
    header, arrays = archive.read(path, KIND, VERSION, names)
    try:
        return _checked(header, arrays)
    except Exception as error:
        raise _damaged(path, error) from error


def load_latents(path, database):
    """(N, Z) latents of a database's frames, from the file of the networks that were trained on it."""
    if (latents := find_latents(path, database)) is None:
        raise MotionError(f'"{path}" was trained on another database: train it anew, or choose the database it is of.')
    return latents


def find_latents(path, database):
    """The same, or None if the networks were trained on another database."""
    header, arrays = archive.read(path, KIND, VERSION, ("latents",))
    latents = arrays["latents"]
    if latents.ndim != 2 or latents.dtype != np.float16 or not np.isfinite(latents).all():
        raise MotionError(f'"{path}" is damaged: train it anew (its latents are not all numbers).')
    if len(latents) != len(database):
        return None
    latents = latents.astype(np.float32)
    # The same bake has another key where NumPy rounds in another way.
    return latents if header.get("key") == database.key or _are_of(load(path), latents, database) else None


def _are_of(networks, latents, database):
    """Whether latents (N, Z) are of a database's frames: with them the Decompressor shows the frames' poses far better
    than with those of other frames."""
    names = networks.skeleton.names
    if sorted(names) != sorted(database.skeleton.names) or networks.schema.size != database.schema.size:
        return False
    frames = np.linspace(0, len(database) - 1, LOOKED_AT).astype(int)
    true = database.rotations[frames][:, [database.skeleton.index(name) for name in names]]
    own, other = (_away(networks, database.features[frames], latents[there], true)
                  for there in (frames, np.roll(frames, LOOKED_AT // 2)))
    return own < other / 4


def _away(networks, features, latents, true):
    """How far the poses that the Decompressor shows are from true rotations (F, J, 4) below the root."""
    rows = Network(networks.decompressor, len(features))(np.concatenate([features, latents], axis=1, dtype=np.float32))
    alike = np.abs(np.sum(networks.layout.rotations(rows) * true, axis=-1))[:, 1:]
    return float(np.arccos(np.minimum(alike, 1)).mean())


def _to_arrays(name, weights):
    arrays = {f"{name}.{part}": getattr(weights, part).astype(np.float32) for part in _NORMALS}
    known = weights.experts
    pairs = {**_numbered(name, weights.layers), **({**_numbered(f"{name}.expert", known.layers),
                                                    f"{name}.gate": known.gate} if known else {})}
    for pair, (matrix, biases) in pairs.items():
        arrays[f"{pair}.weights"], arrays[f"{pair}.biases"] = matrix.astype(np.float16), biases.astype(np.float16)
    return arrays


def _numbered(name, layers):
    return {f"{name}.{index}": layer for index, layer in enumerate(layers)}


def _counts(header, name):
    """How many layers a network has, and how many of each of its experts; none if it has no experts."""
    return header["layers"][name], header.get("experts", {}).get(name, 0)


def _pair_names(name, layers, experts):
    """Where in the file the layers are, the gate, and the layers of the experts."""
    return [[f"{name}.{index}" for index in range(layers)], [f"{name}.gate"] * (experts > 0),
            [f"{name}.expert.{index}" for index in range(experts)]]


def _array_names(name, layers, experts):
    for count, least in ((layers, 0), (experts, 0), (layers + experts, 1)):
        if type(count) is not int or not least <= count <= MOST_LAYERS:
            raise ValueError(f"its {name} has {count} layers")
    return [f"{name}.{part}" for part in _NORMALS] + [
        f"{pair}.{part}" for pairs in _pair_names(name, layers, experts) for pair in pairs
        for part in ("weights", "biases")]


def _from_arrays(name, layers, experts, arrays):
    own, gate, of_experts = (
        tuple(tuple(arrays[f"{pair}.{part}"].astype(np.float32) for part in ("weights", "biases")) for pair in pairs)
        for pairs in _pair_names(name, layers, experts))
    return Weights(own, *(arrays[f"{name}.{part}"] for part in _NORMALS),
                   Experts(gate[0], of_experts) if experts else None)


def _checked(header, arrays):
    """What a file holds as networks, or an exception if it makes none: a file that does not is not written either."""
    networks = _from_file(header, arrays)
    _check(networks)
    return networks


def _from_file(header, arrays):
    databases.check_rest(arrays)
    ends = header.get("ends", {})
    if header.get("version", VERSION) < VERSION and not header.get("four_legged", False):
        # They were trained to stand on their ankles.
        feet = [header["roles"].get(f"{side}_foot") for side in ("left", "right")]
        ends = {name: end for name, end in ends.items() if name not in feet}
    skeleton = Skeleton(header["names"], arrays["parents"], arrays["rest_positions"], arrays["rest_rotations"], ends)
    return Networks(
        character=Character(skeleton, header["roles"], header["mirror"], header["forward"],
                            four_legged=header.get("four_legged", False)), rate=header["rate"],
        schema=Schema.from_json(header["schema"]), normalisation=Normalisation(arrays["mean"], arrays["scale"]),
        moving=arrays["moving"], fixed=arrays["fixed"], limits=arrays["limits"], start=arrays["start"],
        heights=arrays["heights"], fronts=arrays["fronts"], tags=tuple(header["tags"]),
        combinations=arrays["combinations"],
        speeds=_speeds(header),
        stride=header.get("stride", 1), key=header["key"], figures=header["figures"], owner=owner_in(header),
        **{name: _from_arrays(name, *_counts(header, name), arrays) for name in NAMES})


def _speeds(header):
    further = [Gait(**{**gait, "ways": tuple(gait["ways"])}) for gait in header.get("gaits", [])]
    return Speeds(**{name: tuple(header["speeds"][name]) for name in USUAL},
                  tagged=tuple(name for name in USUAL if name in header["tags"]), further=tuple(further))


# What a file must be: one that was patched or put together badly must not fail later, in the middle of a take.

def _check(networks):
    joints, size, state = len(networks.skeleton), networks.schema.size, networks.limits.shape[-1]
    limbs = len(networks.character.limbs)
    moving, tags = networks.moving, networks.tags
    slowest, quickest = databases.RATES
    _expect(type(networks.rate) in (int, float) and slowest <= networks.rate <= quickest, "its rate makes no sense")
    _expect(all(isinstance(text, str) for text in (*networks.skeleton.names, *tags, networks.key)),
            "its names are not words")
    _expect(isinstance(networks.figures, dict), "its figures make no sense")
    _expect(networks.stride in (1, 2), "its Stepper makes no sense")
    missing = [role for role in networks.schema.roles if not networks.character.has(role)]
    _expect(not missing, f"its features need bones that it does not have: {', '.join(missing)}")
    for gait in networks.speeds.gaits:
        _expect(len(gait.ways) == 3 and all(type(speed) in (int, float) and 0 <= speed <= FASTEST
                                            for speed in gait.ways), "its speeds make no sense")
    names = [gait.name for gait in networks.speeds.further]
    _expect(len(set(names)) == len(names) <= MOST, "its gaits make no sense")
    for gait in networks.speeds.further:
        known = isinstance(gait.name, str) and gait.name not in USUAL and gait.tag in tags
        _expect(known and can_be_asked_for(gait.tag) and type(gait.apart) is type(gait.stands) is bool,
                "its gaits make no sense")
    combinations = len(networks.combinations)
    _expect(combinations > 0, "it has learned no motion")
    expected = {
        "moving": (moving, np.int32, (len(moving),)), "fixed": (networks.fixed, np.float32, (joints, 3)),
        "mean": (networks.normalisation.mean, np.float32, (size,)),
        "scale": (networks.normalisation.scale, np.float32, (size,)),
        "limits": (networks.limits, np.float32, (2, state)),
        "start": (networks.start, np.float32, (state,)),
        "heights": (networks.heights, np.float32, (limbs, 2)), "fronts": (networks.fronts, np.float32, (limbs, 3)),
        "combinations": (networks.combinations, np.bool_, (combinations, len(tags))),
    }
    databases.check_arrays(expected)
    _expect(len(moving) == len(set(moving.tolist()) & set(range(1, joints))), "it moves joints that it does not have")
    _expect(state > size, "its features make no sense")
    least, most = networks.limits
    _expect((least <= most).all(), "its limits leave nothing between them")
    _expect(((least <= networks.start) & (networks.start <= most)).all(), "it begins outside of its limits")
    databases.check_normalisation(networks.normalisation)
    databases.check_sizes({name: getattr(networks, name) for name in ("fixed", "limits", "start", "heights", "fronts")},
                          FURTHEST)
    databases.check_legs(networks.character, networks.fixed, moving)
    _check_weights("decompressor", networks.decompressor, state, networks.layout.size)
    _check_weights("stepper", networks.stepper, state + 1, state)
    _check_weights("projector", networks.projector, size + combinations, state)
    _check_reach(networks)


def _check_reach(networks):
    """Fails if numbers may come out, or come up on the way, that no float32 can hold: then nothing would be played."""
    states = np.abs(networks.limits).max(axis=0)
    normal = networks.normalisation
    queries = (WANTED + np.abs(normal.mean)) / normal.scale.astype(np.float64)
    asked = {"decompressor": (states, POSE), "stepper": (np.append(states, REACHES[1]), LARGEST),
             "projector": (np.append(queries, np.ones(len(networks.combinations))), LARGEST)}
    for name, (inputs, most) in asked.items():
        made, between = farthest(getattr(networks, name), inputs)
        _expect(made.max() <= most and between <= LARGEST, f"the weights of its {name} are too large")


def _check_weights(name, weights, inputs, outputs):
    for part, length in zip(_NORMALS, (inputs, inputs, outputs, outputs)):
        array = getattr(weights, part)
        _expect(array.shape == (length,) and array.dtype == np.float32 and np.isfinite(array).all(),
                f"the {part} of its {name} does not fit")
    _expect((weights.scale >= databases.LEAST_SCALE).all(), f"its {name} divides by almost nothing")
    databases.check_sizes({f"{name}'s {part}": getattr(weights, part) for part in _NORMALS}, HIGHEST)
    width, known = inputs, weights.experts
    if known is not None:
        _expect(known.count > 1, f"its {name} has too few experts")
        _check_layer(name, *known.gate, (inputs, known.count))
        width = _check_layers(name, known.layers, (known.count,), width, units=True)
    width = _check_layers(name, weights.layers, (), width, units=known is not None)
    _expect(width == outputs, f"its {name} has {width} outputs instead of {outputs}")


def _check_layers(name, layers, many, inputs, units):
    """How many outputs the last of them has; units: there may be gated ones between them."""
    for number, (matrix, biases) in enumerate(layers):
        seen = matrix.shape[-2] if number and units else inputs
        _check_layer(name, matrix, biases, (*many, seen, matrix.shape[-1]))
        _expect(not number or 0 <= gated_between(inputs, seen) <= seen, f"the layers of its {name} do not fit together")
        inputs = matrix.shape[-1]
    return inputs


def _check_layer(name, matrix, biases, shape):
    _expect(matrix.shape == shape and biases.shape == (*shape[:-2], shape[-1]),
            f"the layers of its {name} do not fit together")
    _expect(np.isfinite(matrix).all() and np.isfinite(biases).all(), f"its {name} is not all numbers")


def _expect(condition, otherwise):
    if not condition:
        raise ValueError(otherwise)


def _damaged(path, error):
    return MotionError(f'"{path}" is damaged: train it anew ({archive.in_short(error)}).')
