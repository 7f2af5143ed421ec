# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters as people download them, driven on the first try and with no hand on the roles: with their own Actions, and
as the Target of the demo's motion. Blender's importers read them; Rigify's metarigs and generated rigs are among them.

`bench_downloads.py NAME…` takes only rigs whose names have one of these in them; a folder among them is looked through
for more files to import. What is in ../shared is left out where it is not there.
"""

import os
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import bpy
import numpy as np

from mm_blender.motion.character import ROLES
from mm_blender.scene import driving
from mm_blender.scene.rig.character import character_of
from tests.conftest import load_extension
from tests.scene.rigify import control_rig, metarig

SECONDS, RATE = 3.0, 30
METARIGS = ("human", "basic_human", "cat", "horse", "wolf", "basic_quadruped", "bird")
IMPORTERS = {".fbx": "import_scene.fbx", ".glb": "import_scene.gltf", ".gltf": "import_scene.gltf"}


def main(wanted):
    load_extension().register()
    folder = Path(tempfile.mkdtemp())
    start, failed, count = demo_file(folder), 0, 0
    for name, make in rigs(folder, [Path(each) for each in wanted if Path(each).is_dir()]):
        words = [each for each in wanted if not Path(each).is_dir()]
        if words and not any(word.lower() in name.lower() for word in words):
            continue
        count += 1
        for way in (with_own_actions, as_target):
            bpy.ops.wm.open_mainfile(filepath=str(start))
            bpy.context.scene.render.fps = RATE
            before = set(bpy.data.actions)
            ob = make()
            ob.name = name
            begin = time.perf_counter()
            try:
                said, ok = way(ob, folder, [action for action in bpy.data.actions if action not in before])
            except Exception as error:  # one rig is not to hide the others
                said, ok = f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}", False
                if not isinstance(error, RuntimeError):
                    import traceback
                    traceback.print_exc()
            failed += not ok
            print(f"  {name}, {way.__name__.replace('_', ' ')}: {said}  [{time.perf_counter() - begin:.1f} s]  "
                  f"{'ok' if ok else 'short'}", flush=True)
    print(f"  {count} rigs, {failed} of {2 * count} ways do not go")


def demo_file(folder):
    """A .blend with the demo character, baked."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.mm.create_demo()
    bpy.ops.mm.bake()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "demo.blend"))
    return folder / "demo.blend"


def rigs(folder, more):
    """Pairs of a name, and what makes the armature object."""
    archive, files = ROOT.parent / "shared" / "data" / "rigs.tar.xz", []
    if archive.exists():
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        files += sorted(folder.rglob("*.*"))
    else:
        print("  left out: rigs.tar.xz is not beside the checkout")
    files += [path for place in more for path in sorted(place.rglob("*.*"))]
    for path in files:
        if path.suffix.lower() in IMPORTERS:
            yield path.name, lambda path=path: imported(path)
    for kind in METARIGS:
        yield f"Rigify metarig {kind}", lambda kind=kind: metarig(kind)
    for kind in ("basic_human", "cat"):
        yield f"Rigify generated {kind}", lambda kind=kind: control_rig(kind)


def imported(path):
    category, name = IMPORTERS[path.suffix.lower()].split(".")
    before = set(bpy.data.objects)
    getattr(getattr(bpy.ops, category), name)(filepath=str(path))
    made = [ob for ob in bpy.data.objects if ob not in before and ob.type == "ARMATURE"]
    return max(made, key=lambda ob: len(ob.data.bones))


def with_own_actions(ob, folder, actions):
    active(ob)
    bpy.ops.mm.roles_find()
    said = about(ob)
    if not actions:
        return f"{said}; it has no Actions", True
    bpy.ops.mm.clips_add()
    ob.mm.bake.path = str(folder / f"{ob.name}.mmdb")
    bpy.ops.mm.bake()
    return f"{said}; {len(ob.mm.clips)} clips; {driven(ob, ob)}", True


def as_target(ob, _folder, _actions):
    demo = next(other for other in bpy.data.objects if other.type == "ARMATURE" and other.mm.bake.key)
    active(ob)
    bpy.ops.mm.roles_find()
    four = character_of(ob).four_legged
    active(demo)
    demo.mm.drive.target = ob
    try:
        return driven(demo, ob), True
    except Exception as error:
        if four:
            return f"says: {str(error).strip()}", True
        raise


def active(ob):
    for other in bpy.context.selected_objects:
        other.select_set(False)
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob


def about(ob):
    roles = [entry.name for entry in ob.mm.roles if entry.bone]
    lacking = [role for role in ROLES if role not in roles]
    twice = len(roles) - len({entry.bone for entry in ob.mm.roles if entry.bone})
    said = f"{ob.mm.family or 'no family'}, {len(roles)} roles, lacks {', '.join(lacking) or 'none'}"
    return said + (f", {twice} BONES TWICE" if twice else "")


def driven(source, shown):
    """Walk forward and turn; what was seen."""
    session = driving.start(bpy.context, [source])
    session.keyboard.press("W", "forward")
    places, feet, held = [], [], []
    bones = [b for b in shown.pose.bones if b.bone.use_deform]
    contact = {}
    for frame in range(round(SECONDS * RATE)):
        if frame == round(SECONDS * RATE / 2):
            session.keyboard.press("D", "right")
        session.tick(bpy.context, 1 / RATE)
        bpy.context.view_layer.update()
        places.append([shown.matrix_world @ bone.head for bone in bones])
        held.append(session.paths.held)
        feet.append(session.paths.toes if hasattr(session.paths, "toes") else [])
    notes = session.status.notes if hasattr(session, "status") else ""
    driving.stop(bpy.context)
    places = np.array(places)
    if not np.isfinite(places).all():
        raise RuntimeError("NOT A NUMBER in where bones are")
    size = np.ptp(places[0], axis=0).max()
    way = np.linalg.norm(np.diff(places.mean(axis=1)[:, :2], axis=0), axis=-1).sum()
    fastest = np.linalg.norm(np.diff(places, axis=0), axis=-1).max() * RATE
    held = np.array(held, dtype=bool)
    toes = np.array(feet, dtype=float)
    both = held[1:] & held[:-1]
    slide = np.linalg.norm(np.diff(toes, axis=0)[..., :2], axis=-1)[both] * RATE if toes.size and both.any() else np.zeros(1)
    return (f"drives {way / size:.1f} of its sizes, fastest bone {fastest / size:.1f} sizes/s, held "
            f"{held.mean(axis=0).round(2).tolist()}, toes slide {slide.mean() / size * 100:.2f} % of size/s"
            + (f"; notes: {notes}" if notes else ""))


if __name__ == "__main__":
    main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # Blender 4.5 as a module never ends while classes of Rigify are registered
