# SPDX-License-Identifier: GPL-3.0-or-later
"""Training the networks of a character in the background: where they are, and the jobs that make them."""

import os
from pathlib import Path

from ..errors import MotionError
from ..networks import origin
from .baking import database_path
from .features import schema_of
from .rig import skeleton_of

SUFFIX = ".mmnet"
# Networks that come with the extension.
SHIPPED = Path(__file__).resolve().parents[2] / "trained" / "demo.mmnet"


def networks_path(ob):
    """Where the armature's networks are: beside its database. Where none were trained, those that come with the
    extension are taken, if they are of this character."""
    own = own_networks_path(ob)
    return str(SHIPPED) if not os.path.isfile(own) and _is_shipped(ob) else own


def own_networks_path(ob):
    """Where training puts the armature's networks."""
    return os.path.splitext(database_path(ob))[0] + SUFFIX


def _is_shipped(ob):
    database = database_path(ob)
    if os.path.isfile(database):
        return origin.belong(SHIPPED, database)
    try:
        return origin.fit(SHIPPED, skeleton_of(ob), schema_of(ob))
    except MotionError:
        return False
