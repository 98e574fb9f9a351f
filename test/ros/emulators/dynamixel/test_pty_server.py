# SPDX-License-Identifier: Apache-2.0
"""The server of a virtual bus does not end under a client that still has to turn torque off."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from bam_ros.emulators.dynamixel.builder import BusSetup, build_bus
from bam_ros.emulators.dynamixel.pty_server import PtyServer
from test.ros.ros_helpers import PATIENCE, wait_for
from test.ros.virtual_helpers import Client


@pytest.fixture
def server() -> Iterator[PtyServer]:
    with PtyServer(build_bus(BusSetup(servo="mx106"), time.monotonic())) as server:
        yield server


def ending(server: PtyServer, patience: float = 10 * PATIENCE) -> threading.Thread:
    """Stop a server in a thread of its own."""
    thread = threading.Thread(target=server.stop, args=(patience,))
    thread.start()
    return thread


def test_a_client_is_answered_until_it_closes_the_terminal(server: PtyServer) -> None:
    client = Client(str(server.path), server.bus.servos[0].table)
    client.write("torque_enable", 1)
    end = ending(server)
    wait_for(lambda: server._slave < 0, what="the server waits")
    client.write("torque_enable", 0)
    assert client.read("torque_enable") == 0
    assert end.is_alive()
    client.close()
    end.join(PATIENCE)
    assert not end.is_alive()
    assert not server.path.exists()
    assert not server.bus.servos[0].torque_enabled


def test_without_a_client_it_ends_at_once(server: PtyServer) -> None:
    Client(str(server.path), server.bus.servos[0].table).close()
    end = ending(server)
    end.join(PATIENCE)
    assert not end.is_alive()


def test_a_client_that_stays_is_waited_for_no_longer_than_it_says(server: PtyServer) -> None:
    client = Client(str(server.path), server.bus.servos[0].table)
    end = ending(server, patience=0.01)
    end.join(PATIENCE)
    assert not end.is_alive()
    assert not server.path.exists()
    client.close()
