# SPDX-License-Identifier: GPL-3.0-or-later
"""How close learned motion is to the motion that it was learned from: driven over the same courses, and for long."""

import numpy as np

from ..matching.schema import weights_of
from ..playback.drive import drive_all
from ..playback.group import Group
from . import driving, random_hands

# What is compared: label → where a report has it. Less is better in all of them.
FIGURES = {
    "distance to the simulated root, m": ("root_distance", "mean"),
    "seconds to a new velocity": ("seconds_to_new_velocity", "mean"),
    "slide of low feet over the ground, cm/s": ("slide_low",),
    "share of low feet that skate": ("skating",),
    "share of contact in which feet are not held": ("contact_not_held",),
    "acceleration at transitions": ("transition_acceleration_ratio", "mean"),
    "acceleration at transitions, of 95 %": ("transition_acceleration_ratio", "p95"),
}
# Frames of which one is looked at, and rows that are compared at once.
EVERY, ROWS = 6, 256


def drive_courses(library, database, recordings, own=None):
    """label → mean over the recordings that have it, of characters that play from a library; compared with a
    database."""
    reports = [driving.report(database, *take, own) for take in drive_all(library, recordings)]
    return {label: float(np.mean([found for report in reports if (found := _figure(report, path)) is not None] or [0]))
            for label, path in FIGURES.items()}


def strays(library, database, seconds, count=1, seed=0):
    """(M,) how far the features that are played, while hands do this and that, are from the nearest frame of the
    database, as a share of how far two frames of it are from each other."""
    rate, hands = database.rate, [random_hands.anything(seconds, seed + index) for index in range(count)]
    group = Group(library, [hand.guide(library.database.rate, library.speeds) for hand in hands])
    played = []
    for step in range(round(seconds * rate)):
        group.step()
        if step % EVERY == 0:
            played.append(group.player.matcher.features())
    return nearest(database, np.concatenate(played)) / usual_distance(database)


def nearest(database, features):
    """(M,) the distance (root of equation 1) from features (M, D) to the nearest frame."""
    weights = weights_of(database.schema).astype(np.float32)
    known, asked = database.features * weights, np.asarray(features, dtype=np.float32) * weights
    squares = (known ** 2).sum(axis=1)
    found = [(squares - 2 * rows @ known.T).min(axis=1) + (rows ** 2).sum(axis=1)
             for rows in np.split(asked, range(ROWS, len(asked), ROWS))]
    return np.sqrt(np.maximum(np.concatenate(found), 0))


def usual_distance(database):
    """Between two frames that have nothing to do with each other."""
    weighted = database.features * weights_of(database.schema)
    return float(np.sqrt(2 * weighted.var(axis=0).sum()))


def _figure(report, path):
    for name in path:
        report = report.get(name) if isinstance(report, dict) else None
    return report
