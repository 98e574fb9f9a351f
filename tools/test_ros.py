# SPDX-License-Identifier: Apache-2.0
"""The tests of nodes, in processes side by side, for they mostly wait; arguments go to pytest.

Not with a higher priority than other work: kernel workers that carry pseudo-terminals would have to wait.

Not through pytest-xdist: where a worker dies it may wait for that worker's tests for ever. Here a process
that dies fails the run, and a test that hangs ends its process (test/conftest.py).
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = "test/ros"
STUDIES = ("test/studies/faults", "test/studies/soak")  # those that start nodes or drives
# Parts that take about as long as each other. Together they are all of them: the last one takes the rest.
PARTS = {
    "erob": ["erob"],
    "dynamixel": ["dynamixel", "emulators/dynamixel", "feetech", "emulators/feetech"],
    "feedforward": ["feedforward", "simulator", "identification", "node"],
    "recorder": ["recorder", "cli"],
    "driver": ["driver"],
}
NOTHING_CHOSEN = 5  # status of pytest where its arguments choose no test of a part
_LOCK = threading.Lock()


def files() -> dict[str, list[str]]:
    """Return the test files of every part."""
    rest = {path for folder in (TESTS, *STUDIES) for path in (ROOT / folder).rglob("test_*.py")}
    parts = {}
    for name, rooms in PARTS.items():
        parts[name] = sorted(path for room in rooms for path in (ROOT / TESTS / room).rglob("test_*.py"))
        rest -= set(parts[name])
    parts["others"] = sorted(rest)
    return {name: [str(path.relative_to(ROOT)) for path in paths] for name, paths in parts.items()}


class Part:
    """One process of pytest: shows each file as it is done, and what else was printed at the end."""

    def __init__(self, name: str, paths: list[str], arguments: list[str]) -> None:
        command = [sys.executable, "-m", "pytest", "-o", f"cache_dir=.pytest_cache/{name}"]
        self.name = name
        self._process = subprocess.Popen(
            [*command, *arguments, *paths],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self._thread = threading.Thread(target=self._show)
        self._thread.start()

    def wait(self) -> bool:
        """Return whether all of it passed."""
        self._thread.join()
        return self._process.wait() in (0, NOTHING_CHOSEN)

    def _show(self) -> None:
        began = time.monotonic()
        assert self._process.stdout is not None
        rest = []
        for line in self._process.stdout:
            if line.startswith("test/") and "%]" in line:
                with _LOCK:
                    print(line, end="", flush=True)
            else:
                rest.append(line)
        status = self._process.wait()
        with _LOCK:
            print(f"---- {TESTS}, part {self.name}: {time.monotonic() - began:.0f} s")
            print("".join(rest), end="")
            if status < 0:
                print(f"{TESTS}, part {self.name}: ended by signal {-status} (expected to end by itself)")
            sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Run all parts and return the exit status: 0 where all of them passed."""
    parts = [Part(name, paths, arguments) for name, paths in files().items()]
    passed = [part.wait() for part in parts]  # of all of them, not only up to the first that failed
    return 0 if all(passed) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
