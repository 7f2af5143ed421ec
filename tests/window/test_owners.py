# SPDX-License-Identifier: GPL-3.0-or-later
"""Two characters and their databases in a real window: none is lost, and what is shared is played."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def test_two_characters_and_a_shared_database_end_well(blender, pictures):
    found = blender.play("owners", pictures)
    assert found["two"] == ["unsaved_Demo Character.mmdb", "unsaved_Demo Character.001.mmdb"] and found["run"]
    assert found["saved"] == ["shot_Demo Character.mmdb", "shot_Demo Character.001.mmdb"]
    assert found["words"] == ["ours", "ours"]
    assert found["ESC"]["same"] and found["ESC"]["words"] == ["ours", "another's"], "asked, and not answered"
    assert not found["RET"]["same"] and found["RET"]["words"] == ["another's", "ours"]
    assert found["kept"] and "shot_Demo Character.previous.mmdb" in found["RET"]["files"]
    assert found["end"][0] != found["end"][1] and found["end"][2:] == ["ours", "ours"]
    assert found["training"] == [["checkpoint.pt", "progress.jsonl"], True], "asked, and not answered"


def test_two_blenders_at_once_lose_nothing(blender, pictures):
    with ThreadPoolExecutor() as both:
        plays = [both.submit(blender.play, "both", pictures, name=name) for name in ("both one", "both other")]
        found = [play.result() for play in plays]
    first, second = sorted(found, key=lambda one: one["is"])
    assert first["unsaved"] != second["unsaved"] and first["unsaved"].endswith(Path(second["unsaved"]).name)
    assert first["untouched"] == ["ours", 50] and second["untouched"] == ["ours", 40]
    assert first["same"] == second["same"]
    assert "is being written by another Blender" in second["told"]
    assert "holds another bake" in second["stale"] and second["before"] == 49
    assert second["rates"] == [39, 49] and "It was kept as" in second["warned"][-1]
    assert first["first"][0] == "ours" and "holds another bake" in first["first"][1]
