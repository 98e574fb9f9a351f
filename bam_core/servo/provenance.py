# SPDX-License-Identifier: Apache-2.0
"""Where the parameters of a servo come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a servo's parameters come from. Every field may be empty.

    Attributes:
        source: who found them and how, in words.
        software: name and version of the program that found them.
        date: ISO 8601.
        train_mae: mean absolute position error on the training recordings, rad.
        selection_mae: the same on training recordings that fits did without, in turn, rad.
        test_mae: the same on recordings that no fit and no choice saw, rad.
        train_data: name of each training recording -> SHA-256 of its file.
        test_data: the same of the test recordings.
    """

    source: str = ""
    software: str = ""
    date: str = ""
    train_mae: float | None = None
    selection_mae: float | None = None
    test_mae: float | None = None
    train_data: Mapping[str, str] = field(default_factory=dict)
    test_data: Mapping[str, str] = field(default_factory=dict)
