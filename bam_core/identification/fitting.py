# SPDX-License-Identifier: Apache-2.0
"""Fits of friction models to one set of training logs, each of which helps the next."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bam_core._version import __version__
from bam_core.identification.search.board import JobBoard
from bam_core.identification.search.refine import Refiner
from bam_core.identification.search.search import SearchResult, minimise
from bam_core.identification.search.space import SearchSpace, is_nested, search_space
from bam_core.identification.search.storage import open_study
from bam_core.recordings.recording import Recording
from bam_core.servo.friction import FRICTION_MODELS, FrictionModel
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.small_matrices import one_blas_thread

Array = NDArray[np.float64]

TRIALS_PER_PARAMETER = 800
"""Default budget of a model that starts from one it contains: simulations per free parameter."""

COLD_TRIALS_PER_PARAMETER = 1500
"""Default budget of a model that has nothing to start from."""

INTEGRATOR = "midpoint"
"""What parameters are fitted with, and what fitted servos say of themselves."""

_DRAFT_PERIODS = 2  # step of the draft simulation, in periods of the firmware


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where an identification stands.

    Attributes:
        model: being fitted.
        evaluation: simulations of all training logs done for it.
        evaluations: planned for it; it may do with fewer.
        best_mae: lowest training error so far, rad.
        seconds: spent on this model.
    """

    model: str
    evaluation: int
    evaluations: int
    best_mae: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The optimum of one friction model with some effects.

    Attributes:
        model: of friction.
        effects: that were free.
        space: that was searched.
        result: of the search.
        seconds: that it took.
        limited: it was given fewer trials than it takes by default.
    """

    model: FrictionModel
    effects: tuple[str, ...]
    space: SearchSpace
    result: SearchResult
    seconds: float
    limited: bool = False

    @property
    def vector(self) -> Array:
        """(PARAMETERS,) SI."""
        return self.result.vector


class Fitter:
    """Fits friction models to training logs and remembers their optima.

    Attributes:
        servo: whose firmware, search bounds and effects count.
        rollout: simulates the training logs.
    """

    def __init__(
        self,
        servo: ServoModel,
        train: Sequence[Recording],
        *,
        seed: int,
        storage: str | None = None,
        progress: Callable[[Progress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        prefix: str = "",
        workers: int | None = None,
    ) -> None:
        """Pack the logs.

        Args:
            servo: whose firmware, search bounds and effects count.
            train: logs.
            seed: of every search.
            storage: URL of a database in which searches are kept and shared; default memory.
            progress: called after every generation.
            cancelled: asked before every generation.
            prefix: of what progress calls its models.
            workers: threads of its simulations; default one per available processor.
        """
        self.servo = servo
        self.rollout = Rollout(train, firmware=servo.firmware, integrator=INTEGRATOR, workers=workers)
        # Steps this coarse move the optimum little and cost a quarter.
        self._draft = Rollout(
            train,
            firmware=servo.firmware,
            integrator=INTEGRATOR,
            dt=_DRAFT_PERIODS * servo.firmware.period,
            workers=workers,
        )
        self._seed = seed
        self._storage = storage
        self._progress = progress
        self._cancelled = cancelled
        self._prefix = prefix
        self._optima: dict[str, Array] = {}

    def fit(
        self,
        model: FrictionModel,
        *,
        trials: int | None = None,
        effects: Sequence[str] | None = None,
        starts: Sequence[Array] = (),
        label: str | None = None,
    ) -> Fit:
        """Fit one model.

        A model that contains an earlier one starts from that one's optimum as well, so that its training
        error is never the higher one.

        Args:
            model: of friction.
            trials: simulations of all training logs that it may take.
            effects: to fit besides; default the servo's.
            starts: vectors to start from instead of earlier optima: then there is no search all over the
                space.
            label: what progress calls it; default the model's name.
        """
        begin = time.monotonic()
        chosen = self.servo.effects if effects is None else effects
        space = search_space(model, self.rollout.recordings, self.servo.search, chosen)
        earlier = [vector for name, vector in self._optima.items() if is_nested(FRICTION_MODELS[name], model)]
        per_parameter = TRIALS_PER_PARAMETER if starts or earlier else COLD_TRIALS_PER_PARAMETER
        default = per_parameter * space.dimension
        budget = trials or default

        def report(evaluation: int, best: float) -> None:
            if self._progress is not None:
                self._progress(
                    Progress(
                        model=self._prefix + (label or model.name),
                        evaluation=evaluation,
                        evaluations=budget,
                        best_mae=best,
                        seconds=time.monotonic() - begin,
                    )
                )

        with one_blas_thread():
            result = minimise(
                lambda vectors: np.asarray(self.rollout.errors(vectors).mean(axis=1)),
                space,
                evaluations=budget,
                seed=self._seed,
                draft=lambda vectors: np.asarray(self._draft.errors(vectors).mean(axis=1)),
                starts=[space.vectors(space.point(start)[None])[0] for start in starts] or earlier,
                local=bool(starts),
                refine=Refiner(self.rollout, space).refine,
                refine_draft=Refiner(self._draft, space).refine,
                board=JobBoard(open_study(self._study_name(space, budget, starts), self._storage)),
                report=report,
                cancelled=self._cancelled,
            )
        if not starts:
            self._optima[model.name] = result.vector
        return Fit(
            model=model,
            effects=tuple(chosen),
            space=space,
            result=result,
            seconds=time.monotonic() - begin,
            limited=budget < default,
        )

    def _study_name(self, space: SearchSpace, budget: int, starts: Sequence[Array]) -> str:
        """Return a name that differs wherever the search could: processes that share it do the same one."""
        sources = sorted(log.sha256 for log in self.rollout.recordings)
        everything = (
            __version__,
            replace(self.servo, uncertainty={}).to_yaml(),
            sources,
            space.axes,
            budget,
            self._seed,
            [start.tolist() for start in starts],
            {name: vector.tolist() for name, vector in self._optima.items()},
        )
        digest = hashlib.sha256(repr(everything).encode()).hexdigest()[:12]
        return f"bam {self.servo.name} {digest}"
