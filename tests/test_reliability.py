# SPDX-License-Identifier: GPL-3.0-or-later
"""What docs/reliability.md promises is held by tests that are there."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROWS = re.findall(r"^\|.*\| `([\w/]+\.py)::(\w+)` \|$",
                  (TESTS.parent / "docs" / "reliability.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_each_promise_names_a_test_that_is_there():
    assert len(ROWS) >= 60
    missing = [f"{file}::{name}" for file, name in ROWS
               if not (TESTS / file).exists() or f"def {name}(" not in (TESTS / file).read_text(encoding="utf-8")]
    assert not missing, missing


def test_no_two_promises_are_held_by_one_test():
    assert len(ROWS) == len(set(ROWS))
