# SPDX-License-Identifier: Apache-2.0
"""How programs print warnings: each on one line, whatever names and values from files are in it."""

from __future__ import annotations

import logging

from bam_core.errors import printable_line


def print_warnings(form: str = "%(message)s") -> None:
    """Print what is logged as warning or worse on standard error, unless the process logs elsewhere already.

    Args:
        form: of a line, as `logging.Formatter` takes it.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine(form))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


class _OneLine(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's own name)
        """Return the line; a traceback, where there is one, follows it as it is."""
        return printable_line(super().formatMessage(record))
