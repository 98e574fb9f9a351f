# SPDX-License-Identifier: Apache-2.0
"""Every topic and field that a Foxglove layout shows is one that our nodes publish."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from node_policies import NODES

pytestmark = pytest.mark.ros

LAYOUTS = sorted((Path(__file__).parents[2] / "config" / "foxglove").glob("*.json"))
PANELS = {"Plot", "StateTransitions", "3D", "RawMessages", "DiagnosticSummary", "RosOut"}
PATHS = {"value", "topicPath", "topicToRender", "topic", "jointStatesTopic"}
"""Settings of panels that hold a topic, or a topic and a field of its messages."""
OF_ROS = {"/rosout": "rcl_interfaces/Log"}
"""Topics that every node of ROS 2 has."""


def published() -> dict[str, str]:
    """Topic of a node in no namespace -> type of its messages."""
    return OF_ROS | {
        f"/{interface.name.replace('~', about.name).removeprefix('/')}": interface.type
        for about in NODES
        for interface in about.interfaces
        if interface.kind == "publishes"
    }


def shown(value: Any, key: str = "") -> Iterator[str]:
    """Every topic or message path in a layout."""
    if isinstance(value, dict):
        for name, each in value.items():
            if key == "topics":  # of a 3D panel: topic -> how it is drawn
                yield name
            yield from shown(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from shown(each, key)
    elif key in PATHS and value:
        yield value


def leaves(layout: Any) -> Iterator[str]:
    """Panels in a tree of rows and columns."""
    if isinstance(layout, str):
        yield layout
        return
    assert layout["direction"] in ("row", "column")
    assert 0.0 < layout["splitPercentage"] < 100.0
    yield from leaves(layout["first"])
    yield from leaves(layout["second"])


def field_type(message: str, path: str) -> str:
    """Type of a field, as the message class names it; fails where there is none."""
    package, name = message.split("/")
    kind = f"{package}/{name}"
    for part in filter(None, path.split(".")):
        word, index = re.fullmatch(r"(\w+)(\[\d+\])?", part).groups()
        package, name = kind.split("/")
        fields = getattr(import_module(f"{package}.msg"), name).get_fields_and_field_types()
        kind = fields[word]
        if index:
            kind = re.fullmatch(r"sequence<(.+)>", kind)[1]
        assert "sequence" not in kind, f"{message}: {path} is an array; which of its entries?"
    return kind


def test_there_is_one_for_the_bench_and_one_for_a_robot() -> None:
    assert [path.stem for path in LAYOUTS] == ["bench", "robot"]


@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: path.stem)
def test_all_that_it_shows_is_there(path: Path) -> None:
    topics = published()
    found = list(shown(json.loads(path.read_text())["configById"]))
    assert {"/servo_states", "/joint_states", "/robot_description", "/diagnostics", "/rosout"} <= {
        each.partition(".")[0] for each in found
    }
    for each in found:
        topic, _, field = each.partition(".")
        assert topic in topics, each
        if field:
            assert field_type(topics[topic], field) in ("double", "boolean", "uint32"), each


@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: path.stem)
def test_every_panel_has_its_place_and_its_settings(path: Path) -> None:
    layout = json.loads(path.read_text())
    placed = list(leaves(layout["layout"]))
    assert sorted(placed) == sorted(layout["configById"])
    assert {panel.partition("!")[0] for panel in placed} <= PANELS
    for panel, settings in layout["configById"].items():
        if panel.startswith(("Plot!", "StateTransitions!")):
            assert settings["paths"]
            for line in settings["paths"]:
                assert line["label"]
                # By when servos measured it: a bag that is written late shows it at the same place.
                assert line["timestampMethod"] == "headerStamp"


def test_a_field_that_no_message_has_is_found() -> None:
    with pytest.raises(KeyError):
        field_type("bam_bench/JointFriction", "friction[0]")
    with pytest.raises(AssertionError, match="which of its entries"):
        field_type("bam_bench/ServoStates", "position")
