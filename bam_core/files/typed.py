# SPDX-License-Identifier: Apache-2.0
"""Converts parsed YAML and JSON into dataclasses, strictly by their type annotations.

cattrs applies the types. Files are written by hand, so `TypedReader` converts nothing silently: text is not a
number, true is not a number, and text is not a list. `field_errors` turns the exceptions of cattrs into one
error line.
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
    """Return the content of a YAML file, which has to be a section (a dictionary).

    Args:
        content: as `read_yaml` returns it.
        path: of the file.
        expected: what the file should contain, for the error line.
        advice: what to do, for the error line.

    Raises:
        Malformed: the content is not a section. The error line does not quote text: a client that names a
            file may not be allowed to read it.
    """
    if isinstance(content, dict):
        return content
    given = {str: "text", list: "a list", type(None): "empty"}.get(type(content), str(content))
    raise Malformed(path, f"is {given}", expected=expected, advice=advice)


class TypedReader:
    """Converts the content of one kind of file into dataclasses.

    Fields without a default are required. A dictionary accepts any names as keys.

    Attributes:
        converter: of cattrs; more hooks may be registered. They raise `UnsuitableError` or a BamError.
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
        """Register a hook for each type.

        Args:
            is_json: error lines show values as JSON. A field that is null counts as left out, a number in a
                list that is null as NaN. Infinite numbers are refused.
            allows_empty: a field without value, as in ``title:``, counts as left out; a section must have
                fields.
            allows_unknown: unknown fields are ignored.
            words: what a dataclass or `NewType` expects, for error lines.
            advice: what to do, for all error lines; empty: advice that fits the error.
        """
        self._is_json, self._allows_empty = is_json, allows_empty
        self._errors = FieldErrors(is_json=is_json, words=words, advice=advice)
        self.converter = Converter(detailed_validation=True, forbid_extra_keys=not allows_unknown)
        register = self.converter.register_structure_hook_factory
        self.converter.register_structure_hook(float, self._read_float)
        self.converter.register_structure_hook(int, self._read_int)
        self.converter.register_structure_hook(str, self._read_str)
        self.converter.register_structure_hook(bool, self._read_bool)
        register(dataclasses.is_dataclass, self._dataclass_hook)
        register(is_mapping, self._mapping_hook)
        register(is_tuple, self._tuple_hook)
        register(is_optional, lambda kind: self.converter.get_structure_hook(without_none(kind)))
        register(lambda kind: hasattr(kind, "__supertype__"), self._new_type_hook)

    def read(self, content: object, kind: type[_T], path: Path | None = None) -> _T:
        """Return the content of a file as a dataclass.

        Args:
            content: sections, lists and values, as `read_yaml` and `read_json` return them.
            kind: the dataclass.
            path: of the file; error lines begin with it. None: the caller adds it.

        Raises:
            BamError: a field is unknown, missing, of another type, or refused by a constructor.
        """
        try:
            return self.converter.structure(content, kind)
        except (BaseValidationError, UnsuitableError) as error:
            refusal = self._errors.refusal(error, kind)
            raise (refusal if path is None else refusal.within(path)) from None

    def _read_float(self, value: Any, _: Any) -> float:
        if value is None and self._is_json:
            return math.nan
        if _is_number(value) and not (self._is_json and not math.isfinite(value)):
            return float(value)
        raise UnsuitableError(value, SCALARS[float])

    def _read_int(self, value: Any, _: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise UnsuitableError(value, SCALARS[int])
        return value

    def _read_str(self, value: Any, _: Any) -> str:
        if not isinstance(value, str):
            raise UnsuitableError(value, SCALARS[str])
        return value

    def _read_bool(self, value: Any, _: Any) -> bool:
        if not isinstance(value, bool):
            raise UnsuitableError(value, SCALARS[bool])
        return value

    def _dataclass_hook(self, kind: Any) -> _Hook:
        structure = make_dict_structure_fn(kind, self.converter)
        hints = get_type_hints(kind)
        sections = {name for name, hint in hints.items() if dataclasses.is_dataclass(without_none(hint))}

        def hook(value: Any, _: Any) -> Any:
            if not isinstance(value, dict):
                raise UnsuitableError(value, self._errors.expected(kind))
            fields = {str(name): content for name, content in value.items()}
            if self._is_json or self._allows_empty:
                may_not_be_empty = () if self._is_json else sections
                fields = {
                    name: content
                    for name, content in fields.items()
                    if content is not None or name in may_not_be_empty
                }
            return structure(fields, kind)

        return hook

    def _mapping_hook(self, kind: Any) -> _Hook:
        structure = mapping_structure_factory(kind, self.converter, dict)

        def hook(value: Any, _: Any) -> Any:
            if not isinstance(value, dict):
                raise UnsuitableError(value, self._errors.expected(kind))
            return structure({str(name): content for name, content in value.items()}, kind)

        return hook

    def _tuple_hook(self, kind: Any) -> _Hook:
        first, *others = get_args(kind)
        count = None if others == [...] else 1 + len(others)  # tuple[X, ...] has any length
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
                    raise  # the error line names the wrong entry
            # In JSON, the error line shows the whole list where an entry is a wrong scalar.
            raise UnsuitableError(value, f"a list of {self._errors.plural(wrong.expected)}")

        return hook

    def _new_type_hook(self, kind: Any) -> _Hook:
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
    """Return whether a value is a number in the range of a float; true and false are not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False
    return True
