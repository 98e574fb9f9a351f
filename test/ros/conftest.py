# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the ROS 2 tests: a domain of its own for every test, virtual servos."""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from ros_helpers import VirtualServos, give_numbers_back

_DOMAINS = itertools.count(os.getpid())
_FIRST, _COUNT = 30, 70  # domains above 101 lie on ports that the system hands out to other programs


def _claim_domain() -> tuple[int, socket.socket]:
    """Return a domain that no other test process on this machine uses, and what holds the claim."""
    for _ in range(_COUNT):
        domain = _FIRST + next(_DOMAINS) % _COUNT
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0bam_bench_domain_{domain}")  # abstract name: gone with the process
        except OSError:
            claim.close()
            continue
        return domain, claim
    raise RuntimeError("every ROS domain from 30 to 99 is taken by another test")


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Give the test and the processes it starts a ROS domain of their own, on this machine only.

    They speak over UDP. Tests kill processes, and where one dies that had a port in Fast DDS' shared memory,
    another one that opens the port anew and ends soon after may end with a segmentation fault: the thread that
    listens replaces the port, the one that deletes the participant still locks the old one (2.14.5; once in
    20 to 150 rounds of kill, start, end).
    """
    domain, claim = _claim_domain()
    monkeypatch.setenv("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    yield domain
    claim.close()


@pytest.fixture(autouse=True)
def _kept_numbers() -> Iterator[None]:
    """Outlive all that may open a terminal: of its scope it is set up first, and so ends last."""
    yield
    give_numbers_back()


@pytest.fixture
def virtual_servos() -> Iterator[Callable[..., VirtualServos]]:
    """Start virtual servos behind a pseudo-terminal; arguments as for `BusSetup`."""
    with ExitStack() as stack:
        yield lambda **setup: stack.enter_context(VirtualServos(**setup))
