# SPDX-License-Identifier: Apache-2.0
"""Which papers can be redone, and how.

The module of a paper has one function::

    def run(task: Task) -> Redone: ...

It draws its plots into `task.output` and calls `task.say` with what it is about to do, in a few words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import cast

from bam_core.errors import UnknownName
from papers.redone import Redone, Task


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper.

    Attributes:
        name: what the user types.
        title: authors, title, year.
        module: where it is redone, imported when chosen.
    """

    name: str
    title: str
    module: str


PAPERS: Mapping[str, Paper] = MappingProxyType(
    {
        paper.name: paper
        for paper in (
            Paper(
                name="bam",
                title="Duclusaud, Passault, Padois, Ly, Extended Friction Models for the Physics Simulation"
                " of Servo Actuators, 2024",
                module="papers.bam.redo",
            ),
            Paper(
                name="kikuuwe",
                title="Kikuuwe, Dynamics Modeling of Gear Transmissions with Asymmetric Load-Dependent"
                " Friction, 2022",
                module="papers.kikuuwe.redo",
            ),
            Paper(
                name="egle",
                title="Egle, Whole-body Joint Friction Modeling in a Torque-controlled Humanoid Walking"
                " Robot, 2021",
                module="papers.egle.redo",
            ),
            Paper(
                name="dynaban",
                title="Fabre, Rouxel, Passault, N'Guyen, Ly, Dynaban, an Open-Source Alternative Firmware for"
                " Dynamixel Servo-Motors, 2016",
                module="papers.dynaban.redo",
            ),
        )
    }
)
"""By name."""


def reproduce(name: str, task: Task) -> Redone:
    """Redo a paper: draw its plots and return what it claims beside what was found.

    Args:
        name: key in PAPERS.
        task: where plots go, which recordings there are, and who is told what is being done.

    Raises:
        BamError: no such paper, the directory cannot be written to, or recordings cannot be read.
    """
    if name not in PAPERS:
        raise UnknownName("paper", name, PAPERS)
    run = cast("Callable[[Task], Redone]", import_module(PAPERS[name].module).run)
    task.output.mkdir(parents=True, exist_ok=True)
    return run(task)
