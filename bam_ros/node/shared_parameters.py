# SPDX-License-Identifier: Apache-2.0
"""Parameters that a file gives several nodes, in a section such as `/**`; a node ignores those of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml


def shared_names(arguments: Sequence[str], node: str) -> frozenset[str]:
    """Return parameters that come from sections for several nodes alone, and from nowhere else.

    Args:
        arguments: of the process, such as `["--ros-args", "--params-file", "shared.yaml"]`.
        node: name of the node, without its namespace.
    """
    shared: set[str] = set()
    own: set[str] = set()
    for option, word in pairwise(arguments):
        if option in ("-p", "--param"):
            own.add(word.partition(":=")[0].rpartition(":")[2])
        elif option == "--params-file":
            for section, parameters in _sections(word):
                if "*" in section:
                    shared.update(_names(parameters))
                elif section.rpartition("/")[2] == node:
                    own.update(_names(parameters))
    return frozenset(shared - own)


def _sections(file: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the sections of a file of parameters; nothing of one that ROS 2 refuses."""
    try:
        content = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeError, yaml.YAMLError):
        return
    if isinstance(content, Mapping):
        yield from _below(content, "")


def _below(content: Mapping[Any, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, value in content.items():
        if not isinstance(value, Mapping):
            continue
        if name == "ros__parameters":
            yield path, value
        else:
            yield from _below(value, f"{path}/{name}".replace("//", "/"))


def _names(parameters: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the names of parameters, of nested ones with dots between them."""
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            yield from _names(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"
