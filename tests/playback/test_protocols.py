# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever characters play from has all that the protocols say, and does what they say."""

import inspect
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from mm_blender.control.stick import Stick
from mm_blender.motion.retarget import Retarget
from mm_blender.networks.library import DecompressedLibrary, LearnedLibrary
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.limbs import Limbs
from mm_blender.playback.matcher import PLANNED, MixedMatcher
from mm_blender.playback.protocols import Facts, Library, Matcher, Motion
from mm_blender.playback.retarget import RetargetedLibrary, character_of, stance_of
from tests.networks.conftest import networks_of_experts_like, untrained
from tests.rigs import renamed_and_rolled, with_lengths
from tests.steering import group_of

OWN = "baked", "decompressed", "learned", "learned at another rate"
LIBRARIES = *OWN, *(f"{name}, on another character" for name in OWN)
MATCHERS = *LIBRARIES, "mixed", "mixed, on another character"
FRAMES = [300, 2000]
MUST, FADE = np.array([True]), 0.25


@pytest.fixture(scope="module")
def libraries(demo_database):
    networks = networks_of_experts_like(untrained(demo_database))
    latents = np.random.default_rng(0).normal(size=(len(demo_database), networks.latents)).astype(np.float32)
    baked, target = BakedLibrary(demo_database), renamed_and_rolled(with_lengths(demo_database.character, 1.3))
    own = {"baked": baked, "decompressed": DecompressedLibrary(baked, networks, latents),
           "learned": LearnedLibrary(networks, latents), "learned at another rate": LearnedLibrary(networks, rate=30.0)}
    return own | {f"{name}, on another character": RetargetedLibrary(library, Retarget(
        character_of(library.database), target)) for name, library in own.items()}


@pytest.fixture
def matcher(request, libraries):
    """Two characters that play."""
    def of(library, frames):
        begin = None if library.method == "lmm" else np.array(frames)
        return library.motion.matcher(library.choice().search, len(frames), begin)

    where = request.param.removeprefix("mixed")
    if where != request.param:
        return MixedMatcher([(of(libraries[f"learned{where}"], FRAMES[1:]), [1]),
                             (of(libraries[f"decompressed{where}"], FRAMES[:1]), [0])])
    return of(libraries[request.param], FRAMES)


@pytest.fixture
def library(request, libraries):
    return libraries[request.param]


each_library = pytest.mark.parametrize("library", LIBRARIES, indirect=True)
each_matcher = pytest.mark.parametrize("matcher", MATCHERS, indirect=True)


def assert_has_all_of(protocol, thing):
    assert not [name for name in protocol.__annotations__ if not hasattr(thing, name)]
    for name, method in vars(protocol).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            asked = [*inspect.signature(method).parameters.values()][1:]
            assert [*inspect.signature(getattr(thing, name)).parameters.values()] == asked, name


@each_library
def test_a_library_its_motion_and_what_is_known_of_it(library):
    for protocol, thing in ((Library, library), (Motion, library.motion), (Facts, library.database),
                            (Facts, library.motion.database), (Facts, library.whole())):
        assert_has_all_of(protocol, thing)


@each_matcher
def test_a_matcher_has_all_that_a_player_asks_for(matcher, demo_database):
    assert_has_all_of(Matcher, matcher)
    count, size = len(FRAMES), demo_database.schema.size
    assert len(matcher.frames) == len(matcher.costs) == len(matcher.starved) == count and not len(matcher.faded)
    assert matcher.features().shape == (count, size)
    assert np.shape(matcher.contacts()) == matcher.pose().contacts.shape == (count, 2)
    for index in range(count):
        where = matcher.where(index)
        assert where.frame == matcher.frames[index] and np.array_equal(where.features, matcher.features()[index])
        assert set(matcher.tags(index)) <= set(demo_database.tags)


@each_matcher
def test_what_a_matcher_says_is_coming_is_what_it_plays(matcher):
    for _ in range(3):
        coming = matcher.coming([1, 0])
        count = coming[2].shape[1]
        assert 1 <= count <= PLANNED
        for row in range(count):
            pose = matcher.pose()
            for shown, said in zip((pose.positions, pose.rotations, pose.travel), coming):
                assert shown[[1, 0]] == pytest.approx(said[:, row], abs=1e-5)
            assert pose.contacts.tolist() == matcher.contacts()
            assert not matcher.advance().any()


@pytest.mark.parametrize("fade", [0.0, FADE])
@pytest.mark.parametrize("matcher, can_fade", [(name, not name.startswith("baked")) for name in MATCHERS],
                         indirect=["matcher"])
def test_who_jumps_is_said_and_who_goes_over_by_itself(matcher, can_fade, fade, demo_database):
    matcher.advance()
    before, learned = matcher.pose(), matcher.frames[1] < 0
    assert matcher.match([1], demo_database.features[[9000]], must=MUST, fade=fade) == [1]
    assert list(matcher.faded) == ([1] if can_fade and fade else [])
    after = matcher.pose()
    assert np.array_equal(before.rotations[0], after.rotations[0]), "the other one goes on"
    seen = not np.allclose(before.rotations[1], after.rotations[1], atol=1e-6)
    assert seen == (not len(matcher.faded)), "what goes over begins where it was"
    assert np.isfinite(matcher.costs).all() and (matcher.frames[1] < 0) == learned
    assert matcher.match([1], matcher.features()[[1]]) == [] == list(matcher.faded), "it is where it wants to be"


@pytest.mark.parametrize("where", ["", ", on another character"])
@pytest.mark.parametrize("before, after", [*permutations(OWN[:3], 2)])
def test_a_character_goes_on_in_any_library_from_any_other(before, after, where, libraries):
    library, other = libraries[before + where], libraries[after + where]
    group = group_of(library, 2)
    for played in (library, other, library):
        group.play([library, played])
        for guide in group.guides:
            guide.steer(Stick(move_y=1.0))
        group.step()
        assert np.isfinite(group.player.rotations).all()
    assert group.record.clip(1).skeleton is library.database.skeleton


@each_library
def test_a_library_tells_how_its_character_stands(library):
    limbs = Limbs(library.database.character, library.database.fixed, library.motion.moving)
    limbs.fronts[:] = np.nan
    assert library.motion.stance(limbs).shape == (2, 2)
    assert np.isfinite(limbs.fronts).all()
    assert stance_of(library).positions.shape == library.database.skeleton.positions.shape


@each_library
def test_weights_count_where_frames_are_searched(library, demo_database):
    schema = library.database.schema
    channels = [replace(channel, weight=2 * channel.weight) for channel in schema.channels]
    searched, other = library.baked is not None, replace(schema, channels=tuple(channels))
    query = demo_database.features[300] + 1
    before = library.choice().search.cost(query, 300) if searched else None
    assert not library.weigh(schema)
    assert library.weigh(other) == searched
    assert not searched or library.choice().search.cost(query, 300) > 2 * before
    assert library.weigh(schema) == searched


@each_library
def test_a_frame_is_of_a_clip_and_what_was_learned_of_none(library, demo_database):
    part = demo_database.ranges[3]
    name, second = library.clip_of(part.start + 5)
    if library.baked is None:
        assert (name, library.method) == ("", "lmm")
    else:
        assert name == part.name and second == pytest.approx(part.source_start + 5 / demo_database.rate * part.speed)
    assert library.clip_of(-1)[0] == ""


@each_library
def test_takes_are_compared_with_motion_of_the_very_character(library, demo_database):
    whole, facts = library.whole(), library.database
    assert whole.skeleton is facts.skeleton and whole.rate == facts.rate
    assert np.array_equal(whole.fixed, facts.fixed) and whole.normalisation is facts.normalisation
    assert library.retarget is None or np.array_equal(facts.fixed, library.retarget.target.skeleton.positions)
    assert len(whole.ranges) == (len(demo_database.ranges) if library.baked else 0)
    assert library.baked is None or whole.rotations.shape == (len(demo_database), len(facts.skeleton), 4)
