# SPDX-License-Identifier: Apache-2.0
"""What `launch` and `launch_ros` define of what our launch files use: classes, and their keywords.

`launch_definitions.yaml` has it of the version that it names. Played actions refuse other keywords, and where
the real packages are installed a test compares both. `python -m test.ros.launch_definitions` writes the file.
"""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_suffix(".yaml")
HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Keywords of what our launch files use of launch {launch} and launch_ros {launch_ros}, base classes included.
# `python -m test.ros.launch_definitions` reads them from the installed packages.
"""
USED = {
    "launch": ("LaunchContext", "LaunchDescription"),
    "launch.action": ("Action",),
    "launch.actions": (
        "DeclareLaunchArgument",
        "ExecuteProcess",
        "GroupAction",
        "LogInfo",
        "OpaqueFunction",
        "RegisterEventHandler",
        "Shutdown",
    ),
    "launch.event_handlers": ("OnProcessIO",),
    "launch.events.process": ("ProcessExited", "ProcessIO"),
    "launch.substitutions": ("LaunchConfiguration",),
    "launch_ros.actions": ("Node",),
    "launch_ros.substitutions": ("ExecutableInPackage",),
}
"""Module -> classes."""


@cache
def recorded() -> dict[str, dict[str, list[str]]]:
    """Return module -> class -> keywords, as the file has them."""
    content: dict[str, dict[str, list[str]]] = yaml.safe_load(FILE.read_text())
    return content


def installed() -> dict[str, dict[str, list[str]]]:
    """Return the same of the installed packages."""
    return {
        module: {name: _keywords(getattr(import_module(module), name)) for name in names}
        for module, names in USED.items()
    }


def _keywords(kind: Any) -> list[str]:
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [
        parameter
        for base in kind.__mro__
        if "__init__" in vars(base) and base is not object
        for parameter in list(inspect.signature(base.__init__).parameters.values())[1:]
    ]
    return sorted({parameter.name for parameter in parameters if parameter.kind in named})


if __name__ == "__main__":
    from importlib.metadata import version

    versions = {name: version(name.replace("_", "-")) for name in ("launch", "launch_ros")}
    FILE.write_text(
        HEADER.format(**versions) + yaml.safe_dump(installed(), default_flow_style=None, width=100)
    )
