# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the ROS 2 tests: a domain of its own for every test, virtual servos."""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from rclpy.utilities import get_rmw_implementation_identifier

from test.ros.ros_helpers import VirtualServos, give_numbers_back

_PROFILE = Path(__file__).parent / "udp_on_this_machine.xml"
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
    another process that ends later may end with a segmentation fault: the thread that listens replaces the
    port, and the one that deletes the participant locks the old one (2.14.5; one in some hundred ends). The
    range LOCALHOST brings shared memory along, whatever the profile says, so the profile keeps to loopback.
    """
    domain, claim = _claim_domain()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    is_fast_dds = get_rmw_implementation_identifier().startswith("rmw_fastrtps")
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET" if is_fast_dds else "LOCALHOST")
    for variable in ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"):  # until and from 3.0
        monkeypatch.setenv(variable, str(_PROFILE))
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
