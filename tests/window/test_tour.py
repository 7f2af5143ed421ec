# SPDX-License-Identifier: GPL-3.0-or-later
"""From nothing to a database in a real window, and what happens when the artist does not wait."""


def test_the_demo_character_bakes_in_the_background_and_again_after_an_edit(blender, pictures):
    found = blender.play("tour", pictures)
    assert found["clips"] > 50
    assert 0 < found["progress"] < 1, "Blender should draw while it bakes"
    first, second = found["first bake"], found["second bake"]
    assert first["error"] == "" and second["error"] == ""
    assert first["report"]["minutes"] > 7 and first["report"]["features"] == 27
    assert found["changes after bake"] == []
    assert len(found["changes after tag"]) == 1 and "changed" in found["changes after tag"][0]
    assert second["report"]["reused"] == found["clips"] - 1, "only the edited Action is read again"
    assert second["report"]["frames"] < first["report"]["frames"], "the excluded second is gone"


def test_cancelling_undoing_and_opening_a_file_in_mid_bake_lose_nothing(blender, pictures):
    found = blender.play("interrupt", pictures)
    assert found["first bake"] == ""
    for interruption in ("cancel", "undo", "delete", "open file"):
        assert found[interruption]["was baking"], f"the bake was over before {interruption}"
    for interruption in ("cancel", "delete", "open file"):
        assert found[interruption]["after"] == found[interruption]["before"], f"{interruption} hurt the database"
    assert found["undo"]["error"] == "" and found["undo"]["key"] == found["undo"]["file"] != ""
    assert "was deleted during the bake" in found["delete"]["error"]
    assert found["open file"]["job"] is False
    assert found["frame"] == found["frame before"] and found["action"] == found["action before"]
