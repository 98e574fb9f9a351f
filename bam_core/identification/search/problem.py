# SPDX-License-Identifier: Apache-2.0
"""The objective and the simulations of a search, and the training logs behind them."""

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
from bam_core.simulation.rollout_settings import RolloutSettings

INTEGRATOR = "midpoint"
"""Integrator of all fits; files of fitted servos name it."""

_SHORT_STEP = 0.5e-3
"""Longest step with effects that need short steps, s; see `Rollout`."""

_SHORT_DRAFT_STEP = 2e-3
"""The same on the draft, s."""

_SLEWED_DRAFT_STEP = 4e-3
"""Longest step of a draft that searches for `goal_slew_time`, s.

Set-points reverse between steps: with 4 ms, the discretisation error is 0.5 to 0.9 mrad.
"""


class Refine(Protocol):
    """A descent from one parameter vector; see `refine.Refiner.refine`."""

    def __call__(self, vector: Array, evaluations: int, spend: Callable[[int], None]) -> Refined:
        """Descend from `vector` (PARAMETERS,) with at most `evaluations`; call `spend` before each."""
        ...


@dataclass(frozen=True, kw_only=True)
class Problem:
    """The objective of a search, its approximations and the descents on them.

    Attributes:
        space: free parameters and their ranges.
        objective: mean over training logs of the mean absolute position error, rad, with one simulation step
            per firmware period.
        error: the same with the simulation step of the search, which is several periods.
        refine: a descent with the simulation step of the search.
        refine_draft: a descent on the draft, for many points and for hops.
        refine_finely: the last few steps, with one simulation step per period; None: `refine` has that step.
        short: error of the draft over its shortest horizon, to compare points of the whole space.
        approach: descents on the draft over each horizon, the shortest first.
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
        """Keep logs and settings; logs are packed when they are first simulated."""
        self.recordings = tuple(recordings)
        self.firmware = firmware
        self.schedule = schedule

    def __reduce__(self) -> tuple[type[TrainingData], tuple[object, ...]]:
        return TrainingData, (self.recordings, self.firmware, self.schedule)  # packed logs stay here

    @cached_property
    def rollout(self) -> Rollout:
        """Simulates the logs with one step per firmware period; reported errors come from it."""
        return self._rollout(self.recordings, self.firmware.period, _SHORT_STEP)

    @cached_property
    def search(self) -> Rollout:
        """Simulates the logs in a fifth of the time; for candidates without `goal_slew_time`."""
        return self._rollout(self.recordings, self.schedule.step, _SHORT_STEP, slew_first=True)

    @cached_property
    def draft(self) -> Rollout:
        """Simulates representative logs with longer steps: at most half the cost, nearly the same optimum."""
        logs = self._representative
        return self._rollout(logs, self.schedule.draft_step, _SHORT_DRAFT_STEP, slew_first=True)

    @cached_property
    def _slewed_draft(self) -> Rollout:
        return self._rollout(
            self._representative,
            _SLEWED_DRAFT_STEP,
            _SHORT_DRAFT_STEP,
        )

    @cached_property
    def _restarted(self) -> list[Rollout]:
        """Simulate as `draft`, over each horizon; in open loop over the shortest one alone."""
        logs, step = self._representative, self.schedule.draft_step
        return [
            self._rollout(logs, step, _SHORT_DRAFT_STEP, slew_first=True, restart=horizon)
            for horizon in self._horizons
        ]

    @cached_property
    def _slewed_restarted(self) -> list[Rollout]:
        logs = self._representative
        return [
            self._rollout(logs, _SLEWED_DRAFT_STEP, _SHORT_DRAFT_STEP, restart=horizon)
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
        short: float,
        *,
        slew_first: bool = False,
        restart: float | None = None,
    ) -> Rollout:
        """Return the simulation of recordings in steps of whole firmware periods.

        Args:
            recordings: at least one.
            longest: largest integrator step, s; a longer period is divided.
            short: the same with effects that need short steps, s.
            slew_first: see `Rollout`.
            restart: see `Rollout`.
        """
        periods = max(int(longest / self.firmware.period + 1e-9), 1)
        step = periods * self.firmware.period
        return Rollout(
            recordings,
            self.firmware,
            RolloutSettings(
                integrator=INTEGRATOR,
                periods=periods,
                substeps=math.ceil(step / longest - 1e-9),
                short_substeps=math.ceil(step / short - 1e-9),
                slew_first=slew_first,
                restart=restart,
            ),
        )

    def fast(self, space: SearchSpace) -> Rollout:
        """Return the fastest simulation that is exact enough for a search: `search` or `rollout`."""
        return self.rollout if self._slews(space) else self.search

    @staticmethod
    def _slews(space: SearchSpace) -> bool:
        return bool(
            space.base[PARAMETERS.index("goal_slew_time")]
            or any("goal_slew_time" in axis.targets for axis in space.axes)
        )

    def problem(self, space: SearchSpace) -> Problem:
        """Return the problem of the parameters in this space that fit these logs best."""
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
            approach=[Refiner(rollout, space).slide for rollout in restarted],
            schedule=self.schedule,
        )


def representative(recordings: Sequence[Recording], most: int) -> Sequence[Recording]:
    """Return recordings that are spread evenly over scripts, loads and gains; all if there are few.

    Args:
        recordings: at least one.
        most: largest number to return.
    """
    if len(recordings) <= most:
        return recordings
    by_kind = sorted(range(len(recordings)), key=lambda i: _kind(recordings[i]))
    chosen = sorted(by_kind[len(recordings) * i // most] for i in range(most))
    return [recordings[i] for i in chosen]


def _kind(recording: Recording) -> tuple[str, float, float, str]:
    bench = recording.bench
    return recording.script, bench.gravity_torque + bench.flywheel, recording.kp, recording.name
