# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual lists every operator, and its pictures exist."""

import re
from pathlib import Path

import bpy

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_manual_lists_every_operator_and_no_other(extension):
    listed = set(re.findall(r"`mm\.(\w+)`", (DOCS / "scripting.md").read_text(encoding="utf-8")))
    assert listed == set(dir(bpy.ops.mm))


def test_every_picture_of_the_manual_is_there():
    for page in [*DOCS.glob("*.md"), DOCS.parent / "README.md"]:
        for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / picture).is_file(), f"{page.name} shows {picture}, which does not exist"
