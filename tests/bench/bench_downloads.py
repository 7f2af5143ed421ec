# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters as people download them, driven on the first try, with no hand on the roles: with their own Actions, and
as the Target of the demo's motion. Blender's importers read them; Rigify's metarigs and generated rigs are among them.

What may be given: words that a rig's name has one of, and folders with more files to import. What is in ../shared is
left out where it is not there.
"""

# ruff: noqa: E402
import contextlib
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import bpy
import numpy as np
from mathutils import Vector

from mm_blender.errors import MotionError
from mm_blender.motion.character import ROLES
from mm_blender.scene import driving
from mm_blender.scene.rig.advice import advice
from mm_blender.scene.rig.character import character_of
from tests.conftest import load_extension
from tests.scene.downloads import armatures_in, downloaded
from tests.scene.rigify import control_rig, metarig

SECONDS, RATE = 3.0, 30
METARIGS = "human", "basic_human", "cat", "horse", "wolf", "basic_quadruped", "bird"
GENERATED = "basic_human", "cat", "wolf"
# A person walks about one of their own heights in a second; what slides less (height per second) stands.
WALKS, SLIDES = 0.3, 0.003


def main(wanted):
    load_extension().register()
    folder = Path(tempfile.mkdtemp())
    folders = [Path(each) for each in wanted if Path(each).is_dir()]
    words = [each.lower() for each in wanted if not Path(each).is_dir()]
    start, ways, short = demo_file(folder), 0, 0
    for name, make in rigs(folders):
        if words and not any(word in name.lower() for word in words):
            continue
        for way in (with_own_actions, as_target):
            with quietly():
                bpy.ops.wm.open_mainfile(filepath=str(start))
                bpy.context.scene.render.fps = RATE
                before = set(bpy.data.actions)
                ob = make()
                ob.name = name
                said, good = tried(way, ob, folder, set(bpy.data.actions) - before)
            ways, short = ways + 1, short + (not good)
            print(f"  {name}, {way.__name__.replace('_', ' ')}: {said}  {'ok' if good else 'short'}", flush=True)
    print(f"  {ways - short} of {ways} ways go or say why not")
    return short


@contextlib.contextmanager
def quietly():
    """Importers say a lot."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def demo_file(folder):
    """A .blend with the demo character, baked."""
    with quietly():
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        bpy.ops.mm.create_demo()
        bpy.ops.mm.bake()
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / "demo.blend"))
    return folder / "demo.blend"


def rigs(more):
    """Pairs of a name, and what makes the armature object."""
    if not (found := downloaded()):
        print("  left out: rigs.tar.xz is not beside the checkout")
    for makers in (found, *map(armatures_in, more)):
        yield from makers.items()
    for kind in METARIGS:
        yield f"Rigify metarig {kind}", lambda kind=kind: metarig(kind)
    for kind in GENERATED:
        yield f"Rigify generated {kind}", lambda kind=kind: control_rig(kind)
        yield f"Rigify generated {kind}, deforming bones", lambda kind=kind: deforming(control_rig(kind))


def deforming(ob):
    """A generated rig as a game takes it: controls have no names, constraints and drivers, and its root deforms."""
    for bone in ob.pose.bones:
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
    ob.animation_data_clear()
    ob.data.animation_data_clear()
    ob.data.bones["root"].use_deform = True
    for bone in ob.data.bones:
        if bone.name.endswith(("_fk.L", "_fk.R")) or bone.name == "torso":
            bone.name = f"x{bone.name}"
    return ob


def tried(way, ob, folder, actions):
    try:
        return way(ob, folder, actions)
    except (MotionError, RuntimeError) as error:
        return f"says: {str(error).strip().splitlines()[-1]}", False


def with_own_actions(ob, folder, actions):
    active(ob)
    bpy.ops.mm.roles_find()
    said = about(ob)
    if not actions:
        return f"{said}; it has no Actions", True
    bpy.ops.mm.clips_add()
    ob.mm.bake.path = str(folder / f"{ob.name}.mmdb")
    bpy.ops.mm.bake()
    what, good = driven(ob, ob)
    return f"{said}; {len(ob.mm.clips)} clips; {what}", good


def as_target(ob, _folder, _actions):
    demo = next(other for other in bpy.data.objects if other.type == "ARMATURE" and other.mm.bake.key)
    active(ob)
    bpy.ops.mm.roles_find()
    four = character_of(ob).four_legged
    active(demo)
    demo.mm.drive.target = ob
    try:
        said, good = driven(demo, ob, WALKS)
    except MotionError as error:
        return f"says: {error}", four and "four legs" in str(error)
    return said, good


def active(ob):
    for other in bpy.context.selected_objects:
        other.select_set(False)
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob


def about(ob):
    """What Find Bones makes of it."""
    bones = [entry.bone for entry in ob.mm.roles if entry.bone]
    lacking = [role.replace("_", " ") for role in ROLES if not (role in ob.mm.roles and ob.mm.roles[role].bone)]
    twice = f", {len(bones) - len(set(bones))} BONES TWICE" if len(bones) > len(set(bones)) else ""
    told = "".join(f' "{sentence}"' for sentence in advice(ob))
    how = ob.mm.family or "by name or shape"
    return f"{how}, {len(bones)} roles, lacks {', '.join(lacking) or 'none'}{twice}{told}"


def driven(source, shown, least=0.0):
    """Walk forward and turn; what was seen, and whether it is as it should be. least: how fast it has to go."""
    session = driving.start(bpy.context, [source])
    session.keyboard.press("W", "forward")
    bones, places, toes, held = [bone for bone in shown.pose.bones if bone.bone.use_deform], [], [], []
    character = character_of(shown)
    stand_on = [(shown.pose.bones[character.roles[limb.contact]], Vector(limb.end)) for limb in character.limbs]
    for frame in range(round(SECONDS * RATE)):
        if frame == round(SECONDS * RATE / 2):
            session.keyboard.press("D", "right")
        session.tick(bpy.context, 1 / RATE)
        bpy.context.view_layer.update()
        places.append([shown.matrix_world @ bone.head for bone in bones])
        toes.append([shown.matrix_world @ bone.matrix @ (end / shown.matrix_world.median_scale)
                     for bone, end in stand_on])
        held.append(session.paths.held)
    told = session.status.sentences
    driving.stop(bpy.context)
    places, toes, held = np.array(places), np.array(toes), np.array(held, dtype=bool)
    size = np.ptp(places[0], axis=0).max()
    speed = np.linalg.norm(np.diff(places.mean(axis=1)[:, :2], axis=0), axis=-1).sum() / size / SECONDS
    both = held[1:] & held[:-1]
    slides = np.linalg.norm(np.diff(toes, axis=0)[..., :2], axis=-1)[both] * RATE / size
    slide, fastest = slides.mean() if len(slides) else 0.0, np.linalg.norm(np.diff(places, axis=0), axis=-1).max()
    good = bool(np.isfinite(places).all()) and speed >= least and slide <= SLIDES
    return (f"goes {speed:.2f} sizes/s, fastest bone {fastest * RATE / size:.1f}, feet held "
            f"{', '.join(f'{share:.0%}' for share in held.mean(axis=0))}, and slide {slide * 100:.2f} % of a size/s"
            + "".join(f' says: "{sentence}"' for sentence in told)), good


if __name__ == "__main__":
    failed = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(int(failed > 0))  # Blender 4.5 as a module never ends while classes of Rigify are registered
