# SPDX-License-Identifier: Apache-2.0
"""Counts what a search has tried, and ends it once that is enough."""

from __future__ import annotations

import os
import resource
import shutil
import sys
import time

from test.fuzz.limits import Watch
from test.fuzz.target import HANG, Target, folder

_MARK = "fuzzed"
_INPUTS_PER_CHECK = 64  # inputs between looks at the clock


class Count:
    """Counts the inputs of a search, and the packets in them.

    Args:
        target: whose inputs they are.
        replayed: how many inputs come first that were tried before; they do not count.
        wanted: packets after which the process ends.
        seconds: after which it ends at the latest; 0: any time.
        longest: time that an input may take, s.
    """

    def __init__(
        self, target: Target, *, replayed: int, wanted: int, seconds: float, longest: float = HANG
    ) -> None:
        self._check, self._watch = target.check, Watch(longest)
        self._replayed, self._wanted = replayed, wanted
        self._end = time.monotonic() + seconds if seconds else None
        self.inputs = self.packets = 0

    def check(self, data: bytes) -> None:
        """Try an input; does not return where there are enough.

        Raises:
            Exception: it breaks a property; HangError where it takes longer than inputs may.
        """
        with self._watch:
            packets = self._check(data)
        if self._replayed:
            self._replayed -= 1
            return
        self.inputs += 1
        self.packets += 1 if packets is None else packets
        late = self._end is not None and self.inputs % _INPUTS_PER_CHECK == 0 and time.monotonic() > self._end
        if late or self.packets >= self._wanted:
            self._finish()

    def close(self) -> None:
        """Let signals do what they did before the search, where the process goes on."""
        self._watch.close()

    def _finish(self) -> None:
        """End the process as the engine would, which cannot be asked to."""
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        print(_MARK, self.inputs, self.packets, memory)
        sys.stdout.flush()
        shutil.rmtree(folder(), ignore_errors=True)
        os._exit(0)


def told(log: str) -> tuple[int, int, int] | None:
    """Return inputs, packets, largest memory in MB, as printed; None where the process ended otherwise."""
    lines = [line.split()[1:] for line in log.splitlines() if line.startswith(f"{_MARK} ")]
    if not lines:
        return None
    inputs, packets, memory = map(int, lines[-1])
    return inputs, packets, memory
