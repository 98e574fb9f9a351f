# SPDX-License-Identifier: Apache-2.0
"""The arguments of a launch file where they are in force, and nodes that get them.

All values are read when the launch file is visited. What is executed later, by an event handler, executes
where the group that included the file has ended, and its arguments and namespace with it.
"""

from __future__ import annotations

import inspect
import json
import math
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import DeclareLaunchArgument, GroupAction, OpaqueFunction, Shutdown
from launch.events.process import ProcessExited
from launch_ros.actions import Node

from bam_core.errors import UnknownName, Unreadable, WrongValue
from bam_ros.launching.argument import Argument, refuse_unknown
from bam_ros.launching.exit_status import exit_status, fail_launch
from bam_ros.launching.memory_file import memory_file
from bam_ros.text.launch_notices import RequiredNodeFailed

PACKAGE = "bam_bench"
COMPOSITION = "composition"
"""Executable that runs several nodes in one process."""
LEVELS = ("debug", "info", "warn", "error", "fatal")
COMMON = (
    Argument(
        name="namespace",
        default="",
        description="namespace of the nodes, within that of the group that includes this file",
    ),
    Argument(
        name="params_file",
        default="",
        description="YAML file with parameters of the nodes, also those that have no argument here; an"
        " argument that is given counts more",
    ),
    Argument(name="use_sim_time", default=False, description="true: the nodes' clocks follow /clock"),
    Argument(
        name="log_level",
        default="info",
        description="debug, info, warn, error or fatal; of a single logger LOGGER:=LEVEL",
    ),
)
"""Arguments of every launch file that starts nodes."""

_NAMESPACE = re.compile(r"/|/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*/?|", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class PlannedNode:
    """A node of this package that a launch file starts.

    Attributes:
        executable: of the node, whose name is the same.
        title: of the node, in the reason of the launch's end.
        parameters: that count more than params_file.
        defaults: parameters that count less than params_file.
        quiet: whether log_level may suppress its lines.
    """

    executable: str
    title: str
    parameters: Mapping[str, Any]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    quiet: bool = True


class LaunchValues:
    """The arguments of a launch file.

    A parameter of a node has, in this order, the value of an argument that was given, of params_file, of
    SetParameter in a group around the file, of the launch file, of the node itself. Whether an argument was
    given is not known to launch files: one that has its default counts as not given.

    Args:
        context: of the launch, while the file is visited.
        arguments: all that the file declares.

    Raises:
        BamError: an argument has a value that it cannot have.
    """

    def __init__(self, context: LaunchContext, arguments: Sequence[Argument]) -> None:
        self._context = context
        texts = {argument.name: str(context.launch_configurations[argument.name]) for argument in arguments}
        self._given = {
            argument.name for argument in arguments if texts[argument.name] != argument.default_text
        }
        self._values = {argument.name: argument.value(texts[argument.name]) for argument in arguments}
        if not _NAMESPACE.fullmatch(self["namespace"]):
            raise WrongValue(
                "namespace", self["namespace"], "names of letters, digits and _, with / between them"
            )
        if self["log_level"].rpartition(":=")[2].lower() not in LEVELS:
            raise UnknownName("log_level", self["log_level"], LEVELS)
        if self["params_file"] and not Path(self["params_file"]).is_file():
            raise Unreadable(
                self["params_file"],
                "does not exist",
                expected="a YAML file of parameters",
                advice="correct params_file",
            )

    def __getitem__(self, name: str) -> Any:
        """Return the value of an argument."""
        return self._values[name]

    @property
    def namespace(self) -> str:
        """Absolute namespace of the nodes, such as "/left"; "/": none."""
        outer = self._context.launch_configurations.get("ros_namespace") or "/"
        return str(PurePosixPath("/", outer, self["namespace"]))

    @property
    def prefix(self) -> str | None:
        """What starts a program of another package, so that it ends when the launch has gone; None: nothing.

        At SIGTERM `ros2 launch` leaves its processes behind. Nodes of this package end then by themselves
        (`bam_ros.node.ends`). A `launch-prefix` of the user, such as a debugger, counts more.
        """
        if "launch-prefix" in self._context.launch_configurations or shutil.which("setpriv") is None:
            return None
        return "setpriv --pdeathsig TERM"

    def parameters(self, *names: str, **renamed: str) -> dict[str, Any]:
        """Return the values of those arguments that were given.

        Args:
            names: of arguments that nodes have as a parameter of the same name.
            renamed: parameter -> argument, where the names differ.
        """
        pairs = {**{name: name for name in names}, **renamed}
        return {parameter: self[name] for parameter, name in pairs.items() if name in self._given}

    def node(self, plan: PlannedNode) -> Node:
        """Return a node of this package in a process of its own; its end ends the launch, with its status."""
        return Node(
            package=PACKAGE,
            executable=plan.executable,
            name=plan.executable,
            output="screen",
            on_exit=required(plan.title),
            **self.common(plan.executable, plan.parameters, defaults=plan.defaults, quiet=plan.quiet),
        )

    def one_process(self, plans: Sequence[PlannedNode]) -> Node:
        """Return nodes of this package in one process; the end of any of them ends the launch likewise."""
        common, shared = self.common(COMPOSITION, {}), self.parameters("use_sim_time")
        given = {self._name(plan.executable): {**shared, **plan.parameters} for plan in plans}
        # ROS 2 takes the last section that fits. Defaults are in one of another name for the same node, so
        # that arguments, whose section comes last, do not get the place of defaults.
        defaults = {f"/**{self._name(plan.executable)}": plan.defaults for plan in plans}
        words = [word for file in _written(defaults) for word in ("--params-file", file)]
        return Node(
            package=PACKAGE,
            executable=COMPOSITION,
            arguments=[plan.executable for plan in plans],
            output="screen",
            on_exit=required(" or ".join(plan.title for plan in plans)),
            namespace=common["namespace"],
            ros_arguments=[*common["ros_arguments"], *words],
            parameters=[*self._params_files, *_written(given)],
        )

    @property
    def _params_files(self) -> list[str]:
        return [self["params_file"]] if self["params_file"] else []

    def _name(self, node: str) -> str:
        """Return the full name of a node."""
        return str(PurePosixPath(self.namespace, node))

    def common(
        self,
        name: str,
        parameters: Mapping[str, Any],
        *,
        defaults: Mapping[str, Any] | None = None,
        quiet: bool = True,
    ) -> dict[str, Any]:
        """Return what `COMMON` means for any node, as keywords of the action `Node`.

        Args:
            name: of the node.
            parameters: that count more than params_file.
            defaults: parameters that count less than params_file.
            quiet: whether log_level may suppress its lines.
        """
        given = {**self.parameters("use_sim_time"), **parameters}
        words = []
        if "log_level" in self._given and (quiet or self["log_level"].lower() in LEVELS[:2]):
            words += ["--log-level", self["log_level"]]
        for parameter, value in (defaults or {}).items():
            words += ["-p", f"{parameter}:={_yaml_word(value)}"]
        return {
            "namespace": self["namespace"],
            # In this order: ROS 2 takes the last value of a parameter. A file, because launch_ros writes a
            # dict into one that nobody removes.
            "parameters": [*self._params_files, *_written({self._name(name): given})],
            "ros_arguments": words,
        }

    def later(self, action: Action) -> Action:
        """Return what executes an action later, as if it were executed while the launch file is visited."""
        configurations = dict(self._context.launch_configurations)
        environment = dict(self._context.environment)

        def restore(context: LaunchContext) -> None:
            context.launch_configurations.clear()
            context.launch_configurations.update(configurations)
            context.environment.clear()
            context.environment.update(environment)

        return GroupAction([OpaqueFunction(function=restore), action])  # a group: its end undoes `restore`


def required(title: str) -> Callable[[ProcessExited, LaunchContext], list[Action]]:
    """Return what a launch does when a process ends that it cannot do without: it ends with its status.

    Args:
        title: of what runs in the process.
    """

    def on_exit(event: ProcessExited, context: LaunchContext) -> list[Action]:
        status = exit_status(event.returncode)
        if status and not context.is_shutdown:  # else it was told to end
            fail_launch(str(RequiredNodeFailed(title=title, status=status)), status)
        return [Shutdown(reason=f"{title} has ended")]

    return on_exit


def _yaml_word(value: Any) -> str:
    """Return a value as ROS 2 reads it from the command line: JSON, but for infinity."""
    return ".inf" if value == math.inf else json.dumps(value)


def _written(sections: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Write parameters of several nodes, by full name, into a file; return its path, nothing of none."""
    content = {name: {"ros__parameters": dict(values)} for name, values in sections.items() if values}
    if not content:
        return []
    return [str(memory_file(yaml.safe_dump(content)))]


def describe_launch(
    arguments: Sequence[Argument], actions: Callable[[LaunchValues], Sequence[Action]]
) -> LaunchDescription:
    """Return the description of a launch file.

    Args:
        arguments: what it declares beside `COMMON`.
        actions: gives what it executes.
    """
    table = (*arguments, *COMMON)

    def visit(context: LaunchContext) -> list[Action]:
        file = Path(inspect.getfile(actions)).name
        refuse_unknown(sys.argv, file, [argument.name for argument in table])
        return list(actions(LaunchValues(context, table)))

    return LaunchDescription([*map(declaration, table), OpaqueFunction(function=visit)])


def declaration(argument: Argument) -> DeclareLaunchArgument:
    """Return an argument as launch knows it."""
    return DeclareLaunchArgument(
        argument.name,
        default_value=argument.default_text,
        description=argument.description,
        choices=list(argument.choices) or None,
    )
