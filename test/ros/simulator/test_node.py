# SPDX-License-Identifier: Apache-2.0
"""The simulator looks like a driver to its clients, and can be paused, stepped, reset and reloaded."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from bam_bench.msg import ServoCommands, ServoConfiguration, ServoStates
from bam_bench.srv import SetGains, SetLoad
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import MarkerArray

from bam_core.errors import BamError
from bam_core.gears import Asymmetry
from bam_core.mujoco import load_diverged_run
from bam_core.servo.model import load_servo
from bam_ros.simulator.node import SimulatorNode
from bam_ros.text.simulator_notices import LastMoments
from test.ros.ros_client import RosClient
from test.ros.ros_helpers import LONGEST_COMMAND_TIMEOUT, PATIENCE

pytestmark = pytest.mark.ros


class Client(RosClient):
    """A client of a simulator that runs in the same process or in another one."""

    def __init__(self, domain: int) -> None:
        super().__init__(domain)
        self.states: list[ServoStates] = []
        self.joints: list[JointState] = []
        self.clock: list[Clock] = []
        self.descriptions: list[String] = []
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        sensor = qos_profile_sensor_data
        self.node.create_subscription(ServoStates, "servo_states", self.states.append, sensor)
        self.node.create_subscription(JointState, "joint_states", self.joints.append, sensor)
        self.node.create_subscription(Clock, "/clock", self.clock.append, 10)
        self.node.create_subscription(String, "robot_description", self.descriptions.append, latched)
        self.configurations: list[ServoConfiguration] = []
        self.diagnostics: list[DiagnosticStatus] = []
        self.speeds: list[float] = []
        self.node.create_subscription(
            ServoConfiguration, "servo_configuration", self.configurations.append, latched
        )
        self.node.create_subscription(
            DiagnosticArray, "/diagnostics", lambda array: self.diagnostics.append(array.status[0]), 10
        )
        self.node.create_subscription(
            Float64, "simulator/real_time_factor", lambda message: self.speeds.append(message.data), 10
        )
        self.commands = self.node.create_publisher(ServoCommands, "servo_commands", 1)
        self.simulator: SimulatorNode | None = None
        self.wish: tuple[bool, float] | None = None
        self._next_command = 0.0

    def start(self, **parameters: object) -> None:
        # Client and simulator share one thread here: a rate that leaves time for both.
        parameters = {"rate": 100.0, "command_timeout": LONGEST_COMMAND_TIMEOUT, **parameters}
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        self.simulator = SimulatorNode(context=self.context, parameter_overrides=overrides)
        self.add(self.simulator)
        self.simulator.start()

    def while_waiting(self) -> None:
        # Whoever publishes without a pause keeps the interpreter from the simulator's thread.
        if self.wish is not None and time.monotonic() > self._next_command:
            self._next_command = time.monotonic() + 0.02
            torque, position = self.wish
            self.commands.publish(
                ServoCommands(name=["joint"], torque_enabled=[torque], goal_position=[position])
            )

    def connect(self) -> None:
        self.wait_for(lambda: self.states and self.joints and self.commands.get_subscription_count())

    def wait_for_position(self, position: float, tolerance: float = 0.03) -> None:
        self.wait_for(lambda: abs(self.states[-1].position[0] - position) < tolerance)

    def call(self, kind: type, name: str, request: object) -> Any:
        return super().call(kind, f"simulator/{name}", request)

    def close(self) -> None:
        if self.simulator is not None:
            self.simulator.close()
        super().close()


@pytest.fixture
def client(ros_domain: int) -> Iterator[Client]:
    client = Client(ros_domain)
    yield client
    client.close()


def test_joint_states_follow_a_goal(client: Client) -> None:
    client.start()
    client.connect()
    client.wish = (True, 0.5)
    client.wait_for_position(0.5)
    state = client.states[-1]
    assert list(state.torque_enabled) == [True]
    assert list(state.name) == list(client.joints[-1].name) == ["joint"]
    stamp = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
    assert abs(time.time() - stamp) < PATIENCE  # of this epoch, not since the start
    client.wish = (False, math.nan)
    client.wait_for_position(0.0, 0.2)


def test_torque_goes_off_when_commands_stop(client: Client) -> None:
    client.start(command_timeout=0.2)
    client.connect()
    client.wish = (True, 0.3)
    client.wait_for(lambda: client.states[-1].torque_enabled[0])
    client.wish = None
    client.wait_for(lambda: not client.states[-1].torque_enabled[0])


def test_pause_step_and_reset(client: Client) -> None:
    client.start(initial_position=[0.8], publish_clock=True)
    client.connect()
    client.wish = (True, 0.0)
    client.wait_for_position(0.0, 0.1)
    client.wish = None
    assert not client.call(Trigger, "step", Trigger.Request()).success
    assert client.call(SetBool, "pause", SetBool.Request(data=True)).success
    held, count = client.states[-1].position[0], len(client.states)
    client.wait_for(lambda: len(client.states) > count + 20)
    assert client.states[-1].position[0] == pytest.approx(held, abs=0.01)
    stamp = client.states[-1].header.stamp
    assert client.states[-5].header.stamp == stamp
    assert client.call(Trigger, "step", Trigger.Request()).success
    client.wait_for(lambda: client.states[-1].header.stamp != stamp)
    assert client.states[-1].header.stamp.nanosec - stamp.nanosec in (1_000_000, 1_000_000 - 10**9)
    assert client.call(Trigger, "reset", Trigger.Request()).success
    client.wait_for_position(0.8, 0.01)
    assert not client.states[-1].torque_enabled[0]
    assert client.call(SetBool, "pause", SetBool.Request(data=False)).success
    client.wait_for(lambda: client.clock)
    times = [message.clock.sec + 1e-9 * message.clock.nanosec for message in client.clock]
    assert times == sorted(times)


def test_gains_and_loads_can_be_changed(client: Client) -> None:
    client.start()
    client.connect()
    answer = client.call(SetGains, "set_gains", SetGains.Request(name="joint", kp=16.0))
    assert answer.success, answer.message
    assert not client.call(SetGains, "set_gains", SetGains.Request(name="elbow", kp=16.0)).success
    assert client.call(SetLoad, "set_load", SetLoad.Request(mass=1.0, length=0.2)).success
    client.wait_for(lambda: client.descriptions and 'value="1"' in client.descriptions[-1].data)
    refused = client.call(SetLoad, "set_load", SetLoad.Request(mass=-1.0, length=0.2))
    assert not refused.success
    assert "bench mass: is -1.0" in refused.message


def test_the_description_is_a_urdf_of_the_bench(client: Client) -> None:
    client.start(joint_names=["servo_1"], mass=0.3)
    client.wait_for(lambda: client.descriptions)
    robot = ElementTree.fromstring(client.descriptions[-1].data)
    assert robot.find("joint").get("name") == "servo_1"
    client.wait_for(lambda: client.joints)
    assert list(client.joints[-1].name) == ["servo_1"]


ARM = Path(__file__).parents[3] / "config" / "robots" / "dynamixel_2r.xml"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"servos": ["mx107"]}, "servo 'mx107': unknown"),
        ({"model": "nowhere.urdf"}, "nowhere.urdf: no such file"),
        ({"joint_names": ["elbow"], "keyframe": "home"}, "keyframe 'home': unknown"),
        ({"initial_position": [math.inf]}, "initial_position of joint 'joint': is inf rad"),
        ({"joint_names": ["a", "a"]}, "joint_names: "),
        (
            {"model": str(ARM), "servos": ["mx64"]},
            "joint_names: joint 'joint': unknown (valid: elbow, shoulder)",
        ),
        ({"servos": ["mx64", "mx106"]}, "servos: is 2 entries for 1 joint_names"),
        ({"timestep": 0.05}, "time step of 0.05 s is unstable"),
    ],
)
def test_a_wrong_parameter_is_one_line(client: Client, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(BamError) as error:
        client.start(**parameters)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_another_process_is_driven_and_ends_with_sigint(client: Client) -> None:
    command = [sys.executable, "-m", "bam_ros.simulator.node", "--ros-args", "-p", "mass:=0.2"]
    process = subprocess.Popen(command, env=os.environ)
    try:
        client.connect()
        client.wish = (True, 0.4)
        client.wait_for_position(0.4)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()


LIMITED = """
<mujoco>
  <worldbody>
    <body>
      <joint name="joint" axis="1 0 0" range="-30 60"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.15" mass="0.3"/>
      <body pos="0 0 -0.15">
        <joint name="loose" type="slide" axis="0 0 1" stiffness="STIFFNESS"/>
        <geom type="sphere" size="0.02" mass="0.1"/>
      </body>
    </body>
  </worldbody>
  <keyframe><key name="raised" qpos="0.5 0"/></keyframe>
</mujoco>
"""


@pytest.fixture
def limited(tmp_path: Path) -> str:
    file = tmp_path / "limited.xml"
    file.write_text(LIMITED.replace("STIFFNESS", "2000"))
    return str(file)


def test_limits_and_start_of_the_model_count(client: Client, limited: str) -> None:
    client.start(model=limited, keyframe="raised", command_timeout=0.5)
    client.connect()
    client.wait_for_position(0.5, 0.02)
    client.wait_for(lambda: client.configurations)
    configuration = client.configurations[-1]
    assert list(configuration.position_min) == pytest.approx([-math.pi / 6])
    assert list(configuration.position_max) == pytest.approx([math.pi / 3])
    client.wish = (True, 0.2)
    client.wait_for_position(0.2)
    client.wish = (True, 1.3)  # refused: the goal in force stays, and torque goes off as commands are away
    client.wait_for(lambda: not client.states[-1].torque_enabled[0])
    assert not any(abs(state.goal_position[0] - 1.3) < 0.1 for state in client.states[-20:])


@pytest.mark.parametrize("position", [math.nan, math.inf, -math.inf])
def test_a_goal_that_is_no_number_moves_nothing(client: Client, position: float) -> None:
    client.start()
    client.connect()
    client.wish = (True, 0.4)
    client.wait_for_position(0.4)
    client.wish = (True, position)
    count = len(client.states)
    client.wait_for(lambda: len(client.states) > count + 20)
    assert all(state.goal_position[0] == pytest.approx(0.4) for state in client.states[count:])
    client.wish = (True, 0.1)
    client.wait_for_position(0.1)


def test_the_real_time_factor_is_published(client: Client) -> None:
    client.start(real_time_factor=0.5)
    client.wait_for(lambda: client.speeds and 0.3 < client.speeds[-1] < 0.6)
    figures: dict[str, str] = {}

    def told() -> bool:
        for status in client.diagnostics:
            figures.update({entry.key: entry.value for entry in status.values})
        return 0.0 < float(figures.get("real-time factor", "nan")) < 0.6

    client.wait_for(told)
    assert figures["joints without servo"] == "none"


def test_the_clock_never_turns_back(client: Client) -> None:
    client.start(publish_clock=True, real_time_factor=3.0)
    client.connect()
    for held in (True, False):
        client.call(SetBool, "pause", SetBool.Request(data=held))
        client.call(Trigger, "reset", Trigger.Request())
        count = len(client.clock)
        client.wait_for(lambda count=count: len(client.clock) > count + 10)
    assert client.simulator is not None
    for transition in ("deactivate", "cleanup", "configure", "activate"):
        getattr(client.simulator, f"trigger_{transition}")()
    count = len(client.clock)
    client.wait_for(lambda: len(client.clock) > count + 10)
    times = [message.clock.sec * 10**9 + message.clock.nanosec for message in client.clock]
    assert times == sorted(times)
    assert times[-1] > times[0]


def test_a_simulation_that_diverges_is_named_and_dumped_and_the_node_lives(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo logs its warning to the working directory
    model = tmp_path / "unstable.xml"
    model.write_text(LIMITED.replace("STIFFNESS", "-4000"))
    client.start(model=str(model), dump_directory=str(tmp_path / "dumps"))
    client.connect()
    client.wish = (True, 0.2)

    def failure() -> DiagnosticStatus | None:
        errors = (status for status in client.diagnostics if status.level == DiagnosticStatus.ERROR)
        return next(errors, None)

    client.wait_for(failure)
    dump = next((tmp_path / "dumps").glob("diverged_*.npz"))
    assert str(LastMoments(file=str(dump))) in failure().message
    assert list(load_diverged_run(dump).servos) == ["joint"]
    count = len(client.states)
    client.wait_for(lambda: len(client.states) > count + 10)
    assert not client.states[-1].torque_enabled[0]


def test_rviz_gets_markers_goals_and_the_robot(client: Client) -> None:
    robots = Path(__file__).parents[3] / "config" / "robots"
    markers: list[MarkerArray] = []
    goals: list[JointState] = []
    client.node.create_subscription(MarkerArray, "simulator/markers", markers.append, 10)
    client.node.create_subscription(JointState, "simulator/goal_states", goals.append, 10)
    client.start(
        model=str(robots / "dynamixel_2r.xml"), joint_names=["elbow", "shoulder"], servos=["mx64", "mx106"]
    )
    client.wait_for(lambda: markers and goals and client.descriptions)
    frames = {marker.ns: marker.header.frame_id for marker in markers[-1].markers}
    assert frames == {"elbow": "lower", "shoulder": "upper"}
    assert list(goals[-1].name) == ["elbow", "shoulder"]
    assert all(math.isfinite(position) for position in goals[-1].position)  # also before the first goal
    robot = ElementTree.fromstring(client.descriptions[-1].data)
    assert set(frames.values()) <= {link.get("name") for link in robot.findall("link")}


def test_draws_give_a_band_around_the_joints(client: Client) -> None:
    low: list[JointState] = []
    high: list[JointState] = []
    client.node.create_subscription(JointState, "simulator/low_states", low.append, 10)
    client.node.create_subscription(JointState, "simulator/high_states", high.append, 10)
    client.start(servos=["xl330"], draws=20, real_time_factor=0.2)
    client.wait_for(lambda: low and high and client.joints)
    assert list(low[-1].name) == list(client.joints[-1].name)
    assert low[-1].position[0] < high[-1].position[0]


@pytest.mark.long
def test_a_servo_file_with_a_gear_moves_the_bench_and_holds_it_exactly_when_torque_is_off(
    client: Client, tmp_path: Path
) -> None:
    gear = Asymmetry(input_side=0.1, output_side=1.05)
    load_servo("mx106").with_gear(gear).save(tmp_path / "gear.yaml")
    markers: list[MarkerArray] = []
    client.node.create_subscription(MarkerArray, "simulator/markers", markers.append, 10)
    client.start(servos=[str(tmp_path / "gear.yaml")])
    client.connect()
    client.wish = (True, 1.2)
    client.wait_for_position(1.2, 0.05)
    client.wish = (False, math.nan)
    client.wait_for(lambda: not client.states[-1].torque_enabled[0] and client.states[-1].velocity[0] == 0.0)
    count = len(client.states)
    client.wait_for(lambda: len(client.states) > count + 50)
    assert {state.velocity[0] for state in client.states[count:]} == {0.0}
    assert client.states[-1].position[0] == pytest.approx(1.2, abs=0.06)
    client.wait_for(lambda: client.diagnostics and markers)
    assert not any("gear" in status.message for status in client.diagnostics)
    (text,) = [marker.text for marker in markers[-1].markers if marker.text]
    assert text.startswith("joint: static")


def test_a_gear_that_is_ill_posed_with_its_load_is_in_the_diagnostics(client: Client, tmp_path: Path) -> None:
    gear = Asymmetry(input_side=0.1, output_side=1.4)
    load_servo("mx106").with_gear(gear).save(tmp_path / "gear.yaml")
    client.start(servos=[str(tmp_path / "gear.yaml")], mass=2.0, length=0.3)
    client.connect()

    def warning() -> DiagnosticStatus | None:
        return next((each for each in client.diagnostics if "|ρ̂| of its gear" in each.message), None)

    client.wait_for(warning)
    assert warning().level == DiagnosticStatus.WARN
    assert "eq. 29" in warning().message


def test_a_wrong_gear_is_told_by_file_key_and_equation(client: Client, tmp_path: Path) -> None:
    text = load_servo("mx106").with_gear(Asymmetry(input_side=0.1, output_side=1.05)).to_yaml()
    (tmp_path / "gear.yaml").write_text(text.replace("input_side: 0.1", "input_side: -2.0"))
    with pytest.raises(
        BamError, match=r"gear\.yaml: gear\.input_side \+ gear\.output_side .*-0\.95.*eq\. 14"
    ):
        client.start(servos=[str(tmp_path / "gear.yaml")])
