# SPDX-License-Identifier: Apache-2.0
"""Reads YAML and JSON into dataclasses: their types say what a file may hold; all else is one error line.

cattrs applies the types. `TypedReader` makes it strict, because files are written by hand: text is no number,
true is no number, a text is no list. `field_errors` turns the exceptions of cattrs into error lines.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import GenericAlias, MappingProxyType
from typing import Any, TypeVar, get_args, get_type_hints

from cattrs import Converter
from cattrs.cols import homogenous_tuple_structure_factory, is_mapping, mapping_structure_factory
from cattrs.errors import BaseValidationError
from cattrs.gen import make_dict_structure_fn

from bam_core.errors import Malformed
from bam_core.files.field_errors import (
    SCALARS,
    FieldErrors,
    UnsuitableError,
    is_optional,
    is_tuple,
    without_none,
)

_T = TypeVar("_T")
_Hook = Callable[[Any, Any], Any]


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
        converter: of cattrs; further hooks may be registered, which raise `UnsuitableError` or a BamError.
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
        self._is_json, self._allows_empty = is_json, allows_empty
        self._errors = FieldErrors(is_json=is_json, words=words, advice=advice)
        self.converter = Converter(detailed_validation=True, forbid_extra_keys=not allows_unknown)
        register = self.converter.register_structure_hook_factory
        for kind, hook in ((float, self._number), (int, self._whole), (str, self._text), (bool, self._flag)):
            self.converter.register_structure_hook(kind, hook)
        register(dataclasses.is_dataclass, self._section)
        register(is_mapping, self._names)
        register(is_tuple, self._list)
        register(is_optional, lambda kind: self.converter.get_structure_hook(without_none(kind)))
        register(lambda kind: hasattr(kind, "__supertype__"), self._new_type)

    def read(self, content: object, kind: type[_T], path: Path | None = None) -> _T:
        """Return a dataclass of what a file holds.

        Args:
            content: sections, lists and values, as `read_yaml` and `read_json` return them.
            kind: the dataclass.
            path: of the file, which error lines begin with; None: the caller says it.

        Raises:
            BamError: a field is unknown, missing, of another type, or refused by a constructor.
        """
        try:
            return self.converter.structure(content, kind)
        except (BaseValidationError, UnsuitableError) as error:
            refusal = self._errors.refusal(error, kind)
            raise (refusal if path is None else refusal.within(path)) from None

    def _number(self, value: Any, _: Any) -> float:
        if value is None and self._is_json:
            return math.nan
        if _is_number(value) and not (self._is_json and not math.isfinite(value)):
            return float(value)
        raise UnsuitableError(value, SCALARS[float])

    def _whole(self, value: Any, _: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise UnsuitableError(value, SCALARS[int])
        return value

    def _text(self, value: Any, _: Any) -> str:
        if not isinstance(value, str):
            raise UnsuitableError(value, SCALARS[str])
        return value

    def _flag(self, value: Any, _: Any) -> bool:
        if not isinstance(value, bool):
            raise UnsuitableError(value, SCALARS[bool])
        return value

    def _section(self, kind: Any) -> _Hook:
        structure = make_dict_structure_fn(kind, self.converter)
        hints = get_type_hints(kind)
        sections = {name for name, hint in hints.items() if dataclasses.is_dataclass(without_none(hint))}

        def hook(value: Any, _: Any) -> Any:
            if not isinstance(value, dict):
                raise UnsuitableError(value, self._errors.expected(kind))
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
                raise UnsuitableError(value, self._errors.expected(kind))
            return structure({str(name): each for name, each in value.items()}, kind)

        return hook

    def _list(self, kind: Any) -> _Hook:
        first, *others = get_args(kind)
        count = None if others == [...] else 1 + len(others)
        entries: Any = GenericAlias(tuple, (first, ...))
        structure = homogenous_tuple_structure_factory(entries, self.converter)

        def hook(value: Any, _: Any) -> Any:
            if not isinstance(value, list) or count not in (None, len(value)):
                raise UnsuitableError(value, self._errors.expected(kind))
            try:
                return structure(value, kind)
            except BaseValidationError as error:
                wrong = error.exceptions[0]
                if (
                    not self._is_json
                    or not isinstance(wrong, UnsuitableError)
                    or isinstance(wrong.value, (dict, list))
                ):
                    raise
            raise UnsuitableError(value, f"a list of {self._errors.plural(wrong.expected)}")

        return hook

    def _new_type(self, kind: Any) -> _Hook:
        inner = kind.__supertype__
        structure = self.converter.get_structure_hook(inner)

        def hook(value: Any, _: Any) -> Any:
            try:
                return structure(value, inner)
            except UnsuitableError as error:
                advice = error.advice or self._errors.advice or self._errors.cure(value, error.expected)
                raise UnsuitableError(value, self._errors.expected(kind), advice=advice) from None

        return hook


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and float(value) is not None
    except OverflowError:  # a whole number of hundreds of digits
        return False
