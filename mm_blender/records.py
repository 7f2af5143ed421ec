# SPDX-License-Identifier: GPL-3.0-or-later
"""Records as JSON: what we write any program can read, and what we read holds no number that would break a sum."""

import json
import math

DIGITS = 18  # of the longest whole number that means anything


def to_text(record, **layout):
    """A record as JSON; in the place of what is no number (NaN, infinity) stands null, as JSON has neither."""
    return json.dumps(_finite(record), allow_nan=False, **layout)


def from_text(text):
    """What JSON says, or a ValueError; NaN and infinity, which JSON does not have, are None."""
    try:
        return json.loads(text, parse_int=_whole, parse_float=_number, parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("its brackets lie too deep within one another") from None


def _finite(value):
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _whole(digits):
    if len(digits.lstrip("-")) > DIGITS:
        raise ValueError(f"a number in it has {len(digits)} digits; {DIGITS} are the most")
    return int(digits)


def _number(text):
    if math.isinf(value := float(text)):
        raise ValueError(f"the number {text[:20]} in it is too large")
    return value
