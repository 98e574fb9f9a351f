# SPDX-License-Identifier: Apache-2.0
"""The test set of ``bam identify``: one rule, or files."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.cli.map_words import map_words
from bam_core.errors import Conflict, WrongType

if TYPE_CHECKING:
    from bam_core.recordings.load import Loaded
    from bam_core.recordings.recording import Recording

log = logging.getLogger(__name__)


def test_set(
    words: Sequence[str], loaded: Loaded, arguments: argparse.Namespace
) -> tuple[Loaded, str | list[Recording]]:
    """Take one rule, or files; return LOGS and the rule or the files' logs, with unequal names."""
    from bam_core.identification.data.split import NO_TEST, is_rule
    from bam_core.recordings import load_usable
    from bam_core.recordings.discovery import unique_names
    from bam_core.recordings.run_identity import RunIdentities

    rules = [word for word in words if (is_rule(word) or word == NO_TEST) and not Path(word).exists()]
    if len(words) == 1 and rules:
        return loaded, rules[0]
    if rules:
        raise Conflict(
            f"--test {' '.join(words)}",
            "is not one rule",
            expected="one rule, or files",
            advice="give LOGS before the options",
        )
    for word in words:
        if word.isidentifier() and not Path(word).exists():
            raise WrongType("--test", word, "a rule such as kp=800, or paths of logs")
    test = load_usable(words, set_fields=arguments.set, strict=arguments.strict, map=map_words(arguments))
    recordings, held_out = loaded.recordings, test.recordings
    digests, runs = {recording.sha256 for recording in held_out}, RunIdentities(held_out)
    both = tuple(
        str(recording.source)
        for recording in recordings
        if recording.sha256 in digests or runs.same_run(recording) is not None
    )
    if both:
        from bam_core.text.finding import log_findings
        from bam_core.text.split_findings import InBothSets

        log_findings(log, [InBothSets(logs=both)])
    # Names are distinct on either side; results go by name, so they must be so over both.
    all_logs = {recording.sha256: recording for recording in (*recordings, *held_out)}
    names = unique_names([recording.source for recording in all_logs.values()])
    named = {
        digest: replace(recording, name=name)
        for (digest, recording), name in zip(all_logs.items(), names, strict=True)
    }
    renamed = [named[recording.sha256] for recording in recordings]
    excluded = (*loaded.excluded, *test.excluded)
    return replace(loaded, recordings=renamed, excluded=excluded), [
        named[recording.sha256] for recording in held_out
    ]
