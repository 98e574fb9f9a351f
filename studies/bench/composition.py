# SPDX-License-Identifier: Apache-2.0
"""Driver, recorder and observer in one process beside three: delay from command to state, processor, memory.

A session is recorded of the simulated bench, whose driver measures torque, so that the observer has work. The
delay is that of the recorder itself: from a goal that it publishes to the first state with this goal.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from bam_bench.msg import BenchRun
from std_srvs.srv import Trigger

from bam_core.mujoco import bench_urdf
from bam_core.recordings.bag_files import read_messages
from bam_core.servo.pendulum import PendulumBench
from bam_ros.node.client_node import ClientNode
from bam_ros.node.node_processes import NodeProcesses, node_processes
from bam_ros.node.private_domain import private_domain
from bam_ros.recorder.bench_topics import LATCHED_QOS

RATE = 500.0
"""States per second, 1/s."""
NODES = {
    "simulator": "bam_ros.simulator.node",
    "recorder": "bam_ros.recorder.node",
    "friction_observer": "bam_ros.friction_observer.node",
}
COMPOSITION = {"composition": "bam_ros.composition.main"}
BENCH = PendulumBench(mass=0.5, length=0.15)
SESSION = {
    "servo": "mx106",
    "supply_voltage": 15.0,
    "loads": [{"mass": BENCH.mass, "length": BENCH.length}],
    "gains": [32],
    "scripts": ["sin_sin"],
    "pause_limit": 10.0,  # what is measured is not recorded again
}
_MEASURE = 4.0  # s of the script's 6
_TIMEOUT = 120.0  # s
_GOAL = 1e-9  # rad; goals that differ less are the same


@dataclass(frozen=True, kw_only=True)
class Load:
    """What it takes to record a session.

    Attributes:
        delay_p50, delay_p99: from a goal to the first state with it, s; quantiles.
        processor: share of a processor of all processes.
        memory: of all processes, MB.
    """

    delay_p50: float
    delay_p99: float
    processor: float
    memory: float


def composition_load(order: Sequence[bool] = (False, True, True, False)) -> dict[str, Load]:
    """Return the `Load` of "three processes" and of "one process".

    Args:
        order: of the sessions, True: in one process. Alternating, for a machine may become busier meanwhile.
    """
    sessions: dict[bool, list[tuple[list[float], float, float]]] = {False: [], True: []}
    with private_domain():
        for together in order:
            sessions[together].append(_session(together))
    return {
        name: Load(
            delay_p50=float(np.quantile(delays := np.concatenate([session[0] for session in measured]), 0.5)),
            delay_p99=float(np.quantile(delays, 0.99)),
            processor=float(np.mean([session[1] for session in measured])),
            memory=float(np.mean([session[2] for session in measured])),
        )
        for name, measured in (("three processes", sessions[False]), ("one process", sessions[True]))
    }


def _session(together: bool) -> tuple[list[float], float, float]:
    """Record a session; return delays, s, share of a processor, and memory, MB."""
    with (
        tempfile.TemporaryDirectory(prefix="bam_bench_") as directory,
        node_processes(Path(directory)) as nodes,
    ):
        names = _start(nodes, Path(directory), together)
        with ClientNode("bench") as client:
            _mount_load(client, nodes)
            runs: list[BenchRun] = []
            client.node.create_subscription(BenchRun, "bench_run", runs.append, LATCHED_QOS)
            _spin_until(client, nodes, lambda: bool(runs))
        before, start = sum(map(nodes.processor_time, names)), time.monotonic()
        time.sleep(_MEASURE)  # so that the measurement takes no share of the nodes' processors
        busy = sum(map(nodes.processor_time, names)) - before
        share, memory = busy / (time.monotonic() - start), sum(map(nodes.memory, names))
        nodes.wait_for_end("composition" if together else "recorder", _TIMEOUT)
        (bag,) = Path(directory, "bags").glob("*/*.mcap")
        return _delays(bag), share, memory


def _start(nodes: NodeProcesses, directory: Path, together: bool) -> list[str]:
    """Start the nodes; return the names of their processes."""
    session, robot, file = (directory / name for name in ("session.yaml", "bench.urdf", "parameters.yaml"))
    session.write_text(yaml.safe_dump(SESSION))
    robot.write_text(bench_urdf(BENCH, joint="joint"))
    parameters: dict[str, dict[str, Any]] = {
        "simulator": {"rate": RATE, "mass": BENCH.mass, "length": BENCH.length},
        "recorder": {
            "driver": "simulator",
            "session_file": str(session),
            "output": str(directory / "bags"),
            "autostart": True,
        },
        "friction_observer": {"model": str(robot), "period": 1.0 / RATE},
    }
    sections = {f"/{name}": {"ros__parameters": values} for name, values in parameters.items()}
    file.write_text(yaml.safe_dump(sections))
    processes = COMPOSITION if together else NODES
    for name, module in processes.items():
        words = [*(NODES if together else ()), "--ros-args", "--params-file", str(file)]
        nodes.start_command(name, module, words)
    return list(processes)


def _mount_load(client: ClientNode, nodes: NodeProcesses) -> None:
    """Say that the load hangs, once the recorder asks for it."""
    service = client.node.create_client(Trigger, "recorder/load_mounted")
    _spin_until(client, nodes, service.service_is_ready)
    mounted = False
    while not mounted:
        answer = service.call_async(Trigger.Request())
        _spin_until(client, nodes, answer.done)
        mounted = answer.result().success


def _spin_until(client: ClientNode, nodes: NodeProcesses, done: Callable[[], bool]) -> None:
    while not done():
        client.spin_once(0.05)
        nodes.check()


def _delays(bag: Path) -> list[float]:
    """Return times from a command to the first state with its goal, s, of every goal that was applied."""
    sent: dict[int, int] = {}
    delays, newest = [], None
    kinds = {"bam_bench/msg/ServoCommands", "bam_bench/msg/ServoStates"}
    for message in sorted(read_messages(bag, kinds).messages, key=lambda message: message.log_time):
        if message.type.endswith("ServoCommands"):
            sent[round(float(message.value.goal_position[0]) / _GOAL)] = message.log_time
            continue
        goal = round(float(message.value.goal_position[0]) / _GOAL)
        if goal != newest and goal in sent:
            delays.append((message.log_time - sent[goal]) * 1e-9)
        newest = goal
    return delays
