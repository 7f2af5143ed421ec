# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a file is: what is written into a header is read again, and shown as text that any screen can show."""

import pytest

from mm_blender.owner import Owner, owner_in, signed


@pytest.mark.parametrize("blend", ["", "/shots/hero.blend", r"C:\shots\hero.blend", "/\udcff/\u200d.blend"])
def test_an_owner_comes_back(blend):
    owner = Owner("1", "Hero", blend)
    assert owner_in(signed(owner)) == owner and owner_in(signed(None)) is None


@pytest.mark.parametrize("name, blend, said", [
    ("Hero", "/shots/hero.blend", '"Hero" in hero.blend'), ("Hero", r"C:\shots\hero.blend", '"Hero" in hero.blend'),
    ("Hero", "", '"Hero" in a .blend that was not saved'),
    ("\x1b[2J", "/\udcff.blend", '"?[2J" in ?.blend')])
def test_it_is_said_in_a_few_words(name, blend, said):
    assert str(Owner("1", name, blend)) == said
