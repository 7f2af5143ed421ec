# SPDX-License-Identifier: GPL-3.0-or-later
"""A file with tags for clips, by the names of their files."""

import math
from fnmatch import fnmatchcase

from ..errors import MotionError
from ..text import read_json
from .terminal import say_all

TAG_FILE = 'A tag file looks like {"run*": ["run", {"name": "exclude", "start": 0, "end": 1.5}]}.'


def read_tags(path, files):
    """Pairs of a file name pattern and a tag: (name, start, end), the end None for that of the clip."""
    if path is None:
        return []
    try:
        record = read_json(path)
        if not isinstance(record, dict):
            raise ValueError("it is not in braces, with file names and their tags")
        tags = [(pattern.removesuffix(".bvh"), _tag(pattern, entry)) for pattern, many in record.items()
                for entry in (many if isinstance(many, list) else [many])]
    except MotionError as error:
        raise MotionError(f"{error} {TAG_FILE}") from error
    except ValueError as error:
        raise MotionError(f'The tag file "{path}" cannot be read: {error}. {TAG_FILE}') from error
    unknown = [pattern for pattern in dict.fromkeys(pattern for pattern, _ in tags)
               if not any(fnmatchcase(file.stem, pattern) for file in files)]
    say_all(f'The tag file "{path}" speaks of "{pattern}", and no clip has such a name.' for pattern in unknown)
    return tags


def record_of(tags):
    """What a file with such pairs holds."""
    record = {}
    for pattern, (name, start, end) in tags:
        entry = {"name": name, "start": start} | ({} if end is None else {"end": end})
        record.setdefault(pattern, []).append(name if end is None and not start else entry)
    return record


def _tag(pattern, entry):
    entry = entry if isinstance(entry, dict) else {"name": entry}
    name, start, end = entry.get("name"), entry.get("start", 0), entry.get("end")
    if not (isinstance(name, str) and name.strip()):
        raise ValueError(f'a tag of "{pattern}" has no name')
    times = start, start if end is None else end
    if not all(isinstance(time, (int, float)) and abs(time) < math.inf for time in times):
        raise ValueError(f'the times of the tag "{name}" of "{pattern}" are not seconds')
    if times[1] < times[0]:
        raise ValueError(f'the tag "{name}" of "{pattern}" ends before it begins')
    return name, float(start), None if end is None else float(end)
