# SPDX-License-Identifier: GPL-3.0-or-later
"""Cancel, undo, delete the armature and open another file, each in the middle of a bake."""

import hashlib
from pathlib import Path

import bpy
from inside import engine, in_view3d


def steps(result):
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT")
    ob = bpy.context.object
    name, path = ob.name, Path(engine("scene.jobs.baking").database_path(ob))
    yield from bake(result, "first bake")
    result["frame before"], result["action before"] = bpy.context.scene.frame_current, ob.animation_data.action.name

    yield from begin()
    result["cancel"] = {"was baking": baking(), "before": digest(path)}
    bpy.ops.mm.job_cancel()
    yield 0.3
    result["cancel"] |= {"after": digest(path), "error": jobs().last_error()}

    for moment in ("undo at once", "undo"):
        with in_view3d():
            bpy.ops.ed.undo_push(message="before")
            bpy.context.object.location.x = 1.0
            bpy.ops.ed.undo_push(message="after")
        yield from begin(0.4 if moment == "undo" else 0.0)
        if moment == "undo at once":  # while it still looks for changes
            next(jobs().current().steps)
        result[moment] = {"was baking": baking()}
        with in_view3d():
            bpy.ops.ed.undo()
        while baking():
            yield 0.1
        ob = bpy.data.objects[name]
        in_file = engine("matching.database").read_key(path)
        result[moment] |= {"error": jobs().last_error(), "key": ob.mm.bake.key, "file": in_file}
    result["frame"], result["action"] = bpy.context.scene.frame_current, ob.animation_data.action.name

    ob.mm.bake.rate = 30.0  # so that everything is read again
    yield from begin()
    result["delete"] = {"was baking": baking(), "before": digest(path)}
    with in_view3d():
        bpy.ops.ed.undo_push(message="before deleting")
        bpy.data.objects.remove(bpy.data.objects[name])
        bpy.ops.ed.undo_push(message="deleted")
    while baking():
        yield 0.1
    result["delete"] |= {"after": digest(path), "error": jobs().last_error()}

    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT")
    yield from begin()
    result["open file"] = {"was baking": baking(), "before": digest(path)}
    bpy.ops.wm.read_homefile(use_empty=True)
    yield 0.5
    result["open file"] |= {"after": digest(path), "job": baking()}


def bake(result, name):
    yield from begin()
    while baking():
        yield 0.1
    result[name] = jobs().last_error()


def begin(seconds=0.4):
    """Steps that begin a bake, and let it go on for some seconds."""
    ob = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    bpy.context.view_layer.objects.active = ob
    ob.mm.bake.contact_height += 0.001  # another setting, so that every clip is read again
    with in_view3d():
        bpy.ops.mm.bake("INVOKE_DEFAULT")
    if seconds:
        yield seconds


def baking():
    return jobs().current() is not None


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()



def jobs():
    return engine("scene.jobs.slices")
