# SPDX-License-Identifier: Apache-2.0
"""The feed-forward node on virtual servos: it ends, or ends torque, and nothing is left in motion."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from feedforward_client import LOAD, MakeClient, Start, released
from rclpy.context import Context
from rclpy.parameter import Parameter
from ros_helpers import PATIENCE, VirtualServos

from bam_core.errors import BamError
from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.feedforward.node import FeedForwardNode

pytestmark = pytest.mark.ros


def duties(virtual: VirtualServos) -> list[int]:
    return [servo.registers.get("goal_pwm") for servo in virtual.bus.servos]


@pytest.mark.parametrize("way", ["SIGINT", "SIGKILL", "SIGSTOP"])
def test_servos_are_let_go_of_whatever_becomes_of_the_node(
    way: str, virtual: VirtualServos, start: Start, make_client: MakeClient
) -> None:
    process = start(virtual.path)
    client = make_client()
    client.switch_on()
    client.send([[1.2, -1.2]], [3.0])
    client.wait_for(lambda: client.states[-1].goal_position[0] > 0.3)
    client.wait_for(lambda: any(duties(virtual)))
    os.kill(process.pid, getattr(signal, way))
    if way == "SIGSTOP":
        # The servos' own watchdogs brake them, before the guardian takes their torque.
        client.wait_for(
            lambda: all(s.registers.get("bus_watchdog") < 0 for s in virtual.bus.servos) or released(virtual),
            torque=False,
        )
    client.wait_for(lambda: released(virtual), torque=False)
    if way == "SIGINT":
        _, log = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert "Traceback" not in log


def test_a_joint_that_is_blocked_ends_torque_until_torque_off_is_commanded(
    virtual: VirtualServos, start: Start, make_client: MakeClient
) -> None:
    start(virtual.path, following_error=0.15, duty_limit=0.5)
    client = make_client()
    client.switch_on()
    block = PendulumBench(mass=30.0, length=0.3)  # nothing lifts it
    virtual.bus.servos[1].bench._parameters[k.GRAVITY_TORQUE] = block.gravity_torque
    client.send([[0.2, 0.8]], [4.0])
    client.wait_for(lambda: client.says(DiagnosticStatus.ERROR, "knee: is "))
    assert released(virtual)
    client.wait(0.3)  # the stream goes on
    assert released(virtual)
    virtual.bus.servos[1].bench._parameters[k.GRAVITY_TORQUE] = LOAD.gravity_torque

    def acknowledged() -> bool:
        client.command(on=False)
        return client.says(DiagnosticStatus.OK, "running")

    client.diagnostics.clear()
    client.wait_for(acknowledged, torque=False)
    client.switch_on()


def test_a_servo_without_pwm_mode_ends_the_node_with_one_line_and_status_2(
    start: Start, virtual_servos: Callable[..., VirtualServos]
) -> None:
    old = virtual_servos(servo="mx64", ids=(1, 2), pendulum=LOAD)
    process = start(old.path, ready=False)
    _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert len(log.splitlines()) == 1, log
    assert log.startswith("hip: MX-64 with Protocol 1.0 firmware has no PWM mode (expected Protocol 2.0")
    assert released(old)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"following_error": 0.0}, "following_error: 0 rad .expected above 0"),
        ({"resume": 1.0}, "opposition resume: is 1 .expected below drop"),
        ({"limits": [0.1, 0.2, 0.3]}, "limits: 3 numbers for 1 joint_names"),
        ({"limits": [0.2, 0.1]}, "limits: 0.2 to 0.1 rad .expected the lowest angle, then the highest"),
        ({"servos": ["mx64", "mx64"]}, "servos: 2 entries for 1 joint_names"),
        ({"gain": 1.0}, "parameter 'gain': unknown"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(
    parameters: dict[str, Any], reason: str, ros_domain: int
) -> None:
    context = Context()
    context.init(domain_id=ros_domain)
    overrides = [Parameter(name, value=value) for name, value in parameters.items()]
    try:
        with pytest.raises(BamError, match=reason):
            FeedForwardNode(context=context, parameter_overrides=overrides).start()
    finally:
        context.try_shutdown()
