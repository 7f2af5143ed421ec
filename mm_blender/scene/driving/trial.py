# SPDX-License-Identifier: GPL-3.0-or-later
"""The quick test drive after a bake, in the background: which clips do harm, and what each one is like."""

from functools import lru_cache, partial

import bpy

from ... import records
from ...evaluate.triage import triage
from ...steps import Progress, mapped
from ..jobs import slices
from ..reading.reference import found_again
from ..screen import redraw_panels
from .libraries import baked_library_steps

TITLE = "Test drive"  # of its job
UNLIKE = 1.5  # times as far from the other clips as usual: worth saying

_clips = {}  # key of a bake → {name of a clip: its figures}
_found = {}  # key of a bake → what its test drive said: undo may take that from the armature, and it stays true


def start(ob):
    """Begin to test what an armature has baked, quietly."""
    slices.start_quietly(steps(ob), TITLE, partial(keep, ob.name, ob.session_uid, ob.mm.bake.key), ob.session_uid)


def steps(ob):
    """A generator for jobs: yields Progress, returns the report."""
    reading = baked_library_steps(ob)  # of this armature: undo may replace it before the next step
    next(reading)
    return _steps(reading)


def _steps(reading):
    library = yield from mapped(reading, lambda _: Progress(0.0, "Reading the database"))
    return (yield from triage(library))


def keep(name, uid, key, report):
    """Remember what was found out about a bake, in the .blend as well."""
    _found[key] = report
    ob = found_again(bpy.data.objects, name, uid)
    if ob is not None and ob.mm.bake.key == key:
        ob.mm.bake.test_drive = records.to_text({"key": key, **report})
    redraw_panels()


def report(ob):
    """What the test drive of the present bake has said; empty before there was one."""
    bake = ob.mm.bake
    if bake.key in _found:
        return _found[bake.key]
    said = _read(bake.test_drive)
    return said if said.get("key") == bake.key else {}


def about(ob, name):
    """The figures of one clip, as a dict; None before a test drive."""
    key = ob.mm.bake.key
    if key not in _clips:
        said = report(ob)
        if not said:
            return None
        _clips[key] = {clip["clip"]: clip for clip in said["clips"]}
    return _clips[key].get(name)


def hints(ob):
    """Those hints that are not followed yet: the clip is still used."""
    used = {clip.action.name if clip.action else clip.name for clip in ob.mm.clips if clip.use}
    return [hint for hint in report(ob).get("hints", ()) if hint["clip"] in used]


def in_words(figures):
    """What a clip is like, in short sentences."""
    going = f"{figures['speed']:.1f} m/s, up to {figures['fastest']:.1f}; turns {figures['degrees_per_second']:.0f}°/s"
    standing = f"on the ground {figures['contact_share']:.0%}"
    jolts = "no jolts" if not figures["jolts"] else f"{figures['jolts']} jolt{'s' * (figures['jolts'] > 1)}"
    is_odd = figures["apart"] is not None and figures["apart"] >= UNLIKE
    far = f"; it is unlike the other clips, {figures['apart']:.1f} × as far from them as usual" if is_odd else ""
    return [f"{going}; {standing}; {jolts}", f"{figures['played']:.0%} of a test drive played it{far}"]


@lru_cache(maxsize=4)
def _read(text):
    """What the .blend has of a test drive; empty if it is none of ours."""
    try:
        said = records.from_text(text)
    except ValueError:
        return {}
    return said if isinstance(said, dict) and {"key", "clips", "hints", "said", "stops"} <= set(said) else {}
