# SPDX-License-Identifier: Apache-2.0
"""Parameters, topics and services that every servo node has."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import replace

from bam_ros.driver.joint_groups import STOP_ALL
from bam_ros.driver.joint_limits import HALF_TURN
from bam_ros.node.node_about import Interface
from bam_ros.node.parameters import NodeParameter

SERVO_PARAMETERS = (
    NodeParameter(
        name="autostart", default=True, description="begin without being asked: configure and activate"
    ),
    NodeParameter(name="frame_id", default="", description="frame in the headers of the published states"),
    NodeParameter(
        name="rate",
        default=500.0,
        description="most reads per second, 1/s; 0: as many as the bus allows",
        low=0.0,
        high=10_000.0,
    ),
    NodeParameter(
        name="command_timeout",
        default=0.5,
        description=(
            "torque of a joint goes off when no servo_commands or joint_command name it for this long, s;"
            " simulated time in a simulation"
        ),
        low=0.05,
        high=60.0,
        read_only=False,
    ),
    NodeParameter(
        name="torque_on_speed",
        default=2.0,
        description="speed of the goal after torque on until it has caught up with the command, rad/s",
        low=0.01,
        high=100.0,
        read_only=False,
    ),
    NodeParameter(
        name="limits",
        default=list(HALF_TURN),
        description=(
            "lowest and highest goal, rad, within what the servo takes: one pair for all joints, or a pair"
            " for each in turn"
        ),
    ),
    NodeParameter(
        name="speed_limit",
        # The script sin_time_square moves its goal with up to 12 rad/s; no servo turns faster than this.
        default=20.0,
        description="fastest that goals move, rad/s; a goal that jumps is approached at this speed",
        low=0.01,
        high=1000.0,
        read_only=False,
    ),
    NodeParameter(
        name="following_error",
        # Small gains leave large errors: an XL330 with half its stall torque on it is 1.3 rad off at kp 100.
        default=2.0,
        description="torque goes off where a joint stays this far from its goal for 0.5 s, rad; 0: never",
        low=0.0,
        high=1000.0,
        read_only=False,
    ),
    NodeParameter(
        name="failures",
        default=5,
        description="lost reads in a row after which the bus counts as lost",
        low=1,
        high=1000,
    ),
)
"""Of every servo node."""
DEVICE_PARAMETERS = (
    NodeParameter(
        name="wait_for_device",
        default=0.0,
        description=(
            "how long a start waits for port, power and servos that are not there yet, s; .inf: any time;"
            " 0: not at all"
        ),
        low=0.0,
        high=math.inf,
    ),
)
"""Of servo nodes that need hardware."""
POSITION_PARAMETERS = (
    NodeParameter(
        name="path_tolerance",
        default=0.0,
        description=(
            "how far a joint may be from its path where follow_joint_trajectory has no tolerance, rad;"
            " 0: any distance"
        ),
        low=0.0,
        high=100.0,
        read_only=False,
    ),
    NodeParameter(
        name="goal_tolerance",
        default=0.0,
        description="likewise at the end of its path, rad; 0: any distance",
        low=0.0,
        high=100.0,
        read_only=False,
    ),
    NodeParameter(
        name="goal_time_tolerance",
        default=2.0,
        description="likewise, time that joints may take to come within it, s; 0: any time",
        low=0.0,
        high=3600.0,
        read_only=False,
    ),
    NodeParameter(
        name="orphan_hold_time",
        default=60.0,
        description=(
            "once the terminal or program that started the node has gone: how long joints are held where"
            " nobody commands them, s; .inf: any time"
        ),
        low=0.0,
        high=math.inf,
        read_only=False,
    ),
    NodeParameter(
        name="groups.NAME",
        default=[""],
        description=(
            "joints of a group, such as groups.arm, with an action of its own, ~/arm/follow_joint_trajectory;"
            " goals of groups run side by side"
        ),
    ),
    NodeParameter(
        name="group_fault",
        default=STOP_ALL,
        description=(
            "stop_all: a hardware error or following error of a joint releases all joints; stop_group: those"
            " of its group alone, which groups.NAME names; faults of the bus release all in any case"
        ),
    ),
    NodeParameter(
        name="goal_acknowledges_faults",
        default=False,
        description=(
            "true: a new goal of follow_joint_trajectory ends a fault whose cause has passed, as"
            " ~/reset_fault does"
        ),
        read_only=False,
    ),
    NodeParameter(
        name="shared_memory",
        default="",
        description=(
            "name of shared memory for states and commands, which bam_ros2_control has in its URDF; only"
            " this user can open it, and commands are as those of joint_command; empty: none"
        ),
    ),
)
"""Of servo nodes whose joints are commanded by position."""
SERVO_INTERFACES = (
    Interface(
        kind="publishes",
        name="joint_states",
        type="sensor_msgs/JointState",
        purpose="position, velocity and torque as measured; reliable",
    ),
    Interface(
        kind="publishes",
        name="servo_states",
        type="bam_bench/ServoStates",
        purpose="all that the servos measure; reliable",
    ),
    Interface(
        kind="publishes",
        name="servo_configuration",
        type="bam_bench/ServoConfiguration",
        purpose="which servo each joint is, and its limits; kept for late listeners",
    ),
    Interface(
        kind="publishes",
        name="/diagnostics",
        type="diagnostic_msgs/DiagnosticArray",
        purpose="once a second, and at once when something happens",
    ),
    Interface(
        kind="subscribes",
        name="servo_commands",
        type="bam_bench/ServoCommands",
        purpose="torque and goal of the joints it names; torque of each goes off when none names it any more",
    ),
    Interface(
        kind="service",
        name="~/set_gains",
        type="bam_bench/SetGains",
        purpose="gains of the position controller; while they are held it only reads them back",
    ),
    Interface(
        kind="service",
        name="~/get_gains",
        type="bam_bench/GetGains",
        purpose="reads the gains of a servo",
    ),
    Interface(
        kind="service",
        name="~/hold_gains",
        type="bam_bench/HoldGains",
        purpose="nobody sets gains until their holder ends it or has not renewed it for 5 s; for recorders",
    ),
    Interface(
        kind="service",
        name="~/reboot",
        type="std_srvs/Trigger",
        purpose="restart every servo, which clears hardware errors; torque is off afterwards",
    ),
    Interface(
        kind="service",
        name="~/reboot_servos",
        type="bam_bench/RebootServos",
        purpose="the same of the servos that it names",
    ),
    Interface(
        kind="service",
        name="~/set_torque",
        type="std_srvs/SetBool",
        purpose="false: release all joints, whatever commands them; true: hold them where they are",
    ),
    Interface(
        kind="service",
        name="~/set_joint_torque",
        type="bam_bench/SetTorque",
        purpose="the same of the joints that it names",
    ),
    Interface(
        kind="service",
        name="~/reset_fault",
        type="std_srvs/Trigger",
        purpose=(
            "end a fault whose cause has passed, once no command asks for torque; torque stays off until a"
            " command asks for it"
        ),
    ),
)
"""Of every servo node."""
READ_REGISTER = "~/read_register"
"""Service that only nodes with REGISTER_INTERFACES have."""
REGISTER_INTERFACES = (
    Interface(
        kind="service",
        name=READ_REGISTER,
        type="bam_bench/ReadRegister",
        purpose="reads any register of a servo by its name in the control table",
    ),
    Interface(
        kind="service",
        name="~/write_register",
        type="bam_bench/WriteRegister",
        purpose="writes one; those that decide about safety or the control law are refused",
    ),
)
"""Of servo nodes whose servos have control tables."""
JOINT_COMMAND = "joint_command"
"""Topic that only nodes with POSITION_INTERFACES have."""
POSITION_INTERFACES = (
    Interface(
        kind="subscribes",
        name=JOINT_COMMAND,
        type="sensor_msgs/JointState",
        purpose=(
            "goal positions of the joints it names, with torque on, as ros2_control over topics and Isaac Sim"
            " send them; servo_commands and trajectories have priority"
        ),
    ),
    Interface(
        kind="subscribes",
        name="~/joint_trajectory",
        type="trajectory_msgs/JointTrajectory",
        purpose="a trajectory as a message, executed as a goal of the action; without points: stop and hold",
    ),
    Interface(
        kind="action",
        name="~/follow_joint_trajectory",
        type="control_msgs/FollowJointTrajectory",
        purpose=(
            "follow a trajectory within tolerances, then hold; as MoveIt sends it; where control_msgs is"
            " installed"
        ),
    ),
)
"""Of servo nodes whose joints are commanded by position."""


_AT_START_ONLY = ("autostart", "wait_for_device", "groups.NAME")


def reconfigurable(
    *parameters: NodeParameter, fixed: Container[str] = (), bus: Container[str] = ()
) -> tuple[NodeParameter, ...]:
    """Return parameters of a servo node, those marked that may change while it is unconfigured.

    Args:
        parameters: all of the node.
        fixed: those that are read once, when the node starts.
        bus: those that its bus has read as well when it is configured, so that they do not change afterwards.
    """
    return tuple(
        parameter
        if parameter.name in _AT_START_ONLY or parameter.name in fixed
        else replace(parameter, read_only=True, changes_unconfigured=True)
        if parameter.read_only or parameter.name in bus
        else parameter
        for parameter in parameters
    )


def with_defaults(**defaults: object) -> tuple[NodeParameter, ...]:
    """Return SERVO_PARAMETERS with other defaults: name of the parameter -> its default in this node."""
    return tuple(
        replace(parameter, default=defaults.get(parameter.name, parameter.default))
        for parameter in SERVO_PARAMETERS
    )
