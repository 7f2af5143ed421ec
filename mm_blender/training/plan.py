# SPDX-License-Identifier: GPL-3.0-or-later
"""What a training will do with a database, said before it does it."""

from .experts.stepper import MORE

# With fewer frames nothing can be said of those that were held back.
LITTLE = 600


def of(examples, model, options):
    """Sentences."""
    database, count = examples.database, len(examples)
    said = [f"{count:,} frames of {examples.joints} joints below the root."]
    if model == "moe":
        experts = options["experts"]
        said.append(f"{experts} experts in each network, {MORE * experts} in the Stepper, for so many frames.")
    if count < LITTLE:
        said.append("That is little: what is learned is little more than these frames, and its errors mean little.")
    if len({part.source for part in database.ranges}) == 1:
        said.append("There is one clip: jumps stay within it.")
    if not any(channel.about.trajectory for channel in database.schema.channels):
        said.append("No feature is a trajectory: the stick cannot steer what is learned.")
    if not database.contacts.shape[1]:
        said.append("No feet are known: contacts are not learned.")
    return " ".join(said)
