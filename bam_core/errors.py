# SPDX-License-Identifier: Apache-2.0
"""The root of every error that a user can cause."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BamError(Exception):
    """A mistake in what the user gave, told in one line.

    The message has the shape ``thing: what is wrong (what was expected); what to do``. The command line
    prints it on standard error and exits with status 2; nodes log it. It never needs a traceback.
    """


class Terminated(KeyboardInterrupt):
    """SIGTERM, where a command ends on it as on Ctrl-C; the exit status tells them apart."""


def unknown_name(kind: str, name: object, valid: Iterable[str]) -> BamError:
    """Build the error for a name that does not exist: it lists the valid ones and the closest of them.

    Args:
        kind: what is named, such as ``"friction model"``.
        name: what was given.
        valid: the names that exist.
    """
    names = sorted(valid)
    folded = {candidate.casefold(): candidate for candidate in names}
    close = difflib.get_close_matches(str(name).casefold(), list(folded), n=1)
    advice = f"did you mean {folded[close[0]]!r}?" if close else "choose one of these"
    return BamError(f"{kind} {str(name)!r}: unknown (valid: {', '.join(names)}); {advice}")
