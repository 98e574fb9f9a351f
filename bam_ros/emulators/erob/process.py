# SPDX-License-Identifier: Apache-2.0
"""The emulator as a process of its own, for programs that need drives to talk to."""

from __future__ import annotations

import itertools
import json
import os
import select
import subprocess
import sys
import time
from types import TracebackType
from typing import Any

from bam_core.errors import BamError, Unavailable

_PAIRS = itertools.count()
_PATIENCE = 60.0  # s; a first start compiles the bench
_ANSWER_TIME = 10.0


class VirtualSegmentProcess:
    """Starts drives at one end of a pair of interfaces that it makes; a master opens `interface`.

    A process of its own, because `pysoem` keeps Python's interpreter to itself while it waits for frames.

    Args:
        slaves: how many.
        options: further ones of `python -m bam_ros.emulators.erob`, such as "--mass", "8.2".
    """

    def __init__(self, slaves: int = 1, *options: str) -> None:
        number = f"{os.getpid()}{'abcdefghijklmnopqrstuvwxyz'[next(_PAIRS) % 26]}"
        self.interface = f"ec{number}m"
        self._slaves_end = f"ec{number}s"
        self._arguments = ["--slaves", str(slaves), *options]
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            BamError: it could not start; the message is its own.
        """
        pair = f"{self.interface}:{self._slaves_end}"
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "bam_ros.emulators.erob",
                "--create-veth",
                pair,
                "--control",
                *self._arguments,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        end = time.monotonic() + _PATIENCE
        while True:
            line = self._line(end)
            if line.startswith("ready"):
                return
            if line == "":
                process = self._process
                process.kill()
                _, errors = process.communicate()
                text = errors.decode(errors="replace").strip() or "it did not say that it is ready in time"
                raise BamError(text.splitlines()[-1])

    def tell(self, line: str) -> Any:
        """Send one line (see control.COMMANDS) and return its answer; raises BamError for a mistake in it."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        answer = self._line(time.monotonic() + _ANSWER_TIME)
        if not answer:
            raise Unavailable("virtual segment", "does not answer", advice="look whether it is still running")
        found = json.loads(answer)
        if isinstance(found, dict) and "error" in found:
            raise BamError(found["error"])
        return found

    def look(self) -> dict[str, Any]:
        """Return what the slaves really do, as `control.look` says."""
        found: dict[str, Any] = self.tell("look")
        return found

    def faults(self, *words: str) -> None:
        """Break what the words say, and repair the rest; no words repair everything."""
        self.tell(" ".join(("faults", *words)))

    def stop(self) -> None:
        """End it and take the interfaces away; idempotent."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.communicate(timeout=10.0)  # closes its input, which ends it
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()

    def __enter__(self) -> VirtualSegmentProcess:
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
