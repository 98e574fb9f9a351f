# SPDX-License-Identifier: Apache-2.0
"""Reads JSON files of others: whatever is in them, it is a value or one line."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from bam_core.errors import CORRECT_IT, Malformed, Unreadable


def parse_json(text: str) -> Any:
    """Return the content of a JSON text.

    Raises:
        ValueError: it is no JSON, or a key is there twice: readers would take the last one without a word.
        RecursionError: it is nested as nothing is that has a meaning.
    """
    result = json.loads(text)
    if text.count(":") == _keys(result):  # so that no text has a colon, and no key is there twice
        return result
    return json.loads(text, object_pairs_hook=_each_once)  # a long log would take a fifth more time


def _keys(content: Any) -> int:
    """Count keys, of objects in lists the outermost ones: entries of a log hold numbers alone."""
    if isinstance(content, dict):
        return len(content) + sum(map(_keys, content.values()))
    return (
        sum(len(element) for element in content if isinstance(element, dict))
        if isinstance(content, list)
        else 0
    )


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    counts = Counter(key for key, _ in pairs)
    raise ValueError(f"key {counts.most_common(1)[0][0]!r} is there {max(counts.values())} times")


def read_json(path: Path, *, expected: str = "", advice: str = CORRECT_IT) -> Any:
    """Return the content of a JSON file.

    Args:
        path: of the file.
        expected: what belongs into it, in words.
        advice: what to do where it is something else.

    Raises:
        Unreadable: it is not there, or may not be read.
        Malformed: it is no text, no JSON, has a key twice, or is nested as nothing is that has a meaning.
    """
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unreadable(path, error) from None
    except UnicodeDecodeError:
        problem = "is not text"
    except json.JSONDecodeError as error:
        problem = f"is not JSON at line {error.lineno}, column {error.colno} ({error.msg})"
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or nesting as deep
        problem = f"is no sensible JSON ({error})"
    raise Malformed(path, problem, expected=expected, advice=advice)
