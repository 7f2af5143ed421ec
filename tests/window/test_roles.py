# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone roles in a real window, where presets have the folder of an installed extension."""


def test_roles_are_found_shown_selected_and_kept(blender, pictures):
    found = blender.play("roles", pictures)
    assert found["selected"] == ["foot.L"]
    assert "motion_matching" in found["folder"] and found["presets"] == ["Rigify head"]
    assert found["stance"] is True
    assert 'The preset "Rigify head" names the bone "spine"' in found["other rig"]
    assert 'which "Unnamed" does not have' in found["other rig"]
