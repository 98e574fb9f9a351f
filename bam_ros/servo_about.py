# SPDX-License-Identifier: Apache-2.0
"""Parameters, topics and services that every servo node has."""

from __future__ import annotations

from bam_ros.node_about import Interface
from bam_ros.parameters import NodeParameter

SERVO_PARAMETERS = (
    NodeParameter(name="autostart", default=True, description="configure and activate without being asked"),
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
        description="torque goes off when servo_commands stay away for this long while it is on, s",
        low=0.05,
        high=60.0,
    ),
    NodeParameter(
        name="torque_on_speed",
        default=2.0,
        description="speed of the goal after torque on until it has caught up with the command, rad/s",
        low=0.01,
        high=100.0,
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
SERVO_INTERFACES = (
    Interface(
        kind="publishes",
        name="joint_states",
        type="sensor_msgs/JointState",
        purpose="best effort; subscribe with qos_profile_sensor_data",
    ),
    Interface(
        kind="publishes",
        name="servo_states",
        type="bam_bench/ServoStates",
        purpose="all that the servos measure; best effort, too",
    ),
    Interface(
        kind="publishes",
        name="servo_configuration",
        type="bam_bench/ServoConfiguration",
        purpose="which servo each joint is; kept for late listeners",
    ),
    Interface(
        kind="publishes",
        name="/diagnostics",
        type="diagnostic_msgs/DiagnosticArray",
        purpose="once a second, and at once when something happens",
    ),
    Interface(
        kind="takes",
        name="servo_commands",
        type="bam_bench/ServoCommands",
        purpose="torque and goal position; torque goes off when this stream stops",
    ),
    Interface(
        kind="service",
        name="~/set_gains",
        type="bam_bench/SetGains",
        purpose="gains of the position controller",
    ),
    Interface(
        kind="service",
        name="~/reboot",
        type="std_srvs/Trigger",
        purpose="restart every servo, which clears hardware errors; torque is off afterwards",
    ),
)
"""Of every servo node."""
