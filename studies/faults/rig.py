# SPDX-License-Identifier: Apache-2.0
"""A driver at work: its process, its clients, what it says, and what its servos really do."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType, TracebackType

from bam_bench.msg import ServoStates
from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from bam_core.errors import Unavailable
from bam_ros.driver.servo_node import STATE_QOS
from bam_ros.node.client_node import ClientNode
from studies.faults.breakable import WAIT
from studies.faults.servos import LENGTH, MASS, Servos, ros_arguments
from studies.faults.streamer import stream

TIMEOUT = 90.0
"""s until something that has to come is given up."""
_STANDS_STILL = 0.3  # s without states after which a simulation is not stepped any more, and drives nothing
_CLIENTS = 3  # at most: each has to be discovered by all others
_POLL_PERIOD = 4e-3  # s between looks at the servos
_FORKED = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload([stream.__module__])


def end_with_what_was_started() -> None:
    """Let SIGTERM end this process as Ctrl-C does: drivers and clients that it started are ended, too."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)


class Watcher:
    """The graph as the matrix sees it: states, diagnostics, and calls; a thread spins it."""

    def __init__(self) -> None:
        self._client = ClientNode("fault_matrix")
        node = self._client.node
        self.state: ServoStates | None = None
        self.arrived = 0.0
        self.said: deque[tuple[float, str]] = deque(maxlen=5000)
        node.create_subscription(ServoStates, "servo_states", self._on_state, STATE_QOS)
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._trajectories = node.create_publisher(JointTrajectory, "feedforward/joint_trajectory", 10)
        self._mounted = node.create_client(Trigger, "recorder/load_mounted")
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._stopped.is_set():
            self._client.spin_once(0.02)

    def _on_state(self, message: ServoStates) -> None:
        self.state, self.arrived = message, time.monotonic()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        now = time.monotonic()
        self.said.extend((now, f"{status.name}: {status.message}") for status in message.status)

    @property
    def takes_trajectories(self) -> bool:
        """Whether a driver would get one that is sent now."""
        return bool(self._trajectories.get_subscription_count())

    def swing(self, joints: Sequence[str]) -> None:
        """Send a trajectory that lasts, for drivers that are commanded so."""
        points = [
            JointTrajectoryPoint(
                positions=[0.3 * (index % 2)] * len(joints), time_from_start=Duration(sec=2 * index)
            )
            for index in range(1, 10)
        ]
        self._trajectories.publish(JointTrajectory(joint_names=list(joints), points=points))

    def call(self, service: str) -> None:
        """Call a service without arguments."""
        client = self._client.node.create_client(Trigger, service)
        if not client.wait_for_service(TIMEOUT):
            raise Unavailable(service, "not there", advice="see the driver's log")
        future = client.call_async(Trigger.Request())
        deadline = time.monotonic() + TIMEOUT
        while not future.done() and time.monotonic() < deadline:
            time.sleep(_POLL_PERIOD)
        self._client.node.destroy_client(client)

    def load_mounted(self) -> None:
        """Tell the recorder that the load hangs, where it asks."""
        if self._mounted.service_is_ready():
            self._mounted.call_async(Trigger.Request())

    def close(self) -> None:
        """Leave the graph."""
        self._stopped.set()
        self._thread.join()
        self._client.close()


class Streamer:
    """A client process of some joints; see streamer.py.

    Forked from a process that has imported what it needs: a client that is killed and started again every few
    seconds would otherwise take most of a processor.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        self._joints = list(joints)
        self._process: BaseProcess | None = None
        self._lines: Connection | None = None

    def say(self, line: str) -> None:
        """Let it stream what the line says; it is started where it does not live."""
        if self._lines is None:
            theirs, self._lines = _FORKED.Pipe(duplex=False)
            arguments = (self._joints, theirs, dict(os.environ))
            self._process = _FORKED.Process(target=stream, args=arguments, daemon=True)
            self._process.start()
            theirs.close()
        self._lines.send(line)

    def silence(self) -> None:
        """Let it say nothing, where it lives."""
        if self._lines is not None:
            self.say("silent")

    def kill(self) -> None:
        """As a crash ends it; idempotent."""
        process, self._process = self._process, None
        lines, self._lines = self._lines, None
        if process is not None and lines is not None:
            process.kill()
            process.join()
            process.close()
            lines.close()


class Rig:
    """Servos, their driver and its clients.

    Args:
        servos: started.
        watcher: of the graph.
    """

    def __init__(self, servos: Servos, watcher: Watcher) -> None:
        self.servos, self.watcher = servos, watcher
        self._directory = tempfile.TemporaryDirectory(prefix="bam_faults_")
        self._log = Path(self._directory.name) / "driver.log"
        self._recorder_log = Path(self._directory.name) / "recorder.log"
        self._second_log = Path(self._directory.name) / "second.log"
        self.driver: subprocess.Popen[bytes] | None = None
        self._recorder: subprocess.Popen[bytes] | None = None
        self._second: subprocess.Popen[bytes] | None = None
        joints_per_client = (
            max(len(servos.joints) // _CLIENTS, 1) if servos.by_position else len(servos.joints)
        )
        joints = [
            servos.joints[at : at + joints_per_client]
            for at in range(0, len(servos.joints), joints_per_client)
        ]
        self._repairs: Sequence[str] = ()
        self.clients = [Streamer(names) for names in joints]

    def break_(self, lines: Sequence[str], repairs: Sequence[str]) -> None:
        """Break something of the servos or their line; `repair` undoes it."""
        for line in lines:
            self.servos.request(line)
        self._repairs = repairs

    def repair(self) -> None:
        """Undo what was broken, once."""
        repairs, self._repairs = self._repairs, ()
        for line in repairs:
            self.servos.request(line)

    # processes

    def start_driver(self, changes: Mapping[str, object] | None = None) -> None:
        """Start the driver, with other parameters where `changes` says so; wait until it publishes states."""
        self._log.write_text("")
        began = time.monotonic()
        self.driver = self.spawn_driver(self._log, changes)
        self.wait(lambda: self.watcher.arrived > began + 0.1, "states of the driver")

    def spawn_driver(
        self, log: Path, changes: Mapping[str, object] | None = None, *, waits: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start a driver that writes into a log, with other parameters where `changes` says so.

        One that `waits` is loaded, and begins with a line on its standard input.
        """
        command = [sys.executable, "-m", "studies.faults.breakable", *([WAIT] if waits else [])]
        parameters = ros_arguments({**self.servos.parameters, **(changes or {})})
        with log.open("wb") as output:
            return subprocess.Popen(
                [*command, self.servos.module, *parameters],
                stdin=subprocess.PIPE if waits else None,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def load_second_driver(self) -> None:
        """Load another driver of the same bus, which does not begin yet.

        Loading takes seconds of a busy machine, and a recorded run is over after six.
        """
        self._second = self.spawn_driver(self._second_log, waits=True)

    def second_driver(self) -> str:
        """Let the second driver begin, until it ends; return its last words."""
        second = self._second
        assert second is not None
        try:
            second.communicate(b"\n", TIMEOUT)
        except subprocess.TimeoutExpired:
            return "it did not end"
        return self._second_log.read_text(errors="replace").strip()

    def end_second_driver(self) -> None:
        """End the second driver; idempotent."""
        second, self._second = self._second, None
        if second is not None:
            second.kill()
            second.communicate()

    def end_driver(self) -> None:
        """End it in whatever state it is."""
        driver, self.driver = self.driver, None
        if driver is None:
            return
        for number in (signal.SIGCONT, signal.SIGINT):
            with contextlib.suppress(ProcessLookupError):
                driver.send_signal(number)
        try:
            driver.wait(10.0)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(driver.pid, signal.SIGKILL)
            driver.wait()

    def start_recorder(self) -> None:
        """Record a session of one long run, with the load that hangs."""
        session = Path(self._directory.name) / "session.yaml"
        session.write_text(
            f"servo: {self.servos.servo}\njoint: {self.servos.joints[0]}\nid: 1\n"
            f"supply_voltage: {self._supply()}\nloads:\n  - {{mass: {MASS}, length: {LENGTH}}}\n"
            f"gains: [{self.servos.kp:g}]\nscripts: [sin_sin]\n"
        )
        output = tempfile.mkdtemp(dir=self._directory.name)
        names = {"driver": self.servos.node, "session_file": session, "output": output}
        self._recorder = subprocess.Popen(
            [sys.executable, "-m", "bam_ros.recorder.node", *ros_arguments({**names, "autostart": True})],
            stdout=subprocess.DEVNULL,
            stderr=self._recorder_log.open("wb"),
            start_new_session=True,
        )

    def _supply(self) -> float:
        state = self.watcher.state
        assert state is not None
        measured = float(state.voltage[0])
        return measured if measured > 0.0 else 15.0

    def reboot(self) -> None:
        """Reboot the servos that are at fault, as a client does."""
        self.watcher.call(f"{self.servos.node}/reboot")

    def wait_for_recording(self) -> None:
        """Hang the load where the recorder asks for it, until it moves the arm."""

        def moves() -> bool:
            self.watcher.load_mounted()
            time.sleep(0.2)
            return any(self.driven())

        self.wait(moves, "a recording")

    def kill_recorder(self) -> None:
        """As a crash ends it."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.kill()
            recorder.wait()

    def stop_recorder(self) -> None:
        """Let it stand still."""
        if self._recorder is not None:
            self._recorder.send_signal(signal.SIGSTOP)

    def run_given_up(self) -> bool:
        """Whether the recorder has ended a run before its time and begins it anew."""
        return "(attempt " in self._recorder_log.read_text(errors="replace")

    @property
    def recording(self) -> bool:
        """Whether a recorder was started."""
        return self._recorder is not None

    @property
    def recording_over(self) -> bool:
        """Whether the recorder has ended its session."""
        return self._recorder is not None and self._recorder.poll() is not None

    # what is so

    def driven(self) -> tuple[bool, ...]:
        """Return which servos are driven: as they are, or where they are the driver's, as it publishes."""
        result = self.servos.driven()
        if result is not None:
            return result
        alive = self.driver is not None and self.driver.poll() is None
        state = self.watcher.state
        stands_still = time.monotonic() - self.watcher.arrived > _STANDS_STILL
        if not alive or state is None or stands_still:
            return (False,) * len(self.servos.joints)
        return tuple(bool(on) for on in state.torque_enabled)

    def said_since(self, began: float, pattern: str) -> str:
        """Return a line of the diagnostics since then, or of the driver's log, that matches; else ""."""
        lines = [line for when, line in list(self.watcher.said) if when > began]
        lines += self._log.read_text(errors="replace").splitlines()
        return next((line for line in lines if re.search(pattern, line)), "")

    def errors(self, besides: str) -> list[str]:
        """Return the lines of the driver's log that are errors and do not match."""
        lines = self._log.read_text(errors="replace").splitlines()
        return [line for line in lines if re.search("ERROR|Traceback", line) and not re.search(besides, line)]

    def wait(self, predicate: Callable[[], object], what: str, timeout: float = TIMEOUT) -> None:
        """Wait; raises Unavailable where it does not come."""
        deadline = time.monotonic() + timeout
        while not predicate():
            if time.monotonic() > deadline:
                words = (path.read_text(errors="replace").splitlines()[-1:] for path in self._logs())
                told = dict.fromkeys(line for _, line in list(self.watcher.said)[-6:])
                log = " | ".join([*(line for last in words for line in last), *told])
                raise Unavailable(what, f"not there after {timeout:g} s ({log})", advice="see the log")
            time.sleep(_POLL_PERIOD)

    def _logs(self) -> list[Path]:
        return sorted(Path(self._directory.name).glob("*.log"))

    def looks(self, seconds: float) -> Iterator[tuple[float, tuple[bool, ...]]]:
        """Give which servos are driven, again and again, with the time s since the start."""
        began = time.monotonic()
        while (elapsed := time.monotonic() - began) < seconds:
            driven = self.driven()
            yield time.monotonic() - began, driven
            time.sleep(max(_POLL_PERIOD - (time.monotonic() - began - elapsed), 0.0))

    def __enter__(self) -> Rig:
        """Give it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all processes."""
        self.end_second_driver()
        self.kill_recorder()
        self.end_driver()
        for client in self.clients:
            client.kill()
        self._directory.cleanup()
