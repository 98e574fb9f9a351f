# SPDX-License-Identifier: Apache-2.0
"""Paths in, validated recordings out."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bam_core.errors import BadData, BamError, Malformed
from bam_core.recordings.bag import read_bag
from bam_core.recordings.discovery import Source, find_sources
from bam_core.recordings.findings import tell_findings
from bam_core.recordings.header_corrections import Rule, rules_above, rules_from
from bam_core.recordings.json_log import NotALogError, read_json_log
from bam_core.recordings.open_loop_text import read_open_loop_text
from bam_core.recordings.recording import Recording
from bam_core.text.finding import log_findings
from bam_core.text.recording_findings import Repeated

log = logging.getLogger(__name__)

_LISTED = 20  # unusable recordings that are told, one in a line


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
            read = _read(source, rules)
        except NotALogError as error:
            if source.named:
                unusable.append(error)
            else:
                log.warning("%s (passed over)", error)
            continue
        except BamError as error:
            unusable.append(error)
            continue
        for recording in read:
            rules_met.note(rules, recording)
            first = recordings.setdefault(recording.sha256, recording)
            if first is not recording:
                same = Repeated(kind="same_data", source=recording.source, duplicate_of=first.source)
                log_findings(log, [same])
    if unusable:
        raise _refusal(unusable, len(sources))
    if not recordings:
        raise Malformed(
            ", ".join(map(str, paths)), "only JSON files that are no logs", advice="check the path"
        )
    loaded = list(recordings.values())
    tell_findings(loaded, rules_met.unmet)
    return loaded


def _refusal(unusable: Sequence[BamError], count: int) -> BamError:
    """Log why each of several recordings cannot be used, and return one error about all of them."""
    distinct = list({str(error): error for error in unusable}.values())  # one bench.yaml, many logs
    if len(distinct) == 1:
        return distinct[0]
    for error in distinct[:_LISTED]:
        log.error("%s", error)
    if len(distinct) > _LISTED:
        log.error("and %d more", len(distinct) - _LISTED)
    return BadData(
        "recordings",
        f"{len(unusable)} of {count} cannot be used (told above)",
        advice="do what is said there, or leave them out",
    )


def _read(source: Source, rules: Sequence[Rule]) -> list[Recording]:
    if source.is_text:
        return read_open_loop_text(source.path, source.name, rules)
    return [(read_json_log if source.is_json else read_bag)(source.path, source.name, rules)]


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
        header |= {correction.field: correction.before for correction in recording.corrections}
        for rule in rules:
            if not rule.where.keys() <= header.keys():  # a bag's joint: a recording does not keep it
                continue
            if rule not in self.seen:
                self.seen.append(rule)
            if rule.concerns(header):
                header |= rule.set
                if rule not in self.met:
                    self.met.append(rule)
