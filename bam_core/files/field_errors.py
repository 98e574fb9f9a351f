# SPDX-License-Identifier: Apache-2.0
"""Error lines for fields that cattrs could not read: field, what was found, what was expected, cure."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from cattrs.cols import is_mapping
from cattrs.errors import BaseValidationError, ForbiddenExtraKeysError

from bam_core.errors import CORRECT_IT, BamError, Missing, UnknownName, WrongType
from bam_core.files.quoted_number import correct_number

_Place = tuple[str | int, ...]

_LONGEST = 40  # characters of a value that a line shows whole
SCALARS: Mapping[Any, str] = {float: "a number", int: "a whole number", str: "text", bool: "true or false"}
"""Types of single values, in words."""
_PLURALS = {
    "a number": "numbers",
    "a whole number": "whole numbers",
    "a section of fields": "sections",
    "an object": "objects",
}


class UnsuitableError(Exception):
    """A value that its field cannot take; hooks and constructors raise it, `TypedReader` adds the place."""

    def __init__(self, value: object, expected: str, *, field: str = "", advice: str = "") -> None:
        """Keep what the error line needs.

        Args:
            value: what was given.
            expected: what the field takes, in words.
            field: which one of the dataclass whose constructor raises this.
            advice: what to do; empty: that of the reader.
        """
        super().__init__(expected)
        self.value, self.expected, self.field, self.advice = value, expected, field, advice


@dataclasses.dataclass(frozen=True, kw_only=True)
class FieldErrors:
    """Makes error lines for one kind of file.

    Attributes:
        is_json: values are shown as JSON has them.
        words: what belongs where a type is expected, for dataclasses and `NewType`s.
        advice: what to do about every wrong field; empty: what fits it.
    """

    is_json: bool
    words: Mapping[Any, str]
    advice: str

    def refusal(self, error: BaseException, kind: Any, place: _Place = ()) -> BamError:
        """Return the error line for the first thing that is wrong, unknown fields before all others."""
        if isinstance(error, BaseValidationError):
            unknown = [
                exception for exception in error.exceptions if isinstance(exception, ForbiddenExtraKeysError)
            ]
            first = (unknown or error.exceptions)[0]
            for note in getattr(first, "__notes__", ()):
                if hasattr(note, "name"):  # of a dataclass
                    return self.refusal(first, note.type, (*place, note.name))
                if hasattr(note, "index"):  # of a list or dictionary
                    step = str(note.index) if is_mapping(error.cl) else note.index
                    return self.refusal(first, note.type, (*place, step))
            return self.refusal(first, kind, place)
        if isinstance(error, ForbiddenExtraKeysError):
            return self._unknown(error, place)
        if isinstance(error, KeyError):  # which generated code raises
            return Missing(self._name(place), self.expected(kind), advice=self.advice or "add it")
        if isinstance(error, UnsuitableError):
            return self._wrong(error, (*place, error.field) if error.field else place)
        if isinstance(error, BamError):  # of a constructor or hook, which name the innermost field themselves
            known = place and str(error).startswith(str(place[-1]))
            around = self._name(place[:-1] if known else place)
            return error.within(around) if around else error
        raise error

    def _unknown(self, error: ForbiddenExtraKeysError, place: _Place) -> UnknownName:
        numbers = [at for at, step in enumerate(place) if isinstance(step, int)]
        inside = numbers[-1] + 1 if numbers else 0
        fields = [field.name for field in dataclasses.fields(error.cl)]
        prefix = self._name((*place[inside:], ""))
        unknown = UnknownName("field", prefix + min(error.extra_fields), [prefix + name for name in fields])
        return unknown.within(self._name(place[:inside])) if inside else unknown

    def _wrong(self, error: UnsuitableError, place: _Place) -> WrongType:
        # A whole text is described by its kind: whoever can name a file may not be allowed to read it.
        shown = "text" if not place and isinstance(error.value, str) else self._shown(error.value)
        name = self._name(place) or "content"
        advice = error.advice or self.advice or self.cure(error.value, error.expected)
        return WrongType(name, error.value, error.expected, printed=shown, advice=advice)

    def cure(self, value: object, expected: str) -> str:
        """Return what to do where a value is not what was expected."""
        if expected in (SCALARS[float], SCALARS[int]):
            return correct_number(value, yaml=not self.is_json)
        if expected == SCALARS[str] and not isinstance(value, (dict, list, NoneType)):
            return "write it in quotes, which make it text"
        is_plain_list = expected.startswith("a list") and "{" not in expected
        return "write it as [a, b]" if is_plain_list and not self.is_json else CORRECT_IT

    def _shown(self, value: object) -> str:
        if self.is_json:
            text = json.dumps(value, ensure_ascii=False)
            return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
        if isinstance(value, dict):
            return "a section" if value else "an empty section"
        if isinstance(value, list):
            return str(value) if len(str(value)) <= _LONGEST else f"a list of {len(value)}"
        return "empty" if value is None else repr(value) if isinstance(value, str) else str(value)

    def _name(self, place: _Place) -> str:
        """Return a name: ``motor.resistance``, ``loads, entry 1, mass``; in JSON ``loads[0].mass``."""
        name = ""
        for at, step in enumerate(place):
            if isinstance(step, int):
                name += f"[{step}]" if self.is_json else f", entry {step + 1}"
            else:
                follows_number = at > 0 and isinstance(place[at - 1], int)
                name += ("" if at == 0 else ", " if follows_number and not self.is_json else ".") + step
        return name

    def expected(self, kind: Any) -> str:
        """Return what a type takes, in words."""
        kind = without_none(kind)
        if kind in self.words:
            return self.words[kind]
        kind = getattr(kind, "__supertype__", kind)
        if kind in SCALARS:
            return SCALARS[kind]
        if is_tuple(kind):
            first, *others = get_args(kind)
            word = self.expected(first)
            return (
                f"a list of {self.plural(word)}"
                if others == [...]
                else f"{1 + len(others)} {self.plural(word)}"
            )
        if self.is_json:
            return "an object"
        return "a section of names with values" if is_mapping(kind) else "a section of fields"

    @staticmethod
    def plural(words: str) -> str:
        """Return the words for several values of a type."""
        return _PLURALS.get(words, "lists" if words.startswith("a list") else words)


def is_tuple(kind: Any) -> bool:
    """Return whether a type is a tuple with types of its entries."""
    origin: Any = get_origin(kind)
    return origin is tuple


def is_optional(kind: Any) -> bool:
    """Return whether a type is X | None."""
    return get_origin(kind) in (Union, UnionType) and type(None) in get_args(kind)


def without_none(kind: Any) -> Any:
    """Return X for X | None."""
    if not is_optional(kind):
        return kind
    (inner,) = (member for member in get_args(kind) if member is not type(None))
    return inner
