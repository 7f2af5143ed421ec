# SPDX-License-Identifier: GPL-3.0-or-later
"""What the viewport shows while a character is driven: a board in its lower left corner, and lines on the ground."""

import time
from functools import lru_cache

import blf
import bpy
import gpu
import numpy as np

from ...control.gaits import USUAL
from ...control.gamepad import Gamepads
from ...control.intent import beyond_dead_zone
from .. import driving
from ..driving import keymap
from ..driving.view import view_of
from ..rig.facing import hip_height
from . import drawing
from .ground_lines import GroundLines, closed, fan

# In pixels of a screen whose resolution scale is 1: text and a line of it, a key, the board's edge and what is between.
TEXT, LINE, KEY, EDGE, GAP, LABEL, FACTS = 11, 20, 21, 12, 4, 40, 220
RISE = 6  # from the bottom of a key or a line to the text in it
MARGIN = 16  # from the board to the viewport's edge
# In a small viewport the board takes no more than this share of the height, and is no smaller than a share of its size:
# then it is not drawn.
HIGHEST, SMALLEST = 0.6, 0.6
ROUND = 4
WHITE, DIM, AMBER = (1.0, 1.0, 1.0, 0.92), (1.0, 1.0, 1.0, 0.55), (1.0, 0.72, 0.25, 1.0)
BOX, BOX_EDGE = (0.05, 0.05, 0.05, 0.90), (1.0, 1.0, 1.0, 0.10)
CAP, CAP_EDGE = (0.22, 0.22, 0.22, 0.90), (1.0, 1.0, 1.0, 0.20)
LIT, LIT_EDGE = (0.28, 0.45, 0.70, 1.0), (0.60, 0.78, 1.0, 0.90)
RED = (0.92, 0.20, 0.18, 1.0)
KEYS = (("turn_left", "forward", "turn_right"), ("left", "back", "right"))
STICKS = (("move",), ("look",))
PAD = {"move": "Left Stick", "look": "Right Stick", "run": "RT", "crouch": "B", "strafe": "LT", "next_gait": "Y",
       "keep": "Start", "cancel": "Back"}
MODES = ("run", "crouch", "strafe")
ENDINGS = ("keep", "cancel")


class Board:
    """Texts and boxes, in pixels from the lower left corner.

    labels  {control: name of its key, or PAD}
    held    controls that are held: their keys are lit
    measure how wide a text is
    texts   (x, y, text, colour)
    boxes   (x, y, width, height, radius, colour, colour of the edge)
    """

    def __init__(self, status, labels, held, measure):
        self.texts, self.boxes = [], []
        self._labels, self._held, self._measure = labels, held, measure
        self._steering = STICKS if labels is PAD else KEYS
        # Who has the usual gaits alone has buttons for all of them.
        self._modes = MODES if set(status.gaits) <= set(USUAL) else (*MODES, "next_gait")
        beside = 2 * EDGE + self._keys_width()
        self.width = beside + EDGE + LABEL + FACTS
        sentences = [(line, colour) for some, colour in ((status.sentences, AMBER), (status.notes, DIM))
                     for sentence in some for line in self._wrapped(sentence, self.width - 2 * EDGE)]
        facts = facts_of(status)
        body = max((len(self._modes) + 1) * (KEY + GAP), len(facts) * LINE) + (GAP if sentences else 0)
        self.height = EDGE + LINE + GAP + body + LINE * len(sentences) + EDGE - GAP
        self._box(0, 0, self.width, self.height, 2 * ROUND, BOX, BOX_EDGE)
        top = self.height - EDGE + GAP
        self._put_head(status, top - LINE)
        top -= LINE + GAP
        self._put_keys(top)
        self._put_facts(facts, beside, top)
        for row, (line, colour) in enumerate(sentences, start=1):
            self._text(EDGE, top - body - row * LINE, line, colour)

    def _put_head(self, status, y):
        dot = 8
        self._box(EDGE, y + RISE, dot, dot, dot / 2, RED, RED)
        minutes, tenths = divmod(int(status.seconds * 10), 600)
        self._text(EDGE + 2 * dot, y, f"{minutes}:{tenths // 10:02d}.{tenths % 10}", WHITE)
        about = f"{status.device}   {status.method}" + (f" | {status.beside}" if status.beside else "")
        self._text(self.width - EDGE - self._measure(about), y, about, DIM)

    def _put_keys(self, top):
        """The keys, about as they lie on a keyboard, or the buttons of a gamepad."""
        step, wide = KEY + GAP, self._widest(*self._steering)
        for row, controls in enumerate(self._steering, start=1):
            for column, control in enumerate(controls):
                self._key(control, EDGE + column * (wide + GAP), top - row * step, wide)
        left, wide = EDGE + len(self._steering[0]) * (wide + GAP) + EDGE, self._widest(self._modes)
        for row, control in enumerate(self._modes, start=1):
            self._key(control, left, top - row * step, wide, control.replace("_", " "))
        left, y = EDGE, top - (len(self._modes) + 1) * step
        for control in ENDINGS:
            left += self._key(control, left, y, self._widest((control,)), control) + EDGE

    def _put_facts(self, facts, left, top):
        for row, (label, value) in enumerate(facts, start=1):
            self._text(left, top - row * LINE, label, DIM)
            self._text(left + LABEL, top - row * LINE, self._shortened(value, FACTS), WHITE)

    def _key(self, control, x, y, wide, meaning=""):
        """A key with what it does; returns the width of both."""
        label = self._labels.get(control)
        if label is None:
            return 0
        self._box(x, y, wide, KEY, ROUND, *((LIT, LIT_EDGE) if control in self._held else (CAP, CAP_EDGE)))
        self._text(x + (wide - self._measure(label)) / 2, y, label, WHITE)
        if meaning:
            self._text(x + wide + 2 * GAP, y, meaning, DIM)
        return wide + 2 * GAP + self._measure(meaning)

    def _keys_width(self):
        modes = self._widest(self._modes) + 2 * GAP + max(map(self._measure, self._modes))
        endings = [self._widest((control,)) + 2 * GAP + self._measure(control) for control in ENDINGS]
        return max(len(self._steering[0]) * (self._widest(*self._steering) + GAP) + EDGE + modes,
                   sum(endings) + EDGE * (len(ENDINGS) - 1))

    def _widest(self, *rows):
        """How wide a key must be for any of these controls."""
        return max(KEY, *(self._measure(self._labels.get(control, "")) + 3 * GAP for row in rows for control in row))

    def _text(self, x, y, text, colour):
        self.texts.append((x, y + RISE, text, colour))

    def _box(self, *box):
        self.boxes.append(box)

    def _shortened(self, text, room):
        if self._measure(text) <= room:
            return text
        while text and self._measure(f"{text}…") > room:
            text = text[:-1]
        return f"{text}…"

    def _wrapped(self, text, room):
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if lines[-1] and self._measure(longer) > room:
                lines.append(word)
            else:
                lines[-1] = longer
        return lines


def facts_of(status):
    """What is being played, as (label, value)."""
    facts = {"Driven": status.name,
             "Gait": f"{status.gait}, {status.speed:.1f} m/s",
             "Clip": f"{status.second:.1f} s of {status.short or status.clip}" if status.clip else "",
             "Tags": ", ".join(status.tags) or "none",
             "Cost": f"{status.cost:.2f}",
             "Time": f"search {status.search_ms:.1f} ms, frame {status.frame_ms:.1f} ms",
             "Apart": "{:.1f} cm, {:.1f} on average".format(*status.apart) if status.beside else ""}
    return tuple((label, value) for label, value in facts.items() if value)  # what was learned has no clips


def held_of(session, strafe):
    """The controls that a hand holds now, on whatever it steers with; strafe: whether it is switched on."""
    lasting = {"strafe": strafe, "next_gait": session.gait != "walk"}
    held = session.keyboard.held | {control for control, on in lasting.items() if on}
    if session.device is session.keyboard or session.driven.stick is None:
        return held
    stick = session.driven.stick
    sticks = {"move": stick.move, "look": stick.face}
    return held | {mode for mode in MODES if getattr(stick, mode) > 0.5} | {
        name for name, pushed in sticks.items() if beyond_dead_zone(pushed).any()}


def ground_lines_of(paths, settings, size):
    """The GroundLines that the person wants to see."""
    made = GroundLines(size)
    if settings.show_matched:
        made.matched(paths.matched)
    if settings.show_desired:
        made.desired(paths.desired, paths.desired_facings)
    if settings.show_contacts:
        made.contacts(paths.toes, paths.held)
    if settings.show_root:
        made.root(paths.root, paths.yaw, paths.simulated, paths.simulated_yaw)
    return made


# Drawing

def draw_board():
    session, ob = whom_to_show()
    hidden = session is None or (ob is not None and not ob.mm.drive.show_hud)  # that it is gone is always said
    if hidden or bpy.context.region_data != view_of(bpy.context):
        return
    scale = bpy.context.preferences.system.ui_scale
    blf.size(0, TEXT * scale)
    labels = drawing.kept("labels", int(time.perf_counter()), keymap.labels)  # they may be changed meanwhile
    with_pad = isinstance(session.device, Gamepads)
    shown = session.status, PAD if with_pad else labels, held_of(session, ob is not None and ob.mm.drive.strafe)
    board, region = Board(*shown, lambda text: _width(text, scale)), bpy.context.region
    left, bottom, right = room(bpy.context.area, region)
    left, bottom, right = left + MARGIN * scale, bottom + MARGIN * scale, right - MARGIN * scale
    smaller = fit(board, right - left, region.height, scale)
    if smaller < SMALLEST:
        return
    if smaller < 1:  # letters of another size are not all as much wider
        scale *= smaller
        blf.size(0, TEXT * scale)
        board = Board(*shown, lambda text: _width(text, scale))
    gpu.state.blend_set("ALPHA")
    with gpu.matrix.push_pop():
        gpu.matrix.translate((left, bottom))
        gpu.matrix.scale((scale, scale))
        key = ("board", board.boxes)
        drawing.draw_triangles(key, lambda: filled(board.boxes))
        drawing.draw_lines(key, lambda: edges(board.boxes), width=1.2, rim=0)
    for x, y, text, colour in board.texts:
        blf.position(0, left + x * scale, bottom + y * scale, 0)
        blf.color(0, *colour)
        blf.draw(0, text)
    gpu.state.blend_set("NONE")


def draw_ground_lines():
    session, ob = whom_to_show()
    if ob is None or (paths := session.paths) is None:
        return
    settings, size = ob.mm.drive, hip_height(ob)
    shown = (settings.show_desired, settings.show_matched, settings.show_contacts, settings.show_root)
    if not any(shown):
        return
    key = ("ground lines", paths, shown, size)
    made = drawing.kept("ground lines", key, lambda: ground_lines_of(paths, settings, size))
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_mask_set(False)
    gpu.state.depth_test_set("LESS_EQUAL")
    drawing.draw_triangles(key, lambda: made.triangles)
    drawing.draw_lines(key, lambda: made.lines)
    gpu.state.depth_test_set("NONE")
    gpu.state.depth_mask_set(True)
    gpu.state.blend_set("NONE")


def whom_to_show():
    """The Session and the armature that gets the input, None if that is gone; None, None where there is nothing to
    draw."""
    session = driving.current()
    if session is None or not bpy.context.space_data.overlay.show_overlays:
        return None, None
    return session, session.driven.owner()


@lru_cache(maxsize=1024)
def _width(text, scale):
    """How wide a text is in unscaled pixels; its size has been set."""
    return blf.dimensions(0, text)[0] / scale


def room(area, region):
    """What is left of a viewport between its toolbar and its sidebar and above the panels at its bottom: left, bottom
    and right end."""
    left, bottom, right = 0, 0, region.width
    for other in area.regions:
        if other.width <= 1 or other.height <= 1:
            continue
        if other.type == "TOOLS" and other.alignment == "LEFT":
            left = max(left, other.x + other.width - region.x)
        elif other.type == "UI" and other.alignment == "RIGHT":
            right = min(right, other.x - region.x)
        elif other.type == "HUD" or (other.alignment == "BOTTOM" and other.type != "WINDOW"):
            bottom = max(bottom, other.y + other.height - region.y)
    return left, bottom, right


def fit(board, width, height, scale):
    """How much smaller a board has to be than at its usual scale: 1 where there is so much room as it needs."""
    return min(width / board.width, HIGHEST * height / board.height, scale) / scale


def filled(boxes):
    """Triangles (N, 3, 3) and their colours (N, 4)."""
    triangles, colours = [], []
    for x, y, width, height, radius, colour, _ in boxes:
        triangles.append(fan(outline(x, y, width, height, radius)))
        colours.append(np.tile(colour, (len(triangles[-1]), 1)))
    return np.concatenate(triangles), np.concatenate(colours)


def edges(boxes):
    """Segments (N, 2, 3) and their colours (N, 4)."""
    outlines = [closed(outline(*box[:5])) for box in boxes]
    return np.concatenate(outlines), np.concatenate([np.tile(box[6], (len(outline), 1))
                                                     for box, outline in zip(boxes, outlines)])


def outline(x, y, width, height, radius):
    """A rectangle (P, 3) with round corners."""
    angles = np.linspace(0, np.pi / 2, 6)
    corners = []
    for quarter, (at_x, at_y) in enumerate(((x + width, y + height), (x, y + height), (x, y), (x + width, y))):
        centre = np.array([at_x + (radius if quarter in (1, 2) else -radius),
                           at_y + (radius if quarter in (2, 3) else -radius), 0.0])
        turned = angles + quarter * np.pi / 2
        corners.append(centre + radius * np.stack([np.cos(turned), np.sin(turned), np.zeros(6)], axis=-1))
    return np.concatenate(corners)


# Registration

_drawings = []


def register():
    if not bpy.app.background:
        add = bpy.types.SpaceView3D.draw_handler_add
        _drawings.extend((add(draw_ground_lines, (), "WINDOW", "POST_VIEW"),
                          add(draw_board, (), "WINDOW", "POST_PIXEL")))


def unregister():
    while _drawings:
        bpy.types.SpaceView3D.draw_handler_remove(_drawings.pop(), "WINDOW")
    _width.cache_clear()
    drawing.forget()
