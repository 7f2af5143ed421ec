# SPDX-License-Identifier: GPL-3.0-or-later
"""Our reader and Blender's own importer see the same motion."""

import numpy as np
import pytest

from mm_blender.motion import bvh

bpy = pytest.importorskip("bpy")

FILE = """HIERARCHY
ROOT Hips
{
  OFFSET 1 90 2
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Leg
  {
    OFFSET 10 -5 0
    CHANNELS 3 Xrotation Zrotation Yrotation
    JOINT Shin
    {
      OFFSET 0 -40 1
      CHANNELS 6 Xposition Yposition Zposition Yrotation Xrotation Zrotation
      JOINT Foot
      {
        OFFSET 0 -40 0
        CHANNELS 3 Zrotation Xrotation Yrotation
        End Site
        {
          OFFSET 0 0 10
        }
      }
    }
  }
  JOINT Spine
  {
    OFFSET 0 20 0
    CHANNELS 3 Xrotation Yrotation Zrotation
    JOINT Head
    {
      OFFSET 0 30 3
      CHANNELS 3 Yrotation Zrotation Xrotation
      End Site
      {
        OFFSET 0 15 0
      }
    }
  }
}
MOTION
Frames: 20
Frame Time: 0.041667
"""


def test_joints_are_where_blenders_importer_puts_them(tmp_path):
    values = np.random.default_rng(5).uniform(-170, 170, size=(20, 24))
    values[:, :3] = np.linspace((0, 90, 0), (50, 95, 150), 20)
    values[:, 9:12] = np.linspace((0, -40, 1), (2, -43, 0), 20)
    path = tmp_path / "walk.bvh"
    path.write_text(FILE + "\n".join(" ".join(f"{value:.6f}" for value in row) for row in values) + "\n")
    clip = bvh.read(path, units=0.01)

    import addon_utils  # found only once bpy is there

    addon_utils.enable("io_anim_bvh")
    bpy.ops.import_anim.bvh(filepath=str(path), global_scale=0.01)
    armature = bpy.context.object
    expected, _ = clip.globals()
    for frame in range(len(clip)):
        bpy.context.scene.frame_set(frame + 1)
        heads = [armature.matrix_world @ armature.pose.bones[name].head for name in clip.skeleton.names]
        np.testing.assert_allclose(np.array(heads), expected[frame], atol=1e-4)
