# SPDX-License-Identifier: Apache-2.0
"""Reads YAML files, and says where one is malformed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bam_core.errors import CORRECT_IT, Malformed, Unreadable


def read_yaml(path: Path, *, otherwise: str = CORRECT_IT) -> Any:
    """Return the content of a YAML file: sections, lists and values; None of an empty one.

    Args:
        path: of the file.
        otherwise: what to do where it is not even text.

    Raises:
        Unreadable: it is not there, or may not be read.
        Malformed: it is no text, or no YAML; the line says where.
    """
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unreadable(path, error) from None
    except UnicodeDecodeError:
        raise Malformed(path, "is not text", advice=otherwise) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "malformed"
        raise Malformed(path, f"is not YAML{where} ({problem})") from None
