# SPDX-License-Identifier: Apache-2.0
"""Runs tests in forks of a process that has loaded all libraries, which takes seconds, and nothing else.

Run as a script in the tree whose tests are run; its arguments are the libraries. Each line of its input is a
request, each line of its output the answer:

    {"files": [...], "processor": 60.0, "wall": 600.0, "log": "FILE"}
    {"status": 0, "limit": "", "failed": "", "processor": 3.2, "files": {"test/...": 1.5}}

`status` is pytest's, or minus the signal that ended it; `limit` names the one that was reached, `failed` the
first test that failed, `files` the seconds of each file.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

_POLL = 0.05  # s
_USAGE_POLL_PERIOD = 1.0  # s, between looks at what is spent
_IDLE = 120.0  # s without any work: all wait for each other; short tests do not sleep for so long
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class Recorder:
    """Plugin of pytest: seconds of each file, and the first failure."""

    def __init__(self) -> None:
        self.files: dict[str, float] = defaultdict(float)
        self.failed = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take note of a test."""
        self.files[report.nodeid.split("::")[0]] += report.duration
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        """Take note of a file that cannot be loaded."""
        if report.failed and not self.failed:
            self.failed = report.nodeid


def serve() -> None:
    """Answer requests until the input ends."""
    for name in sys.argv[1:]:
        with suppress(ImportError):
            importlib.import_module(name)
    loaded = [name for name in sys.modules if name.split(".")[0] in ("bam_core", "bam_ros")]
    assert not loaded, loaded
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Run the tests of a request in a fork, and end all that they started."""
    log = Path(request["log"])
    path = log.with_suffix(".json")
    path.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        _run(request, log, path)
    began = worked = looked = time.monotonic()
    limit, spent, before = "", 0.0, resource.getrusage(resource.RUSAGE_CHILDREN)
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        now = time.monotonic()
        if now - looked > _USAGE_POLL_PERIOD:
            looked, earlier, spent = now, spent, _processor_time(child)
            worked = now if spent > earlier else worked
        limit = (
            "processor" if spent > request["processor"] else "wall" if now - began > request["wall"] else ""
        )
        limit = "idle" if now - worked > _IDLE else limit
        if limit:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            break
        time.sleep(_POLL)
    _end_session(child)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = os.waitstatus_to_exitcode(status)
    told = json.loads(path.read_text()) if path.exists() else {"failed": "", "files": {}}
    spent = sum(getattr(after, field) - getattr(before, field) for field in ("ru_utime", "ru_stime"))
    return {"status": code, "limit": limit, "processor": spent, **told}


def _run(request: dict[str, Any], log: Path, result: Path) -> None:
    """In the fork: never returns."""
    os.setsid()
    ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import pytest

    recorder = Recorder()
    options = ["-x", "-q", "-m", "not long", "-p", "no:cacheprovider"]
    try:
        code = int(pytest.main([*options, *request["files"]], plugins=[recorder]))
    except BaseException as error:  # what a deliberate bug leads to is not foreseen
        print(repr(error))
        code = 1
    sys.stdout.flush()
    result.write_text(json.dumps({"failed": recorder.failed, "files": recorder.files}))
    os._exit(code)


def _processor_time(leader: int) -> float:
    """Return what the processes of a session have spent, and those that they have waited for, s."""
    return sum(sum(map(int, fields[11:15])) for _, fields in _session(leader)) / os.sysconf("SC_CLK_TCK")


def _end_session(leader: int) -> None:
    """Kill what is left of a session."""
    for process, _ in _session(leader):
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)


def _session(leader: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the processes of a session with the fields of their `stat` from the third on."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == leader:
                    yield int(entry.name), fields


if __name__ == "__main__":
    serve()
