# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of features as presets of the artist's own, written as `--schema` of the command line reads them."""

from dataclasses import asdict, replace

from ...matching.schema import Schema
from ..presets import Presets
from ..settings import MAX_TIMES
from .features import apply_schema, schema_of

PRESETS = Presets("features")


def save(ob, name):
    """Write the armature's features into the preset with this name, which may be there already; returns its name."""
    return PRESETS.write(name, asdict(replace(schema_of(ob), name=name)))


def load(ob, name):
    """Replace the armature's features by those of a preset."""
    apply_schema(ob, PRESETS.read(name, _understood))


def _understood(content):
    schema = Schema.from_json(content)
    if any(len(channel.times) > MAX_TIMES for channel in schema.channels):
        raise ValueError("times")
    return schema
