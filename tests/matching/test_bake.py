# SPDX-License-Identifier: GPL-3.0-or-later
from dataclasses import replace

import numpy as np
import pytest

from mm_blender import limits
from mm_blender.control.speeds import root_velocities
from mm_blender.errors import MotionError
from mm_blender.matching import database
from mm_blender.matching.bake import Progress, Source, bake, database_key, foundation_key, run
from mm_blender.matching.schema import PRESETS, Channel, Schema
from mm_blender.motion import quat
from mm_blender.motion.clip import Tag
from mm_blender.motion.skeleton import Skeleton
from mm_blender.prepare.recipe import Recipe

LOCOMOTION = PRESETS["locomotion"]


@pytest.fixture
def make(character):
    """Bakes sources to the end."""
    def made(sources, schema=LOCOMOTION, recipe=Recipe(), previous=None, character=character):  # noqa: B008
        return run(bake(sources, character, schema, recipe, previous))
    return made


# What comes out

def test_clips_are_laid_end_to_end_in_order(make, walk, source):
    made = make([source(walk("b", 1.0)), source(walk("a", 2.0)), source(walk("c", 0.5))])
    found = [(part.source, part.start, part.stop) for part in made.ranges]
    assert found == [("b", 0, 61), ("a", 61, 182), ("c", 182, 213)]
    assert len(made) == 213 and made.features.shape == (213, 27) and made.features.dtype == np.float32


def test_the_mirror_image_follows_its_clip(make, walk, source):
    made = make([source(walk("a", turn=1.0), mirror=True), source(walk("b"))])
    assert [part.name for part in made.ranges] == ["a", "a (mirrored)", "b"]
    image, clip = made.clip(1), made.clip(0)
    assert np.allclose(image.positions[:, 0], clip.positions[:, 0] * [-1, 1, 1], atol=1e-6)
    assert np.array_equal(image.contacts, clip.contacts[:, ::-1])


def test_a_loop_is_one_whether_ticked_or_tagged(make, walk, source):
    made = make([source(walk("a", 1.0), loop=True), source(walk("b", 1.0, tags=(Tag("loop", 0, 1),))),
                 source(walk("c", 1.0))])
    assert [part.loop for part in made.ranges] == [True, True, False]
    assert not made.barred()[:122].any()


def test_a_root_bone_that_stays_behind_is_not_the_root_and_that_is_said(make, walk, source, subtests):
    clip = walk("a", 2.0)
    positions = clip.positions.copy()
    positions[:, 1] += positions[:, 0]
    positions[:, 0] = 0
    clip = clip.with_changes(positions=positions)
    for root, speed, words in (("auto", 1.2, "a made root is used"), ("bone", 0.0, "so does the character"),
                               ("made", 1.2, "")):
        with subtests.test(root):
            made = make([source(clip)], recipe=Recipe(root=root))
            assert abs(root_velocities(made)[:, 1].mean() - speed) < 0.05
            assert words in " ".join(made.notes["warnings"]) and bool(words) == bool(made.notes["warnings"])


def test_speed_and_origin_tell_where_a_frame_comes_from(make, walk, source):
    made = make([source(walk("a", 2.0, tags=(Tag("exclude", 0.0, 0.5),)), speed=2.0, origin=10.0)])
    assert len(made) == 45 and made.ranges[0].speed == 2.0 and np.isclose(made.ranges[0].source_start, 10 + 31 / 60)


def test_exclude_splits_a_clip_and_is_counted(make, walk, source):
    clip = walk("a", 3.0, tags=(Tag("exclude", 1.0, 1.5), Tag("walk", 0.0, 3.0)))
    made = make([source(clip, mirror=True)])
    found = [(part.name, len(part)) for part in made.ranges]
    assert found == [("a", 60), ("a (mirrored)", 60), ("a", 90), ("a (mirrored)", 90)]
    assert made.notes["excluded"] == {"a": 0.517} and set(made.tags) == {"walk"}


def test_another_rate(make, walk, source):
    made = make([source(walk("a", 2.0))], recipe=Recipe(rate=24.0))
    assert len(made) == 49 and made.rate == 24 and made.report()["minutes"] == round(49 / 24 / 60, 3)


def test_clips_of_any_rate_come_together(make, walk, source):
    made = make([source(walk(f"{rate:g}", 2.0, rate=rate)) for rate in (24.0, 25.0, 29.97, 30.0, 60.0, 120.0)])
    assert [len(part) for part in made.ranges] == [121] * 2 + [121] + [121] * 3
    features = np.stack([made.normalisation.undo(made.features[part.start:part.stop]) for part in made.ranges])
    assert np.abs(features - features[-1])[:, 10:60, :18].max() < 0.005


def test_the_database_is_of_the_character_with_a_root_that_faces_y(make, character, walk, source):
    sideways = replace(character, forward="+X")
    made = make([source(walk("a"))], character=sideways)
    assert made.character.forward == "+Y" and made.character.roles["root"] == "root"
    assert np.allclose(made.normalisation.undo(made.features)[30, :2], [-0.4, 0], atol=1e-3)  # its left is forward


def test_the_forward_axis_is_found_where_none_is_given(make, character, walk, source):
    unknown = replace(character, forward="")
    made = make([source(walk("a"))], character=unknown)
    assert np.allclose(made.normalisation.undo(made.features)[30, :2], [0, 0.4], atol=1e-3)


def test_properties_are_zero_where_a_clip_does_not_animate_them(make, walk, source):
    schema = Schema([Channel("property", "mood"), Channel("trajectory_position", times=(0.5,))])
    curves = {"mood": np.full(121, 2.0), "still": np.zeros(121)}
    made = make([source(walk("a", curves=curves)), source(walk("b"))], schema)
    assert made.curve_names == ("mood",)
    assert np.allclose(made.normalisation.undo(made.features)[:, 0], np.repeat([2.0, 0.0], 121), atol=1e-5)


def test_a_property_that_no_clip_has_is_named(make, walk, source):
    with pytest.raises(MotionError, match='No clip has a property "mood"'):
        make([source(walk("a", curves={"mood": np.zeros(121)}))], Schema([Channel("property", "mood")]))


def test_tiny_shifts_of_a_joint_are_not_stored_for_every_frame(make, walk, source):
    clip = walk("a")
    positions = clip.positions.copy()
    positions[:, 3] += np.random.default_rng(0).uniform(-3e-5, 3e-5, (121, 3))
    made = make([source(clip.with_changes(positions=positions)), source(walk("b"))])
    assert made.moving.tolist() == [0, 1]
    positions[:, 5, 0] += 0.01 * np.sin(np.arange(121))
    made = make([source(clip.with_changes(positions=positions)), source(walk("b"))])
    assert made.moving.tolist() == [0, 1, 5]


def test_a_clip_that_is_read_where_the_armature_stands_elsewhere_stores_no_more_joints(make, walk, source, character):
    whole = make([source(walk("a")), source(walk("b"))])
    noise = np.random.default_rng(0).uniform(-2e-6, 2e-6, character.skeleton.positions.shape).astype(np.float32)
    skeleton = replace(character.skeleton, positions=character.skeleton.positions + noise)
    again = make([source(walk("a")), source(walk("b", cadence=2.0))], previous=whole,
                 character=replace(character, skeleton=skeleton))
    assert again.notes["reused"] == 1 and again.moving.tolist() == whole.moving.tolist()


def test_warnings_of_sources_are_told(make, walk, source):
    made = make([source(walk("a"), warns=["a.bvh has 3 frames fewer than it says."]), source(walk("b"))])
    assert made.notes["warnings"] == ["a.bvh has 3 frames fewer than it says."]


def test_a_rest_pose_that_was_left_out_is_told(make, walk, source):
    clip = walk("a", swing=0.5, cadence=0.25)
    rotations = clip.rotations.copy()
    rotations[:, 1:] = quat.mul(quat.from_scaled_angle_axis(np.float32([0.5, 0, 0.3])), rotations[:, 1:])
    rotations[:2, 1:] = clip.skeleton.rotations[1:]
    made = make([source(clip.with_changes(rotations=rotations))])
    assert len(made) == 119 and made.notes["warnings"] == [
        'Clip "a" begins with the rest pose; frames of it left out: 2.']


# Progress and cancelling

def test_progress_grows_and_says_what_is_done(character, walk, source):
    seen = []
    run(bake([source(walk("a")), source(walk("b"))], character, LOCOMOTION, Recipe()), seen.append)
    shares = [progress.share for progress in seen]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == pytest.approx(1)
    assert list(dict.fromkeys(progress.text for progress in seen)) == [
        'Reading "a"', 'Reading "b"', "Sorting similar frames"]
    assert all(isinstance(progress, Progress) for progress in seen)


def test_it_can_be_cancelled_at_any_step_and_sources_are_closed(character, walk, source):
    log = []

    def reading(clip):
        log.append("begin")
        try:
            yield 0.0
            yield 0.5
            return clip
        finally:
            log.append("end")

    def steps():
        sources = [Source(name, lambda name=name: reading(walk(name)), name, mirror=True) for name in ("a", "b")]
        return bake(sources, character, LOCOMOTION, Recipe())

    count = len(list(steps()))
    assert count > 4 + 4
    for stop in range(count):
        log.clear()
        baking = steps()
        for _ in range(stop + 1):
            next(baking)
        baking.close()
        assert log.count("begin") == log.count("end")


# Left out, each with its sentence

def test_clips_that_cannot_be_used_are_left_out_and_named(make, walk, source, character):
    odd = Skeleton([*character.skeleton.names[:-1], "hoof"], character.skeleton.parents, character.skeleton.positions,
                   character.skeleton.rotations)
    tree = replace(character.skeleton, parents=[-1, 0, 1, 2, 1, 2])
    clip = walk()

    def broken():
        yield 0.0
        positions = clip.positions.copy()
        positions[7, 1] = np.nan
        return clip.with_changes(name="nan", positions=positions)

    def lost():
        yield 0.0
        raise MotionError('Action "lost" was deleted.')

    lengthened = np.zeros((6, 3), dtype=np.float32)
    lengthened[3, 2] = -0.02
    long = replace(character.skeleton, positions=character.skeleton.positions + lengthened)
    made = make([
        source(clip.with_changes(name="another", skeleton=odd)),
        source(clip.with_changes(name="tree", skeleton=tree)),
        source(clip.with_changes(name="long", skeleton=long, positions=clip.positions + lengthened)),
        source(walk("one key").slice(0, 1)), source(walk("gone", tags=(Tag("exclude", 0, 9),))),
        Source("nan", broken, "1"), Source("lost", lost, "2"), source(walk("good")), source(walk("good")),
        source(walk("mood", curves={"mood": np.full(121, np.inf)}))])
    assert [part.source for part in made.ranges] == ["good"]
    for sentence, words in zip(made.notes["left_out"], [
            'Clip "another" has another skeleton than the character (only one of them has "foot.R"): bake it separ',
            'Clip "tree" has another skeleton than the character (the same bones, parented in another way)',
            'Clip "long" has other bone lengths than the character ("foot.L" differs by 2.0 cm): bake it separately.',
            'Clip "one key" has no two frames', 'Clip "gone" is tagged "exclude" from beginning to end',
            'Clip "nan" has a value that is not a number at frame 7, joint "hips".', 'Action "lost" was deleted.',
            'Clip "good" is in the list twice', 'Clip "mood" has a value that is not a number in its property'],
            strict=True):
        assert sentence.startswith(words)


def test_a_clip_that_cannot_be_mirrored_is_named(make, walk, source, character):
    alone = replace(character, mirror={})
    made = make([source(walk("a"), mirror=True), source(walk("b"))], character=alone)
    assert [part.source for part in made.ranges] == ["b"] and 'Clip "a" cannot be mirrored' in made.notes["left_out"][0]


def test_bones_that_differ_by_a_hair_take_the_lengths_of_the_character(make, walk, source, character):
    clip = walk("a")
    hair = np.float32(0.001)
    skeleton = replace(clip.skeleton, positions=clip.skeleton.positions + hair)
    hair = clip.with_changes(name="hair", skeleton=skeleton, positions=clip.positions + hair)
    made = make([source(clip), source(hair)])
    assert made.moving.tolist() == [0, 1]
    assert np.allclose(made.clip(1).positions[:, 2:], clip.positions[:, 2:], atol=1e-6)


def test_a_joint_placed_by_the_motion_has_no_length_to_compare(make, walk, source):
    clip = walk("a")
    rest = clip.skeleton.positions.copy()
    rest[1] = 0  # a file whose hips have position channels may say anything about their rest
    made = make([source(clip.with_changes(skeleton=replace(clip.skeleton, positions=rest)))])
    assert made.notes["left_out"] == [] and np.allclose(made.clip(0).positions, clip.positions, atol=1e-6)


def test_joints_in_another_order_are_put_in_the_order_of_the_character(make, walk, source):
    clip = walk("a", turn=0.5)
    order = [0, 1, 4, 5, 2, 3]
    names = [clip.skeleton.names[joint] for joint in order]
    other = Skeleton(names, [-1, 0, 1, 2, 1, 4], clip.skeleton.positions[order], clip.skeleton.rotations[order])
    shuffled = clip.with_changes(skeleton=other, positions=clip.positions[:, order], rotations=clip.rotations[:, order])
    one, other = make([source(clip)]), make([source(shuffled)])
    assert np.array_equal(one.rotations, other.rotations) and np.array_equal(one.features, other.features)


def test_when_no_clip_can_be_used_the_first_sentence_is_the_error(make, walk, source):
    with pytest.raises(MotionError, match='Clip "gone" is tagged'):
        make([source(walk("gone", tags=(Tag("exclude", 0, 9),)))])


@pytest.mark.parametrize("change, words", [
    ({"sources": []}, "no clips to bake"),
    ({"schema": Schema([Channel("bone_position", "head"), Channel("bone_velocity", "left_hand")])}, "head, left_hand"),
    ({"schema": Schema([Channel("trajectory_height")]), "without": "hips"}, "hips"),
    ({"without": "foot"}, "left_foot"),
    ({"schema": Schema([Channel("trajectory_position")]), "without": "foot"}, "no feet"),
    ({"recipe": Recipe(rate=0.0)}, "1 to 1000 frames per second, not 0"),
    ({"recipe": Recipe(rate=float("nan"))}, "not nan"), ({"recipe": Recipe(rate=1e9)}, "not 1e"),
])
def test_a_request_that_cannot_work_is_refused_before_anything_is_read(make, walk, source, character, change, words):
    reads = []
    settings = {"sources": [source(walk("a"), reads)], **change}
    without = settings.pop("without", None)
    if without:
        roles = {role: name for role, name in character.roles.items() if without not in role}
        settings["character"] = replace(character, roles=roles)
    with pytest.raises(MotionError, match=words):
        make(**settings)
    assert not reads


def test_more_frames_than_memory_has_room_for_are_refused_before_anything_is_read(make, walk, source, monkeypatch):
    reads = []
    many = replace(source(walk("a"), reads, mirror=True), seconds=1e6)
    with pytest.raises(MotionError, match=r"All clips together would have 120,000,000 frames, .* at most 50,000,000"):
        make([many])
    assert not reads
    # What does not know its length beforehand is counted as it comes.
    monkeypatch.setattr(limits, "ALL_POSES", 1000)
    with pytest.raises(MotionError, match=r"All clips together would have 242 frames, .* at most 166"):
        make([source(walk("a"), reads), source(walk("b"), reads), source(walk("c"), reads)])
    assert reads == ["a", "b"]


@pytest.mark.parametrize("joint, words", [(2, '"hips" and "thigh.L"'), (3, '"thigh.L" and "foot.L"')])
def test_a_leg_that_cannot_bend_is_named(make, walk, source, character, joint, words):
    roles = {**character.roles, "left_thigh": "hips", "left_shin": "thigh.L"}
    places = character.skeleton.positions.copy()
    places[joint] = 0
    flat = replace(character, skeleton=replace(character.skeleton, positions=places), roles=roles)
    clip = walk("flat").with_changes(skeleton=flat.skeleton)
    positions = clip.positions.copy()
    positions[:, joint] = 0
    with pytest.raises(MotionError, match=f'Clip "flat" has {words} in the same place, where no leg can bend'):
        make([source(clip.with_changes(positions=positions))], character=flat)
    make([source(walk("good"))], character=replace(character, roles=roles))


def test_different_tags_have_a_limit(make, walk, source):
    with pytest.raises(MotionError, match="The clips have 501 different tags: use at most 500"):
        make([source(walk("a", tags=[Tag(f"tag {index}", 0, 1) for index in range(501)]))])


def test_clips_shorter_than_the_features_look_are_used_and_told(make, walk, source):
    chosen = replace(LOCOMOTION, past_end="exclude")
    made = make([source(walk("long", 3.0)), source(walk("short", 0.8), mirror=True)], chosen)
    assert made.notes["warnings"] == ['No search can enter clip "short" (0.82 s): most frames are too near an end of '
                                      "its clip for its features."]
    with pytest.raises(MotionError, match="No search could enter any frame: most frames are too near an end"):
        make([source(walk("short", 0.8))], chosen)
    assert make([source(walk("short", 0.8))]).notes["warnings"] == []


# Keys: what a database was made from

def test_keys_change_with_every_ingredient_and_with_nothing_else(character, walk, source):
    first, second = source(walk("a")), source(walk("b"))
    schema, recipe = LOCOMOTION, Recipe()

    def key(sources=(first, second), character=character, schema=schema, recipe=recipe):
        return database_key(sources, foundation_key(character, recipe), schema)

    skeleton = character.skeleton
    moved, tall, rolled = skeleton.positions.copy(), skeleton.positions.copy(), skeleton.rotations.copy()
    moved[0, :2] += 5
    moved[1, 0] = -1e-9
    tall[3, 2] -= 0.001
    rolled[3] = quat.from_yaw(np.float32(0.1))
    same = [key(), key((source(walk("a")), source(walk("b")))), key((replace(first, warnings=["odd"]), second)),
            key(character=replace(character, skeleton=replace(skeleton, positions=moved))),
            key(character=replace(character, roles=dict(reversed(character.roles.items())))),
            key(schema=Schema.from_json(schema.to_json())), key(recipe=Recipe(rate=60.0))]
    assert len(set(same)) == 1
    other = [
        *(key((replace(first, **change), second)) for change in (
            {"name": "c"}, {"fingerprint": "x"}, {"mirror": True}, {"loop": True}, {"speed": 1.5}, {"origin": 1.0})),
        key((second, first)), key((first,)), key((first, second, source(walk("c")))),
        *(key(recipe=replace(recipe, **{name: value})) for name, value in (
            ("rate", 30.0), ("root", "made"), ("root_position", 0.6), ("root_facing", 0.9),
            ("facing", "hips_shoulders"), ("contact_speed", 0.2), ("contact_height", 0.1),
            ("contact_filter", 0.2), ("skip_rest", False))),
        *(key(schema=replace(schema, **{name: value})) for name, value in (
            ("responsiveness", 2.0), ("quality", 2.0), ("past_end", "exclude"), ("channels", schema.channels[:-1]))),
        key(schema=replace(schema, channels=(replace(schema.channels[0], weight=2.0), *schema.channels[1:]))),
        key(character=replace(character, forward="-Y")), key(character=replace(character, mirror={})),
        key(character=replace(character, roles={**character.roles, "spine": "hips"})),
        key(character=replace(character, skeleton=replace(skeleton, positions=tall))),
        key(character=replace(character, skeleton=replace(skeleton, rotations=rolled))),
    ]
    assert len({same[0], *other}) == len(other) + 1


def test_the_key_of_a_database_is_that_of_its_ingredients(make, character, walk, source):
    sources = [source(walk("a")), source(walk("one key").slice(0, 1))]
    assert make(sources).key == database_key(sources, foundation_key(character, Recipe()), LOCOMOTION)


# Rebaking

def same_arrays(one, other):
    for name in ("rotations", "positions", "moving", "fixed", "contacts", "features", "curves"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(one.normalisation.mean, other.normalisation.mean)
    assert np.array_equal(one.normalisation.scale, other.normalisation.scale)
    assert one.ranges == other.ranges and one.curve_names == other.curve_names and one.key == other.key
    assert one.tags.keys() == other.tags.keys()
    assert all(np.array_equal(one.tags[name], other.tags[name]) for name in one.tags)
    assert {**one.notes, "reused": 0} == {**other.notes, "reused": 0}


@pytest.fixture
def clips(walk):
    """Clips in which tiny shifts, tags, properties and excluded frames make it hard to take them over exactly."""
    noise = np.random.default_rng(0)
    made = [walk("a", tags=(Tag("walk", 0.123, 1.017), Tag("between frames", 0.504, 0.512)),
                 curves={"mood": np.linspace(0, 1, 121)}),
            walk("b", 3.0, turn=0.7, tags=(Tag("exclude", 1.0, 1.4), Tag("contact.left", 0.0, 0.5))),
            walk("c", 1.0, cadence=2.0), walk("d", 1.5, rate=29.97, right=0.4)]
    return [clip.with_changes(positions=clip.positions + (np.arange(6) > 1)[:, None]
                              * noise.uniform(-4e-5, 4e-5, clip.positions.shape)) for clip in made]


def sources_of(clips, source, reads=None):
    return [source(clip, reads, mirror=clip.name in "ab", loop=clip.name == "c", speed=1.2 if clip.name == "d" else 1.0,
                   origin=0.25, warns=[f"{clip.name} is odd."] if clip.name == "b" else ()) for clip in clips]


def test_taking_over_unchanged_clips_gives_the_same_database_as_baking_anew(make, clips, source, walk):
    whole = make(sources_of(clips, source))
    moving = walk("e", 1.0)
    positions = moving.positions.copy()
    positions[:, 3, 2] += 0.05 * np.sin(np.arange(61))
    changed = [*clips[:2], walk("c", 1.0, cadence=1.0), clips[3]]
    for name, now, read in (
            ("nothing changed", clips, []), ("one changed", changed, ["c"]), ("the first is gone", clips[1:], []),
            ("another order", clips[::-1], []), ("one more", [*clips, moving], ["e"]),
            ("one in which another joint moves", [moving.with_changes(positions=positions), *clips], ["e"])):
        reads = []
        again = make(sources_of(now, source, reads), previous=whole)
        assert reads == read, name
        assert again.notes["reused"] == len(now) - len(read), name
        same_arrays(again, make(sources_of(now, source)))
        # And once more from there, back to where it began.
        same_arrays(make(sources_of(clips, source), previous=again), whole)


def test_taking_over_works_from_the_file_too(make, clips, source, tmp_path):
    whole, reads = make(sources_of(clips, source)), []
    whole.save(tmp_path / "whole.mmdb")
    again = make(sources_of(clips, source, reads), previous=database.load(tmp_path / "whole.mmdb"))
    assert reads == []
    same_arrays(again, whole)


def test_other_features_read_nothing_again(make, clips, source):
    whole, reads = make(sources_of(clips, source)), []
    again = make(sources_of(clips, source, reads), PRESETS["locomotion_past"], previous=whole)
    assert reads == []
    same_arrays(again, make(sources_of(clips, source), PRESETS["locomotion_past"]))


def test_another_recipe_or_character_reads_everything_again(make, clips, source, character):
    whole = make(sources_of(clips, source))
    for change in ({"recipe": Recipe(contact_speed=0.2)}, {"recipe": Recipe(rate=30.0)},
                   {"character": replace(character, roles={**character.roles, "spine": "hips"})}):
        reads = []
        make(sources_of(clips, source, reads), previous=whole, **change)
        assert reads == ["a", "b", "c", "d"]


def test_taking_over_says_unchanged(character, clips, source):
    sources, seen = sources_of(clips, source), []
    whole = run(bake(sources, character, LOCOMOTION, Recipe()))
    run(bake(sources, character, LOCOMOTION, Recipe(), whole), seen.append)
    assert seen[0].text == 'Unchanged: "a"'
