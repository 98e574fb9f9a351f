# SPDX-License-Identifier: Apache-2.0
"""The steps of the demo: record over the bus, identify, replay in MuJoCo, compare with the hidden truth."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import yaml
from ament_index_python.packages import get_package_share_directory
from bam_bench.action import Identify, Record
from numpy.typing import NDArray
from std_srvs.srv import Trigger

from bam_core.mujoco import simulate_recording
from bam_core.recordings import load_recordings
from bam_core.recordings.recording import Recording
from bam_core.recordings.run_end import seconds_of
from bam_core.servo.model import ServoModel, load_servo
from bam_ros.demo.bench import DemoBench
from bam_ros.demo.client import DemoClient
from bam_ros.demo.stage import Stage
from bam_ros.node.node_processes import NodeProcesses

MODELS = ("m1", "m4", "m6")
TEST = "fraction=0.25"

_RECORDING_TIMEOUT = 600.0  # s
_IDENTIFICATION_TIMEOUT = 600.0  # s


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """The identified servos in MuJoCo, on runs that they were not fitted to.

    Attributes:
        runs: the held-out runs.
        positions: model -> simulated position of each run at its own times, rad.
    """

    runs: tuple[Recording, ...]
    positions: dict[str, list[NDArray[np.float64]]]

    @property
    def mae(self) -> dict[str, float]:
        """Model -> mean over the runs of the mean absolute position error, rad."""
        return {
            name: float(
                np.mean(
                    [
                        np.mean(np.abs(position - run.position))
                        for position, run in zip(positions, self.runs, strict=True)
                    ]
                )
            )
            for name, positions in self.positions.items()
        }


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the demo found.

    Attributes:
        resolution: of the servo's encoder, rad: no fit can be expected to be much closer than this.
        summary: of the identification, as in its summary.json.
        servos: model -> identified servo.
        replayed: the same servos in MuJoCo.
        hidden: name -> true value of every parameter, SI units.
    """

    resolution: float
    summary: dict[str, Any]
    servos: dict[str, ServoModel]
    replayed: Replayed
    hidden: dict[str, float]


def start_bench(nodes: NodeProcesses, bench: DemoBench, output: Path, seed: int) -> None:
    """Start the virtual servo and, on its bus, the same nodes that a real bench uses."""
    bench.start(nodes, output, seed)
    session = Path(get_package_share_directory("bam_bench")) / "config" / "sessions" / bench.session
    parameters = {
        "driver": bench.driver,
        "virtual_bench": bench.virtual,
        "data_directory": str(output),
        "session_file": str(session),
    }
    nodes.start("recorder", "bam_ros.recorder.node", parameters)
    nodes.start("identification", "bam_ros.identification.node", {"data_directory": output})


def record(client: DemoClient, output: Path) -> list[Path]:
    """Record the session and return its bags."""
    goal = Record.Goal(output="bags")
    with Stage("recording", 1.0) as stage:

        def show(feedback: Any) -> None:
            if feedback.runs:
                duration = seconds_of(feedback.duration)
                share = min(seconds_of(feedback.elapsed) / duration, 1.0) if duration else 0.0
                words = f"run {feedback.run} of {feedback.runs}: {feedback.label}"
                line = words.rpartition(": ")[0]  # without what the run is doing just now
                stage.go(feedback.run - 1 + share, words, line, float(feedback.runs))

        result = client.run(Record, "record", goal, show, _RECORDING_TIMEOUT)
        stage.end(f"recorded: {result.recorded} runs, {result.dropped} states lost")
    return [Path(bag) for bag in result.bags]


def identify(client: DemoClient, bench: DemoBench, output: Path) -> Path:
    """Identify every model from the bags and return the directory of the results."""
    goal = Identify.Goal(
        logs=["bags"], servo=bench.servo, models=list(MODELS), test=TEST, output="identified"
    )
    with Stage("identifying", float(len(MODELS))) as stage:

        def show(feedback: Any) -> None:
            if feedback.evaluations and feedback.model in MODELS:
                share = min(feedback.evaluation / feedback.evaluations, 1.0)
                words = f"identifying {feedback.model}: {feedback.best_mae * 1e3:.2f} mrad"
                stage.go(MODELS.index(feedback.model) + share, words, f"identifying {feedback.model}")

        client.run(Identify, "identify", goal, show, _IDENTIFICATION_TIMEOUT)
        stage.end(f"identified: {', '.join(MODELS)}")
    return output / "identified"


def evaluate(client: DemoClient, bench: DemoBench, bags: list[Path], identified: Path) -> Outcome:
    """Replay the held-out runs in MuJoCo, then ask the virtual servo what it really was."""
    summary = json.loads((identified / "summary.json").read_text())
    files = {name: identified / f"{name}.yaml" for name in MODELS}
    servos = {name: load_servo(path) for name, path in files.items()}
    held_out = tuple(run for run in load_recordings(bags) if run.name in summary["split"]["test"])
    positions: dict[str, list[NDArray[np.float64]]] = {name: [] for name in servos}
    words = "replaying in MuJoCo"
    with Stage(words, len(servos) * len(held_out)) as stage:
        for name, servo in servos.items():
            for run in held_out:
                positions[name].append(simulate_recording(servo, run, bench_effects=files[name]))
                stage.go(sum(map(len, positions.values())), words)
    revealed = yaml.safe_load(client.call(Trigger, f"{bench.virtual}/reveal", Trigger.Request()).message)
    hidden = {
        key: float(value)
        for part in ("motor", "friction")
        for key, value in revealed[part].items()
        if not isinstance(value, str)
    }
    replayed = Replayed(runs=held_out, positions=positions)
    return Outcome(
        resolution=bench.model.firmware.resolution,
        summary=summary,
        servos=servos,
        replayed=replayed,
        hidden=hidden,
    )


class Session:
    """`rclpy` and a client in a block."""

    def __init__(self, nodes: NodeProcesses) -> None:
        self._nodes = nodes

    def __enter__(self) -> DemoClient:
        """Join the graph."""
        self._client = DemoClient(self._nodes.check)
        return self._client

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave it."""
        self._client.close()
