# SPDX-License-Identifier: Apache-2.0
"""Paths in, validated recordings out."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bam_core.errors import Malformed
from bam_core.recordings.bag import read_bag
from bam_core.recordings.discovery import find_sources
from bam_core.recordings.header_corrections import rules_above, rules_from
from bam_core.recordings.json_log import NotALogError, read_json_log
from bam_core.recordings.recording import Recording

log = logging.getLogger(__name__)

_NAMED = 3  # recordings that a line names


def load_recordings(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    set_fields: Mapping[str, float | str] | Sequence[str] = (),
) -> list[Recording]:
    """Load every recording under some paths.

    Args:
        paths: JSON logs, ``.mcap`` files, bag directories, or directories that are searched recursively.
            There, JSON files that are no logs and interrupted bags are skipped with a warning; named
            themselves they are read, and an error is raised if they are unusable.
        set_fields: header fields to set in all of them, ``{"vin": 12.0}`` or ``["vin=12"]``; they override
            a ``bench.yaml``, see `header_corrections`.

    Readings that no bench can have produced are left out; see `bad_readings`.

    Returns:
        Recordings with distinct names, in the order given. Duplicate data is loaded once, with a warning:
        twice it would count double, or be in training and test.

    Raises:
        BamError: a path does not exist, or a recording cannot be used; the line begins with the path.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    overriding = rules_from(set_fields)
    recordings: dict[str, Recording] = {}
    for source in find_sources(paths):
        try:
            rules = (*rules_above(source.path), *overriding)
            recording = (read_json_log if source.is_json else read_bag)(source.path, source.name, rules)
        except NotALogError as error:
            if source.named:
                raise
            log.warning("%s (passed over)", error)
            continue
        first = recordings.setdefault(recording.sha256, recording)
        if first is not recording:
            log.warning("%s: holds the same data as %s, counted once", source.path, first.source)
    if not recordings:
        raise Malformed(
            ", ".join(map(str, paths)), "only JSON files that are no logs", advice="check the path"
        )
    _tell_corrections(list(recordings.values()))
    _tell_left_out(list(recordings.values()))
    return list(recordings.values())


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
