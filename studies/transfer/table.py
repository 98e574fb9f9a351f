# SPDX-License-Identifier: Apache-2.0
"""The results as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bam_core.text.table import format_table
from studies.transfer.bootstrap import mean_interval, ratio_interval
from studies.transfer.replay import Replayed
from studies.transfer.simulations import DRAWS, HAND_SET_M1, HAND_SET_PD
from studies.transfer.trial import Tried


def transfer_table(results: Mapping[str, Tried]) -> str:
    """Return one row per simulation: the error it promised, that on hidden robots, and successes."""
    rows = [
        (
            name,
            f"{1e3 * tried.promised.mean():.2f}",
            mean_interval(tried.error).text(1e3, 2),
            mean_interval(tried.success).text(100.0, 0),
        )
        for name, tried in results.items()
    ]
    return format_table(("tuned in", "promised [mm]", "hidden robots [mm]", "success [%]"), rows)


def verdicts(results: Mapping[str, Tried]) -> Iterator[str]:
    """Yield the error with draws over that with each hand-set randomisation."""
    draws = results[DRAWS].error
    for name in (HAND_SET_PD, HAND_SET_M1):
        hand_set = results[name].error
        negation = "" if mean_interval(draws).overlaps(mean_interval(hand_set)) else "do not "
        ratio = ratio_interval(draws, hand_set).text(1.0, 2)
        yield f"{DRAWS} / {name}: {ratio}; intervals of errors {negation}overlap"


def replay_table(rows: Mapping[str, Replayed]) -> str:
    """Return one row per simulation, mrad and %."""
    lines = [
        (
            name,
            row.error.text(1e3, 1),
            row.crps.text(1e3, 1),
            "-" if row.held is None else row.held.text(100.0, 0),
        )
        for name, row in rows.items()
    ]
    return format_table(("simulation", "error [mrad]", "CRPS [mrad]", "within 90 % band [%]"), lines)
