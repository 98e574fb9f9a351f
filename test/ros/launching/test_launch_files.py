# SPDX-License-Identifier: Apache-2.0
"""What launch files describe: nodes, their namespace and their parameters; launch itself is played."""

from __future__ import annotations

import itertools
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from bam_core.errors import (
    BamError,
    UnknownName,
    Unreadable,
    Unsupported,
    WrongType,
    WrongValue,
)
from bam_ros.dynamixel.node import DynamixelNode
from bam_ros.emulators.dynamixel.bus_link import default_link
from bam_ros.emulators.dynamixel.node import VirtualDynamixelNode
from bam_ros.emulators.erob.node import VirtualErobNode
from bam_ros.emulators.feetech.node import VirtualFeetechNode
from bam_ros.erob.node import ErobNode
from bam_ros.feedforward.node import FeedForwardNode
from bam_ros.feetech.node import FeetechNode
from bam_ros.friction_observer.node import FrictionObserverNode
from bam_ros.identification.node import IdentificationNode
from bam_ros.launching.argument import Argument
from bam_ros.node.parameters import NodeParameter
from bam_ros.recorder.node import RecorderNode
from bam_ros.simulator.node import SimulatorNode
from test.ros.launch_played import (
    Action,
    Context,
    DeclareLaunchArgument,
    GroupAction,
    PushNamespace,
    SetEnvironment,
    Started,
    include,
    launch_file,
    play,
)

ROOT = Path(__file__).parents[3]
NAMES = ("feedforward", "identify", "record", "simulate")
"""Launch files that start nodes; demo.launch.py starts a program."""
NODES = (
    DynamixelNode,
    VirtualDynamixelNode,
    FeetechNode,
    VirtualFeetechNode,
    FeedForwardNode,
    ErobNode,
    VirtualErobNode,
    RecorderNode,
    FrictionObserverNode,
    IdentificationNode,
    SimulatorNode,
)
PARAMETERS = {node.ABOUT.name: {each.name: each for each in node.ABOUT.parameters} for node in NODES}
COMMON = ("namespace", "params_file", "use_sim_time", "log_level")
OTHER = {"driver": "erob", "servos": "xl330,xl330", "joints": "hip,knee", "ids": "3,4", "rviz": "false"}
OTHER |= {"observer": "", "one_process": "false"}  # tested by themselves
"""Texts that arguments do not have by default."""
STARTS = {
    "feedforward": [{}],
    "identify": [{}],
    "record": [
        *(
            {"driver": driver, "virtual": virtual, "one_process": "false"}
            for driver in ("dynamixel", "feetech", "erob")
            for virtual in ("false", "true")
        ),
        {"driver": "erob", "virtual": "false", "one_process": "false", "observer": "robot.xml"},
    ],
    "simulate": [{}],
}
"""Arguments that choose which nodes a file starts."""


def started(name: str, **arguments: str) -> Context:
    """What a launch file started; of a virtual bench, after it has said that it is there."""
    context = play(Context(), include(launch_file(name), **arguments))
    said = {**context.launch_configurations}
    port, interface = said.get("port") or default_link(), said.get("interface") or "ecat0"
    context.says(f"at 1000000 bit/s: {port}; master at {interface}")
    return context


def declared(name: str) -> dict[str, DeclareLaunchArgument]:
    """Arguments of a launch file."""
    actions = launch_file(name).words[0]
    return {each.words[0]: each for each in actions if isinstance(each, DeclareLaunchArgument)}


def other(argument: DeclareLaunchArgument) -> str:
    """Return a text that an argument does not have by default."""
    name, default = argument.words[0], argument.default_value
    if name in OTHER:
        return OTHER[name] if not getattr(argument, "choices", None) else argument.choices[-1]
    if default in ("true", "false"):
        return "true" if default == "false" else "false"
    if re.fullmatch(r"\d+", default):
        return str(int(default) + 1)
    return "0.25" if re.fullmatch(r"[\d.]+|inf", default) else "other"


def given(node: Started) -> dict[str, Any]:
    """Return all parameters of a node, also those that count less than a file of parameters."""
    pairs = [word.split(":=", 1) for word in node.words if ":=" in word]
    return {**{name: yaml.safe_load(text) for name, text in pairs}, **node.parameters}


def text(parameter: NodeParameter) -> str:
    """Return a parameter's default as an argument writes it."""
    return Argument(name="any", default=parameter.default, description="").default_text


def test_the_five_launch_files_are_there() -> None:
    files = sorted(file.name for file in (ROOT / "launch").glob("*.launch.py"))
    assert files == [f"{name}.launch.py" for name in ("demo", *NAMES)]


@pytest.mark.parametrize("name", ["demo", *NAMES])
def test_every_argument_has_a_description_and_a_default_in_plain_text(name: str) -> None:
    arguments = declared(name)
    assert arguments
    for argument in arguments.values():
        assert len(argument.description) > 10
        assert isinstance(argument.default_value, str)  # --show-args prints it as it is
        assert not set("[]'\"") & set(argument.default_value)


@pytest.mark.parametrize("name", NAMES)
def test_every_file_that_starts_nodes_has_the_common_arguments(name: str) -> None:
    assert tuple(declared(name))[-4:] == COMMON


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_exists_in_its_node_and_has_its_type(name: str) -> None:
    """A node refuses parameters that it does not declare."""
    for start in STARTS[name]:
        arguments = {each: other(argument) for each, argument in declared(name).items() if each not in COMMON}
        for node in started(name, **{**arguments, **start}).nodes:
            for parameter, value in given(node).items():
                default = PARAMETERS[node.name][parameter].default
                assert type(value) is type(default), parameter
                if isinstance(value, list):
                    assert type(value[0]) is type(default[0]), parameter


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_reaches_a_node_and_has_its_default_there(name: str) -> None:
    """What --show-args says holds, though an argument that has its default is not passed on."""
    reached = set()
    for start in STARTS[name]:
        usual = started(name, **start)
        for each, argument in declared(name).items():
            if each in (*COMMON, *start):
                continue
            changed = started(name, **{each: other(argument), **start})
            for node in changed.nodes:
                before = given(usual.started(node.name))
                for parameter, value in given(node).items():
                    if value == before.get(parameter):
                        continue
                    reached.add(each)
                    if parameter not in before and argument.default_value:
                        assert text(PARAMETERS[node.name][parameter]) == argument.default_value, parameter
    choosing = {each for start in STARTS[name] for each in start}
    view = {"rviz", "rviz_config"}
    assert reached | choosing | view | set(COMMON) >= set(declared(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_executable_is_installed_and_its_end_ends_the_launch(name: str) -> None:
    installed = set(re.findall(r"add_executable_node\((\w+) ", (ROOT / "CMakeLists.txt").read_text()))
    for start in STARTS[name]:
        for node in started(name, **start).nodes:
            assert node.action.executable in installed
            (end,) = node.action.on_exit(SimpleNamespace(returncode=0), SimpleNamespace(is_shutdown=False))
            assert end.reason.endswith("has ended")


@pytest.mark.parametrize(
    ("returncode", "is_shutdown", "status"), [(2, False, 2), (-9, False, 137), (0, False, 0), (-15, True, 0)]
)
def test_a_node_that_fails_ends_the_launch_with_its_status(
    returncode: int, is_shutdown: bool, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[int] = []
    on_exit = started("identify").nodes[0].action.on_exit
    monkeypatch.setitem(on_exit.__globals__, "fail_launch", lambda _, status: failed.append(status))
    (end,) = on_exit(SimpleNamespace(returncode=returncode), SimpleNamespace(is_shutdown=is_shutdown))
    assert end.reason
    assert failed == [status] * (status != 0)


@pytest.mark.parametrize(
    ("driver", "session"),
    [("dynamixel", "quick.yaml"), ("feetech", "quick_feetech.yaml"), ("erob", "quick_erob.yaml")],
)
def test_servo_and_session_are_those_of_the_driver_by_default(driver: str, session: str) -> None:
    context = started("record", driver=driver, virtual="true")
    recorder = given(context.started("recorder"))
    assert recorder["session_file"] == str(ROOT / "config" / "sessions" / session)
    assert recorder["autostart"] is True
    servo = PARAMETERS[f"virtual_{driver}"]["servo"].default
    assert "servo" not in context.started(f"virtual_{driver}").parameters
    assert yaml.safe_load(Path(recorder["session_file"]).read_text())["servo"] == servo


@pytest.mark.parametrize("session", ["none", ""])  # the second from a file that includes this one
def test_without_a_session_the_recorder_waits_for_goals(session: str) -> None:
    recorder = given(started("record", session=session).started("recorder"))
    assert not {"session_file", "autostart"} & set(recorder)
    assert PARAMETERS["recorder"]["autostart"].default is False


def test_a_session_file_is_recorded_at_once() -> None:
    recorder = started("record", session="mine.yaml").started("recorder")
    assert recorder.parameters["session_file"] == "mine.yaml"
    assert recorder.parameters["autostart"] is True


def test_a_driver_that_starts_later_starts_as_if_its_group_had_not_ended() -> None:
    arguments = {"virtual": "true", "rate": "100", "baud_rate": "57600", "joint": "hip", "id": "7"}
    group: list[Action] = [PushNamespace("left"), SetEnvironment({"ROS_DOMAIN_ID": "7"})]
    record = launch_file("record")
    context = play(Context(), [GroupAction([*group, *include(record, **arguments)])])
    assert context.launch_configurations == {}
    assert {node.name for node in context.nodes} == {"virtual_dynamixel", "recorder"}
    context.says(f"MX-106 id 7 at 1000000 bit/s: {default_link('/left')}")
    driver = context.started("dynamixel")
    assert {node.namespace for node in context.nodes} == {"/left"}
    assert {node.environment["ROS_DOMAIN_ID"] for node in context.nodes} == {"7"}
    assert driver.parameters == {
        "port": str(default_link("/left")),
        "rate": 100.0,
        "baud_rate": 57600,
        "ids": [7],
        "joint_names": ["hip"],
    }
    assert (context.launch_configurations, context.environment) == ({}, {})


def test_no_driver_starts_on_a_bus_that_a_virtual_bench_could_not_make() -> None:
    """It would be that of another bench, whose name the error line has."""
    context = play(Context(), include(launch_file("record"), virtual="true"))
    context.says(f"link {default_link()}: leads to another virtual bus, which is served")
    assert "dynamixel" not in {node.name for node in context.nodes}
    context.says(f"MX-106 id 1 at 1000000 bit/s: {default_link()}")
    assert "dynamixel" in {node.name for node in context.nodes}


def test_two_virtual_benches_in_two_namespaces_are_not_mixed() -> None:
    record = launch_file("record")
    context = Context()
    for side, seed in (("left", "1"), ("right", "2")):
        play(context, [GroupAction(include(record, virtual="true", namespace=side, seed=seed, joint=side))])
    for side in ("right", "left"):
        context.says(f"MX-106 id 1 at 1000000 bit/s: {default_link(side)}")
    for side, seed in (("left", 1), ("right", 2)):
        nodes = {node.name: node for node in context.nodes if node.namespace == f"/{side}"}
        assert set(nodes) == {"virtual_dynamixel", "recorder", "dynamixel"}
        link = nodes["virtual_dynamixel"].parameters
        assert (link["link"], link["seed"]) == (str(default_link(side)), seed)
        driver = nodes["dynamixel"].parameters
        assert (driver["port"], driver["joint_names"]) == (str(default_link(side)), [side])


@pytest.mark.parametrize(
    ("namespace", "absolute"),
    [("", "/robot"), ("left", "/robot/left"), ("left/arm/", "/robot/left/arm"), ("/left", "/left")],
)
@pytest.mark.parametrize("name", NAMES)
def test_the_namespace_is_within_that_of_the_group(name: str, namespace: str, absolute: str) -> None:
    file = include(launch_file(name), namespace=namespace)
    context = play(Context(), [GroupAction([PushNamespace("robot"), *file])])
    assert {node.namespace for node in context.nodes} == {absolute}


@pytest.mark.parametrize("name", NAMES)
def test_arguments_that_are_given_count_more_than_the_file_of_parameters(name: str, tmp_path: Path) -> None:
    file = tmp_path / "parameters.yaml"
    file.write_text("/**: {ros__parameters: {frame_id: base}}\n")
    for start in STARTS[name]:
        context = started(name, params_file=str(file), use_sim_time="true", **start)
        for node in context.nodes:
            assert node.files == [str(file)]
            assert node.parameters["use_sim_time"] is True


def test_what_no_argument_says_is_left_to_the_file_of_parameters(tmp_path: Path) -> None:
    file = tmp_path / "parameters.yaml"
    file.write_text(
        "dynamixel: {ros__parameters: {rate: 100.0}}\nrecorder: {ros__parameters: {output: here}}\n"
    )
    context = started("record", params_file=str(file))
    assert context.started("dynamixel").parameters == {}
    recorder = context.started("recorder")
    assert not {"output", "session_file", "autostart"} & set(recorder.parameters)
    assert 'output:="recordings"' in recorder.words  # where the file does not say it either
    assert 'output:="recordings/left"' in started("record", namespace="left").started("recorder").words
    assert started("record", output="there").started("recorder").parameters["output"] == "there"


def test_a_missing_file_of_parameters_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as caught:
        started("simulate", params_file=str(tmp_path / "none.yaml"))
    assert caught.value.path == str(tmp_path / "none.yaml")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", ["debug", "error", "dynamixel:=debug"])
def test_every_node_logs_at_the_level_asked_for(name: str, level: str) -> None:
    for start in STARTS[name]:
        for node in started(name, log_level=level, **start).nodes:
            # A driver starts when its virtual bench has logged that it is there.
            audible = not node.name.startswith("virtual") or level == "debug"
            assert (node.words[:2] == ["--log-level", level]) is audible


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("argument", "wrong", "kind"),
    [
        ("namespace", "2 arms", WrongValue),
        ("log_level", "loud", UnknownName),
        ("use_sim_time", "perhaps", WrongType),
    ],
)
def test_wrong_common_arguments_are_refused(
    name: str, argument: str, wrong: str, kind: type[BamError]
) -> None:
    with pytest.raises(kind, match=argument):
        started(name, **{argument: wrong})


@pytest.mark.parametrize(
    ("name", "argument", "wrong"),
    [
        ("simulate", "mass", "heavy"),
        ("simulate", "draws", "2.5"),
        ("feedforward", "ids", "one"),
        ("feedforward", "ids", ""),
        ("feedforward", "joints", "[hip, [knee]]"),
        ("feedforward", "joints", "[hip"),
        ("record", "baud_rate", "fast"),
    ],
)
def test_a_value_of_another_type_is_refused_with_the_name_of_its_argument(
    name: str, argument: str, wrong: str
) -> None:
    with pytest.raises(WrongType) as caught:
        started(name, **{argument: wrong})
    assert (caught.value.thing, caught.value.value) == (argument, wrong)


@pytest.mark.parametrize("joints", ["hip,knee", "hip, knee", "[hip, knee]", "['hip', 'knee']"])
@pytest.mark.parametrize("ids", ["3,4", "[3, 4]"])
def test_lists_are_written_with_commas_or_as_in_yaml(joints: str, ids: str) -> None:
    parameters = started("feedforward", joints=joints, ids=ids).started("feedforward").parameters
    assert parameters == {"joint_names": ["hip", "knee"], "ids": [3, 4]}


@pytest.mark.parametrize("name", ["simulate", "feedforward"])
def test_names_that_look_like_numbers_stay_names(name: str) -> None:
    (node,) = started(name, joints="1,2").nodes
    assert node.parameters["joint_names"] == ["1", "2"]


def sections(files: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Parameters by full name of a node, as a launch file wrote them into files."""
    return {
        name: section["ros__parameters"]
        for file in files
        for name, section in yaml.safe_load(Path(file).read_text()).items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_in_the_temporary_directory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for start in STARTS[name]:
        assert started(name, use_sim_time="true", **start).nodes[0].parameters["use_sim_time"] is True
    if name == "record":
        assert started(name, one_process="true").nodes
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("virtual", ["false", "true"])
@pytest.mark.parametrize("driver", ["dynamixel", "feetech", "erob"])
def test_nodes_in_one_process_have_the_parameters_of_nodes_in_several(driver: str, virtual: str) -> None:
    arguments = {
        "driver": driver,
        "virtual": virtual,
        "namespace": "left",
        "port": "/tmp/bus",
        "rate": "250",
        "session": "mine.yaml",
    }
    if driver == "erob":
        arguments["observer"] = "robot.xml"
    several = started("record", **arguments)
    one = started("record", one_process="true", **arguments)
    process = one.started("composition")
    assert {node.name for node in one.nodes} == {"composition"} | (
        {f"virtual_{driver}"} if virtual == "true" else set()
    )
    assert process.namespace == "/left"
    nodes = {node.name for node in several.nodes if not node.name.startswith("virtual")}
    assert (process.arguments[0], set(process.arguments)) == (driver, nodes)
    files = {word for option, word in itertools.pairwise(process.words) if option == "--params-file"}
    written, defaults = sections(process.files), sections(sorted(files))
    for name in process.arguments:
        alone = several.started(name)
        assert written[f"/left/{name}"] == alone.parameters
        words = [word.split(":=", 1) for word in alone.words if ":=" in word]
        assert defaults.get(f"/**/left/{name}", {}) == {key: yaml.safe_load(text) for key, text in words}


def test_a_file_of_parameters_counts_more_than_defaults_in_one_process(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("recorder: {ros__parameters: {output: here}}\n")
    process = started("record", one_process="true", params_file=str(file), rate="250").started("composition")
    assert process.files[0] == str(file)
    assert sections(process.files[1:])["/dynamixel"] == {"rate": 250.0}
    (defaults,) = (word for word in process.words if word.startswith("/proc/"))
    assert sections([defaults])["/**/recorder"]["output"] == "recordings"


def test_what_holds_for_all_nodes_holds_in_one_process() -> None:
    arguments = {"one_process": "true", "use_sim_time": "true", "log_level": "debug"}
    process = started("record", **arguments).started("composition")
    assert all(values["use_sim_time"] is True for values in sections(process.files).values())
    assert process.words[:2] == ["--log-level", "debug"]


def test_an_observer_takes_the_period_of_its_driver_unless_a_file_says_another() -> None:
    observer = started("record", driver="erob", observer="robot.xml", rate="250").started("friction_observer")
    assert given(observer) == {"model": "robot.xml", "period": 0.004}
    assert observer.parameters == {"model": "robot.xml"}
    without = started("record", driver="erob", observer="robot.xml", rate="0.0").started("friction_observer")
    assert given(without) == {"model": "robot.xml"}


def test_an_observer_of_servos_that_measure_no_torque_is_refused() -> None:
    with pytest.raises(Unsupported) as caught:
        started("record", observer="robot.xml")
    assert caught.value.thing == "observer"
