# SPDX-License-Identifier: Apache-2.0
"""An emulator as a process of its own that executes lines: it breaks, repairs and shows what it emulates."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, TypeVar

from bam_core.errors import BamError, Unavailable

_START_TIMEOUT = 240.0  # s; a first start compiles the bench, on a busy machine for minutes
_ANSWER_TIME = 10.0

P = TypeVar("P", bound="ControlledProcess")


class ControlledProcess:
    """Starts `python -m MODULE --control ...`, and ends it by closing its input.

    A process of its own, because what talks to an emulator may keep Python's interpreter to itself.

    Args:
        module: with a `main` that prints `ready` and then executes lines, each answered by one line of JSON.
        arguments: of it.
    """

    def __init__(self, module: str, arguments: Sequence[str]) -> None:
        self._command = [sys.executable, "-m", module, "--control", *arguments]
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            BamError: it could not start; the message is its own.
        """
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        end = time.monotonic() + _START_TIMEOUT
        while True:
            line = self._line(end)
            if line.startswith("ready"):
                return
            if line == "":
                process = self._process
                process.kill()
                _, errors = process.communicate()
                text = errors.decode(errors="replace").strip() or "it was not ready in time"
                raise BamError(text.splitlines()[-1])

    @property
    def pid(self) -> int:
        """Number of the process, which was started."""
        assert self._process is not None
        return self._process.pid

    def request(self, line: str) -> Any:
        """Send one line and return its answer; raises BamError for a mistake in it."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        answer = self._line(time.monotonic() + _ANSWER_TIME)
        if not answer:
            raise Unavailable("emulator", "does not answer", advice="look whether it is still running")
        result = json.loads(answer)
        if isinstance(result, dict) and "error" in result:
            raise BamError(result["error"])
        return result

    def look(self) -> dict[str, Any]:
        """Return what the emulated servos really do."""
        result: dict[str, Any] = self.request("look")
        return result

    def faults(self, *words: str) -> None:
        """Break what the words name, and repair the rest; no words repair everything."""
        self.request(" ".join(("faults", *words)))

    def stop(self) -> None:
        """End it; idempotent."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.communicate(timeout=10.0)  # closes its input, which ends it
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()

    def __enter__(self: P) -> P:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _line(self, end: float) -> str:
        """Return the next line of its output without the newline; "" where it ended or took too long."""
        assert self._process is not None
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            left = end - time.monotonic()
            if left <= 0.0 or not select.select([descriptor], [], [], left)[0]:
                return ""
            data = os.read(descriptor, 4096)
            if not data:
                return ""
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode(errors="replace")
