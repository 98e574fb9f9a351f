# SPDX-License-Identifier: Apache-2.0
"""Complete ROS 2 message definitions: a type's text followed by those of every type it contains.

This is the form that bags carry (schema encoding ``ros2msg``), so that a reader needs no installed package.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from bam_core.errors import MissingSoftware

SEPARATOR = "=" * 80

_FIELD = re.compile(r"^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[A-Za-z]\w*")
_PRIMITIVES = frozenset(
    ["bool", "byte", "char", "float32", "float64", "string", "wstring"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)


def message_definition(msgtype: str, read: Callable[[str], str] | None = None) -> str:
    """Text of a message type with all types it contains, comments kept.

    Args:
        msgtype: such as "bam_bench/msg/ServoStates".
        read: gives the text of one type; by default from the sourced ROS 2 (``AMENT_PREFIX_PATH``).

    Raises:
        MissingSoftware: the type or one it contains is not installed.
    """
    read = read or read_installed_definition
    texts: dict[str, str] = {}
    pending = [msgtype]
    while pending:
        current = pending.pop(0)
        if current not in texts:
            texts[current] = read(current).rstrip("\n") + "\n"
            pending += contained_types(current, texts[current])
    root = texts.pop(msgtype)
    parts = [f"{SEPARATOR}\nMSG: {name.replace('/msg/', '/')}\n{text}" for name, text in texts.items()]
    return "".join([root, *parts])


def contained_types(msgtype: str, text: str) -> list[str]:
    """Full names of the message types that the fields of ``text`` use, in order of appearance."""
    package = msgtype.split("/")[0]
    types: list[str] = []
    for line in text.splitlines():
        match = _FIELD.match(line)
        if not match or match[1] in _PRIMITIVES:
            continue
        parts = match[1].split("/")
        name = f"{package if len(parts) == 1 else parts[0]}/msg/{parts[-1]}"
        if name not in types:
            types.append(name)
    return types


def read_installed_definition(msgtype: str) -> str:
    """Text of one message type from the packages on ``AMENT_PREFIX_PATH``.

    Raises:
        MissingSoftware: no prefix holds it.
    """
    package, _, name = msgtype.partition("/msg/")
    prefixes = [prefix for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if prefix]
    for prefix in prefixes:
        path = Path(prefix) / "share" / package / "msg" / f"{name}.msg"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    where = ", ".join(prefixes) if prefixes else "nowhere, AMENT_PREFIX_PATH is empty"
    raise MissingSoftware(
        msgtype,
        package,
        problem=f"definition not installed (searched {where})",
        advice=f"source the workspace that holds '{package}'",
    )
