# SPDX-License-Identifier: Apache-2.0
"""Controllers in another process read states and command joints over shared memory; their death lets go."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bam_core.errors import BamError, Conflict, OutOfRange, Unavailable, WrongValue
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.command_inputs import CommandInputs
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.loop_settings import LoopSettings
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.driver.shared_layout import LONGEST_NAME, MOST_JOINTS, Torque
from bam_ros.driver.shared_memory import SharedMemory
from bam_ros.driver.shared_segment import SharedSegment, segment_path
from test.ros.ros_helpers import LATE, PATIENCE, FakeBus, VirtualServos, wait_for
from test.ros.shared_client import SharedClient

pytestmark = pytest.mark.ros

JOINTS = ("shoulder", "elbow")
TIMEOUT = 0.3  # s, on a clock that a test sets
LIMITS = ((-1.0, 1.0),) * len(JOINTS)
OVERHEATING = 2
BOTH_ON, BOTH_UNNAMED = (Torque.ON, Torque.ON), (Torque.UNNAMED, Torque.UNNAMED)


class Bus(FakeBus):
    """Two servos on a clock that a test sets.

    Args:
        kind: what the joints are commanded by.
    """

    def __init__(self, kind: CommandKind = CommandKind.POSITION) -> None:
        super().__init__(JOINTS, 0.1)
        self.kind = kind
        self.time = 0.0

    @property
    def command_kinds(self) -> tuple[CommandKind, ...]:
        return (self.kind,) * len(JOINTS)

    def now(self) -> float:
        return self.time

    def _pass_time(self) -> int:
        return time.time_ns()


class Shared:
    """A loop with shared memory, which a test lets step, and its client."""

    def __init__(self, bus: Bus, name: str) -> None:
        self.bus = bus
        self.warnings: list[str] = []
        self.memory = SharedMemory(name, bus, lambda: LIMITS, self.warnings.append)
        settings = LoopSettings(
            rate=0.0,
            command_timeout=TIMEOUT,
            torque_on_speed=100.0,
            speed_limit=100.0,
            following_error=0.0,
            limits=LIMITS,
            failures=5,
        )
        self.loop = ServoLoop(
            bus, settings, self.memory.publish, lambda *_: self.memory.report(), self.memory.poll
        )
        self.memory.activate(self.loop, CommandInputs(self.loop, bus.now, len(JOINTS), TIMEOUT), None)
        self.client = SharedClient(name)

    def step(self, seconds: float = 0.01, times: int = 1) -> None:
        for _ in range(times):
            self.bus.time += seconds
            self.loop.step()

    def stream(self, write: Callable[[], object], times: int = 5) -> None:
        for _ in range(times):
            write()
            self.step()

    @property
    def torque(self) -> list[int]:
        return self.client.state["torque_enabled"][: len(JOINTS)].tolist()

    def close(self) -> None:
        self.client.close()
        self.memory.close()


@pytest.fixture
def name() -> Iterator[str]:
    """Of a segment, which is removed at the end: some tests kill its node."""
    name = f"test_{os.getpid()}"
    yield name
    segment_path(name).unlink(missing_ok=True)


@pytest.fixture
def make(name: str) -> Iterator[Callable[[Bus], Shared]]:
    with contextlib.ExitStack() as stack:

        def make(bus: Bus) -> Shared:
            shared = Shared(bus, name)
            stack.callback(shared.close)
            return shared

        yield make


@pytest.fixture
def shared(make: Callable[[Bus], Shared]) -> Shared:
    return make(Bus())


def test_a_sample_is_what_the_bus_measured(shared: Shared) -> None:
    shared.step(times=3)
    state, header = shared.client.state, shared.client.header
    assert [each.decode() for each in header["name"][:2]] == list(JOINTS)
    assert (int(header["joints"]), int(header["pid"])) == (2, os.getpid())
    assert (int(state["active"]), int(state["number"])) == (1, 3)
    assert state["position"][:2].tolist() == [0.1, 0.1]
    assert all(math.isnan(value) for value in state["current"][:2])
    assert int(state["published"]) > 0


def test_goals_move_joints_with_torque_on(shared: Shared) -> None:
    shared.step()
    shared.stream(lambda: shared.client.on(0.4, -0.2))
    state = shared.client.state
    assert shared.bus.position == [0.4, -0.2]
    assert state["position"][:2].tolist() == state["goal"][:2].tolist() == [0.4, -0.2]
    assert shared.torque == [1, 1]
    assert int(state["taken"]) == int(shared.client.command["number"])


def test_torque_goes_off_once_the_heartbeat_has_stood_still_for_the_timeout(shared: Shared) -> None:
    shared.step()
    shared.stream(lambda: shared.client.on(0.4, -0.2))
    shared.step(TIMEOUT - 0.01)
    assert shared.torque == [1, 1]
    shared.step(0.02)
    assert shared.torque == [0, 0]
    shared.stream(lambda: shared.client.on(0.4, -0.2))
    assert shared.torque == [1, 1]


def test_a_client_that_died_while_it_wrote_is_one_that_is_silent(shared: Shared) -> None:
    shared.step()
    shared.stream(lambda: shared.client.on(0.4, -0.2))
    shared.client.command["lock"] += 1
    shared.client.command["number"] += 1
    shared.client.command["goal"][:2] = 0.9
    shared.step(TIMEOUT + 0.01)
    assert shared.torque == [0, 0]
    assert shared.bus.position == [0.4, -0.2]
    shared.stream(lambda: shared.client.on(0.3, 0.3))  # the next client mends the lock
    assert shared.bus.position == [0.3, 0.3]


def test_commands_from_before_the_activation_and_old_ones_switch_nothing_on(shared: Shared) -> None:
    shared.client.on(0.4, 0.4)
    inputs = CommandInputs(shared.loop, shared.bus.now, len(JOINTS), TIMEOUT)
    shared.memory.activate(shared.loop, inputs, None)
    shared.step(times=3)
    assert shared.torque == [0, 0]
    shared.stream(lambda: shared.client.write(BOTH_ON, (0.4, 0.4), age=1.0))
    assert shared.torque == [0, 0]


def test_a_joint_without_goal_or_torque_is_not_named(shared: Shared) -> None:
    shared.step()
    shared.stream(lambda: shared.client.on(0.4, math.nan))
    assert shared.torque == [1, 0]
    shared.stream(lambda: shared.client.write((Torque.UNNAMED, Torque.ON), (0.5, 0.5)), 40)
    assert shared.torque == [0, 1]


def test_a_goal_outside_the_limits_is_ignored_with_one_line(shared: Shared) -> None:
    shared.step()
    shared.stream(lambda: shared.client.on(0.4, 1.5))
    assert shared.torque == [1, 0]
    assert len(shared.warnings) == 1


def test_torque_off_holds_whatever_is_streamed_and_on_follows_at_once(shared: Shared) -> None:
    shared.step()
    shared.stream(lambda: shared.client.on(0.4, 0.4))
    shared.stream(shared.client.off, 1)
    assert shared.torque == [0, 0]
    shared.stream(lambda: shared.client.on(0.2, 0.2))
    assert (shared.torque, shared.bus.position) == ([1, 1], [0.2, 0.2])


def test_a_fault_is_latched_until_it_is_reset_after_its_cause_has_passed(shared: Shared) -> None:
    shared.step()
    shared.stream(lambda: shared.client.on(0.4, 0.4))
    shared.bus.errors[1] = OVERHEATING
    shared.stream(lambda: shared.client.write(BOTH_UNNAMED, (0.4, 0.4)))
    state = shared.client.state
    assert (shared.torque, int(state["latched"])) == ([0, 0], 1)
    assert state["hardware_error"][:2].tolist() == [0, OVERHEATING]
    assert state["stopped"][:2].tolist() == [1, 1]
    assert state["fault"].decode() == str(shared.loop.fault_reason)
    shared.bus.errors[1] = 0
    shared.stream(lambda: shared.client.write(BOTH_UNNAMED, (0.4, 0.4)))
    assert int(shared.client.state["latched"]) == 1
    shared.client.write(BOTH_UNNAMED, (0.4, 0.4), reset=True)
    shared.step(times=2)
    assert int(shared.client.state["answered"]) == 0  # the last command asks for torque still
    shared.step(TIMEOUT)
    shared.step(times=2)
    state = shared.client.state
    assert (int(state["latched"]), int(state["answered"]), state["fault"]) == (0, 1, b"")
    assert state["stopped"][:2].tolist() == [0, 0]
    shared.stream(lambda: shared.client.on(0.3, 0.3))
    assert shared.torque == [1, 1]


def test_a_reset_while_the_cause_persists_is_answered_and_ends_nothing(shared: Shared) -> None:
    shared.step()
    shared.bus.errors[0] = OVERHEATING
    shared.step(times=2)
    shared.client.write(BOTH_UNNAMED, (math.nan, math.nan), reset=True)
    shared.step(times=2)
    state = shared.client.state
    assert (int(state["latched"]), int(state["answered"])) == (1, 1)


@pytest.mark.parametrize("kind", [CommandKind.VELOCITY, CommandKind.CURRENT, CommandKind.DUTY])
def test_set_points_are_in_the_unit_of_the_joint(make: Callable[[Bus], Shared], kind: CommandKind) -> None:
    shared = make(Bus(kind))
    shared.step()
    shared.stream(lambda: shared.client.on(0.25, -0.25))
    assert shared.bus.goals[-1].setpoint == (0.25, -0.25)
    shared.step(TIMEOUT / 2.0 + 0.01)
    assert shared.bus.goals[-1].setpoint == (0.0, 0.0)
    shared.step(TIMEOUT)
    assert shared.torque == [0, 0]


def test_clients_see_that_the_node_is_not_active_any_more(shared: Shared) -> None:
    shared.step()
    shared.stream(lambda: shared.client.on(0.4, 0.4))
    shared.memory.deactivate()
    assert (int(shared.client.state["active"]), shared.torque) == (0, [0, 0])


def segment(name: str, joints: Sequence[str] = JOINTS) -> SharedSegment:
    return SharedSegment(name, joints, (CommandKind.POSITION,) * len(joints))


def test_only_its_user_can_open_a_segment_which_has_one_node_and_one_client(name: str) -> None:
    first = segment(name)
    assert stat.S_IMODE(segment_path(name).stat().st_mode) == 0o600
    with pytest.raises(Conflict):
        segment(name)
    client = SharedClient(name)
    with pytest.raises(Conflict):
        SharedClient(name)
    client.close()
    SharedClient(name).close()
    first.close()
    assert not segment_path(name).exists()
    first.close()


def test_the_segment_of_a_dead_node_is_replaced(name: str) -> None:
    script = (
        "import os, sys; from test.ros.driver.test_shared_memory import segment;"
        " kept = segment(sys.argv[1]); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", script, name], check=False)
    assert killed.returncode == -signal.SIGKILL
    before = segment_path(name).stat().st_ino
    new = segment(name)
    assert segment_path(name).stat().st_ino != before
    new.close()


def test_a_segment_that_the_system_refuses_leaves_nothing_behind(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "ftruncate", full)
        with pytest.raises(Unavailable):
            SharedSegment(name, JOINTS, Bus().command_kinds)
    assert not segment_path(name).exists()
    SharedSegment(name, JOINTS, Bus().command_kinds).close()


@pytest.mark.parametrize("wrong", ["", "a/b", "..", ".hidden", "a" * 101, "ä"])
def test_other_names_are_refused(wrong: str) -> None:
    with pytest.raises(WrongValue):
        segment(wrong)


@pytest.mark.parametrize("joints", [["j"] * (MOST_JOINTS + 1), ["j" * LONGEST_NAME]])
def test_what_has_no_room_is_refused(name: str, joints: list[str]) -> None:
    with pytest.raises(OutOfRange):
        segment(name, joints)
    assert not segment_path(name).exists()


def attached(name: str, *, watches: bool = False) -> SharedClient:
    """A client of a segment that may not be there yet."""
    found: list[SharedClient] = []

    def try_to() -> bool:
        with contextlib.suppress(BamError):
            found.append(SharedClient(name, watches=watches))
        return bool(found)

    wait_for(try_to)
    return found[0]


@pytest.fixture
def driver(name: str, ros_domain: int) -> Iterator[Any]:
    """The node `dynamixel` with an emulated MX-106, in a process of its own."""
    with contextlib.ExitStack() as stack:
        virtual = stack.enter_context(
            VirtualServos(servo="mx106", pendulum=PendulumBench(mass=0.5, length=0.15))
        )
        values = {
            "port": virtual.path,
            "baud_rate": 1_000_000,
            "shared_memory": name,
            "rate": 100.0,
            "failures": 1000,
            **LATE,
        }
        parameters = [word for each, value in values.items() for word in ("-p", f"{each}:={value}")]
        node = [sys.executable, "-m", "bam_ros.dynamixel.node", "--ros-args"]
        process = subprocess.Popen([*node, *parameters])
        stack.callback(process.wait)
        stack.callback(process.kill)
        yield SimpleNamespace(process=process, servos=virtual)


PLUGIN = Path(__file__).parents[3] / "bam_ros2_control"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the plugin for ros2_control, without ros2_control."""
    program = tmp_path_factory.mktemp("client") / "client"
    sources = [PLUGIN / "src" / "shared_client.cpp", Path(__file__).with_name("shared_client.cc")]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{PLUGIN / 'include'}"]
    subprocess.run(["g++", *flags, *sources, "-o", program], check=True)
    return program


def test_the_client_of_the_plugin_drives_the_driver_which_lets_go_where_it_is_killed(
    name: str, driver: Any, compiled: Path
) -> None:
    watcher = attached(name, watches=True)
    wait_for(lambda: int(watcher.state["number"]) > 0)
    client = subprocess.Popen([compiled, name, "0.3"], stdout=subprocess.PIPE, text=True)
    try:
        assert [client.stdout.readline() for _ in range(2)] == ["joint 0\n", "reached\n"]
        wait_for(lambda: driver.servos.get("torque_enable") == 1)
        assert subprocess.run([compiled, name, "0.3"], check=False, capture_output=True).returncode == 1
    finally:
        client.kill()
        client.communicate()
    wait_for(lambda: not watcher.state["torque_enabled"][0])
    wait_for(lambda: driver.servos.get("torque_enable") == 0)


def test_the_driver_lets_go_where_its_client_is_killed(name: str, driver: Any) -> None:
    watcher = attached(name, watches=True)
    wait_for(lambda: int(watcher.state["number"]) > 0)
    client = subprocess.Popen([sys.executable, "-m", "test.ros.shared_client", name, "0.3"])
    try:
        wait_for(lambda: abs(float(watcher.state["position"][0]) - 0.3) < 0.05)
        wait_for(lambda: driver.servos.get("torque_enable") == 1)
        assert int(watcher.command["pid"]) == client.pid
    finally:
        client.kill()
        client.wait()
    wait_for(lambda: not watcher.state["torque_enabled"][0])
    wait_for(lambda: driver.servos.get("torque_enable") == 0)


def test_the_node_removes_its_segment_and_refuses_one_that_is_taken(
    name: str, driver: Any, ros_domain: int, capfd: pytest.CaptureFixture[str]
) -> None:
    attached(name).close()
    simulator = [sys.executable, "-m", "bam_ros.simulator.node", "--ros-args", "-p", f"shared_memory:={name}"]
    assert subprocess.run(simulator, check=False, timeout=PATIENCE).returncode == 2
    driver.process.send_signal(signal.SIGINT)
    assert driver.process.wait(PATIENCE) == 0
    assert not segment_path(name).exists()


def test_the_simulator_is_driven_in_the_same_way(name: str, ros_domain: int) -> None:
    simulator = [sys.executable, "-m", "bam_ros.simulator.node", "--ros-args", "-p", f"shared_memory:={name}"]
    process = subprocess.Popen(simulator)
    try:
        client = attached(name)

        def reached() -> bool:
            client.on(0.3)
            return abs(float(client.state["goal"][0]) - 0.3) < 1e-9

        wait_for(reached)
        client.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
    assert not segment_path(name).exists()
