# SPDX-License-Identifier: GPL-3.0-or-later
"""Two characters and their databases in a real window: none is lost, and what is shared is played."""


def test_two_characters_and_a_shared_database_end_well(blender, pictures):
    found = blender.play("owners", pictures)
    assert found["two"] == ["unsaved_Demo Character.mmdb", "unsaved_Demo Character.001.mmdb"] and found["run"]
    assert found["saved"] == ["shot_Demo Character.mmdb", "shot_Demo Character.001.mmdb"]
    assert found["words"] == ["ours", "ours"]
    assert found["ESC"]["same"] and found["ESC"]["words"] == ["ours", "another's"], "asked, and not answered"
    assert not found["RET"]["same"] and found["RET"]["words"] == ["another's", "ours"]
    assert found["kept"] and "shot_Demo Character.previous.mmdb" in found["RET"]["files"]
    assert found["end"][0] != found["end"][1] and found["end"][2:] == ["ours", "ours"]
