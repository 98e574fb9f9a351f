# SPDX-License-Identifier: Apache-2.0
"""Nodes as child processes, each with a log file, all of them ended however the parent ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from bam_core.errors import Unavailable

_STOP_TIMEOUT = 5.0  # s for a node to end by itself after each signal
_STARTUP = 60.0  # s; the first start on a machine compiles
_POLL = 0.05  # s


class NodeProcesses:
    """Starts nodes and ends them again; use it through `node_processes`."""

    def __init__(self, log_directory: Path) -> None:
        self._log_directory = log_directory
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, module: str, parameters: Mapping[str, object]) -> None:
        """Start `main` of a module of nodes with ROS parameters; its output goes to `<name>.log`."""
        arguments = ["--ros-args"]
        for key, value in parameters.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            arguments += ["-p", f"{key}:={text}"]
        self.start_command(name, module, arguments)

    def start_command(self, name: str, module: str, arguments: Sequence[str]) -> None:
        """Start `main` of a module with arguments; its output goes to `<name>.log`."""
        code = f"import sys; from {module} import main; sys.exit(main())"
        command = [sys.executable, "-c", code, *arguments]
        with self._log(name).open("wb") as log:
            self._children[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def processor_time(self, name: str) -> float:
        """Return how long a node has kept processors busy so far, s."""
        fields = Path(f"/proc/{self._children[name].pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, name: str) -> float:
        """Return the memory of a node, MB, of what it shares with other processes its share."""
        rollup = Path(f"/proc/{self._children[name].pid}/smaps_rollup").read_text()
        (size,) = (line.split()[1] for line in rollup.splitlines() if line.startswith("Pss:"))
        return int(size) * 1024 * 1e-6

    def wait_for_end(self, name: str, timeout: float) -> None:
        """Wait until a node ends by itself, for at most `timeout` s.

        Raises:
            Unavailable: it does not, or ends with another status than 0.
        """
        child = self._children[name]
        try:
            child.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Unavailable(
                f"node {name}",
                f"still runs after {timeout:g} s",
                advice=f"its log is {self._log(name)}",
            ) from None
        if child.returncode:
            self.check()

    def wait_for(self, path: Path) -> None:
        """Wait until a node has made this file; raises Unavailable if a node ends or it does not come."""
        self.wait_until(path.exists, str(path))

    def wait_until(self, there: Callable[[], bool], what: str) -> None:
        """Wait until a node has made something; raises Unavailable if a node ends or it does not come.

        Args:
            there: whether it is there.
            what: it is, in words.
        """
        deadline = time.monotonic() + _STARTUP
        while not there():
            self.check()
            if time.monotonic() > deadline:
                raise Unavailable(
                    what,
                    f"not there after {_STARTUP:g} s",
                    advice=f"see the logs in {self._log_directory}",
                )
            time.sleep(_POLL)

    def check(self) -> None:
        """Raise Unavailable with its last words if a node has ended."""
        for name, child in self._children.items():
            if child.poll() is not None:
                log = self._log(name)
                words = [*log.read_text(errors="replace").strip().splitlines(), "it printed nothing"]
                raise Unavailable(
                    f"node {name}",
                    f"ended with status {child.returncode} ({words[max(0, len(words) - 2)]})",
                    advice=f"its log is {log}",
                )

    def stop(self) -> None:
        """End every node, the last one started first: politely, then firmly."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            for child in reversed(self._children.values()):
                if child.poll() is None:
                    child.send_signal(number)
            for child in reversed(self._children.values()):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(_STOP_TIMEOUT)
        self._children.clear()

    def _log(self, name: str) -> Path:
        return self._log_directory / f"{name}.log"


@contextlib.contextmanager
def node_processes(log_directory: Path) -> Iterator[NodeProcesses]:
    """Give a `NodeProcesses` whose nodes are ended on leaving the block."""
    log_directory.mkdir(parents=True, exist_ok=True)
    nodes = NodeProcesses(log_directory)
    try:
        yield nodes
    finally:
        nodes.stop()
