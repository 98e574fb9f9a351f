# SPDX-License-Identifier: Apache-2.0
"""How fast the feed-forward node goes round: all servos in motion, everything read and published."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bam_bench.msg import ServoCommands, ServoStates
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from bam_core.errors import Unavailable
from bam_ros.driver.servo_node import STATE_QOS
from bam_ros.node.client_node import ClientNode
from bam_ros.node.node_processes import node_processes
from bam_ros.node.private_domain import private_domain

_STEP, _SWING = 0.25, 0.3  # s between points, rad


def feed_forward_loop(
    servo: str = "mx64_2", servos: int = 6, *, warm_up: float = 2.0, duration: float = 10.0
) -> dict[str, float]:
    """Return what the feed-forward node does with several virtual servos in motion, publishing included.

    Args:
        servo: of every joint.
        servos: how many.
        warm_up: not measured, s.
        duration: of the measurement, s.

    Returns:
        `rate`, duties commanded per second, and the share of a processor that the `node` and the emulated
        `servos` take for it.
    """
    ids = list(range(1, servos + 1))
    with (
        private_domain(),
        tempfile.TemporaryDirectory(prefix="bam_bench_") as directory,
        node_processes(Path(directory)) as nodes,
    ):
        port = Path(directory) / "bus"
        virtual = ["--servo", servo, "--link", str(port), "--mass", "0.2", "--id", *map(str, ids)]
        nodes.start_command("virtual", "bam_ros.emulators.dynamixel.command", virtual)
        nodes.wait_for(port)
        joints = [f"joint{number}" for number in ids]
        parameters = {"port": port, "ids": ids, "joint_names": joints, "rate": 0.0}
        nodes.start("feedforward", "bam_ros.feedforward.node", parameters)
        with ClientNode("bench") as client:
            motion = _EndlessMotion(client, joints, nodes.check)
            motion.begin(warm_up + duration)
            ends = []
            for wait in (warm_up, duration):
                motion.keep_on(wait)
                busy = [nodes.processor_time(name) for name in ("feedforward", "virtual")]
                ends.append((*motion.newest(), *busy))
    count, passed, node_busy, servos_busy = (after - before for before, after in zip(*ends, strict=True))
    return {"rate": count / passed, "node": node_busy / passed, "servos": servos_busy / passed}


class _EndlessMotion:
    """Lets all joints of a feed-forward node swing, and looks at its states now and then."""

    def __init__(self, client: ClientNode, joints: Sequence[str], check: Callable[[], None]) -> None:
        self._client, self._joints, self._check = client, list(joints), check
        node = client.node
        self._states: list[ServoStates] = []
        self._commands = node.create_publisher(ServoCommands, "servo_commands", 1)
        self._trajectories = node.create_publisher(JointTrajectory, "feedforward/joint_trajectory", 10)
        node.create_subscription(ServoStates, "servo_states", self._keep, STATE_QOS)

    def _keep(self, state: ServoStates) -> None:
        self._states[:] = [state]

    def begin(self, duration: float) -> None:
        """Switch torque on, and send one trajectory for longer than a duration, s."""
        while not (self._states and all(self._states[0].torque_enabled)):
            self._command()
            self._spin()
        trajectory = JointTrajectory(joint_names=self._joints)
        for step in range(1, round((duration + 5.0) / _STEP)):
            at = _STEP * step
            swing = _SWING * math.sin(math.pi * at)
            point = JointTrajectoryPoint(positions=[swing] * len(self._joints))
            point.time_from_start.sec = int(at)
            point.time_from_start.nanosec = round(at % 1.0 * 1e9)
            trajectory.points.append(point)
        self._trajectories.publish(trajectory)

    def keep_on(self, seconds: float) -> None:
        """Keep torque on, asleep most of the time so that the nodes have the processors."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._command()
            time.sleep(0.1)

    def newest(self) -> tuple[int, float]:
        """Return number and stamp, s, of the newest state."""
        deadline = time.monotonic() + 0.3  # past the messages that queued up
        while time.monotonic() < deadline:
            self._spin()
        state = self._states[0]
        if not all(state.torque_enabled):
            raise Unavailable(
                "feedforward", "torque went off while it was measured", advice="see its log and repeat"
            )
        return state.sequence, state.header.stamp.sec + state.header.stamp.nanosec * 1e-9

    def _command(self) -> None:
        count = len(self._joints)
        self._commands.publish(
            ServoCommands(name=self._joints, torque_enabled=[True] * count, goal_position=[math.nan] * count)
        )

    def _spin(self) -> None:
        self._client.spin_once(0.05)
        self._check()
