# SPDX-License-Identifier: Apache-2.0
"""Reads YAML and JSON into dataclasses, whose types say what a file may hold; a wrong field is one error line.

cattrs applies the types. `TypedReader` makes it strict, because files are written by hand: text is no number, true
is no number, a text is no list. It turns the exceptions of cattrs into the errors of this package.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from cattrs import Converter
from cattrs.cols import homogenous_tuple_structure_factory, is_mapping, mapping_structure_factory
from cattrs.errors import BaseValidationError, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn

from bam_core.errors import CORRECT_IT, BamError, Malformed, Missing, UnknownName, WrongType
from bam_core.files.quoted_number import correct_number

_T = TypeVar("_T")
_Hook = Callable[[Any, Any], Any]
_Place = tuple[str | int, ...]

_LONGEST = 40  # characters of a value that a line shows whole
_SCALARS: Mapping[Any, str] = {float: "a number", int: "a whole number", str: "text", bool: "true or false"}
_LISTS = {"a number": "numbers", "a whole number": "whole numbers"}


class Unsuitable(Exception):
    """A value that its field cannot take; hooks and constructors raise it, `TypedReader` adds the place."""

    def __init__(self, value: object, expected: str, *, field: str = "", advice: str = "") -> None:
        """Keep what the error line needs.

        Args:
            value: what was given.
            expected: what the field takes, in words.
            field: which one of the dataclass whose constructor raises this.
            advice: what to do; empty: what the reader says.
        """
        super().__init__(expected)
        self.value, self.expected, self.field, self.advice = value, expected, field, advice


def require_section(content: object, path: Path, *, expected: str, advice: str) -> dict[str, Any]:
    """Return what a YAML file holds; raise Malformed where that is no section.

    A whole text is described by its kind: whoever can name a file may not be allowed to read it.
    """
    if isinstance(content, dict):
        return content
    found = {str: "text", list: "a list", type(None): "empty"}.get(type(content), str(content))
    raise Malformed(path, f"is {found}", expected=expected, advice=advice)


class TypedReader:
    """Turns what a kind of file holds into dataclasses.

    Fields without a default are required. The keys of a dictionary are names that the file chooses.

    Attributes:
        converter: of cattrs; further hooks may be registered, which raise `Unsuitable` or a BamError.
    """

    def __init__(
        self,
        *,
        is_json: bool = False,
        allows_empty: bool = False,
        allows_unknown: bool = False,
        words: Mapping[Any, str] = MappingProxyType({}),
        advice: str = "",
    ) -> None:
        """Register how each type is read.

        Args:
            is_json: values are shown as JSON has them, null stands for no value, numbers are finite.
            allows_empty: a field without value, as in ``title:``, counts as left out, unless it is a section.
            allows_unknown: further fields are ignored.
            words: what belongs where a type is expected, for dataclasses and `NewType`s.
            advice: what to do about every wrong field; empty: what fits it.
        """
        self._is_json, self._allows_empty, self._given_words, self._advice = is_json, allows_empty, words, advice
        self.converter = Converter(detailed_validation=True, forbid_extra_keys=not allows_unknown)
        register = self.converter.register_structure_hook_factory
        for kind, hook in ((float, self._number), (int, self._whole), (str, self._text), (bool, self._flag)):
            self.converter.register_structure_hook(kind, hook)
        register(dataclasses.is_dataclass, self._section)
        register(is_mapping, self._names)
        register(lambda kind: get_origin(kind) is tuple, self._list)
        register(_is_optional, lambda kind: self.converter.get_structure_hook(_without_none(kind)))
        register(lambda kind: hasattr(kind, "__supertype__"), self._new_type)

    def read(self, content: object, kind: type[_T], path: Path) -> _T:
        """Return a dataclass of what a file holds.

        Args:
            content: sections, lists and values, as `read_yaml` and `read_json` return them.
            kind: the dataclass.
            path: of the file, for error lines.

        Raises:
            BamError: a field is unknown, missing, of another type, or refused by a constructor; the line names
                the file and the field.
        """
        try:
            return self.converter.structure(content, kind)
        except (BaseValidationError, Unsuitable) as error:
            raise self._refusal(error, kind, ()).within(path) from None

    def _number(self, value: Any, _: Any) -> float:
        if value is None and self._is_json:
            return math.nan
        if _is_number(value) and not (self._is_json and not math.isfinite(value)):
            return float(value)
        raise Unsuitable(value, _SCALARS[float])

    def _whole(self, value: Any, _: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Unsuitable(value, _SCALARS[int])
        return value

    def _text(self, value: Any, _: Any) -> str:
        if not isinstance(value, str):
            raise Unsuitable(value, _SCALARS[str])
        return value

    def _flag(self, value: Any, _: Any) -> bool:
        if not isinstance(value, bool):
            raise Unsuitable(value, _SCALARS[bool])
        return value

    def _section(self, kind: Any) -> _Hook:
        structure = make_dict_structure_fn(kind, self.converter)
        hints = get_type_hints(kind)
        sections = {name for name, hint in hints.items() if dataclasses.is_dataclass(_without_none(hint))}

        def hook(value: Any, _: Any) -> Any:
            if not isinstance(value, dict):
                raise Unsuitable(value, self._words(kind))
            given = {str(name): each for name, each in value.items()}
            if self._is_json or self._allows_empty:
                kept = () if self._is_json else sections
                given = {name: each for name, each in given.items() if each is not None or name in kept}
            return structure(given, kind)

        return hook

    def _names(self, kind: Any) -> _Hook:
        structure = mapping_structure_factory(kind, self.converter, dict)

        def hook(value: Any, _: Any) -> Any:
            if not isinstance(value, dict):
                raise Unsuitable(value, self._words(kind))
            return structure({str(name): each for name, each in value.items()}, kind)

        return hook

    def _list(self, kind: Any) -> _Hook:
        first, *others = get_args(kind)
        count = None if others == [...] else 1 + len(others)
        structure = homogenous_tuple_structure_factory(tuple[first, ...], self.converter)

        def hook(value: Any, _: Any) -> Any:
            if not isinstance(value, list) or count not in (None, len(value)):
                raise Unsuitable(value, self._words(kind))
            try:
                return structure(value, kind)
            except BaseValidationError as error:
                wrong = error.exceptions[0]
                if not self._is_json or not isinstance(wrong, Unsuitable) or isinstance(wrong.value, (dict, list)):
                    raise
            raise Unsuitable(value, f"a list of {_LISTS.get(wrong.expected, wrong.expected)}")

        return hook

    def _new_type(self, kind: Any) -> _Hook:
        inner = kind.__supertype__
        structure = self.converter.get_structure_hook(inner)

        def hook(value: Any, _: Any) -> Any:
            try:
                return structure(value, inner)
            except Unsuitable as error:
                raise Unsuitable(value, self._words(kind), advice=error.advice) from None

        return hook

    def _refusal(self, error: BaseException, kind: Any, place: _Place) -> BamError:
        """Return the error line for the first thing that is wrong, unknown fields before all others."""
        if isinstance(error, BaseValidationError):
            unknown = [each for each in error.exceptions if isinstance(each, ForbiddenExtraKeysError)]
            first = (unknown or error.exceptions)[0]
            for note in getattr(first, "__notes__", ()):
                if hasattr(note, "name"):  # of a dataclass
                    return self._refusal(first, note.type, (*place, note.name))
                if hasattr(note, "index"):  # of a list or dictionary
                    step = str(note.index) if is_mapping(error.cl) else note.index
                    return self._refusal(first, note.type, (*place, step))
            return self._refusal(first, kind, place)
        if isinstance(error, ForbiddenExtraKeysError):
            return self._unknown(error, place)
        if isinstance(error, KeyError):  # which generated code raises
            return Missing(self._name(place), self._words(kind), advice=self._advice or "add it")
        if isinstance(error, Unsuitable):
            return self._wrong(error, (*place, error.field) if error.field else place)
        if isinstance(error, BamError):  # of a constructor or hook, which name the innermost field themselves
            known = place and str(error).startswith(str(place[-1]))
            around = self._name(place[:-1] if known else place)
            return error.within(around) if around else error
        raise error

    def _unknown(self, error: ForbiddenExtraKeysError, place: _Place) -> UnknownName:
        numbers = [at for at, step in enumerate(place) if isinstance(step, int)]
        inside = numbers[-1] + 1 if numbers else 0
        fields = [each.name for each in dataclasses.fields(error.cl)]
        prefix = self._name((*place[inside:], ""))
        found = UnknownName("field", prefix + min(error.extra_fields), [prefix + name for name in fields])
        return found.within(self._name(place[:inside])) if inside else found

    def _wrong(self, error: Unsuitable, place: _Place) -> WrongType:
        advice = error.advice or self._advice
        if not advice and error.expected in (_SCALARS[float], _SCALARS[int]):
            advice = correct_number(error.value, yaml=not self._is_json)
        if not advice and error.expected == _SCALARS[str] and not isinstance(error.value, (dict, list, NoneType)):
            advice = "write it in quotes, which make it text"
        name = self._name(place) or "content"
        told = self._told(error.value)
        return WrongType(name, error.value, error.expected, told=told, advice=advice or CORRECT_IT)

    def _told(self, value: object) -> str:
        if self._is_json:
            shown = json.dumps(value, ensure_ascii=False)
            return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
        if isinstance(value, dict):
            return "a section" if value else "an empty section"
        if isinstance(value, list):
            return str(value) if len(str(value)) <= _LONGEST else f"a list of {len(value)}"
        return "empty" if value is None else repr(value) if isinstance(value, str) else str(value)

    def _name(self, place: _Place) -> str:
        """Return ``motor.resistance``, ``loads, entry 1, mass``; of JSON, which has no comments, ``logs[0].kp``."""
        name = ""
        for at, step in enumerate(place):
            if isinstance(step, int):
                name += f"[{step}]" if self._is_json else f", entry {step + 1}"
            else:
                follows_number = at > 0 and isinstance(place[at - 1], int)
                name += ("" if at == 0 else ", " if follows_number and not self._is_json else ".") + step
        return name

    def _words(self, kind: Any) -> str:
        """Return what a type takes, in words."""
        kind = _without_none(kind)
        if kind in self._given_words:
            return self._given_words[kind]
        kind = getattr(kind, "__supertype__", kind)
        if kind in _SCALARS:
            return _SCALARS[kind]
        if get_origin(kind) is tuple:
            first, *others = get_args(kind)
            word = self._words(first)
            return "a list" if others == [...] else f"{1 + len(others)} {_LISTS.get(word, word)}"
        if self._is_json:
            return "an object"
        return "a section of names with values" if is_mapping(kind) else "a section of fields"


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and float(value) is not None
    except OverflowError:  # a whole number of hundreds of digits
        return False


def _is_optional(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and type(None) in get_args(kind)


def _without_none(kind: Any) -> Any:
    """Return X for X | None."""
    if not _is_optional(kind):
        return kind
    (inner,) = (each for each in get_args(kind) if each is not type(None))
    return inner
