# SPDX-License-Identifier: Apache-2.0
"""Egle, Whole-body Joint Friction Modeling in a Torque-controlled Humanoid Walking Robot, redone."""

from __future__ import annotations

from bam_core.reproduce._egle_differences import differences
from bam_core.reproduce._egle_exhibits import exhibits
from bam_core.reproduce._egle_experiment import experiment
from bam_core.reproduce._egle_filters import filters
from bam_core.reproduce._egle_identified import identified
from bam_core.reproduce._egle_inertia import wrong_inertia
from bam_core.reproduce._egle_parameters import clean_tables, noisy_tables
from bam_core.reproduce._egle_stance import stance
from bam_core.reproduce._egle_supports import supports
from bam_core.reproduce._egle_walks import walk_all
from bam_core.reproduce.redone import Redone, Task
from bam_core.whole_body import Sensors

_ROBOT = "sigmaban"
"""Folder with the recordings of the real humanoid."""


def run(task: Task) -> Redone:
    """Redo chapters 6 and 7; see `bam_core.reproduce.paper`."""
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
