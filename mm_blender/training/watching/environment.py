# SPDX-License-Identifier: GPL-3.0-or-later
"""A private environment with torch: python -m mm_blender.training.watching.environment FOLDER.

It ends with whoever started it.

One that was left half made has no torch that loads, so it is not used; making it again begins anew.
"""

import os
import re
import subprocess
import sys
import threading
import venv

from .pythons import python_in

PACKAGES = ("torch", "numpy")


def make(folder):
    """Makes it; pip's exit code."""
    print("Making the environment", flush=True)
    venv.create(folder, clear=True, with_pip=True, symlinks=os.name != "nt")
    # Isolated: packages that PYTHONPATH leads to are not in the environment.
    pip = [python_in(folder), "-I", "-m", "pip", "--disable-pip-version-check"]
    # pip can tell how far a download is, from version 24.1 on.
    version = subprocess.run([*pip, "--version"], capture_output=True, text=True).stdout.split()[1:2]
    tells = version and tuple(int(part) for part in re.findall(r"\d+", version[0])[:2]) >= (24, 1)
    install = subprocess.Popen([*pip, "install", "--progress-bar", "raw" if tells else "off", *PACKAGES])
    threading.Thread(target=_end_with_parent, args=(install,), daemon=True).start()
    return install.wait()


def progress(lines):
    """How far it is, from what was said last: a share of what is being done, and what that is."""
    text, share = "Making the environment", 0.0
    for line in lines:
        words = line.split()
        if words[:1] == ["Progress"] and len(words) == 4:
            share = int(words[1]) / max(int(words[3]), 1) if words[1].isdigit() and words[3].isdigit() else share
        elif wheel := re.match(r"\s*(?:Downloading|Using cached) (?:\S*/)?([\w.]+-[^-]+)-\S+ \((.+)\)", line):
            text, share = f"Downloading {wheel[1]} ({wheel[2]})", 0.0
        elif line.startswith("Installing collected packages"):
            text, share = "Unpacking", 1.0
        elif line.startswith("Collecting"):
            text, share = line.split(" (")[0].strip(), 0.0
    return share, text


def trouble(lines):
    """Why it could not be made, in a sentence."""
    if any("No space left" in line or "Errno 28" in line for line in lines):
        return "The environment could not be made: the disk is full; free some space and try again."
    said = [line.strip() for line in lines if line.startswith("ERROR") or "Error" in line.partition(":")[0]]
    why = (said or [line.strip() for line in lines if line.strip()] or ["see its log"])[-1]
    return f"The environment could not be made: {why.removeprefix('ERROR: ').rstrip('.')[:160]}."


def _end_with_parent(install):
    while os.read(0, 1024):
        pass
    install.kill()
    os._exit(130)


if __name__ == "__main__":
    sys.exit(make(sys.argv[1]))
