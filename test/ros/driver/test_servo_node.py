# SPDX-License-Identifier: Apache-2.0
"""The node publishes what the bus measures, follows commands, rejects bad ones, lets go on every way out."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
import rclpy
from bam_bench.msg import ServoCommands, ServoConfiguration, ServoStates
from bam_bench.srv import GetGains, HoldGains, RebootServos, SetGains, SetTorque
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from bam_core.errors import Conflict, OutOfRange, Unavailable, UnknownName, WrongValue
from bam_ros.driver import servo_node
from bam_ros.driver.diagnostics import TOLERABLE_LOSS
from bam_ros.driver.gains_hold import GainsHeld
from bam_ros.driver.goal_shaper import GoalSpeeds, JointCommand
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.node_times import NodeTimes
from bam_ros.driver.servo_bus import BusGone, Gains, ServoBus, ServoGoal, ServoIdentity, ServoSample
from bam_ros.driver.servo_node import LATCHED_QOS, ServoNode
from bam_ros.text.driver_notices import (
    FaultEnded,
    GainsAnswer,
    LostReads,
    NothingRead,
    NoTrajectoryAction,
    Rebooted,
    ReleaseNotConfirmed,
    TorqueSwitched,
)
from bam_ros.text.torque_reasons import CommandsEnded
from test.ros.fake_about import FAKE_ABOUT
from test.ros.ros_helpers import PATIENCE, FakeBus

pytestmark = pytest.mark.ros


TIMES = NodeTimes()
SOON = NodeTimes(device_poll=0.01)


class FakeNode(ServoNode):
    ABOUT = FAKE_ABOUT

    def __init__(self, bus: FakeBus, **arguments: object) -> None:
        self.fake = bus
        super().__init__("servos", **arguments)

    def create_bus(self) -> ServoBus:
        return self.fake


class Client:
    """A node under test and a client of it, spun together in one thread."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.executor = SingleThreadedExecutor(context=context)
        self.node = Node("client", context=context)
        self.executor.add_node(self.node)
        self.states: list[ServoStates] = []
        self.joints: list[JointState] = []
        self.diagnostics: list[DiagnosticArray] = []
        sensor = qos_profile_sensor_data
        self.node.create_subscription(ServoStates, "servo_states", self.states.append, sensor)
        self.node.create_subscription(JointState, "joint_states", self.joints.append, sensor)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self.diagnostics.append, 10)
        self.commands = self.node.create_publisher(ServoCommands, "servo_commands", 1)
        self.servos: FakeNode | None = None

    def run(
        self, bus: FakeBus, namespace: str = "", times: NodeTimes = TIMES, **parameters: object
    ) -> FakeNode:
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        self.servos = FakeNode(
            bus, context=self.context, namespace=namespace, parameter_overrides=overrides, times=times
        )
        self.executor.add_node(self.servos)
        self.servos.start()
        return self.servos

    def wait_for(self, predicate: Callable[[], object], timeout: float = PATIENCE) -> None:
        deadline = time.monotonic() + timeout
        while not predicate():
            assert time.monotonic() < deadline, "not in time"
            self.executor.spin_once(timeout_sec=0.01)

    def connect(self) -> None:
        self.wait_for(lambda: self.states and self.joints and self.commands.get_subscription_count())

    def command(self, *entries: tuple[str, bool, float]) -> None:
        names, torque, position = zip(*entries, strict=True)
        self.commands.publish(ServoCommands(name=names, torque_enabled=torque, goal_position=position))

    def call(self, service_type: type, name: str, request: object) -> object:
        client = self.node.create_client(service_type, name)
        self.wait_for(client.service_is_ready)
        future = client.call_async(request)
        self.wait_for(future.done)
        return future.result()


@pytest.fixture
def client(ros_domain: int) -> Iterator[Client]:
    context = Context()
    rclpy.init(context=context, domain_id=ros_domain)
    client = Client(context)
    yield client
    if client.servos is not None:
        client.servos.close()
    client.executor.shutdown()  # before the nodes whose entities it waits for
    if client.servos is not None:
        client.servos.destroy_node()
    client.node.destroy_node()
    rclpy.shutdown(context=context)


def test_states_and_commands_go_through(client: Client) -> None:
    bus = FakeBus(position=0.2)
    client.run(bus, command_timeout=30.0)
    client.connect()
    client.command(("joint", True, 0.25))
    client.wait_for(lambda: client.states[-1].position[0] == 0.25)
    state = client.states[-1]
    assert list(state.name) == ["joint"]
    assert list(state.torque_enabled) == [True]
    assert math.isnan(state.voltage[0])
    stamps = [s.header.stamp.sec + 1e-9 * s.header.stamp.nanosec for s in client.states]
    assert all(b > a for a, b in itertools.pairwise(stamps))
    assert client.joints[-1].name == ["joint"]
    client.command(("joint", True, math.nan))  # keeps the goal
    client.command(("joint", False, math.nan))
    client.wait_for(lambda: not client.states[-1].torque_enabled[0])


@pytest.mark.parametrize(
    "message",
    [
        ServoCommands(name=["elbow"], torque_enabled=[True], goal_position=[0.0]),
        ServoCommands(name=["joint"], torque_enabled=[True], goal_position=[0.0, 0.0]),
        ServoCommands(name=["joint"], torque_enabled=[True], goal_velocity=[1.0]),
        ServoCommands(name=["joint", "joint"], torque_enabled=[True] * 2, goal_position=[0.0] * 2),
        ServoCommands(name=["joint"], torque_enabled=[True], goal_position=[math.inf]),
        ServoCommands(name=["joint"], torque_enabled=[True], goal_position=[4.0]),
        ServoCommands(name=["joint"], torque_enabled=[True], goal_position=[1.5]),
        ServoCommands(),
    ],
    ids=[
        "unknown joint",
        "wrong length",
        "other kind",
        "named twice",
        "infinite",
        "beyond limits",
        "beyond mine",
        "empty",
    ],
)
def test_a_bad_command_changes_nothing(
    client: Client, message: ServoCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = client.run(FakeBus(), limits=[-1.0, 1.0])
    taken: list[object] = []
    monkeypatch.setattr(node._loop, "take", taken.append)
    node._on_commands(message)
    assert taken == []
    node._on_commands(ServoCommands(name=["joint"], torque_enabled=[True], goal_position=[0.5]))
    assert len(taken) == 1


@pytest.mark.parametrize(
    "message",
    [
        ServoCommands(name=["a"], torque_enabled=[False], goal_position=[30.0]),
        ServoCommands(name=["a"], torque_enabled=[False], goal_position=[math.inf]),
        ServoCommands(name=["a"], torque_enabled=[False], goal_position=[]),
        ServoCommands(name=["a", "b"], torque_enabled=[False, True], goal_position=[0.0, 30.0]),
        ServoCommands(name=["a", "elbow"], torque_enabled=[False, True], goal_position=[0.0, 0.0]),
        ServoCommands(name=["elbow", "a"], torque_enabled=[False, False], goal_position=[0.0, 0.0]),
        ServoCommands(name=["a", "a"], torque_enabled=[True, False], goal_position=[0.0, 0.0]),
    ],
    ids=["beyond", "infinite", "no goal", "another beyond", "another unknown", "unknown", "named twice"],
)
def test_torque_off_is_obeyed_whatever_else_is_wrong_with_its_message(
    client: Client, message: ServoCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = client.run(FakeBus(("a", "b")), limits=[-1.0, 1.0])
    taken: list[dict[int, JointCommand]] = []
    monkeypatch.setattr(node._loop, "take", taken.append)
    node._on_commands(message)
    assert [[(joint, command.torque_enable) for joint, command in each.items()] for each in taken] == [
        [(0, False)]
    ]


def test_which_joint_is_meant_is_not_guessed(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    node = client.run(FakeBus(("a", "b")))
    taken: list[object] = []
    monkeypatch.setattr(node._loop, "take", taken.append)
    node._on_commands(ServoCommands(name=["a", "b"], torque_enabled=[False], goal_position=[0.0, 0.0]))
    assert taken == []


def test_limits_without_any_angle_are_an_error_at_the_start(client: Client) -> None:
    with pytest.raises(Conflict):
        client.run(FakeBus(), limits=[4.0, 5.0])


def test_limits_are_published(client: Client) -> None:
    configurations: list[ServoConfiguration] = []
    client.node.create_subscription(
        ServoConfiguration, "servo_configuration", configurations.append, LATCHED_QOS
    )
    client.run(FakeBus(("a", "b")), limits=[-1.0, 2.0, -9.0, 9.0])
    client.wait_for(lambda: configurations)
    assert list(configurations[0].position_min) == [-1.0, -math.pi]
    assert list(configurations[0].position_max) == [2.0, math.pi]


def test_states_reach_reliable_subscribers(client: Client) -> None:
    """As MoveIt's monitor and robot_localization subscribe."""
    states: list[ServoStates] = []
    joints: list[JointState] = []
    client.node.create_subscription(ServoStates, "servo_states", states.append, 10)
    client.node.create_subscription(JointState, "joint_states", joints.append, 10)
    client.run(FakeBus())
    client.wait_for(lambda: states and joints)


@pytest.mark.long
def test_the_joint_of_a_client_that_died_is_released_and_that_of_another_is_held(client: Client) -> None:
    bus = FakeBus(("a", "b"))
    client.run(bus, command_timeout=3.0)
    client.connect()
    client.command(("a", True, 0.1))  # and never again
    client.wait_for(lambda: bus.torque[0])

    def released() -> bool:
        client.command(("b", True, 0.2))
        return bus.torque == [False, True]

    client.wait_for(released)
    names = [status for array in client.diagnostics for status in array.status]
    client.wait_for(
        lambda: any(
            status.name == "servos: a" and "no servo_commands for 3 s" in status.message
            for array in client.diagnostics
            for status in array.status
        )
    )
    assert not any("no servo_commands" in s.message for s in names if s.name == "servos: b")


def test_no_command_is_lost_while_a_service_runs(client: Client) -> None:
    """Every message names one joint only, so that none may take the place of another."""
    names = tuple("abcdef")
    bus = FakeBus(names)
    client.run(bus, command_timeout=60.0)
    client.connect()
    client.command(*((name, True, 0.1) for name in names))
    client.wait_for(lambda: all(bus.torque))
    asked, go_on = threading.Event(), threading.Event()

    def slow(name: str, gains: Gains) -> Gains:
        asked.set()
        go_on.wait()
        return gains

    bus.set_gains = slow  # type: ignore[method-assign]
    answer = client.node.create_client(SetGains, "servos/set_gains")
    client.wait_for(answer.service_is_ready)
    future = answer.call_async(SetGains.Request(name="a", kp=32.0))
    client.wait_for(asked.is_set)
    commands = client.node.create_publisher(ServoCommands, "servo_commands", 100)
    client.wait_for(lambda: commands.get_subscription_count())
    for name in names[:-1]:
        commands.publish(ServoCommands(name=[name], torque_enabled=[False], goal_position=[math.nan]))
    commands.publish(ServoCommands(name=["f"], torque_enabled=[True], goal_position=[0.3]))
    streams = client.servos._loop._streams  # type: ignore[union-attr]
    client.wait_for(lambda: streams.number == 1 + len(names))  # taken though the bus is busy
    go_on.set()
    client.wait_for(future.done)
    client.wait_for(lambda: bus.torque == [False] * 5 + [True])


def test_commands_that_queued_up_are_taken_at_once(client: Client) -> None:
    """One per turn of its executor, a driver that gets little processor time would obey seconds late."""
    node = client.run(FakeBus(), command_timeout=60.0)
    client.connect()
    (subscription,) = (each for each in node.subscriptions if each.topic_name == "/servo_commands")
    turns: list[ServoCommands] = []
    take = subscription.callback

    def counted(message: ServoCommands) -> None:
        turns.append(message)
        take(message)

    subscription.callback = counted
    commands = client.node.create_publisher(ServoCommands, "servo_commands", 1000)
    client.wait_for(commands.get_subscription_count)
    before = node._loop._streams.number  # type: ignore[union-attr]
    for position in (0.0, 0.1) * 250:
        commands.publish(ServoCommands(name=["joint"], torque_enabled=[True], goal_position=[position]))
    commands.publish(ServoCommands(name=["joint"], torque_enabled=[False], goal_position=[math.nan]))
    client.wait_for(lambda: node._loop._streams.number == before + 501)  # type: ignore[union-attr]
    assert len(turns) < 100
    assert not node._loop._streams.advance(node._bus.now())[0].torque_enable  # type: ignore[union-attr]


def test_no_joint_keeps_an_old_word_in_the_diagnostics(client: Client) -> None:
    bus = FakeBus(("a", "b"))
    node = client.run(bus, failures=1)

    def newest() -> dict[str, DiagnosticStatus]:
        return {status.name: status for array in client.diagnostics for status in array.status}

    client.wait_for(lambda: newest().get("servos: b") and newest()["servos: b"].message == "torque off")
    bus.open_failure = Unavailable("port", "does not exist", advice="plug it in")
    bus.failure = BusGone("port", "has gone", advice="plug it in")
    client.wait_for(lambda: newest()["servos: a"].level == DiagnosticStatus.STALE)
    assert newest()["servos: b"].message == str(NothingRead(kind="bus_lost"))
    bus.open_failure = bus.failure = None
    client.wait_for(lambda: newest()["servos: b"].message == "torque off")
    node.trigger_deactivate()
    client.wait_for(lambda: newest()["servos: a"].message == str(NothingRead(kind="not_active")))
    node.trigger_cleanup()
    client.diagnostics.clear()
    client.wait_for(lambda: "servos: a" in newest())
    assert newest()["servos: a"].level == DiagnosticStatus.STALE


def test_an_unknown_joint_is_one_warning_with_the_joints_there_are(
    client: Client, capfd: pytest.CaptureFixture[str]
) -> None:
    client.run(FakeBus())
    client.connect()
    capfd.readouterr()
    began = time.monotonic()
    for _ in range(5):
        client.command(("elbow", True, 0.0))
        client.executor.spin_once(timeout_sec=0.02)
    states = len(client.states)
    client.wait_for(lambda: len(client.states) > states + 50)
    said = capfd.readouterr().err.count("joint 'elbow': unknown (valid: joint)")
    assert 1 <= said <= 1 + int(time.monotonic() - began)  # once a second: a busy machine may take several


def test_diagnostics_say_why_a_stream_is_ignored_and_forget_it(client: Client) -> None:
    node = client.run(FakeBus(), times=NodeTimes(ignored=math.inf), limits=[-1.0, 1.0])
    client.connect()

    def told() -> DiagnosticStatus:
        client.diagnostics.clear()
        node._publish_diagnostics()
        client.wait_for(lambda: client.diagnostics)
        return client.diagnostics[-1].status[0]

    client.wait_for(lambda: told().message == "running")
    node._on_commands(ServoCommands(name=["joint"], torque_enabled=[True], goal_position=[30.0]))
    shown, ignored = told(), node._ignored
    assert (shown.level, shown.message) == (DiagnosticStatus.WARN, str(ignored))
    assert ignored is not None
    assert (ignored.topic, ignored.is_torque_off_accepted) == ("servo_commands", False)
    assert isinstance(ignored.reason, OutOfRange)
    assert ignored.reason.value == 30.0
    node._times = NodeTimes(ignored=0.0)
    assert told().message == "running"


def test_lost_reads_are_a_warning_with_their_share_and_a_cure(client: Client) -> None:
    bus = FakeBus()
    node = client.run(bus, failures=1000)
    for timer in node.timers:
        timer.cancel()  # diagnostics come when the test asks for them: a second has as many reads as it has

    def after_reads(count: int) -> DiagnosticStatus:
        node._publish_diagnostics()
        before = bus.reads
        client.wait_for(lambda: bus.reads >= before + count)
        client.diagnostics.clear()
        node._publish_diagnostics()
        client.wait_for(lambda: client.diagnostics)
        return client.diagnostics[-1].status[0]

    assert after_reads(1).level == DiagnosticStatus.OK
    bus.lossy = 3
    told = after_reads(300)
    assert told.level == DiagnosticStatus.WARN
    share = float(next(pair.value for pair in told.values if pair.key == "lost reads [%]"))
    assert share == pytest.approx(100.0 / 3.0, abs=1.0)
    assert told.message == str(LostReads(share=0.01 * share, most=TOLERABLE_LOSS))
    bus.lossy = 0
    after_reads(1)  # of which one may have been asked for before
    assert after_reads(1).message == "running"


def test_gains_reach_the_servo_and_reboot_clears_its_error(client: Client) -> None:
    bus = FakeBus()
    client.run(bus)
    answer = client.call(SetGains, "servos/set_gains", SetGains.Request(name="joint", kp=32.0))
    assert answer.success, answer.message
    assert bus.gains["joint"].kp == 32.0
    bus.errors = [ServoStates.ERROR_OVERLOAD]
    client.wait_for(
        lambda: (
            client.diagnostics
            and client.diagnostics[-1].status[0].level == DiagnosticStatus.ERROR
            and "overload" in client.diagnostics[-1].status[0].message
        )
    )
    assert client.call(Trigger, "servos/reboot", Trigger.Request()).success
    client.wait_for(lambda: client.diagnostics[-1].status[0].level == DiagnosticStatus.OK)


def test_torque_is_switched_by_services_whatever_streams_ask_for(client: Client) -> None:
    bus = FakeBus(("hip", "knee"), position=0.2)
    client.run(bus, command_timeout=30.0)
    client.connect()
    on = client.call(SetBool, "servos/set_torque", SetBool.Request(data=True))
    assert (on.success, on.message) == (True, str(TorqueSwitched(joints=("hip", "knee"), on=True)))
    assert (bus.torque, bus.position) == ([True, True], [0.2, 0.2])
    one = client.call(SetTorque, "servos/set_joint_torque", SetTorque.Request(name=["knee"]))
    assert one.success
    assert bus.torque == [True, False]
    client.command(("knee", True, 0.3))
    client.wait_for(lambda: "set_torque" in str(client.servos._ignored))
    assert bus.torque == [True, False]
    assert client.call(SetBool, "servos/set_torque", SetBool.Request(data=False)).success
    assert bus.torque == [False, False]
    wrong = client.call(SetTorque, "servos/set_joint_torque", SetTorque.Request(name=["ankle"]))
    assert (wrong.success, "hip, knee" in wrong.message) == (False, True)


def test_a_fault_that_has_passed_ends_by_a_service_and_one_that_persists_does_not(
    client: Client, capfd: pytest.CaptureFixture[str]
) -> None:
    bus = FakeBus(("hip", "knee"))
    servos = client.run(bus, command_timeout=0.1)
    client.connect()
    assert client.call(Trigger, "servos/reset_fault", Trigger.Request()).message == str(FaultEnded(fault=""))
    bus.errors = [0, int(HardwareError.OVERLOAD)]
    client.wait_for(lambda: servos._loop.latched)
    client.command(("hip", True, 0.3))
    client.wait_for(lambda: "servo_commands: torque stays off" in capfd.readouterr().err)
    # Until the stream has ended, "still asked for"; then the error itself.
    client.wait_for(
        lambda: "overload" in client.call(Trigger, "servos/reset_fault", Trigger.Request()).message
    )
    assert servos._loop.latched
    refused = client.call(SetBool, "servos/set_torque", SetBool.Request(data=True))
    assert (refused.success, "reset_fault" in refused.message) == (False, True)
    rebooted = client.call(RebootServos, "servos/reboot_servos", RebootServos.Request(name=["knee"]))
    assert rebooted.message == str(Rebooted(joints=("knee",)))
    bus.errors = [int(HardwareError.OVERLOAD), 0]
    client.wait_for(lambda: servos._loop.latched)
    bus.errors = [0, 0]
    client.wait_for(lambda: client.call(Trigger, "servos/reset_fault", Trigger.Request()).success)
    assert client.call(SetBool, "servos/set_torque", SetBool.Request(data=True)).success
    assert bus.torque == [True, True]


def test_gains_are_read_by_a_service(client: Client) -> None:
    bus = FakeBus()
    client.run(bus)
    bus.gains["joint"] = Gains(kp=8.0, ki=1.0, kd=2.0)
    held = client.call(GetGains, "servos/get_gains", GetGains.Request(name="joint"))
    assert (held.success, held.kp, held.ki, held.kd) == (True, 8.0, 1.0, 2.0)
    client.servos.trigger_deactivate()
    refused = client.call(GetGains, "servos/get_gains", GetGains.Request(name="joint"))
    assert (refused.success, "not active" in refused.message) == (False, True)


def test_gains_that_are_held_are_only_read(client: Client, capfd: pytest.CaptureFixture[str]) -> None:
    bus = FakeBus()
    node = client.run(bus, times=NodeTimes(hold=PATIENCE))
    recorders, foreign = SetGains.Request(name="joint", kp=8.0), SetGains.Request(name="joint", kp=32.0)

    def hold(holder: str, wanted: bool = True) -> HoldGains.Response:
        request = HoldGains.Request(holder=holder, hold=wanted)
        return client.call(HoldGains, "servos/hold_gains", request)

    def answer(kp: float, wanted: float = 32.0) -> GainsAnswer:
        held, asked = (kp, 0.0, 0.0), (wanted, 0.0, 0.0)
        return GainsAnswer(joint="joint", held=held, wanted=asked, holder="/recorder 1", hold_time=PATIENCE)

    assert client.call(SetGains, "servos/set_gains", recorders).success
    assert hold("/recorder 1").success
    refused = client.call(SetGains, "servos/set_gains", foreign)
    assert not refused.success
    assert refused.message == str(answer(8.0))
    assert refused.message in capfd.readouterr().err
    assert bus.gains["joint"] == Gains(kp=8.0, ki=0.0, kd=0.0)
    assert client.call(SetGains, "servos/set_gains", recorders).success  # they are those
    bus.gains["joint"] = Gains(kp=4.0, ki=0.0, kd=0.0)  # such as after a dip of the supply
    assert client.call(SetGains, "servos/set_gains", recorders).message == str(answer(4.0, wanted=8.0))
    for wanted in (True, False):  # neither takes it over nor ends it
        other = hold("/recorder 2", wanted)
        assert not other.success
        assert other.message == str(GainsHeld("/recorder 1", "/recorder 2", PATIENCE))
    assert not client.call(SetGains, "servos/set_gains", foreign).success
    assert not hold("").success
    assert hold("/recorder 1", False).success
    assert client.call(SetGains, "servos/set_gains", foreign).success
    assert hold("/recorder 2").success
    node.trigger_deactivate()
    node.trigger_activate()
    assert client.call(SetGains, "servos/set_gains", recorders).success


def test_diagnostics_tell_two_benches_apart(client: Client) -> None:
    client.run(FakeBus(), namespace="left")
    client.wait_for(lambda: client.diagnostics)
    names = [(status.name, status.hardware_id) for status in client.diagnostics[-1].status]
    assert names == [("left/servos: bus",) * 2, ("left/servos: joint",) * 2]


class KnownBus(FakeBus):
    """Two servos whose device is known, and whose time is not that of the node."""

    BEGIN = 1000 * 10**9  # ns

    def __init__(self) -> None:
        super().__init__(("hip", "knee"))
        self.servos = [ServoIdentity(servo="xl330", id=3), ServoIdentity(servo="mx106", id=4)]
        self.began = time.monotonic_ns()

    @property
    def identities(self) -> tuple[ServoIdentity, ...]:
        return tuple(self.servos)

    @property
    def device(self) -> str:
        return "/dev/ttyUSB0"

    def _pass_time(self) -> int:
        super()._pass_time()
        return self.BEGIN + time.monotonic_ns() - self.began

    def exchange(self, goal: ServoGoal) -> ServoSample:
        return replace(super().exchange(goal), current=(0.25, math.nan), effort=(0.1, math.nan))


def test_diagnostics_have_device_model_and_what_is_measured_at_the_time_of_the_states(
    client: Client,
) -> None:
    client.run(KnownBus())
    client.wait_for(lambda: client.diagnostics and client.diagnostics[-1].status[1].message == "torque off")
    array = client.diagnostics[-1]
    assert 1000 <= array.header.stamp.sec < 1000 + PATIENCE
    bus, hip, knee = array.status
    assert [status.hardware_id for status in (bus, hip, knee)] == [
        "/dev/ttyUSB0",
        "/dev/ttyUSB0 id 3",
        "/dev/ttyUSB0 id 4",
    ]
    values = [{entry.key: entry.value for entry in status.values} for status in (hip, knee)]
    assert (values[0]["model"], values[0]["id"]) == ("xl330", "3")
    assert (float(values[0]["current [A]"]), float(values[0]["effort [N.m]"])) == (0.25, 0.1)
    assert not {"current [A]", "effort [N.m]", "temperature [degC]"} & set(values[1])  # it measures none
    (client.servos or client.run(KnownBus())).trigger_deactivate()
    client.wait_for(lambda: client.diagnostics[-1].status[0].message == "not active")
    assert client.diagnostics[-1].header.stamp.sec > 10**9  # there is no sample: the node's own time


def test_a_stream_that_goes_on_after_a_reboot_switches_nothing_on(client: Client) -> None:
    bus = FakeBus()
    client.run(bus, command_timeout=30.0)
    client.connect()

    def streaming(predicate: Callable[[], object]) -> Callable[[], object]:
        def step() -> object:
            client.command(("joint", True, 0.1))
            return predicate()

        return step

    client.wait_for(streaming(lambda: bus.torque[0]))
    reboot = client.node.create_client(Trigger, "servos/reboot")
    client.wait_for(streaming(reboot.service_is_ready))
    answer = reboot.call_async(Trigger.Request())
    client.wait_for(streaming(answer.done))
    after = len(bus.goals)
    client.wait_for(streaming(lambda: len(bus.goals) > after + 30))
    assert not any(goal.torque_enable[0] for goal in bus.goals[after:])
    client.wait_for(lambda: any("rebooted" in s.message for a in client.diagnostics for s in a.status))
    client.command(("joint", False, math.nan))
    client.wait_for(lambda: "rebooted" not in client.diagnostics[-1].status[0].message)
    client.wait_for(streaming(lambda: bus.torque[0]))


def test_every_way_out_of_active_releases(client: Client) -> None:
    bus = FakeBus()
    node = client.run(bus, command_timeout=30.0)
    client.connect()
    client.command(("joint", True, 0.0))
    client.wait_for(lambda: bus.torque[0])
    node.trigger_deactivate()
    assert not bus.torque[0]
    node.trigger_activate()
    client.command(("joint", True, 0.0))
    client.wait_for(lambda: bus.torque[0])
    node.trigger_shutdown()
    assert not bus.torque[0]


def test_the_node_is_active_once_it_has_read_its_joints_or_knows_why_not(client: Client) -> None:
    class SlowBus(FakeBus):
        def exchange(self, goal: ServoGoal) -> ServoSample:
            time.sleep(0.1)  # s; of the first sample of a bus of many servos
            return super().exchange(goal)

    node = client.run(SlowBus())
    node._follower.hold([0])  # raises where no position was read yet
    assert node._loop.sample is not None
    node.trigger_deactivate()
    node.fake.failure = node.fake.open_failure = BusGone("port", "has gone", advice="plug it in again")
    node.trigger_activate()
    assert node._loop.bus_lost


def test_a_bus_that_does_not_open_is_one_error(client: Client) -> None:
    bus = FakeBus()
    bus.open_failure = Unavailable("port /dev/none", "does not exist", advice="plug it in")
    with pytest.raises(Unavailable) as caught:
        client.run(bus)
    assert caught.value is bus.open_failure


def test_a_device_that_comes_later_is_waited_for_and_named_in_the_diagnostics(
    client: Client,
) -> None:
    bus = FakeBus()
    bus.open_failure = BusGone("port /dev/none", "does not exist", advice="plug it in")
    node = client.run(bus, times=SOON, wait_for_device=math.inf)
    client.wait_for(
        lambda: any("/dev/none" in status.message for array in client.diagnostics for status in array.status)
    )
    bus.open_failure = None
    client.connect()
    assert bus.opened == 1
    assert not node.is_over


def test_a_device_that_does_not_come_in_time_ends_the_node_with_its_reason(
    client: Client,
) -> None:
    bus = FakeBus()
    bus.open_failure = BusGone("port /dev/none", "does not exist", advice="plug it in")
    client.run(bus, times=SOON, wait_for_device=0.05)
    with pytest.raises(BusGone) as caught:
        client.wait_for(lambda: False)
    assert caught.value is bus.open_failure


def test_a_node_that_waits_for_its_device_may_be_configured_by_hand(
    client: Client,
) -> None:
    bus = FakeBus()
    bus.open_failure = BusGone("port /dev/none", "does not exist", advice="plug it in")
    node = client.run(bus, times=SOON, wait_for_device=math.inf)
    bus.open_failure = None
    node.trigger_configure()
    client.wait_for(lambda: node._device_timer is None)
    assert bus.opened == 1
    assert not client.states  # it is not activated behind its user's back


@pytest.mark.parametrize("wrong", [-1.0, math.nan])
def test_an_impossible_time_to_wait_is_refused(wrong: float, client: Client) -> None:
    with pytest.raises(OutOfRange, match="wait_for_device"):
        client.run(FakeBus(), wait_for_device=wrong)


def test_without_autostart_the_node_waits(client: Client) -> None:
    bus = FakeBus()
    node = client.run(bus, autostart=False)
    assert bus.opened == 0
    node.trigger_configure()
    node.trigger_activate()
    client.connect()
    node.trigger_deactivate()
    node.trigger_cleanup()
    node.trigger_configure()
    assert bus.opened == 2


def set_parameters(node: FakeNode, **values: object) -> str:
    """Set parameters; return why not."""
    result = node.set_parameters_atomically([Parameter(name, value=value) for name, value in values.items()])
    assert result.successful == (not result.reason)
    return str(result.reason)


def test_a_node_that_failed_to_configure_gets_another_parameter_and_goes_on(client: Client) -> None:
    node = client.run(FakeBus(), autostart=False)
    assert set_parameters(node, limits=[1.0, -1.0]) == ""
    node.trigger_configure()
    assert node._bus is None
    assert set_parameters(node, limits=[-1.0, 1.0], frame_id="bench") == ""
    node.trigger_configure()
    assert node._limits == ((-1.0, 1.0),)
    assert "unconfigured" in set_parameters(node, limits=[-2.0, 2.0])
    node.trigger_activate()
    client.wait_for(lambda: client.joints)
    assert client.joints[-1].header.frame_id == "bench"
    assert "active" in set_parameters(node, speed_limit=1.0, limits=[-2.0, 2.0])  # all or nothing
    assert node.get_parameter("speed_limit").value == 20.0
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert set_parameters(node, limits=[-2.0, 2.0]) == ""


def test_speeds_timeouts_and_following_error_change_while_the_node_is_active(client: Client) -> None:
    bus = FakeBus()
    node = client.run(bus, command_timeout=30.0)
    client.connect()
    assert set_parameters(node, speed_limit=0.5, torque_on_speed=0.4, following_error=0.0) == ""
    assert set_parameters(node, command_timeout=0.1, goal_acknowledges_faults=True) == ""
    node._loop.call(lambda: None)  # it has taken them
    assert node._loop._shaper.speeds == GoalSpeeds(torque_on=0.4, limit=0.5)
    assert node._loop._guard.largest == 0.0
    assert (node._inputs.timeout, node._follower.settings.timeout) == (0.1, 0.1)
    assert node._follower.settings.acknowledges_faults
    client.command(("joint", True, 0.3))
    client.wait_for(lambda: node._loop.withheld)
    assert str(node._loop.withheld["joint"]) == str(CommandsEnded(timeout=0.1))
    client.wait_for(lambda: bus.torque == [False])


@pytest.mark.parametrize("wrong", [0.0, 1e4, math.nan])
def test_a_limit_out_of_range_is_refused_while_the_node_is_active(wrong: float, client: Client) -> None:
    node = client.run(FakeBus())
    assert "speed_limit" in set_parameters(node, speed_limit=wrong)
    assert node.get_parameter("speed_limit").value == 20.0


def test_groups_of_joints_get_an_action_each(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, tuple[str, ...]]] = []

    class Action:
        def __init__(self, *arguments: object) -> None:
            made.append(arguments[-2:])

        def destroy(self) -> None:
            made.pop()

    monkeypatch.setattr(servo_node, "action_type", lambda: "installed")
    monkeypatch.setattr(servo_node, "TrajectoryAction", Action)
    bus = FakeBus(("hip", "finger"))
    client.run(bus, **{"groups.arm": ["hip"], "groups.gripper": ["finger"]})
    assert made == [("", ()), ("arm", ("hip",)), ("gripper", ("finger",))]
    assert "groups.arm" in set_parameters(client.servos, **{"groups.arm": ["finger"]})


@pytest.mark.parametrize(
    ("policy", "torque"), [({}, [False, False]), ({"group_fault": "stop_group"}, [True, False])]
)
def test_a_fault_in_the_gripper_stops_the_arm_as_the_policy_says(
    policy: dict[str, str], torque: list[bool], client: Client
) -> None:
    bus = FakeBus(("hip", "finger"))
    groups = {"groups.arm": ["hip"], "groups.gripper": ["finger"]}
    node = client.run(bus, command_timeout=30.0, **groups, **policy)
    client.connect()
    client.command(("hip", True, 0.1), ("finger", True, 0.1))
    client.wait_for(lambda: bus.torque == [True, True])
    bus.errors[1] = HardwareError.OVERLOAD
    client.wait_for(lambda: list(client.states[-1].torque_enabled) == torque)
    client.diagnostics.clear()
    client.wait_for(lambda: client.diagnostics)
    bus_status, hip, finger = client.diagnostics[-1].status
    assert (bus_status.level == DiagnosticStatus.ERROR) == (not policy)
    if policy:  # else torque may already be asked for again, which is an error of the joint
        assert hip.level == DiagnosticStatus.OK
    assert finger.level == DiagnosticStatus.ERROR
    bus.errors[1] = 0
    # A release counts only after the last sample with the error: wait for a sample without it.
    client.wait_for(lambda: client.states[-1].hardware_error[1] == 0)
    client.command(("finger", False, 0.0), *([] if policy else [("hip", False, 0.0)]))
    client.wait_for(lambda: not node._loop.latched and not node._loop.stopped)
    assert bus.torque == [bool(policy), False]


def test_a_policy_that_there_is_not_is_one_error(client: Client) -> None:
    with pytest.raises(WrongValue, match="group_fault"):
        client.run(FakeBus(), group_fault="stop_gripper")


def test_a_group_with_a_joint_of_no_bus_is_one_error(client: Client) -> None:
    with pytest.raises(UnknownName, match=r"groups\.arm"):
        client.run(FakeBus(), **{"groups.arm": ["hip"]})


@pytest.mark.parametrize("orphan", [False, True])
def test_joints_are_held_for_a_while_once_the_terminal_has_gone(
    orphan: bool, client: Client, capfd: pytest.CaptureFixture[str]
) -> None:
    bus = FakeBus()
    node = client.run(bus, orphan_hold_time=0.0)
    client.connect()
    node._is_orphan = lambda: orphan
    assert client.call(SetBool, "servos/set_torque", SetBool.Request(data=True)).success
    if orphan:
        client.wait_for(lambda: bus.torque == [False])
    else:
        node._release_forgotten()
        assert bus.torque == [True]
    assert ("orphan_hold_time" in capfd.readouterr().err) == orphan


def test_quality_of_service_is_a_parameter_of_every_topic(client: Client) -> None:
    depth = {"qos_overrides./servo_states.publisher.depth": 7}
    node = client.run(FakeBus(), **depth)
    assert node._servo_states.qos_profile.depth == 7
    topics = [*node.publishers, *node.subscriptions]
    of_ros = ("/rosout", "/parameter_events", "/servos/transition_event")
    for topic in topics:
        name = topic.topic_name
        kind = "publisher" if topic in [*node.publishers] else "subscription"
        assert name in of_ros or node.has_parameter(f"qos_overrides.{name}.{kind}.reliability"), name


def test_two_clients_command_joints_of_their_own_through_two_topics(client: Client) -> None:
    node = client.run(FakeBus(("a", "b")), command_timeout=30.0)
    client.connect()
    other = client.node.create_publisher(JointState, "joint_command", 1)
    client.wait_for(other.get_subscription_count)
    client.command(("a", True, 0.25))
    other.publish(JointState(name=["a", "b"], position=[1.0, -0.25]))
    client.wait_for(lambda: list(client.states[-1].position) == [0.25, -0.25])
    assert node._follower is not None


@pytest.mark.parametrize("deaf", [(), ("joint",)])
def test_a_release_that_no_servo_confirms_is_an_error_at_the_end(
    deaf: tuple[str, ...], client: Client, capfd: pytest.CaptureFixture[str]
) -> None:
    bus = FakeBus()
    node = client.run(bus)
    bus.deaf = deaf
    node.close()
    log = capfd.readouterr().err
    assert log.count(str(ReleaseNotConfirmed(joints=("joint",)))) == len(deaf)
    assert ("[ERROR]" in log) == bool(deaf)


def test_joint_command_before_the_node_is_active_changes_nothing(client: Client) -> None:
    bus = FakeBus()
    node = client.run(bus, autostart=False)
    node._on_joint_command(JointState(name=["joint"], position=[0.5]))
    assert bus.goals == []


@pytest.mark.parametrize("kind", [None, "installed"])
def test_a_node_says_once_where_it_has_no_action(
    client: Client, kind: str | None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(servo_node, "action_type", lambda: kind)
    monkeypatch.setattr(servo_node, "TrajectoryAction", lambda *_: SimpleNamespace(destroy=lambda: None))
    client.run(FakeBus())
    lines = [line for line in capfd.readouterr().err.splitlines() if str(NoTrajectoryAction()) in line]
    assert [line.startswith("[WARN]") for line in lines] == [True] * (not kind)
