# SPDX-License-Identifier: Apache-2.0
"""What a fit to a robot's runs minimises: errors by their noise, and the distance from what was known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array

_TAIL = 3.0
"""Standard deviations; errors beyond count by their size, not by their square: what no model has must not
decide."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Objective:
    """How much errors count.

    Attributes:
        worth: of how many independent errors each stands for.
        scale: rad, the standard deviation of each.
    """

    worth: Array
    scale: Array

    def weights(self, here: Array) -> Array:
        """Return how much the square of each error counts, 1/rad², where errors are `here`."""
        return np.asarray(self.worth / self.scale**2 / np.sqrt(1.0 + (here / (_TAIL * self.scale)) ** 2))

    def normal(self, jacobian: Array, here: Array) -> Array:
        """Return half the second derivative of the cost."""
        weighted = jacobian * np.sqrt(self.weights(here))[:, None]
        return np.asarray(weighted.T @ weighted + np.eye(jacobian.shape[1]))

    def slope(self, jacobian: Array, point: Array, here: Array) -> Array:
        """Return half the first derivative of the cost."""
        return np.asarray((self.weights(here) * here) @ jacobian + point)

    def covariance(self, jacobian: Array, second_jacobian: Array, here: Array) -> Array:
        """Return the covariance of the unknowns, given two Jacobians of differences over unlike steps.

        Friction makes a simulation rough, so a difference has an error, and the square of this error would
        seem to be information: a thousand samples then seem to separate what is inseparable, such as a type's
        resistance and the strengths of all of its units. The product of two differences whose errors are
        independent has no such part.
        """
        product = (jacobian.T * self.weights(here)) @ second_jacobian
        information, directions = np.linalg.eigh(0.5 * (product + product.T))
        return np.asarray((directions / (1.0 + np.maximum(information, 0.0))) @ directions.T)

    def cost(self, errors: Array, point: Array) -> float:
        """Return what is minimised: pseudo-Huber errors and the prior, twice the negative logarithm."""
        sizes = np.sqrt(1.0 + (errors / (_TAIL * self.scale)) ** 2) - 1.0
        return float(2.0 * _TAIL**2 * np.sum(self.worth * sizes) + point @ point)
