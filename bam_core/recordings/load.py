# SPDX-License-Identifier: Apache-2.0
"""Paths in, validated recordings out."""

from __future__ import annotations

import logging
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bam_core.errors import BadData, BamError, Malformed
from bam_core.recordings.bag import read_bag
from bam_core.recordings.discovery import Source, find_sources
from bam_core.recordings.header_corrections import Rule, rules_above, rules_from
from bam_core.recordings.json_log import NotALogError, read_json_log
from bam_core.recordings.open_loop_text import read_open_loop_text
from bam_core.recordings.recording import Recording
from bam_core.recordings.supply import range_words

log = logging.getLogger(__name__)

_NAMED = 3  # recordings that a line names
_LISTED = 20  # unusable recordings that are told, one in a line
_SAG = 0.1  # share by which a supply may sag while a motor draws its current


def load_recordings(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    set_fields: Mapping[str, float | str] | Sequence[str] = (),
) -> list[Recording]:
    """Load every recording under some paths.

    Args:
        paths: JSON logs, text files of runs in open loop, ``.mcap`` files, bag directories, or directories
            that are searched recursively. There, JSON files that are no logs and interrupted bags are skipped
            with a warning; named themselves they are read, and an error is raised if they are unusable.
        set_fields: header fields to set in all of them, ``{"vin": 12.0}`` or ``["vin=12"]``; they override
            a ``bench.yaml``, see `header_corrections`.

    Readings that no bench can have produced are left out; see `bad_readings`. Positions that were updated by
    a clock of their own are given as of the times of their samples; see `position_updates`.

    Returns:
        Recordings with distinct names, in the order given. Duplicate data is loaded once, with a warning:
        twice it would count double, or be in training and test.

    Raises:
        BamError: a path does not exist, or a recording cannot be used; the line begins with the path. Of
            several that cannot be used each is logged first.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    overriding = rules_from(set_fields)
    recordings: dict[str, Recording] = {}
    unusable: list[BamError] = []
    rules_met = _RulesMet()
    sources = find_sources(paths)
    for source in sources:
        try:
            rules = (*rules_above(source.path), *overriding)
            found = _read(source, rules)
        except NotALogError as error:
            if source.named:
                unusable.append(error)
            else:
                log.warning("%s (passed over)", error)
            continue
        except BamError as error:
            unusable.append(error)
            continue
        for recording in found:
            rules_met.note(rules, recording)
            first = recordings.setdefault(recording.sha256, recording)
            if first is not recording:
                log.warning("%s: holds the same data as %s, counted once", recording.source, first.source)
    if unusable:
        raise _refusal(unusable, len(sources))
    if not recordings:
        raise Malformed(
            ", ".join(map(str, paths)), "only JSON files that are no logs", advice="check the path"
        )
    loaded = list(recordings.values())
    _tell_corrections(loaded)
    _tell_unmet(rules_met.unmet)
    _tell_supply(loaded)
    _tell_left_out(loaded)
    _tell_updates(loaded)
    return loaded


def _refusal(unusable: Sequence[BamError], count: int) -> BamError:
    """Log why each of several recordings cannot be used, and return one error about all of them."""
    if len(unusable) == 1:
        return unusable[0]
    for error in unusable[:_LISTED]:
        log.error("%s", error)
    if len(unusable) > _LISTED:
        log.error("and %d more", len(unusable) - _LISTED)
    return BadData(
        "recordings",
        f"{len(unusable)} of {count} cannot be used (told above)",
        advice="do what is said there, or leave them out",
    )


def _read(source: Source, rules: Sequence[Rule]) -> list[Recording]:
    if source.is_text:
        return read_open_loop_text(source.path, source.name, rules)
    return [(read_json_log if source.is_json else read_bag)(source.path, source.name, rules)]


def _tell_corrections(recordings: Sequence[Recording]) -> None:
    """Say once for every place that sets fields, which and in how many recordings."""
    fields: dict[str, dict[str, int]] = {}
    for each in recordings:
        for part in each.corrections:
            of = fields.setdefault(part.source, {})
            of[part.field] = of.get(part.field, 0) + 1
    for source, counts in fields.items():
        text = ", ".join(f"{field} in {count}" for field, count in counts.items())
        log.info("%s: sets %s (of %d recordings)", source, text, len(recordings))


@dataclass
class _RulesMet:
    """Rules with a condition, and those of them that some recording meets."""

    seen: list[Rule] = field(default_factory=list)
    met: list[Rule] = field(default_factory=list)

    @property
    def unmet(self) -> list[Rule]:
        return [rule for rule in self.seen if rule not in self.met]

    def note(self, rules: Sequence[Rule], recording: Recording) -> None:
        """Look at what a recording's header was before rules, and what each of them made of it."""
        bench = recording.bench
        header: dict[str, Any] = {
            "mass": bench.mass,
            "arm_mass": bench.arm_mass,
            "length": bench.length,
            "kp": recording.kp,
            "vin": recording.supply_voltage,
            "motor": recording.servo,
            "trajectory": recording.script,
        }
        header |= {each.field: each.before for each in recording.corrections}
        for rule in rules:
            if not rule.where.keys() <= header.keys():  # a bag's joint: a recording does not keep it
                continue
            if rule not in self.seen:
                self.seen.append(rule)
            if rule.concerns(header):
                header |= rule.set
                if rule not in self.met:
                    self.met.append(rule)


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
    given, read = [], []
    for each in recordings:
        known = each.voltage[np.isfinite(each.voltage)]
        measured = float(np.median(known)) if len(known) else math.nan
        if abs(measured - each.supply_voltage) > _SAG * each.supply_voltage:
            given.append(each.supply_voltage)
            read.append(measured)
    if read:
        alike = max(read) - min(read) < _SAG * min(read)
        log.warning(
            "vin: %s V in the header of %d of %d recordings, but their servo read %s V; simulations take "
            "what it read; correct the header with %s",
            range_words(given),
            len(read),
            len(recordings),
            range_words(read),
            f"--set vin={np.median(read):.3g}, or a bench.yaml" if alike else "a bench.yaml",
        )


def _tell_left_out(recordings: Sequence[Recording]) -> None:
    """Say in one line what was left out of how many recordings."""
    touched = [each for each in recordings if each.left_out]
    if not touched:
        return
    counts = Counter[str]()
    for each in touched:
        for part in each.left_out:
            counts[part.channel] += part.samples
    total = ", ".join(f"{count} of {channel}" for channel, count in counts.items())
    names = ", ".join(f"{each.name}: {' and '.join(map(str, each.left_out))}" for each in touched[:_NAMED])
    more = f"; and {len(touched) - _NAMED} more" if len(touched) > _NAMED else ""
    log.warning(
        "readings that cannot be right are left out of %d of %d recordings (%s): %s%s",
        len(touched),
        len(recordings),
        total,
        names,
        more,
    )


def _tell_updates(recordings: Sequence[Recording]) -> None:
    """Say in how many recordings positions were updated by another clock than they were read by."""
    periods = [each.position_update_period for each in recordings]
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
