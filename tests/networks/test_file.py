# SPDX-License-Identifier: GPL-3.0-or-later
"""The .mmnet file: what was saved comes back, and what is no such file is told in one sentence."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest

from mm_blender import archive
from mm_blender.errors import MotionError
from mm_blender.networks import file, origin
from mm_blender.networks.network import Network
from mm_blender.owner import Owner


@pytest.fixture
def saved(networks, tmp_path):
    path = tmp_path / "demo.mmnet"
    networks.save(path)
    return path


def test_they_say_whose_they_are(networks, saved):
    owner = Owner("1", "Hero", "/shots/hero.blend")
    assert file.load(saved).owner is origin.owner(saved) is None
    replace(networks, owner=owner).save(saved)
    assert file.load(saved).owner == origin.owner(saved) == owner


def test_everything_comes_back(networks, saved):
    loaded = file.load(saved)
    for name in ("rate", "tags", "key", "figures", "speeds", "schema"):
        assert getattr(loaded, name) == getattr(networks, name), name
    for name in ("moving", "fixed", "limits", "start", "heights", "fronts", "combinations"):
        assert np.array_equal(getattr(loaded, name), getattr(networks, name)), name
    assert loaded.skeleton.names == networks.skeleton.names and loaded.character.roles == networks.character.roles
    assert np.array_equal(loaded.normalisation.mean, networks.normalisation.mean)


def test_the_weights_come_back_as_float16_keeps_them(networks, saved):
    loaded = file.load(saved)
    for name in file.NAMES:
        rows = np.random.default_rng(0).normal(size=(9, getattr(networks, name).inputs)).astype(np.float32)
        expected = Network(getattr(networks, name).halved())(rows)
        assert np.array_equal(Network(getattr(loaded, name))(rows), expected), name


def test_the_weights_take_two_bytes_each(networks, saved):
    with zipfile.ZipFile(saved) as content:
        sizes = [entry.file_size for entry in content.infolist()
                 if entry.filename.endswith(("weights.npy", "biases.npy"))]
    assert networks.nbytes <= sum(sizes) <= networks.nbytes + 200 * len(sizes)


def test_latents_belong_to_one_database(networks, demo_database, tmp_path):
    path = tmp_path / "demo.mmnet"
    latents = np.random.default_rng(0).normal(size=(len(demo_database), networks.latents)).astype(np.float32)
    networks.save(path, latents)
    assert file.load_latents(path, demo_database) == pytest.approx(latents, abs=3e-3)
    with pytest.raises(MotionError, match="trained on another database"):
        file.load_latents(path, replace(demo_database, key="another"))


def test_a_tag_query_selects_combinations_of_tags(networks):
    allowed, trouble = networks.allowed("crouch")
    crouch = networks.combinations[:, networks.tags.index("crouch")]
    assert np.array_equal(allowed, crouch) and not trouble
    assert networks.allowed("")[0].all()
    allowed, trouble = networks.allowed("crouch & run")
    assert allowed.all() and "not heeded" in trouble


@pytest.mark.parametrize("name, change", [
    ("limits", lambda array: array[:, :-1]),
    ("decompressor.0.weights", lambda array: array[:-1]),
    ("decompressor.0.weights", lambda array: np.full_like(array, np.nan)),
    ("start", lambda array: np.full_like(array, np.nan)),
    ("stepper.scale", np.zeros_like),
    ("combinations", lambda array: array[:0]),
    ("moving", lambda array: array + 1000),
])
def test_a_damaged_file_is_told_in_one_sentence(saved, name, change):
    header, arrays = everything(saved)
    arrays[name] = change(arrays[name])
    archive.write(saved, file.KIND, file.VERSION, header, arrays)
    with pytest.raises(MotionError, match="damaged: train it anew"):
        file.load(saved)


@pytest.mark.parametrize("stride", [0, 3, 1.5, "2", None])
def test_a_stride_that_makes_no_sense_is_told_in_one_sentence(saved, stride):
    header, arrays = everything(saved)
    archive.write(saved, file.KIND, file.VERSION, {**header, "stride": stride}, arrays)
    with pytest.raises(MotionError, match=r"damaged: train it anew .*Stepper"):
        file.load(saved)


def test_an_earlier_file_goes_on_frame_by_frame(saved):
    header, arrays = everything(saved)
    del header["stride"]
    archive.write(saved, file.KIND, file.VERSION, header, arrays)
    assert file.load(saved).stride == 1


@pytest.mark.parametrize("layers", [
    None, {}, {"decompressor": 10 ** 9, "stepper": 2, "projector": 2}, {"decompressor": "2"}])
def test_a_header_that_makes_no_sense_is_told_in_one_sentence(saved, layers):
    header, arrays = everything(saved)
    archive.write(saved, file.KIND, file.VERSION, {**header, "layers": layers}, arrays)
    with pytest.raises(MotionError, match="damaged"):
        file.load(saved)


def test_another_kind_of_file_is_told_in_one_sentence(demo_database, tmp_path):
    demo_database.save(tmp_path / "demo.mmnet")
    with pytest.raises(MotionError, match=r"is a \.mmdb file"):
        file.load(tmp_path / "demo.mmnet")


def everything(path):
    with zipfile.ZipFile(path) as content:
        names = [name.removesuffix(".npy") for name in content.namelist()]
    return archive.read(path, file.KIND, file.VERSION, [name for name in names if name != archive.HEADER])
