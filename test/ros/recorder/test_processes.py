# SPDX-License-Identifier: Apache-2.0
"""Driver, recorder and virtual servo as processes of their own, as on a real bench; what survives a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bam_bench.msg import ServoStates
from rclpy.qos import qos_profile_sensor_data

from bam_core.recordings import load_recordings
from bam_ros.recorder import bag_shelf, load_session
from bam_ros.text.recorder_notices import (
    BagSetAside,
    RecordingEnded,
    RunRepeated,
    SessionRecorded,
    SessionStopped,
)
from test.ros.one_run import RUN, SESSION
from test.ros.ros_client import RosClient
from test.ros.ros_helpers import LATE, PATIENCE, wait_for

pytestmark = pytest.mark.ros


class Processes:
    """The bench's processes and a directory for what they leave."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.output = directory / "bags"
        self.session = directory / "session.yaml"
        self.session.write_text(SESSION)
        self._children: list[subprocess.Popen[str]] = []

    def start(self, module: str, *arguments: str) -> subprocess.Popen[str]:
        code = f"import sys; from {module} import main; sys.exit(main())"
        child = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._children.append(child)
        return child

    def start_bench(self) -> None:
        port = self.directory / "bus"
        self.start("bam_ros.emulators.dynamixel.node", "--ros-args", "-p", f"link:={port}")
        wait_for(port.exists, what="the virtual servo's port")
        self.start(
            "bam_ros.dynamixel.node",
            "--ros-args",
            "-p",
            f"port:={port}",
            "-p",
            "rate:=200.0",
            *(word for name, value in LATE.items() for word in ("-p", f"{name}:={value}")),
        )

    def bam_record(self) -> subprocess.Popen[str]:
        arguments = ("--session", str(self.session), "--output", str(self.output))
        return self.start("bam_ros.cli", "record", *arguments, "--virtual-bench", "virtual_dynamixel")

    def recorder_node(self) -> subprocess.Popen[str]:
        parameters = {
            "session_file": self.session,
            "output": self.output,
            "virtual_bench": "virtual_dynamixel",
            "autostart": "true",
        }
        arguments = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
        return self.start("bam_ros.recorder.node", "--ros-args", *arguments)

    def wait_for_data(self, seconds: float) -> None:
        """Return when a run has written about so much."""

        def has_data() -> bool:
            for child in self._children:
                if child.poll() is not None and child.stdout is not None:
                    pytest.fail(f"{child.args[-1]} ended with {child.returncode}: {child.stdout.read()}")
            return self.recorded() > seconds * 10_000

        wait_for(has_data, what="data on disk")

    def recorded(self) -> int:
        """Bytes in the bag of the run in progress."""
        return sum(file.stat().st_size for file in self.output.glob(f"{RUN}/*.mcap"))

    def close(self) -> None:
        for child in reversed(self._children):
            if child.poll() is None:
                child.send_signal(signal.SIGINT)
        for child in self._children:
            try:
                child.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


@pytest.fixture
def bench(ros_domain: int, tmp_path: Path) -> Iterator[Processes]:
    bench = Processes(tmp_path)
    bench.start_bench()
    yield bench
    bench.close()


@pytest.fixture
def torque(ros_domain: int) -> Iterator[list[bool]]:
    """Whether torque was on, state by state, as any listener hears it."""
    client = RosClient(ros_domain)
    heard: list[bool] = []
    client.node.create_subscription(
        ServoStates,
        "servo_states",
        lambda states: heard.append(states.torque_enabled[0]),
        qos_profile_sensor_data,
    )

    class Torque(list[bool]):
        def is_off(self) -> bool:
            del heard[:]
            client.wait_for(lambda: len(heard) > 3)
            return not heard[-1]

    yield Torque()
    client.close()


@pytest.mark.long
def test_a_killed_recorder_leaves_all_but_the_last_second_and_resumes(bench: Processes) -> None:
    recorder = bench.bam_record()
    bench.wait_for_data(3.0)
    recorder.kill()
    killed = time.time()
    recorder.wait()

    partial = load_recordings([bench.output / RUN])[0]
    assert killed - log_times(bench.output / RUN)[-1] < 1.0
    assert partial.time[-1] > 1.0
    assert not (bench.output / RUN / "metadata.yaml").exists()

    broken = bag_shelf.inspect(bench.output, load_session(bench.session), "/bench_run").broken[RUN]
    assert broken.kind == "interrupted"
    said, _ = (again := bench.bam_record()).communicate(timeout=PATIENCE)
    assert again.returncode == 0, said
    assert str(RunRepeated(run=RUN, bag=broken)) in said
    assert str(BagSetAside(run=RUN, aside=f"{RUN}.interrupted-1")) in said
    assert str(SessionRecorded(output=bench.output, recorded=1)) in said
    complete = load_recordings([bench.output])
    assert [recording.name for recording in complete] == [RUN]
    assert complete[0].time[-1] == pytest.approx(6.0, abs=0.1)
    assert load_recordings([bench.output / f"{RUN}.interrupted-1"])[0].sha256 == partial.sha256

    said, _ = (third := bench.bam_record()).communicate(timeout=PATIENCE)
    assert third.returncode == 0
    assert str(SessionRecorded(output=bench.output, recorded=0, resumed=1)) in said


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_a_signal_ends_a_run_readable_with_the_servo_released(
    bench: Processes, torque: list[bool], number: signal.Signals
) -> None:
    start = bench.bam_record if number is signal.SIGINT else bench.recorder_node
    recorder = start()
    bench.wait_for_data(1.5)
    os.killpg(recorder.pid, number)
    said, _ = recorder.communicate(timeout=PATIENCE)
    assert torque.is_off()
    assert recorder.returncode == (130 if number is signal.SIGINT else 0), said
    runs = len(load_session(bench.session).runs())
    stopped = SessionStopped(output=bench.output, complete=0, runs=runs)
    assert str(stopped if number is signal.SIGINT else RecordingEnded(kind="node")) in said
    assert "Traceback" not in said
    assert not (bench.output / RUN / "metadata.yaml").exists()
    assert len(log_times(bench.output / RUN)) > 50  # of which a machine that stalls makes no recording


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("servo: xl330", "servo is xl330, but the driver found mx106"),
        pytest.param("id: 4", "id is 4, but joint 'joint' of the driver has id 1", marks=pytest.mark.long),
    ],
)
def test_a_session_for_another_servo_is_refused_before_anything_moves(
    bench: Processes, change: str, reason: str
) -> None:
    lines = [line for line in SESSION.splitlines() if line.split(":")[0] != change.split(":")[0]]
    bench.session.write_text("\n".join([*lines, change]))
    said, _ = (recorder := bench.bam_record()).communicate(timeout=PATIENCE)
    assert recorder.returncode == 2, said
    assert reason in said
    assert "Traceback" not in said
    assert not bench.output.exists()


def log_times(bag: Path) -> list[float]:
    """When the states in a bag were written, s since the epoch."""
    from bam_core.recordings.bag_files import read_messages

    messages = read_messages(next(bag.glob("*.mcap")), {"bam_bench/msg/ServoStates"}).messages
    return [message.log_time * 1e-9 for message in messages]
