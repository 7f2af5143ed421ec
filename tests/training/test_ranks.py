# SPDX-License-Identifier: GPL-3.0-or-later
"""Two real processes, started by torchrun, train together: other examples, the same networks, one file."""

import os
import subprocess
import sys

import numpy as np
import pytest

from mm_blender.networks import file

# What each process runs: a training that tells its networks before it ends, and the first examples that it drew.
SCRIPT = """
import sys
import numpy as np
from mm_blender.training import queries, ranks, train
from mm_blender.training.decompressor import DecompressorStage

queries.HANDS, queries.SECONDS = 2, 2.0
finish, losses, drawn = train._Training.finish, DecompressorStage.losses, []

def draw(stage, share, rng):
    drawn.append(int(rng.bit_generator.state["state"]["state"] % 2**62))
    return losses(stage, share, rng)

def tell(training, output):
    weights = [part for stage in training._stages() for layer in stage.weights().layers for part in layer]
    np.savez(f"{output}.{ranks.RANK}.npz", drawn=drawn, weights=np.concatenate([part.ravel() for part in weights]))
    return finish(training, output)

DecompressorStage.losses, train._Training.finish = draw, tell
train.train(sys.argv[1], sys.argv[2], train.Budget(iterations=4), device="cpu")
"""


@pytest.fixture(scope="module")
def folder(database, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    database.save(folder / "some.mmdb")
    (folder / "script.py").write_text(SCRIPT)
    subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2",
                    folder / "script.py", folder / "some.mmdb", folder / "some.mmnet"],
                   env=os.environ | {"PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1"}, check=True, timeout=240)
    return folder


def test_they_learn_from_examples_of_their_own_and_agree_on_the_networks(folder):
    one, other = (np.load(folder / f"some.mmnet.{rank}.npz") for rank in range(2))
    assert not set(one["drawn"].tolist()) & set(other["drawn"].tolist())
    assert np.array_equal(one["weights"], other["weights"])


def test_what_they_have_learned_is_written_once_and_loads(folder, database):
    networks = file.load(folder / "some.mmnet")
    assert networks.key == database.key and networks.figures["iterations"]["projector"] == 4
    assert len(file.load_latents(folder / "some.mmnet", database)) == len(database)
