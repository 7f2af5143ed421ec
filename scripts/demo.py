# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo without a window: create the character, bake it, and leave a .blend, pictures and a report in a folder."""

import importlib.util
import json
import os
import sys
import time
from math import cos, radians, sin
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

ROOT = Path(__file__).resolve().parent.parent
# Clips in the picture of the motion: label, Action, seconds from the first pose to the last, degrees of the turntable.
ROWS = (("Walk", "Demo walk", 0.0, 1.05, 55), ("Run", "Demo run", 0.0, 0.68, 55),
        ("Stop", "Demo run stop left", 1.3, 2.0, 55), ("Turn", "Demo turn 180 left", 0.85, 1.6, 20),
        ("Strafe", "Demo strafe left", 1.6, 1.5, -30), ("Crouch", "Demo crouch walk", 0.0, 1.2, 55))
POSES = 9
SPACING = 0.95  # metres between poses
# Frames in the picture of the features: label, Action, seconds.
MOMENTS = (("Walking", "Demo walk arc 2 left", 2.0), ("Running", "Demo run arc 5 right", 1.2),
           ("Stopping", "Demo run stop left", 1.7))
LEGEND = (("position", "bone_position"), ("velocity", "bone_velocity"), ("trajectory", "trajectory"),
          ("facing", "trajectory_direction"))
BACKGROUND, GROUND, INK = (0.055, 0.058, 0.066), (0.075, 0.079, 0.090), (0.75, 0.75, 0.72)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    _extension().register()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.mm.create_demo()
    character = bpy.context.object
    created = time.perf_counter()
    print(f"Character created in {created - began:.1f} s", flush=True)
    blend = folder / "demo.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=True)
    bpy.ops.mm.bake()
    baked = time.perf_counter()
    print(f"Baked in {baked - created:.1f} s", flush=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=True)
    report = _report(character, created - began, baked - created)
    (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    (folder / "report.md").write_text(_in_words(report), encoding="utf-8")
    _picture_of_motion(character, folder / "motion.png")
    _picture_of_features(character, folder / "features.png")
    (folder / "demo.blend1").unlink(missing_ok=True)
    print(f"See {folder}: " + ", ".join(sorted(path.name for path in folder.iterdir())), flush=True)


def _extension():
    """The root folder as the package `motion_matching`."""
    spec = importlib.util.spec_from_file_location("motion_matching", ROOT / "__init__.py",
                                                  submodule_search_locations=[str(ROOT)])
    package = sys.modules["motion_matching"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


def _report(character, created, baked):
    report = json.loads(character.mm.bake.report)
    kept = ("clips", "frames", "minutes", "rate", "features", "megabytes", "frames_per_tag", "not_entered",
            "contact_share", "left_out", "warnings")
    return {**{name: report[name] for name in kept}, "blender": bpy.app.version_string,
            "seconds_to_create": round(created, 2), "seconds_to_bake": round(baked, 2)}


def _in_words(report):
    lines = [
        "# Demo", "",
        f"Blender {report['blender']} created the demo character in {report['seconds_to_create']} s and baked "
        f"demo.mmdb in {report['seconds_to_bake']} s.", "",
        "| what | how much |", "|---|---|",
        f"| clips | {report['clips']} |",
        f"| motion | {report['minutes']:.1f} minutes, {report['frames']} frames at {report['rate']:g} per second |",
        f"| features | {report['features']} numbers per frame |",
        f"| size in memory | {report['megabytes']:.1f} MB |",
        *(f"| frames tagged {name} | {count} |" for name, count in report["frames_per_tag"].items()),
        *(f"| not entered: {reason} | {count} |" for reason, count in report["not_entered"].items()), "",
        *(f"- {sentence}" for sentence in report["left_out"] + report["warnings"]), "",
        "![The motion](motion.png)", "", "![The features](features.png)", "",
    ]
    return "\n".join(lines)


# Pictures: poses of the body as Blender shows them, frozen and set side by side in a scene of their own

def _picture_of_motion(character, path):
    rows = []
    for label, action, start, span, turn in ROWS:
        stage = _Stage(1600, 300, width=POSES * SPACING + 1.15, height=0.86, pitch=7)
        stage.write(label, (-1.5, 0, 0.86), 0.26)
        for index, seconds in enumerate(np.linspace(start, start + span, POSES)):
            stage.stand(*_frozen(character, action, seconds), x=index * SPACING, turn=turn)
        rows.append(stage.render())
    _save(np.concatenate(rows[::-1]), path)


def _picture_of_features(character, path):
    from motion_matching.mm_blender.matching.picture import COLOURS
    from motion_matching.mm_blender.scene import jobs, overlay
    pictures = []
    for label, action, seconds in MOMENTS:
        stage = _Stage(533, 620, width=2.9, height=0.75, pitch=24)
        body, root = _frozen(character, action, seconds)
        stage.stand(body, root, x=0, turn=35)
        measured = jobs.run(overlay.measure(character, bpy.context.scene))
        segments, colours = measured.picture.lines(round(seconds * 60))
        stage.draw(segments, colours, root, turn=35)
        stage.write(label, (-1.25, 0, 1.98), 0.15)
        pictures.append(stage.render())
    legend = _Stage(1599, 60, width=1599 / 60, height=0, pitch=0)
    for index, (label, kind) in enumerate(LEGEND):
        legend.write(label, (-8 + 5 * index, 0, -0.2), 0.55, COLOURS[kind])
    _save(np.concatenate([legend.render(), np.concatenate(pictures, axis=1)]), path)


def _frozen(character, action, seconds):
    """A mesh of the body as it is in an Action after so many seconds, and the root's matrix then."""
    from motion_matching.mm_blender.scene import actions
    actions.assign(character, bpy.data.actions[action])
    frame = 1 + seconds * 60
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    body = next(ob for ob in character.children if ob.type == "MESH")
    graph = bpy.context.evaluated_depsgraph_get()
    mesh = bpy.data.meshes.new_from_object(body.evaluated_get(graph), depsgraph=graph)
    return mesh, character.matrix_world @ character.pose.bones["root"].matrix


class _Stage:
    """A ground, a camera that looks at it along Y, and what is put there; it is empty again after render()."""

    def __init__(self, pixels_wide, pixels_high, width, height, pitch):
        self.scene = bpy.data.scenes.new("Stage")
        self.scene.render.engine = "BLENDER_WORKBENCH"
        self.scene.render.resolution_x, self.scene.render.resolution_y = pixels_wide, pixels_high
        self.scene.view_settings.view_transform = "Standard"
        self.scene.display.render_aa = "16"
        self.scene.display.light_direction = (-0.45, -0.35, 0.82)
        self.scene.display.shadow_shift = 0.1
        shading = self.scene.display.shading
        shading.light, shading.color_type = "STUDIO", "MATERIAL"
        shading.show_shadows, shading.shadow_intensity = True, 0.35
        shading.show_cavity, shading.cavity_type = True, "BOTH"
        shading.background_type, shading.background_color = "VIEWPORT", BACKGROUND
        self._camera(width, height, radians(pitch))
        if pitch:
            self._ground()

    def stand(self, mesh, root, x, turn):
        """Put a frozen body on the stage, its root at x, turned by degrees from looking at the camera."""
        ob = bpy.data.objects.new("Pose", mesh)
        ob.matrix_world = Matrix.Translation((x, 0, 0)) @ Matrix.Rotation(radians(turn), 4, "Z") @ _home(root)
        self.scene.collection.objects.link(ob)

    def draw(self, segments, colours, root, turn, thick=0.008):
        """Put line segments of the world on the stage, as thin rods around the root at 0."""
        place = Matrix.Rotation(radians(turn), 4, "Z") @ _home(root)
        for colour in np.unique(colours, axis=0):
            curve = bpy.data.curves.new("Lines", "CURVE")
            curve.dimensions, curve.bevel_depth, curve.bevel_resolution, curve.use_fill_caps = "3D", thick, 2, True
            curve.materials.append(_material(colour.tolist()))
            for segment in segments[(colours == colour).all(axis=1)]:
                spline = curve.splines.new("POLY")
                spline.points.add(1)
                for point, place_of in zip(spline.points, segment):
                    point.co = (*place_of.tolist(), 1)
            ob = bpy.data.objects.new("Lines", curve)
            ob.matrix_world = place
            self.scene.collection.objects.link(ob)

    def write(self, text, place, size, colour=INK):
        font = bpy.data.curves.new("Label", "FONT")
        font.body, font.size = text, size
        font.materials.append(_material(colour))
        ob = bpy.data.objects.new("Label", font)
        ob.location, ob.rotation_euler = place, (radians(90), 0, 0)
        self.scene.collection.objects.link(ob)

    def render(self):
        """The picture as an array (height, width, 4), the lowest row first."""
        path = os.path.join(bpy.app.tempdir, "stage.png")
        self.scene.render.filepath = path
        bpy.ops.render.render(write_still=True, scene=self.scene.name)
        image = bpy.data.images.load(path)
        width, height = image.size
        pixels = np.empty(width * height * 4, dtype=np.float32)
        image.pixels.foreach_get(pixels)
        bpy.data.images.remove(image)
        bpy.data.batch_remove([*self.scene.collection.objects])
        bpy.data.scenes.remove(self.scene)
        return pixels.reshape(height, width, 4)

    def _camera(self, width, height, pitch):
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        camera.data.type, camera.data.ortho_scale = "ORTHO", width
        middle = Vector((width / 2 - 1.65 if width > 5 else 0, 0, height))
        camera.location = middle + 20 * Vector((0, -cos(pitch), sin(pitch)))
        camera.rotation_euler = (radians(90) - pitch, 0, 0)
        self.scene.collection.objects.link(camera)
        self.scene.camera = camera

    def _ground(self):
        mesh = bpy.data.meshes.new("Ground")
        mesh.from_pydata([(-50, -50, 0), (50, -50, 0), (50, 50, 0), (-50, 50, 0)], [], [(0, 1, 2, 3)])
        mesh.materials.append(_material(GROUND))
        self.scene.collection.objects.link(bpy.data.objects.new("Ground", mesh))


def _home(root):
    """The matrix that brings a root's place to the origin and its direction to the camera (-Y)."""
    way = root.to_3x3().col[1]
    turn = Vector((0, -1)).angle_signed(way.xy)
    return Matrix.Rotation(turn, 4, "Z") @ Matrix.Translation(-root.translation * Vector((1, 1, 0)))


def _material(colour):
    material = bpy.data.materials.new("Ink")
    material.diffuse_color = (*colour, 1.0)
    material.roughness = 0.8
    return material


def _save(pixels, path):
    image = bpy.data.images.new(path.stem, pixels.shape[1], pixels.shape[0])
    image.pixels.foreach_set(np.ascontiguousarray(pixels, dtype=np.float32).reshape(-1))
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "demo")
