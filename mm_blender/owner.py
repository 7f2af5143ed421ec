# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a file is: the character for which a database was baked or networks were trained, as the file's header says."""

from dataclasses import asdict, dataclass

LONGEST = 1024  # letters of a name or a path that are believed


@dataclass(frozen=True)
class Owner:
    """A character in Blender.

    id     of the armature, kept in the .blend
    name   of the armature when the file was written
    blend  where its .blend was then; empty if that was never saved
    """

    id: str
    name: str
    blend: str = ""

    def __str__(self):
        file = self.blend.replace("\\", "/").rpartition("/")[2] or "a .blend that was not saved"
        said = f'"{self.name}" in {file}'
        return "".join(letter if letter.isprintable() else "?" for letter in said)


def owner_in(header):
    """The Owner that a header names; None if it names none, as in files from a shell and of earlier versions."""
    said = header.get("owner")
    if not isinstance(said, dict):
        return None
    texts = [said.get(name) for name in ("id", "name", "blend")]
    if not all(isinstance(text, str) and len(text) <= LONGEST for text in texts):
        return None
    return Owner(*texts) if texts[0] else None


def signed(owner):
    """What a header says of an Owner; nothing if there is none."""
    return {} if owner is None else {"owner": asdict(owner)}
