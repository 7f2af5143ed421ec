# SPDX-License-Identifier: GPL-3.0-or-later
"""While driving, the board says what is played and which keys are held, and lines lie where things happen."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from mm_blender.control.keyboard import Keyboard
from mm_blender.control.stick import Stick
from mm_blender.matching.feature_lines import COLOURS, LIFT
from mm_blender.scene.driving import keymap
from mm_blender.scene.driving.driven import Paths
from mm_blender.scene.driving.session import Status
from mm_blender.scene.showing import drawing, hud
from mm_blender.scene.showing.ground_lines import GroundLines, smooth

STATUS = Status(clip="walk arc left", second=1.25, tags=("walk", "arc"), gait="run", speed=3.42, cost=0.371,
                search_ms=0.12, frame_ms=1.34, seconds=72.46)
ALL = ("show_desired", "show_matched", "show_contacts", "show_root")


def measure(text):
    return 6.0 * len(text)


def board(status=STATUS, labels=None, held=()):
    return hud.Board(status, labels or keymap.labels(), set(held), measure)


def texts(made):
    return [text for _, _, text, _ in made.texts]


def paths(**changes):
    times = np.array([0.0, 1 / 3, 2 / 3, 1.0])
    desired = np.stack([times, times ** 2, np.full(4, 0.5)], axis=-1)
    return Paths(**{"desired": desired, "desired_facings": times, "matched": desired * (1, 0, 1),
                    "toes": np.array([[0.1, 0.2, 0.5], [-0.1, 0.0, 0.6]]), "held": np.array([True, False]),
                    "root": np.array([0, 0, 0.5]), "yaw": 0.0, "simulated": np.array([0.1, 0, 0.5]),
                    "simulated_yaw": np.pi / 2} | changes)


def ground_lines(*shown, size=1.0, **changes):
    return hud.ground_lines_of(paths(**changes), SimpleNamespace(**{name: name in shown for name in ALL}), size)


def in_colour(shapes, kind):
    found, colours = shapes
    return found[np.isclose(colours[:, :3], COLOURS[kind]).all(axis=1)]


def test_the_board_says_what_is_played_and_why():
    said = texts(board())
    for text in ("1:12.4", "run, 3.4 m/s", "1.2 s of walk arc left", "walk, arc", "0.37",
                 "search 0.1 ms, frame 1.3 ms", "Keyboard   Motion Matching"):
        assert text in said
    assert "none" in texts(board(Status()))


def test_of_several_characters_the_driven_one_is_named():
    assert "Hero" in texts(board(replace(STATUS, name="Hero"))) and "Driven" not in texts(board())


@pytest.mark.parametrize("labels", [None, hud.PAD, {"keep": "Numpad Enter", "cancel": "Backspace"}])
def test_what_is_played_stands_clear_of_the_keys(labels):
    labels = labels if labels is hud.PAD else keymap.labels() | (labels or {})
    made = board(labels=labels)
    facts = next(x for x, _, text, _ in made.texts if text == "Gait")
    keys = {*labels.values(), *hud.MODES, *hud.ENDINGS}
    assert all(x + measure(text) <= facts - hud.EDGE + 1e-6 for x, _, text, _ in made.texts if text in keys)


def test_every_key_is_there_and_those_that_are_held_are_lit():
    made = board(held={"forward", "run"})
    keys = {text for text in texts(made) if text in keymap.labels().values()}
    shown = (*hud.KEYS, hud.MODES, hud.ENDINGS)  # the others are in the preferences
    assert keys == {keymap.labels()[control] for controls in shown for control in controls}
    assert sum(box[5] == hud.LIT for box in made.boxes) == 2 and sum(box[5] == hud.CAP for box in made.boxes) == 9
    lit = [box for box in made.boxes if box[5] == hud.LIT]
    for label in ("W", "Shift"):
        x, y, *_ = next(text for text in made.texts if text[2] == label)
        assert any(left < x < left + wide and low < y < low + high for left, low, wide, high, *_ in lit)


@pytest.mark.parametrize("labels", [None, hud.PAD])
def test_who_has_more_gaits_sees_which_key_chooses_them(labels):
    more = replace(STATUS, gaits=("walk", "run", "crouch", "sneak"))
    assert "next gait" not in texts(board(replace(STATUS, gaits=("walk", "run", "crouch")), labels))
    made = board(more, labels, held={"next_gait"})
    assert "next gait" in texts(made) and (labels or keymap.labels())["next_gait"] in texts(made)
    assert sum(box[5] == hud.LIT for box in made.boxes) == 1


def test_keys_with_long_names_and_controls_without_a_key_have_their_place():
    labels = keymap.labels() | {"forward": "Numpad 8"}
    del labels["run"]
    made = board(labels=labels)
    assert "Numpad 8" in texts(made) and "Shift" not in texts(made) and "run" not in texts(made)
    assert made.width > board().width
    keys = sorted(box[0] for box in made.boxes[2:5])  # Q, W, E beside each other
    assert all(after - before >= measure("Numpad 8") for before, after in pairwise(keys))


def test_with_a_gamepad_its_buttons_are_shown_and_lit():
    made = board(labels=hud.PAD, held={"move", "run"})
    assert {"Left Stick", "RT", "Start", "run", "keep"} <= set(texts(made)) and "W" not in texts(made)
    assert sum(box[5] == hud.LIT for box in made.boxes) == 2
    stick = Stick(move_y=1.0, run=1.0)
    session = SimpleNamespace(device=None, keyboard=Keyboard(), gait="walk",
                              driven=SimpleNamespace(stick=stick))
    assert hud.held_of(session, False) == {"move", "run"}
    session.device = session.keyboard
    session.keyboard.press("W", "forward")
    assert hud.held_of(session, True) == {"forward", "strafe"}


def test_trouble_is_amber_notes_are_quiet_and_both_wrap_inside_the_board():
    sentence = 'The tag query "crouch" selects no frame of this database, so everything may be played: ' * 2
    made = board(replace(STATUS, sentences=(sentence, "No frame."), notes=("Autosave waits.",)))
    amber = [text for text in made.texts if text[3] == hud.AMBER]
    assert len(amber) > 3 and " ".join(text[2] for text in amber) == f"{sentence}No frame."
    _, y, text, colour = made.texts[-1]
    assert (text, colour) == ("Autosave waits.", hud.DIM) and y < amber[-1][1]
    assert made.height > board().height


@pytest.mark.parametrize("status", [STATUS, replace(STATUS, clip="a very long name of a clip " * 5,
                                                    tags=("one",) * 40, sentences=("Word " * 80,))])
def test_nothing_leaves_the_board(status):
    made = board(status, held={"forward"})
    for x, y, text, _ in made.texts:
        assert x > 0 and x + measure(text) <= made.width - hud.EDGE + 0.01 and 0 < y < made.height
    for x, y, wide, high, *_ in made.boxes:
        assert x >= 0 and y >= 0 and x + wide <= made.width and y + high <= made.height


def test_boxes_become_triangles_and_edges_around_them():
    boxes = board().boxes
    for shapes, corners in ((hud.filled(boxes), 3), (hud.edges(boxes), 2)):
        points, colours = shapes
        assert points.shape[1:] == (corners, 3) and colours.shape == (len(points), 4)
    x, y, wide, high, radius, *_ = boxes[0]
    outline = hud.outline(x, y, wide, high, radius)
    assert np.allclose(outline.min(axis=0), (x, y, 0)) and np.allclose(outline.max(axis=0), (x + wide, y + high, 0))


def test_the_desired_path_leads_through_its_points_and_faces_where_it_should():
    made = ground_lines("show_desired")
    lines = in_colour(made.lines, "trajectory")
    for point in paths().desired:
        assert np.abs(lines - point - (0, 0, LIFT / 2)).sum(axis=-1).min() < 1e-9
    shafts = in_colour(made.lines, "trajectory_direction")[::3]  # three segments to an arrow
    along = shafts[:, 1] - shafts[:, 0]
    yaws = paths().desired_facings[1:]
    assert np.allclose(along / np.linalg.norm(along, axis=-1)[:, None],
                       np.stack([-np.sin(yaws), np.cos(yaws), 0 * yaws], axis=-1), atol=1e-6)


def test_only_feet_that_stand_are_marked():
    left = ground_lines("show_contacts")
    middle = in_colour(left.triangles, "bone_velocity")[:, 0]
    assert np.allclose(middle, paths().toes[0] + (0, 0, LIFT / 2))
    assert len(ground_lines("show_contacts", held=np.array([False, False])).triangles[0]) == 0
    assert len(ground_lines("show_contacts", held=np.array([True, True])).triangles[0]) == 2 * len(middle)


def test_both_roots_point_where_they_face():
    made = ground_lines("show_root")
    for kind, place, way in (("bone_position", (0, 0, 0.5), (0, 1)), ("trajectory", (0.1, 0, 0.5), (-1, 0))):
        (triangle,) = in_colour(made.triangles, kind)
        tip = triangle[1] - place
        assert np.allclose(tip[:2] / np.linalg.norm(tip[:2]), way)


def test_each_guide_can_be_switched_off():
    everything = ground_lines(*ALL).lines[0]
    for name in ALL:
        assert 0 < len(ground_lines(name).lines[0]) < len(everything)
    for found, colours in (ground_lines().lines, ground_lines().triangles):
        assert len(found) == len(colours) == 0


def test_ground_lines_are_as_large_as_the_character():
    small, large = (np.ptp(ground_lines("show_root", size=size, simulated=np.array([0, 0, 0.5])).lines[0], axis=(0, 1))
                    for size in (1.0, 3.0))
    assert np.allclose(large[:2], 3 * small[:2])


def test_a_curve_goes_through_its_points_and_a_straight_one_stays_straight():
    points = np.array([[0.0, 0, 0], [1, 1, 0], [2, 0, 0], [3, 1, 0]])
    curve = smooth(points)
    assert all(np.abs(curve - point).sum(axis=-1).min() < 1e-12 for point in points)
    assert np.allclose(smooth(points * (1, 0, 0))[:, 1:], 0)
    assert np.array_equal(smooth(points[:2]), points[:2])


def test_an_arrow_alone_is_drawn_outside_of_driving():
    arrow = GroundLines(2.0)
    arrow.arrow((1.0, 0.0, 0.0), np.pi / 2)
    (lines, _), (triangles, _) = arrow.lines, arrow.triangles
    assert np.isclose(lines[..., 0].min(), 1 - 2 * 0.82) and len(triangles) == 3


def test_without_a_session_nothing_is_drawn():
    assert hud.whom_to_show() == (None, None)
    hud.draw_board()
    hud.draw_ground_lines()


def test_what_has_not_changed_is_not_made_again():
    made = []
    for key in (("a", 1), ("a", 1), ("a", 2), ("b", 2)):
        drawing.kept(key[0], key, lambda: made.append(1))
    assert len(made) == 3
    drawing.forget()


def test_the_board_keeps_clear_of_the_toolbar_the_sidebar_and_of_panels_at_the_bottom():
    def region(kind, alignment, x, y, width, height):
        return SimpleNamespace(type=kind, alignment=alignment, x=x, y=y, width=width, height=height)
    window = region("WINDOW", "NONE", 100, 50, 800, 600)
    area = SimpleNamespace(regions=[window, region("TOOLS", "LEFT", 100, 50, 60, 600),
                                    region("HUD", "FLOAT", 160, 70, 200, 90), region("UI", "RIGHT", 700, 50, 200, 600)])
    assert hud.room(area, window) == (60, 110, 600)
    area.regions[1].width = area.regions[2].height = area.regions[3].width = 1  # hidden
    assert hud.room(area, window) == (0, 0, 800)


def test_in_a_small_viewport_the_board_is_smaller():
    board = SimpleNamespace(width=400, height=150)
    assert hud.fit(board, 1000, 800, 1.5) == 1, "it is never larger"
    assert hud.fit(board, 300, 800, 1.0) == pytest.approx(0.75), "no wider than what is left"
    assert hud.fit(board, 1000, 200, 1.0) == pytest.approx(0.8), "no higher than a share of the viewport"
