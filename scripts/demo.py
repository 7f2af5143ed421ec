# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo without a window: create the character, bake and drive it; leaves a .blend, pictures and a report."""

import importlib.util
import json
import os
import sys
import time
import traceback
from contextlib import contextmanager
from math import cos, radians, sin
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

ROOT = Path(__file__).resolve().parent.parent
# Rows in the picture of the motion: label, Action, seconds to the first pose, from it to the last, and degrees by which
# the character is turned away from the camera.
ROWS = (("Walk", "Demo walk", 0.0, 1.05, 55), ("Run", "Demo run", 0.0, 0.68, 55),
        ("Stop", "Demo run stop left", 1.3, 1.4, 55), ("Turn", "Demo turn 180 left", 0.9, 1.6, -35),
        ("Crouch", "Demo crouch walk", 0.0, 1.2, 55))
POSES, SPACING = 10, 0.9  # metres between them
# Rows in the picture of the drive: label, the rest as above.
DRIVE = "Demo drive"
DRIVEN = (("Start", DRIVE, 0.8, 1.3, 55), ("Turn", DRIVE, 3.9, 1.2, 55), ("Turn back", DRIVE, 6.4, 1.6, 145),
          ("Run", DRIVE, 9.0, 1.5, 55), ("Stop", DRIVE, 10.9, 1.2, 55), ("Strafe", DRIVE, 13.0, 1.8, 20),
          ("Crouch", DRIVE, 18.0, 2.2, 55))
# The picture of the features: label, Action, seconds, degrees.
MOMENTS = (("Walking in an arc", "Demo walk arc 2 left", 2.0, 68),
           ("Running in an arc", "Demo run arc 5 left", 1.4, 68))
LEGEND = (("bone position", "bone_position"), ("bone velocity", "bone_velocity"), ("trajectory", "trajectory"),
          ("facing", "trajectory_direction"))
GROUND, SHADE, INK = (0.40, 0.41, 0.43), (0.33, 0.34, 0.36), (0.95, 0.95, 0.93)  # as on the screen


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    extension().register()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.mm.create_demo()
    character = bpy.context.object
    created = time.perf_counter()
    print(f"Character created in {created - began:.1f} s", flush=True)
    blend = folder / "demo.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=True)
    (folder / "demo.mmdb").unlink(missing_ok=True)  # of an earlier demo character
    character.mm.bake.path = "//demo.mmdb"
    bpy.ops.mm.bake()
    baked = time.perf_counter()
    print(f"Baked in {baked - created:.1f} s", flush=True)
    figures = keep_drive(character)
    driven = time.perf_counter()
    print(f"Driven for {figures['seconds']:.0f} s in {driven - baked:.1f} s", flush=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=True)
    report = report_of_bake(character, created - began, baked - created) | {
        "seconds_to_drive": round(driven - baked, 2), "drive": figures}
    (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    (folder / "report.md").write_text(in_words(report), encoding="utf-8")
    print("Taking pictures", flush=True)
    _picture_of_motion(character, ROWS, folder / "motion.png")
    _picture_of_motion(character, DRIVEN, folder / "drive.png")
    _picture_of_features(character, folder / "features.png")
    (folder / "demo.blend1").unlink(missing_ok=True)
    print(f"See {folder}: " + ", ".join(sorted(path.name for path in folder.iterdir())), flush=True)


def extension():
    """The root folder as the package `motion_matching`."""
    spec = importlib.util.spec_from_file_location("motion_matching", ROOT / "__init__.py",
                                                  submodule_search_locations=[str(ROOT)])
    package = sys.modules["motion_matching"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


def keep_drive(character):
    """A walk by a script, kept as the Action that Space plays; its figures."""
    from motion_matching.mm_blender.evaluate import courses, driving
    from motion_matching.mm_blender.matching import database
    from motion_matching.mm_blender.playback.drive import drive
    from motion_matching.mm_blender.scene.driving import takes
    from motion_matching.mm_blender.scene.jobs import baking
    motion = database.load(baking.database_path(character))
    front = np.pi  # as the demo's clips begin: towards whoever looks from the front
    clip, trace = drive(motion, courses.show(front), place=(np.zeros((1, 2)), np.array([front])))
    action = takes.keep(character, clip, DRIVE)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = (int(frame) for frame in action.frame_range)
    scene.frame_set(scene.frame_start)
    return driving.report(motion, clip, trace)


def report_of_bake(character, created, baked):
    report = json.loads(character.mm.bake.report)
    kept = ("clips", "frames", "minutes", "rate", "features", "megabytes", "frames_per_tag", "not_entered",
            "contact_share", "left_out", "warnings")
    return {**{name: report[name] for name in kept}, "blender": bpy.app.version_string,
            "seconds_to_create": round(created, 2), "seconds_to_bake": round(baked, 2)}


def in_words(report):
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
        *_about_driving(report["drive"], report["seconds_to_drive"]), "",
        "![The drive](drive.png)", "",
    ]
    return "\n".join(lines)


def _about_driving(figures, seconds):
    root, facing = figures["root_distance"], figures["facing_error_degrees"]
    peaks, clips = figures["transition_acceleration_ratio"], list(figures["frames_per_clip"].items())[:5]
    return [
        f"A script then drove it for {figures['seconds']:g} s, which took {seconds} s: press Space in demo.blend.", "",
        "| driving | how well |", "|---|---|",
        f"| transitions | {figures['transitions_per_second']:.1f} per second |",
        f"| from the simulated root | {root['mean']:.3f} m, at most {root['p95']:.3f} m in 95 % of the frames |",
        f"| facing error | {facing['mean']:.1f}°, at most {facing['p95']:.1f}° in 95 % of the frames |",
        f"| slide of low feet | {figures['slide_low']:.1f} cm/s; in the clips {figures['slide_low_source']:.1f} |",
        f"| low feet that skate | {figures['skating']:.1%} of the time; in the clips {figures['skating_source']:.1%} |",
        f"| toes under the ground | at most {figures['toe_penetration_mm']:.1f} mm |",
        f"| acceleration at transitions | {peaks['p95']:.2f} of the clips' own peak in 95 % of them |",
        f"| most played | {', '.join(f'{name} {share:.0%}' for name, share in clips)} |",
    ]


# Pictures: poses of the body as Blender shows them, frozen and set side by side in a scene of their own

def _picture_of_motion(character, parts, path):
    rows = []
    for label, action, start, span, turn in parts:
        ground = _Ground(1600, 290, middle=(POSES * SPACING / 2 - 0.95, 0.86), width=POSES * SPACING + 1.5, pitch=6)
        ground.write(label, (-1.55, 0.82), 0.24)
        poses = [_frozen(character, action, seconds) for seconds in np.linspace(start, start + span, POSES)]
        way = _way(poses[0][1])
        for index, (mesh, root) in enumerate(poses):
            ground.stand(mesh, _placed(root, way, index * SPACING, turn))
        rows.append(ground.render())
    save_picture(np.concatenate(rows[::-1]), path)


def _picture_of_features(character, path):
    from motion_matching.mm_blender.matching.feature_lines import COLOURS
    from motion_matching.mm_blender.scene.jobs import slices
    from motion_matching.mm_blender.scene.showing import overlay
    pictures = []
    for label, action, seconds, turn in MOMENTS:
        ground = _Ground(800, 500, middle=(1.2, 0.98), width=4.5, pitch=22)
        mesh, root = _frozen(character, action, seconds)
        place = _placed(root, _way(root), 0, turn)
        ground.stand(mesh, place)
        measured = slices.run(overlay.measure(character, bpy.context.scene))
        ground.draw(*measured.drawn.lines(round(seconds * 60)), place)
        ground.write(label, (-0.93, 2.20), 0.15)
        if not pictures:
            for index, (word, kind) in enumerate(LEGEND):
                ground.write(word, (2.2, 2.20 - 0.19 * index), 0.15, COLOURS[kind])
        pictures.append(ground.render())
    save_picture(np.concatenate(pictures, axis=1), path)


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


class _Ground:
    """A ground with bodies on it, seen along Y; over it, never hidden, what is drawn and written. For one picture."""

    def __init__(self, pixels_wide, pixels_high, middle, width, pitch):
        self.scene = bpy.data.scenes.new("Picture")
        self.scene.render.engine = "BLENDER_WORKBENCH"
        self.scene.render.resolution_x, self.scene.render.resolution_y = pixels_wide, pixels_high
        self.scene.view_settings.view_transform = "Standard"
        self.scene.render.resolution_percentage = 200
        self.scene.render.dither_intensity = 0  # its noise would make large files
        self.scene.display.render_aa = "FXAA"  # render() halves the picture, and that does the rest
        shading = self.scene.display.shading
        shading.color_type = "MATERIAL"
        shading.show_cavity, shading.cavity_type = True, "BOTH"
        self.bodies, self.over = (bpy.data.collections.new(name) for name in ("Bodies", "Over"))
        for collection in (self.bodies, self.over):
            self.scene.collection.children.link(collection)
        self._camera(middle, width, radians(pitch))
        self._flat([(-50, -50, 0), (50, -50, 0), (50, 50, 0), (-50, 50, 0)], GROUND)

    def stand(self, mesh, place):
        """Put a frozen body on the ground."""
        ob = bpy.data.objects.new("Pose", mesh)
        ob.matrix_world = place
        self.bodies.objects.link(ob)
        middle = place @ (sum((vertex.co for vertex in mesh.vertices), Vector()) / len(mesh.vertices))
        round_ = [(middle.x + 0.34 * cos(angle), middle.y + 0.30 * sin(angle), 0.002)
                  for angle in np.linspace(0, 2 * np.pi, 48, endpoint=False)]
        self._flat(round_, SHADE)

    def draw(self, segments, colours, place, thick=0.009):
        """Draw line segments of the world, moved to their place, as thin rods."""
        for colour in np.unique(colours, axis=0):
            curve = bpy.data.curves.new("Lines", "CURVE")
            curve.dimensions, curve.bevel_depth, curve.bevel_resolution, curve.use_fill_caps = "3D", thick, 2, True
            for segment in segments[(colours == colour).all(axis=1)]:
                spline = curve.splines.new("POLY")
                spline.points.add(1)
                spline.points.foreach_set("co", np.insert(segment, 3, 1, axis=1).reshape(-1))
            self._over(curve, colour, place)

    def write(self, text, place, size, colour=INK):
        """Write upright where x and z are `place`."""
        font = bpy.data.curves.new("Label", "FONT")
        font.body, font.size, font.fill_mode = text, size, "FRONT"
        self._over(font, colour, Matrix.Translation((place[0], 0, place[1])) @ Matrix.Rotation(radians(90), 4, "X"))

    def render(self):
        """The picture as an array (height, width, 4), the lowest row first."""
        shading = self.scene.display.shading
        shading.light, self.over.hide_render, self.bodies.hide_render = "STUDIO", True, False
        below = self._rendered()
        shading.light, self.over.hide_render, self.bodies.hide_render = "FLAT", False, True
        shading.show_cavity = False
        self.scene.render.film_transparent = True
        above = self._rendered()
        bpy.data.batch_remove([*self.scene.collection.all_objects, self.bodies, self.over])
        bpy.data.scenes.remove(self.scene)
        both = np.where(above[..., 3:] > 0, above * above[..., 3:] + below * (1 - above[..., 3:]), below)
        # Rendered twice as large: the edges of lines and letters are hard.
        return both.reshape(both.shape[0] // 2, 2, both.shape[1] // 2, 2, 4).mean(axis=(1, 3))

    def _rendered(self):
        path = os.path.join(bpy.app.tempdir, "strip.png")
        self.scene.render.filepath = path
        with quiet():
            bpy.ops.render.render(write_still=True, scene=self.scene.name)
        image = bpy.data.images.load(path)
        width, height = image.size
        pixels = np.empty(width * height * 4, dtype=np.float32)
        image.pixels.foreach_get(pixels)
        bpy.data.images.remove(image)
        return pixels.reshape(height, width, 4)

    def _over(self, curve, colour, place):
        curve.materials.append(material_of(colour))
        ob = bpy.data.objects.new(curve.name, curve)
        ob.matrix_world = place
        self.over.objects.link(ob)

    def _camera(self, middle, width, pitch):
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        camera.data.type, camera.data.ortho_scale = "ORTHO", width
        camera.location = Vector((middle[0], 0, middle[1])) + 20 * Vector((0, -cos(pitch), sin(pitch)))
        camera.rotation_euler = (radians(90) - pitch, 0, 0)
        self.scene.collection.objects.link(camera)
        self.scene.camera = camera

    def _flat(self, corners, colour):
        mesh = bpy.data.meshes.new("Flat")
        mesh.from_pydata(corners, [], [range(len(corners))])
        mesh.materials.append(material_of(colour))
        self.bodies.objects.link(bpy.data.objects.new("Flat", mesh))


@contextmanager
def quiet():
    """Blender writes to the console about every picture; nobody wants to read that."""
    kept = [os.dup(stream) for stream in (1, 2)]
    with open(os.devnull, "w") as nowhere:
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
    try:
        yield
    finally:
        for stream, before in zip((1, 2), kept):
            os.dup2(before, stream)
            os.close(before)


def _way(root):
    """The angle by which a root's forward direction is turned from -Y, where the camera is."""
    return Vector((0, -1)).angle_signed(root.to_3x3().col[1].xy)


def _placed(root, way, x, turn):
    """The matrix that brings a root to x, turned by degrees from `way`."""
    return (Matrix.Translation((x, 0, 0)) @ Matrix.Rotation(radians(turn) + way, 4, "Z")
            @ Matrix.Translation(-root.translation * Vector((1, 1, 0))))


def material_of(colour):
    """A material of this colour (as on the screen, where lit fully)."""
    material = bpy.data.materials.new("Ink")
    material.diffuse_color = (*np.float_power(colour, 2.2).tolist(), 1.0)
    material.roughness = 1.0
    return material


def save_picture(pixels, path):
    image = bpy.data.images.new(path.stem, pixels.shape[1], pixels.shape[0])
    image.pixels.foreach_set(np.ascontiguousarray(pixels, dtype=np.float32).reshape(-1))
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "demo")
        code = 0
    except Exception:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Blender's module may hang while it tidies up
