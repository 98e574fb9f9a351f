# SPDX-License-Identifier: Apache-2.0
"""Life cycle, topics and services of a node that drives servos, whatever bus they hang on."""

from __future__ import annotations

import math
import threading
import time
import traceback
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from bam_bench.msg import ServoCommands, ServoConfiguration, ServoStates
from bam_bench.srv import GetGains, HoldGains, ReadRegister, RebootServos, SetGains, SetTorque, WriteRegister
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from rclpy.timer import Timer
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from bam_core.errors import BamError, Unavailable
from bam_ros.driver.command_inputs import CommandInput, CommandInputs
from bam_ros.driver.device_wait import DeviceWait
from bam_ros.driver.diagnostics import servo_diagnostics
from bam_ros.driver.gains_hold import GainsHold
from bam_ros.driver.joint_command import JointCommandTopic
from bam_ros.driver.joint_groups import check_joints, check_names, stop_alone
from bam_ros.driver.joint_limits import Range, joint_limits, limit_warnings, parse_limits
from bam_ros.driver.loop_settings import LoopSettings
from bam_ros.driver.node_times import NodeTimes
from bam_ros.driver.parameter_changes import ParameterChanges
from bam_ros.driver.register_services import RegisterServices
from bam_ros.driver.servo_about import JOINT_COMMAND, READ_REGISTER
from bam_ros.driver.servo_bus import ServoBus, ServoSample
from bam_ros.driver.servo_commands import parse_commands, torque_off
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.driver.servo_services import ServoServices
from bam_ros.driver.shared_memory import SharedMemory
from bam_ros.driver.state_messages import StateMessages
from bam_ros.driver.torque_services import TorqueServices
from bam_ros.driver.trajectory_action import TrajectoryAction, action_type
from bam_ros.driver.trajectory_follower import TrajectoryFollower
from bam_ros.driver.trajectory_goal import DefaultTolerances, FollowerSettings
from bam_ros.driver.trajectory_topic import TOPIC as TRAJECTORY_TOPIC
from bam_ros.driver.trajectory_topic import TrajectoryTopic
from bam_ros.node.ends import OrphanWatch
from bam_ros.node.node_about import NodeAbout
from bam_ros.node.parameters import declare
from bam_ros.node.qos_overrides import QOS_OVERRIDES
from bam_ros.node.waiting_messages import waiting_messages
from bam_ros.text.driver_notices import (
    CommandedInFault,
    CommandIgnored,
    NoTrajectoryAction,
    ReleaseNotConfirmed,
    SwitchedOff,
)
from bam_ros.text.parameter_words import OrphanReleased

# Reliable, because MoveIt and others subscribe so, and subscribers that want best effort are served as well;
# deep enough for the bursts of a loop that runs at a kilohertz.
STATE_QOS = QoSProfile(
    depth=200, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE
)
# A second of commands at a kilohertz: a message names some joints only, so a newer one must not replace it.
COMMAND_QOS = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
LATCHED_QOS = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)


_FIRST_SAMPLE_POLL = 0.01  # s

_TIMES = NodeTimes()


class ServoNode(LifecycleNode):
    """Publishes what a `ServoBus` measures and passes on what clients command.

    Subclasses build the bus, and name their parameters in `ABOUT`. Configuring opens the bus, activating
    starts the loop; every way out of the active state releases the servos. When the port vanishes the node
    stays active, with an error in its diagnostics, and takes the port back when it is there again.

    Args:
        name: of the node.
        times: that no parameter sets.
        arguments: as for `rclpy.node.Node`.

    Attributes:
        ABOUT: what the node takes and gives; `SERVO_PARAMETERS` and `SERVO_INTERFACES` are part of it. With
            `POSITION_PARAMETERS` and `POSITION_INTERFACES` its joints are commanded by position.
    """

    ABOUT: ClassVar[NodeAbout]

    def __init__(self, name: str, *, times: NodeTimes = _TIMES, **arguments: Any) -> None:
        super().__init__(name, **arguments)
        self._times = times
        declare(self, type(self).ABOUT.parameters)
        self._groups = {
            group: tuple(self.get_parameter(f"groups.{group}").value)
            for group in self.get_parameters_by_prefix("groups")
        }
        check_names(self._groups)
        self._changes = ParameterChanges(
            type(self).ABOUT.parameters, lambda: self._state_machine.current_state[1], self._apply
        )
        self.add_on_set_parameters_callback(self._changes.take)
        self._bus: ServoBus | None = None
        self._loop: ServoLoop | None = None
        self._inputs: CommandInputs | None = None  # of the loop
        self._joint_command: JointCommandTopic | None = None  # likewise
        self._follower: TrajectoryFollower | None = None  # likewise
        self._shared: SharedMemory | None = None  # of the bus
        self._messages: StateMessages | None = None
        self._sampled = threading.Event()  # whether the loop has published a sample
        self._limits: tuple[Range, ...] = ()
        self._stop_alone: Mapping[str, frozenset[int]] = {}  # groups that a fault stops alone
        self._joints: tuple[str, ...] = ()  # of the bus that was configured last
        self._ignored: CommandIgnored | None = None  # the last one
        self._ignored_at = -math.inf  # s
        self._fault_warned: dict[str, str] = {}  # topic -> fault
        self._failure: BamError | None = None  # why configuring failed last
        self._starting = False
        self._device_timer: Timer | None = None  # while its start waits for the device
        self.is_over = False
        """Whether its life cycle has ended, and its process shall."""
        self.exit_status = 0
        """Of the process then."""
        # Services wait for the bus in a thread of their own, so that commands are taken meanwhile.
        self._worker = ThreadPoolExecutor(1, "services")
        self._service_group = MutuallyExclusiveCallbackGroup()
        self._published_configuration: ServoConfiguration | None = None
        self._joint_states = self.create_publisher(
            JointState, "joint_states", STATE_QOS, qos_overriding_options=QOS_OVERRIDES
        )
        self._servo_states = self.create_publisher(
            ServoStates, "servo_states", STATE_QOS, qos_overriding_options=QOS_OVERRIDES
        )
        self._configuration = self.create_publisher(
            ServoConfiguration, "servo_configuration", LATCHED_QOS, qos_overriding_options=QOS_OVERRIDES
        )
        self._diagnostics = self.create_publisher(
            DiagnosticArray, "/diagnostics", 10, qos_overriding_options=QOS_OVERRIDES
        )
        self._commands = self.create_subscription(
            ServoCommands,
            "servo_commands",
            self._take_commands,
            COMMAND_QOS,
            qos_overriding_options=QOS_OVERRIDES,
        )
        self._trajectory_actions: list[TrajectoryAction] = []  # of all joints, and of each group
        if self._by_position:
            self._offer_position_inputs()
        self._servo_services = ServoServices(
            self._active,
            self._publish_configuration,
            self.get_logger().warning,
            GainsHold(duration=times.hold),
        )
        self.serve(SetGains, "~/set_gains", self._servo_services.set_gains)
        self.serve(GetGains, "~/get_gains", self._servo_services.get_gains)
        self.create_service(HoldGains, "~/hold_gains", self._servo_services.hold_gains)
        self.serve(Trigger, "~/reboot", self._servo_services.reboot)
        self.serve(RebootServos, "~/reboot_servos", self._servo_services.reboot_servos)
        torque = TorqueServices(self._active, lambda: self._inputs, lambda: self._follower)
        self.serve(SetBool, "~/set_torque", torque.set_torque)
        self.serve(SetTorque, "~/set_joint_torque", torque.set_joint_torque)
        self.serve(Trigger, "~/reset_fault", torque.reset_fault)
        if self._offers(READ_REGISTER):
            registers = RegisterServices(self._active)
            self.serve(ReadRegister, READ_REGISTER, registers.read)
            self.serve(WriteRegister, "~/write_register", registers.write)
        self.create_timer(1.0, self._publish_diagnostics)
        self._is_orphan = OrphanWatch()
        if self._by_position:
            self.create_timer(1.0, self._release_forgotten)

    @abstractmethod
    def create_bus(self) -> ServoBus:
        """Build the bus from the node's parameters, without touching hardware; raises BamError."""

    def serve(self, service_type: type, name: str, work: Callable[[Any, Any], Any]) -> None:
        """Create a service whose work may wait for the bus; commands are taken meanwhile.

        Such services are done one at a time.

        Args:
            service_type: of the service.
            name: of the service.
            work: from request and empty response to response; called in a thread of its own.
        """

        async def callback(request: Any, response: Any) -> Any:
            return await self.in_thread(self._worker, lambda: work(request, response))

        self.create_service(service_type, name, callback, callback_group=self._service_group)

    def in_thread(self, worker: ThreadPoolExecutor, work: Callable[[], Any]) -> Future:
        """Return the future of work in another thread; the callback that awaits it has a group of its own."""
        done: Future = Future(executor=self.executor)

        def run() -> None:
            try:
                done.set_result(work())
            except Exception as error:
                done.set_exception(error)
            if self.executor is not None:
                self.executor.wake()

        worker.submit(run)
        return done

    @property
    def goal_limits(self) -> tuple[Range, ...]:
        """Lowest and highest goal of each joint that are enforced, rad; known once it is configured."""
        assert self._bus is not None
        return joint_limits(self._bus, self._limits)

    @property
    def _by_position(self) -> bool:
        """Whether positions come as `joint_command` and as trajectories, too."""
        return self._offers(JOINT_COMMAND)

    def _offers(self, interface: str) -> bool:
        """Whether this is one of the node's interfaces."""
        return any(offered.name == interface for offered in type(self).ABOUT.interfaces)

    def _offer_position_inputs(self) -> None:
        self._joint_commands = self.create_subscription(
            JointState,
            JOINT_COMMAND,
            self._take_joint_commands,
            COMMAND_QOS,
            qos_overriding_options=QOS_OVERRIDES,
        )
        topic = TrajectoryTopic(lambda: self._follower, self.get_logger().warning)
        self._trajectories = self.create_subscription(
            JointTrajectory, TRAJECTORY_TOPIC, topic.take, COMMAND_QOS, qos_overriding_options=QOS_OVERRIDES
        )
        kind = action_type()
        if kind is not None:
            self._trajectory_actions = [
                TrajectoryAction(self, kind, lambda: self._follower, group, joints)
                for group, joints in (("", ()), *self._groups.items())
            ]

    def start(self) -> None:
        """Configure and activate where the parameter `autostart` is true.

        A device that is not there yet is looked for again while the node is spun. After the time in the
        parameter `wait_for_device` a timer raises what this method would.

        Raises:
            BamError: that failed.
        """
        if not self.get_parameter("autostart").value:
            return
        waits = self.has_parameter("wait_for_device")
        longest = float(self.get_parameter("wait_for_device").value) if waits else 0.0
        self._try_to_start(DeviceWait(longest, time.monotonic()))

    def _try_to_start(self, wait: DeviceWait) -> None:
        """Start, or wait for the device; raises BamError where the wait is over."""
        self._stop_timer()
        if self._state_machine.current_state[1] != "unconfigured":  # somebody else has configured it
            return
        try:
            self._start_now()
        except BamError as failure:
            if wait.is_over(failure, time.monotonic()):
                raise
            if line := wait.line(failure):
                self.get_logger().warning(line)
            self._device_timer = self.create_timer(self._times.device_poll, lambda: self._try_to_start(wait))

    def _stop_timer(self) -> None:
        if self._device_timer is not None:
            self.destroy_timer(self._device_timer)
            self._device_timer = None

    def _start_now(self) -> None:
        """Configure and activate; raises BamError."""
        self._starting = True
        try:
            for transition in (self.trigger_configure, self.trigger_activate):
                if transition() != TransitionCallbackReturn.SUCCESS:
                    raise self._failure or Unavailable(
                        self.get_name(), "could not start", advice="see its log"
                    )
        finally:
            self._starting = False

    def close(self) -> None:
        """Release the servos and give the bus back, in any state. Idempotent, never raises."""
        self._stop_loop()
        if self._shared is not None:
            self._shared.close()
            self._shared = None
        if self._bus is not None:
            self._bus.close()
            self._bus = None

    def destroy_node(self) -> None:
        """End the node, and the thread of its services."""
        self._worker.shutdown(wait=False)
        while self._trajectory_actions:
            self._trajectory_actions.pop().destroy()
        super().destroy_node()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the bus."""
        self._failure = None
        bus: ServoBus | None = None
        try:
            bus = self.create_bus()
            check_joints(self._groups, bus.names)
            self._stop_alone = self._groups_alone(bus.names)
            self._limits = parse_limits(self.get_parameter("limits").value, bus.names)
            summary = bus.open()
            joint_limits(bus, self._limits)
            self._shared = self._share(bus)
        except BamError as error:
            if bus is not None:
                bus.close()
            self._failure = error
            if not self._starting:  # else `start` raises it
                self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        except Exception:
            # rclpy swallows it: say what happened before the node goes through its error state.
            self._bus = bus
            self.get_logger().error(traceback.format_exc())
            return TransitionCallbackReturn.ERROR
        self._bus, self._joints = bus, bus.names
        self._messages = StateMessages(
            bus.names, str(self.get_parameter("frame_id").value), bus.command_kinds
        )
        self._publish_configuration(bus)
        self.get_logger().info(summary)
        if self._by_position and not self._trajectory_actions:
            self.get_logger().warning(str(NoTrajectoryAction()))
        for warning in (*limit_warnings(bus, self._limits), *bus.warnings):
            self.get_logger().warning(str(warning))
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start the loop, with torque off until a command asks for it; return with the first sample.

        Goals of the action, which begin where the joints are, are accepted from then on. Where no sample
        comes the node is active all the same: it looks for its bus.
        """
        assert self._bus is not None
        self._sampled.clear()
        settings = self._loop_settings({})
        self._loop = ServoLoop(self._bus, settings, self._publish, self._on_event, self._take_shared)
        self._inputs = CommandInputs(
            self._loop, self._bus.now, len(self._bus.names), settings.command_timeout
        )
        if self._by_position:
            self._take_positions(self._bus, self._loop, self._inputs)
        if self._shared is not None:
            self._shared.activate(self._loop, self._inputs, self._follower)
        self._loop.start()
        deadline = time.monotonic() + self._times.first_sample
        while not self._sampled.wait(_FIRST_SAMPLE_POLL) and time.monotonic() < deadline:
            if self._loop.latched or not self._loop.running:  # it has said why
                break
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the loop and release the servos."""
        self._stop_loop()
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Give the bus back."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Release the servos and give the bus back; the process ends then."""
        self.close()
        self.is_over = True
        return TransitionCallbackReturn.SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Release the servos and give the bus back; the node is unconfigured afterwards."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def _loop_settings(self, changed: Mapping[str, Any]) -> LoopSettings:
        """Return what the parameters set for the loop; `changed`: new values that they do not have yet."""
        value = self._values(changed)
        return LoopSettings(
            rate=float(value("rate")),
            command_timeout=float(value("command_timeout")),
            torque_on_speed=float(value("torque_on_speed")),
            speed_limit=float(value("speed_limit")),
            following_error=float(value("following_error")),
            velocity_error=float(value("velocity_error")) if self.has_parameter("velocity_error") else 0.0,
            limits=self._limits,
            groups=self._stop_alone,
            failures=int(value("failures")),
        )

    def _follower_settings(self, changed: Mapping[str, Any]) -> FollowerSettings:
        """Return what the parameters set for trajectories; `changed`: as above."""
        value = self._values(changed)
        return FollowerSettings(
            default=DefaultTolerances(
                path=float(value("path_tolerance")),
                goal=float(value("goal_tolerance")),
                goal_time=float(value("goal_time_tolerance")),
            ),
            timeout=float(value("command_timeout")),
            acknowledges_faults=bool(value("goal_acknowledges_faults")),
        )

    def _groups_alone(self, joints: Sequence[str]) -> Mapping[str, frozenset[int]]:
        """Return the groups that a fault stops alone; raises BamError."""
        if not self._by_position:
            return {}
        return stop_alone(self.get_parameter("group_fault").value, self._groups, joints)

    def _values(self, changed: Mapping[str, Any]) -> Callable[[str], Any]:
        return lambda name: changed[name] if name in changed else self.get_parameter(name).value

    def _apply(self, changed: Mapping[str, Any]) -> None:
        """Let parameters that changed while the node is active count at once."""
        if self._loop is None or self._inputs is None:
            return
        settings = self._loop_settings(changed)
        self._loop.change(settings)
        self._inputs.timeout = settings.command_timeout
        if self._follower is not None:
            self._follower.settings = self._follower_settings(changed)

    def _take_positions(self, bus: ServoBus, loop: ServoLoop, inputs: CommandInputs) -> None:
        """Begin to accept `joint_command` and trajectories."""
        self._joint_command = JointCommandTopic(
            bus.names,
            inputs,
            self.get_logger().warning,
            bus.command_kinds,
            lambda: bus.torque_constants,
        )
        self._follower = TrajectoryFollower(
            bus, loop, inputs, lambda: joint_limits(bus, self._limits), self._follower_settings({})
        )

    def _share(self, bus: ServoBus) -> SharedMemory | None:
        """Return the shared memory that the parameter asks for; raises BamError."""
        name = str(self.get_parameter("shared_memory").value) if self._by_position else ""
        if not name:
            return None
        return SharedMemory(name, bus, lambda: joint_limits(bus, self._limits), self.get_logger().warning)

    def _take_shared(self) -> None:
        """Take what is in the shared memory; called in the loop's thread."""
        if self._shared is not None:
            self._shared.poll()

    def _stop_loop(self) -> None:
        """End a trajectory, stop the loop, release the servos. Idempotent, never raises."""
        follower, self._follower = self._follower, None
        if follower is not None:
            follower.stop("the node is not active any more; activate it")
        if self._loop is not None:
            self._loop.stop()
            self._loop = None
            if self._shared is not None:
                self._shared.deactivate()
            self._warn_of_unreleased()
        self._inputs = self._joint_command = None
        self._servo_services.gains_hold.clear()

    def _release_forgotten(self) -> None:
        """Hold joints for a while only, once whoever started the node has gone: no client may be left."""
        follower = self._follower
        if follower is None or not self._is_orphan():
            return
        seconds = float(self.get_parameter("orphan_hold_time").value)
        if joints := follower.release_forgotten(seconds):
            self.get_logger().warning(str(OrphanReleased(joints=joints, seconds=seconds)))

    def _warn_of_unreleased(self) -> None:
        """Warn of joints that may hold on though they were released."""
        joints = self._bus.unreleased if self._bus is not None else ()
        if joints:
            self.get_logger().error(str(ReleaseNotConfirmed(joints=joints)))

    def _publish(self, sample: ServoSample, sequence: int) -> None:
        """Publish a sample; called in the loop's thread."""
        assert self._messages is not None
        if self._shared is not None:
            self._shared.publish(sample, sequence)
        joint_state, servo_states = self._messages.fill(sample, sequence)
        self._joint_states.publish(joint_state)
        self._servo_states.publish(servo_states)
        if (follower := self._follower) is not None:
            follower.step(sample)
        self._sampled.set()

    def _on_event(self, is_error: bool, line: str) -> None:
        """Publish what happened in the loop; called in the loop's thread."""
        if self._shared is not None:
            self._shared.report()
        if is_error:
            self.get_logger().error(line)
        else:
            self.get_logger().info(line)
            if self._bus is not None:  # servos that came back may have other settings
                self._publish_configuration(self._bus)
        if (follower := self._follower) is not None:
            follower.check()
        self._publish_diagnostics()

    def _take_commands(self, message: ServoCommands) -> None:
        """Take a message and all that queued up behind it."""
        self._on_commands(message)
        for waiting in waiting_messages(self._commands):
            self._on_commands(waiting)

    def _on_commands(self, message: ServoCommands) -> None:
        if self._inputs is None or self._bus is None:
            self._reject(CommandIgnored(topic="servo_commands"))
            return
        try:
            limits = joint_limits(self._bus, self._limits)
            commands = parse_commands(message, self._bus.names, limits, self._bus.command_kinds)
        except BamError as error:
            commands = torque_off(message, self._bus.names)
            self._reject(
                CommandIgnored(topic="servo_commands", reason=error, is_torque_off_accepted=bool(commands))
            )
        if not commands:
            return
        refused = self._inputs.take(CommandInput.SERVO_COMMANDS, commands)
        if refused:
            joints = tuple(self._bus.names[index] for index in sorted(refused))
            self._reject(CommandIgnored(topic="servo_commands", reason=SwitchedOff(joints=joints)))
        elif any(command.torque_enable for command in commands.values()):
            self._warn_of_fault("servo_commands", commands)

    def _warn_of_fault(self, topic: str, joints: Iterable[int]) -> None:
        """Warn once per fault that commands for these joints switch nothing on."""
        loop = self._loop
        if loop is None:
            return
        reason = str(loop.fault_reason) if loop.latched else loop.latched_fault(joints)
        if not reason and loop.stopped:  # another group's; its commands may come between these
            return
        if reason and reason != self._fault_warned.get(topic):
            self.get_logger().warning(str(CommandedInFault(topic=topic, fault=reason)))
        self._fault_warned[topic] = reason

    def _reject(self, ignored: CommandIgnored) -> None:
        self._ignored, self._ignored_at = ignored, time.monotonic()
        self.get_logger().warning(str(ignored), throttle_duration_sec=1.0)

    def _take_joint_commands(self, message: JointState) -> None:
        """Take the newest of each set of joints, of a message and all that queued up behind it."""
        newest: dict[tuple[str, ...], JointState] = {}
        for states in (message, *waiting_messages(self._joint_commands)):
            joints = tuple(states.name)
            newest.pop(joints, None)  # last in the order: the newest entry of a joint counts
            newest[joints] = states
        for states in newest.values():
            self._on_joint_command(states)

    def _on_joint_command(self, message: JointState) -> None:
        if self._joint_command is None or self._bus is None:
            self.get_logger().warning(str(CommandIgnored(topic=JOINT_COMMAND)), throttle_duration_sec=1.0)
            return
        try:
            limits = joint_limits(self._bus, self._limits)
            self._joint_command.take(message.name, message.position, limits, message.velocity, message.effort)
            names = self._bus.names
            self._warn_of_fault(JOINT_COMMAND, [names.index(name) for name in message.name if name in names])
        except BamError as error:
            self.get_logger().warning(
                str(CommandIgnored(topic=JOINT_COMMAND, reason=error)), throttle_duration_sec=1.0
            )

    def _active(self) -> tuple[ServoBus, ServoLoop]:
        if self._bus is None or self._loop is None:
            raise Unavailable(self.get_name(), "not active", advice="activate the node and ask again")
        return self._bus, self._loop

    def _publish_configuration(self, bus: ServoBus) -> None:
        """Publish the servo of every joint and the range of its goals, where that has changed."""
        limits = joint_limits(bus, self._limits)
        message = ServoConfiguration(
            name=list(bus.names),
            servo=[identity.servo for identity in bus.identities],
            id=[identity.id for identity in bus.identities],
            command_interface=[kind.value for kind in bus.command_kinds],
            goal_limit=list(bus.setpoint_limits),
            position_min=[low for low, _ in limits],
            position_max=[high for _, high in limits],
            demand_limit=[law.demand_limit for law in bus.law_settings],
            unmodelled=[law.unmodelled for law in bus.law_settings],
        )
        if message != self._published_configuration:
            self._published_configuration = message
            self._configuration.publish(message)

    def _publish_diagnostics(self) -> None:
        failure = str(self._failure or "")
        name = self.get_fully_qualified_name().lstrip("/")  # two benches have drivers of the same name
        array = servo_diagnostics(name, self._bus, self._loop, failure, self._joints)
        if time.monotonic() - self._ignored_at < self._times.ignored:  # or a stream would seem to be missing
            about, ignored = array.status[0], str(self._ignored)
            about.message = f"{ignored}; {about.message}" if about.level > DiagnosticStatus.OK else ignored
            about.level = max(about.level, DiagnosticStatus.WARN)
        if array.header.stamp == Time():  # without a sample; others have the clock of the states
            array.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(array)
