# SPDX-License-Identifier: Apache-2.0
"""What the `feedforward` node takes and gives."""

from __future__ import annotations

from dataclasses import replace

from bam_core.feedforward import Opposition, PidGains
from bam_ros.dynamixel.node import BUS_PARAMETERS
from bam_ros.feedforward.settings import HORIZON
from bam_ros.node_about import Interface, NodeAbout
from bam_ros.parameters import NodeParameter
from bam_ros.servo_about import SERVO_INTERFACES, with_defaults

_GAINS, _OPPOSITION = PidGains(), Opposition()
_PURPOSES = {
    "servo_commands": "torque of all joints, positions NaN; torque goes off when this stream stops",
    "~/set_gains": "gains of a joint's PID, in units of MX firmware for Protocol 1.0",
}

ABOUT = NodeAbout(
    name="feedforward",
    module="bam_ros.feedforward.node",
    purpose=(
        "Drives Dynamixel servos in PWM mode along trajectories: the voltage that the servo's model asks for,"
        " and a PID in parallel, in every cycle of the bus. It is the driver of its servos, in place of"
        " dynamixel. Servos brake and hold where trajectories end; torque goes off whenever this node ends or"
        " commands stay away. Needs firmware for Protocol 2.0."
    ),
    parameters=(
        *BUS_PARAMETERS,
        NodeParameter(
            name="servos",
            default=[""],
            description=(
                "servo of each joint: a name from `bam servos` or a YAML file; empty: what is found on the"
                " bus; one entry: for all"
            ),
        ),
        NodeParameter(
            name="model",
            default="",
            description="MJCF or URDF file of the robot, for torques that trajectories leave out; or empty",
        ),
        NodeParameter(
            name="torque_limit",
            default=0.0,
            description="largest torque of trajectories, N·m; 0: that of each servo at stall",
            low=0.0,
            high=1000.0,
        ),
        NodeParameter(
            name="duty_limit", default=1.0, description="largest duty that is commanded", low=0.01, high=1.0
        ),
        NodeParameter(
            name="kp",
            default=_GAINS.p,
            description="P of the PID, in units of MX firmware for Protocol 1.0",
            low=0.0,
            high=254.0,
        ),
        NodeParameter(name="ki", default=_GAINS.i, description="I likewise", low=0.0, high=254.0),
        NodeParameter(name="kd", default=_GAINS.d, description="D likewise", low=0.0, high=254.0),
        NodeParameter(
            name="drop",
            default=_OPPOSITION.drop,
            description="duty of the PID against the model from which on the model is dropped",
            low=0.01,
            high=2.0,
        ),
        NodeParameter(
            name="resume",
            default=_OPPOSITION.resume,
            description="duty of the PID against the model below which it comes back; below drop",
            low=0.001,
            high=2.0,
        ),
        NodeParameter(
            name="horizon",
            default=HORIZON,
            description="how far ahead trajectories may reach, s",
            low=0.1,
            high=3600.0,
        ),
        *with_defaults(following_error=0.5),  # a servo that is fed forward stays near its trajectory
    ),
    interfaces=(
        *(
            replace(interface, purpose=_PURPOSES.get(interface.name, interface.purpose))
            for interface in SERVO_INTERFACES
        ),
        Interface(
            kind="takes",
            name="joint_trajectory",
            type="trajectory_msgs/JointTrajectory",
            purpose=(
                "where to go from its stamp on, zero: at once; replaces what was planned from then on;"
                " without points: stop"
            ),
        ),
    ),
    example=("port:=/dev/ttyUSB0", "ids:='[1]'", "kp:=16.0"),
)
