# SPDX-License-Identifier: Apache-2.0
"""Recordings that cannot be used: named with their reason and left out, unless the call is strict."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from bam_core.errors import BadData, BamError, MissingSoftware

log = logging.getLogger(__name__)


class _Named(Protocol):
    @property
    def name(self) -> str:
        """Of a recording."""


_Recording = TypeVar("_Recording", bound=_Named)

_LISTED = 20  # lines


@dataclass(frozen=True, kw_only=True)
class Excluded:
    """A recording that takes no part.

    Attributes:
        name: of the recording, or its path where it has no name yet.
        reason: the line with which it was refused.
    """

    name: str
    reason: str

    def summary(self) -> dict[str, str]:
        """Return the entry in a JSON file."""
        return asdict(self)


@dataclass
class Exclusions:
    """What of several recordings was refused so far.

    Attributes:
        strict: the first refusal ends the call.
        excluded: recordings that take no part, in order.
    """

    strict: bool = False
    excluded: list[Excluded] = field(default_factory=list)
    _errors: list[BamError] = field(default_factory=list)

    @contextlib.contextmanager
    def attempt(self, name: object) -> Iterator[None]:
        """Note a refusal of one recording within; software that is missing ends the call all the same."""
        try:
            yield
        except MissingSoftware:
            raise
        except BamError as error:
            if self.strict:
                raise
            self._errors.append(error)
            self.excluded.append(Excluded(name=str(name), reason=str(error)))

    def usable(
        self,
        recordings: Iterable[_Recording],
        require: Callable[[_Recording], None],
        what: str = "recordings",
    ) -> list[_Recording]:
        """Return those recordings that a check does not refuse, one at least; see `require_some`."""
        accepted = []
        for recording in recordings:
            with self.attempt(recording.name):
                require(recording)
                accepted.append(recording)
        self.require_some(accepted, what)
        return accepted

    def require_some(self, usable: Sequence[object], what: str = "recordings") -> None:
        """Log what was refused, a line for each reason: the first recording by name, the others counted.

        Args:
            usable: what is left.
            what: is left, as an error's line names it.

        Raises:
            BamError: nothing is left; the reason, if all have the same one.
        """
        distinct = list({str(error): error for error in self._errors}.values())  # one bench.yaml, many logs
        if not usable and len(distinct) == 1:
            raise distinct[0]
        lines = self._by_reason()
        for line in lines[:_LISTED]:
            log.warning("%s (left out)" if usable else "%s", line)
        if len(lines) > _LISTED:
            log.warning("and %d more", len(lines) - _LISTED)
        count, self._errors = len(self._errors), []
        if not usable and count:
            raise BadData(
                what,
                f"none of {count} can be used (reasons above)",
                advice="follow its advice, or give others",
            )

    def _by_reason(self) -> list[str]:
        """Return a line for each reason; two reasons are the same where only the names differ."""
        refused = self.excluded[-len(self._errors) :] if self._errors else []
        names: dict[str, list[str]] = {}
        for one in refused:
            head, _, rest = one.reason.partition(": ")
            own = bool(rest) and Path(head).stem == Path(one.name).stem  # a name, or the path of the file
            names.setdefault(rest if own else one.reason, []).extend([head] if own else [])
        return [_line(reason, of) for reason, of in names.items()]


def _line(reason: str, names: Sequence[str]) -> str:
    if not names:
        return reason
    others = len(names) - 1
    return f"{names[0]}{f' and {others} more' if others else ''}: {reason}"
