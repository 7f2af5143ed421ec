# SPDX-License-Identifier: GPL-3.0-or-later
"""Tags proposed for the clips of an armature, kept on their Actions until they are taken."""

from collections import Counter

from ...errors import MotionError
from ...matching.proposals import propose
from ...steps import Progress, mapped
from ..reading import clips
from ..rig.character import character_of
from .baking import Baked, recipe_of, sources_of

TITLE = "Looking for tags"  # of the job


def propose_steps(ob, scene):
    """A generator for jobs: yields Progress, puts the proposed tags on the Actions of all enabled clips, returns how
    many clips got some. Tags that are there stay as they are."""
    return _steps(Baked.of(ob, scene))


def _steps(baked):
    ob, _ = baked.fetch()
    if not clips.enabled(ob):
        raise MotionError(f'"{ob.name}" has no clips: add some in the Clips panel, or enable those in the list.')
    character, recipe = character_of(ob), recipe_of(ob)
    sources, _ = yield from sources_of(baked)
    found = yield from mapped(propose(sources, character, recipe),
                              lambda step: Progress(0.1 + 0.9 * step.share, step.text))
    ob, scene = baked.fetch()
    return _keep(ob, scene, dict(_by_name(sources, found)))


def _by_name(sources, found):
    """(name of a source, all tags that were found for it): an Action may be in the list with several ranges."""
    for name in dict.fromkeys(source.name for source in sources):
        yield name, [tag for source, tags in zip(sources, found) if source.name == name for tag in tags]


def _keep(ob, scene, found):
    forget(ob)
    rate, kept = clips.fps(scene), 0
    for action in _actions(ob):
        taken = {name for name, *_ in clips.tags_of(action, (0, 0))}
        for tag in found.get(action.name, ()):
            if tag.name not in taken:
                proposed = action.mm.proposed.add()
                proposed.name, proposed.start, proposed.end = tag.name, round(tag.start * rate), round(tag.end * rate)
        kept += bool(len(action.mm.proposed))
    return kept


def accept(ob):
    """Take all tags that are proposed for an armature's clips; how many. What an Action has a tag of since is left."""
    count = 0
    for action in _actions(ob):
        taken = {tag.name for tag in action.mm.tags}
        for proposed in action.mm.proposed:
            if proposed.name not in taken:
                tag = action.mm.tags.add()
                tag.name, tag.start, tag.end = proposed.name, proposed.start, proposed.end
                count += 1
        action.mm.proposed.clear()
    return count


def forget(ob):
    """Nothing is proposed any more."""
    for action in _actions(ob):
        action.mm.proposed.clear()


def proposed(ob):
    """[(tag, in how many clips it is proposed)], the commonest first."""
    counts = Counter(name for action in _actions(ob) for name in {tag.name for tag in action.mm.proposed})
    return counts.most_common()


def _actions(ob):
    """The Actions of all enabled clips, each once, that can be tagged."""
    used = dict.fromkeys(clip.action for clip in clips.enabled(ob) if clip.action is not None and not clip.use_nla)
    return [action for action in used if action.library is None]
