# SPDX-License-Identifier: Apache-2.0
"""How recording ends before its time."""

from __future__ import annotations

from bam_core.errors import BamError


class BenchError(BamError):
    """The bench cannot be used for recording, or failed during a run."""


class RecordingStopped(Exception):  # noqa: N818
    """Somebody asked for the end: a cancelled goal, a signal, Ctrl-C."""
