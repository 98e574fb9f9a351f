# SPDX-License-Identifier: Apache-2.0
"""What to do where a file has a number as text: in quotes, or in a form that YAML does not take for one."""

from __future__ import annotations

import math
import re

from bam_core.errors import CORRECT_IT

_YAML_READS = re.compile(r"[-+]?(\d[\d_]*)?(\.\d*([eE][-+]\d+)?)?")
"""Numbers of YAML 1.1, as PyYAML takes them: an exponent needs a point before it and a sign."""

_PLAIN = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")


def correct_number(value: object, *, yaml: bool = True) -> str:
    """Return what to do where a number was expected.

    Args:
        value: what is there instead.
        yaml: the file is YAML, which reads 1e-5 as text even without quotes; else JSON.
    """
    if not isinstance(value, str) or not _is_number(value):
        return CORRECT_IT
    text = value.strip()
    if yaml and not _YAML_READS.fullmatch(text):
        return f"{CORRECT_IT}, numbers in scientific notation need a point and a sign such as 1.0e-5"
    plain = text if _PLAIN.fullmatch(text) else repr(float(text))
    return f"write {plain} without quotes, which make it text"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
