# SPDX-License-Identifier: Apache-2.0
"""Results of a comparison of units, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

_FEW = 3  # units below which an outlier cannot be told


def difference_sentence(title: str, low: str, high: str, ratio: float) -> str:
    """Return which units are apart in a quantity.

    Args:
        title: of the quantity.
        low: the unit with the smallest value.
        high: that with the largest.
        ratio: of the largest to the smallest.
    """
    return f"{title}: units differ by more than their errors; {high} has {ratio:.2f} times that of {low}."


def outlier_sentence(unit: str, title: str, ratio: float, probability: float) -> str:
    """Return how a unit stands out."""
    chance = f"{probability:.2g}" if probability >= 1e-4 else "below 0.0001"
    return (
        f"{unit}: {title} is {ratio:.2f} times that of the typical unit (p {chance}). "
        "Check its mounting and its header, or replace it."
    )


def agreement_sentence(units: int, undetermined: Sequence[str]) -> str:
    """Return that no difference was found, and what could not be compared."""
    line = f"No significant difference between the {units} units."
    if undetermined:
        line += f" Not determined by their recordings: {', '.join(undetermined)}."
    return line


def spread_sentence(units: int) -> str:
    """Return how far the spread is known, for few units."""
    if units < _FEW:
        return f"{units} units do not determine how far others scatter: identify {_FEW} or more."
    return f"The spread is known from {units} units; an unseen unit is expected within the interval 'unseen'."
