# SPDX-License-Identifier: Apache-2.0
"""Drift of units over their sessions: a trend of each quantity, with the temperature as a covariate."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Malformed
from bam_core.identification.fleet import Fleet, compare_units
from bam_core.identification.variation.compared import QUANTITIES
from bam_core.identification.variation.population import holm_adjusted
from bam_core.identification.variation.trend import FEWEST, Trend, estimate_trend
from bam_core.identification.writing import SUMMARY

SIGNIFICANT = 0.05
"""Probability, over all units and quantities at once, below which a trend is reported."""

_DATE = re.compile(r"(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?!\d)")
_MONTH = 30.0  # days


@dataclass(frozen=True, kw_only=True)
class Session:
    """One session of a unit.

    Attributes:
        name: of its directory.
        unit: which servo it was; empty: unknown, then all are of one.
        temperature: of the servo, mean over its recordings, °C; NaN: unknown.
    """

    name: str
    unit: str
    temperature: float


@dataclass(frozen=True, kw_only=True)
class Drift:
    """Trends of units.

    Attributes:
        sessions: unit -> its sessions, in the order of time.
        per_month: time is in months of 30 days, by the dates in the names; else in sessions.
        fleet: quantities of every session, as `compare_units` gives them.
        trends: unit -> quantity -> trend; without quantities that fewer than three sessions determine.
        significant: (unit, quantity) of trends that errors do not explain, all of them regarded.
    """

    sessions: Mapping[str, Sequence[Session]]
    per_month: bool
    fleet: Fleet
    trends: Mapping[str, Mapping[str, Trend]]
    significant: tuple[tuple[str, str], ...]


def find_drift(files: Mapping[str, Path], *, seed: int = 0) -> Drift:
    """Return how units change over their sessions.

    Args:
        files: session -> servo file that `bam identify --by session` wrote.
        seed: as of `compare_units`.

    Raises:
        BamError: as of `compare_units`, a summary is damaged, or no unit has three sessions.
    """
    sessions = [_session(name, path) for name, path in files.items()]
    dates = {session.name: _date(session.name) for session in sessions}
    per_month = all(date is not None for date in dates.values())
    by_unit: dict[str, list[Session]] = {}
    for session in sorted(sessions, key=lambda session: (dates[session.name] or 0.0, session.name)):
        by_unit.setdefault(session.unit, []).append(session)
    if all(len(of_unit) < FEWEST for of_unit in by_unit.values()):
        counts = ", ".join(f"{unit or 'the unit'} has {len(own)}" for unit, own in by_unit.items())
        raise BadData(
            "sessions", counts, expected=f"{FEWEST} or more of a unit", advice="identify further ones"
        )
    fleet = compare_units(files, seed=seed)
    trends = {
        unit: _trends(fleet, own, _times(own, dates, per_month))
        for unit, own in by_unit.items()
        if len(own) >= FEWEST
    }
    pairs = [(unit, name) for unit, own in trends.items() for name in own]
    adjusted = holm_adjusted(np.array([trends[unit][name].time.probability for unit, name in pairs]))
    return Drift(
        sessions=by_unit,
        per_month=per_month,
        fleet=fleet,
        trends=trends,
        significant=tuple(pair for pair, chance in zip(pairs, adjusted, strict=True) if chance < SIGNIFICANT),
    )


def _session(name: str, path: Path) -> Session:
    """Return what the summary beside a servo file has of its recordings."""
    summary = path.parent / SUMMARY
    if not summary.is_file():
        return Session(name=name, unit="", temperature=math.nan)
    try:
        logs = list(json.loads(summary.read_text(encoding="utf-8"))["logs"].values())
        units = {str(log.get("unit", "")) for log in logs}
        temperatures = [float(log["temperature"]) for log in logs if log.get("temperature") is not None]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise Malformed(summary, "is damaged", advice="run 'bam identify' again") from None
    return Session(
        name=name,
        unit=units.pop() if len(units) == 1 else "",
        temperature=float(np.mean(temperatures)) if temperatures else math.nan,
    )


def _date(name: str) -> float | None:
    """Return the days of a date in a name, such as 2026-11-28 or 20261128; None where there is none."""
    match = _DATE.search(name)
    if match is None:
        return None
    try:
        return float(datetime.date(*map(int, match.groups())).toordinal())
    except ValueError:
        return None


def _times(sessions: Sequence[Session], dates: Mapping[str, float | None], per_month: bool) -> Array:
    days = [dates[session.name] for session in sessions]
    known = [day for day in days if day is not None]
    # Sessions of one day follow each other, too.
    if per_month and len(set(known)) > 1:
        return np.array(known) / _MONTH
    return np.arange(len(sessions), dtype=np.float64)


def _trends(fleet: Fleet, sessions: Sequence[Session], times: Array) -> dict[str, Trend]:
    trends = {}
    for name in QUANTITIES:
        own = [
            (session, fleet.units[session.name][name], time)
            for session, time in zip(sessions, times.tolist(), strict=True)
            if fleet.units[session.name][name].log_error is not None
        ]
        if len(own) < FEWEST or len({time for *_, time in own}) < 2:
            continue
        trends[name] = estimate_trend(
            np.log([estimate.value for _, estimate, _ in own]),
            np.array([estimate.log_error for _, estimate, _ in own], dtype=np.float64),
            np.array([time for *_, time in own]),
            np.array([session.temperature for session, *_ in own]),
        )
    return trends
