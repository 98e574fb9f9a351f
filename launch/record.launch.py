# SPDX-License-Identifier: Apache-2.0
"""Records a session: driver and recorder, or all of it on a virtual bench with `virtual:=true`.

    ros2 launch bam_bench record.launch.py port:=/dev/ttyUSB0 session:=session.yaml output:=recordings
    ros2 launch bam_bench record.launch.py virtual:=true output:=recordings
    ros2 launch bam_bench record.launch.py driver:=feetech port:=/dev/ttyACM0 session:=mine.yaml
    ros2 launch bam_bench record.launch.py driver:=erob interface:=eth0 session:=mine.yaml
    ros2 launch bam_bench record.launch.py driver:=erob virtual:=true output:=recordings
    ros2 launch bam_bench record.launch.py one_process:=true port:=/dev/ttyUSB0 output:=recordings
    ros2 launch bam_bench record.launch.py namespace:=left port:=/dev/ttyUSB1 session:=none

The recorder asks for each load in its log; confirm it with
`ros2 service call /recorder/load_mounted std_srvs/srv/Trigger` (with `namespace:=left`: /left/recorder/...).
"""

from __future__ import annotations

import math
from pathlib import Path, PurePosixPath

from launch import LaunchDescription
from launch.action import Action
from launch.actions import RegisterEventHandler
from launch.event_handlers import OnProcessIO
from launch.events.process import ProcessIO
from launch_ros.actions import Node

from bam_core.errors import Unsupported
from bam_ros.emulators.dynamixel.bus_link import default_link
from bam_ros.launching.argument import Argument
from bam_ros.launching.launch_values import LaunchValues, PlannedNode, describe_launch

VIRTUAL_INTERFACE = "ecat0"
SESSIONS = Path(__file__).parents[1] / "config" / "sessions"
QUICK, NONE = "quick", "none"
QUICK_FILES = {"dynamixel": "quick.yaml", "feetech": "quick_feetech.yaml", "erob": "quick_erob.yaml"}

ARGUMENTS = (
    Argument(
        name="driver",
        default="dynamixel",
        choices=("dynamixel", "feetech", "erob"),
        description="dynamixel, feetech: a servo on a serial port; erob: a drive on an EtherCAT interface",
    ),
    Argument(
        name="session",
        default=QUICK,
        description="session file (YAML), or the name of one of this package, such as mx106; quick: that of"
        " the driver, quick, quick_feetech or quick_erob; none: the recorder waits for goals of its action"
        " `record`",
    ),
    Argument(
        name="output",
        default="recordings",
        description="directory for the bags, whose complete runs are kept; default: the namespace below it",
    ),
    Argument(
        name="interface",
        default="",
        description="network interface of an erob, such as eth0; of a virtual one: which to make, ecat0 where"
        " it is empty",
    ),
    Argument(
        name="port",
        default="",
        description="serial device of the servo, such as /dev/ttyUSB0; empty: the only one there is, "
        "or where the servo is virtual a link in /tmp of this user and namespace",
    ),
    Argument(name="baud_rate", default=0, description="bit/s that is tried first; 0: find it"),
    Argument(name="id", default=1, description="bus id of the servo, or position of an erob on its segment"),
    Argument(name="joint", default="joint", description="name of the servo's joint, as in the session file"),
    Argument(
        name="rate", default=500.0, description="states per second, 1/s; 0.0: as fast as the bus allows"
    ),
    Argument(
        name="wait_for_device",
        default=math.inf,
        description="how long the driver waits at its start for port, power and servos, s; inf: any time;"
        " 0.0: not at all",
    ),
    Argument(
        name="virtual",
        default=False,
        choices=("true", "false"),
        description="true: start a virtual servo that hangs its loads itself, and use it instead of a port"
        " or interface (that of an erob needs root)",
    ),
    Argument(
        name="servo",
        default="",
        description="virtual servo: mx64, mx64_2, mx106, mx106_2 or xl330; of feetech: sts3215,"
        " sts3250 or sm8512bl; of an erob, real or virtual: erob80_50, erob80_100; empty: mx106, sts3215 or"
        " erob80_100",
    ),
    Argument(name="seed", default=0, description="virtual servo: seed of its hidden parameters"),
    Argument(
        name="observer",
        default="",
        description="MJCF or URDF file of the bench with its load, for which friction_observer estimates"
        " friction meanwhile; needs a driver that measures torque (erob); empty: no observer",
    ),
    Argument(
        name="one_process",
        default=False,
        choices=("true", "false"),
        description="true: driver, recorder and observer in one process; a virtual servo stays in its own",
    ),
)


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return describe_launch(ARGUMENTS, nodes)


def nodes(values: LaunchValues) -> list[Action]:
    """Describe driver, recorder and observer, and the virtual bench where one is asked for."""
    if values["driver"] == "erob":
        interface = values["interface"] or (VIRTUAL_INTERFACE if values["virtual"] else "")
        driver, bench, sign = (
            _erob(values, interface),
            _virtual_erob(values, interface),
            f"master at {interface}",
        )
    else:
        port = values["port"] or (str(default_link(values.namespace)) if values["virtual"] else "")
        driver, bench = _serial(values, port), _virtual_serial(values, port)
        sign = f"bit/s: {port}"
    others = [_recorder(values), *_observer(values)]
    if values["one_process"]:
        first, rest = values.one_process([driver, *others]), []
    else:
        first, rest = values.node(driver), [values.node(plan) for plan in others]
    if not values["virtual"]:
        return [first, *rest]
    process = values.node(bench)
    return [_after(process, values.later(first), sign), process, *rest]


def _recorder(values: LaunchValues) -> PlannedNode:
    driver, session = values["driver"], values["session"]
    parameters = {
        "driver": driver,
        "virtual_bench": f"virtual_{driver}" if values["virtual"] else "",
        **values.parameters("output"),
    }
    # Of each bench its own: bags of two would be taken for one session's.
    defaults = {"output": str(PurePosixPath(values["output"], values.namespace.strip("/")))}
    if session == QUICK:
        defaults.update(session_file=str(SESSIONS / QUICK_FILES[driver]), autostart=True)
    elif session not in (NONE, ""):
        parameters.update(session_file=session, autostart=True)
    return PlannedNode(executable="recorder", parameters=parameters, defaults=defaults, title="the recorder")


def _observer(values: LaunchValues) -> list[PlannedNode]:
    """Describe the observer, where a robot for it is named."""
    if not values["observer"]:
        return []
    if values["driver"] != "erob":
        raise Unsupported(
            "observer",
            f"{values['driver'].capitalize()} servos measure no torque, from which it estimates friction",
            expected="driver:=erob",
        )
    period = {"period": 1.0 / values["rate"]} if values["rate"] > 0.0 else {}
    return [
        PlannedNode(
            executable="friction_observer",
            parameters={"model": values["observer"]},
            defaults=period,
            title="the observer",
        )
    ]


def _virtual_serial(values: LaunchValues, port: str) -> PlannedNode:
    parameters = {"link": port, **values.parameters("servo", "id", "seed")}
    return _bench(f"virtual_{values['driver']}", parameters)


def _virtual_erob(values: LaunchValues, interface: str) -> PlannedNode:
    parameters = {
        "create_veth": f"{interface}:{interface}_s",
        **values.parameters("servo", "seed", slaves="id"),
    }
    return _bench("virtual_erob", parameters)


def _bench(executable: str, parameters: dict[str, object]) -> PlannedNode:
    # Not quiet: the driver starts when it has told its port.
    return PlannedNode(executable=executable, parameters=parameters, title="the virtual bench", quiet=False)


def _serial(values: LaunchValues, port: str) -> PlannedNode:
    given = values.parameters("baud_rate", "rate", "wait_for_device", ids="id", joint_names="joint")
    parameters = {**({"port": port} if port else {}), **_listed(given, "ids", "joint_names")}
    return _driver(values["driver"], parameters, values)


def _erob(values: LaunchValues, interface: str) -> PlannedNode:
    given = values.parameters("rate", "wait_for_device", positions="id", servos="servo", joint_names="joint")
    parameters = {
        **({"interface": interface} if interface else {}),
        **_listed(given, "positions", "servos", "joint_names"),
    }
    return _driver("erob", parameters, values)


def _driver(executable: str, parameters: dict[str, object], values: LaunchValues) -> PlannedNode:
    defaults = {"wait_for_device": values["wait_for_device"]}
    return PlannedNode(executable=executable, parameters=parameters, defaults=defaults, title="the driver")


def _listed(parameters: dict[str, object], *names: str) -> dict[str, object]:
    """Return parameters of a driver of several joints, with those of this one joint as lists."""
    return {name: [value] if name in names else value for name, value in parameters.items()}


def _after(bench: Node, driver: Action, sign: str) -> Action:
    """Start the driver once the virtual bench has reported its port or interface."""
    started: list[Action] = []

    def start(event: ProcessIO) -> list[Action]:
        if started or sign not in event.text.decode(errors="replace"):
            return []
        started.append(driver)
        return [driver]

    return RegisterEventHandler(OnProcessIO(target_action=bench, on_stdout=start, on_stderr=start))
