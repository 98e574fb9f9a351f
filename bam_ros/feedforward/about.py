# SPDX-License-Identifier: Apache-2.0
"""What the `feedforward` node takes and gives."""

from __future__ import annotations

from dataclasses import replace

from bam_core.feedforward import Opposition, PidGains
from bam_ros.driver.servo_about import SERVO_INTERFACES, reconfigurable, with_defaults
from bam_ros.dynamixel.node import BUS_PARAMETERS
from bam_ros.feedforward.settings import HORIZON
from bam_ros.node.node_about import Interface, NodeAbout
from bam_ros.node.parameters import NodeParameter
from bam_ros.simulator.about import SIMULATION_INTERFACES, SIMULATION_PARAMETERS

DYNAMIXEL, SIMULATOR = "dynamixel", "simulator"
DRIVERS = (DYNAMIXEL, SIMULATOR)
"""Values of the parameter `driver`."""
SIMULATED_SERVO = "mx106"
"""Simulated where the parameter `servos` is empty; as of the node `simulator`."""

_GAINS, _OPPOSITION = PidGains(), Opposition()
_PURPOSES = {
    "servo_commands": "torque of all joints, positions NaN; torque goes off when this stream stops",
    "~/set_gains": "gains of a joint's PID, in units of MX firmware for Protocol 1.0",
}

ABOUT = NodeAbout(
    name="feedforward",
    module="bam_ros.feedforward.node",
    purpose=(
        "Drives servos in PWM mode, Dynamixels or simulated ones, along trajectories: the voltage that the"
        " servo's model asks for, and a PID in parallel, in every cycle of the bus. It is the driver of its"
        " servos, in place of dynamixel or simulator. Servos brake and hold where trajectories end; torque"
        " goes off whenever this node ends or commands stay away. Dynamixels need firmware for Protocol 2.0."
    ),
    parameters=reconfigurable(
        NodeParameter(
            name="driver",
            default=DYNAMIXEL,
            description="the driver that moves the servos: dynamixel, on a serial port; simulator, simulated",
        ),
        *BUS_PARAMETERS,
        NodeParameter(
            name="servos",
            default=[""],
            description=(
                "servo of each joint: a name from `bam servos` or a YAML file; empty: what is found on the"
                f" bus, simulated: {SIMULATED_SERVO}; one entry: for all"
            ),
        ),
        NodeParameter(
            name="model",
            default="",
            description=(
                "MJCF or URDF file of the robot, for torques that trajectories leave out, and to simulate;"
                " empty: none, simulated: the pendulum bench"
            ),
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
        *SIMULATION_PARAMETERS,
        *with_defaults(following_error=0.5),  # a servo that is fed forward stays near its trajectory
        fixed=("driver", "publish_clock", "description_topic"),
        bus=("speed_limit", "following_error"),
    ),
    interfaces=(
        *(
            replace(interface, purpose=_PURPOSES.get(interface.name, interface.purpose))
            for interface in SERVO_INTERFACES
        ),
        Interface(
            kind="subscribes",
            name="~/joint_trajectory",
            type="trajectory_msgs/JointTrajectory",
            purpose=(
                "where to go from its stamp on, zero: at once; replaces what was planned from then on;"
                " without points: stop"
            ),
        ),
        *(
            replace(interface, purpose=f"driver simulator: {interface.purpose}")
            for interface in SIMULATION_INTERFACES
        ),
    ),
    example=("port:=/dev/ttyUSB0", "ids:='[1]'", "kp:=16.0"),
)
