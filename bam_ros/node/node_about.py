# SPDX-License-Identifier: Apache-2.0
"""What a node prints about itself with `--help`."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from bam_ros.node.parameters import NodeParameter
from bam_ros.text.parameter_words import bounds_words

_WIDTH = 100


@dataclass(frozen=True, kw_only=True)
class Interface:
    """Something that a node offers to others.

    Attributes:
        kind: "publishes", "subscribes", "service" or "action".
        name: as the node's code writes it; `~/` stands for the node's own name.
        type: such as "sensor_msgs/JointState".
        purpose: in a few words.
    """

    kind: str
    name: str
    type: str
    purpose: str


@dataclass(frozen=True, kw_only=True)
class NodeAbout:
    """A node in words.

    Attributes:
        name: of the node and of its executable.
        module: that `python -m` runs.
        purpose: what it does, in sentences.
        parameters: the table that the node declares.
        interfaces: what it offers to others.
        example: parameters of an example, as after `-p`.
    """

    name: str
    module: str
    purpose: str
    parameters: tuple[NodeParameter, ...]
    interfaces: tuple[Interface, ...]
    example: tuple[str, ...]

    @property
    def usage(self) -> str:
        """The example as a command line that works with and without the command `ros2`."""
        return node_command(self.module, self.example)

    def text(self) -> str:
        """Return the help."""
        lines = [
            f"usage: {self.name} [--help] [--ros-args -p PARAMETER:=VALUE ...]",
            "",
            *textwrap.wrap(self.purpose, _WIDTH),
            "",
            "parameters:",
        ]
        if any(parameter.changes_unconfigured for parameter in self.parameters):
            lines.append("  (read when the node is configured: they may change while it is unconfigured)")
        for parameter in self.parameters:
            lines.append(f"  {parameter.name}  ({parameter.type_name}, default {_value(parameter.default)})")
            lines += _indented(parameter.description + _added(parameter))
        lines += ["", "topics, services, actions:"]
        for interface in self.interfaces:
            lines.append(f"  {interface.kind} {interface.name}  ({interface.type})")
            lines += _indented(interface.purpose)
        lines += ["", "example:", f"  {self.usage}"]
        return "\n".join(lines)


def node_command(module: str, parameters: Iterable[str], arguments: Iterable[str] = ()) -> str:
    """Return the command that starts a node, with the interpreter that runs here: others may lack rclpy.

    Args:
        module: of the node.
        parameters: as after `-p`.
        arguments: that are none of ROS.
    """
    given = (word for parameter in parameters for word in ("-p", parameter))
    return " ".join([sys.executable, "-m", module, *arguments, "--ros-args", *given])


def _indented(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="      ", subsequent_indent="      ")


def _added(parameter: NodeParameter) -> str:
    return bounds_words(parameter.low, parameter.high, read_only=parameter.read_only)


def _value(default: object) -> str:
    """A default as it is written after `:=`."""
    return json.dumps(default).replace("NaN", ".nan")
