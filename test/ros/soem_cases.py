# SPDX-License-Identifier: Apache-2.0
"""The unmodified pysoem at one end of a pair, virtual drives at the other."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pysoem
import pytest

from bam_core.errors import BamError
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.emulators.erob.veth import VethPair
from test.missing import REQUIRE_ALL
from test.ros.ros_helpers import PATIENCE

HERE = Path(__file__).parent
_TIMEOUT = 100_000  # µs; emulated drives wait for their turn on processors that others use, too
_WATCHDOG = 1000.0  # ms; likewise


def missing_permission() -> str:
    """Return why raw sockets or pairs are not possible here; empty where they are."""
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()
    except PermissionError:
        return "raw sockets are not permitted (CAP_NET_RAW)"
    try:
        with VethPair(f"ecp{os.getpid()}a", f"ecp{os.getpid()}b"):
            return ""
    except BamError as error:
        return str(error)


_MISSING = missing_permission()
needs_network = pytest.mark.skipif(bool(_MISSING) and not REQUIRE_ALL, reason=_MISSING)


@contextmanager
def opened(segment: VirtualSegmentProcess) -> Iterator[pysoem.Master]:
    """Open a master; close it, slaves in INIT, whatever happens."""
    master = pysoem.Master()
    master.open(segment.interface)
    try:
        yield master
    finally:
        master.state = pysoem.INIT_STATE
        master.write_state()
        master.close()


def until(condition: Callable[[], bool], what: str) -> None:
    """Repeat until it is true, for so many seconds at most."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen within {PATIENCE} s"


def exchange(master: pysoem.Master, timeout: int = _TIMEOUT) -> int:
    """Do one cycle of a millisecond and return the working counter; -1 after so many µs without answer."""
    start = time.monotonic()
    master.send_processdata()
    counter = master.receive_processdata(timeout)
    time.sleep(max(0.001 - (time.monotonic() - start), 0.0))
    return counter


def states(master: pysoem.Master) -> set[int]:
    master.read_state()
    return {slave.state for slave in master.slaves}


def to_safe_op(master: pysoem.Master, count: int, *, dc: bool = True) -> None:
    found = 0

    def scanned() -> bool:
        nonlocal found
        found = master.config_init()
        return found == count

    def watched() -> bool:
        try:
            for slave in master.slaves:
                slave.set_watchdog("processdata", _WATCHDOG)
        except pysoem.WkcError:  # a frame that was late
            return False
        return True

    until(scanned, f"finding {count} slaves")
    until(watched, "setting watchdogs")
    master.config_map()
    if dc:
        assert master.config_dc()
        for slave in master.slaves:
            slave.dc_sync(True, 1_000_000)
    until(lambda: states(master) == {pysoem.SAFEOP_STATE}, "SAFE-OP")


def to_op(master: pysoem.Master, count: int, *, dc: bool = True) -> None:
    to_safe_op(master, count, dc=dc)
    exchange(master)
    master.state = pysoem.OP_STATE
    master.write_state()

    def in_op() -> bool:
        for _ in range(20):
            exchange(master)
        return states(master) == {pysoem.OP_STATE}

    until(in_op, "OP")


def run_script(name: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a script beside this file as a process of its own."""
    return subprocess.Popen(
        [sys.executable, str(HERE / name), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
