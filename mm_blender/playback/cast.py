# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that share a library, from what hands want to what is played and filmed."""

import numpy as np

from ..control.intent import GAITS, intent_of, tag_query
from .film import Film
from .live import Live
from .matcher import MixedMatcher, Where
from .player import Player


class Cast:
    """K characters on one stage.

    libraries  what each one plays from; all have the same skeleton, rate and features
    player     steps them
    live       plays them along with the clock
    film       what they have played
    intents    what each one wants, None until it was asked
    trouble    a sentence for each one, empty if all is well
    """

    def __init__(self, library, count=1, settings=None, ground=None, obstacles=None):
        self.library, self.libraries = library, [library] * count
        self.player = Player(library.motion, library.choice().search, count, settings, library.standing)
        self.surround(ground, obstacles)
        self.film = Film(self.player)
        self.live = Live(self.player, self.film)
        self._to_film = False  # whether what was shown before is still to be filmed
        self.intents, self.trouble = [None] * count, [""] * count
        schema = library.database.schema
        self._gait_columns = [(channel.of, part) for channel, part in zip(schema.channels, schema.slices)
                              if channel.kind == "tag" and channel.of in GAITS]
        if self._gait_columns:
            self.player.wishes = np.full((count, schema.size), np.nan)
        self._asked = [None] * count  # the gait and the query that each one searches with
        self._hands = [None] * count  # what each one's hand did last, if that alone says what it wants
        self._wishes = [(0j, 0.0)] * count  # as a Simulation takes them

    def place(self, positions, yaws, heights=None, speeds=None):
        """Stand the characters somewhere: positions (K, 2), yaws (K,), heights (K,) and speeds (K, 3) as a Player takes
        them."""
        self.player.place(positions, yaws, heights, speeds)
        self.live = Live(self.player, self.film)
        self._wishes, self._hands = [(0j, float(yaw)) for yaw in yaws], [None] * len(self._hands)

    def surround(self, ground=None, obstacles=None):
        """What they stand on (a Player's ground) and walk around (Obstacles)."""
        self.player.ground, self.player.simulation.obstacles = ground, obstacles

    def want(self, index, stick, heading=0.0, speeds=None, query=""):
        """What a hand wants of one character from now on.

        heading  yaw that the stick's forward means
        speeds   Speeds, or None for those of the library
        query    tags that the artist allows, beside those that the gait asks for
        """
        speeds = speeds or self.libraries[index].speeds
        hand = stick, heading, speeds, query
        if hand == self._hands[index]:
            return
        _, facing = self.player.simulation.roots[index]
        intent = intent_of(stick, speeds, heading, facing)
        if self._asked[index] != (intent.gait, query):
            self._ask(index, intent.gait, query)
        self._wishes = self._wishes.copy()  # the Simulation keeps the list that it got
        self._wishes[index] = intent.velocity, intent.yaw
        self.intents[index] = intent
        # Who keeps facing as before wants something else with each frame.
        self._hands[index] = hand if intent.yaw != facing else None

    def ask_again(self):
        """Take over what has changed in the libraries."""
        for index, asked in enumerate(self._asked):
            if asked is not None:
                self._ask(index, *asked)

    def play(self, libraries):
        """What each one plays from from now on: who is given another one goes on where it is, as after a jump."""
        switched = [index for index, (old, new) in enumerate(zip(self.libraries, libraries)) if old is not new]
        if switched:
            wheres = [self.player.matcher.where(index) for index in range(len(libraries))]
            self._go_on(libraries, wheres, switched)

    def begin_from(self, index, shown):
        """A character begins as it was Shown before, which its film begins with, and goes on like this."""
        self.player.begin_from(index, shown)
        if shown.features is not None:
            wheres = [self.player.matcher.where(each) for each in range(len(self.libraries))]
            wheres[index] = Where(shown.features, -1)
            self._go_on(self.libraries, wheres, [index], whatever=True)
        self._to_film = True

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
        self._film_what_was_shown()
        self.player.step(self._wishes)
        self.film.take()

    def advance(self, seconds):
        """Along with the clock; how many frames that took."""
        self._film_what_was_shown()
        return self.live.advance(seconds, self._wishes)

    def desired(self, index, times):
        """Places (T, 2) and yaws (T,) of one character at times (T,) from now, if its wish stays."""
        settings = self.player.settings
        places, yaws = self.player.simulation.at(times, self._wishes,
                                                 (settings.velocity_halflife, settings.facing_halflife))
        return places[index], yaws[index]

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

    def _film_what_was_shown(self):
        if self._to_film:
            self.film.take()
            self._to_film = False

    def _trajectory(self):
        schema = self.library.database.schema
        return [(channel, part) for channel, part in zip(schema.channels, schema.slices)
                if channel.kind == "trajectory_position"][:1]

    def _tag_query(self, index):
        """The tag query with which a character searches."""
        gait, query = self._asked[index] or ("walk", "")
        return tag_query(gait, self.libraries[index].database.tags, query)

    def _ask(self, index, gait, query):
        library = self.libraries[index]
        choice = library.choice(tag_query(gait, library.database.tags, query))
        self.player.matcher.allow(index, choice.search, choice.wanted)
        self._asked[index], self.trouble[index] = (gait, query), choice.trouble
        if self._gait_columns:
            self.player.wishes[index] = self._wish(gait)

    def _wish(self, gait):
        """(D,) normalised: features that are tags of gaits say which one is wanted, the others nothing."""
        database = self.library.database
        wish = np.full(database.schema.size, np.nan)
        for tag, part in self._gait_columns:
            wish[part] = float(tag == gait)
        return database.normalisation.apply(wish)
