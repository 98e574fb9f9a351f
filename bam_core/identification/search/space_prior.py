# SPDX-License-Identifier: Apache-2.0
"""What is known of free parameters before any recording: a normal distribution over a search space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array


@dataclass(frozen=True, kw_only=True)
class SpacePrior:
    """A normal distribution of the free parameters, in shares of their search ranges.

    Attributes:
        mean: (dimension,).
        precision: (dimension, dimension) inverse covariance; zero in the rows of what it does not determine.
        run_factor: (dimension, any): times a standard normal vector, it is how the parameters of one run
            deviate from those of its unit.
    """

    mean: Array
    precision: Array
    run_factor: Array

    def cost(self, shares: Array) -> float:
        """Return minus its log density at shares (dimension,), from the mean on."""
        off = shares - self.mean
        return float(0.5 * off @ self.precision @ off)

    def gradient(self, shares: Array) -> Array:
        """Return the gradient (dimension,) of `cost`."""
        return np.asarray(self.precision @ (shares - self.mean))
