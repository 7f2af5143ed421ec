# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet to look at: what a stick makes the demo character do, as a strip of pictures and as a short film.

    python3 dev.py film                            the moments of the manual
    python3 dev.py film STICK.csv --from 2 --to 6  some seconds of a recording

The camera stays low, lines on the ground are half a metre apart, and a disc lies where a toe is held: bright while it
is, pale afterwards. A foot that skates leaves its disc.
"""

import argparse
import os
import sys
import tempfile
import traceback
from math import radians
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector
from PIL import Image

from demo import ROOT, extension, material_of, quiet, save_picture

# Name → rows of the stick (seconds, where it points and where it faces, in degrees to the right or None), the seconds
# that are shown, and where the character faces in the beginning.
MOMENTS = {
    "film_reversal": (((0.0, 90, None), (3.0, -90, None)), 2.6, 5.0, 90),
    "film_stop": (((0.0, 90, None), (3.0, None, None)), 2.4, 4.8, 90),
    "film_strafe": (((0.0, None, 180), (0.5, 90, 180), (2.5, -90, 180)), 1.4, 3.8, 180),
    "film_turn": (((0.0, None, 90), (1.0, None, -90)), 0.9, 2.7, 90),
}
SIZE, RATE, POSES, POSE_WIDTH = (640, 400), 30, 8, 232  # pixels, pictures a second, and of them in a strip
GROUND, LINES, SKY = (0.66, 0.67, 0.69), (0.46, 0.47, 0.50), (0.52, 0.55, 0.60)  # as if they were lit fully
HELD, LEFT = (0.15, 1.0, 0.30), (0.84, 0.94, 0.85)
AWAY, HIGH, LOOKED_AT, CALM = 4.7, 1.5, 0.86, 0.5  # metres of the camera; seconds over which it follows


def main():
    parser = argparse.ArgumentParser(prog="python3 dev.py film", description=__doc__.splitlines()[0])
    parser.add_argument("stick", nargs="?", help="a recording; without one, the moments of the manual")
    parser.add_argument("--from", dest="begin", type=float, default=0.0, help="second (0)")
    parser.add_argument("--to", dest="end", type=float, help="second (the end)")
    parser.add_argument("--networks", help="drive with Learned Motion Matching")
    parser.add_argument("-o", "--output", default=ROOT / "film", type=Path, help="folder (film)")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    extension().register()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.mm.create_demo()
    from motion_matching.mm_blender.control import stick
    character, library = bpy.context.object, _library(options.networks)
    if options.stick:
        recording = stick.load(options.stick)
        end = recording.duration if options.end is None else options.end
        moments = {Path(options.stick).stem: (recording, options.begin, end, 0)}
    else:
        moments = {name: (_recording(rows, end), *rest, end, facing)
                   for name, (rows, *rest, end, facing) in MOMENTS.items()}
    for name, moment in moments.items():
        film(character, library, *moment, options.output / name)


def film(character, library, recording, begin, end, facing, path):
    """Drives from a recording and shows the seconds from begin to end: path.png and path.webp."""
    from motion_matching.mm_blender.playback.drive import drive
    from motion_matching.mm_blender.scene.driving import takes
    clip, trace = drive(library, recording, place=(np.zeros((1, 2)), np.array([-radians(facing)])))
    takes.keep(character, clip, path.name)
    frames = np.arange(round(begin * clip.rate), min(round(end * clip.rate), len(clip)), round(clip.rate / RATE))
    set_ = _Set(clip, _marks(library.database.character, clip, trace.planted), path.name)
    with tempfile.TemporaryDirectory() as folder:
        pictures = [set_.picture(int(frame), Path(folder) / f"{at}.png") for at, frame in enumerate(frames)]
    set_.clear()
    chosen = [pictures[at] for at in np.linspace(0, len(pictures) - 1, POSES).round().astype(int)]
    left = (SIZE[0] - POSE_WIDTH) // 2
    strip = np.concatenate([picture[:, left:left + POSE_WIDTH] for picture in chosen], axis=1)
    save_picture(np.insert(strip[::-1] / 255, 3, 1, axis=2), path.with_suffix(".png"))
    first, *others = [Image.fromarray(picture) for picture in pictures]
    first.save(path.with_suffix(".webp"), save_all=True, append_images=others, duration=round(1000 / RATE), loop=0,
               quality=40, method=4)
    print(f"{path.name}: {len(pictures)} pictures", flush=True)


def _library(networks):
    """What the demo character plays from: its motion, baked, or what was learned."""
    from motion_matching.mm_blender.matching import database
    from motion_matching.mm_blender.networks.library import library_for
    from motion_matching.mm_blender.playback.library import BakedLibrary
    if networks:
        return library_for("lmm", networks)
    with tempfile.TemporaryDirectory() as folder:
        bpy.context.object.mm.bake.path = str(Path(folder) / "demo.mmdb")
        bpy.ops.mm.bake()
        return BakedLibrary(database.load(bpy.context.object.mm.bake.path))


def _recording(rows, end):
    """A stick that points and faces in directions, each until the next one."""
    from motion_matching.mm_blender.control.stick import NAMES, Recording
    rows = [*rows, (end, *rows[-1][1:])]
    table = np.zeros((len(rows), len(NAMES)))
    for row, (_, way, face) in zip(table, rows):
        for name, degrees in (("move", way), ("face", face)):
            if degrees is not None:
                row[NAMES.index(f"{name}_x")] = np.sin(radians(degrees))
                row[NAMES.index(f"{name}_y")] = np.cos(radians(degrees))
        row[NAMES.index("strafe")] = face is not None
    return Recording(np.array([row[0] for row in rows]), table)


def _marks(character, clip, planted):
    """(place, first frame, frame after the last) of each time that a toe is held."""
    toes = character.contact_places(*clip.globals())
    for limb, held in enumerate(planted.T):
        changes = np.flatnonzero(np.diff(np.concatenate([[False], held, [False]]).astype(int)))
        for start, stop in changes.reshape(-1, 2).tolist():
            yield toes[(start + stop) // 2, limb], start, stop


class _Set:
    """The scene with ground, camera and marks around what is driven."""

    def __init__(self, clip, marks, name):
        self.scene, self._collection = bpy.context.scene, bpy.data.collections.new(name)
        self.scene.collection.children.link(self._collection)
        render, shading = self.scene.render, self.scene.display.shading
        render.engine, (render.resolution_x, render.resolution_y) = "BLENDER_WORKBENCH", SIZE
        self.scene.view_settings.view_transform, self.scene.display.render_aa = "Standard", "5"
        self.scene.world = bpy.data.worlds.new("Sky")
        self.scene.world.color = np.float_power(SKY, 2.2)
        shading.light, shading.color_type, shading.show_shadows = "STUDIO", "MATERIAL", True
        shading.shadow_intensity, shading.show_cavity, shading.cavity_type = 0.25, True, "BOTH"
        window = 2 * round(CALM * clip.rate) + 1
        padded = np.pad(clip.positions[:, 0, :2], ((window // 2, window // 2), (0, 0)), mode="edge")
        self._middles = np.stack([np.convolve(padded[:, axis], np.hanning(window) / np.hanning(window).sum(), "valid")
                                  for axis in (0, 1)], axis=1)
        self._marks = [(self._disc(place, HELD), self._disc(place, LEFT), start, stop) for place, start, stop in marks]
        self._camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        self._collection.objects.link(self._camera)
        self.scene.camera = self._camera
        self._flat((-60, 60), (-60, 60), -0.002, GROUND)
        for at in np.arange(-20, 20.5, 0.5):
            self._flat((at - 0.006, at + 0.006), (-20, 20), 0.0, LINES)
            self._flat((-20, 20), (at - 0.006, at + 0.006), 0.0, LINES)

    def picture(self, frame, path):
        """A frame of the take, (height, width, 3) uint8."""
        for bright, pale, start, stop in self._marks:
            bright.hide_render, pale.hide_render = not start <= frame < stop, frame < stop
        x, y = self._middles[frame]
        eye = Vector((x, y - AWAY, HIGH))
        turn = (Vector((x, y, LOOKED_AT)) - eye).to_track_quat("-Z", "Y")
        self._camera.matrix_world = Matrix.LocRotScale(eye, turn, None)
        self.scene.frame_set(1 + frame)
        self.scene.render.filepath = str(path)
        with quiet():
            bpy.ops.render.render(write_still=True, scene=self.scene.name)
        return np.array(Image.open(path).convert("RGB"))

    def clear(self):
        bpy.data.batch_remove([*self._collection.objects, self._collection])

    def _disc(self, place, colour):
        angles = np.linspace(0, 2 * np.pi, 32, endpoint=False)
        height = 0.004 if colour == HELD else 0.002
        return self._mesh([(place[0] + 0.09 * np.cos(angle), place[1] + 0.09 * np.sin(angle), height)
                           for angle in angles], colour)

    def _flat(self, x, y, z, colour):
        self._mesh([(x[0], y[0], z), (x[1], y[0], z), (x[1], y[1], z), (x[0], y[1], z)], colour)

    def _mesh(self, corners, colour):
        mesh = bpy.data.meshes.new("Flat")
        mesh.from_pydata(corners, [], [range(len(corners))])
        mesh.materials.append(material_of(colour))
        ob = bpy.data.objects.new("Flat", mesh)
        self._collection.objects.link(ob)
        return ob


if __name__ == "__main__":
    try:
        main()
        code = 0
    except Exception as error:
        # What is wrong with a recording is said in a sentence.
        print(error, file=sys.stderr) if type(error).__name__ == "MotionError" else traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Blender's module may hang while it tidies up
