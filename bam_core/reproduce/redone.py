# SPDX-License-Identifier: Apache-2.0
"""What redoing a paper takes and gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bam_core.reproduce.claim import KINDS, Claim

_KIND_WORDS = {"construction": "by construction", "synthetic": "on synthetic data", "real": "on real data"}


DEVICES = ("xl330", "sts3215", "sigmaban", "dynaban_mx64")
"""Folders with recordings that some paper takes."""


def _say_nothing(words: str) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Task:
    """A paper to redo.

    Attributes:
        output: directory for plots.
        data: directory with recordings of real devices, a folder per device; None where there are none.
        say: told what is being done, in a few words.
    """

    output: Path
    data: Path | None = None
    say: Callable[[str], None] = _say_nothing

    def recordings(self, device: str) -> Path | None:
        """Return the folder with the recordings of a device, None where there is none."""
        folder = self.data / device if self.data is not None else None
        return folder if folder is not None and folder.is_dir() else None


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """A figure, a table or a numbered statement of a paper.

    Attributes:
        name: as the paper numbers it, such as "fig. 5".
        subject: what it shows, in a few words.
        redone: whether it is.
        remark: in which setting and with what difference; where it is not redone, why, and
            what it would take.
        pictures: files in the output that show it.
        table: a header and rows of text that the page shows; empty: none.
    """

    name: str
    subject: str
    redone: bool = True
    remark: str
    pictures: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Redone:
    """A paper redone.

    Attributes:
        claims: what it says beside what was found.
        exhibits: all of its figures and tables.
    """

    claims: tuple[Claim, ...]
    exhibits: tuple[Exhibit, ...]

    def counts(self) -> str:
        """Return one line: claims by kind, those contradicted, exhibits that were not redone."""
        parts = []
        for kind in KINDS:
            chosen = [each for each in self.claims if each.kind == kind]
            held = sum(each.holds for each in chosen)
            parts.append(f"{len(chosen)} {_KIND_WORDS[kind]} ({held} hold)")
        contradicted = sum(each.contradicts for each in self.claims)
        missing = sum(not each.redone for each in self.exhibits)
        return (
            f"{', '.join(parts)}; {contradicted} contradicted;"
            f" {missing} of {len(self.exhibits)} figures and tables not redone"
        )
