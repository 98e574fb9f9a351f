# SPDX-License-Identifier: Apache-2.0
"""Parameters of other nodes in a shared file are ignored in one line; in its own section they are wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node

from bam_core.errors import UnknownName
from bam_ros.node.parameters import NodeParameter, declare
from bam_ros.node.qos_overrides import unused_overrides
from bam_ros.node.shared_parameters import shared_names
from bam_ros.text.parameter_words import SharedParametersIgnored

SHARED = """\
/**:
  ros__parameters: {rate: 50.0, planner: {speed: 1.0}, qos_overrides: {/tf.publisher.depth: 5}}
/left/servos:
  ros__parameters: {port: /dev/ttyUSB0}
left:
  servos: {ros__parameters: {rate: 20.0}}
/other:
  ros__parameters: {gain: 3}
"""
TABLE = (NodeParameter(name="rate", default=500.0, description="1/s"),)


@pytest.fixture
def shared(tmp_path: Path) -> str:
    file = tmp_path / "shared.yaml"
    file.write_text(SHARED)
    return str(file)


def test_what_sections_for_several_nodes_give_alone_is_shared(shared: str) -> None:
    words = ["--ros-args", "--params-file", shared]
    assert shared_names(words, "servos") == {"planner.speed", "qos_overrides./tf.publisher.depth"}
    assert shared_names([*words, "-p", "planner.speed:=2.0"], "servos") == {
        "qos_overrides./tf.publisher.depth"
    }
    assert "rate" in shared_names(words, "other")


@pytest.mark.parametrize("text", ["", "[]", "a: b", "\x00", "{"])
def test_files_that_ros_2_refuses_share_nothing(text: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    assert shared_names(["--params-file", str(file)], "servos") == frozenset()
    assert shared_names(["--params-file", str(tmp_path / "none.yaml")], "servos") == frozenset()


@pytest.mark.ros
@pytest.mark.parametrize("key", ["/**", "/servos", "servos"])
def test_a_parameter_of_another_node_is_an_error_in_the_own_section_alone(
    key: str,
    tmp_path: Path,
    ros_domain: int,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "params.yaml"
    file.write_text(f"{key}: {{ros__parameters: {{rate: 50.0, planner: {{speed: 1.0}}}}}}\n")
    words = ["servos", "--ros-args", "--params-file", str(file)]
    monkeypatch.setattr(sys, "argv", words)
    context = Context()
    rclpy.init(args=words, context=context)
    node = Node("servos", context=context)
    try:
        if key == "/**":
            assert declare(node, TABLE) == {"rate": 50.0}
            said = capfd.readouterr().err
            assert said.count(str(SharedParametersIgnored(names=("planner.speed",)))) == 1
        else:
            with pytest.raises(UnknownName) as caught:
                declare(node, TABLE)
            assert caught.value.name == "planner.speed"
    finally:
        node.destroy_node()
        context.try_shutdown()


@pytest.mark.ros
def test_overrides_of_topics_that_a_node_does_not_have_are_named(ros_domain: int) -> None:
    context = Context()
    words = ["-p", "qos_overrides./tf.publisher.depth:=5", "-p", "rate:=5.0"]
    rclpy.init(args=["servos", "--ros-args", *words], context=context)
    node = Node("servos", context=context)
    try:
        assert unused_overrides(node) == ("qos_overrides./tf.publisher.depth",)
    finally:
        node.destroy_node()
        context.try_shutdown()
