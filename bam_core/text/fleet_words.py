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


def drift_sentence(
    unit: str, title: str, change: float, per: str, interval: tuple[float, float], *, with_temperature: bool
) -> str:
    """Return how a quantity of a unit drifts, and what to do.

    Args:
        unit: name; empty: there is only one.
        title: of the quantity.
        change: relative, per unit of time.
        per: the unit of time, such as "session".
        interval: 95 % of the change.
        with_temperature: the temperature is accounted for.
    """
    low, high = (100.0 * end for end in interval)
    heat = "at the same temperature" if with_temperature else "heat is not accounted for"
    advice = "look for wear" if change > 0.0 else "it runs in, or loosens"
    return (
        f"{unit or 'The unit'}: {title} changes by {100.0 * change:+.1f} % per {per} "
        f"({low:.1f} to {high:.1f}; {heat}): {advice}, and use the last session."
    )


def steady_sentence(units: int, sessions: int) -> str:
    """Return that no drift was found."""
    of = "the unit" if units == 1 else f"{units} units"
    return f"No significant drift of {of} over {sessions} sessions."
