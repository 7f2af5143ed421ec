# SPDX-License-Identifier: GPL-3.0-or-later
"""The artist's list of features ↔ the engine's schema."""

from ...errors import MotionError
from ...matching.features import KINDS
from ...matching.schema import PRESETS, Channel, Schema
from ..settings import MAX_TIMES

USUAL = "locomotion"  # the preset that an armature gets with its first clips


def apply_preset(ob, name):
    """Replace the list of features by a preset's."""
    features = ob.mm.features
    features.channels.clear()
    for channel in PRESETS[name].channels:
        add_channel(ob, channel)
    features.index = 0


def apply_schema(ob, schema):
    """Replace the list of features, its sliders included."""
    features = ob.mm.features
    features.channels.clear()
    for channel in schema.channels:
        add_channel(ob, channel)
    features.index = 0
    features.responsiveness, features.quality = schema.responsiveness, schema.quality
    features.past_end = schema.past_end


def add_channel(ob, channel):
    """Append one feature to the list."""
    entries = ob.mm.features.channels
    free = next(name for name in map(str, range(1, len(entries) + 2)) if name not in entries)
    entry = entries.add()
    entry.name = free  # library overrides tell entries apart by their names
    entry.kind, entry.weight = channel.kind, channel.weight
    if channel.about.belongs == "role":
        entry.role = channel.of
    else:
        entry.of = channel.of
    entry.time_count = len(channel.times)
    entry.times = [*channel.times, *[0.0] * (MAX_TIMES - len(channel.times))]
    return entry


def channel_of(entry):
    """The engine's Channel for an entry of the list."""
    belongs = KINDS[entry.kind].belongs
    of = entry.role if belongs == "role" else entry.of.strip() if belongs else ""
    return Channel(entry.kind, of, tuple(entry.times)[:entry.time_count], round(entry.weight, 4))


def schema_of(ob):
    """The engine's Schema for the armature's list of features."""
    features = ob.mm.features
    if not len(features.channels):
        raise MotionError(f'"{ob.name}" has no features: choose a preset in the Features panel.')
    channels = tuple(channel_of(entry) for entry in features.channels)
    name = next((name for name, preset in PRESETS.items() if preset.channels == channels), "custom")
    return Schema(channels, name, round(features.responsiveness, 4), round(features.quality, 4), features.past_end)


def title_of(entry):
    """What panels call a feature."""
    belongs, label = KINDS[entry.kind].belongs, entry.kind.replace("_", " ").title()
    if belongs == "role":
        return f"{entry.role.replace('_', ' ').title()} {label.removeprefix('Bone ').lower()}"
    return f"{label} {entry.of}" if belongs else label


def is_complete(entry):
    """Whether a feature knows which tag or property it belongs to."""
    return KINDS[entry.kind].belongs in ("", "role") or bool(entry.of.strip())


def size_of(ob):
    """How many numbers a frame has; entries that are not complete yet do not count."""
    return sum(KINDS[entry.kind].numbers * entry.time_count for entry in ob.mm.features.channels if is_complete(entry))
