# SPDX-License-Identifier: Apache-2.0
"""How recording ends before its time."""

from __future__ import annotations


class RecordingStopped(Exception):  # noqa: N818
    """Somebody asked for the end: a cancelled goal, a signal, Ctrl-C."""
