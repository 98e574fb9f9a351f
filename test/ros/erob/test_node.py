# SPDX-License-Identifier: Apache-2.0
"""The node as a process of its own, on emulated drives: topics, diagnostics, torque off on every way out."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from bam_bench.msg import ServoCommands, ServoConfiguration, ServoStates
from bam_bench.srv import SetGains
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.servo_node import LATCHED_QOS
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.erob.al_status import SlaveState
from bam_ros.erob.cia402 import DriveState
from test.missing import raw_frames
from test.ros.ros_client import RosClient
from test.ros.ros_helpers import (
    EROB_LATE,
    LONGEST_COMMAND_TIMEOUT,
    PATIENCE,
    bus_is_well,
    client_maker,
    wait_for,
)

pytestmark = pytest.mark.ros

Driver = subprocess.Popen[str]
JOINTS = ["shoulder", "elbow"]
ENABLED = f"{SlaveState.OP}, {DriveState.OPERATION_ENABLED.value}"


class Client(RosClient):
    """Commands and listens, in the test's own process."""

    def __init__(self, domain: int) -> None:
        super().__init__(domain)
        self.states: list[ServoStates] = []
        self.joints: list[JointState] = []
        self.diagnostics: list[DiagnosticStatus] = []
        self.configurations: list[ServoConfiguration] = []
        listen = self.node.create_subscription
        listen(ServoStates, "servo_states", self.states.append, qos_profile_sensor_data)
        listen(JointState, "joint_states", self.joints.append, qos_profile_sensor_data)
        listen(ServoConfiguration, "servo_configuration", self.configurations.append, LATCHED_QOS)
        listen(DiagnosticArray, "/diagnostics", lambda array: self.diagnostics.extend(array.status), 10)
        self._commands = self.node.create_publisher(ServoCommands, "servo_commands", 1)

    def command(self, position: float = 0.2, *, torque: bool = True) -> None:
        self._commands.publish(
            ServoCommands(name=JOINTS, torque_enabled=[torque] * 2, goal_position=[position] * 2)
        )

    def commanding(self, predicate: Callable[[], object], *, torque: bool = True) -> Callable[[], object]:
        """Return the predicate, with a command before every look."""

        def look() -> object:
            self.command(torque=torque)
            return predicate()

        return look

    def holds(self) -> bool:
        return bool(self.states) and all(self.states[-1].torque_enabled)

    def bus_says(self, words: str) -> bool:
        return any(words in status.message for status in self.diagnostics if status.name.endswith(": bus"))


@pytest.fixture(scope="module")
def drives() -> Iterator[VirtualSegmentProcess]:
    segment = VirtualSegmentProcess(2)
    with raw_frames():
        segment.start()
    yield segment
    segment.stop()


StartDriver = Callable[..., Driver]


@pytest.fixture
def start_driver(ros_domain: int, drives: VirtualSegmentProcess) -> Iterator[StartDriver]:
    drives.faults()
    drivers: list[Driver] = []

    def start(*, ready: bool = True, **parameters: object) -> Driver:
        values = {
            "interface": drives.interface,
            "joint_names": "[shoulder, elbow]",
            "positions": "[1, 2]",
            # What a machine of its own keeps to is no matter here.
            **EROB_LATE,
            "command_timeout": LONGEST_COMMAND_TIMEOUT,
            "failures": 1000,
            "rate": 100.0,  # else clients would be busy with nothing but its states
            "cycle_rate": 500.0,
            **parameters,
        }
        arguments = [word for name, value in values.items() for word in ("-p", f"{name}:={value}")]
        driver = subprocess.Popen(
            [sys.executable, "-m", "bam_ros.erob.node", "--ros-args", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        drivers.append(driver)
        if ready:
            assert driver.stderr is not None
            assert "cycles per second" in driver.stderr.readline()
        return driver

    yield start
    for driver in drivers:
        driver.kill()
        driver.communicate()
    wait_for(
        lambda: all(slave["al_state"] == "INIT" for slave in drives.look()["slaves"]),
        what="the end of the master",
    )


@pytest.fixture
def make_client(ros_domain: int) -> Iterator[Callable[[], Client]]:
    with client_maker(Client, ros_domain) as make:
        yield make


MakeClient = Callable[[], Client]


def torque(drives: VirtualSegmentProcess) -> bool:
    return any(slave["torque_enabled"] for slave in drives.look()["slaves"])


def wait_torque_off(drives: VirtualSegmentProcess) -> None:
    wait_for(lambda: not torque(drives), what="torque off")


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.long), signal.SIGKILL],
)
def test_torque_goes_off_however_the_node_ends(
    number: signal.Signals,
    start_driver: StartDriver,
    make_client: MakeClient,
    drives: VirtualSegmentProcess,
) -> None:
    driver, client = start_driver(), make_client()
    client.wait_for(client.commanding(client.holds))
    driver.send_signal(number)
    wait_torque_off(drives)
    assert driver.wait(PATIENCE) == (-9 if number is signal.SIGKILL else 0)


def test_states_configuration_and_diagnostics_are_those_of_the_drives(
    start_driver: StartDriver, make_client: MakeClient, drives: VirtualSegmentProcess
) -> None:
    start_driver()
    client = make_client()
    client.wait_for(lambda: client.states and client.joints and client.configurations)
    assert list(client.states[-1].name) == JOINTS
    assert client.states[-1].voltage[0] == pytest.approx(48.0, abs=1.0)
    assert list(client.configurations[-1].servo) == ["erob80_100"] * 2
    assert list(client.configurations[-1].id) == [1, 2]
    request = SetGains.Request(name="elbow", kp=33.0, ki=0.0, kd=0.0)
    response = client.call(SetGains, "/erob/set_gains", request)
    assert response.success, response.message  # type: ignore[attr-defined]
    client.wait_for(client.commanding(client.holds))
    client.diagnostics.clear()
    figures: dict[str, str] = {}

    def found() -> bool:
        for status in client.diagnostics:
            if status.name == "erob: bus":
                figures.update({pair.key: pair.value for pair in status.values})
        enabled = [figures.get(f"slave {n} ({joint})") for n, joint in enumerate(JOINTS, 1)]
        return enabled == [ENABLED] * 2 and int(figures["cycles sent"]) > 1000

    client.wait_for(client.commanding(found))
    assert figures["working counter"] == "6 of 6"
    assert int(figures["cycles sent"]) == int(figures["cycles answered"]) + int(figures["cycles lost"])
    jitter = [float(figures[f"cycle jitter {name} [us]"]) for name in ("p50", "p99", "p99.9", "max")]
    assert jitter == sorted(jitter)
    assert math.isfinite(float(figures["DC offset [us]"]))
    assert figures["slave 1 (shoulder)"] == ENABLED
    assert "slave 2 (elbow)" in figures


def test_torque_goes_off_when_the_commands_stay_away(
    start_driver: StartDriver, make_client: MakeClient, drives: VirtualSegmentProcess
) -> None:
    start_driver(command_timeout=1.0)
    client = make_client()
    client.wait_for(client.commanding(client.holds))
    wait_torque_off(drives)
    client.wait_for(lambda: any("no servo_commands for 1 s" in s.message for s in client.diagnostics))
    client.wait_for(client.commanding(client.holds))


@pytest.mark.long
def test_a_drive_fault_is_named_in_the_diagnostics_and_ends_with_a_reboot(
    start_driver: StartDriver, make_client: MakeClient, drives: VirtualSegmentProcess
) -> None:
    start_driver()
    client = make_client()
    client.wait_for(client.commanding(client.holds))
    drives.faults("overcurrent@2")
    client.wait_for(client.commanding(lambda: client.bus_says("elbow: drive fault 0x23")))
    wait_torque_off(drives)
    client.wait_for(client.commanding(lambda: client.states[-1].hardware_error[1] == HardwareError.OVERLOAD))
    assert not torque(drives)  # though commands go on
    drives.faults()
    response = client.call(Trigger, "/erob/reboot", Trigger.Request())
    assert response.success, response.message  # type: ignore[attr-defined]
    assert not torque(drives)
    client.wait_for(client.commanding(lambda: client.bus_says("rebooted while torque was asked for")))
    assert not torque(drives)  # though commands go on: clients shall notice
    client.diagnostics.clear()
    client.wait_for(client.commanding(lambda: bus_is_well(client.diagnostics), torque=False))
    client.wait_for(client.commanding(client.holds))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("lost@2",), "slave at position 2 (joint 'elbow'): does not answer"),
        (("safe_op@1",), "slave at position 1 (joint 'shoulder'): is in SAFE-OP+ERROR (AL status 0x001A"),
    ],
    ids=["slave removed", "slave falls to SAFE-OP"],
)
def test_a_slave_that_comes_back_is_configured_anew_with_torque_off(
    words: tuple[str, ...],
    said: str,
    start_driver: StartDriver,
    make_client: MakeClient,
    drives: VirtualSegmentProcess,
) -> None:
    start_driver()
    client = make_client()
    client.wait_for(client.commanding(client.holds))
    drives.faults(*words)
    client.wait_for(client.commanding(lambda: client.bus_says(said)))
    wait_torque_off(drives)
    drives.faults()
    client.states.clear()
    client.wait_for(client.commanding(lambda: len(client.states) > 50))
    assert not torque(drives)  # though commands go on
    client.wait_for(client.commanding(lambda: client.bus_says("it is back"), torque=True))
    client.diagnostics.clear()  # it ran before, too
    client.wait_for(client.commanding(lambda: bus_is_well(client.diagnostics), torque=False))
    client.wait_for(client.commanding(client.holds))


@pytest.mark.long
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"interface": "eth_nowhere"}, "interface eth_nowhere: there is none"),
        ({"positions": "[1, 3]"}, "slave at position 3 (joint 'elbow'): is missing (expected 3 slaves"),
        ({"layout": "default"}, "layout default: receive has no 0x6071 target torque"),
        ({"servos": "[mx106]"}, "servos: mx106 has a voltage law"),
    ],
)
def test_what_prevents_the_start_is_one_line_and_status_2(
    parameters: dict[str, str], message: str, start_driver: StartDriver
) -> None:
    driver = start_driver(ready=False, **parameters)
    assert driver.stderr is not None
    said = driver.stderr.read().strip()
    assert driver.wait(PATIENCE) == 2
    assert message in said
    assert "\n" not in said
