# SPDX-License-Identifier: Apache-2.0
"""The output of ``bam fleet --drift``: trends of units on the screen and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bam_core.files.atomic_file import write_text

if TYPE_CHECKING:
    from bam_core.identification.drift import Drift
    from bam_core.identification.variation.trend import Coefficient, Trend

FILE = "drift.json"


def show_drift(files: Mapping[str, Path], seed: int, output: Path | None) -> None:
    """Print trends, and write them where there is an output directory.

    Args:
        files: session -> servo file.
        seed: of the draws.
        output: directory for drift.json; None: nothing is written.
    """
    from bam_core.identification.drift import find_drift

    drift = find_drift(files, seed=seed)
    _print(drift)
    if output is not None:
        write_text(output / FILE, json.dumps(_summary(drift), indent=1, allow_nan=False) + "\n")
        print(f"wrote {output / FILE}")


def _print(drift: Drift) -> None:
    from bam_core.identification.variation.compared import QUANTITIES
    from bam_core.text.fleet_words import drift_sentence, steady_sentence
    from bam_core.text.table import format_table

    per = _per(drift)
    header = ["unit", "quantity", "sessions", f"change per {per}", "p", "per kelvin"]
    rows = [
        [unit or "-", QUANTITIES[name].title, str(trend.sessions), *_cells(trend)]
        for unit, trends in drift.trends.items()
        for name, trend in trends.items()
    ]
    print(format_table(header, rows))
    for unit, name in drift.significant:
        trend = drift.trends[unit][name]
        print(
            drift_sentence(
                unit,
                QUANTITIES[name].title,
                math.expm1(trend.time.value),
                per,
                _relative(trend.time),
                with_temperature=trend.temperature is not None,
            )
        )
    if not drift.significant:
        print(steady_sentence(len(drift.trends), sum(len(drift.sessions[unit]) for unit in drift.trends)))


def _per(drift: Drift) -> str:
    return "30 days" if drift.per_month else "session"


def _relative(coefficient: Coefficient) -> tuple[float, float]:
    low, high = coefficient.interval
    return math.expm1(low), math.expm1(high)


def _cells(trend: Trend) -> list[str]:
    cells = [_percent(trend.time), f"{trend.time.probability:.2g}"]
    return [*cells, "-" if trend.temperature is None else _percent(trend.temperature)]


def _percent(coefficient: Coefficient) -> str:
    low, high = _relative(coefficient)
    return f"{100.0 * math.expm1(coefficient.value):+.1f} % ({100.0 * low:.1f} to {100.0 * high:.1f})"


def _summary(drift: Drift) -> dict[str, Any]:
    def entry(coefficient: Coefficient | None) -> dict[str, Any] | None:
        if coefficient is None:
            return None
        return {
            "change": math.expm1(coefficient.value),
            "interval": list(_relative(coefficient)),
            "p": coefficient.probability,
        }

    return {
        "friction_model": drift.fleet.friction_model,
        "per": _per(drift),
        "sessions": {
            unit: [
                {
                    "name": session.name,
                    "temperature": session.temperature if math.isfinite(session.temperature) else None,
                }
                for session in sessions
            ]
            for unit, sessions in drift.sessions.items()
        },
        "trends": {
            unit: {
                name: {
                    "time": entry(trend.time),
                    "temperature": entry(trend.temperature),
                    "spread": trend.spread,
                    "sessions": trend.sessions,
                }
                for name, trend in trends.items()
            }
            for unit, trends in drift.trends.items()
        },
        "significant": [list(pair) for pair in drift.significant],
    }
