# SPDX-License-Identifier: GPL-3.0-or-later
"""Features as they are compared: without their mean, and as shares of their spread."""

from dataclasses import dataclass

import numpy as np

BLOCK = 4096  # frames at once: what stays in the processor's cache


@dataclass(frozen=True, eq=False)
class Normalisation:
    """Mean of each number (D,) and one scale per feature, repeated for its numbers (D,).

    Section 3 of Learned Motion Matching scales each feature by its standard deviation in the data; one for the whole
    feature, so that a foot's small sideways motion is not blown up to the size of its large forward motion.
    """

    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, features, schema, ahead=1.0):
        """Of features (N, D). ahead: how much more the costs of the trajectory's count, as the schema's responsiveness.
        """
        blocks = [features[at:at + BLOCK] for at in range(0, len(features), BLOCK)]
        # In float64: the mean of a million float32 numbers is not to be trusted.
        mean = sum(block.sum(axis=0, dtype=np.float64) for block in blocks) / len(features)
        variance = sum(np.square(block - mean).sum(axis=0) for block in blocks) / len(features)
        scale = np.ones(schema.size)
        for part, channel in zip(schema.slices, schema.channels):
            deviation = np.sqrt(variance[part].mean())
            # A feature that never changes says nothing; dividing by its noise would make it shout.
            scale[part] = deviation if deviation > 1e-5 else 1.0
            scale[part] /= ahead ** 0.5 if channel.about.trajectory else 1.0
        return cls(mean.astype(np.float32), scale.astype(np.float32))

    def apply(self, features):
        return (features - self.mean) / self.scale

    def undo(self, features):
        return features * self.scale + self.mean
