# SPDX-License-Identifier: Apache-2.0
"""Base of what nodes report: values that programs compare, with one line for people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Notice(ABC):
    """Base of all notices: answers, warnings, progress. Subclasses hold names and numbers, in SI units."""

    @abstractmethod
    def __str__(self) -> str:
        """Return it in one line; where something is wrong, with what was expected and what to do."""
