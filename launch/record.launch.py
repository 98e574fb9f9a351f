# SPDX-License-Identifier: Apache-2.0
"""Records a session: driver and recorder, or all of it on a virtual bench with `virtual:=true`.

    ros2 launch bam_bench record.launch.py port:=/dev/ttyUSB0 session:=session.yaml output:=recordings
    ros2 launch bam_bench record.launch.py virtual:=true output:=recordings
    ros2 launch bam_bench record.launch.py driver:=erob interface:=eth0 session:=mine.yaml
    ros2 launch bam_bench record.launch.py driver:=erob virtual:=true output:=recordings

The recorder asks for each load in its log; confirm it with
`ros2 service call /recorder/load_mounted std_srvs/srv/Trigger`.
"""

from __future__ import annotations

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import DeclareLaunchArgument, OpaqueFunction, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessIO
from launch.events.process import ProcessIO
from launch.substitutions import (
    EqualsSubstitution,
    IfElseSubstitution,
    LaunchConfiguration,
    PathJoinSubstitution,
)
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

PACKAGE = "bam_bench"
VIRTUAL_PORT = "/tmp/bam_bus"
VIRTUAL_INTERFACE = "ecat0"


def by_driver(erob: str, dynamixel: str) -> IfElseSubstitution:
    """Choose a default by the argument `driver`."""
    return IfElseSubstitution(EqualsSubstitution(LaunchConfiguration("driver"), "erob"), erob, dynamixel)


ARGUMENTS = (
    DeclareLaunchArgument(
        "driver",
        default_value="dynamixel",
        choices=["dynamixel", "erob"],
        description="dynamixel: a servo on a serial port; erob: a drive on an EtherCAT interface",
    ),
    DeclareLaunchArgument(
        "session",
        default_value=PathJoinSubstitution(
            [FindPackageShare(PACKAGE), "config", "sessions", by_driver("quick_erob.yaml", "quick.yaml")]
        ),
        description="session file (YAML); empty: the recorder waits for goals of its action `record`",
    ),
    DeclareLaunchArgument(
        "output",
        default_value="recordings",
        description="directory for the bags; complete runs in it are kept",
    ),
    DeclareLaunchArgument(
        "interface",
        default_value="",
        description="network interface of an erob, such as eth0; of a virtual one: which to make, ecat0 where"
        " it is empty",
    ),
    DeclareLaunchArgument(
        "port",
        default_value="",
        description="serial device of the servo, such as /dev/ttyUSB0; empty: the only one there is, "
        "or /tmp/bam_bus where the servo is virtual",
    ),
    DeclareLaunchArgument(
        "baud_rate", default_value="0", description="bit/s that is tried first; 0: find it"
    ),
    DeclareLaunchArgument(
        "id", default_value="1", description="bus id of the servo, or position of an erob on its segment"
    ),
    DeclareLaunchArgument(
        "joint", default_value="joint", description="name of the servo's joint, as in the session file"
    ),
    DeclareLaunchArgument(
        "rate", default_value="500.0", description="states per second, 1/s; 0.0: as fast as the bus allows"
    ),
    DeclareLaunchArgument(
        "virtual",
        default_value="false",
        choices=["true", "false"],
        description="true: start a virtual servo that hangs its loads itself, and use it instead of a port"
        " or interface (that of an erob needs root)",
    ),
    DeclareLaunchArgument(
        "servo",
        default_value=by_driver("erob80_100", "mx106"),
        description="virtual servo: mx64, mx64_2, mx106, mx106_2 or xl330; of an erob, real or virtual:"
        " erob80_50, erob80_100",
    ),
    DeclareLaunchArgument(
        "seed", default_value="0", description="virtual servo: seed of its hidden parameters"
    ),
)


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=_nodes)])


def _nodes(context: LaunchContext) -> list[Action]:
    erob = LaunchConfiguration("driver").perform(context) == "erob"
    virtual = LaunchConfiguration("virtual").perform(context) == "true"
    port = LaunchConfiguration("port").perform(context) or (VIRTUAL_PORT if virtual else "")
    interface = LaunchConfiguration("interface").perform(context) or (VIRTUAL_INTERFACE if virtual else "")
    driver = _erob(interface) if erob else _dynamixel(port)
    bench = _virtual_erob(interface) if erob else _virtual_dynamixel(port)
    recorder = Node(
        package=PACKAGE,
        executable="recorder",
        name="recorder",
        output="screen",
        parameters=[
            {
                "driver": "erob" if erob else "dynamixel",
                "virtual_bench": ("virtual_erob" if erob else "virtual_dynamixel") if virtual else "",
                "session_file": ParameterValue(LaunchConfiguration("session"), value_type=str),
                "output": ParameterValue(LaunchConfiguration("output"), value_type=str),
                "autostart": bool(LaunchConfiguration("session").perform(context)),
            }
        ],
        on_exit=Shutdown(reason="the recorder has ended"),
    )
    if not virtual:
        return [driver, recorder]
    return [_after(bench, driver, f"master at {interface}" if erob else port), bench, recorder]


def _virtual_dynamixel(port: str) -> Node:
    return Node(
        package=PACKAGE,
        executable="virtual_dynamixel",
        name="virtual_dynamixel",
        output="screen",
        parameters=[
            {
                "link": port,
                "servo": ParameterValue(LaunchConfiguration("servo"), value_type=str),
                "id": ParameterValue(LaunchConfiguration("id"), value_type=int),
                "seed": ParameterValue(LaunchConfiguration("seed"), value_type=int),
            }
        ],
        on_exit=Shutdown(reason="the virtual bench has ended"),
    )


def _virtual_erob(interface: str) -> Node:
    return Node(
        package=PACKAGE,
        executable="virtual_erob",
        name="virtual_erob",
        output="screen",
        parameters=[
            {
                "create_veth": f"{interface}:{interface}_s",
                "servo": ParameterValue(LaunchConfiguration("servo"), value_type=str),
                "slaves": ParameterValue(LaunchConfiguration("id"), value_type=int),
                "seed": ParameterValue(LaunchConfiguration("seed"), value_type=int),
            }
        ],
        on_exit=Shutdown(reason="the virtual bench has ended"),
    )


def _dynamixel(port: str) -> Node:
    return Node(
        package=PACKAGE,
        executable="dynamixel",
        name="dynamixel",
        output="screen",
        parameters=[
            {
                "port": port,
                "baud_rate": ParameterValue(LaunchConfiguration("baud_rate"), value_type=int),
                "ids": ParameterValue(["[", LaunchConfiguration("id"), "]"], value_type=list[int]),
                "joint_names": ParameterValue(
                    ["['", LaunchConfiguration("joint"), "']"], value_type=list[str]
                ),
                "rate": ParameterValue(LaunchConfiguration("rate"), value_type=float),
            }
        ],
        on_exit=Shutdown(reason="the driver has ended"),
    )


def _erob(interface: str) -> Node:
    return Node(
        package=PACKAGE,
        executable="erob",
        name="erob",
        output="screen",
        parameters=[
            {
                "interface": interface,
                "positions": ParameterValue(["[", LaunchConfiguration("id"), "]"], value_type=list[int]),
                "servos": ParameterValue(["['", LaunchConfiguration("servo"), "']"], value_type=list[str]),
                "joint_names": ParameterValue(
                    ["['", LaunchConfiguration("joint"), "']"], value_type=list[str]
                ),
                "rate": ParameterValue(LaunchConfiguration("rate"), value_type=float),
            }
        ],
        on_exit=Shutdown(reason="the driver has ended"),
    )


def _after(bench: Node, driver: Node, sign: str) -> Action:
    """Start the driver once the virtual bench has said that its port or interface is there."""
    started: list[Node] = []

    def start(event: ProcessIO) -> list[Node]:
        if started or sign not in event.text.decode(errors="replace"):
            return []
        started.append(driver)
        return [driver]

    return RegisterEventHandler(OnProcessIO(target_action=bench, on_stdout=start, on_stderr=start))
