# SPDX-License-Identifier: GPL-3.0-or-later
"""The artist's settings, saved in the .blend: `object.mm` on the armature and `action.mm` on each Action."""

from functools import partial

import bpy
from bpy import props
from bpy.app.handlers import persistent

from ..control.gaits import USUAL, tags_of_gaits
from ..control.stick_guide import FACING, VELOCITY
from ..matching.features import KINDS
from ..matching.schema import FURTHEST, HEAVIEST
from ..motion.character import ROLES
from ..playback.inertialise import Blend
from ..playback.player import Drive
from ..prepare.recipe import Recipe

MAX_TIMES = 6

_changes = 0


def changes():
    """How often settings were changed so far: who keeps what they say looks again when it differs."""
    return _changes


def _changed(_settings, _context):
    global _changes
    _changes += 1


# An armature that is linked and has a library override keeps its settings like any other.
_EDITABLE = {"LIBRARY_OVERRIDABLE"}
BoolProperty = partial(props.BoolProperty, override=_EDITABLE, update=_changed)
IntProperty = partial(props.IntProperty, override=_EDITABLE, update=_changed)
FloatProperty = partial(props.FloatProperty, override=_EDITABLE, update=_changed)
FloatVectorProperty = partial(props.FloatVectorProperty, override=_EDITABLE, update=_changed)
StringProperty = partial(props.StringProperty, override=_EDITABLE, update=_changed)
EnumProperty = partial(props.EnumProperty, override=_EDITABLE, update=_changed)
PointerProperty = partial(props.PointerProperty, override=_EDITABLE, update=_changed)
CollectionProperty = partial(props.CollectionProperty, override=_EDITABLE | {"USE_INSERTION"})

KIND_ITEMS = [(kind.name, kind.name.replace("_", " ").title(), kind.tooltip) for kind in KINDS.values()]
_ROLE_ITEMS = [(role, role.replace("_", " ").title(), f"The bone that has the role {role.replace('_', ' ')}")
               for role in ROLES]
_AXIS_ITEMS = [("AUTO", "Automatic", "Found from the rest pose or the motion")] + [
    (axis, axis, f"The root bone's {axis} axis points forward") for axis in ("+X", "-X", "+Y", "-Y", "+Z", "-Z")]
AXES = tuple(item[0] for item in _AXIS_ITEMS)
_LEGS_ITEMS = [
    ("AUTO", "Automatic", "Four legs where the rest pose stands on four"),
    ("TWO", "Two Legs", "Feet and toes touch the ground"),
    ("FOUR", "Four Legs", "The bones of hands are walked on, too; paws are where the bones of hands and feet end"),
]
_ROOT_ITEMS = [
    ("auto", "Automatic", "The rig's own root bone where it has one that goes along with the hips, otherwise a made "
                          "one"),
    ("bone", "Root Bone", "The bone with the role Root carries the character over the ground"),
    ("made", "Made", "Made from hips and spine, projected to the ground and smoothed"),
    ("adaptive", "Made, Adaptive", "As Made, but it stands still while the character stands"),
]
_ARC_ITEMS = [
    ("auto", "Where Nothing Turns", "Made if no clip goes and turns"),
    ("on", "Always", "Made of every cycle that goes straight on"),
    ("off", "Never", "The clips as they are"),
]
_FACING_ITEMS = [
    ("hips", "Hips", "The character faces where the hips face"),
    ("hips_shoulders", "Hips and Shoulders", "The mean of where hips and shoulders face"),
]
_PAST_END_ITEMS = [
    ("extrapolate", "Extrapolate", "Carry on with the last velocity"),
    ("exclude", "Exclude", "Do not enter frames whose future is not known"),
]
_MODEL_ITEMS = [
    ("lmm", "LMM", "Learned Motion Matching (2020): three dense networks"),
    ("moe", "Experts", "Sparse experts and a Lipschitz encoder (2023): of many small networks two are asked at a time"),
]
# When to choose which: one line each.
MODEL_ADVICE = {
    "lmm": "Small data, or one character: quick to train.",
    "moe": "Much data or many characters: smaller, quicker, blends latents.",
}
_METHOD_ITEMS = [
    ("MM", "Motion Matching", "Frames of the database are searched for and played"),
    ("DMM", "Decompressed", "Frames are searched for in the database, and their poses come from the Decompressor"),
    ("LMM", "Learned", "Trained networks alone: no database is needed"),
]
_RELATIVE_ITEMS = [
    ("VIEW", "View", "Forward is where the viewport looks"),
    ("CHARACTER", "Character", "Forward is where the character faces, as at a steering wheel"),
    ("WORLD", "World", "Forward is the world's Y axis"),
]
_BLEND_ITEMS = [
    ("spring", "Spring", "Soon and soft: the difference decays like a damped spring"),
    ("quintic", "Quintic", "Done after a fixed time, along a polynomial of the fifth degree"),
    ("latent", "Latent Blend", "By poses that lie between the two, as networks of experts know them; a spring where "
                               "there are no such networks"),
]
_SYNC_ITEMS = [
    ("none", "None", "The motion alone carries the character: no foot slides, and it may stray from the stick"),
    ("adjust", "Adjust", "Pulled towards where the stick has it, never faster than a share of its own speed"),
    ("clamp", "Clamp", "Never further away than the limit"),
    ("adjust_clamp", "Adjust and Clamp", "Pulled, and never further away than the limit"),
    ("full", "Full", "Exactly where the stick has it, as in a game with a capsule"),
]
_KEEP_AS_ITEMS = [
    ("ACTION", "New Action", "The take is the armature's Action. If that is a take already, both go on NLA tracks, one "
                             "after the other: no take is put out of sight by the next"),
    ("NLA", "NLA, One after the Other", "The take goes on an NLA track, after the takes that are there. The armature's "
                                        "own Action goes on a track below it and plays on where no take does"),
    ("LENGTHEN", "Lengthen the Action", "If the armature's Action is a take, the new Action begins with what that has "
                                        "until the present frame, so that one Action has all of it. The take before "
                                        "stays in the file as it is. Otherwise as New Action"),
]
_FACE_ITEMS = [
    ("BEFORE", "As Before", "Nothing changes here"),
    ("PATH", "Along the Path", "Where it goes"),
    ("OBJECT", "At an Object", "At an object, where that is now: it strafes past it"),
    ("DIRECTION", "One Direction", "The same direction all the time"),
]
_PLAN_ITEMS = [
    ("QUICK", "Quick", "Search as while driving: at once"),
    ("PLANNED", "Planned", "Look for the best motion along the whole path. Needs the database, and takes longer"),
]
_DEFAULTS = Recipe()
_DRIVE = Drive()
# From 4.5 on a path that may begin with // has to say so, or it is drawn in red, and scripts that give one are warned.
RELATIVE_PATH = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5) else set()
_OUTPUT_PATH = {"OUTPUT_PATH"} | RELATIVE_PATH


def _armature_only(_settings, ob):
    return ob.type == "ARMATURE"


def _curves_only(_settings, ob):
    return ob.type in {"CURVE", "CURVES"}


def _elsewhere(mark, ob):
    return ob != mark.id_data


def _bone_names(role, _context, text):
    ob = role.id_data
    return [bone.name for bone in ob.data.bones if text.lower() in bone.name.lower()]


def _posed_bone_names(drive, _context, text):
    ob = drive.target or drive.id_data
    return [bone.name for bone in ob.data.bones if text.lower() in bone.name.lower()]


class MM_Role(bpy.types.PropertyGroup):
    """Which bone plays a role; `name` is the role."""
    __slots__ = ()

    bone: StringProperty(name="Bone", description="The bone that plays this role; empty if there is none",
                         search=_bone_names)
    # The bone that was found, and how sure that was: another one is the artist's choice.
    found: StringProperty(options={"HIDDEN"})
    confidence: StringProperty(options={"HIDDEN"})


class MM_Tag(bpy.types.PropertyGroup):
    """A named range of an Action, in its own frames like keys and markers; both ends are inside."""
    __slots__ = ()

    start: FloatProperty(name="Start", description="First frame of the range", precision=1, step=100)
    end: FloatProperty(name="End", description="Last frame of the range", precision=1, step=100)


class MM_ActionSettings(bpy.types.PropertyGroup):
    """What the artist says about an Action."""
    __slots__ = ()

    take: BoolProperty(options={"HIDDEN"})  # on what was driven and kept
    # Of a take that was directed: how it was made, as JSON, and a hash of its keys as they were written: see
    # scene/directing/recipe.py.
    recipe: StringProperty(options={"HIDDEN"})
    written: StringProperty(options={"HIDDEN"})
    tags: CollectionProperty(type=MM_Tag)
    proposed: CollectionProperty(type=MM_Tag)  # tags that are not taken yet: see scene/jobs/proposing.py
    tag_index: IntProperty(name="Active Tag", options={"HIDDEN"})


class MM_Clip(bpy.types.PropertyGroup):
    """One Action of the character's motion; `name` is the Action's name when it was last seen."""
    __slots__ = ()

    action: PointerProperty(type=bpy.types.Action, name="Action", description="The Action that this clip plays")
    slot: StringProperty(name="Slot", description="The Action's slot; empty for the one that fits this armature")
    source: PointerProperty(
        type=bpy.types.Object, name="Armature", poll=_armature_only,
        description="The armature whose motion is read; empty for this one")
    use_nla: BoolProperty(
        name="NLA", default=False,
        description="Read the armature's whole NLA stack instead of one Action")
    use: BoolProperty(name="Use", default=True, description="Bake this clip")
    mirror: BoolProperty(name="Mirror", default=True, description="Bake its mirror image too")
    loop: BoolProperty(name="Loop", description="Its last frame shows the first one's pose again: it may go round")
    speed: FloatProperty(name="Speed", default=1.0, min=0.05, max=20.0, soft_min=0.5, soft_max=2.0, precision=2,
                         description="Play it faster or slower than it was animated")
    travel: BoolProperty(name="Give It Travel", default=True,
                         description="If it was made in place, with hips that stay while the feet slide backwards, "
                                     "the bake lets it travel so that the feet stand")
    travel_speed: FloatProperty(name="Travel Speed", min=0.0, soft_max=10.0, precision=2, unit="VELOCITY",
                                description="How fast it should travel; 0 is as fast as its feet tell. Another speed "
                                            "lets a clip travel that does not look as if it was made in place, too")
    in_place: FloatProperty(options={"HIDDEN"})  # how fast its feet told it should travel when it was added; or 0
    use_range: BoolProperty(name="Range", description="Bake a part of the Action only")
    start: FloatProperty(name="Start", description="First frame", precision=1, step=100)
    end: FloatProperty(name="End", description="Last frame", precision=1, step=100)


class MM_Channel(bpy.types.PropertyGroup):
    """One feature."""
    __slots__ = ()

    kind: EnumProperty(name="Feature", items=KIND_ITEMS, default="bone_position",
                       description="What is compared when the next frame is searched for")
    role: EnumProperty(name="Bone Role", items=_ROLE_ITEMS,
                       default="left_foot", description="The bone that it belongs to")
    of: StringProperty(name="Name", description="The tag or custom property that it belongs to")
    times: FloatVectorProperty(name="Times", size=MAX_TIMES, unit="TIME_ABSOLUTE", min=-FURTHEST, max=FURTHEST,
                               description="Seconds from now: negative for the past")
    time_count: IntProperty(name="Times", default=1, min=1, max=MAX_TIMES, description="How many times it looks at")
    weight: FloatProperty(name="Weight", default=1.0, min=0.0, max=HEAVIEST, soft_max=5.0, precision=2,
                          description="How much it counts")
    # What is commanded of it while driving: see scene/driving/commands.py.
    commanded: BoolProperty(name="Command", description="While driving, ask for what stands here instead of going on "
                                                        "as what is playing")
    value: FloatProperty(name="Value", precision=3, description="What is asked for")
    on: BoolProperty(name="Set", default=True, description="Ask for motion with this tag, or without it")
    target: PointerProperty(type=bpy.types.Object, name="Target",
                            description="An object to point at, to look at or to reach, also while it moves; empty to "
                                        "go on as what is playing")


class MM_Features(bpy.types.PropertyGroup):
    __slots__ = ()

    channels: CollectionProperty(type=MM_Channel)
    index: IntProperty(name="Active Feature", options={"HIDDEN"})
    responsiveness: FloatProperty(name="Responsiveness", default=1.0, min=0.0, max=HEAVIEST, soft_max=4.0, precision=2,
                                  description="How much the trajectory counts: higher follows the stick sooner")
    quality: FloatProperty(name="Quality", default=1.0, min=0.0, max=HEAVIEST, soft_max=4.0, precision=2,
                           description="How much the pose counts: higher gives smoother transitions")
    past_end: EnumProperty(name="Past a Clip's End", items=_PAST_END_ITEMS,
                           description="What is done where a feature looks past the end of its clip")
    show: BoolProperty(name="Show in Viewport", default=False,
                       description="Draw the features of the current frame of the current Action")


class MM_Bake(bpy.types.PropertyGroup):
    __slots__ = ()

    rate: FloatProperty(name="Rate", default=_DEFAULTS.rate, min=1.0, max=240.0, precision=2,
                        description="Frames per second of the database; the scene may run at another rate")
    root: EnumProperty(name="Root", items=_ROOT_ITEMS, default=_DEFAULTS.root,
                       description="What carries the character over the ground")
    facing: EnumProperty(name="Facing", items=_FACING_ITEMS, default=_DEFAULTS.facing,
                         description="What a made root's facing is read from")
    root_position: FloatProperty(name="Smooth Position", default=_DEFAULTS.root_position, min=0.0, max=5.0,
                                 unit="TIME_ABSOLUTE", subtype="TIME_ABSOLUTE",
                                 description="Seconds over which a made root's position is smoothed")
    root_facing: FloatProperty(name="Smooth Facing", default=_DEFAULTS.root_facing, min=0.0, max=5.0,
                               unit="TIME_ABSOLUTE", subtype="TIME_ABSOLUTE",
                               description="Seconds over which a made root's facing is smoothed")
    mirror: BoolProperty(name="Mirror", default=True,
                         description="Bake the mirror image of each clip whose Mirror is on: twice the motion")
    arcs: EnumProperty(name="Arc Copies", items=_ARC_ITEMS, default="auto",
                       description="Cycles that go straight on, bent to the left and to the right, so that the "
                                   "character can turn. Search and HUD name them, and they have the tag \"made\"")
    contact_speed: FloatProperty(name="Contact Speed", default=_DEFAULTS.contact_speed, min=0.0, soft_max=1.0,
                                 unit="VELOCITY", description="A foot that moves slower than this may stand")
    contact_height: FloatProperty(name="Contact Height", default=_DEFAULTS.contact_height, min=0.0, soft_max=0.5,
                                  unit="LENGTH", description="How far above its lowest height a foot may stand")
    contact_filter: FloatProperty(name="Contact Filter", default=_DEFAULTS.contact_filter, min=0.0, soft_max=0.5,
                                  unit="TIME_ABSOLUTE", subtype="TIME_ABSOLUTE",
                                  description="Contacts and gaps shorter than about this are ignored")
    skip_rest: BoolProperty(name="Skip Rest Pose", default=_DEFAULTS.skip_rest,
                            description="Leave out a T-pose at the beginning of a clip")
    path: StringProperty(name="Database", subtype="FILE_PATH", options=_OUTPUT_PATH,
                         description="The file that is baked; // is the folder of this .blend. Empty: one named "
                                     "after .blend and armature. That of another character is played, not written")
    # What the last bake said, so that it is there after the file is opened again.
    key: StringProperty(options={"HIDDEN"})
    report: StringProperty(options={"HIDDEN"})
    test_drive: StringProperty(options={"HIDDEN"})  # what it said: see scene/driving/trial.py
    # The id that the file has, too, and whether the armature is a copy of the one that got it: see
    # scene/jobs/ownership.py.
    owner: StringProperty(options={"HIDDEN"})
    is_copy: BoolProperty(options={"HIDDEN"})


class MM_Train(bpy.types.PropertyGroup):
    """How networks are trained that take the database's place."""
    __slots__ = ()

    model: EnumProperty(name="Model", items=_MODEL_ITEMS, description="What is trained")
    minutes: FloatProperty(name="Minutes", default=15.0, min=0.1, soft_max=240.0, max=60 * 24 * 30, precision=1,
                           step=100, description="How long it takes, all in all; longer gives better poses")
    seed: IntProperty(name="Seed", default=0, min=0,
                      description="Where chance begins: another one gives other networks")


def _get_keep_as(drive):
    return 2 if drive.lengthen else int(drive.push_nla)


def _set_keep_as(drive, value):
    drive.push_nla, drive.lengthen = value == 1, value == 2


class MM_Gait(bpy.types.PropertyGroup):
    """The artist's own speeds of a gait beside walk, run and crouch."""
    __slots__ = ()

    name: StringProperty(name="Name", description="The gait, as the tags of the motion have it")
    speeds: FloatVectorProperty(name="Speeds", size=3, min=0.0, soft_max=10.0, unit="VELOCITY",
                                description="Speed at full stick in this gait: forward, sideways, backward")


class MM_Drive(bpy.types.PropertyGroup):
    """How the character is steered; everything acts at once, also while driving."""
    __slots__ = ()

    target: PointerProperty(type=bpy.types.Object, name="Target", poll=_armature_only,
                            description="Another armature that is driven with this one's motion, whatever its bones "
                                        "are called and however long they are; empty for this one")
    hands: FloatProperty(name="Hands", default=0.0, min=0.0, max=1.0, subtype="FACTOR",
                         description="Where a target with other proportions has its hands: 0 for the arms' own reach, "
                                     "1 for the height that they have in the motion")
    method: EnumProperty(name="Method", items=_METHOD_ITEMS, default="MM",
                         description="What plays the motion; switch it at any time, also while driving")
    compare: BoolProperty(name="Compare", description="While driving, a copy beside the character follows the same "
                                                      "input: with Learned, or with Motion Matching if the character "
                                                      "plays another method. It is gone when driving ends")
    relative: EnumProperty(name="Relative To", items=_RELATIVE_ITEMS, default="VIEW",
                           description="What the stick's forward means")
    strafe: BoolProperty(name="Strafe", description="Keep facing the same way, whichever way the character goes")
    query: StringProperty(name="Tag Query", description="Only frames with these tags are played, such as: ~injured. "
                                                        "Tags joined by & (and), | (or), ~ (not) and parentheses")
    own_speeds: BoolProperty(name="Own Speeds", description="Set the speeds instead of measuring them")
    walk: FloatVectorProperty(name="Walk", size=3, default=(1.4, 0.8, 1.0), min=0.0, soft_max=10.0, unit="VELOCITY",
                              description="Speed at full stick: forward, sideways, backward")
    run: FloatVectorProperty(name="Run", size=3, default=(3.6, 2.0, 2.0), min=0.0, soft_max=10.0, unit="VELOCITY",
                             description="Speed at full stick while running: forward, sideways, backward")
    crouch: FloatVectorProperty(name="Crouch", size=3, default=(0.9, 0.6, 0.6), min=0.0, soft_max=10.0,
                                unit="VELOCITY",
                                description="Speed at full stick while crouching: forward, sideways, backward")
    gaits: CollectionProperty(type=MM_Gait)
    velocity_halflife: FloatProperty(name="Velocity", default=VELOCITY, min=0.01, soft_max=1.0,
                                     precision=3, unit="TIME_ABSOLUTE", subtype="TIME_ABSOLUTE",
                                     description="Seconds in which half of a change of speed is done: lower answers "
                                                 "sooner, higher gives the motion more time")
    facing_halflife: FloatProperty(name="Facing", default=FACING, min=0.01, soft_max=1.0,
                                   precision=3, unit="TIME_ABSOLUTE", subtype="TIME_ABSOLUTE",
                                   description="Seconds in which half of a turn is done")
    search_every: FloatProperty(name="Search Every", default=_DRIVE.search_every, min=0.01, soft_max=0.5, precision=3,
                                unit="TIME_ABSOLUTE", subtype="TIME_ABSOLUTE",
                                description="Seconds between searches; a sudden change of the stick searches at once")
    stay: FloatProperty(name="Stay", default=_DRIVE.stay, min=0.0, max=0.95, subtype="FACTOR",
                        description="How much better another frame must be before the motion jumps to it")
    blend: EnumProperty(name="Transition", items=_BLEND_ITEMS, default=_DRIVE.blend.kind,
                        description="How a jump from one frame to another is smoothed")
    blend_halflife: FloatProperty(name="Half-Life", default=_DRIVE.blend.halflife, min=0.01, soft_max=0.5, precision=3,
                                  unit="TIME_ABSOLUTE", subtype="TIME_ABSOLUTE",
                                  description="Seconds in which half of the difference is gone")
    blend_duration: FloatProperty(name="Duration", default=_DRIVE.blend.duration, min=0.02, soft_max=1.0, precision=3,
                                  unit="TIME_ABSOLUTE", subtype="TIME_ABSOLUTE",
                                  description="Seconds after which nothing of the difference is left")
    blend_fade: FloatProperty(name="Blend Time", default=_DRIVE.blend.fade, min=0.02, soft_max=1.0, precision=3,
                              unit="TIME_ABSOLUTE", subtype="TIME_ABSOLUTE",
                              description="Seconds in which the new motion takes over from the old one")
    overshoot: BoolProperty(name="Overshoot", default=Blend.overshoot,
                            description="A fast motion may swing past the new pose before it settles. Without, it is "
                                        "stopped on its way, which can show as a jerk")
    root_position: EnumProperty(name="Position", items=_SYNC_ITEMS, default=_DRIVE.sync.position,
                                description="How the character is held near the place where the stick has it")
    root_facing: EnumProperty(name="Facing", items=_SYNC_ITEMS, default=_DRIVE.sync.facing,
                              description="How the character is turned to where the stick has it facing")
    root_halflife: FloatProperty(name="Pull", default=_DRIVE.sync.halflife, min=0.01, soft_max=1.0, precision=3,
                                 unit="TIME_ABSOLUTE", subtype="TIME_ABSOLUTE",
                                 description="Seconds in which half of the way is pulled in")
    root_share: FloatProperty(name="Own Speed", default=_DRIVE.sync.share, min=0.0, max=1.0, subtype="FACTOR",
                              description="The pull is never faster than this share of the character's own speed")
    root_radius: FloatProperty(name="Radius", default=_DRIVE.sync.radius, min=0.0, soft_max=1.0, unit="LENGTH",
                               description="With Clamp: how far away it may be at most")
    root_angle: FloatProperty(name="Angle", default=_DRIVE.sync.angle, min=0.0, max=3.14159265, subtype="ANGLE",
                              description="With Clamp: how far it may be turned away at most")
    lock_feet: BoolProperty(name="Hold Feet", default=_DRIVE.lock.on,
                            description="Feet that stand stay where they are, whatever the body does")
    lock_release: FloatProperty(name="Release", default=_DRIVE.lock.release, min=0.0, soft_max=0.5, unit="LENGTH",
                                description="A foot that the body has left behind so far is let go and steps. The "
                                            "smaller, the sooner and the more often it steps")
    lock_halflife: FloatProperty(name="Put Down", default=_DRIVE.lock.halflife, min=0.01, soft_max=0.5, precision=3,
                                 unit="TIME_ABSOLUTE", subtype="TIME_ABSOLUTE",
                                 description="Seconds in which a foot that lands has come half of the way to the "
                                             "ground")
    ground: PointerProperty(type=bpy.types.Collection, name="Ground",
                            description="Meshes that the feet stand on; without any the ground is flat and as high as "
                                        "the armature object, if that stands on it")
    obstacles: PointerProperty(type=bpy.types.Collection, name="Obstacles",
                               description="Meshes that the character does not walk through but along")
    follow: BoolProperty(name="Follow", default=True,
                         description="The viewport goes along with the character; orbit and zoom as usual. Blender "
                                     "draws its whole window for that: without it only the viewports")
    show_hud: BoolProperty(name="Heads-Up Display", default=True,
                           description="Say in the viewport's corner what is being played and why")
    show_desired: BoolProperty(name="Desired Path", default=True, description="Draw where the stick leads")
    show_matched: BoolProperty(name="Matched Path", default=True,
                               description="Draw where the frame that is playing would lead")
    show_contacts: BoolProperty(name="Contacts", default=True, description="Draw feet that are held")
    show_root: BoolProperty(name="Root", default=True,
                            description="Draw where the character is, and where the stick has it")
    tolerance: FloatProperty(name="Tolerance", default=0.0, min=0.0, max=1000.0, soft_max=0.05, precision=4,
                             unit="LENGTH",
                             description="Keys that no joint needs by more than this are left out of a kept take; "
                                         "0 keeps it exactly")
    ik_keys: BoolProperty(name="IK Controls Too",
                          description="On a control rig a kept take has keys on IK controls of hands and feet, too: "
                                      "switch a limb to IK, and it goes on as it was")
    travel_bone: StringProperty(name="Travel On", search=_posed_bone_names,
                                description="The bone that carries a kept take over the ground: the hips or one that "
                                            "they hang from, such as a root bone. Empty: the rig's root bone, or the "
                                            "hips where it has none")
    keep_as: EnumProperty(name="Keep As", items=_KEEP_AS_ITEMS, get=_get_keep_as, set=_set_keep_as,
                          description="Where a kept take goes, and what becomes of the take before. Actions that are "
                                      "there already are never changed")
    # What says so in the file: older ones have the first of these.
    push_nla: BoolProperty(name="Push to NLA", options={"HIDDEN"}, description="Keep As is \"NLA\"")
    lengthen: BoolProperty(name="Lengthen", options={"HIDDEN"}, description="Keep As is \"LENGTHEN\"")
    extend: BoolProperty(name="Extend Scene", default=True,
                         description="The scene ends no sooner than a kept take, so that all of it is played and "
                                     "rendered")
    # On while the character is being driven: tells an undo step from before from one that was made meanwhile.
    driving: BoolProperty(options={"HIDDEN"}, update=None)
    # On copies that Compare has made: they are removed wherever they turn up.
    copied: BoolProperty(options={"HIDDEN"}, update=None)


def _gait_names(mark, _context, text):
    clips = mark.id_data.mm.clips
    tags = {tag.name for clip in clips if clip.action is not None for tag in clip.action.mm.tags}
    return [name for name in dict.fromkeys([*USUAL, *tags_of_gaits(tags)]) if text.lower() in name]


class MM_Mark(bpy.types.PropertyGroup):
    """A place on the path, and what changes there and stays so until another mark changes it."""
    __slots__ = ()

    ob: PointerProperty(type=bpy.types.Object, name="Object", poll=_elsewhere,
                        description="An object, such as an Empty, that is the place of this mark; without a curve "
                                    "the path leads from one to the next")
    # Where it is, seen from the curve object, if there is no object.
    place: FloatVectorProperty(name="Place", size=3, subtype="TRANSLATION",
                               description="Where on the curve it is; what is beside the curve counts where the curve "
                                           "is nearest")
    use_speed: BoolProperty(name="Speed", description="Go at this speed from here on")
    speed: FloatProperty(name="Speed", default=1.4, min=0.0, soft_max=6.0, unit="VELOCITY",
                         description="How fast it goes from here on")
    gait: StringProperty(name="Gait", search=_gait_names, search_options={"SUGGESTION"},
                         description="How it goes from here on, as the tags of the motion have it: walk, run, crouch; "
                                     "empty for as before")
    use_query: BoolProperty(name="Tags", description="Play only frames with some tags from here on")
    query: StringProperty(name="Tag Query", description="Tags joined by & (and), | (or), ~ (not) and parentheses; "
                                                        "empty for all")
    wait: FloatProperty(name="Wait", default=0.0, min=0.0, soft_max=10.0, unit="TIME_ABSOLUTE",
                        subtype="TIME_ABSOLUTE", description="Seconds to stand here")
    face: EnumProperty(name="Face", items=_FACE_ITEMS, description="Where it looks from here on")
    face_object: PointerProperty(type=bpy.types.Object, name="Object", poll=_elsewhere,
                                 description="The object that it faces from here on, where that is now")
    face_angle: FloatProperty(name="Direction", subtype="ANGLE", description="Counted from the world's Y axis to the "
                                                                             "left: 0 faces +Y, 90 degrees -X")
    use_frame: BoolProperty(name="At Frame", description="Be here at a frame: the speed before is worked out")
    frame: FloatProperty(name="Frame", default=100.0, precision=1, step=100, description="The frame to be here at")
    exact: BoolProperty(name="Exactly", description="Be here to the centimetre, by longer or shorter steps before")


class MM_Direct(bpy.types.PropertyGroup):
    """Where the character is to go by itself."""
    __slots__ = ()

    path: PointerProperty(type=bpy.types.Object, name="Path", poll=_curves_only,
                          description="The curve along which it goes, seen from above; empty to go from one mark's "
                                      "object to the next")
    spline: IntProperty(name="Spline", default=1, min=1, description="Which of the curve's splines")
    reverse: BoolProperty(name="Reverse", description="Go from the curve's end to its beginning")
    marks: CollectionProperty(type=MM_Mark)
    mark_index: IntProperty(name="Active Mark", options={"HIDDEN"})
    start: IntProperty(name="Start Frame", default=1, description="The frame with which the take begins")
    plan: EnumProperty(name="Plan", items=_PLAN_ITEMS, description="How frames are chosen")
    seed: IntProperty(name="Seed", default=0, min=0, description="Another number gives another take of the same "
                                                                "direction; the same number the same take")
    loop: BoolProperty(name="Loop", description="On a closed path: the take's last frame goes on as its first one")
    in_place: BoolProperty(name="In Place", description="Leave out the way over the ground, for engines that move the "
                                                        "character themselves")
    update: BoolProperty(name="Update", description="Generate the take anew whenever the curve, a mark or a setting "
                                                    "changes. Keys that were edited by hand are never replaced")
    # The take that was generated last: replaced by the next one, as long as nobody has edited it.
    take: PointerProperty(type=bpy.types.Action, options={"HIDDEN"})


class MM_CharacterSettings(bpy.types.PropertyGroup):
    """Everything about one character, on its armature object."""
    __slots__ = ()

    roles: CollectionProperty(type=MM_Role)
    # The rig family that the roles were found with, and the pose that is taken for the T-pose: see scene/rig/t_pose.py.
    family: StringProperty(options={"HIDDEN"})
    stance: StringProperty(options={"HIDDEN"})
    forward: EnumProperty(name="Forward", items=_AXIS_ITEMS,
                          description="Which axis of the root bone points where the character faces")
    legs: EnumProperty(name="Walks On", items=_LEGS_ITEMS,
                       description="What it stands on: legs alone, or arms too, whose hands are then paws")
    show_facing: BoolProperty(name="Show Facing", default=True,
                              description="Draw an arrow on the ground where the character faces")
    clips: CollectionProperty(type=MM_Clip)
    clip_index: IntProperty(name="Active Clip", options={"HIDDEN"})
    query: StringProperty(name="Tag Query", description="Tags joined by & (and), | (or), ~ (not) and parentheses, "
                                                        "such as: run & ~injured")
    features: PointerProperty(type=MM_Features)
    bake: PointerProperty(type=MM_Bake)
    train: PointerProperty(type=MM_Train)
    drive: PointerProperty(type=MM_Drive)
    direct: PointerProperty(type=MM_Direct)
    # On ghosts: the session_uid of the armature whose variation they show.
    ghost_of: IntProperty(options={"HIDDEN"}, update=None)


CLASSES = (MM_Role, MM_Tag, MM_ActionSettings, MM_Clip, MM_Channel, MM_Features, MM_Bake, MM_Train, MM_Gait, MM_Drive,
           MM_Mark, MM_Direct, MM_CharacterSettings)


_OWN = {bpy.types.Object: MM_CharacterSettings, bpy.types.Action: MM_ActionSettings}


def conflict():
    """Why settings cannot be registered, as a sentence, or empty: another add-on has properties of the same name. They
    are left alone."""
    taken = [kind.__name__ for kind in _OWN if hasattr(kind, "mm") and not _is_ours(kind)]
    return (f'Another add-on has taken the name "{taken[0]}.mm", under which Motion Matching keeps its settings: '
            "disable that add-on, then disable and enable Motion Matching.") if taken else ""


def _is_ours(kind):
    found = kind.bl_rna.properties.get("mm")
    return found is not None and found.type == "POINTER" and found.fixed_type.identifier == _OWN[kind].__name__


@persistent
def _before_saving(*_):
    """From 5.0 on Blender stores no difference to a group of settings that the linked armature does not have yet;
    looking at it makes it."""
    for ob in bpy.data.objects:
        linked = ob.override_library.reference if ob.override_library is not None else None
        if linked is not None and ob.type == "ARMATURE":
            _ = linked.mm.features, linked.mm.bake, linked.mm.train, linked.mm.drive, linked.mm.direct


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    for kind, cls in _OWN.items():
        kind.mm = PointerProperty(type=cls, name="Motion Matching")
    bpy.app.handlers.save_pre.append(_before_saving)


def unregister():
    bpy.app.handlers.save_pre.remove(_before_saving)
    for kind in filter(_is_ours, _OWN):  # another add-on may have put its own there since
        del kind.mm
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
