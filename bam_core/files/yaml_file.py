# SPDX-License-Identifier: Apache-2.0
"""Reads YAML files, untrusted ones included; errors name the line that is malformed.

Sections, lists, texts and numbers are all that is built of a file: no tag in it can run code. What it may
take of memory and time is limited, too: a few lines with aliases of aliases can stand for billions of
elements ("billion laughs"), brackets within brackets can exhaust the stack of a parser, and a number may have
a million digits. A key that a section has twice is refused: readers would take the last one without a word.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bam_core.errors import CORRECT_IT, Malformed, Unreadable

LARGEST_FILE = 4_000_000
"""Bytes of a file that is read; the longest ones have a line for each of some thousand recordings."""
MOST_ELEMENTS = 500_000
"""Keys, values and list entries of a document, each alias counted as all that it stands for."""
DEEPEST = 50
"""Sections within sections."""
_LARGEST_NUMBER = 2**64  # what fits no machine number is a mistake, and fails where it becomes one
_LONGEST_NUMBER = 100  # characters; "1:1:1:1", in sixties, takes time with the square of its length

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's, where PyYAML was built with it


class _Loader(_Base):
    """Builds sections, lists, texts, numbers and dates."""


def _whole_number(loader: Any, node: Any) -> int:
    value = loader.construct_scalar(node)
    if len(value) > _LONGEST_NUMBER or abs(number := loader.construct_yaml_int(node)) > _LARGEST_NUMBER:
        raise yaml.constructor.ConstructorError(
            problem="a whole number of more digits than a machine's", problem_mark=node.start_mark
        )
    return int(number)


_Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)


def read_yaml(path: Path, *, otherwise: str = CORRECT_IT) -> Any:
    """Return the content of a YAML file: sections, lists and values; None of an empty one.

    Args:
        path: of the file.
        otherwise: what to do where it is not even text.

    Raises:
        Unreadable: it is not there, or may not be read.
        Malformed: it is no text, or no YAML, has a key twice, or is larger than files of this kind are; the
            line names the place.
    """
    try:
        size = path.stat().st_size
        text = path.read_text(encoding="utf-8") if size <= LARGEST_FILE else ""
    except OSError as error:
        raise Unreadable(path, error) from None
    except UnicodeDecodeError:
        raise Malformed(path, "is not text", advice=otherwise) from None
    except ValueError:  # a character that no path has
        raise Unreadable(repr(str(path)), "is no path") from None
    if size > LARGEST_FILE:
        raise Malformed(path, f"has {size} bytes", expected=f"at most {LARGEST_FILE}", advice=otherwise)
    return parse_yaml(text, path)


def parse_yaml(text: str, path: Path) -> Any:
    """Return the content of a YAML text as `read_yaml` does that of a file.

    Args:
        text: the document.
        path: where it comes from, for messages.

    Raises:
        Malformed: it is no YAML, has a key twice, or is larger than documents of this kind are; the line has
            the place.
    """
    try:
        _require_sound(text, path)
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "malformed"
        raise Malformed(path, f"is not YAML{where} ({problem})") from None
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        # What PyYAML's constructors make of a tag with a value that is none, such as the date 2001-99-99.
        problem = " ".join(str(error).split()) or type(error).__name__
        raise Malformed(path, f"is not YAML (a value is not of its type: {problem})") from None


class _Open:
    """A list or section that has begun.

    Attributes:
        anchor: its name for aliases.
        elements: how many it holds.
        keys: of a section, each with its line; None of a list.
        key_is_next: in a section, which holds keys and values by turns.
    """

    __slots__ = ("anchor", "elements", "key_is_next", "keys")

    def __init__(self, anchor: str | None, is_section: bool = False) -> None:
        self.anchor, self.elements = anchor, 1
        self.keys: dict[str, int] | None = {} if is_section else None
        self.key_is_next = True

    def take(self, text: str | None, line: int, path: Path) -> None:
        """Take one more element; raises Malformed where a key is in this section already."""
        if self.keys is None:
            return
        if self.key_is_next and text is not None:
            if text in self.keys:
                raise Malformed(
                    path,
                    f"key {text!r} at line {line} is there already, at line {self.keys[text]}",
                    expected="each key once",
                    advice="remove one",
                )
            self.keys[text] = line
        self.key_is_next = not self.key_is_next


def _require_sound(text: str, path: Path) -> None:
    """Refuse a document that is too large or has a key twice, before anything is built of it.

    Raises:
        Malformed: it is; the line names the place.
        YAMLError: it is no YAML.
    """
    # Finished ones -> elements, and their text; an alias of one that is not finished is endless.
    anchors: dict[str, tuple[int, str | None]] = {}
    stack = [_Open(None)]
    for event in yaml.parse(text, _Base):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in anchors:
                raise _too_much(path, line, f"alias {event.anchor!r} of nothing, or of what it is in")
            elements, alias = anchors[event.anchor]
            stack[-1].elements += elements
            stack[-1].take(alias, line, path)
        elif isinstance(event, yaml.ScalarEvent):
            stack[-1].elements += 1
            stack[-1].take(event.value, line, path)
            if event.anchor:
                anchors[event.anchor] = (1, event.value)
        elif isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            anchors.pop(event.anchor or "", None)
            stack[-1].take(None, line, path)
            stack.append(_Open(event.anchor, isinstance(event, yaml.MappingStartEvent)))
            if len(stack) > DEEPEST + 1:
                raise _too_much(path, line, f"more than {DEEPEST} sections within each other")
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            done = stack.pop()
            stack[-1].elements += done.elements
            if done.anchor:
                anchors[done.anchor] = (done.elements, None)
        if stack[-1].elements > MOST_ELEMENTS:
            raise _too_much(path, line, f"more than {MOST_ELEMENTS} elements, aliases counted")


def _too_much(path: Path, line: int, what: str) -> Malformed:
    return Malformed(path, f"is not sensible YAML at line {line} ({what})", advice="leave them out")
