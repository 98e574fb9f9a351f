# SPDX-License-Identifier: Apache-2.0
"""The feed-forward node on virtual servos: it follows, refuses, replaces and holds."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bam_bench.srv import SetGains
from diagnostic_msgs.msg import DiagnosticStatus
from feedforward_client import NAMES, MakeClient, Start, check_no_jump, released
from ros_helpers import PATIENCE, VirtualServos
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytestmark = pytest.mark.ros


def test_a_trajectory_is_followed_and_its_end_held(
    virtual: VirtualServos, start: Start, make_client: MakeClient
) -> None:
    start(virtual.path, command_timeout=5.0)
    client = make_client()
    client.switch_on()
    client.wait_for(lambda: client.configurations)
    assert list(client.configurations[-1].servo) == ["mx64_2", "mx64_2"]
    client.send([[0.6, -0.3], [0.2, 0.1]], [2.0, 4.0])
    client.wait_for(lambda: client.states[-1].goal_position[0] > 0.55)
    client.wait_for(lambda: client.states[-1].goal_position[0] < 0.2 + 1e-6)
    client.wait(0.5)
    # How closely it is followed on the way depends on the machine: see test_feedforward_virtual.py.
    moving = [state for state in client.states if all(state.torque_enabled)]
    assert list(client.states[-1].position) == pytest.approx([0.2, 0.1], abs=0.03)
    check_no_jump(moving, 3.0)
    client.wait_for(lambda: client.figure("trajectories accepted") == "1")
    assert math.isfinite(float(client.figure("delay [ms]")))
    # Torque goes with the commands, and comes back where the servo is then.
    client.wait_for(lambda: released(virtual), torque=False)
    client.wait_for(lambda: client.says(DiagnosticStatus.ERROR, "command_timeout"), torque=False)
    client.switch_on()
    place, goal = client.states[-1].position, client.states[-1].goal_position
    assert list(goal) == pytest.approx(list(place), abs=0.1)


@pytest.mark.parametrize("pieces", [2, 5])
def test_wherever_a_stream_of_pieces_ends_servos_brake_and_hold(
    pieces: int, virtual: VirtualServos, start: Start, make_client: MakeClient
) -> None:
    start(virtual.path)
    client = make_client()
    client.switch_on()
    ends = 0.15 * np.arange(pieces + 1)
    place, rate = 0.5 * np.sin(3.0 * ends) ** 2, 1.5 * np.sin(6.0 * ends)
    begin = client.node.get_clock().now().nanoseconds * 1e-9 + 3.0  # whatever the machine does meanwhile
    for number in range(pieces):
        rows = slice(number, number + 2)
        ahead = begin + ends[number] - client.node.get_clock().now().nanoseconds * 1e-9
        client.send(
            np.outer(place[rows], [1.0, -0.8]).tolist(),
            [0.0, 0.15],
            np.outer(rate[rows], [1.0, -0.8]).tolist(),
            ahead,
        )
        client.wait(0.15)
    client.wait_for(lambda: client.figure("trajectories accepted") == str(pieces))

    def newest() -> np.ndarray:
        return np.array([state.position for state in client.states[-50:]])

    def at_rest() -> bool:
        """Whether they stand still near where the stream ended."""
        there = np.abs(newest() - place[-1] * np.array([1.0, -0.8])).max() < 0.15
        return bool(there and np.ptp(newest(), axis=0).max() < 0.02)

    client.states.clear()
    client.wait_for(lambda: len(client.states) > 50 and at_rest())
    client.states.clear()  # from here on they hold
    client.wait_for(lambda: len(client.states) > 50)
    assert at_rest()
    assert all(all(state.torque_enabled) for state in client.states)
    assert client.figure("trajectories refused") == "0"


def test_what_is_refused_is_published_with_the_reason_and_changes_nothing(
    virtual: VirtualServos, start: Start, make_client: MakeClient
) -> None:
    start(virtual.path, limits=[-math.pi, 1.0], speed_limit=3.0)
    client = make_client()
    client.wait_for(lambda: client.trajectories.get_subscription_count() == 1, torque=False)
    client.wait_for(lambda: client.states, torque=False)
    client.send([[0.1, 0.1]], [4.0])
    client.wait_for(lambda: client.says(DiagnosticStatus.WARN, "torque is off"), torque=False)
    client.switch_on()
    held = list(client.states[-1].goal_position)
    bad: list[tuple[Callable[[], None], str]] = [
        (lambda: client.send([[0.1, math.nan]], [1.0]), "positions: is nan in point 0, joint 'knee'"),
        (lambda: client.send([[0.5, 0.0], [0.6, 0.0]], [0.0, 1.0]), "position of joint 'hip' jumps by"),
        (lambda: client.send([[0.0, 0.0], [0.1, 0.0]], [0.0, 1.0], ahead=-3.0), "too early to be planned"),
        (lambda: client.send([[0.1, 0.0]], [1.0], ahead=100.0), "ahead (expected at most 60 s)"),
        (lambda: client.send([[1.2, 0.0]], [3.0]), "position of joint 'hip' goes from"),
        (lambda: client.send([[0.9, 0.0]], [0.2]), "velocity of joint 'hip' goes from"),
        (
            lambda: client.trajectories.publish(
                JointTrajectory(joint_names=["hip"], points=[JointTrajectoryPoint(positions=[0.1])])
            ),
            "joint_names: hip (expected hip, knee, each once)",
        ),
    ]
    for count, (send, reason) in enumerate(bad, 2):
        send()
        client.wait_for(
            lambda reason=reason: any(
                "refused: " in status.message and reason in status.message for status in client.diagnostics
            )
        )
        client.wait_for(lambda count=count: client.figure("trajectories refused") == str(count))
    assert list(client.states[-1].goal_position) == pytest.approx(held, abs=1e-9)
    client.command(position=0.3)  # not from here
    client.command(names=["hip"])
    client.wait(0.2)
    assert list(client.states[-1].goal_position) == pytest.approx(held, abs=1e-9)
    client.send([[0.1, 0.1]], [2.0])
    client.wait_for(lambda: client.figure("trajectories accepted") == "1")
    client.diagnostics.clear()
    client.wait_for(lambda: client.says(DiagnosticStatus.OK, "running"))


def test_a_trajectory_is_replaced_and_stopped_in_motion(
    virtual: VirtualServos, start: Start, make_client: MakeClient
) -> None:
    start(virtual.path)
    client = make_client()
    client.switch_on()
    client.send([[1.5, 0.0]], [3.0])
    client.wait_for(lambda: client.states[-1].goal_position[0] > 0.3)
    client.send([[0.0, 0.4]], [2.0])
    client.wait_for(lambda: client.states[-1].goal_position[1] > 0.1)
    client.trajectories.publish(JointTrajectory())
    client.wait(0.5)
    held = list(client.states[-1].goal_position)
    assert 0.1 < held[1] < 0.4
    client.wait(0.5)
    assert list(client.states[-1].goal_position) == held
    goals = np.array([state.goal_position for state in client.states if all(state.torque_enabled)])
    assert goals[:, 0].max() < 1.2
    check_no_jump(client.states, 3.0)


def test_gains_and_reboot_are_served(virtual: VirtualServos, start: Start, make_client: MakeClient) -> None:
    start(virtual.path)
    client = make_client()
    client.switch_on()
    for kind, name, request in (
        (SetGains, "set_gains", SetGains.Request(name="knee", kp=24.0, ki=0.5)),
        (Trigger, "reboot", Trigger.Request()),
    ):
        service = client.node.create_client(kind, f"feedforward/{name}")
        client.wait_for(service.service_is_ready)
        answer = service.call_async(request)
        client.wait_for(answer.done)
        assert answer.result().success, answer.result().message
    # Torque was asked for during the reboot: it stays off until the client has noticed.
    client.diagnostics.clear()

    def acknowledged() -> bool:
        client.command(on=False)
        return client.says(DiagnosticStatus.OK, "running")

    client.wait_for(acknowledged, torque=False)
    client.switch_on()


def run_example() -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "examples/send_trajectory.py"],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_example_swings_every_joint(
    virtual: VirtualServos, start: Start, make_client: MakeClient
) -> None:
    start(virtual.path)
    done = run_example()
    assert (done.returncode, done.stderr) == (0, "")
    rows = re.findall(r"(hip|knee): at most ([\d.]+) mrad", done.stdout)
    assert [name for name, _ in rows] == NAMES
    assert all(float(error) < 100.0 for _, error in rows)
    assert released(virtual)


def test_the_example_says_where_its_trajectory_was_refused(virtual: VirtualServos, start: Start) -> None:
    start(virtual.path, speed_limit=0.1)
    done = run_example()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "joint_trajectory: not followed to its end; /diagnostics says why\n"
