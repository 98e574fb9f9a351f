# SPDX-License-Identifier: Apache-2.0
"""Paths in, validated recordings out."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bam_core.errors import Malformed
from bam_core.recordings.bag import read_bag
from bam_core.recordings.discovery import Source, find_sources
from bam_core.recordings.excluded import Excluded, Exclusions
from bam_core.recordings.findings import report_findings
from bam_core.recordings.header_corrections import Rule, rules_above, rules_from
from bam_core.recordings.json_log import NotALogError, read_json_log
from bam_core.recordings.map_file import recording_map_for, require_map, rules_of_map
from bam_core.recordings.open_loop_text import read_open_loop_text
from bam_core.recordings.recording import Recording
from bam_core.recordings.recording_map import RecordingMap
from bam_core.recordings.run_identity import RunIdentities
from bam_core.recordings.telemetry_run import read_telemetry_run
from bam_core.text.finding import log_findings
from bam_core.text.recording_findings import Repeated

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What was loaded.

    Attributes:
        recordings: that can be used, one at least.
        excluded: those that cannot, and why.
    """

    recordings: list[Recording]
    excluded: tuple[Excluded, ...] = ()


def load_recordings(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    set_fields: Mapping[str, float | str] | Sequence[str] = (),
    strict: bool = False,
    map: Sequence[str] = (),
) -> list[Recording]:
    """Load every recording under some paths that can be used; see `load_usable`, which also lists the others.

    Returns:
        Recordings with distinct names, in the order given.

    Raises:
        BamError: as of `load_usable`.
    """
    return load_usable(paths, set_fields=set_fields, strict=strict, map=map).recordings


def load_usable(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    set_fields: Mapping[str, float | str] | Sequence[str] = (),
    strict: bool = False,
    map: Sequence[str] = (),
) -> Loaded:
    """Load every recording under some paths, and name those that cannot be used.

    Args:
        paths: JSON logs, text files of runs in open loop, files of bags, bag directories, folders of
            `telemetry_run`, or directories that are searched recursively. There, JSON files that are no logs
            and interrupted bags are skipped with a warning.
        set_fields: header fields to set in all of them, ``{"vin": 12.0}`` or ``["vin=12"]``; they override
            a ``bench.yaml``, see `header_corrections`.
        strict: the first recording that cannot be used ends the call. Else a warning names each, and it is
            left out.
        map: words of `--map`: a YAML file or a name from `map_names` instead of a bench.yaml's map, and
            joints as in "joint=-joint+0.12"; see `recording_map`.

    Readings that no bench can have produced are left out; see `bad_readings`. Positions that were updated by
    a clock of their own are given as of the times of their samples; see `position_updates`.

    Returns:
        Recordings with distinct names, in the order given. The same run is loaded once, with a warning, also
        where its files differ (`run_identity`): twice it would count double, or be in training and test.

    Raises:
        BamError: a path does not exist, or no recording can be used; strict: one cannot. The line begins
            with the path. Of several that cannot be used each is logged first.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    require_map(map)
    overriding = (*rules_of_map(map), *rules_from(set_fields))
    recordings: dict[str, Recording] = {}
    runs = RunIdentities()
    exclusions = Exclusions(strict=strict)
    rules_met = _RulesMet()
    for source in find_sources(paths):
        read: list[Recording] = []
        rules: Sequence[Rule] = ()
        with exclusions.attempt(source.name):
            try:
                rules = (*rules_above(source.path), *overriding)
                read = _read(source, rules, recording_map_for(source.path, map))
            except NotALogError as error:
                if source.named:
                    raise
                log.warning("%s (passed over)", error)
        for recording in read:
            rules_met.note(rules, recording)
            kind, first = "same_data", recordings.get(recording.sha256)
            if first is None:
                kind, first = "same_run", runs.same_run(recording)
            if first is None:
                recordings[recording.sha256] = recording
                runs.add(recording)
                continue
            log_findings(log, [Repeated(kind=kind, source=recording.source, duplicate_of=first.source)])
    exclusions.require_some(list(recordings))
    if not recordings:
        raise Malformed(
            ", ".join(str(path) for path in paths),
            "only JSON files that are no logs",
            advice="check the path",
        )
    loaded = list(recordings.values())
    report_findings(loaded, rules_met.unmet)
    return Loaded(recordings=loaded, excluded=tuple(exclusions.excluded))


def _read(source: Source, rules: Sequence[Rule], recording_map: RecordingMap) -> list[Recording]:
    if source.is_text:
        return read_open_loop_text(source.path, source.name, rules, recording_map)
    if source.is_telemetry:
        return [read_telemetry_run(source.path, source.name, rules, recording_map)]
    read = read_json_log if source.is_json else read_bag
    return [read(source.path, source.name, rules, recording_map)]


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
            "kd": recording.kd,
            "ki": recording.ki,
            "goal_acceleration": recording.goal_acceleration,
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
