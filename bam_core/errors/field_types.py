# SPDX-License-Identifier: Apache-2.0
"""Checks that fields of settings have the types that they declare, which Python leaves to type checkers."""

from __future__ import annotations

import collections.abc
from dataclasses import fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from bam_core.errors.kinds import WrongType

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_WORDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "True or False",
    NoneType: "None",
    collections.abc.Mapping: "a dict",
    collections.abc.Sequence: "a list",
    collections.abc.Collection: "a list",
}


def require_field_types(settings: DataclassInstance) -> None:
    """Raise WrongType for the first field whose value is not of its declared type.

    Of containers, the type alone is checked, not that of what they hold. Text is no list of letters.
    """
    hints = get_type_hints(type(settings))
    for field in fields(settings):
        value, hint = getattr(settings, field.name), hints[field.name]
        if not _is_of(value, hint):
            expected = " or ".join(dict.fromkeys(map(_words, _alternatives(hint))))
            raise WrongType(f"{type(settings).__name__}, {field.name}", value, expected)


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the type alone."""
    if get_origin(hint) in (Union, UnionType):
        return tuple(part for member in get_args(hint) for part in _alternatives(member))
    return (hint,)


def _is_of(value: object, hint: Any) -> bool:
    return any(_is_of_one(value, get_origin(one) or one) for one in _alternatives(hint))


def _is_of_one(value: object, kind: Any) -> bool:
    if not isinstance(kind, type):  # a type variable or the like: anything
        return True
    if kind in (int, float):
        number = Integral if kind is int else Real
        return isinstance(value, number) and not isinstance(value, bool)
    if isinstance(value, str) and kind in _WORDS:
        return kind is str
    return isinstance(value, kind)


def _words(hint: Any) -> str:
    kind = get_origin(hint) or hint
    return _WORDS.get(kind) or f"a {getattr(kind, '__name__', kind)}"
