# SPDX-License-Identifier: Apache-2.0
"""launch and launch_ros, played: ROS 2's wheels lack them.

As in the real ones, arguments, namespace, remappings and environment of a group are gone when it ends, and
an event handler executes its actions after that. `launch_file` loads one of our launch files with these.
"""

from __future__ import annotations

import contextlib
import runpy
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

from test.ros.launch_definitions import recorded

ROOT = Path(__file__).parents[2]
LOADED = "bam_ros.launching.launch_values"
"""Our module that imports launch."""


@dataclass
class Context:
    """A launch: what is in force now, and what was started.

    Attributes:
        launch_configurations: arguments and namespace.
        environment: of processes.
        nodes: that were started.
        messages: that were logged.
        handlers: of events.
    """

    launch_configurations: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    nodes: list[Started] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    handlers: list[Any] = field(default_factory=list)

    def started(self, name: str) -> Started:
        """Return the only node of this name."""
        (node,) = [node for node in self.nodes if node.name == name]
        return node

    def start(self, node: Started) -> None:
        """Start a node: keep what it gets."""
        self.nodes.append(node)

    def execute(self, action: Any, name: str, words: Sequence[str]) -> None:
        """Start a process: nothing is kept of it."""

    def shut_down(self) -> None:
        """End the launch: nothing runs."""

    def says(self, text: str) -> None:
        """A process writes a line: all handlers execute what they have for it."""
        for handler in self.handlers:
            play(self, handler.on_stderr(SimpleNamespace(text=text.encode())))


@dataclass(frozen=True)
class Started:
    """A node as it was started.

    Attributes:
        name: of the node.
        namespace: absolute.
        parameters: of this node alone, which come last; of nodes in one process they are in `files`.
        files: paths of files of parameters.
        words: more arguments, such as the level of its log.
        remappings: in the order given.
        arguments: without those of ROS.
        environment: of its process.
        action: that started it.
    """

    name: str
    namespace: str
    parameters: dict[str, Any]
    files: list[str]
    words: list[str]
    remappings: list[tuple[str, str]]
    arguments: list[str]
    environment: dict[str, str]
    action: Node


class Action:
    """Anything that a launch executes."""

    def __init__(self, *words: Any, **more: Any) -> None:
        name = type(self).__name__
        for classes in recorded().values():
            if unknown := more.keys() - set(classes.get(name, more)):
                raise TypeError(f"{name}: has no keyword {', '.join(sorted(unknown))}")
        self.words = words
        vars(self).update(more)

    def execute(self, context: Context) -> Sequence[Action] | None:
        """Execute it, and return what is to be executed next."""
        return None


class DeclareLaunchArgument(Action):
    """Sets an argument that nobody has given."""

    def execute(self, context: Context) -> None:
        """Set it."""
        (name,) = self.words
        assert type(self.default_value) is str  # which --show-args prints as it is
        value = context.launch_configurations.setdefault(name, self.default_value)
        if getattr(self, "choices", None) and value not in self.choices:
            raise RuntimeError(f'Argument "{name}" provided value "{value}" is not valid.')


class OpaqueFunction(Action):
    """Calls a function."""

    def execute(self, context: Context) -> Sequence[Action] | None:
        """Call it."""
        return self.function(context)


class GroupAction(Action):
    """Executes actions; what they set ends with it."""

    def execute(self, context: Context) -> None:
        """Execute them."""
        before = dict(context.launch_configurations), dict(context.environment)
        play(context, self.words[0])
        context.launch_configurations, context.environment = before


class PushNamespace(Action):
    """Sets the namespace of the nodes that follow, below the one in force."""

    def execute(self, context: Context) -> None:
        """Set it."""
        outer = context.launch_configurations.get("ros_namespace", "/")
        context.launch_configurations["ros_namespace"] = str(PurePosixPath("/", outer, *self.words))


class SetEnvironment(Action):
    """Sets variables of the environment."""

    def execute(self, context: Context) -> None:
        """Set them."""
        context.environment.update(self.words[0])


class LogInfo(Action):
    """Logs a line."""

    def execute(self, context: Context) -> None:
        """Log it."""
        context.messages.append(self.msg)


class RegisterEventHandler(Action):
    """Adds a handler."""

    def execute(self, context: Context) -> None:
        """Add it."""
        context.handlers += self.words


class Node(Action):
    """Starts a node."""

    def execute(self, context: Context) -> None:
        """Start it."""
        outer = context.launch_configurations.get("ros_namespace", "/")
        given = list(getattr(self, "parameters", []))
        # launch_ros writes a dict into a file that it leaves behind, and takes "" for a file.
        assert all(isinstance(each, str) and each for each in given)
        namespace = PurePosixPath("/", outer, getattr(self, "namespace", ""))
        name = getattr(self, "name", self.executable)
        parameters: dict[str, Any] = {}
        if hasattr(self, "name") and given and given[-1].startswith("/proc/"):
            ((full, section),) = yaml.safe_load(Path(given.pop()).read_text()).items()
            assert full == str(namespace / name)  # else a section of params_file could count more
            parameters = section["ros__parameters"]
        context.start(
            Started(
                name=name,
                namespace=str(namespace),
                parameters=parameters,
                files=given,
                words=getattr(self, "ros_arguments", []),
                remappings=getattr(self, "remappings", []),
                arguments=getattr(self, "arguments", []),
                environment=dict(context.environment),
                action=self,
            )
        )


class ExecuteProcess(Action):
    """Starts a process."""

    def execute(self, context: Context) -> None:
        """Start it."""
        words = [word if isinstance(word, str) else word.perform(context) for word in self.cmd]
        context.execute(self, self.name, words)


class LaunchConfiguration(Action):
    """Stands for the value of an argument."""

    def perform(self, context: Context) -> str:
        """Return it."""
        return context.launch_configurations[self.words[0]]


class ExecutableInPackage(Action):
    """Stands for the path of an executable of an installed package."""

    def perform(self, context: Context) -> str:
        """Return it."""
        from ament_index_python.packages import get_package_prefix

        executable, package = self.words
        return str(Path(get_package_prefix(package), "lib", package, executable))


class OnProcessIO(Action):
    """Handles what a process writes."""


class Shutdown(Action):
    """Ends the launch."""

    def execute(self, context: Context) -> None:
        """End it."""
        context.shut_down()


class LaunchDescription(Action):
    """What a launch file describes; included without a scope of its own, as in the real launch."""

    def execute(self, context: Context) -> Sequence[Action]:
        """Return it."""
        return self.words[0]


def play(context: Context, actions: Sequence[Action] | None) -> Context:
    """Execute actions and all that comes from them."""
    for action in actions or ():
        play(context, action.execute(context))
    return context


@contextlib.contextmanager
def _modules(installed: dict[str, str]) -> Iterator[None]:
    """Put the played modules in the place of the real ones, for as long as a launch file is loaded."""
    members: dict[str, dict[str, Any]] = {
        "ament_index_python.packages": {"get_packages_with_prefixes": lambda: installed},
        "launch": {"LaunchContext": Context, "LaunchDescription": LaunchDescription},
        "launch.action": {"Action": Action},
        "launch.actions": {
            "DeclareLaunchArgument": DeclareLaunchArgument,
            "ExecuteProcess": ExecuteProcess,
            "GroupAction": GroupAction,
            "LogInfo": LogInfo,
            "OpaqueFunction": OpaqueFunction,
            "RegisterEventHandler": RegisterEventHandler,
            "Shutdown": Shutdown,
        },
        "launch.event_handlers": {"OnProcessIO": OnProcessIO},
        "launch.events": {},
        "launch.events.process": {"ProcessExited": object, "ProcessIO": object},
        "launch.substitutions": {"LaunchConfiguration": LaunchConfiguration},
        "launch_ros": {},
        "launch_ros.actions": {"Node": Node},
        "launch_ros.substitutions": {"ExecutableInPackage": ExecutableInPackage},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, LOADED, raising=False)
        for name, entries in members.items():
            module = ModuleType(name)
            vars(module).update(entries)
            patch.setitem(sys.modules, name, module)
        yield
        sys.modules.pop(LOADED, None)


def launch_file(name: str, installed: dict[str, str] | None = None) -> LaunchDescription:
    """Return what one of our launch files describes.

    Args:
        name: of the file, without its endings.
        installed: packages of the machine -> prefix.
    """
    with _modules(installed or {}):
        file = runpy.run_path(str(ROOT / "launch" / f"{name}.launch.py"))
        return file["generate_launch_description"]()


def include(description: LaunchDescription, **arguments: str) -> list[Action]:
    """Return what includes a launch file with arguments."""

    def given(context: Context) -> None:
        context.launch_configurations.update(arguments)

    return [OpaqueFunction(function=given), description]
