# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the ROS 2 tests: a domain of its own for every test."""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Iterator

import pytest

_DOMAINS = itertools.count(100 + os.getpid() % 130)


def _claim_domain() -> tuple[int, socket.socket]:
    """Return a domain that no other test process on this machine uses, and what holds the claim."""
    for _ in range(130):
        domain = 100 + (next(_DOMAINS) - 100) % 130
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0bam_bench_domain_{domain}")  # abstract name: gone with the process
        except OSError:
            claim.close()
            continue
        return domain, claim
    raise RuntimeError("every ROS domain from 100 to 229 is taken by another test")


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Give the test and the processes it starts a ROS domain of their own, on this machine only."""
    domain, claim = _claim_domain()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    yield domain
    claim.close()
