# SPDX-License-Identifier: Apache-2.0
"""The executable `composition`: driver, recorder and others in one process."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile

from bam_core.errors import BamError, Conflict, Missing, UnknownName, Unsupported
from bam_ros.node.node_about import node_command
from bam_ros.node.node_modules import NODE_MODULES, VIRTUAL_SERVOS
from bam_ros.node.process import run_nodes
from bam_ros.node.running_node import NodeProgram

NAME = "composition"
MODULES = {name: module for name, module in NODE_MODULES.items() if name not in VIRTUAL_SERVOS}
"""Node -> module with its PROGRAM, in the order in which nodes are started and closed: drivers first."""
USAGE = node_command(
    "bam_ros.composition.main",
    ("dynamixel:port:=/dev/ttyUSB0", "recorder:output:=recordings"),
    arguments=("dynamixel", "recorder"),
)
HELP = f"""\
usage: {NAME} NODE NODE ... [--ros-args -p NODE:PARAMETER:=VALUE ...]

Runs several nodes in one process. Each has its name, parameters, topics and executor as in a process of its
own; when one ends or fails, all end, and servos are released first. `NODE --help` lists a node's parameters.
In a namespace (-r __ns:=/left) ROS 2 takes parameters of single nodes from --params-file alone.

nodes:
  {", ".join(MODULES)}

example:
  {USAGE}"""


def programs(names: Sequence[str]) -> list[NodeProgram]:
    """Return what runs the nodes of these names, in the order of `MODULES`.

    Raises:
        BamError: there is no such node, one is named twice, or none is named.
    """
    if not names:
        raise Missing("nodes", "names of nodes", advice=f"write it as in: {USAGE}").within(NAME)
    for name in names:
        if name not in MODULES:
            raise UnknownName("node", name, MODULES).within(NAME)
        if names.count(name) > 1:
            raise Conflict(f"node {name}", "is named twice", advice="name it once").within(NAME)
    return [import_module(module).PROGRAM for name, module in MODULES.items() if name in names]


def _require_effect(arguments: Sequence[str]) -> None:
    """Raise Unsupported for parameters that ROS 2 would ignore without a word."""
    of_one_node = [word for word in arguments if re.match(r"\w+:\w[^=]*:=", word)]
    if of_one_node and any("__ns:=" in word for word in arguments):
        raise Unsupported(
            NAME,
            f"ROS 2 ignores {of_one_node[0]!r} for a node in a namespace",
            advice="give parameters of single nodes in a file, with --params-file",
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the nodes that the arguments name until one of them ends, or a signal ends all."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if {"-h", "--help"} & set(arguments):
        print(HELP)
        return 0
    names = list(takewhile(lambda word: not word.startswith("-"), arguments))
    try:
        chosen = programs(names)
        _require_effect(arguments)
    except BamError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    return run_nodes(chosen, arguments[len(names) :], name=NAME, usage=USAGE)


if __name__ == "__main__":
    raise SystemExit(main())
