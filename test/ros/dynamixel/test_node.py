# SPDX-License-Identifier: Apache-2.0
"""The driver as a process of its own, on virtual servos: torque goes off on every way out."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bam_bench.msg import ServoCommands, ServoStates
from bam_bench.srv import ReadRegister, WriteRegister
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.qos import qos_profile_sensor_data
from std_srvs.srv import Trigger

from bam_ros.driver.hardware_errors import describe_hardware_errors
from bam_ros.text.driver_notices import BusBack
from test.ros.ros_client import RosClient
from test.ros.ros_helpers import (
    LATE,
    LONGEST_COMMAND_TIMEOUT,
    PATIENCE,
    VirtualServos,
    bus_is_well,
    client_maker,
    keep_number,
    wait_for,
)

pytestmark = pytest.mark.ros

MakeVirtual = Callable[..., VirtualServos]
Driver = subprocess.Popen[str]
StartDriver = Callable[..., Driver]


class Client(RosClient):
    """Commands and listens, in the test's own process."""

    def __init__(self, domain: int) -> None:
        super().__init__(domain)
        self.states: list[ServoStates] = []
        self.diagnostics: list[DiagnosticStatus] = []
        self.node.create_subscription(
            ServoStates, "servo_states", self.states.append, qos_profile_sensor_data
        )
        self.node.create_subscription(
            DiagnosticArray, "/diagnostics", lambda array: self.diagnostics.extend(array.status), 10
        )
        self._commands = self.node.create_publisher(ServoCommands, "servo_commands", 1)

    def said(self) -> str:
        return "; ".join(dict.fromkeys(status.message for status in self.diagnostics))

    def command(self, position: float, *, torque: bool = True) -> None:
        self._commands.publish(
            ServoCommands(name=["joint"], torque_enabled=[torque], goal_position=[position])
        )

    def hold(self, virtual: VirtualServos, position: float = 0.2) -> None:
        """Command until torque is on and the driver follows."""

        def follows() -> bool:
            self.command(position)
            return (
                virtual.get("torque_enable") == 1 and abs(self.states[-1].goal_position[0] - position) < 2e-3
            )

        self.wait_for(lambda: self.states)
        self.wait_for(follows)


@pytest.fixture
def make_client(ros_domain: int) -> Iterator[Callable[[], Client]]:
    with client_maker(Client, ros_domain) as make:
        yield make


MakeClient = Callable[[], Client]


@pytest.fixture
def start_driver(ros_domain: int) -> Iterator[StartDriver]:
    drivers: list[Driver] = []

    def start(port: str, *, ready: bool = True, **parameters: object) -> Driver:
        # The emulator shares this process with the client: it answers late now and then, and so do commands.
        patient = {"command_timeout": LONGEST_COMMAND_TIMEOUT, "failures": 1000, "rate": 100.0, **LATE}
        values = {"port": port, "baud_rate": 1_000_000, **patient, **parameters}
        arguments = [word for name, value in values.items() for word in ("-p", f"{name}:={value}")]
        driver = subprocess.Popen(
            [sys.executable, "-m", "bam_ros.dynamixel.node", "--ros-args", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        drivers.append(driver)
        if ready:
            assert driver.stderr is not None
            assert port in driver.stderr.readline()
        return driver

    yield start
    for driver in drivers:
        driver.kill()
        driver.communicate()


def wait_for_release(virtual: VirtualServos) -> None:
    wait_for(lambda: not virtual.get("torque_enable"), what="torque off")


@pytest.mark.parametrize("servo", ["mx106", "xl330"])
@pytest.mark.parametrize(
    "signals",
    [
        pytest.param((signal.SIGINT,), id="SIGINT"),
        pytest.param((signal.SIGINT, signal.SIGINT), id="SIGINT twice", marks=pytest.mark.long),
        pytest.param((signal.SIGTERM,), id="SIGTERM", marks=pytest.mark.long),
        pytest.param((signal.SIGHUP,), id="SIGHUP", marks=pytest.mark.long),
    ],
)
def test_a_signal_releases_and_ends_well(
    servo: str,
    signals: tuple[signal.Signals, ...],
    make_client: MakeClient,
    virtual_servos: MakeVirtual,
    start_driver: StartDriver,
) -> None:
    virtual = virtual_servos(servo=servo)
    driver = start_driver(virtual.path)
    client = make_client()
    client.hold(virtual)
    for number in signals:
        os.killpg(driver.pid, number)
    wait_for_release(virtual)
    _, log = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 0
    assert "Traceback" not in log


@pytest.mark.parametrize("servo", ["mx106", "xl330"])
def test_kill_9_releases(
    servo: str, make_client: MakeClient, virtual_servos: MakeVirtual, start_driver: StartDriver
) -> None:
    virtual = virtual_servos(servo=servo)
    driver = start_driver(virtual.path)
    client = make_client()
    client.hold(virtual)
    os.killpg(driver.pid, signal.SIGKILL)
    wait_for_release(virtual)
    # The guardian then gives the port back, so that the next driver can have it.
    start_driver(virtual.path)
    make_client().hold(virtual)


@pytest.mark.parametrize("servo", [pytest.param("mx106", marks=pytest.mark.long), "xl330"])
def test_a_frozen_driver_loses_its_servo(
    servo: str, make_client: MakeClient, virtual_servos: MakeVirtual, start_driver: StartDriver
) -> None:
    virtual = virtual_servos(servo=servo, patient=False)
    driver = start_driver(virtual.path)
    client = make_client()
    client.hold(virtual)
    os.kill(driver.pid, signal.SIGSTOP)
    if servo == "xl330":
        client.wait_for(lambda: virtual.get("bus_watchdog") < 0)
    client.wait_for(lambda: not virtual.get("torque_enable"))
    os.kill(driver.pid, signal.SIGCONT)
    client.wait_for(
        lambda: any(
            status.level == DiagnosticStatus.ERROR
            and any(word in status.message for word in ("silent", "stood still"))
            for status in client.diagnostics
        )
    )
    assert virtual.get("torque_enable") == 0


def test_a_lost_command_stream_releases_and_says_so(
    make_client: MakeClient, virtual_servos: MakeVirtual, start_driver: StartDriver
) -> None:
    virtual = virtual_servos(servo="mx106")
    start_driver(virtual.path, command_timeout=1.0)
    client = make_client()
    client.hold(virtual)
    wait_for_release(virtual)
    client.wait_for(
        lambda: any(
            status.level == DiagnosticStatus.ERROR and "command_timeout" in status.message
            for status in client.diagnostics
        )
    )
    client.hold(virtual)


@pytest.mark.parametrize("servo", ["mx106", "xl330"])
def test_nothing_jumps_when_torque_goes_on(
    servo: str, make_client: MakeClient, virtual_servos: MakeVirtual, start_driver: StartDriver
) -> None:
    virtual = virtual_servos(servo=servo)
    start_driver(virtual.path, torque_on_speed=2.0)
    client = make_client()
    client.wait_for(lambda: client.states)
    virtual.writes.clear()
    client.hold(virtual, 0.8)
    goals = [(changes["goal_position"], at) for changes, at in virtual.writes if "goal_position" in changes]
    first, position = goals[0]
    assert abs(first - position) <= 1
    counts = [goal for goal, _ in goals]
    steps = [b - a for a, b in itertools.pairwise(counts)]
    # Many steps; how long each may be is tested on a clock of its own, in test_goal_shaper.py.
    assert max(steps) < 0.5 * 0.8 * 4096 / math.tau
    assert min(steps) >= 0


def test_an_overload_is_named_and_releases(
    make_client: MakeClient, virtual_servos: MakeVirtual, start_driver: StartDriver
) -> None:
    virtual = virtual_servos(servo="mx106_2")
    driver = start_driver(virtual.path)
    client = make_client()
    client.hold(virtual)
    virtual.inject("overload")

    def reported() -> bool:
        client.command(0.2)
        return any(
            status.level == DiagnosticStatus.ERROR and "joint: hardware error overload" in status.message
            for status in client.diagnostics
        )

    client.wait_for(reported)
    assert virtual.get("torque_enable") == 0
    # States and diagnostics are of two topics: either may come first.
    client.wait_for(lambda: client.states[-1].hardware_error[0] == ServoStates.ERROR_OVERLOAD)
    driver.send_signal(signal.SIGINT)
    _, log = driver.communicate(timeout=PATIENCE)
    (line,) = describe_hardware_errors("joint", ServoStates.ERROR_OVERLOAD)
    assert log.count(f"torque off: {line}") == 1


@pytest.mark.long
def test_an_overload_before_the_start_is_named_and_stays_until_a_reboot(
    make_client: MakeClient, virtual_servos: MakeVirtual, start_driver: StartDriver
) -> None:
    virtual = virtual_servos(servo="mx106", faults=("overload",))
    start_driver(virtual.path)
    client = make_client()

    def reported() -> bool:
        client.command(0.2)
        return any("joint: hardware error overload (bit 0x4)" in s.message for s in client.diagnostics)

    client.wait_for(reported)
    assert virtual.get("torque_enable") == 0
    client.wait_for(lambda: client.states)  # topics are discovered one by one
    client.wait_for(lambda: client.states[-1].hardware_error[0] == ServoStates.ERROR_OVERLOAD)
    reboot = client.node.create_client(Trigger, "dynamixel/reboot")
    client.wait_for(reboot.service_is_ready)
    answer = reboot.call_async(Trigger.Request())
    client.wait_for(answer.done)
    assert answer.result().success, answer.result().message
    # Torque that was asked for meanwhile stays off until its client has noticed.
    client.diagnostics.clear()

    def acknowledged() -> bool:
        client.command(0.2, torque=False)
        return bus_is_well(client.diagnostics)

    client.wait_for(acknowledged)
    client.hold(virtual)


def test_registers_are_read_and_written_by_name_while_the_servo_is_driven(
    make_client: MakeClient, virtual_servos: MakeVirtual, start_driver: StartDriver
) -> None:
    virtual = virtual_servos(servo="xl330")
    start_driver(virtual.path)
    client = make_client()
    client.hold(virtual)

    def read(register: str) -> ReadRegister.Response:
        request = ReadRegister.Request(name="joint", register_name=register)
        return client.call(ReadRegister, "dynamixel/read_register", request)

    def write(register: str, value: float, unit: str = "") -> WriteRegister.Response:
        request = WriteRegister.Request(name="joint", register_name=register, value=value, unit=unit)
        return client.call(WriteRegister, "dynamixel/write_register", request)

    goal = read("goal_position")
    assert goal.success
    assert (goal.count, goal.unit) == (virtual.get("goal_position"), "rad")
    assert goal.value == pytest.approx(0.2, abs=2e-3)
    led = write("led", 1.0)
    assert (led.success, led.count, virtual.get("led")) == (True, 1, 1)
    for answer in (read("gol_position"), write("torque_enable", 0.0), write("moving_threshold", 7.0)):
        assert not answer.success
        assert answer.message.count("\n") == 0
        assert answer.message
    assert virtual.get("moving_threshold") != 7
    client.hold(virtual, 0.1)


@pytest.mark.long
def test_a_port_that_vanishes_is_told_at_once_and_taken_back_with_torque_off(
    make_client: MakeClient, start_driver: StartDriver, tmp_path: Path
) -> None:
    link = tmp_path / "bus"
    emulator = start_emulator(link)
    try:
        # As long as a busy machine may keep this test from commanding: a stream that pauses longer has ended.
        driver = start_driver(str(link), command_timeout=5.0)
        client = make_client()
        client.wait_for(lambda: client.states)

        def on() -> bool:
            client.command(0.2)
            return bool(client.states[-1].torque_enabled[0])

        def gone() -> bool:
            client.command(0.2)  # the stream never ends
            return any("has gone" in s.message for s in client.diagnostics)

        client.wait_for(on)
        client.diagnostics.clear()
        emulator.kill()
        emulator.communicate()
        client.wait_for(gone)
        lost = client.node.get_clock().now().nanoseconds
        assert all(s.level == DiagnosticStatus.ERROR for s in client.diagnostics if "has gone" in s.message)
        emulator = start_emulator(link, ready=False)
        client.states.clear()

        def back() -> bool:
            client.command(0.2)
            return any("it is back" in s.message for s in client.diagnostics)

        def since() -> list[ServoStates]:
            """States of the new connection; some of the old one may have been on their way."""
            return [s for s in client.states if s.header.stamp.sec * 10**9 + s.header.stamp.nanosec > lost]

        client.wait_for(back)
        client.wait_for(lambda: len(since()) > 20)
        assert not any(state.torque_enabled[0] for state in since())
        client.diagnostics.clear()  # the stream has ended now: no more complaint
        client.wait_for(lambda: bus_is_well(client.diagnostics))
        client.wait_for(on)
        driver.send_signal(signal.SIGINT)
        _, log = driver.communicate(timeout=PATIENCE)
        assert driver.returncode == 0
        assert sum("has gone" in line for line in log.splitlines() if line.startswith("[ERROR]")) == 1
        assert log.count(str(BusBack(summary=""))) == 1  # whatever is on it
    finally:
        emulator.kill()
        emulator.communicate()


def start_emulator(link: Path, *, ready: bool = True) -> subprocess.Popen[str]:
    """Start a virtual servo in a process of its own and wait for its port, or do not."""
    emulator = subprocess.Popen(
        [sys.executable, "-m", "bam_ros.emulators.dynamixel", "--link", str(link)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert emulator.stdout is not None
    assert not ready or any(line.startswith("ready: ") for line in iter(emulator.stdout.readline, ""))
    if ready:
        keep_number(link)
    return emulator


@pytest.mark.long
def test_lost_answers_are_counted(
    make_client: MakeClient, virtual_servos: MakeVirtual, start_driver: StartDriver
) -> None:
    virtual = virtual_servos(servo="mx106")
    start_driver(virtual.path)
    client = make_client()
    client.hold(virtual)
    virtual.bus.faults.drop = 0.02
    virtual.bus.faults.corrupt = 0.02

    def counted(name: str) -> bool:
        client.command(0.2)
        values = {v.key: v.value for status in client.diagnostics for v in status.values}
        return int(values.get(name, 0)) > 0

    client.wait_for(lambda: counted("timeouts") and counted("CRC errors"))
    assert virtual.get("torque_enable") == 1


@pytest.mark.long
@pytest.mark.parametrize("problem", ["absent", "busy", "wrong id", "bad parameter"])
def test_what_prevents_the_start_is_one_line_and_status_2(
    problem: str, virtual_servos: MakeVirtual, start_driver: StartDriver
) -> None:
    virtual = virtual_servos(servo="xl330")
    port, parameters = virtual.path, {}
    if problem == "absent":
        port = "/dev/ttyUSB99"
    elif problem == "busy":
        start_driver(port)
    elif problem == "wrong id":
        parameters = {"ids": "[3]", "protocol": 2, "answer_timeout": 0.05}  # hundreds of pings are silent
    else:
        parameters = {"rate": -1.0}
    driver = start_driver(port, ready=False, **parameters)
    _, log = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 2
    lines = log.splitlines()
    if problem == "wrong id":
        assert "[INFO]" in lines[0]
        assert "searching servos" in lines.pop(0)
    assert len(lines) == 1, log
    expected = {
        "absent": "/dev/ttyUSB99: does not exist",
        "busy": "busy (held by ",
        "wrong id": "no servo with id 3, but id 1 answered",
        "bad parameter": "rate",
    }
    assert expected[problem] in log


def test_the_search_for_servos_can_be_interrupted(
    virtual_servos: MakeVirtual, start_driver: StartDriver
) -> None:
    virtual = virtual_servos(servo="mx106", baud_rate=9600)
    driver = start_driver(virtual.path, ready=False)
    wait_for(lambda: virtual.path in _open_files(driver), what="the port opened")
    driver.send_signal(signal.SIGINT)
    driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 0


def _open_files(process: Driver) -> list[str]:
    names = []
    for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            names.append(str(descriptor.readlink()))
    return names
