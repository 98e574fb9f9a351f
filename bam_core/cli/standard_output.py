# SPDX-License-Identifier: Apache-2.0
"""Standard output whose loss is an error as others are: a full disk behind it, or none at all."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from bam_core.errors import NotWritable

_NAME = "standard output"
_ADVICE = "make room there, or send it elsewhere"


class StandardOutput:
    """Passes on what is printed.

    Args:
        stream: `sys.stdout`; None: the process was started with it closed.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write.

        Raises:
            NotWritable: that failed.
            BrokenPipeError: nobody reads any more.
        """
        if self._stream is None:
            raise NotWritable(_NAME, "is closed", advice=_ADVICE)
        try:
            return int(self._stream.write(text))
        except OSError as error:
            raise self._lost(error) from None

    def flush(self) -> None:
        """Hand over what has been written; raises as `write` does."""
        if self._stream is not None:
            try:
                self._stream.flush()
            except OSError as error:
                raise self._lost(error) from None

    def discard(self) -> None:
        """Drop what is not flushed yet: at exit the interpreter would try again and print a traceback."""
        with suppress(OSError, AttributeError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)

    def _lost(self, error: OSError) -> Exception:
        self.discard()
        if isinstance(error, BrokenPipeError):
            return error
        return NotWritable(_NAME, error, advice=_ADVICE)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
