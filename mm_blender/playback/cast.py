# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that share a library, from what hands want to what is played and filmed."""

import numpy as np

from ..control.intent import GAITS, intent_of, tag_query
from .film import Film
from .live import Live
from .player import Player


class Cast:
    """K characters on one stage.

    player   steps them
    live     plays them along with the clock
    film     what they have played
    intents  what each one wants, None until it was asked
    trouble  a sentence for each one, empty if all is well
    """

    def __init__(self, library, count=1, settings=None, ground=None, obstacles=None):
        self.library = library
        self.player = Player(library.motion, library.choice().search, count, settings, library.standing)
        self.surround(ground, obstacles)
        self.film = Film(self.player)
        self.live = Live(self.player, self.film)
        self.intents, self.trouble = [None] * count, [""] * count
        schema = library.database.schema
        self._gait_columns = [(channel.of, part) for channel, part in zip(schema.channels, schema.slices)
                              if channel.kind == "tag" and channel.of in GAITS]
        if self._gait_columns:
            self.player.wishes = np.full((count, schema.size), np.nan)
        self._asked = [None] * count  # the gait and the query that each one searches with
        self._velocities, self._yaws = np.zeros((count, 2)), np.zeros(count)

    def place(self, positions, yaws):
        """Stand the characters somewhere: positions (K, 2), yaws (K,)."""
        self.player.place(positions, yaws)
        self.live = Live(self.player, self.film)
        self._yaws[:] = yaws

    def surround(self, ground=None, obstacles=None):
        """What they stand on (a Player's ground) and walk around (Obstacles)."""
        self.player.ground, self.player.simulation.obstacles = ground, obstacles

    def want(self, index, stick, heading=0.0, speeds=None, query=""):
        """What a hand wants of one character from now on.

        heading  yaw that the stick's forward means
        speeds   Speeds, or None for those of the library
        query    tags that the artist allows, beside those that the gait asks for
        """
        _, facing = self.player.simulation.roots[index]
        intent = intent_of(stick, speeds or self.library.speeds, heading, facing)
        if self._asked[index] != (intent.gait, query):
            self._ask(index, intent.gait, query)
        self._velocities[index], self._yaws[index] = intent.velocity, intent.yaw
        self.intents[index] = intent

    def ask_again(self):
        """Take over what has changed in the library."""
        self._asked = [None] * len(self._asked)

    def step(self):
        """One frame of the database's rate."""
        self.player.step(self._velocities, self._yaws)
        self.film.take(self._velocities, self._yaws)

    def advance(self, seconds):
        """Along with the clock; how many frames that took."""
        return self.live.advance(seconds, self._velocities, self._yaws)

    def desired(self, index, times):
        """Places (T, 2) and yaws (T,) of one character at times (T,) from now, if its wish stays."""
        settings = self.player.settings
        places, yaws = self.player.simulation.at(times, self._velocities, self._yaws,
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

    def _trajectory(self):
        schema = self.library.database.schema
        return [(channel, part) for channel, part in zip(schema.channels, schema.slices)
                if channel.kind == "trajectory_position"][:1]

    def _ask(self, index, gait, query):
        choice = self.library.choice(tag_query(gait, self.library.database.tags, query))
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
