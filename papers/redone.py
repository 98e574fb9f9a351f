# SPDX-License-Identifier: Apache-2.0
"""What redoing a paper takes and gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from papers.claim import Claim
from papers.tally import Extent, Tally

_NUMBERED = re.compile(r"(fig\.|table) ([0-9.]+|[IVX]+)")

DEVICES: Mapping[str, str] = MappingProxyType(
    {
        "xl330": "github.com/Rhoban/bam, bam/data.bak/raw",
        "sts3215": "github.com/kscalelabs/sysid, recordings of 2025-03-17",
        "sigmaban": "github.com/MarcDcls/WholeBodyBAM, replays as CSV: time, goal:JOINT, read:JOINT",
        "dynaban_mx64": "github.com/RhobanProject/Dynaban, model/measures",
    }
)
"""Folder with recordings that some paper takes -> where they can be had."""


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
    """A figure or a table of a paper; or beside these a statement of it, or what was added here.

    Attributes:
        name: as the paper numbers it, such as "fig. 5".
        subject: what it shows, in a few words.
        redone: whether it is, at least in part.
        missing: what of it is not redone, and why; empty where all is.
        remark: in which setting and with what difference; where it is not redone, why, and
            what it would take.
        pictures: files in the output that show it.
        captions: of the pictures, in the same order; where there is one picture, `subject` will do.
        table: figures that go with it, a row each after a header; empty where there are none.

    Raises:
        ValueError: something is missing of what is not redone at all, or captions and pictures differ in
            number.
    """

    name: str
    subject: str
    redone: bool = True
    missing: str = ""
    remark: str
    pictures: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.missing and not self.redone:
            raise ValueError(f"{self.name!r}: is not redone at all, so that `remark` says why")
        if self.captions and len(self.captions) != len(self.pictures):
            raise ValueError(f"{self.name!r}: needs a caption for each of {self.pictures}")

    @property
    def extent(self) -> Extent:
        """How far it is redone."""
        if not self.redone:
            return "no"
        return "in part" if self.missing else "yes"

    @property
    def is_numbered(self) -> bool:
        """Whether it is a figure or a table of the paper; only these are counted."""
        return _NUMBERED.fullmatch(self.name) is not None


@dataclass(frozen=True, kw_only=True)
class Redone:
    """A paper redone.

    Attributes:
        claims: what it says beside what was found.
        exhibits: all of its figures and tables; lemmas, remarks and what was added.
        checks: rows that are no statement of the paper, such as a parameter that is identified beside the one
            that the simulation has; counted apart, in no number of claims.
        notes: what several claims have in common, such as a rule that their thresholds refer to; said once.

    Raises:
        ValueError: a claim of which the paper says nothing; that is a check.
    """

    claims: tuple[Claim, ...]
    exhibits: tuple[Exhibit, ...]
    checks: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for claim in self.claims:
            if claim.paper is None:
                raise ValueError(f"{claim.claim!r}: is no statement of the paper; it belongs to checks")

    def counts(self) -> Tally:
        """Return claims by kind and by outcome, and what is not redone."""
        numbered = [exhibit.extent for exhibit in self.exhibits if exhibit.is_numbered]
        beside = [exhibit.extent for exhibit in self.exhibits if not exhibit.is_numbered]
        return Tally.of(self.claims, numbered, beside, self.checks)
