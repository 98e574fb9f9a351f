# SPDX-License-Identifier: Apache-2.0
"""Demo and benchmarks are alone in their ROS domain, whatever the user's environment says."""

from __future__ import annotations

import contextlib
import os

import pytest

from bam_core.errors import Unavailable
from bam_ros.node.private_domain import FIRST, LAST, private_domain

USERS = {
    "ROS_DOMAIN_ID": "5",
    "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET",
    "ROS_STATIC_PEERS": "192.168.0.7",
    "ROS_DISCOVERY_SERVER": "192.168.0.8:11811",
}


@pytest.fixture(autouse=True)
def users_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in USERS.items():
        monkeypatch.setenv(name, value)


def found() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in USERS}


def test_it_is_neither_the_users_domain_nor_beyond_this_machine() -> None:
    with private_domain() as domain:
        assert FIRST <= domain <= LAST
        assert found() == {
            "ROS_DOMAIN_ID": str(domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_STATIC_PEERS": None,
            "ROS_DISCOVERY_SERVER": None,
        }
    assert found() == USERS


def test_what_was_not_set_is_not_set_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in USERS:
        monkeypatch.delenv(name)
    with private_domain():
        pass
    assert found() == dict.fromkeys(USERS)


def test_no_two_programs_have_the_same_and_the_last_one_is_told() -> None:
    taken: list[int] = []
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(Unavailable):  # a demo may run on this machine
            for _ in range(LAST - FIRST + 1):
                taken.append(stack.enter_context(private_domain()))
        assert len(set(taken)) == len(taken) > 1
        with pytest.raises(Unavailable):
            stack.enter_context(private_domain())
    with private_domain():  # they are free again
        pass
