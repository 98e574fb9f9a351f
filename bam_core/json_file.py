# SPDX-License-Identifier: Apache-2.0
"""Reads JSON files of others: whatever is in them, it is a value or one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bam_core.errors import CORRECT_IT, Malformed, Unreadable


def read_json(path: Path, *, expected: str = "", advice: str = CORRECT_IT) -> Any:
    """Return the content of a JSON file.

    Args:
        path: of the file.
        expected: what belongs into it, in words.
        advice: what to do where it is something else.

    Raises:
        Unreadable: it is not there, or may not be read.
        Malformed: it is no text, no JSON, or nested as nothing is that has a meaning.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unreadable(path, error) from None
    except UnicodeDecodeError:
        problem = "is not text"
    except json.JSONDecodeError as error:
        problem = f"is not JSON at line {error.lineno}, column {error.colno} ({error.msg})"
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or nesting as deep
        problem = f"is no sensible JSON ({error})"
    raise Malformed(path, problem, expected=expected, advice=advice)
