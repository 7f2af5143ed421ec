# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that share a library, from what their guides say to what is played and recorded."""

import numpy as np

from ..control.intent import tag_query
from ..matching.seeded import seeded
from ..motion.plane import to_points
from .live import Live
from .matcher import MixedMatcher, Where
from .player import Player
from .record import FrameRecord
from .standing import GOES


class Group:
    """K characters that go on together, frame by frame.

    libraries  what each one plays from; all have the same skeleton, rate and features
    player     steps them
    live       plays them along with the clock
    record     what they have done, frame by frame
    trouble    a sentence for each one, empty if all is well
    """

    def __init__(self, library, guides, settings=None, ground=None, seed=None):
        """guides: the Guide of each one; ground: as a Player has it; seed: of chance in what is played from a database,
        or None for none"""
        count = len(guides)
        self.library, self.libraries = library, [library] * count
        self.player = Player(library.motion, library.choice().search, guides, settings, library.standing)
        self.player.ground = ground
        self.record = FrameRecord(self.player)
        self.live = Live(self.player, self.step)
        self._seed = seed
        self._to_record = False  # whether what was shown before is still to be recorded
        self.trouble = [""] * count
        self._asked = [None] * count  # the gait and the query that each one searches with, and whether it stands

    @property
    def guides(self):
        return self.player.guides

    def place(self, positions, yaws, heights=None, speeds=None):
        """Stand the characters somewhere: positions (K, 2), yaws (K,), heights (K,) and speeds (K, 3) as a Player takes
        them."""
        self.player.place(positions, yaws, heights, speeds)
        self.live = Live(self.player, self.step)

    def ask(self, index, gait, query="", still=GOES):
        """Let a character search with what a gait and a tag query leave of what it is to do, as Standing has it."""
        library = self.libraries[index]
        choice = library.choice(tag_query(gait, library.speeds, query), still)
        self.player.matcher.allow(index, seeded(choice.search, self._seed, library.database.rate), choice.wanted)
        self._asked[index], self.trouble[index] = (gait, query, still), choice.trouble

    def command(self, index, label, command=None):
        """From now on a character wants something of a feature, as a Player's command() has it."""
        self.player.command(index, label, command)

    def ask_again(self):
        """Take over what has changed in the libraries."""
        for index, asked in enumerate(self._asked):
            if asked is not None:
                self.ask(index, *asked)

    def play(self, libraries):
        """What each one plays from from now on: who is given another one goes on where it is, as after a jump."""
        switched = [index for index, (old, new) in enumerate(zip(self.libraries, libraries)) if old is not new]
        if switched:
            wheres = [self.player.matcher.where(index) for index in range(len(libraries))]
            self._go_on(libraries, wheres, switched)

    def begin_from(self, index, shown):
        """A character begins as it was Shown before, which its record begins with, and goes on like this."""
        self.player.begin_from(index, shown)
        if shown.features is not None:
            wheres = [self.player.matcher.where(each) for each in range(len(self.libraries))]
            wheres[index] = Where(shown.features, -1)
            self._go_on(self.libraries, wheres, [index], whatever=True)
        self._to_record = True

    def begin_at(self, wheres):
        """Each one goes on from somewhere (Where), as after a jump."""
        self._go_on(self.libraries, wheres, range(len(wheres)))

    def _go_on(self, libraries, wheres, jumping, whatever=False):
        """whatever: heed no tags yet; it may run."""
        parts = []
        for library in dict.fromkeys(libraries):
            who = [index for index, other in enumerate(libraries) if other is library]
            begin = [library.begin(wheres[index], "" if whatever else self._tag_query(index)) for index in who]
            parts.append((library.motion.matcher(library.choice().search, len(who), np.array(begin)), who))
        self.player.switch(parts[0][0] if len(parts) == 1 else MixedMatcher(parts), jumping)
        self.libraries = list(libraries)
        self.ask_again()

    def step(self):
        """One frame of the database's rate."""
        self._record_what_was_shown()
        player = self.player
        player.guide()
        for index, (guide, still, asked) in enumerate(zip(self.guides, player.standing.wanted, self._asked)):
            wanted = guide.intent.gait, guide.intent.query, still
            if wanted != asked:
                self.ask(index, *wanted)
        player.play()
        self.record.add()

    def advance(self, seconds):
        """Along with the clock; how many frames that took."""
        return self.live.advance(seconds)

    def desired(self, index, times):
        """Places (T, 2) and yaws (T,) where the guide of a character leads, at times (T,) from now."""
        places, yaws = zip(*self.guides[index].path(np.asarray(times).tolist()))
        return to_points(places), np.array(yaws)

    def matched(self, index):
        """Places (T, 2) where the frame that is playing leads one character, at the times of ahead()."""
        player = self.player
        features = self.library.database.normalisation.undo(player.matcher.features()[index])
        places = [place for channel, part in self._trajectory()
                  for place, time in zip(features[part].reshape(-1, 2), channel.times) if time > 0]
        cos, sin = np.cos(player.yaws[index]), np.sin(player.yaws[index])
        return player.positions[index] + np.array(places).reshape(-1, 2) @ np.array([[cos, sin], [-sin, cos]])

    def ahead(self):
        """The times (T,) ahead at which trajectories are compared."""
        return np.array([time for channel, _ in self._trajectory() for time in channel.times if time > 0])

    def _record_what_was_shown(self):
        if self._to_record:
            self.record.add()
            self._to_record = False

    def _trajectory(self):
        schema = self.library.database.schema
        return [(channel, part) for channel, part in zip(schema.channels, schema.slices)
                if channel.kind == "trajectory_position"][:1]

    def _tag_query(self, index):
        """The tag query with which a character searches."""
        gait, query, _ = self._asked[index] or ("walk", "", GOES)
        return tag_query(gait, self.libraries[index].speeds, query)
