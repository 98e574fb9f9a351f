# SPDX-License-Identifier: Apache-2.0
"""Which contacts stand when, as far as reported: by time, not by arrival."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping

from bam_core.errors import UnknownName

JUMP = 0.5
"""s by which time goes back at least, if it is not a message that comes late."""


_Changes = dict[str, list[tuple[float, bool]]]


class ContactTimes:
    """Keeps when each contact changed; a state holds until the next one.

    Args:
        names: of the contacts.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._changes: _Changes = {name: [] for name in names}
        self._coming: _Changes = {name: [] for name in names}  # after time has gone back, once it has
        self._newest = -math.inf

    def report(self, time: float, contacts: Mapping[str, bool]) -> None:
        """Take states that hold from a time on, s; reports for later times are dropped.

        States of long before are kept for when time goes back, see `restart`.

        Raises:
            BamError: a contact is unknown; nothing is taken then.
        """
        for name in contacts:
            if name not in self._changes:
                raise UnknownName("contact", name, self._changes)
        back = time < self._newest - (0.0 if any(self._coming.values()) else JUMP)
        self._newest = self._newest if back else max(self._newest, time)
        for name, stands in contacts.items():
            changes = (self._coming if back else self._changes)[name]
            while changes and changes[-1][0] >= time:
                changes.pop()
            if not changes or changes[-1][1] != stands:
                changes.append((time, bool(stands)))

    @property
    def unreported(self) -> tuple[str, ...]:
        """Contacts of which nothing is known."""
        return tuple(name for name, changes in self._changes.items() if not changes)

    def standing(self, time: float, after: float = 0.0, before: float = 0.0) -> tuple[str, ...] | None:
        """Return the contacts that stand.

        Args:
            time: s.
            after, before: s since a change and until the next one.

        Returns:
            Names; None if a contact changes in between, or is not known that long.
        """
        result = []
        for name, changes in self._changes.items():
            now = bisect_right(changes, time, key=_since) - 1
            if now < 0:
                return None
            changes_soon = now + 1 < len(changes) and changes[now + 1][0] < time + before
            if changes[now][0] > time - after or changes_soon:
                return None
            if changes[now][1]:
                result.append(name)
        return tuple(result)

    def forget(self, until: float) -> None:
        """Drop what was replaced by a time, s."""
        for changes in self._changes.values():
            while len(changes) > 1 and changes[1][0] <= until:
                del changes[0]

    def restart(self, time: float) -> None:
        """Time goes back to this, s: later reports count, and what had changed by then."""
        for name, changes in self._changes.items():
            if self._coming[name] or (changes and changes[-1][0] > time):
                self._changes[name] = self._coming[name]
            self._coming[name] = []
        self._newest = max((change[-1][0] for change in self._changes.values() if change), default=time)


def _since(change: tuple[float, bool]) -> float:
    return change[0]
