# SPDX-License-Identifier: Apache-2.0
"""The feed-forward node as a process of its own, the virtual servos under it, and its clients."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from feedforward_client import LOAD, NAMES, Client, Process
from ros_helpers import PATIENCE, VirtualServos, client_maker


@pytest.fixture
def start(ros_domain: int) -> Iterator[Callable[..., Process]]:
    processes: list[Process] = []

    def make(port: str, *, ready: bool = True, **parameters: object) -> Process:
        # The emulator shares this process with the client: it answers late now and then.
        patient = {"rate": 100.0, "failures": 1000, "command_timeout": PATIENCE, "watchdog": 2.5}
        bus = {"port": port, "baud_rate": 1_000_000, "ids": [1, 2], "joint_names": NAMES}
        values = {**bus, **patient, **parameters}
        arguments = [word for name, value in values.items() for word in ("-p", f"{name}:={value}")]
        command = [sys.executable, "-m", "bam_ros.feedforward.node", "--ros-args", *arguments]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        processes.append(process)
        if ready:
            assert process.stderr is not None
            assert "fed forward in PWM mode" in process.stderr.readline()
        return process

    yield make
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def virtual(virtual_servos: Callable[..., VirtualServos]) -> VirtualServos:
    return virtual_servos(servo="mx64_2", ids=(1, 2), pendulum=LOAD)


@pytest.fixture
def make_client(ros_domain: int) -> Iterator[Callable[[], Client]]:
    """Make clients once the node is up: participants that start together take 3 s to find each other."""
    with client_maker(Client, ros_domain) as make:
        yield make
