# SPDX-License-Identifier: GPL-3.0-or-later
"""The .mmnet file: what was saved comes back, and what is no such file is told in one sentence."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest

from mm_blender import archive
from mm_blender.errors import MotionError
from mm_blender.networks import file, provenance
from mm_blender.networks.network import Network, farthest
from mm_blender.owner import Owner
from tests.networks.conftest import untrained


@pytest.fixture
def saved(networks, tmp_path):
    path = tmp_path / "demo.mmnet"
    networks.save(path)
    return path


def test_they_say_whose_they_are(networks, saved):
    owner = Owner("1", "Hero", "/shots/hero.blend")
    assert file.load(saved).owner is provenance.owner(saved) is None
    replace(networks, owner=owner).save(saved)
    assert file.load(saved).owner == provenance.owner(saved) == owner


def test_everything_comes_back(networks, saved):
    loaded = file.load(saved)
    for name in ("rate", "tags", "key", "figures", "speeds", "schema"):
        assert getattr(loaded, name) == getattr(networks, name), name
    for name in ("moving", "fixed", "limits", "start", "heights", "fronts", "combinations"):
        assert np.array_equal(getattr(loaded, name), getattr(networks, name)), name
    assert loaded.skeleton.names == networks.skeleton.names and loaded.character.roles == networks.character.roles
    assert np.array_equal(loaded.normalisation.mean, networks.normalisation.mean)


def test_gaits_of_other_tags_come_back_and_only_they_need_a_new_version(saved, many_gaits, tmp_path):
    networks = untrained(many_gaits)
    networks.save(tmp_path / "gaits.mmnet")
    loaded = file.load(tmp_path / "gaits.mmnet")
    assert loaded.speeds == networks.speeds and loaded.speeds.offered == ("walk", "run", "sneak", "sprint")
    assert everything(tmp_path / "gaits.mmnet")[0]["version"] == file.VERSION
    header, _ = everything(saved)
    assert header["version"] == file.WITHOUT_EXPERTS and "gaits" not in header


def test_those_of_feet_without_toes_from_before_go_on_standing_on_their_ankles(networks, tmp_path):
    character = networks.character
    roles = {role: name for role, name in character.roles.items() if not role.endswith("toe")}
    ends = {roles[f"{side}_foot"]: (0.0, 0.1, -0.07) for side in ("left", "right")}
    bare = replace(character, roles=roles, skeleton=replace(character.skeleton, ends=ends))
    path = tmp_path / "bare.mmnet"
    replace(networks, character=bare).save(path)
    assert [limb.end for limb in file.load(path).character.limbs] == [limb.end for limb in bare.limbs]
    assert any(bare.limbs[0].end)
    header, arrays = everything(path)
    assert header.pop("version") == file.VERSION
    archive.write(path, file.KIND, file.EXPERTS, header, arrays)
    assert not any(any(limb.end) for limb in file.load(path).character.limbs)


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
    ("rest_positions", lambda array: array + 1e30),
    ("rest_positions", lambda array: array.astype(np.float64)),
    ("rest_rotations", lambda array: array * 5),
    ("fixed", lambda array: array + 1e30),
    ("start", lambda array: array + 1e30),
    ("start", lambda array: array + 4),
    ("limits", lambda array: array[::-1]),
    ("fixed", np.zeros_like),
    ("heights", lambda array: array + 1e30),
    ("mean", lambda array: array + 1e30),
    ("scale", lambda array: array * 1e-38),
    ("decompressor.scale", lambda array: array * 1e-38),
    ("decompressor.span", lambda array: array * 1e30),
    ("stepper.centre", lambda array: array * 1e30),
])
def test_a_damaged_file_is_told_in_one_sentence(saved, name, change):
    header, arrays = everything(saved)
    arrays[name] = change(arrays[name])
    archive.write(saved, file.KIND, file.VERSION, header, arrays)
    with pytest.raises(MotionError, match="damaged: train it anew"):
        file.load(saved)


@pytest.mark.parametrize("part, value", [("centre", 1e30), ("layers", 1e6), ("latents", 1e6)])
def test_what_would_not_load_is_not_written(networks, saved, part, value):
    before, weights = saved.read_bytes(), networks.decompressor
    latents = np.full((1, networks.latents), value if part == "latents" else 0)
    if part == "centre":
        weights = replace(weights, centre=np.full_like(weights.centre, value))
    elif part == "layers":  # more than a float16 holds
        weights = replace(weights, layers=tuple((matrix + value, biases) for matrix, biases in weights.layers))
    with pytest.raises(MotionError, match=rf'^"{saved}" was not written: .*train it anew\.$'):
        replace(networks, decompressor=weights).save(saved, latents)
    assert saved.read_bytes() == before


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


@pytest.mark.parametrize("name, value", [
    ("speeds", {"walk": [1e9, 1, 1], "run": [1, 1, 1], "crouch": [1, 1, 1]}),
    ("speeds", {"walk": [float("nan"), 1, 1], "run": [1, 1, 1], "crouch": [1, 1, 1]}),
    ("gaits", [{"name": "sneak", "tag": "never seen", "ways": [1, 1, 1]}]),
    ("gaits", [{"name": "sneak", "tag": "walk", "ways": [1, 1]}]),
    ("gaits", [{"name": "walk", "tag": "walk", "ways": [1, 1, 1]}]),
    ("gaits", [{"name": ["sneak"], "tag": "walk", "ways": [1, 1, 1]}]),
    ("gaits", ["sneak"]),
    ("gaits", [{"name": f"{number}", "tag": "walk", "ways": [1, 1, 1]} for number in range(21)]),
    ("gaits", 7),
    ("speeds", {"walk": [-1, 1, 1], "run": [1, 1, 1], "crouch": [1, 1, 1]}),
    ("rate", 10 ** 400), ("stride", 10 ** 400), ("figures", None), ("tags", [10 ** 400]), ("key", float("nan"))])
def test_a_number_that_makes_no_sense_is_told_in_one_sentence(saved, name, value):
    header, arrays = everything(saved)
    archive.write(saved, file.KIND, file.VERSION, {**header, name: value}, arrays)
    with pytest.raises(MotionError, match="damaged"):
        file.load(saved)


@pytest.mark.parametrize("part, value", [("times", [10 ** 400]), ("weight", 10 ** 400), ("weight", 1e308)])
def test_a_feature_of_a_number_that_makes_no_sense_is_told_in_one_sentence(saved, demo_database, tmp_path, part, value):
    header, arrays = everything(saved)
    header["schema"]["channels"][0][part] = value
    archive.write(saved, file.KIND, file.VERSION, header, arrays)
    with pytest.raises(MotionError, match="damaged"):
        file.load(saved)
    demo_database.save(tmp_path / "demo.mmdb")
    assert part == "weight" or not provenance.belong(saved, tmp_path / "demo.mmdb")


def test_no_output_is_farther_than_said(networks, networks_of_experts):
    rng = np.random.default_rng(0)
    for name in file.NAMES:
        for weights in (getattr(networks, name), getattr(networks_of_experts, name)):
            rows = rng.uniform(-3, 3, (500, weights.inputs)).astype(np.float32)
            made, _ = farthest(weights, np.full(weights.inputs, 3.0))
            assert (np.abs(Network(weights, 500)(rows)) <= made * 1.001).all(), name


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
