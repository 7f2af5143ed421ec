# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said is one line that a terminal and a panel can show, whatever a file has put into it."""

import warnings

import pytest

from mm_blender.errors import NAME, SENTENCE, MotionError, MotionWarning, readable


@pytest.mark.parametrize("text, shown", [
    ('The bone "Hüfte ▲ 腰" is gone.', 'The bone "Hüfte ▲ 腰" is gone.'),
    ("\x1b[31mred\x1b]0;title\x07", "�[31mred�]0;title�"), ("one\r\n  two\tthree", "one two three"),
    ("\x9b2J and \u202egnol\u2066", "�2J and �gnol�"), ("two  spaces", "two  spaces"), (5.5, "5.5"), ("", ""),
    ("w\udcfflk", "w\\udcfflk"),
])
def test_control_characters_are_not_shown_and_all_else_is(text, shown):
    assert readable(text) == shown


def test_long_names_lose_their_middle_and_the_sentence_stays():
    assert readable(f'The bone "{"a" * 5000}z" is gone: choose another one.') == (
        f'The bone "{"a" * (NAME * 2 // 3)} … {"a" * (NAME // 3 - 4)}z" is gone: choose another one.')
    between = "x" * NAME
    assert readable(f'"a" {between}{between} "b"') == f'"a" {between}{between} "b"'


def test_a_long_sentence_keeps_its_end_which_says_what_to_do():
    said = readable("Bones: " + ", ".join(f"bone{index}" for index in range(1000)) + ". Choose one.")
    assert len(said) <= SENTENCE and said.startswith("Bones: bone0, bone1") and said.endswith("bone999. Choose one.")


def test_errors_and_warnings_are_readable():
    assert str(MotionError("a\x1b\n" + 5000 * "b")) == readable("a\x1b\n" + 5000 * "b")
    with pytest.warns(MotionWarning, match="^a� b$"):
        warnings.warn("a\x1b\nb", MotionWarning, stacklevel=1)
