# SPDX-License-Identifier: Apache-2.0
"""A node takes the parameters of its table and refuses others, by whatever way they reach it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from rclpy.context import Context
from rclpy.node import Node

from bam_core.errors import BamError, OutOfRange, UnknownName, WrongShape, WrongType
from bam_ros.node.parameters import NodeParameter, declare
from test.ros.ros_helpers import PATIENCE, wait_for

pytestmark = pytest.mark.ros

TABLE = (
    NodeParameter(name="servos", default=["mx106"], description="models"),
    NodeParameter(name="mass", default=0.5, description="kg", low=0.0, high=2.0),
)
ANGLES = NodeParameter(name="limits", default=[-3.0, 3.0], description="rad")


def declared(
    domain: int, *arguments: str, name: str = "bench", table: tuple[NodeParameter, ...] = TABLE
) -> dict[str, object]:
    """Declare the table in a node that is started with these arguments of ROS 2."""
    context = Context()
    context.init(args=["test", "--ros-args", *arguments], domain_id=domain)
    try:
        node = Node(name, context=context)
        try:
            return declare(node, table)
        finally:
            node.destroy_node()
    finally:
        context.try_shutdown()


def test_values_from_outside_take_the_place_of_defaults(ros_domain: int) -> None:
    assert declared(ros_domain) == {"servos": ["mx106"], "mass": 0.5}
    assert declared(ros_domain, "-p", "mass:=1.5") == {"servos": ["mx106"], "mass": 1.5}


def test_integers_are_accepted_for_doubles(ros_domain: int) -> None:
    values = declared(ros_domain, "-p", "mass:=1", "-p", "limits:=[-1, 1]", table=(*TABLE, ANGLES))
    assert (values["mass"], list(values["limits"])) == (1.0, [-1.0, 1.0])
    assert isinstance(values["mass"], float)


@pytest.mark.parametrize(
    ("given", "kind", "line"),
    [
        ("servos:=[]", WrongShape, "servos: is empty (expected string[])"),
        ("mass:=[]", WrongShape, "mass: is empty (expected double)"),
        ("mass:=heavy", WrongType, "mass: is 'heavy' (expected double)"),
        ("mass:=3.0", OutOfRange, "mass: is 3.0 (expected 0 to 2)"),
        ("mass:=.nan", OutOfRange, "mass: is nan (expected 0 to 2)"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line(
    ros_domain: int, given: str, kind: type[BamError], line: str
) -> None:
    with pytest.raises(kind) as caught:
        declared(ros_domain, "-p", given)
    assert str(caught.value).startswith(f"bench: parameter {line}; ")


def test_an_unknown_parameter_is_refused_with_the_one_that_was_meant(ros_domain: int) -> None:
    with pytest.raises(UnknownName, match=r"^bench: .* did you mean 'servos'\?") as caught:
        declared(ros_domain, "-p", "servo:=mx106")
    assert (caught.value.kind, caught.value.name) == ("parameter", "servo")


def test_what_ros_itself_declares_is_taken(ros_domain: int) -> None:
    names = ("use_sim_time:=false", "qos_overrides./parameter_events.publisher.depth:=10")
    arguments = [word for name in names for word in ("-p", name)]
    assert declared(ros_domain, *arguments)["mass"] == 0.5


def test_only_what_a_file_says_to_this_node_counts(ros_domain: int, tmp_path: Path) -> None:
    file = tmp_path / "parameters.yaml"
    file.write_text(
        "other: {ros__parameters: {elbow: 3}}\n"
        "/**: {ros__parameters: {use_sim_time: false}}\n"
        "/**/bench: {ros__parameters: {mass: 1.0}}\n"
    )
    arguments = ("--params-file", str(file), "-p", "other:shoulder:=1")
    assert declared(ros_domain, *arguments)["mass"] == 1.0
    with pytest.raises(UnknownName) as caught:
        declared(ros_domain, *arguments, name="other")
    assert caught.value.name == "elbow"


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--ros-args", "-p", "servo:=mx106"), ("parameter 'servo': unknown", "did you mean 'servos'?")),
        (("--servos", "mx106"), ("argument '--servos' is not known", "--ros-args -p servos:=")),
        (("--ros-args", "-p", "servos"), ("simulator: ", "-p servos", "--ros-args -p servos:=")),
        (("--ros-args", "--servos"), ("simulator: unknown arguments after --ros-args", "--servos")),
    ],
)
def test_a_process_says_so_in_one_line_with_status_2(
    ros_domain: int, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bam_ros.simulator.node", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    lines = [line for line in done.stderr.splitlines() if "[rcl]" not in line]  # ROS 2's own
    assert (done.returncode, done.stdout, len(lines)) == (2, "", 1), done.stderr
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize(
    "given",
    ["other:servo:=mx106", pytest.param("limits:=[-1, 1.5]", marks=pytest.mark.long), "limits:=[-.inf, 1]"],
)
def test_what_concerns_another_node_and_lists_of_integers_and_doubles_are_no_mistake(
    ros_domain: int, given: str
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "bam_ros.simulator.node", "--ros-args", "-p", given],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        assert "simulation of bench" in process.stderr.readline()
        process.terminate()
        wait_for(lambda: process.poll() == 0, what="its end")
    finally:
        process.kill()
        process.communicate()
