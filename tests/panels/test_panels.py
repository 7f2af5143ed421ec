# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels: in every state of the work they draw, say what matters, and offer what comes next.

Background mode has no regions, so the panels draw into a layout that only takes notes.
"""

import re
from types import SimpleNamespace

import bpy
import pytest

from mm_blender.errors import MotionError
from mm_blender.matching import database
from mm_blender.owner import Owner
from mm_blender.scene import actions
from mm_blender.scene.driving import trial
from mm_blender.scene.jobs import freshness, saving, slices
from mm_blender.steps import Progress
from tests import walker

PANELS = ("MM_PT_character", "MM_PT_roles", "MM_PT_clips", "MM_PT_tags", "MM_PT_features", "MM_PT_bake",
          "MM_PT_bake_details", "MM_PT_bake_report", "MM_PT_bake_test_drive", "MM_PT_train", "MM_PT_drive",
          "MM_PT_drive_why",
          "MM_PT_drive_steering", "MM_PT_drive_commands", "MM_PT_drive_speeds", "MM_PT_drive_matching",
          "MM_PT_drive_root", "MM_PT_drive_feet", "MM_PT_drive_display", "MM_PT_drive_take", "MM_PT_driving",
          "MM_PT_direct", "MM_PT_direct_take")
LISTS = {"MM_UL_clips": "clips", "MM_UL_channels": "features", "MM_UL_tags": "tags",
         "MM_UL_marks": "direct"}


class Notes:
    """A layout that accepts what Blender's would and notes texts, properties and operators."""

    def __init__(self, shared=None, active=True):
        object.__setattr__(self, "shared", shared or {"texts": [], "properties": [], "operators": [], "lists": [],
                                                      "menus": [], "progress": [], "icons": [], "grey": []})
        object.__setattr__(self, "_active", active)

    def __setattr__(self, name, value):
        assert name in bpy.types.UILayout.bl_rna.properties, f"a layout has no {name}"
        if name in ("active", "enabled"):
            object.__setattr__(self, "_active", self._active and bool(value))

    def __getattr__(self, name):
        function = bpy.types.UILayout.bl_rna.functions[name]  # KeyError where Blender would not know it either

        def note(*values, **options):
            known = function.parameters.keys()
            assert set(options) <= set(known), f"{name} does not take {set(options) - set(known)}"
            return self._note(name, values, options)
        return note

    def _note(self, name, values, options):
        if options.get("text"):
            self.shared["texts"].append(options["text"])
        if "icon" in options:
            assert options["icon"] in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
            self.shared["icons"].append(options["icon"])
        if name in ("prop", "prop_search", "operator_enum"):
            if name != "operator_enum":
                assert values[1] in values[0].bl_rna.properties
            self.shared["properties"].append(values[1])
            if not self._active:
                self.shared["grey"].append(values[1])
        if name == "prop_enum":
            assert values[2] in values[0].bl_rna.properties[values[1]].enum_items
            self.shared["properties"].append(values[1])
            if not self._active:
                self.shared["grey"].append(values[2])
        if name in ("operator", "operator_enum"):
            module, _, operator = values[0].partition(".")
            getattr(getattr(bpy.ops, module), operator).get_rna_type()  # KeyError where there is none
            self.shared["operators"].append(values[0])
            return SimpleNamespace()
        if name == "panel":
            return Notes(self.shared, self._active), Notes(self.shared, self._active)
        if name == "menu":
            assert hasattr(bpy.types, values[0])
            self.shared["menus"].append(values[0])
        if name == "progress":
            self.shared["progress"].append((options["factor"], options["text"]))
        if name == "template_list":
            self.shared["lists"].append((values[0], values[2], values[3]))
        return Notes(self.shared, self._active)


class Pen:
    """Stands for the panel or list itself, with a layout that takes notes."""

    bitflag_filter_item, filter_name, use_filter_sort_alpha = 1 << 30, "", False

    def __init__(self, cls, layout):
        self.layout, self._cls = layout, cls

    def __getattr__(self, name):
        found = next(base.__dict__[name] for base in self._cls.__mro__ if name in base.__dict__)
        return found.__get__(self, self._cls)


def drawn(*names):
    """What the panels with these names (all that are shown) draw, rows of their lists included."""
    layout = Notes()
    for name in names or PANELS:
        cls = _class(name)
        if hasattr(cls, "poll") and not cls.poll(bpy.context):
            continue
        pen = Pen(cls, layout)
        for function in ("draw_header_preset", "draw"):
            if hasattr(cls, function):
                _function(cls, function)(pen, bpy.context)
    for list_name, owner, collection in layout.shared["lists"]:
        _rows(list_name, owner, collection, layout)
    for menu in set(layout.shared["menus"]):
        _function(_class(menu), "draw")(Pen(_class(menu), layout), bpy.context)
    assert slices.current() is None or layout.shared["progress"] or not names
    return SimpleNamespace(**{key: value if key in ("progress", "lists") else " | ".join(value)
                              for key, value in layout.shared.items()})


def _rows(list_name, owner, collection, layout):
    cls = _class(list_name)
    pen = Pen(cls, layout)
    items = getattr(owner, collection)
    if "filter_items" in cls.__dict__:
        flags, _ = _function(cls, "filter_items")(pen, bpy.context, owner, collection)
        assert len(flags) == len(items)
    for index, item in enumerate(items):
        _function(cls, "draw_item")(pen, bpy.context, layout, owner, item, 0, owner, "index", index)


def _class(name):
    return getattr(bpy.types, name)


def _function(cls, name):
    """The plain function behind a method of a registered class."""
    found = next(base.__dict__[name] for base in cls.__mro__ if name in base.__dict__)
    return getattr(found, "__func__", found)


def look():
    while freshness.look() is not None:
        pass


def work():
    yield Progress(0.25, 'Reading "walk"')
    yield Progress(0.5, "Measuring")


def test_without_an_armature_it_says_how_to_begin(extension):
    seen = drawn()
    assert "Select an armature" in seen.texts
    assert "mm.create_demo" in seen.operators and "mm.import_motion" in seen.operators
    assert "mm.bake" not in seen.operators  # the other panels are not there yet


def test_a_fresh_armature_offers_one_step_at_a_time(extension):
    walker.armature()
    seen = drawn()
    assert "find the hips" in seen.texts and "mm.roles_find" in seen.operators
    assert "Add the Actions" in seen.texts and "mm.clips_add" in seen.operators
    assert "mm.features_preset" in seen.operators and "Show a clip with the eye" in seen.texts
    assert "mm.bake" in seen.operators and "forward" not in seen.properties


def test_the_next_step_is_at_the_top(character):
    assert drawn("MM_PT_character").operators == "mm.bake"
    bpy.ops.mm.bake()
    assert drawn("MM_PT_character").operators == "mm.drive"
    slices.start(work(), "Baking", lambda _: None)
    assert drawn("MM_PT_character").operators == "mm.job_cancel"
    slices.cancel()
    rig = walker.armature("Rig")
    character.mm.drive.target = rig
    bpy.context.view_layer.objects.active = rig
    seen = drawn("MM_PT_character")
    assert seen.operators == "mm.drive" and "find the hips" not in seen.texts, "a Target needs no roles of its own"


def test_with_roles_they_can_be_edited_and_what_is_missing_is_named(extension):
    ob = walker.armature()
    bpy.ops.mm.roles_find()
    assert "forward" in drawn("MM_PT_character").properties
    roles = drawn("MM_PT_roles")
    assert roles.properties.count("bone") == len(ob.mm.roles) and "Find Again" in roles.texts
    ob.mm.roles["left_foot"].bone = ""
    assert "Needed, but without a bone: left foot" in drawn("MM_PT_character").texts


def test_roles_show_how_sure_they_are_and_can_be_saved(extension):
    ob = walker.armature()
    bpy.ops.mm.roles_find()
    seen = drawn("MM_PT_roles")
    assert seen.icons.split(" | ").count("DOT") == sum(bool(role.bone) for role in ob.mm.roles)
    assert "Recognised" not in seen.texts and "guesses" not in seen.texts and "QUESTION" not in seen.icons
    assert {"mm.role_select", "mm.roles_preset_save", "mm.stance_set"} <= set(seen.operators.split(" | "))
    ob.mm.roles["hips"].bone = "head"
    ob.mm.roles["head"].confidence, ob.mm.family = "guess", "Mixamo"
    seen = drawn("MM_PT_roles")
    assert "Recognised as Mixamo" in seen.texts and "1 bone is a guess" in seen.texts
    assert {"USER", "QUESTION"} <= set(seen.icons.split(" | "))


def test_every_clip_has_its_row_and_the_active_one_its_settings(character):
    character.mm.clip_index = 1
    seen = drawn("MM_PT_clips")
    assert "2 clips, 4 s" in seen.texts and seen.texts.count(" s") == 3 and seen.properties.count("use |") == 2
    assert {"mm.clip_show", "mm.clip_remove", "mm.clip_move", "mm.clips_add", "mm.import_motion"} <= set(
        seen.operators.split(" | "))
    assert {"use", "mirror", "loop", "speed", "use_range"} <= set(seen.properties.split(" | "))
    assert "Read from F-curves" in seen.texts and "ERROR" not in seen.icons


def test_how_a_clip_is_read_is_shown_with_the_reason(character):
    character.pose.bones["head"].constraints.new("LIMIT_ROTATION")
    bpy.context.view_layer.update()
    freshness.forget()
    text = drawn("MM_PT_clips").texts.replace(" | ", " ")
    assert 'Evaluated frame by frame: the bone "head" has the constraint "Limit Rotation"' in text


def test_clips_in_trouble_say_why(character):
    bpy.data.actions.remove(bpy.data.actions["walk"])
    character.mm.clips.add().action = actions.new_action("empty", character)
    character.mm.clip_index = 0
    seen = drawn("MM_PT_clips")
    assert 'The Action "walk" was deleted' in seen.texts.replace(" | ", " ") and seen.icons.count("ERROR") >= 3
    character.mm.clip_index = 2
    assert 'Action "empty" has no keys' in drawn("MM_PT_clips").texts
    character.mm.clip_index = 99
    drawn()


def test_the_list_is_searched_by_name_and_tag(character):
    bpy.data.actions["run"].mm.tags.add().name = "Fast"
    cls = _class("MM_UL_clips")
    for text, wanted in (("", [True, True]), ("WAL", [True, False]), ("fast", [False, True]), ("zzz", [False, False])):
        pen = Pen(cls, Notes())
        pen.filter_name = text
        flags, order = _function(cls, "filter_items")(pen, bpy.context, character.mm, "clips")
        assert [bool(flag) for flag in flags] == wanted and order == []
    pen.use_filter_sort_alpha = True
    assert _function(cls, "filter_items")(pen, bpy.context, character.mm, "clips")[1] == [1, 0]


def test_tags_of_the_action_that_plays_and_what_a_query_selects(character):
    bpy.ops.mm.clip_show(index=0)
    bpy.ops.mm.tag_add(name="exclude")
    seen = drawn("MM_PT_tags")
    assert "walk" in seen.texts and "left out of the database" in seen.texts and "mm.tag_remove" in seen.operators
    assert "mm.tag_clips" in seen.operators and "frames (100%)" in seen.texts
    character.mm.query = "~"
    assert 'The tag query "~" ends too early' in drawn("MM_PT_tags").texts.replace(" | ", " ")
    character.mm.query = "nothing"
    assert 'names the tag "nothing"' in drawn("MM_PT_tags").texts.replace(" | ", " ")


def test_features_with_their_numbers(character):
    seen = drawn("MM_PT_features")
    assert "27 numbers" in seen.texts and {"responsiveness", "quality", "past_end", "show"} <= set(
        seen.properties.split(" | "))
    for kind in ("tag", "property", "bone_direction"):
        bpy.ops.mm.feature_add(kind=kind)
        assert ("of" in drawn("MM_PT_features").properties.split(" | ")) == (kind != "bone_direction")
    character.mm.features.channels[0].weight = 1.5
    assert "6 × 1.5 | " in drawn("MM_PT_features").texts
    character.mm.features.index = 99
    drawn("MM_PT_features")


def test_a_running_job_shows_its_progress_and_cancel_instead_of_the_button(character):
    slices.start(work(), "Baking", lambda _: None)
    slices.current().share, slices.current().text = 0.25, 'Reading "walk"'
    seen = drawn("MM_PT_bake")
    assert seen.progress[0][0] == 0.25 and 'Reading "walk"' in seen.progress[0][1]
    assert "mm.job_cancel" in seen.operators and "mm.bake" not in seen.operators
    drawn()
    slices.cancel()
    slices.start(work(), "Importing motion", lambda _: None)
    seen = drawn("MM_PT_clips")
    assert seen.progress and "mm.job_cancel" in seen.operators
    drawn()
    slices.cancel()


def test_how_a_job_failed_is_said_in_its_own_panel(character):
    def fail():
        yield Progress(0.0, "")
        raise MotionError("The disk is full.")
    for title, panel, other in (("Baking", "MM_PT_bake", "MM_PT_clips"),
                                ("Importing motion", "MM_PT_clips", "MM_PT_bake")):
        slices.start(fail(), title, lambda _: None, character.session_uid)
        while slices.tick() is not None:
            pass
        assert "The disk is full." in drawn(panel).texts and "The disk is full." not in drawn(other).texts
    slices.start(work(), "Baking", lambda _: None)
    slices.cancel()


def test_how_baking_another_character_failed_is_not_said(character):
    def fail():
        yield Progress(0.0, "")
        raise MotionError("The disk is full.")
    slices.start(fail(), "Baking", lambda _: None, character.session_uid + 1)
    while slices.tick() is not None:
        pass
    assert "The disk is full." not in drawn("MM_PT_bake").texts


def test_before_the_first_bake_there_is_no_report(character):
    seen = drawn("MM_PT_bake", "MM_PT_bake_report")
    assert "Bake" in seen.texts and "Bake Again" not in seen.texts and "Frames" not in seen.texts


def test_the_report_and_whether_it_is_up_to_date(character):
    bpy.ops.mm.tag_clips(name="locomotion")
    action = bpy.data.actions["walk"]
    action.mm.tags.add().name = "exclude"
    action.mm.tags[-1].start, action.mm.tags[-1].end = 1, 13
    character.mm.clips.add().action = actions.new_action("empty", character)
    bpy.ops.mm.bake()
    seen = drawn()
    assert "Up to date" in seen.texts and "Bake Again" in seen.texts
    for text in ("Frames per tag", "locomotion", "Seconds excluded", "Not entered", "Left out:", "MB"):
        assert text in seen.texts
    action.mm.tags.clear()
    freshness.forget()
    assert "Looking for changes…" in drawn("MM_PT_bake").texts
    look()
    seen = drawn("MM_PT_bake")
    assert "Stale: bake again" in seen.texts and 'Clip "walk" changed' in seen.texts


def test_what_a_bake_has_kept_beside_the_database_is_said_in_the_open(character):
    bpy.ops.mm.bake()
    assert "It was kept as" not in drawn("MM_PT_bake").texts
    character.mm.bake.key = "of another bake"
    character.mm.bake.rate -= 1
    bpy.ops.mm.bake()
    assert "It was kept as" in re.sub(r"[ |]+", " ", drawn("MM_PT_bake").texts)


def test_many_changes_are_cut_short(character):
    bpy.ops.mm.bake()
    for index in range(6):
        character.mm.clips.add().action = walker.walk(character, f"more {index}")
    freshness.forget()
    drawn("MM_PT_bake")
    look()
    assert "and 2 more" in drawn("MM_PT_bake").texts


def test_a_database_of_an_older_version_has_a_report_all_the_same(character):
    character.mm.bake.key, character.mm.bake.report = "old", '{"frames": 12}'
    drawn("MM_PT_bake_report")
    character.mm.bake.report = ""
    drawn("MM_PT_bake_report")


def test_a_database_that_could_not_go_along_says_where_it_is_and_why(character, monkeypatch):
    sentence = "demo.mmdb stays where it is, in /unsaved: the disk is full."
    monkeypatch.setattr(saving, "why_it_stays", lambda ob: sentence)
    assert sentence in drawn("MM_PT_bake").texts.replace(" | ", " ")


@pytest.mark.parametrize("owner, words, offered", [
    (Owner("1", "Hero", "/shots/hero.blend"), 'is the database of "Hero" in hero.blend: it is played, not changed',
     {"mm.bake"}),
    (None, "comes from a shell or an earlier version", {"mm.bake", "mm.database_adopt"})])
def test_whose_the_database_is_is_said_and_it_is_not_called_stale(character, owner, words, offered):
    bpy.ops.mm.bake()
    database.give(character.mm.bake.path, owner)
    character.mm.clips[0].use = False
    freshness.forget()
    drawn("MM_PT_bake")
    look()
    for panel in ("MM_PT_bake", "MM_PT_drive"):
        seen = drawn(panel)
        assert words in seen.texts.replace(" | ", " ") and "Bake to a File of Its Own" in seen.texts
        assert "tale" not in seen.texts and "Up to date" not in seen.texts
    assert "Replace…" in drawn("MM_PT_bake").texts and offered == set(drawn("MM_PT_bake").operators.split(" | "))
    character.mm.clips.clear()
    assert "Replace…" not in drawn("MM_PT_bake").texts and "mm.bake" not in drawn("MM_PT_drive").operators.split(" | ")


def test_a_stale_database_is_said_where_it_is_driven(character):
    bpy.ops.mm.bake()
    bpy.ops.mm.clip_remove()
    freshness.forget()
    drawn("MM_PT_drive")
    look()
    seen = drawn("MM_PT_drive")
    assert "The database is stale. Clip" in seen.texts and "mm.bake" in seen.operators.split(" | ")


def test_an_armature_in_any_mode_is_drawn(character):
    bpy.ops.mm.clip_show(index=0)
    for mode in ("EDIT", "POSE", "OBJECT"):
        bpy.ops.object.mode_set(mode=mode)
        drawn()


def test_every_panel_and_menu_of_ours_is_tested_here(extension):
    ours = [name for name in dir(bpy.types) if name.startswith(("MM_PT_", "MM_UL_"))]
    assert sorted(ours) == sorted([*PANELS, *LISTS])


def test_tags_are_offered_where_there_are_none_and_taken_with_one_button(character):
    assert "mm.tags_propose" in drawn("MM_PT_clips").operators
    bpy.ops.mm.tags_propose()
    panel = drawn("MM_PT_clips")
    assert "mm.tags_accept" in panel.operators and "walk in 1 clip, run in 1" in panel.texts
    bpy.ops.mm.clip_show(index=0)
    assert "Proposed: walk, 1 to 49" in drawn("MM_PT_tags").texts
    bpy.ops.mm.tags_accept()
    panel = drawn("MM_PT_clips")
    assert "mm.tags_accept" not in panel.operators and "mm.tags_propose" not in panel.operators


def test_the_test_drive_tells_its_hints_and_what_each_clip_is_like(character):
    bpy.ops.mm.bake()
    assert "mm.test_drive" in drawn("MM_PT_bake_test_drive").operators
    clip = {"clip": "walk", "seconds": 2.0, "speed": 1.2, "fastest": 1.3, "degrees_per_second": 4, "contact_share": 0.9,
            "jolts": 2, "apart": 1.5, "played": 0.26}
    report = {"clips": [clip], "stops": {"count": 7, "settled": 0}, "said": ["Nothing stands still."],
              "hints": [{"clip": "walk", "played": 0.26, "why": "26% of a test drive played it."}],
              "driven_seconds": 200}
    trial.keep(character.name, character.session_uid, character.mm.bake.key, report)
    panel = drawn("MM_PT_bake_test_drive")
    assert "26% of a test drive" in panel.texts and "mm.clip_exclude" in panel.operators
    assert "Nothing stands still." in panel.texts
    character.mm.clip_index = 0
    assert "1.2 m/s, up to 1.3" in drawn("MM_PT_clips").texts
    character.mm.clips[0].use = False
    assert "mm.clip_exclude" not in drawn("MM_PT_bake_test_drive").operators


def test_names_that_are_too_long_keep_what_tells_them_apart(character):
    for action, name in zip(bpy.data.actions, ("pushAndStumble1_subject1_walk", "pushAndStumble1_subject2_run")):
        action.name = name
    character.mm.clip_index = 1
    texts = drawn("MM_PT_clips").texts.split(" | ")
    assert len([text for text in texts if "…" in text]) == 1  # the active one can be renamed
