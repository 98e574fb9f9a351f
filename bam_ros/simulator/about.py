# SPDX-License-Identifier: Apache-2.0
"""What the node `simulator` takes and gives."""

from __future__ import annotations

import math

from bam_core.mujoco import BENCH_JOINT
from bam_ros.driver.command_kind import COMMAND_PARAMETERS
from bam_ros.driver.servo_about import (
    POSITION_INTERFACES,
    POSITION_PARAMETERS,
    SERVO_INTERFACES,
    SERVO_PARAMETERS,
    reconfigurable,
)
from bam_ros.node.node_about import Interface, NodeAbout
from bam_ros.node.parameters import NodeParameter

SIMULATION_PARAMETERS = (
    NodeParameter(
        name="mass", default=0.5, description="load at the end of the arm, kg", low=0.0, high=100.0
    ),
    NodeParameter(
        name="arm_mass",
        default=0.0,
        description="uniform arm, kg",
        low=0.0,
        high=100.0,
    ),
    NodeParameter(
        name="length",
        default=0.15,
        description="from the axis to the load, m",
        low=0.0,
        high=5.0,
    ),
    NodeParameter(
        name="keyframe",
        default="",
        description="keyframe of the model to start from; empty: as the model stands",
    ),
    NodeParameter(
        name="initial_position",
        default=[math.nan],
        description="of each joint at the start, rad; NaN: as in the keyframe; one entry: for all",
    ),
    NodeParameter(
        name="start_contacts",
        default=False,
        description="simulate contacts also between links that touch at the start, which overlapping meshes"
        " of a description do",
    ),
    NodeParameter(
        name="supply_voltage",
        default=0.0,
        description="of every servo, V; 0: the nominal one of each",
        low=0.0,
        high=1000.0,
    ),
    NodeParameter(
        name="timestep",
        default=0.0,
        description="of the simulation, s; 0: that of the model, 1 ms for the bench",
        low=0.0,
        high=0.1,
    ),
    NodeParameter(
        name="real_time_factor",
        default=1.0,
        description="simulated seconds per second; 0: as fast as possible",
        low=0.0,
        high=1000.0,
    ),
    NodeParameter(
        name="publish_clock",
        default=False,
        description="publish /clock and stamp states with simulated time, for use_sim_time",
    ),
    NodeParameter(
        name="description_topic",
        default="robot_description",
        description="topic of the robot's URDF, which has the limits in force; empty: none is published",
    ),
    NodeParameter(
        name="draws",
        default=0,
        description="robots beside it whose servos are drawn from what is known of their parameters, for the"
        " band of joint positions; 0: none, else 20 or more; each takes as long as the simulation",
        low=0.0,
        high=1000.0,
    ),
    NodeParameter(
        name="dump_directory",
        default="",
        description="where a simulation that diverges leaves its last moments; empty: that of ROS logs",
    ),
)
"""Of every node with simulated servos, beside `model` and `joint_names`."""

SIMULATION_INTERFACES = (
    Interface(
        kind="publishes",
        name="robot_description",
        type="std_msgs/String",
        purpose="URDF of the robot, with the limits in force, kept for late listeners; of an MJCF file, the"
        " .urdf beside it; its name is the parameter description_topic",
    ),
    Interface(
        kind="publishes",
        name="/clock",
        type="rosgraph_msgs/Clock",
        purpose="simulated time, where publish_clock is true",
    ),
    Interface(
        kind="publishes",
        name="~/markers",
        type="visualization_msgs/MarkerArray",
        purpose="torque, friction and its budget around each joint, for RViz; 20 a second where wanted",
    ),
    Interface(
        kind="publishes",
        name="~/goal_states",
        type="sensor_msgs/JointState",
        purpose="goals in force as a second robot's joints, for RViz; 20 a second where wanted",
    ),
    *(
        Interface(
            kind="publishes",
            name=f"~/{end}_states",
            type="sensor_msgs/JointState",
            purpose=f"{percentile} percentile of joint positions over all draws, where there are any; 20 a"
            " second where wanted",
        )
        for end, percentile in (("low", "5th"), ("high", "95th"))
    ),
    Interface(
        kind="publishes",
        name="~/real_time_factor",
        type="std_msgs/Float64",
        purpose="simulated seconds per second, measured over two seconds; once a second",
    ),
    Interface(kind="service", name="~/pause", type="std_srvs/SetBool", purpose="stand still, or go on"),
    Interface(kind="service", name="~/step", type="std_srvs/Trigger", purpose="one time step while paused"),
    Interface(kind="service", name="~/reset", type="std_srvs/Trigger", purpose="back to the initial state"),
    Interface(
        kind="service",
        name="~/set_load",
        type="bam_bench/SetLoad",
        purpose="hang another load on the bench",
    ),
)
"""Of every node with simulated servos."""

ABOUT = NodeAbout(
    name="simulator",
    module="bam_ros.simulator.node",
    purpose=(
        "Simulates the servos of any robot in MuJoCo with their extended friction, by default one on the"
        " pendulum bench. To its clients it is a driver: the same topics and services."
    ),
    parameters=reconfigurable(
        NodeParameter(
            name="servos",
            default=["mx106"],
            description="servo of each joint, a library name or a YAML file such as bam identify and"
            " bam gear write; one entry: for all",
        ),
        NodeParameter(
            name="model",
            default="",
            description="MJCF or URDF file of the robot, also package://NAME/PATH; empty: the pendulum bench",
        ),
        NodeParameter(name="joint_names", default=[BENCH_JOINT], description="joints that servos drive"),
        *SIMULATION_PARAMETERS,
        NodeParameter(
            name="kp",
            default=0.0,
            description="position gain of every servo at first, firmware units; 0: that of its factory",
            low=0.0,
            high=16383.0,
        ),
        *COMMAND_PARAMETERS,
        *SERVO_PARAMETERS,
        *POSITION_PARAMETERS,
        fixed=("publish_clock", "description_topic"),
    ),
    interfaces=(
        *SERVO_INTERFACES,
        *POSITION_INTERFACES,
        *SIMULATION_INTERFACES,
    ),
    example=("servos:='[mx106]'", "mass:=1.0", "length:=0.15"),
)
