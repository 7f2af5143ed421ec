# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions of asset libraries: those of other .blend files come into this one, each once."""

from pathlib import Path

import bpy

from ...errors import MotionError
from .. import actions
from . import sampling

ORIGIN = "motion_asset"  # custom property of an appended Action: the file and the name that it has there


def selected(context):
    """The Actions that are selected in the Asset Browser: local ones as they are, others as (path, name)."""
    found = [asset for asset in getattr(context, "selected_assets", None) or () if asset.id_type == "ACTION"]
    return [asset.local_id or (asset.full_library_path, asset.name) for asset in found]


def is_linked(context, path):
    """Whether the Asset Browser links what it brings in from a file; it appends otherwise."""
    method = getattr(getattr(context.space_data, "params", None), "import_method", "APPEND")
    if method == "FOLLOW_PREFS":
        libraries = context.preferences.filepaths.asset_libraries
        method = next((library.import_method for library in libraries
                       if Path(bpy.path.abspath(library.path)) in Path(path).parents), "APPEND")
    return method == "LINK"


def brought_in(path, name="", link=False):
    """The Action of a .blend file, or all that are assets there, as Actions of this one, and which of them are new."""
    path = bpy.path.abspath(path)
    if not Path(path).is_file():
        raise MotionError(f'There is no file "{path}".')
    try:
        with bpy.data.libraries.load(path, link=link, assets_only=not name) as (there, here):
            names = [each for each in there.actions if name in ("", each)]
            known = {} if link else {action.get(ORIGIN): action for action in bpy.data.actions}
            missing = [each for each in names if _origin(path, each) not in known]
            before = {*bpy.data.actions}
            here.actions = list(missing)
    except OSError as error:
        raise MotionError(f'Blender cannot read "{path}": choose a .blend file.') from error
    if not names:
        raise MotionError(f'"{path}" has no Action "{name}".' if name else f'"{path}" has no Actions that are assets.')
    read = dict(zip(missing, here.actions))
    new = [action for action in read.values() if action not in before]
    for each, action in read.items():
        if not link:
            action.asset_clear()  # the one in the library is the asset
            action[ORIGIN], action.use_fake_user = _origin(path, each), True
    return [read.get(each) or known[_origin(path, each)] for each in names], new


def unfit(ob, action):
    """Why an Action is no clip for an armature, as a sentence; empty if it is one."""
    span = actions.frame_range(action, ob)
    if span is not None and span[1] - span[0] < 1:
        return f'"{action.name}" is a pose, with a single frame: it was left out.'
    if span is None or not sampling.fit(ob, action)[0]:
        return f'"{action.name}" moves no bone of "{ob.name}": it was left out.'
    return ""


def _origin(path, name):
    return f"{Path(path).resolve()} {name}"
