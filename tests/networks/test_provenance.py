# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks are known by what they were trained on, without loading them."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.matching import schema
from mm_blender.matching.features import Normalisation
from mm_blender.motion.skeleton import Skeleton
from mm_blender.networks import provenance


@pytest.fixture
def saved(networks, demo_database, tmp_path):
    """Call it with changes of the database: the paths of the networks and of that database."""
    def save(**changes):
        networks.save(tmp_path / "some.mmnet")
        replace(demo_database, **changes).save(tmp_path / "some.mmdb")
        return tmp_path / "some.mmnet", tmp_path / "some.mmdb"
    return save


def scaled(normalisation, by):
    return Normalisation(normalisation.mean, (normalisation.scale * by).astype(np.float32))


def with_skeleton(character, change):
    skeleton = character.skeleton
    values = {"names": skeleton.names, "parents": skeleton.parents, "positions": skeleton.positions.copy(),
              "rotations": skeleton.rotations}
    return replace(character, skeleton=Skeleton(**values | change(values)))


def longer(values):
    values["positions"][5] *= 1.1
    return {}


def elsewhere(values):
    values["positions"][0] += 3
    return {}


def test_they_belong_to_the_database_that_they_were_trained_on(saved):
    assert provenance.belong(*saved())


def test_they_belong_to_the_same_motion_from_another_blender(saved, demo_database):
    nearly = scaled(demo_database.normalisation, 1.0001)
    assert provenance.belong(*saved(key="another", normalisation=nearly))
    assert provenance.belong(*saved(key="another", character=with_skeleton(demo_database.character, elsewhere)))
    called = replace(demo_database.schema, name="mine", responsiveness=2.0)
    assert provenance.belong(*saved(key="another", schema=called)), (
        "how much features count is no part of what is learned")


def test_they_do_not_belong_to_other_motion_bones_or_features(saved, demo_database):
    assert not provenance.belong(*saved(key="another", normalisation=scaled(demo_database.normalisation, 1.1)))
    assert not provenance.belong(*saved(key="another", character=with_skeleton(demo_database.character, longer)))
    other = schema.load("locomotion_past")
    paths = saved()
    assert provenance.fit(paths[0], demo_database.skeleton, demo_database.schema)
    assert not provenance.fit(paths[0], demo_database.skeleton, other)


def test_the_order_of_joints_does_not_matter(saved, demo_database):
    path, _ = saved()
    skeleton = demo_database.skeleton
    order = np.concatenate([[0], *skeleton.levels])  # breadth first, as Blender has it
    assert (order != np.arange(len(order))).any()
    parents = [-1, *(int(np.flatnonzero(order == skeleton.parents[joint])[0]) for joint in order[1:])]
    turned = Skeleton([skeleton.names[joint] for joint in order], parents, skeleton.positions[order],
                      -skeleton.rotations[order])
    assert provenance.fit(path, turned, demo_database.schema)


def test_files_that_are_missing_or_damaged_belong_to_nothing(saved, tmp_path):
    path, database = saved()
    nothing = tmp_path / "nothing"
    assert not provenance.belong(nothing, database) and not provenance.belong(path, nothing)
    assert provenance.figures(path) == {"joint_error_cm": 1.5} and provenance.figures(nothing) == {}
    path.write_bytes(b"nothing")
    assert not provenance.belong(path, database) and provenance.figures(path) == {} and provenance.names(path) == ()
