# SPDX-License-Identifier: GPL-3.0-or-later
"""A Python without torch can do all but train, and says so."""

import importlib.util

import pytest

from mm_blender.commands import main


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed")
def test_training_without_torch_is_told_in_one_sentence(tmp_path, capsys):
    assert main(["train", "some.mmdb", "-o", str(tmp_path / "some.mmnet")]) == 1
    assert "Training needs torch" in capsys.readouterr().err
