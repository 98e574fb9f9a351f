# SPDX-License-Identifier: Apache-2.0
"""What a search minimises, and where; and the training logs that it follows from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.meter import Objective
from bam_core.identification.search.refine import Refined, Refiner
from bam_core.identification.search.schedule import DEFAULT_SCHEDULE, SearchSchedule
from bam_core.identification.search.space import SearchSpace
from bam_core.recordings.recording import Recording
from bam_core.servo.firmware import PositionFirmware
from bam_core.simulation.rollout import PARAMETERS, Rollout

INTEGRATOR = "midpoint"
"""What parameters are fitted with, and what fitted servos say of themselves."""

_SHORTEST_STEP = 0.5e-3
"""s; with effects that need short steps, see `Rollout`."""

_SHORTEST_DRAFT_STEP = 2e-3

_SLEWED_DRAFT_STEP = 4e-3
"""s; where the time that set-points take is searched for. They turn round between steps: 4 ms leave
0.5 to 0.9 mrad."""


class Refine(Protocol):
    """From a vector to a likely better one nearby; see `refine.Refiner.refine`."""

    def __call__(self, vector: Array, evaluations: int, spend: Callable[[int], None]) -> Refined:
        """Descend from `vector` within `evaluations`, each told to `spend` before it is made."""
        ...


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What a search minimises, and where.

    Attributes:
        space: where to search.
        objective: what counts: the mean over training logs of the mean absolute position error, rad.
        error: the same with the search's own step, which is several periods of the firmware.
        refine: a descent with the search's own step.
        refine_draft: the same on the draft, for many points and along their valley.
        refine_finely: the last few steps, with a simulation step per period; None: `refine` has that.
        short: the error of the draft over its shortest horizon, which tells points all over the space apart.
        approach: descents of this error and of those over longer horizons, one after the other.
        schedule: how trials are spent.
    """

    space: SearchSpace
    objective: Objective
    error: Objective
    refine: Refine
    refine_draft: Refine
    refine_finely: Refine | None
    short: Objective
    approach: Sequence[Refine]
    schedule: SearchSchedule = DEFAULT_SCHEDULE


class TrainingData:
    """Training logs and how they are simulated.

    Attributes:
        recordings: one at least.
        firmware: position controller that ran during them.
        schedule: sets the steps of simulations.
    """

    def __init__(
        self,
        recordings: Sequence[Recording],
        firmware: PositionFirmware,
        schedule: SearchSchedule = DEFAULT_SCHEDULE,
    ) -> None:
        """Take note; logs are packed when they are first simulated."""
        self.recordings = tuple(recordings)
        self.firmware = firmware
        self.schedule = schedule

    def __reduce__(self) -> tuple[type[TrainingData], tuple[object, ...]]:
        return TrainingData, (self.recordings, self.firmware, self.schedule)  # packed logs stay here

    @cached_property
    def rollout(self) -> Rollout:
        """Simulates the logs, a step per period of the firmware: what errors are told by."""
        return self._rollout(self.recordings, self.firmware.period, _SHORTEST_STEP)

    @cached_property
    def search(self) -> Rollout:
        """Simulates the logs in a fifth of the time, of candidates without `goal_slew_time`."""
        return self._rollout(self.recordings, self.schedule.step, _SHORTEST_STEP, slew_first=True)

    @cached_property
    def draft(self) -> Rollout:
        """Simulates logs in steps so coarse that they cost half or less and move the optimum little."""
        logs = self._representative
        return self._rollout(logs, self.schedule.draft_step, _SHORTEST_DRAFT_STEP, slew_first=True)

    @cached_property
    def _slewed_draft(self) -> Rollout:
        return self._rollout(
            self._representative,
            _SLEWED_DRAFT_STEP,
            _SHORTEST_DRAFT_STEP,
        )

    @cached_property
    def _restarted(self) -> list[Rollout]:
        """Simulate as `draft` over each of the horizons; runs in open loop are restarted as often anyway."""
        logs, step = self._representative, self.schedule.draft_step
        return [
            self._rollout(logs, step, _SHORTEST_DRAFT_STEP, slew_first=True, restart=horizon)
            for horizon in self._horizons
        ]

    @cached_property
    def _slewed_restarted(self) -> list[Rollout]:
        logs = self._representative
        return [
            self._rollout(logs, _SLEWED_DRAFT_STEP, _SHORTEST_DRAFT_STEP, restart=horizon)
            for horizon in self._horizons
        ]

    @property
    def _representative(self) -> Sequence[Recording]:
        return representative(self.recordings, self.schedule.draft_recordings)

    @property
    def _horizons(self) -> tuple[float, ...]:
        open_loop = all(recording.open_loop for recording in self.recordings)
        return self.schedule.horizons[:1] if open_loop else self.schedule.horizons

    def _rollout(
        self,
        recordings: Sequence[Recording],
        longest: float,
        shortest: float,
        *,
        slew_first: bool = False,
        restart: float | None = None,
    ) -> Rollout:
        periods = max(int(longest / self.firmware.period + 1e-9), 1)
        step = periods * self.firmware.period
        return Rollout(
            recordings,
            firmware=self.firmware,
            integrator=INTEGRATOR,
            periods=periods,
            substeps=math.ceil(step / longest - 1e-9),
            short_substeps=math.ceil(step / shortest - 1e-9),
            slew_first=slew_first,
            restart=restart,
        )

    def fast(self, space: SearchSpace) -> Rollout:
        """Return the fastest simulation that is as exact as a search has to be: `search`, or `rollout`."""
        return self.rollout if self._slews(space) else self.search

    @staticmethod
    def _slews(space: SearchSpace) -> bool:
        return bool(
            space.base[PARAMETERS.index("goal_slew_time")]
            or any("goal_slew_time" in axis.targets for axis in space.axes)
        )

    def problem(self, space: SearchSpace) -> Problem:
        """Return the search for the parameters that follow these logs best."""
        rollout, exact = self.fast(space), self.rollout
        slews = self._slews(space)
        draft = self._slewed_draft if slews else self.draft
        restarted = self._slewed_restarted if slews else self._restarted
        return Problem(
            space=space,
            objective=lambda vectors: np.asarray(exact.errors(vectors).mean(axis=1)),
            error=lambda vectors: np.asarray(rollout.errors(vectors).mean(axis=1)),
            refine=Refiner(rollout, space).refine,
            refine_draft=Refiner(draft, space).refine,
            refine_finely=Refiner(exact, space).slide if rollout is not exact else None,
            short=lambda vectors: np.asarray(restarted[0].errors(vectors).mean(axis=1)),
            approach=[Refiner(each, space).slide for each in restarted],
            schedule=self.schedule,
        )


def representative(recordings: Sequence[Recording], most: int) -> Sequence[Recording]:
    """Return so many recordings or fewer, spread evenly over scripts, loads and gains; all where few.

    Args:
        recordings: one at least.
        most: to return.
    """
    if len(recordings) <= most:
        return recordings
    kinds = sorted(range(len(recordings)), key=lambda i: _kind(recordings[i]))
    chosen = sorted(kinds[len(recordings) * i // most] for i in range(most))
    return [recordings[i] for i in chosen]


def _kind(recording: Recording) -> tuple[str, float, float, str]:
    bench = recording.bench
    return recording.script, bench.gravity_torque + bench.flywheel, recording.kp, recording.name
