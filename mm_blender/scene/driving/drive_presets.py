# SPDX-License-Identifier: GPL-3.0-or-later
"""How a character answers, as presets of the artist's own.

A preset has the settings of Drive that make sense for any character in any scene, and speeds. It has not what belongs
to one scene (Target, ground, obstacles), to one database (method, tag query), or to the moment (strafe, compare).
"""

from ..presets import Presets

PRESETS = Presets("drive")
NAMES = (
    "relative", "velocity_halflife", "facing_halflife", "own_speeds", "walk", "run", "crouch", "search_every", "stay",
    "blend", "blend_halflife", "blend_duration", "blend_fade", "overshoot", "root_position", "root_facing",
    "root_halflife", "root_share", "root_radius", "root_angle", "lock_feet", "lock_release", "lock_halflife", "follow",
    "show_hud", "show_desired", "show_matched", "show_contacts", "show_root", "tolerance", "ik_keys", "keep_as",
    "extend")


def save(ob, name):
    """Write how the armature is driven into the preset with this name, which may be there already; returns its name."""
    settings = ob.mm.drive
    content = {each: _plain(getattr(settings, each)) for each in NAMES}
    gaits = {gait.name: list(gait.speeds) for gait in settings.gaits}
    return PRESETS.write(name, {"settings": content, "gaits": gaits})


def load(ob, name):
    """Drive the armature as a preset has it; what a preset of an older version does not have stays as it is."""
    settings = ob.mm.drive
    values, gaits = PRESETS.read(name, lambda content: _understood(content, settings.bl_rna.properties))
    for each, value in values.items():
        setattr(settings, each, value)
    settings.gaits.clear()
    for gait, speeds in gaits.items():
        entry = settings.gaits.add()
        entry.name, entry.speeds = gait, speeds


def _plain(value):
    return value if isinstance(value, (bool, int, float, str)) else list(value)


def _understood(content, known):
    """Settings and gaits, all of which can be set: nothing is set where one cannot."""
    values = {each: content["settings"][each] for each in NAMES if each in content["settings"]}
    for each, value in values.items():
        _check(value, known[each])
    gaits = content["gaits"]
    for name, speeds in gaits.items():
        _check_numbers([*speeds], 3)
        _check_kind(name, str)
    return values, gaits


def _check(value, prop):
    """Fails if a property cannot have a value."""
    if prop.type == "ENUM":
        if value not in prop.enum_items:
            raise ValueError(prop.identifier)
    elif prop.type == "BOOLEAN":
        _check_kind(value, bool)
    else:
        _check_numbers(value if prop.is_array else [value], prop.array_length if prop.is_array else 1)


def _check_numbers(values, count):
    if len(values) != count or not all(abs(float(value)) < 1e6 for value in values):
        raise ValueError("numbers")
    for value in values:
        _check_kind(value, (int, float))


def _check_kind(value, kind):
    if not isinstance(value, kind):
        raise TypeError(kind)
