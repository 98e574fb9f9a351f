# SPDX-License-Identifier: Apache-2.0
"""One argument of a launch file: the text after `:=`, and the value that it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bam_core.errors import UnknownName, WrongType
from bam_core.text.comma_list import comma_list

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_ONE = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
_MANY = {int: "whole numbers, separated by commas", str: "names, separated by commas"}


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One argument of a launch file.

    Attributes:
        name: of the argument.
        default: value where none is given; its type is the argument's type.
        description: one sentence with the unit.
        choices: the texts that it accepts; empty: any.
    """

    name: str
    default: Any
    description: str
    choices: tuple[str, ...] = ()

    @property
    def default_text(self) -> str:
        """The default as it is written after `:=`; plain text, which `--show-args` prints."""
        items = self.default if isinstance(self.default, list) else [self.default]
        return ",".join(str(item).lower() if isinstance(item, bool) else str(item) for item in items)

    def value(self, text: str) -> Any:
        """Return what a text stands for.

        A list is written with commas, `hip,knee`, or as in YAML, `[hip, knee]`.

        Raises:
            WrongType: it stands for nothing of the argument's type.
        """
        try:
            if isinstance(self.default, list):
                return [_item(item, type(self.default[0])) for item in _items(text)]
            return _item(text, type(self.default))
        except (ValueError, yaml.YAMLError):
            expected = _MANY[type(self.default[0])] if isinstance(self.default, list) else self._expected
            raise WrongType(
                self.name, text, expected, advice=f"write {self.name}:={self.default_text}, for example"
            ) from None

    @property
    def _expected(self) -> str:
        return _ONE[type(self.default)]


def _items(text: str) -> list[str]:
    """Return the texts in a list; at least one, for ROS 2 has no parameter without entries."""
    if not text.strip().startswith("["):
        return comma_list(text) or [""]
    items = yaml.load(text, Loader=yaml.BaseLoader)  # which makes a text of every entry
    if not isinstance(items, list) or not items or not all(isinstance(item, str) for item in items):
        raise ValueError(text)
    return items


def _item(text: str, kind: type) -> Any:
    """Return one value; raises ValueError."""
    if kind is not bool:
        return kind(text)
    if text.lower() not in _BOOLEANS:
        raise ValueError(text)
    return _BOOLEANS[text.lower()]


def refuse_unknown(words: Sequence[str], file: str, names: Sequence[str]) -> None:
    """Refuse arguments of a command line that a launch file does not declare; launch would ignore them.

    Those of a file that includes this one are not its own: nothing is refused then.

    Args:
        words: of the command, with the file, such as `… record.launch.py port:=/dev/ttyUSB0`.
        file: name of the launch file.
        names: of its arguments.

    Raises:
        UnknownName: an argument is not declared.
    """
    files = [index for index, word in enumerate(words) if word.endswith(".launch.py")]
    if not files or Path(words[files[0]]).name != file:
        return
    for word in words[files[0] + 1 :]:
        name, assigned, _ = word.partition(":=")
        if assigned and name not in names:
            raise UnknownName("launch argument", name, names)
