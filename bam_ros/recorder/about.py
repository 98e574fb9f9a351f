# SPDX-License-Identifier: Apache-2.0
"""What the node `recorder` takes and gives."""

from __future__ import annotations

from bam_ros.node.node_about import Interface, NodeAbout
from bam_ros.node.parameters import NodeParameter

ABOUT = NodeAbout(
    name="recorder",
    module="bam_ros.recorder.node",
    purpose=(
        "Records sessions on the bench: scripts x gains x loads, one rosbag2 directory per run. Runs that"
        " are complete in the output directory are kept, so that an interrupted session goes on."
    ),
    parameters=(
        NodeParameter(
            name="driver",
            default="dynamixel",
            description="the driver that moves the servo, by the name of its node; of NAMESPACE/NAME, topics"
            " are in that namespace",
        ),
        NodeParameter(
            name="virtual_bench",
            default="",
            description="name of a virtual bench that mounts loads itself; empty: the operator does",
        ),
        NodeParameter(
            name="session_file",
            default="",
            description=(
                "session of goals that name none: a YAML file, or the name of one of this package, such as"
                " mx106"
            ),
            read_only=False,
        ),
        NodeParameter(
            name="output",
            default="",
            description="directory for bags of goals that name none",
            read_only=False,
        ),
        NodeParameter(
            name="data_directory",
            default=".",
            description="sessions that goals name are read, and their bags written, below this directory,"
            " nowhere else; session_file and output may lie elsewhere as given at the start",
        ),
        NodeParameter(
            name="autostart",
            default=False,
            description="begin without being asked: record session_file into output, then end",
        ),
    ),
    interfaces=(
        Interface(
            kind="action",
            name="record",
            type="bam_bench/Record",
            purpose="record a session, with progress as feedback; may be cancelled",
        ),
        Interface(
            kind="service",
            name="~/load_mounted",
            type="std_srvs/Trigger",
            purpose="confirm that the load that the recorder asked for is mounted",
        ),
        Interface(
            kind="publishes",
            name="bench_run",
            type="bam_bench/BenchRun",
            purpose="what is being run; while a session is recorded",
        ),
        Interface(
            kind="publishes",
            name="servo_commands",
            type="bam_bench/ServoCommands",
            purpose="to the driver; while a session is recorded",
        ),
        Interface(
            kind="subscribes",
            name="servo_states",
            type="bam_bench/ServoStates",
            purpose="from the driver, together with joint_states and /diagnostics; into the bags",
        ),
        Interface(
            kind="subscribes",
            name="servo_configuration",
            type="bam_bench/ServoConfiguration",
            purpose="from the driver; has to be the servo that the session is written for",
        ),
    ),
    example=(
        "session_file:=config/sessions/quick.yaml",
        "output:=recordings/quick",
        "autostart:=true",
    ),
)
