# SPDX-License-Identifier: Apache-2.0
"""What an identification reports beside its figures: a kind, numbers, and the sentences made of them."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Finding(ABC):
    """Base of all findings: warnings, advice, misfits, verdicts.

    Subclasses hold numbers and names in SI units, and turn them into sentences. Rooms that compute create
    them; terminal, page and JSON print them.

    Attributes:
        kind: short name, as in ``summary.json``.
    """

    kind: str

    @property
    @abstractmethod
    def sentences(self) -> tuple[str, ...]:
        """One statement each, of at most 20 words, with a full stop."""

    @property
    def sentence(self) -> str:
        """All sentences, in one line."""
        return " ".join(self.sentences)

    def __str__(self) -> str:
        return self.sentence

    def summary(self) -> dict[str, Any]:
        """Return the entry in ``summary.json``: kind, numbers in SI units, and sentence."""
        fields = {
            name: str(value) if isinstance(value, PurePath) else value for name, value in asdict(self).items()
        }
        return {**fields, "sentence": self.sentence}


def log_findings(log: logging.Logger, findings: Iterable[Finding]) -> None:
    """Log each as a warning, whose argument it is."""
    for finding in findings:
        log.warning("%s", finding)


def listed(names: Sequence[str], *, most: int = 3) -> str:
    """Return the first names, and how many more there are: "a, b, c and 2 more"."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def mrad(error: float) -> str:
    """Return an error, rad, in mrad with two significant digits."""
    return f"{float(f'{1e3 * error:.2g}'):g} mrad"


def percent(share: float) -> str:
    """Return a share in percent, without decimals."""
    return f"{100.0 * share:.0f} %"


def count(number: int, what: str) -> str:
    """Return a number and what it counts, with its plural: "1 log", "3 logs"."""
    return f"{number} {what}{'' if number == 1 else 's'}"
