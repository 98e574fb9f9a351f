# SPDX-License-Identifier: Apache-2.0
"""Reports findings once for all recordings that were loaded."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from bam_core.recordings.header_corrections import Rule, Value
from bam_core.recordings.recording import Recording
from bam_core.recordings.velocity_lag import velocity_lag
from bam_core.servo.gains import gain_text
from bam_core.text.finding import Finding, log_findings
from bam_core.text.recording_findings import (
    LatePositions,
    OtherLag,
    ReadingsLeftOut,
    SampleGaps,
    StaleVelocity,
    SupplyNotMeasured,
    UnmetRule,
)

log = logging.getLogger(__name__)

_NAMED = 3  # recordings that a line names
_LISTED = 20  # and a table
_GAP = 5.0  # usual periods without a sample, of which is told,
_LONG = 0.03  # s, and so long at least; those of 588 real recordings are two periods at most
_OTHER_LAG = 0.035  # s; of one servo's real recordings, lags are within 25 ms of each other
_AHEAD = 0.014  # s; no servo knows its velocity before its position, but lags are known to 10 ms
_SAG = 0.1  # share by which a supply may sag while a motor draws its current


def report_findings(recordings: Sequence[Recording], unmet: Sequence[Rule]) -> None:
    """Log what was set from outside, left out or corrected, and what contradicts the header; a line each.

    Args:
        recordings: that were loaded.
        unmet: rules of a bench.yaml whose condition none of them meets.
    """
    _report_corrections(recordings)
    log_findings(log, (*_unmet_rules(unmet), *_supplies(recordings)))
    _report_left_out(recordings)
    log_findings(log, (*_late_positions(recordings), *_gaps(recordings), *_lags(recordings)))


def _report_corrections(recordings: Sequence[Recording]) -> None:
    """Report once for every place that sets fields, which and in how many recordings."""
    fields: dict[str, dict[str, int]] = {}
    for recording in recordings:
        for part in recording.corrections:
            of = fields.setdefault(part.source, {})
            of[part.field] = of.get(part.field, 0) + 1
    for source, counts in fields.items():
        text = ", ".join(f"{field} in {count}" for field, count in counts.items())
        log.info("%s: sets %s (of %d recordings)", source, text, len(recordings))


def _unmet_rules(rules: Sequence[Rule]) -> Iterator[Finding]:
    """Return conditions in a bench.yaml that no recording meets."""
    for rule in rules:
        yield UnmetRule(
            source=Path(rule.source), where=tuple((name, _plain(value)) for name, value in rule.where.items())
        )


def _plain(value: Value) -> float | str:
    return gain_text(value) if isinstance(value, Mapping) else value


def _supplies(recordings: Sequence[Recording]) -> Iterator[Finding]:
    """Return in which recordings the servo measured another supply than the header has."""
    names, given, measured, is_set = [], [], [], False
    for recording in recordings:
        known = recording.voltage[np.isfinite(recording.voltage)]
        median = float(np.median(known)) if len(known) else math.nan
        if abs(median - recording.supply_voltage) > _SAG * recording.supply_voltage:
            is_set = is_set or any(part.field == "vin" for part in recording.corrections)
            names.append(recording.name)
            given.append(recording.supply_voltage)
            measured.append(median)
    if names:
        is_uniform = max(measured) - min(measured) < _SAG * min(measured)
        yield SupplyNotMeasured(
            names=tuple(names),
            total=len(recordings),
            given=tuple(given),
            measured=tuple(measured),
            median=float(np.median(measured)) if is_uniform else None,
            is_set=is_set,
        )


def _report_left_out(recordings: Sequence[Recording]) -> None:
    """Report what was left out of how many recordings, and of which."""
    touched = [recording for recording in recordings if recording.left_out]
    if not touched:
        return
    counts = Counter[str]()
    for recording in touched:
        for part in recording.left_out:
            counts[part.channel] += part.samples
    is_table = len(touched) > _NAMED
    finding = ReadingsLeftOut(
        names=tuple(recording.name for recording in touched),
        total=len(recordings),
        channels=tuple(counts.items()),
        details=() if is_table else tuple(recording.left_out for recording in touched),
    )
    log_findings(log, [finding])
    if not is_table:
        return
    width = max(len(recording.name) for recording in touched[:_LISTED])
    for recording in touched[:_LISTED]:
        phrases = " and ".join(part.phrase for part in recording.left_out)
        log.warning("  %s  %s", recording.name.ljust(width), phrases)
    if len(touched) > _LISTED:
        log.warning("  and %d more, see 'bam view'", len(touched) - _LISTED)


def _late_positions(recordings: Sequence[Recording]) -> Iterator[Finding]:
    """Return in which recordings positions were updated by another clock than they were read by."""
    known = {
        recording.name: recording.position_update_period
        for recording in recordings
        if recording.position_update_period is not None
    }
    if known:
        periods = tuple(known.values())
        yield LatePositions(
            names=tuple(known), total=len(recordings), periods=periods, median=float(np.median(periods))
        )


def _gaps(recordings: Sequence[Recording]) -> Iterator[Finding]:
    """Return where recordings have no samples for a while; longer ones `Recording` refuses."""
    gaps: dict[str, tuple[float, float]] = {}
    for recording in recordings:
        steps = np.diff(recording.time)
        longest = int(np.argmax(steps))
        if steps[longest] > max(_GAP * recording.dt, _LONG):
            gaps[recording.name] = float(steps[longest]), float(recording.time[longest])
    if gaps:
        yield SampleGaps(names=tuple(gaps), total=len(recordings), gaps=tuple(gaps.values()))


def _lags(recordings: Sequence[Recording]) -> Iterator[Finding]:
    """Return where velocity is later than position by another time than in others of its servo, or ahead."""
    known = {recording.name: lag for recording in recordings if (lag := velocity_lag(recording)) is not None}
    if stale := tuple(name for name, lag in known.items() if lag.is_stale):
        yield StaleVelocity(names=stale, total=len(recordings))
    odd: dict[str, float] = {}
    usual: list[float] = []
    for servo in dict.fromkeys(recording.servo for recording in recordings):
        names = [recording.name for recording in recordings if recording.servo == servo]
        lags = {name: known[name].lag for name in names if name in known and math.isfinite(known[name].lag)}
        if not lags:
            continue
        middle = float(np.median(list(lags.values())))
        unlike = {name: lag for name, lag in lags.items() if abs(lag - middle) > _OTHER_LAG or lag < -_AHEAD}
        odd |= unlike
        if 0 < len(unlike) < 0.5 * len(lags):
            usual.append(middle)
    if odd:
        yield OtherLag(names=tuple(odd), total=len(recordings), lags=tuple(odd.values()), usual=tuple(usual))
