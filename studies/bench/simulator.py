# SPDX-License-Identifier: Apache-2.0
"""Whether the simulator node keeps real time: a chain of servos, a thousand states per second."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bam_bench.msg import ServoStates

from bam_ros.driver.servo_node import STATE_QOS
from bam_ros.node.client_node import ClientNode
from bam_ros.node.node_processes import node_processes
from bam_ros.node.private_domain import private_domain

RATE = 1000.0
"""States per second that are asked for, as many as the simulation has time steps."""


def simulator_loop(servos: int = 6, *, warm_up: float = 2.0, duration: float = 10.0) -> dict[str, float]:
    """Return what the simulator node does with a chain of servos, publishing included.

    Args:
        servos: how many.
        warm_up: not measured, s.
        duration: of the measurement, s.

    Returns:
        `rate`, states per second of the wall clock; `factor`, simulated time per time of the wall clock; and
        the share of a processor that the `node` takes for it.
    """
    with (
        private_domain(),
        tempfile.TemporaryDirectory(prefix="bam_bench_") as directory,
        node_processes(Path(directory)) as nodes,
    ):
        model = Path(directory) / "chain.xml"
        model.write_text(_chain(servos))
        parameters = {
            "model": model,
            "joint_names": [f"joint{number}" for number in range(servos)],
            "rate": RATE,
            "timestep": 1.0 / RATE,
        }
        nodes.start("simulator", "bam_ros.simulator.node", parameters)
        with ClientNode("bench") as client:
            states: list[ServoStates] = []

            def keep_newest(message: ServoStates) -> None:
                states[:] = [message]

            client.node.create_subscription(ServoStates, "servo_states", keep_newest, STATE_QOS)
            while not states:
                client.spin_once(0.1)
                nodes.check()
            ends = []
            for wait in (warm_up, duration):
                # Asleep meanwhile, so that the measurement takes no share of the node's processors.
                time.sleep(wait)
                deadline = time.monotonic() + 0.3  # past the messages that queued up
                while time.monotonic() < deadline:
                    client.spin_once(0.1)
                    nodes.check()
                stamp = states[0].header.stamp
                simulated = stamp.sec + stamp.nanosec * 1e-9
                ends.append(
                    (states[0].sequence, simulated, time.monotonic(), nodes.processor_time("simulator"))
                )
    count, simulated, passed, busy = (after - before for before, after in zip(*ends, strict=True))
    return {"rate": count / passed, "factor": simulated / passed, "node": busy / passed}


def _chain(servos: int) -> str:
    """Return links that hang from each other, their axes across one after the other."""
    links = "".join(
        f'<body pos="0 0 {-0.08 if number else 0.0}">'
        f'<joint name="joint{number}" axis="{number % 2} {1 - number % 2} 0"/>'
        '<geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.08" mass="0.05"/>'
        for number in range(servos)
    )
    return f"<mujoco><worldbody>{links}{'</body>' * servos}</worldbody></mujoco>"
