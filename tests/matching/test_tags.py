# SPDX-License-Identifier: GPL-3.0-or-later
import itertools

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.matching.tags import BUILT_IN, select
from tests import quadruped

# Every combination of three tags once.
ROWS = np.array(list(itertools.product([False, True], repeat=3)))
TAGS = {"run": ROWS[:, 0], "injured": ROWS[:, 1], "läuft schnell": ROWS[:, 2], "no-enter": ROWS[:, 2],
        "走る": ROWS[:, 1], "and": ROWS[:, 0], "contact.left": ROWS[:, 1]}
RUN, INJURED, THIRD = ROWS.T


@pytest.mark.parametrize("query, expected", [
    ("run", RUN),
    ("~run", ~RUN), ("!run", ~RUN), ("not run", ~RUN), ("~~run", RUN), ("~ ~ ~run", ~RUN),
    ("run & ~injured", RUN & ~INJURED), ("run&~injured", RUN & ~INJURED), ("run AND NOT injured", RUN & ~INJURED),
    ("run | injured", RUN | INJURED), ("run or injured", RUN | INJURED),
    ("run | injured & no-enter", RUN | (INJURED & THIRD)), ("run & injured | no-enter", (RUN & INJURED) | THIRD),
    ("(run | injured) & no-enter", (RUN | INJURED) & THIRD), ("no-enter & (run | injured)", (RUN | INJURED) & THIRD),
    ("~run | injured", ~RUN | INJURED), ("~(run | injured)", ~(RUN | INJURED)), ("~run & injured", ~RUN & INJURED),
    ("((((run))))", RUN), ("run & run", RUN), ("run & ~run", RUN & ~RUN),
    ('"läuft schnell"', THIRD), ('run&"läuft schnell"', RUN & THIRD), ('"run"', RUN), ("走る", INJURED),
    ('"and"', RUN), ('"and" and injured', RUN & INJURED), ("contact.left", INJURED),
    ("  run  ", RUN), ("\trun\n&\ninjured ", RUN & INJURED),
    ("", np.ones(8, bool)), ("   ", np.ones(8, bool)),
])
def test_a_query_selects(query, expected):
    assert np.array_equal(select(query, TAGS, 8), expected)


@pytest.mark.parametrize("query, words", [
    ("&", '"&" where a tag name belongs'), ("run &", "ends too early"), ("run | ", "ends too early"),
    ("~", "ends too early"), ("not", "ends too early"), ("& run", '"&" where'), ("run & & injured", '"&" where'),
    ("run | & injured", '"&" where'),
    ("(run", "not closed"), ("(run | (injured)", "not closed"), ("(", "ends too early"), ("()", r'"\)" where'),
    (")", r'"\)" where'), ("run)", r'makes no sense from "\)" on'), ("run injured", 'makes no sense from "injured" on'),
    ("run (injured)", r'makes no sense from "\(" on'), ("run ~injured", 'makes no sense from "~" on'),
    ('"run', "quotation mark without its partner"), ('run"', "quotation mark"), ('run & "läuft', "quotation mark"),
    ("Run", 'the tag "Run", which no clip has. Tags here: and, .*run'), ('""', 'the tag "", which no clip has'),
    ("läuft schnell", 'the tag "läuft"'), ("(" * 4000 + "run", "too many"), ("~" * 4000 + "run", "too many"),
    ("~" * 5001, "has 5,001 letters: use at most 5,000"),
])
def test_a_wrong_query_is_one_sentence(query, words):
    with pytest.raises(MotionError, match=words) as caught:
        select(query, TAGS, 8)
    assert str(caught.value).startswith("The tag query") and str(caught.value).endswith(".")


def test_without_tags_it_says_so():
    with pytest.raises(MotionError, match="Tags here: none yet"):
        select("run", {}, 8)


def test_a_selection_is_its_own_array():
    select("run", TAGS, 8)[:] = True
    assert np.array_equal(TAGS["run"], RUN) and not RUN.all()


def test_built_in_tags_are_explained():
    assert {"exclude", "no-enter", "loop"} < set(BUILT_IN) and all(BUILT_IN.values())


def test_each_limb_has_its_tag_of_contact():
    tags = {f"contact.{limb.tag}" for limb in quadruped.character().limbs}
    assert len(tags) == 4 and tags == {tag for tag in BUILT_IN if tag.startswith("contact.")}
