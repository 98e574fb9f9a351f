# SPDX-License-Identifier: Apache-2.0
"""A ROS 2 graph of one's own: on this machine only, in a domain that no other program of this suite uses."""

from __future__ import annotations

import contextlib
import os
import random
import socket
from collections.abc import Iterator

from bam_core.errors import Unavailable

FIRST, LAST = 215, 231
"""Domains that people rarely choose and whose ports Linux gives to no other program."""
_ELSEWHERE = ("ROS_STATIC_PEERS", "ROS_DISCOVERY_SERVER")  # variables that lead off this machine all the same


@contextlib.contextmanager
def private_domain() -> Iterator[int]:
    """Give the number of a domain, in which nodes of this process and its children are from now on.

    Whatever the environment has: a driver of the user would accept what is meant for an emulated servo.
    To be entered before `rclpy.init`. The environment is as before on leaving.

    Raises:
        Unavailable: all of them are taken.
    """
    domain, claim = _claimed()
    before = dict(os.environ)
    os.environ["ROS_DOMAIN_ID"] = str(domain)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    for name in _ELSEWHERE:
        os.environ.pop(name, None)
    try:
        yield domain
    finally:
        for name in ("ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE", *_ELSEWHERE):
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]
        claim.close()


def _claimed() -> tuple[int, socket.socket]:
    """Return a domain and what holds the claim on it."""
    domains = list(range(FIRST, LAST + 1))
    random.SystemRandom().shuffle(domains)
    for domain in domains:
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0bam_bench_domain_{domain}")  # a name without a file, gone with its process
        except OSError:
            claim.close()
            continue
        return domain, claim
    raise Unavailable(
        f"ROS domains {FIRST} to {LAST}",
        "are all taken by other demos or benchmarks on this machine",
        advice="end one of them",
    )
