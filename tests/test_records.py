# SPDX-License-Identifier: GPL-3.0-or-later
"""Records as JSON: what is written is valid, and what is read cannot break a sum."""

import json
import math

import pytest

from mm_blender import records


def test_what_is_no_number_is_written_as_null():
    text = records.to_text({"a": math.nan, "b": [1.5, -math.inf, {"c": (math.inf, 2)}], "d": True}, indent=1)
    assert json.loads(text, parse_constant=pytest.fail) == {"a": None, "b": [1.5, None, {"c": [None, 2]}], "d": True}


def test_what_was_written_comes_back():
    record = {"name": "Füße \udcff", "list": [1, -2.5, 10 ** 17, None, True, {}]}
    assert records.from_text(records.to_text(record)) == record


@pytest.mark.parametrize("text, words", [
    (f"[{10 ** 400}]", "401 digits"), (f'{{"a": {-10 ** 30}}}', "digits"), ("[1e999]", "too large"),
    ("[" * 100_000, "too deep"), ("{", "Expecting")])
def test_what_would_break_a_sum_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        records.from_text(text)


def test_what_is_no_number_is_read_as_none():
    assert records.from_text("[NaN, Infinity, -Infinity, 0.5]") == [None, None, None, 0.5]
