# SPDX-License-Identifier: Apache-2.0
"""How far a step of the demo is: a bar at a terminal, whole lines elsewhere, such as under `ros2 launch`."""

from __future__ import annotations

import sys
from types import TracebackType

from tqdm import tqdm

_BAR = "{desc:<64}{percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


class Stage:
    """One step; a context manager.

    Args:
        name: in words.
        total: what `go` counts to.
    """

    def __init__(self, name: str, total: float) -> None:
        self._bar = tqdm(total=total, desc=name, bar_format=_BAR, disable=None)
        self._total = total
        self._printed: set[str] = set()
        self._print_once(name)

    def go(self, done: float, words: str, line: str = "", total: float | None = None) -> None:
        """Show how far it is; never back.

        Args:
            done: of the total.
            words: what is being done, beside the bar.
            line: what is printed, once, where there is no bar; empty: nothing.
            total: where that has become known.
        """
        self._total = total or self._total
        self._print_once(line)
        if self._bar.disable:
            return
        self._bar.total = self._total
        self._bar.n = max(self._bar.n, done)
        self._bar.set_description(words)

    def end(self, words: str) -> None:
        """Show that it is done, and how it ended."""
        self.go(self._total, words, words)

    def __enter__(self) -> Stage:
        """Give the stage."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the bar's line."""
        self._bar.close()

    def _print_once(self, line: str) -> None:
        if self._bar.disable and line and line not in self._printed:
            self._printed.add(line)
            print(line, file=sys.stderr, flush=True)
