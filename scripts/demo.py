# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the demo: builds the demo character and bakes it; leaves a .blend, pictures and a report in a folder."""

import sys
from pathlib import Path

import bpy

from tests.conftest import load_extension


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    load_extension().register()
    bpy.ops.mm.create_demo()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "demo.blend"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
