# SPDX-License-Identifier: GPL-3.0-or-later
"""What the window tests share: the extension's zip, and the Blender of $BLENDER with that zip installed and enabled."""

import os
import sys

import pytest

import dev
from tests.window.harness import Blender


@pytest.fixture(scope="session")
def archive(tmp_path_factory):
    """The extension's zip."""
    return dev.build(sys.executable, tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="session")
def blender(archive, tmp_path_factory):
    """A Blender that got the zip into a clean profile."""
    if "BLENDER" not in os.environ:
        pytest.skip("set BLENDER to the command line of a Blender that can open a window")
    installed = Blender(dev.blender_command(), tmp_path_factory.mktemp("profile"))
    installed.extension("install-file", "-r", "user_default", "--enable", str(archive))
    yield installed
    installed.end()


@pytest.fixture(scope="session")
def pictures():
    """Where the pictures go: .cache/pictures, with a folder for each Blender version."""
    return dev.ROOT / ".cache" / "pictures"
