# SPDX-License-Identifier: Apache-2.0
"""``bam identify --by``: every unit, or every session, is identified on its own."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.cli.identify_once import identify_once
from bam_core.errors import BadData, BamError, Missing

if TYPE_CHECKING:
    from bam_core.identification.settings import IdentifySettings
    from bam_core.recordings.load import Loaded
    from bam_core.servo.model import ServoModel

log = logging.getLogger(__name__)


def identify_each(
    loaded: Loaded, servo: ServoModel, settings: IdentifySettings, arguments: argparse.Namespace
) -> int:
    """Identify every unit or session on its own; what one lacks does not stop the others."""
    from bam_core.recordings.labels import by_label

    groups = by_label(loaded, arguments.by, arguments.logs)
    own = _own_settings(groups, settings, arguments)
    failed = []
    for name, group in groups.items():
        print(f"{arguments.by} {name}: {len(group.recordings)} recordings", flush=True)
        try:
            identify_once(group, servo, own[name], arguments, str(Path(arguments.output) / name))
        except BamError as error:
            log.warning("%s %s: %s", arguments.by, name, error)
            failed.append(name)
        except KeyboardInterrupt as stop:
            later = list(groups)[list(groups).index(name) + 1 :]
            raise _with_later(stop, [f"{arguments.by} {label}" for label in later]) from None
    if len(failed) == len(groups):
        raise BadData(
            f"--by {arguments.by}", "none could be identified", advice="see the warnings above, one for each"
        )
    if len(groups) - len(failed) > 1:
        print(f"compare them with: bam fleet {arguments.output}")
    return 0


def _own_settings(
    groups: Mapping[str, Loaded], settings: IdentifySettings, arguments: argparse.Namespace
) -> dict[str, IdentifySettings]:
    """Return the settings of every unit or session: each has its own of the files that --test names."""
    from bam_core.recordings.labels import by_label
    from bam_core.recordings.load import Loaded

    held_out = settings.test_recordings
    if not held_out:
        return dict.fromkeys(groups, settings)
    roots = [*arguments.logs, *arguments.test]
    tests = by_label(Loaded(recordings=list(held_out), excluded=()), arguments.by, roots)
    for name in groups.keys() ^ tests.keys():
        lacking = "test" if name in groups else "training"
        raise Missing(
            f"{arguments.by} {name}, recordings",
            f"one or more for {lacking}",
            advice=f"with --by {arguments.by}, give files of each to LOGS and to --test",
        )
    return {name: replace(settings, test=tests[name].recordings) for name in groups}


def _with_later(stop: KeyboardInterrupt, later: Sequence[str]) -> KeyboardInterrupt:
    """Return a stop that also names what was not begun."""
    from bam_core.text.output_findings import Unfinished

    finding = stop.args[0] if stop.args else None
    if not isinstance(finding, Unfinished):
        return stop
    return type(stop)(replace(finding, not_done=(*finding.not_done, *later)))
