# SPDX-License-Identifier: Apache-2.0
"""Egle, Whole-body Joint Friction Modeling in a Torque-controlled Humanoid Walking Robot, redone."""

from __future__ import annotations

from papers.egle.differences import differences
from papers.egle.exhibits import exhibits
from papers.egle.experiment import experiment
from papers.egle.filters import filters
from papers.egle.identified import identified
from papers.egle.inertia import wrong_inertia
from papers.egle.parameters import clean_tables, noisy_tables
from papers.egle.sensors import Sensors
from papers.egle.stance import stance
from papers.egle.supports import supports
from papers.egle.walks import walk_all
from papers.redone import Redone, Task

_ROBOT = "sigmaban"
"""Folder with the recordings of the real humanoid."""


def run(task: Task) -> Redone:
    """Redo chapters 6 and 7; see `papers.paper`."""
    output, say = task.output, task.say
    walks = walk_all(say)
    claims = supports(output, walks, say)
    claims += differences(output, walks, say)
    checks, clean = clean_tables(output, walks, say)
    claims += filters(output, walks, say)
    noisy = Sensors().measure(walks.legs.log).arranged(walks.robot)
    claims += stance(output, walks, noisy, say)
    claims += noisy_tables(output, walks, noisy, clean, say)
    claims += wrong_inertia(output, walks, say)
    checks += identified(output, walks, noisy, say)
    recordings = task.recordings(_ROBOT)
    unphysical = None
    if recordings is not None:
        of_squats, unphysical = experiment(output, recordings, say)
        checks += of_squats
    return Redone(claims=tuple(claims), exhibits=exhibits(unphysical), checks=tuple(checks))
