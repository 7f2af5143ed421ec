# SPDX-License-Identifier: GPL-3.0-or-later
"""Every way to lose a database that we could think of: a bake replaces only what is its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from mm_blender import archive
from mm_blender.errors import MotionError
from mm_blender.files import only_us
from mm_blender.matching import database
from mm_blender.networks import provenance
from mm_blender.scene.driving import libraries
from mm_blender.scene.jobs import baking, ownership, saving, slices, training
from tests import walker


@pytest.fixture
def home(extension, tmp_path, monkeypatch):
    """The folder of the work; files that were never saved have one beside it."""
    monkeypatch.setattr(ownership, "provisional_folder", lambda: str(made(tmp_path / "unsaved")))
    return made(tmp_path / "work")


@pytest.fixture
def hero(home):
    """A character that is baked in hero.blend, into a file that nobody chose."""
    ob = character("Hero")
    save(home / "hero.blend")
    bpy.ops.mm.bake()
    save(home / "hero.blend")
    return ob


def made(folder):
    folder.mkdir(exist_ok=True)
    return folder


def character(name, path="", speed=1.2):
    ob = walker.armature(name)
    return walker.ready(ob, path, walker.walk(ob, f"{name} walk", 1.0, speed))


def save(path, **options):
    bpy.ops.wm.save_as_mainfile(filepath=str(path), **options)


def opened(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    ob = bpy.data.objects["Hero"]
    walker.activate(ob)
    return ob


def bake(ob, **options):
    walker.activate(ob)
    bpy.ops.mm.bake(**options)
    return path_of(ob)


def changed(ob):
    """Let there be something to bake."""
    ob.mm.bake.rate -= 1


def path_of(ob):
    return Path(baking.database_path(ob))


def word(ob):
    return ownership.whose(ob).word


@pytest.fixture
def unharmed():
    """Call it with files; they must be what they were at the end."""
    known = {}

    def keep(*paths):
        known.update({path: path.read_bytes() for path in paths})

    yield keep
    assert known and not [path for path, content in known.items() if path.read_bytes() != content]


# Files of their own

def test_a_file_is_named_after_blend_and_armature(hero, home):
    assert hero.mm.bake.path == "//hero_Hero.mmdb" and path_of(hero) == home / "hero_Hero.mmdb"
    assert database.load(path_of(hero)).owner == ownership.owner_of(hero) and word(hero) == "ours"


@pytest.mark.parametrize("name", ["a/b", 'c:*?"<>|\\', "Ünï ", "x" * 63, "con", "..."])
def test_a_name_that_no_file_may_have_is_made_one(home, name):
    ob = character(name)
    save(home / "shot.blend")
    path = bake(ob)
    assert path.is_file() and path.parent == home and not ownership.FORBIDDEN.search(path.name)


def test_two_characters_of_one_blend_have_two_files(hero, unharmed):
    unharmed(path_of(hero))
    other = character("Other")
    assert bake(other).name == "hero_Other.mmdb" and word(hero) == word(other) == "ours"


def test_names_that_are_written_alike_are_two_files(home):
    one, other = character("a/b"), character("a:b")
    save(home / "shot.blend")
    assert {bake(one).name, bake(other).name} == {"shot_a_b.mmdb", "shot_a_b.001.mmdb"}


def test_a_second_blend_in_the_folder_leaves_the_first_ones_file(hero, home, unharmed):
    unharmed(path_of(hero))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    other = character("Hero")
    save(home / "second.blend")
    assert bake(other).name == "second_Hero.mmdb"


def test_two_files_that_were_never_saved_do_not_share_one(home, unharmed):
    ob = character("Hero")
    path = bake(ob)
    assert path.parent.name == "unsaved" and ob.mm.bake.path == str(path), "a crash does not make it lose its way"
    unharmed(path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert bake(character("Hero")) != path


def test_each_run_of_blender_has_a_folder_for_what_was_never_saved(extension, tmp_path):
    script = "from mm_blender.scene.jobs import ownership; print('RUN', ownership._RUN)"
    runs = {subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
            for _ in range(2)}
    assert len(runs) == 2


def test_a_renamed_character_keeps_its_file(hero):
    hero.name = "Villain"
    assert bake(hero).name == "hero_Hero.mmdb"


def test_a_new_character_of_an_old_name_does_not_get_the_old_ones_file(hero, unharmed):
    unharmed(path_of(hero))
    bpy.data.objects.remove(hero)
    assert bake(character("Hero")).name == "hero_Hero.001.mmdb"


# Copies

def test_a_copy_uses_the_file_until_it_is_baked_into_one_of_its_own(hero, unharmed):
    unharmed(path_of(hero))
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    assert path_of(copy) == path_of(hero) and word(copy) == "copied" and libraries.is_ready(copy)
    assert libraries.library_of(copy) is libraries.library_of(hero)
    assert 'is the database of "Hero" in hero.blend: it is played, not changed' in ownership.said(copy)
    changed(copy)
    assert bake(copy).name == "hero_Hero.001.mmdb"
    assert word(hero) == word(copy) == "ours" and hero.mm.bake.owner != copy.mm.bake.owner
    assert not baking.changes(hero, bpy.context.scene)


def test_which_one_is_the_copy_outlives_saving_and_renaming(hero, home, unharmed):
    bpy.ops.object.duplicate()
    bpy.context.object.name, hero.name = "A first one", "Z"
    save(home / "hero.blend")
    bpy.ops.wm.open_mainfile(filepath=str(home / "hero.blend"))
    copy, original = bpy.data.objects["A first one"], bpy.data.objects["Z"]
    assert word(copy) == "copied" and word(original) == "ours"
    unharmed(path_of(original))
    bake(copy)


def test_appended_it_bakes_elsewhere(hero, home, unharmed):
    unharmed(path_of(hero))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    save(home / "second.blend")
    with bpy.data.libraries.load(str(home / "hero.blend")) as (_, into):
        into.objects = ["Hero"]
    ob = into.objects[0]
    bpy.context.collection.objects.link(ob)
    assert word(ob) == "copied" and libraries.is_ready(ob)
    assert bake(ob).name == "second_Hero.mmdb"


@pytest.mark.parametrize("folder", ["work", "elsewhere"])
def test_linked_it_plays_and_with_an_override_it_bakes_elsewhere(hero, home, tmp_path, folder, unharmed):
    unharmed(path_of(hero))
    file = path_of(hero)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    save(made(tmp_path / folder) / "second.blend")
    with bpy.data.libraries.load(str(home / "hero.blend"), link=True) as (_, into):
        into.objects = ["Hero"]
    linked = into.objects[0]
    assert path_of(linked) == file
    ob = linked.override_create(remap_local_usages=True)
    bpy.context.collection.objects.link(ob)
    assert path_of(ob) == file and word(ob) == "copied" and libraries.library_of(ob).database.key == ob.mm.bake.key
    assert bake(ob) == tmp_path / folder / "second_Hero.mmdb" and word(ob) == "ours"
    assert path_of(linked) == file


# The .blend is saved, moved, copied

def test_saved_under_another_name_each_has_its_own(hero, home, unharmed):
    Path(training.own_networks_path(hero)).write_bytes(b"networks")
    unharmed(path_of(hero), home / "hero_Hero.mmnet")
    save(home / "v02.blend")
    assert hero.mm.bake.path == "//v02_Hero.mmdb" and word(hero) == "ours" and not baking.changes(
        hero, bpy.context.scene)
    assert (home / "v02_Hero.mmnet").read_bytes() == b"networks"
    changed(hero)
    bake(hero)
    save(home / "v02.blend")
    ob = opened(home / "hero.blend")
    assert word(ob) == "ours" and not baking.changes(ob, bpy.context.scene)


def test_a_name_that_was_chosen_is_not_shared_by_two_versions_either(hero, home, unharmed):
    hero.mm.bake.path = "//chosen"
    bake(hero)
    unharmed(home / "chosen.mmdb")
    save(home / "v02.blend")
    assert hero.mm.bake.path == "//chosen.001.mmdb" and word(hero) == "ours"
    changed(hero)
    bake(hero)


def test_copies_go_along_with_what_they_use(hero, home):
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    save(home / "v02.blend")
    assert path_of(copy) == path_of(hero) == home / "v02_Hero.mmdb"
    assert (word(hero), word(copy)) == ("ours", "copied")


def test_a_saved_copy_has_its_own_and_this_file_keeps_its_own(hero, home, unharmed):
    save(home / "backup.blend", copy=True)
    assert hero.mm.bake.path == "//hero_Hero.mmdb" and word(hero) == "ours"
    unharmed(home / "backup_Hero.mmdb")
    changed(hero)
    bake(hero)
    ob = opened(home / "backup.blend")
    assert ob.mm.bake.path == "//backup_Hero.mmdb" and word(ob) == "ours"


def test_saving_over_another_version_leaves_the_file_of_that(hero, home, unharmed):
    save(home / "v02.blend")
    changed(hero)
    bake(hero)
    save(home / "v02.blend")
    unharmed(home / "v02_Hero.mmdb")
    save_again = opened(home / "hero.blend")
    save(home / "v02.blend")
    assert save_again.mm.bake.path == "//v02_Hero.001.mmdb" and word(save_again) == "ours"


def test_first_saved_it_takes_its_file_along(home):
    ob = character("Hero")
    before = bake(ob).read_bytes()
    save(home / "shot.blend")
    assert ob.mm.bake.path == "//shot_Hero.mmdb" and word(ob) == "ours" and before
    assert not baking.changes(ob, bpy.context.scene)


@pytest.mark.parametrize("name", ["no such folder/v02.blend", f"{'x' * 300}.blend"])
def test_a_save_that_fails_changes_nothing(hero, home, name):
    with pytest.raises(RuntimeError):
        save(home / name)
    assert hero.mm.bake.path == "//hero_Hero.mmdb" and word(hero) == "ours"


def test_a_save_that_fails_on_a_disk_that_is_read_only_is_not_spoken_of(hero, home, small_disk):
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(RuntimeError, match="Read-only"):
        save(small_disk / "other.blend")
    assert saving.why_it_stays(hero) == "" and path_of(hero) == home / "hero_Hero.mmdb" and word(hero) == "ours"


@pytest.mark.parametrize("name", ["motion", "motion.mmdb", "./motion", "sub/../motion"])
def test_a_name_without_slashes_is_a_file_beside_the_blend(hero, home, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (home / "sub").mkdir()
    hero.mm.bake.path = name
    assert bake(hero) == home / "motion.mmdb" and word(hero) == "ours" and not ownership.is_outside(hero)
    save(made(home / "later") / "hero.blend")
    assert path_of(hero) == home / "later" / "motion.mmdb" and word(hero) == "ours"


def test_a_blend_that_was_renamed_or_moved_still_has_its_file(hero, home, tmp_path):
    (home / "hero.blend").rename(home / "new name.blend")
    ob = opened(home / "new name.blend")
    assert word(ob) == "ours" and bake(ob).name == "hero_Hero.mmdb"
    save(home / "new name.blend")
    home.rename(tmp_path / "moved")
    ob = opened(tmp_path / "moved" / "new name.blend")
    assert word(ob) == "ours" and bake(ob) == tmp_path / "moved" / "hero_Hero.mmdb"


def test_a_copy_of_a_blend_that_was_renamed_keeps_what_that_has_baked(hero, home):
    Path(training.own_networks_path(hero)).write_bytes(b"networks")
    key = hero.mm.bake.key
    shutil.copy(home / "hero.blend", home / "hero_v2.blend")
    (home / "hero.blend").rename(home / "hero_v1.blend")
    ob = opened(home / "hero_v2.blend")
    save(home / "hero_v2.blend")
    changed(ob)
    assert bake(ob).name == "hero_Hero.mmdb" and word(ob) == "ours"
    save(home / "hero_v2.blend")
    assert database.read_key(home / "hero_Hero.previous.mmdb") == key
    assert (home / "hero_Hero.previous.mmnet").read_bytes() == (home / "hero_Hero.mmnet").read_bytes() == b"networks"
    assert "It was kept as hero_Hero.previous.mmdb" in baking.report(ob)["warnings"][-1]
    assert word(opened(home / "hero_v1.blend")) == "copied", "so that it bakes elsewhere"


@pytest.mark.parametrize("moved", [False, True])
def test_a_blend_that_was_copied_outside_of_blender_bakes_elsewhere(hero, home, tmp_path, moved, unharmed):
    shutil.copy(home / "hero.blend", home / "copy.blend")
    if moved:  # both, to where the file says nothing of
        home = home.rename(tmp_path / "moved")
    unharmed(home / "hero_Hero.mmdb")
    ob = opened(home / "copy.blend")
    assert word(ob) == "copied" and bake(ob).name == "copy_Hero.mmdb"


def test_recovered_twice_what_was_never_saved_is_not_baked_over(home, monkeypatch, tmp_path, unharmed):
    ob = character("Hero")
    unharmed(bake(ob))
    path, key, rate = ob.mm.bake.path, ob.mm.bake.key, ob.mm.bake.rate
    for run in ("one", "two"):
        monkeypatch.setattr(ownership, "own_folder", lambda _: str(tmp_path / "unsaved"))
        monkeypatch.setattr(ownership, "provisional_folder", lambda run=run: str(made(tmp_path / "unsaved" / run)))
        ob.mm.bake.path, ob.mm.bake.key, ob.mm.bake.rate = path, key, rate
        assert libraries.is_ready(ob) and not baking.changes(ob, bpy.context.scene), "it is found again"
        changed(ob)
        assert bake(ob).parent.name == run


def test_two_files_from_one_startup_file_do_not_share_what_was_chosen_in_it(home, unharmed):
    ob = character("Hero", home / "studio.mmdb")
    bake(ob)
    assert word(ob) == "ours" and database.load(path_of(ob)).owner.blend == ""
    unharmed(path_of(ob))
    ownership._given.clear()  # as in another Blender
    assert word(ob) == "copied" and bake(ob).parent.name == "unsaved"


def test_what_was_baked_before_there_was_a_blend_is_its_own_afterwards(home):
    ob = character("Hero", home / "studio.mmdb")
    bake(ob)
    save(home / "hero.blend")
    ob = opened(home / "hero.blend")
    assert word(ob) == "ours" and bake(ob) == home / "studio.mmdb"


@pytest.mark.parametrize("name", ["quit.blend", "4711_autosave.blend"])
def test_what_blender_itself_has_saved_counts_as_never_saved(home, monkeypatch, name):
    recovered = Path(bpy.app.tempdir).parent / name
    assert ownership.is_for_recovery(str(recovered)) and not ownership.is_for_recovery(str(home / name))
    monkeypatch.setattr(ownership, "is_for_recovery", lambda path: Path(path).name == name)
    ob = character("Hero")
    save(home / name)
    assert bake(ob).parent.name == "unsaved" and ob.mm.bake.path == str(path_of(ob))
    save(home / name)
    assert path_of(ob).parent.name == "unsaved"
    save(home / "hero.blend")
    assert ob.mm.bake.path == "//hero_Hero.mmdb" and word(ob) == "ours"


def test_undo_after_a_bake_leaves_the_character_its_file(hero, home):
    bake_settings = hero.mm.bake
    bake_settings.path = bake_settings.owner = bake_settings.key = ""  # as undo leaves them
    assert path_of(hero) == home / "hero_Hero.mmdb" and word(hero) == "ours"
    assert bake(hero).name == "hero_Hero.mmdb"


# A file of another one is chosen

@pytest.fixture
def guest(hero):
    """A character that was given the hero's database."""
    return character("Guest", hero.mm.bake.path)


def test_a_chosen_file_of_another_one_is_played_and_not_baked_over(hero, guest, unharmed):
    unharmed(path_of(hero))
    assert libraries.is_ready(guest) and word(guest) == "another's"
    assert libraries.library_of(guest).database.key == hero.mm.bake.key
    with pytest.raises(RuntimeError, match=re.escape(
            'hero_Hero.mmdb is the database of "Hero" in hero.blend: it is played, not changed. Bake "Guest" to a file '
            'of its own, or replace this one.')):
        bpy.ops.mm.bake()
    assert bake(guest, own_file=True).name == "hero_Guest.mmdb" and word(guest) == "ours"


@pytest.mark.parametrize("times", [1, 2])
def test_replaced_on_purpose_it_is_kept_beside(hero, guest, home, times):
    kept = []
    for index in range(times):
        guest.mm.bake.owner = ""  # a newcomer each time
        ownership._given.clear()
        Path(training.own_networks_path(hero)).write_bytes(b"networks %d" % index)
        kept.append(path_of(hero).read_bytes())
        bake(guest, replace=True)
    for number, content, networks in zip(("", "2"), kept, (b"networks 0", b"networks 1")):
        assert (home / f"hero_Hero.previous{number}.mmdb").read_bytes() == content
        assert (home / f"hero_Hero.previous{number}.mmnet").read_bytes() == networks
    assert "It was kept as hero_Hero.previous" in baking.report(guest)["warnings"][0]
    assert word(guest) == "ours" and word(hero) == "another's"


def test_where_replacing_fails_all_is_as_before(hero, guest, home, monkeypatch, unharmed):
    Path(training.own_networks_path(hero)).write_bytes(b"networks")
    unharmed(path_of(hero), home / "hero_Hero.mmnet")

    def full(*_, **__):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(archive.np.lib.format, "write_array", full)
    with pytest.raises(RuntimeError, match="the disk is full"):
        bake(guest, replace=True)
    assert sorted(path.suffix for path in home.iterdir() if path.stem != "hero") == [".mmdb", ".mmnet"]


@pytest.fixture
def nobodys(home):
    """A character that was given a database from a shell, or one that it has baked with an earlier version."""
    ob = character("Hero", home / "shell.mmdb")
    bake(ob)
    database.give(path_of(ob), None)
    ob.mm.bake.owner = ""
    ownership._given.clear()
    return ob


def test_a_database_of_nobody_is_played_and_not_baked_over_until_it_is_adopted(nobodys):
    before = path_of(nobodys).read_bytes()
    assert word(nobodys) == "nobody's" and libraries.is_ready(nobodys) and libraries.library_of(nobodys)
    changed(nobodys)
    with pytest.raises(RuntimeError, match=r"shell\.mmdb comes from a shell or an earlier version"):
        bpy.ops.mm.bake()
    assert path_of(nobodys).read_bytes() == before
    bpy.ops.mm.database_adopt()
    assert word(nobodys) == "ours" and database.load(path_of(nobodys)).key == nobodys.mm.bake.key
    assert bake(nobodys).name == "shell.mmdb"
    with pytest.raises(RuntimeError, match="Only a database that belongs to nobody"):
        bpy.ops.mm.database_adopt()


def test_what_was_adopted_and_holds_other_motion_is_kept_beside_the_first_bake(nobodys):
    bpy.ops.mm.database_adopt()
    nobodys.mm.bake.key = "of something else"
    changed(nobodys)
    adopted = path_of(nobodys).read_bytes()
    bake(nobodys)
    assert path_of(nobodys).with_name("shell.previous.mmdb").read_bytes() == adopted
    bake(nobodys)
    assert not path_of(nobodys).with_name("shell.previous2.mmdb").exists(), "its own bakes are replaced"


def test_an_old_blend_finds_what_it_has_baked(nobodys, home):
    save(home / "old.blend")
    path_of(nobodys).rename(home / "motion.mmdb")
    nobodys.mm.bake.property_unset("path")  # what was the default is not in the file
    assert path_of(nobodys) == home / "motion.mmdb" and not baking.file_trouble(nobodys)


@pytest.mark.parametrize("copy", [False, True])
def test_what_an_old_blend_has_baked_goes_along(nobodys, home, tmp_path, copy, unharmed):
    save(home / "old.blend")
    path_of(nobodys).rename(home / "motion.mmdb")
    (home / "motion.mmnet").write_bytes(b"networks")
    nobodys.mm.bake.property_unset("path")
    unharmed(home / "motion.mmdb", home / "motion.mmnet")
    save(made(tmp_path / "elsewhere") / "old.blend", copy=copy)
    if copy:
        assert nobodys.mm.bake.path == "" and path_of(nobodys) == home / "motion.mmdb"
        nobodys = opened(tmp_path / "elsewhere" / "old.blend")
    assert path_of(nobodys) == tmp_path / "elsewhere" / "motion.mmdb" and not baking.file_trouble(nobodys)
    assert (tmp_path / "elsewhere" / "motion.mmnet").read_bytes() == b"networks"


# Networks

def test_networks_beside_anothers_database_are_not_trained_over(hero, guest, unharmed):
    networks = Path(training.own_networks_path(hero))
    networks.write_bytes(b"networks")
    unharmed(networks)
    with pytest.raises(MotionError, match='bake "Guest" to a file of its own before you train'):
        training.order_of(guest)


def test_networks_of_another_one_are_not_trained_over_where_its_database_is_gone(hero, guest, monkeypatch):
    monkeypatch.setattr(provenance, "owner", lambda _: ownership.owner_of(hero))
    os.remove(path_of(hero))
    bake(guest, replace=True)
    with pytest.raises(MotionError, match=r'has the networks of "Hero" in hero\.blend: choose another file'):
        training.order_of(guest)


def test_networks_that_nobody_knows_are_kept_where_a_first_bake_goes(home):
    ob = character("Hero", home / "chosen.mmdb")
    (home / "chosen.mmnet").write_bytes(b"networks")
    bake(ob)
    assert (home / "chosen.previous.mmnet").read_bytes() == b"networks" and not (home / "chosen.mmnet").exists()
    assert "It was kept as chosen.previous.mmnet" in baking.report(ob)["warnings"][0]


# Driving what is another's, or stale

def test_bones_that_are_not_those_of_anothers_database_are_not_the_rest_poses_fault(hero, guest, monkeypatch):
    def cannot(*_):
        raise MotionError("It does not stand in its rest pose.")
    monkeypatch.setattr("mm_blender.scene.rig.targets._has_the_bones", lambda *_: False)
    monkeypatch.setattr("mm_blender.scene.rig.targets._wrapped", cannot)
    with pytest.raises(MotionError, match=r'^hero_Hero\.mmdb is the database of "Hero" in hero\.blend, and its '
                                          'motion cannot be put onto "Guest": bake "Guest" to a file of its own'):
        libraries.library_of(guest)
    bpy.context.view_layer.objects.active = hero
    bpy.ops.object.mode_set(mode="EDIT")
    hero.data.edit_bones["head"].name = "skull"
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(MotionError, match=r'^The bones of "Hero" have changed since it was baked \("skull"\): bake'):
        libraries.library_of(hero)


# Two at once, killed ones, odd places

def test_two_bakes_into_one_file_at_once(hero, unharmed):
    unharmed(path_of(hero))
    changed(hero)
    with only_us(path_of(hero)), pytest.raises(RuntimeError, match="is being written by another Blender or shell"):
        bpy.ops.mm.bake()
    assert not list(path_of(hero).parent.glob(".*"))


@pytest.mark.parametrize("begun", [1, 8])
def test_characters_that_swap_names_while_one_is_baked(hero, unharmed, begun):
    guest = character("Guest", speed=0.7)
    files = path_of(hero), bake(guest)
    unharmed(files[1])
    changed(hero)
    slices.start(baking.bake_steps(hero, bpy.context.scene), "Baking", lambda _: None)
    for _ in range(begun):
        next(slices.current().steps)
    hero.name, guest.name = "Somebody", "Hero"
    hero.name = "Guest"
    while slices.current() is not None:
        slices.tick()
    assert slices.last_error() == "" and database.load(files[0]).rate == hero.mm.bake.rate
    assert {part.source for part in database.load(files[0]).ranges} == {"Hero walk"}
    assert (path_of(hero), path_of(guest)) == files and word(hero) == word(guest) == "ours"


def test_a_bake_that_is_stopped_leaves_all_as_it_was(hero, unharmed):
    unharmed(path_of(hero))
    changed(hero)
    slices.start(baking.bake_steps(hero, bpy.context.scene), "Baking", lambda _: None)
    for _ in range(5):
        next(slices.current().steps)
    assert list(path_of(hero).parent.glob(".*.lock"))
    slices.cancel()
    assert not list(path_of(hero).parent.glob(".*")) and word(hero) == "ours"


def test_a_blend_that_is_saved_elsewhere_while_it_is_baked_keeps_the_first_ones_file(hero, home, unharmed):
    unharmed(path_of(hero))
    changed(hero)
    steps = baking.bake_steps(hero, bpy.context.scene)
    next(steps)
    save(home / "v02.blend")
    slices.run(steps)
    assert path_of(hero).name == "v02_Hero.mmdb" and not baking.changes(hero, bpy.context.scene)


def test_a_file_outside_of_the_project_is_said(hero, home, capfd):
    hero.mm.bake.path = "//../out.mmdb"
    assert ownership.is_outside(hero)
    bake(hero)
    assert f'"{home.parent / "out.mmdb"}" is outside of the folder of this .blend' in capfd.readouterr().out
    save(made(home / "sub") / "v02.blend")
    assert path_of(hero) == home.parent / "out.mmdb" and word(hero) == "copied", "and it is not copied around"


@pytest.mark.parametrize("said", ["Hero", {"id": "x"}, *(
    {"id": identity, "name": name, "blend": ""} for identity, name in (
        (1, "Hero"), ("", "Hero"), ("x", None), ("x", "y" * 5000)))])
def test_an_owner_that_makes_no_sense_is_nobody(hero, said):
    archive.copy(path_of(hero), path_of(hero), database.KIND, database.VERSION, {"owner": said})
    assert word(hero) == "nobody's" and database.load(path_of(hero)).owner is None


def test_what_was_never_saved_is_kept_for_a_month_and_the_latest_runs_for_ever(home, monkeypatch, tmp_path):
    monkeypatch.setattr(ownership, "RUNS", 3)  # this one is the third
    root = made(tmp_path / "databases")
    for name, age in (("2020-01-01-aaaaaaaa", 50), ("2020-01-02-bbbbbbbb", 40), ("2020-01-03-cccccccc", 35),
                      ("mine", 99)):
        file = made(root / name) / "unsaved_Hero.mmdb"
        file.touch()
        for path in (file, file.parent):
            os.utime(path, (path.stat().st_mtime - age * 86400,) * 2)
    ownership.make_room(root / ownership._RUN / "unsaved_Hero.mmdb")
    assert sorted(path.name for path in root.iterdir()) == sorted(
        ["2020-01-02-bbbbbbbb", "2020-01-03-cccccccc", "mine", ownership._RUN])
