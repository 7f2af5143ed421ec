# SPDX-License-Identifier: GPL-3.0-or-later
"""What is true of every button: it says what it does, it can be undone, and when it is grey it says why."""

import bpy
import pytest

# Bake and Propose Tags push their undo steps when they are done, which is later; training, Cancel and presets change
# nothing in the file.
NO_UNDO = {"bake", "tags_propose", "test_drive", "job_cancel", "drive_save_input", "train", "train_resume",
           "train_cancel", "train_test", "train_environment", "train_environment_cancel", "drive_cancel",
           *(f"{kind}_preset_{what}" for kind in ("roles", "features", "drive") for what in ("save", "remove"))}
# These work without an armature, and while nothing else is under way.
ALWAYS = {"create_demo", "import_motion", "train_test"}


def buttons():
    return {name: getattr(bpy.ops.mm, name) for name in dir(bpy.ops.mm)}


def classes():
    return [cls for cls in bpy.types.Operator.__subclasses__() if getattr(cls, "bl_idname", "").startswith("mm.")] + \
        [cls for base in bpy.types.Operator.__subclasses__() for cls in _below(base)
         if getattr(cls, "bl_idname", "").startswith("mm.")]


def _below(cls):
    return [found for sub in cls.__subclasses__() for found in (sub, *_below(sub))]


def test_it_says_what_it_does(extension):
    for name, button in buttons().items():
        kind = button.get_rna_type()
        assert kind.description and not kind.description.endswith(".") and kind.name, name


def test_every_choice_says_what_it_means(extension):
    groups = [getattr(bpy.types, name).bl_rna for name in dir(bpy.types) if name.startswith("MM_")]
    bare = []
    for kind in [*(button.get_rna_type() for button in buttons().values()), *groups]:
        for prop in kind.properties:
            if prop.is_runtime and prop.type == "ENUM":
                bare += [(kind.identifier, item.identifier) for item in prop.enum_items if not item.description]
    assert not bare


def test_it_can_be_undone(extension):
    found = {cls.bl_idname.removeprefix("mm."): cls.bl_options for cls in classes()}
    assert set(found) >= set(buttons())
    assert not [name for name, options in found.items() if "UNDO" not in options and name not in NO_UNDO]


def test_a_grey_button_says_why(extension):
    for name, button in buttons().items():
        if name in ALWAYS:
            assert button.poll()
            continue
        assert not button.poll()
        with pytest.raises(RuntimeError, match=r"Select the character's armature first|Nothing is under way|"
                                               "Allow Online Access first|No character is being driven"):
            button()
