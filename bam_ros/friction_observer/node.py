# SPDX-License-Identifier: Apache-2.0
"""The node `friction_observer`: friction of every joint of a robot from its joint states and contacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bam_bench.msg import ContactStates, JointFriction, ServoStates
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.time import Time
from sensor_msgs.msg import JointState

from bam_core.errors import BamError, Missing, WrongShape
from bam_core.mujoco import compile_robot, load_robot
from bam_core.text.comma_list import comma_list
from bam_core.whole_body import FrictionObserver, ObservedFriction, WholeBody
from bam_core.whole_body.contact_phases import AFTER_LIFT_OFF, BEFORE_TOUCH_DOWN
from bam_core.whole_body.friction_health import HealthSettings
from bam_ros.driver.servo_node import STATE_QOS
from bam_ros.friction_observer.health import WatchedJoints
from bam_ros.node.model_file import model_file
from bam_ros.node.node_about import Interface, NodeAbout
from bam_ros.node.parameters import NodeParameter, declare
from bam_ros.node.process import run_node
from bam_ros.node.qos_overrides import QOS_OVERRIDES
from bam_ros.node.running_node import NodeProgram

_QUEUE = 1000  # joint states; a bag that is played may come in bursts
_CONTACT_DELAY = 0.02  # s that a contact state may take longer than the joint state of the same time
_DIAGNOSTICS_PERIOD = 1.0  # s, as of the drivers
_DIAGNOSTICS_QUEUE = 10
_SELDOM = 5.0  # s between lines about samples that are lost


class FrictionObserverNode(Node):
    """Estimates friction a little behind the joint states, by their stamps and those of the contacts.

    Args:
        arguments: as for `rclpy.node.Node`.
    """

    ABOUT = NodeAbout(
        name="friction_observer",
        module="bam_ros.friction_observer.node",
        purpose=(
            "Estimates the friction torque of every joint of a robot from positions and joint torques, with a"
            " fixed base or standing on its feet. It uses the stamps of joint and contact states, so a bag"
            " can be played into it. Joint states that come faster than it computes are lost and counted."
        ),
        parameters=(
            NodeParameter(
                name="model",
                default="",
                description="MJCF or URDF file of the robot; its inertia is taken as exact",
            ),
            NodeParameter(
                name="contacts",
                default=[""],
                description="sites that may stand on the ground; empty: fixed base",
            ),
            NodeParameter(
                name="held",
                default=[""],
                description="joints whose torque is unknown and that a controller holds; empty: none",
            ),
            NodeParameter(
                name="period",
                default=0.001,
                description="of joint states, s",
                low=0.0001,
                high=1.0,
            ),
            NodeParameter(
                name="servos",
                default=[""],
                description=(
                    "joints whose friction is compared with that of a servo file, as JOINT=FILE each; empty:"
                    " none"
                ),
            ),
            NodeParameter(
                name="allowed_change",
                default=0.05,
                description="relative change of friction that raises no alarm, as between two sessions",
                low=0.01,
                high=1.0,
            ),
            NodeParameter(
                name="false_alarms",
                default=0.001,
                description="most false alarms of a joint that are wanted per hour of motion",
                low=1e-6,
                high=10.0,
            ),
            NodeParameter(
                name="window",
                default=33,
                description=(
                    "samples of the Savitzky-Golay filter, odd; results are half of it late, with contacts"
                    " 0.07 s at least"
                ),
                low=5,
                high=501,
            ),
        ),
        interfaces=(
            Interface(
                kind="publishes",
                name="joint_friction",
                type="bam_bench/JointFriction",
                purpose=(
                    "friction torque, residual and sign of power of each joint, for every joint state away"
                    " from lost ones and from changes of contacts"
                ),
            ),
            Interface(
                kind="publishes",
                name="/diagnostics",
                type="diagnostic_msgs/DiagnosticArray",
                purpose="friction of the joints in `servos` beside their files, once a second",
            ),
            Interface(
                kind="subscribes",
                name="servo_states",
                type="bam_bench/ServoStates",
                purpose="temperature of the joints in `servos`, to separate heat from wear",
            ),
            Interface(
                kind="subscribes",
                name="joint_states",
                type="sensor_msgs/JointState",
                purpose="position and effort; velocities are found from positions",
            ),
            Interface(
                kind="subscribes",
                name="contact_states",
                type="bam_bench/ContactStates",
                purpose="which contacts stand from the stamp on, some or all; not needed with a fixed base",
            ),
        ),
        example=(
            "model:=config/robots/humanoid.xml",
            "contacts:='[right_sole, left_sole]'",
            "held:='[neck_yaw, neck_pitch]'",
        ),
    )

    def __init__(self, **arguments: Any) -> None:
        super().__init__("friction_observer", **arguments)
        values = declare(self, self.ABOUT.parameters)
        if not values["model"]:
            raise Missing(
                "model", "an MJCF or URDF file of the robot", advice="set the parameter model"
            ).within("friction_observer")
        self._robot = WholeBody(
            compile_robot(load_robot(model_file(values["model"]))),
            contacts=_names(values["contacts"]),
            held=_names(values["held"]),
        )
        legged = bool(self._robot.contacts)
        self._observer = FrictionObserver(
            self._robot,
            values["period"],
            values["window"],
            after=AFTER_LIFT_OFF if legged else 0.0,
            before=BEFORE_TOUCH_DOWN if legged else 0.0,
            contact_delay=_CONTACT_DELAY if legged else 0.0,
        )
        self._watched = WatchedJoints(
            values["servos"],
            self._robot.joints,
            values["period"],
            HealthSettings(allowed=values["allowed_change"], false_alarms=values["false_alarms"]),
        )
        self._origin: int | None = None
        self._latest = 0.0
        self._logged: set[str] = set()
        self._lost = self._restarts = 0
        self._publisher = self.create_publisher(
            JointFriction, "joint_friction", STATE_QOS, qos_overriding_options=QOS_OVERRIDES
        )
        queue = QoSProfile(depth=_QUEUE, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.create_subscription(
            JointState, "joint_states", self._on_state, queue, qos_overriding_options=QOS_OVERRIDES
        )
        self.create_subscription(
            ContactStates, "contact_states", self._on_contacts, queue, qos_overriding_options=QOS_OVERRIDES
        )
        self._diagnostics = self.create_publisher(
            DiagnosticArray, "/diagnostics", _DIAGNOSTICS_QUEUE, qos_overriding_options=QOS_OVERRIDES
        )
        if self._watched.names:
            self.create_subscription(
                ServoStates, "servo_states", self._on_servos, queue, qos_overriding_options=QOS_OVERRIDES
            )
            self.create_timer(_DIAGNOSTICS_PERIOD, self._diagnose)

    def start(self) -> None:
        """Log what is observed."""
        robot = self._robot
        base = f"contacts {', '.join(robot.contacts)}" if robot.contacts else "fixed base"
        self.get_logger().info(
            f"observes {len(robot.joints)} joints, {base}; results are {self._observer.delay:.3f} s late"
        )

    def close(self) -> None:
        """There is nothing to release."""

    def _on_servos(self, message: ServoStates) -> None:
        self._watched.warm(dict(zip(message.name, message.temperature, strict=False)))

    def _diagnose(self) -> None:
        diagnostics = self._watched.diagnostics(self.get_fully_qualified_name())
        diagnostics.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(diagnostics)

    def _on_contacts(self, message: ContactStates) -> None:
        stamp = Time.from_msg(message.header.stamp).nanoseconds
        try:
            if len(message.name) != len(message.standing):
                raise WrongShape(
                    "contact_states",
                    (len(message.name), len(message.standing)),
                    "as many of both",
                    printed=f"{len(message.name)} names and {len(message.standing)} states",
                    advice="correct the publisher",
                )
            time = self._since_origin(stamp) if stamp else self._latest
            self._observer.stand(time, dict(zip(message.name, message.standing, strict=True)))
            if not stamp:
                raise Missing(
                    "stamp of contact_states",
                    "that of the joint state from which on they hold",
                    advice="taken as of the newest joint state",
                )
        except BamError as error:
            self._log_once(str(error))

    def _on_state(self, message: JointState) -> None:
        self._latest = self._since_origin(Time.from_msg(message.header.stamp).nanoseconds)
        try:
            if len(message.position) != len(message.name) or len(message.effort) != len(message.name):
                lengths = (len(message.name), len(message.position), len(message.effort))
                raise WrongShape(
                    "joint_states",
                    lengths,
                    "as many of each",
                    printed="{} names, {} positions, {} efforts".format(*lengths),
                    advice="publish positions and torques",
                )
            observed = self._observer.push(
                self._latest,
                dict(zip(message.name, message.position, strict=True)),
                dict(zip(message.name, message.effort, strict=True)),
            )
        except BamError as error:
            self._log_once(str(error))
            return
        self._account()
        if observed is not None:
            self._publish(observed)
            for notice in self._watched.push(observed):
                self.get_logger().warning(str(notice))

    def _since_origin(self, stamp: int) -> float:
        """Return s since the first stamp: epochs in a double are only good to 0.2 µs."""
        if self._origin is None:
            self._origin = stamp
        return (stamp - self._origin) * 1e-9

    def _account(self) -> None:
        observer = self._observer
        if observer.restarts > self._restarts:
            self._restarts = observer.restarts
            self.get_logger().warning("joint_states: time has gone back; begins anew from there")
        if observer.lost > self._lost:
            self._lost = observer.lost
            self.get_logger().warning(
                f"joint_states: {self._lost} samples lost so far; none is estimated within half a window "
                "of them",
                throttle_duration_sec=_SELDOM,
            )

    def _publish(self, observed: ObservedFriction) -> None:
        if observed.inconsistency:
            self._log_once(f"{observed.inconsistency.statement} {observed.inconsistency.cure}")
        elif observed.rank.unidentifiable:
            self._log_once(str(observed.rank.deficit()))
        message = JointFriction(
            name=list(self._robot.joints),
            torque=observed.torque.tolist(),
            velocity=observed.velocity.tolist(),
            residual=observed.residual.tolist(),
            power_sign=observed.driving.tolist(),
            contacts=list(observed.rank.contacts),
            rank=observed.rank.rank,
            contradiction=observed.inconsistency.statement if observed.inconsistency else "",
        )
        stamp = round(observed.time * 1e9) + (self._origin or 0)
        message.header.stamp = Time(nanoseconds=stamp).to_msg()
        self._publisher.publish(message)

    def _log_once(self, line: str) -> None:
        """Warn once about each thing; at a thousand samples per second nobody reads the second line."""
        if line not in self._logged:
            self._logged.add(line)
            self.get_logger().warning(line)


def _names(listed: Sequence[str]) -> tuple[str, ...]:
    """Return the names in a parameter, whose entries may be several with commas."""
    return tuple(comma_list(",".join(listed)))


PROGRAM = NodeProgram(about=FrictionObserverNode.ABOUT, make_node=lambda stop: FrictionObserverNode())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a signal ends it."""
    return run_node(PROGRAM, argv)


if __name__ == "__main__":
    raise SystemExit(main())
