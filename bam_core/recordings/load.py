# SPDX-License-Identifier: Apache-2.0
"""Paths in, validated recordings out."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable

from bam_core.errors import Malformed
from bam_core.recordings.bag import read_bag
from bam_core.recordings.discovery import find_sources
from bam_core.recordings.json_log import NotALogError, read_json_log
from bam_core.recordings.recording import Recording

log = logging.getLogger(__name__)


def load_recordings(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
) -> list[Recording]:
    """Load every recording under some paths.

    Args:
        paths: JSON logs, ``.mcap`` files, bag directories, or directories that are searched recursively.
            There, JSON files that are no logs and interrupted bags are passed over with a warning; both are
            read (and judged) where they are named.

    Returns:
        Recordings with distinct names, in the order given. Data that is there twice would weigh double, or be
        held out and trained on at once: it is taken once, with a warning that names the other place.

    Raises:
        BamError: a path leads nowhere, or a recording cannot be used; the line begins with the path.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    recordings: dict[str, Recording] = {}
    for source in find_sources(paths):
        try:
            recording = (read_json_log if source.is_json else read_bag)(source.path, source.name)
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
    return list(recordings.values())
