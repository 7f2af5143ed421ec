# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the extension keeps what has no place beside the .blend."""

import bpy


def own_folder(name):
    """A folder of the extension's own; it is made if it is not there."""
    package = __package__.partition(".mm_blender")[0]
    try:
        return bpy.utils.extension_path_user(package, path=name, create=True)
    except ValueError:  # not installed as an extension: run from a source folder
        return bpy.app.tempdir
