# SPDX-License-Identifier: GPL-3.0-or-later
"""Two real processes, started by torchrun, train together: other examples, the same networks, one file."""

import os
import subprocess
import sys

import numpy as np
import pytest

from mm_blender.networks import file

# What each process runs: a training that tells what chance it drew its examples with, and what each network had become
# by its own steps, before the first process's networks are given to all.
SCRIPT = """
import sys
import numpy as np
from mm_blender.training import queries, ranks, train
from mm_blender.training.decompressor import DecompressorStage

queries.HANDS, queries.SECONDS = 2, 2.0
finish, losses, equal = train._Training.finish, DecompressorStage.losses, ranks.Group.equal
drawn, learned = [], []

def draw(stage, share, rng):
    drawn.append(int(rng.bit_generator.state["state"]["state"] % 2**62))
    return losses(stage, share, rng)

def remember(group, parameters):
    learned.append(np.concatenate([one.detach().numpy().ravel() for one in parameters]))
    equal(group, parameters)

def tell(training, output):
    networks = {str(len(weights)): weights for weights in learned}
    np.savez(f"{output}.{ranks.RANK}.npz", drawn=drawn, **networks)
    return finish(training, output)

DecompressorStage.losses, ranks.Group.equal, train._Training.finish = draw, remember, tell
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
    networks = set(one.files) - {"drawn"}
    assert len(networks) == 3 and all(np.array_equal(one[name], other[name]) for name in networks)


def test_what_they_have_learned_is_written_once_and_loads(folder, database):
    networks = file.load(folder / "some.mmnet")
    assert networks.key == database.key and networks.figures["iterations"]["projector"] == 4
    assert len(file.load_latents(folder / "some.mmnet", database)) == len(database)
