# SPDX-License-Identifier: Apache-2.0
"""Which benches a search can take: with steps as long as is exact enough, and ways that take less time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from bam_core.robot.benches import SearchBenches
from bam_core.robot.deviations import NO_DEVIATIONS
from bam_core.robot.engine_rollout import DivergedError
from bam_core.robot.one_joint import OneJointBench
from bam_core.robot.result import RobotTask
from bam_core.robot.simulation import RobotBench
from bam_core.simulation.threads import allowed_threads

_SEARCH_STEPS = (4e-3, 2e-3)  # s; a search takes the longest that is exact enough, else the bench's own
_EXACT = 0.5e-3  # rad, mean, from the motion with the bench's step: a third of an encoder's count of 4096
_LIKE = 2e-3  # rad, likewise, of a bench for derivatives: a tenth of by how much joints miss their goals
_QUICK_STEP = 4e-3  # s, of that bench
_LEAD, _SETTLING = 0.5, 0.5  # s before the interval that counts; s at rest before that
_ALONE = 2e-3  # rad, mean, off the engine: where a joint sticks is decided by little; usual: 0.1 to 0.6 mrad
_COUPLED = 10e-3  # rad, likewise, by which the whole robot may move otherwise than its joints one at a time
_TRIED = 10.0  # s of a run


def search_benches(task: RobotTask, names: Sequence[str]) -> SearchBenches:
    """Return the benches for a task.

    Args:
        task: robot, servos and runs.
        names: of the unknowns.

    Raises:
        BamError: the first run cannot be simulated.
    """
    search = _search_bench(task)
    one_joint = _one_joint(task, search, names)
    return SearchBenches(search=search, quick=_quick_bench(task, search) if one_joint is None else one_joint)


def _one_joint(task: RobotTask, search: RobotBench, names: Sequence[str]) -> OneJointBench | None:
    """Return a bench of one joint at a time; None where it does not do what the engine does."""
    if search.others == "measured":
        return None
    begin = task.train[0]
    first = begin.time[begin.counts][0]
    tried = replace(begin, interval=(float(first), float(first + _TRIED)))
    small = OneJointBench.make(search, [tried], task.joints, task.given, ())
    if small is None or any(len(run.restarts) for run in task.train):
        return None
    columns = [tried.column(joint) for joint in task.joints]
    with ThreadPoolExecutor(allowed_threads()) as pool:
        positions = small.positions(pool, [tried], [(task.given, NO_DEVIATIONS)])[tried.name]
    alone = positions[0][tried.counts]
    for there_by, largest in ((replace(search, others="measured"), _ALONE), (search, _COUPLED)):
        there = there_by.simulate(tried, task.given)[tried.counts][:, columns]
        if not np.abs(there - alone).mean() < largest:
            return None
    return OneJointBench.make(search, task.runs, task.joints, task.given, names, task.table)


def _search_bench(task: RobotTask) -> RobotBench:
    """Return a bench with the longest steps that simulate the first run as the bench itself does."""
    run = task.train[0]
    servos = task.given
    columns = [run.column(joint) for joint in task.joints]
    exact = task.bench.coarser(task.bench.step, settling=_SETTLING, lead=_LEAD)
    there = exact.simulate(run, servos)[run.counts][:, columns]
    for step in _SEARCH_STEPS:
        if step > task.bench.step:
            search = task.bench.coarser(step, settling=_SETTLING, lead=_LEAD)
            if np.abs(search.simulate(run, servos)[run.counts][:, columns] - there).mean() < _EXACT:
                return search
    return exact


def _quick_bench(task: RobotTask, search: RobotBench) -> RobotBench | None:
    """Return a bench that does without the engine's search for contacts that do not slip; None without one.

    That search takes four fifths of the time of a humanoid with both feet on the floor. Stiffer friction of
    contacts lets feet slip nearly as little: positions in squats differ by 1 mrad, but by 5 with neither.
    """
    if not search.spec.option.noslip_iterations:
        return None
    run, columns = task.train[0], [task.train[0].column(joint) for joint in task.joints]
    quick = search.stiff_contacts(max(_QUICK_STEP, search.step))
    right = search.simulate(run, task.given)[run.counts][:, columns]
    try:
        off = quick.simulate(run, task.given)[run.counts][:, columns] - right
    except DivergedError:
        return None
    return quick if np.abs(off).mean() < _LIKE else None
