# SPDX-License-Identifier: Apache-2.0
"""Says once for all recordings that were loaded what was found in them."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from bam_core.recordings.header_corrections import Rule
from bam_core.recordings.recording import Recording
from bam_core.recordings.supply import range_words
from bam_core.recordings.velocity_lag import velocity_lag

log = logging.getLogger(__name__)

_NAMED = 3  # recordings that a line names
_LISTED = 20  # and a table
_GAP = 5.0  # usual periods without a sample, of which is told,
_LONG = 0.03  # s, and so long at least; those of 588 real recordings are two periods at most
_OTHER_LAG = 0.035  # s; of one servo's real recordings, lags are within 25 ms of each other
_AHEAD = 0.014  # s; no servo knows its velocity before its position, but lags are known to 10 ms
_SAG = 0.1  # share by which a supply may sag while a motor draws its current


def tell_findings(recordings: Sequence[Recording], unmet: Sequence[Rule]) -> None:
    """Log what was set from outside, left out or corrected, and what contradicts the header; a line each.

    Args:
        recordings: that were loaded.
        unmet: rules of a bench.yaml whose condition none of them meets.
    """
    _tell_corrections(recordings)
    _tell_unmet(unmet)
    _tell_supply(recordings)
    _tell_left_out(recordings)
    _tell_updates(recordings)
    _tell_gaps(recordings)
    _tell_lags(recordings)


def _tell_corrections(recordings: Sequence[Recording]) -> None:
    """Say once for every place that sets fields, which and in how many recordings."""
    fields: dict[str, dict[str, int]] = {}
    for recording in recordings:
        for part in recording.corrections:
            of = fields.setdefault(part.source, {})
            of[part.field] = of.get(part.field, 0) + 1
    for source, counts in fields.items():
        text = ", ".join(f"{field} in {count}" for field, count in counts.items())
        log.info("%s: sets %s (of %d recordings)", source, text, len(recordings))


def _tell_unmet(rules: Sequence[Rule]) -> None:
    """Say which conditions in a bench.yaml no recording meets."""
    for rule in rules:
        wanted = ", ".join(
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in rule.where.items()
        )
        log.warning(
            "%s: no recording has %s, so that rule sets nothing; correct its 'where', which must be what the "
            "files say in all digits",
            rule.source,
            wanted,
        )


def _tell_supply(recordings: Sequence[Recording]) -> None:
    """Say once in how many recordings the servo read another supply than the header has."""
    given, read, is_set = [], [], False
    for recording in recordings:
        known = recording.voltage[np.isfinite(recording.voltage)]
        measured = float(np.median(known)) if len(known) else math.nan
        if abs(measured - recording.supply_voltage) > _SAG * recording.supply_voltage:
            is_set = is_set or any(part.field == "vin" for part in recording.corrections)
            given.append(recording.supply_voltage)
            read.append(measured)
    if read:
        alike = max(read) - min(read) < _SAG * min(read)
        log.warning(
            "vin: %s V %s of %d of %d recordings, but their servo read %s V; simulations take what it read; "
            "correct it with %s",
            range_words(given),
            "was set for the header" if is_set else "in the header",
            len(read),
            len(recordings),
            range_words(read),
            f"--set vin={np.median(read):.3g}, or a bench.yaml" if alike else "a bench.yaml",
        )


def _tell_left_out(recordings: Sequence[Recording]) -> None:
    """Say what was left out of how many recordings, and of which."""
    touched = [recording for recording in recordings if recording.left_out]
    if not touched:
        return
    counts = Counter[str]()
    for recording in touched:
        for part in recording.left_out:
            counts[part.channel] += part.samples
    total = ", ".join(f"{count} of {channel}" for channel, count in counts.items())
    said = [(recording.name, " and ".join(map(str, recording.left_out))) for recording in touched]
    is_table = len(said) > _NAMED
    log.warning(
        "readings that cannot be right are left out of %d of %d recordings (%s)%s",
        len(touched),
        len(recordings),
        total,
        ":" if is_table else ": " + ", ".join(map(": ".join, said)),
    )
    if not is_table:
        return
    width = max(len(name) for name, _ in said[:_LISTED])
    for name, what in said[:_LISTED]:
        log.warning("  %s  %s", name.ljust(width), what)
    if len(said) > _LISTED:
        log.warning("  and %d more, see 'bam view'", len(said) - _LISTED)


def _tell_updates(recordings: Sequence[Recording]) -> None:
    """Say in how many recordings positions were updated by another clock than they were read by."""
    periods = [recording.position_update_period for recording in recordings]
    known = [1e3 * period for period in periods if period is not None]
    if not known:
        return
    low, high = min(known), max(known)
    every = f"{np.median(known):.1f}" if high < 1.05 * low else f"{low:.1f} to {high:.1f}"
    log.warning(
        "position: updated every %s ms only in %d of %d recordings, so that readings are up to so much older "
        "than their times; taken as of when they were updated",
        every,
        len(known),
        len(recordings),
    )


def _tell_gaps(recordings: Sequence[Recording]) -> None:
    """Say where recordings have no samples for a while; longer ones `Recording` refuses."""
    longest = [(int(np.argmax(np.diff(recording.time))), recording) for recording in recordings]
    gaps = [
        f"{recording.name}: {recording.time[at + 1] - recording.time[at]:.2g} s at {recording.time[at]:.2f} s"
        for at, recording in longest
        if recording.time[at + 1] - recording.time[at] > max(_GAP * recording.dt, _LONG)
    ]
    if not gaps:
        return
    log.warning(
        "no samples for a while in %d of %d recordings (%s): goals of that time are not known, so that "
        "errors there are not the model's; record these runs again, or leave them out",
        len(gaps),
        len(recordings),
        _some(gaps),
    )


def _tell_lags(recordings: Sequence[Recording]) -> None:
    """Say where velocity is later than position by another time than in others of its servo, or ahead."""
    reports = {
        recording.name: lag for recording in recordings if (lag := velocity_lag(recording)) is not None
    }
    stale = [name for name, report in reports.items() if report.is_stale]
    if stale:
        log.warning(
            "velocity: hardly changes while the arm moves in %d of %d recordings (%s); record it again where "
            "it counts",
            len(stale),
            len(recordings),
            _some(stale),
        )
    odd: list[str] = []
    usual: list[float] = []
    for servo in dict.fromkeys(recording.servo for recording in recordings):
        of_servo = [
            recording.name
            for recording in recordings
            if recording.servo == servo and recording.name in reports
        ]
        lags = {name: reports[name].lag for name in of_servo if math.isfinite(reports[name].lag)}
        if not lags:
            continue
        middle = float(np.median(list(lags.values())))
        strange = [name for name, lag in lags.items() if abs(lag - middle) > _OTHER_LAG or lag < -_AHEAD]
        odd += [f"{name}: {1e3 * lags[name]:.0f} ms" for name in strange]
        if 0 < len(strange) < 0.5 * len(lags):
            usual.append(middle)
    if odd:
        log.warning(
            "velocity is later than position by another time than servos take in %d of %d recordings (%s%s): "
            "one of their channels lags; leave them out, or shift it",
            len(odd),
            len(recordings),
            _some(odd),
            f"; {range_words([1e3 * value for value in usual])} ms in most others" if usual else "",
        )


def _some(names: Sequence[str]) -> str:
    """Name some of them."""
    more = f"; and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
