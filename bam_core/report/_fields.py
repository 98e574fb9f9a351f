# SPDX-License-Identifier: Apache-2.0
"""Checked access to JSON: every field that is not as expected is named in one line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bam_core.errors import Malformed, Missing, Unreadable, WrongType
from bam_core.files.json_file import parse_json

_REMEDY = "run 'bam identify' again"


class Fields:
    """One JSON object; a field that is missing or null is nothing: "", NaN, false or empty."""

    def __init__(self, path: Path, name: str, data: object) -> None:
        self._path = path
        self._name = name
        if not isinstance(data, dict):
            raise self._unlike(name, data, "an object")
        self._data: dict[str, Any] = data

    def __contains__(self, key: str) -> bool:
        return self._data.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def require(self, *keys: str) -> None:
        """Raise Missing for the first of these that is not there."""
        for key in keys:
            if key not in self:
                raise Missing(self._full(key), "one, as 'bam identify' writes it", advice=_REMEDY).within(
                    self._path
                )

    def text(self, key: str) -> str:
        """Return text."""
        return str(self._get(key, str, "text", ""))

    def told(self, key: str) -> str:
        """Return text, or a number in words."""
        value = self._get(key, (str, int, float), "text or a number", "")
        return value if isinstance(value, str) else f"{value:.6g}"

    def number(self, key: str) -> float:
        """Return a finite number, or NaN where there is none."""
        value = self._get(key, (int, float), "a number", math.nan)
        if math.isinf(value) or (math.isnan(value) and key in self):
            raise self._unlike(self._full(key), value, "a number")
        return float(value)

    def flag(self, key: str) -> bool:
        """Return true or false."""
        return bool(self._get(key, bool, "true or false", False))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of text."""
        values = self._get(key, list, "a list", [])
        for value in values:
            if not isinstance(value, str):
                raise self._unlike(self._full(key), values, "a list of text")
        return tuple(values)

    def numbers(self, key: str, count: int) -> list[float]:
        """Return a list of so many numbers; null is NaN."""
        values = self._get(key, list, f"{count} numbers", [])
        if len(values) != count:
            raise self._unlike(self._full(key), values, f"{count} numbers")
        return self._numbers(key, values)

    def matrix(self, key: str, size: int) -> list[list[float]]:
        """Return (size, size) numbers; null is NaN."""
        rows = self._get(key, list, "a list", [])
        expected = f"{size} rows of {size} numbers"
        if len(rows) != size:
            raise self._unlike(self._full(key), rows, expected)
        for row in rows:
            if not isinstance(row, list) or len(row) != size:
                raise self._unlike(self._full(key), row, expected)
        return [self._numbers(key, row) for row in rows]

    def child(self, key: str) -> Fields:
        """Return an object, empty where there is none."""
        return Fields(self._path, self._full(key), self._get(key, dict, "an object", {}))

    def children(self, key: str) -> list[Fields]:
        """Return a list of objects."""
        values = self._get(key, list, "a list", [])
        return [Fields(self._path, f"{self._full(key)}[{i}]", value) for i, value in enumerate(values)]

    def _full(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key

    def _get(self, key: str, kind: Any, expected: str, default: Any) -> Any:
        value = self._data.get(key)
        if value is None:
            return default
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self._unlike(self._full(key), value, expected)
        return value

    def _numbers(self, key: str, values: list[Any]) -> list[float]:
        for value in values:
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise self._unlike(self._full(key), values, "numbers")
        return [math.nan if value is None else float(value) for value in values]

    def _unlike(self, name: str, value: object, expected: str) -> WrongType:
        shown = json.dumps(value, ensure_ascii=False)
        shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
        return WrongType(name or "content", value, expected, told=shown, advice=_REMEDY).within(self._path)


def read_json(path: Path) -> Fields:
    """Read a file that holds one JSON object.

    Raises:
        BamError: it cannot be read, or is no JSON object.
    """
    try:
        return Fields(path, "", parse_json(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise Unreadable(path, error) from None
    except UnicodeDecodeError:
        raise Malformed(path, "is not text", expected="JSON", advice=_REMEDY) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Malformed(path, f"is not JSON at {where} ({error.msg})", advice=_REMEDY) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or nesting as deep
        raise Malformed(
            path, f"is no sensible JSON ({error})", expected="a summary", advice=_REMEDY
        ) from None
