# SPDX-License-Identifier: Apache-2.0
"""Drivers of Feetech servos as processes: two arms at once, each in a namespace of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators.feetech.catalog import FEETECH
from test.ros.ros_helpers import LATE, LONGEST_COMMAND_TIMEOUT, VirtualServos, wait_for

pytestmark = pytest.mark.ros

Start = Callable[..., subprocess.Popen[str]]
TELEOPERATE = Path(__file__).parents[3] / "examples" / "teleoperate.py"
FREE = PendulumBench(mass=0.01, length=0.05)
"""So light that friction holds it where a hand has put it."""


@pytest.fixture
def start(ros_domain: int) -> Iterator[Start]:
    processes: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        processes.append(subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True))
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def driver(virtual: VirtualServos, namespace: str) -> list[str]:
    values = {"port": virtual.path, "baud_rate": 1_000_000, "ids": [1, 2], "joint_names": ["lift", "elbow"]}
    # The emulators share this process with the test: they answer late now and then.
    values |= {"command_timeout": LONGEST_COMMAND_TIMEOUT, "failures": 1000, "rate": 50.0, **LATE}
    words = [word for name, value in values.items() for word in ("-p", f"{name}:={value}")]
    return ["-m", "bam_ros.feetech.node", "--ros-args", "-r", f"__ns:=/{namespace}", *words]


def test_a_follower_goes_where_its_leader_is_moved_and_no_servo_of_the_leader_is_driven(
    virtual_servos: Callable[..., VirtualServos], start: Start
) -> None:
    leader, follower = (
        virtual_servos(catalog=FEETECH, servo="sts3215", ids=(1, 2), pendulum=FREE) for _ in range(2)
    )
    processes = [start(*driver(leader, "leader")), start(*driver(follower, "follower"))]
    for process, arm in zip(processes, (leader, follower), strict=True):
        assert process.stderr is not None
        assert arm.path in process.stderr.readline()
    start(str(TELEOPERATE), "leader", "follower")
    leader.place(0.4)
    wait_for(lambda: abs(follower.position() - 0.4) < 0.05, what="the follower at 0.4 rad")
    leader.place(-0.3)
    wait_for(lambda: abs(follower.position() + 0.3) < 0.05, what="the follower at -0.3 rad")
    assert follower.get("torque_enable") == 1
    assert leader.get("torque_enable") == 0
