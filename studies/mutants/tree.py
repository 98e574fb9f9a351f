# SPDX-License-Identifier: Apache-2.0
"""A copy of the working tree in which deliberate bugs are put, and the tests that are run there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bam_core.errors import Conflict
from studies.mutants.engine import LIBRARY, build_engine
from studies.mutants.python_mutations import Mutation

_LINKED = (".venv", "install")
"""What is built or installed, and not changed."""

LIBRARIES = (
    *("numpy", "scipy.linalg", "scipy.optimize", "scipy.special", "numba", "mujoco", "yaml", "pytest"),
    *("hypothesis", "hypothesis.extra.numpy", "rclpy", "tqdm"),
)
"""What takes long to load, where it is installed."""

_STALE = "built from other sources"  # in the line with which test/conftest.py ends a run


@dataclass(frozen=True, kw_only=True)
class TestRun:
    """What became of a run of tests.

    Attributes:
        passed: all of them did, or there were none.
        by: the first test that failed, or the limit that was reached.
        processor: seconds of a processor.
        files: seconds of each file.
    """

    passed: bool
    by: str
    processor: float
    files: dict[str, float]


class Tree:
    """A copy of a checkout."""

    def __init__(self, root: Path, place: Path, libraries: Sequence[str] = LIBRARIES) -> None:
        """Copy all that git does not ignore, and the compiled kernels.

        Args:
            root: of the checkout.
            place: of the copy; what is there is replaced.
            libraries: that are loaded once for all runs of tests.
        """
        self._libraries = libraries
        self.path = place
        shutil.rmtree(place, ignore_errors=True)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            check=True,
            capture_output=True,
        )
        names = [name for name in listed.stdout.decode().split("\0") if name and (root / name).is_file()]
        kernels = [
            str(path.relative_to(root))
            for package in ("bam_core", "bam_ros")
            for path in (root / package).rglob("*.nb[ic]")
        ]
        for name in (*names, *kernels):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, place / name)
        for name in _LINKED:
            if (root / name).exists():
                (place / name).symlink_to(root / name)
        self._server: subprocess.Popen[str] | None = None
        self._kernels: dict[Path, bytes] = {}

    def close(self) -> None:
        """End the process that runs the tests; the copy stays."""
        if self._server is not None:
            self._server.kill()  # and what it runs ends with it
            self._server.communicate()
            self._server = None

    def keep_kernels(self) -> None:
        """Take the kernels that are compiled by now for those of the sources without bugs."""
        self._kernels = {path: path.read_bytes() for path in self._kernel_files()}

    @contextmanager
    def with_bug(self, mutation: Mutation) -> Iterator[bool]:
        """Put a bug in for a while; give whether what must be built anew can be built."""
        path = self.path / mutation.path
        source, times = path.read_bytes(), path.stat()
        path.write_bytes(mutation.applied(source))
        try:
            yield path.suffix == ".py" or build_engine(self.path)
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # compiled kernels are of this time
            (self.path / LIBRARY).unlink(missing_ok=True)
            self._restore_kernels()

    def run(self, files: Sequence[str], *, processor: float, wall: float) -> TestRun:
        """Run the short tests of files until the first one fails.

        Args:
            files: of tests.
            processor: limit, seconds of a processor.
            wall: limit, seconds.
        """
        log = self.path / "build" / "tests.log"
        log.parent.mkdir(exist_ok=True)
        request = {"files": list(files), "processor": processor, "wall": wall, "log": str(log)}
        answer = self._ask(request)
        if _is_stale(answer, log) and build_engine(self.path):
            answer = self._ask(request)
        if _is_stale(answer, log):
            raise Conflict("build", "is of other sources", advice="run `make dev`")
        status = answer["status"]
        if status == 4 and not answer["failed"]:
            answer["failed"] = next(iter(log.read_text().strip().splitlines()[-1:]), "")
        return TestRun(
            passed=status in (0, 5),  # 5: none of them is short
            by=f"limit of {answer['limit']} time"
            if answer["limit"]
            else answer["failed"] or f"status {status}",
            processor=answer["processor"],
            files=answer["files"],
        )

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._server is None:
            environment = {
                **os.environ,
                "PYTHONPATH": str(self.path),
                "PYTHONDONTWRITEBYTECODE": "1",  # a bug must not outlive its test
                "OPENBLAS_NUM_THREADS": "1",
            }
            self._server = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("server.py")), *self._libraries],
                cwd=self.path,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        line = self._server.stdout.readline()
        if not line:
            raise RuntimeError(f"the process that runs tests has ended with status {self._server.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _kernel_files(self) -> Iterator[Path]:
        for package in ("bam_core", "bam_ros"):
            yield from (self.path / package).rglob("*.nb[ic]")

    def _restore_kernels(self) -> None:
        for path in set(self._kernel_files()) - set(self._kernels):
            path.unlink()
        for path, content in self._kernels.items():
            if not path.exists() or path.read_bytes() != content:
                path.write_bytes(content)


def _is_stale(answer: dict[str, Any], log: Path) -> bool:
    return answer["status"] == 4 and _STALE in log.read_text()
