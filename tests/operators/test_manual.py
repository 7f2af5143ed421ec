# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual lists every operator and every kind of feature, and its pictures exist."""

import re
from pathlib import Path

import bpy

from mm_blender.matching.features import KINDS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_manual_lists_every_operator_and_no_other(extension):
    listed = set(re.findall(r"`mm\.(\w+)`", (DOCS / "scripting.md").read_text(encoding="utf-8")))
    assert listed == set(dir(bpy.ops.mm))


def test_the_manual_lists_every_kind_of_feature():
    table = (DOCS / "panels.md").read_text(encoding="utf-8").split("| kind | numbers |")[1].split("\n\n")[0]
    named = [name for row in table.splitlines()[2:] for name in row.split("|")[1].strip().split(", ")]
    # Those of one family share a row: "Bone Position, Velocity".
    assert {name.rsplit("_", 1)[-1].title() for name in KINDS} == {name.split()[-1] for name in named}
    assert len(named) == len(KINDS)


def test_every_picture_of_the_manual_is_there():
    for page in [*DOCS.glob("*.md"), DOCS.parent / "README.md"]:
        for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / picture).is_file(), f"{page.name} shows {picture}, which does not exist"
