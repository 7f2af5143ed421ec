# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of the artist's own: one JSON file each in the extension's folder, for all .blend files."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import MotionError
from ..files import replacing
from ..text import read_json
from .own_folder import own_folder

VERSION = 1
_UNSAFE = re.compile(r'[\\/:*?"<>|.\x00-\x1f]')  # what a file's name cannot have somewhere
# What a reader may stumble over in content that is not as it should be.
_DAMAGE = (MotionError, ValueError, KeyError, TypeError, AttributeError, OverflowError)


@dataclass(frozen=True)
class Presets:
    """The presets of one kind: "roles", "features" or "drive", which is what folder and files are called."""

    kind: str

    @property
    def ending(self):
        return f".{self.kind}.json"

    @property
    def folder(self):
        return Path(own_folder(self.kind))

    def names(self):
        """The names of all presets, in order."""
        return sorted((path.name.removesuffix(self.ending) for path in self.folder.glob(f"*{self.ending}")),
                      key=str.lower)

    def write(self, name, content):
        """Write what JSON knows into the preset with this name, which may be there already; returns its name."""
        name = _UNSAFE.sub("_", name).strip()[:60]
        if not name.strip("_"):
            raise MotionError("Give the preset a name.")
        with replacing(self._path(name)) as temporary:
            temporary.write_text(json.dumps({"version": VERSION, **content}, indent=1, ensure_ascii=False),
                                 encoding="utf-8")
        return name

    def read(self, name, understand):
        """What understand(content) makes of a preset's content; a sentence where it has none that can be used."""
        if not self._path(name).exists():
            raise MotionError(f'There is no preset "{name}".')
        try:
            content = read_json(self._path(name))
            version = int(content.pop("version"))
            if version <= VERSION:
                return understand(content)
        except _DAMAGE as error:
            raise MotionError(f'The preset "{name}" is damaged: remove it and save it anew.') from error
        raise MotionError(f'The preset "{name}" was made by a newer Motion Matching: update the extension.')

    def remove(self, name):
        path = self._path(name)
        if not path.exists():
            raise MotionError(f'There is no preset "{name}".')
        try:
            path.unlink()
        except OSError as error:
            raise MotionError(f'The preset "{name}" could not be removed: {error.strerror or error}.') from error

    def _path(self, name):
        return self.folder / (name + self.ending)
