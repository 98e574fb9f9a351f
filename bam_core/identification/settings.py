# SPDX-License-Identifier: Apache-2.0
"""Settings of an identification: what is fitted, how it is searched for, what it is tested on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bam_core.errors import Conflict, Missing, OutOfRange, UnknownName
from bam_core.errors.field_types import require_field_types
from bam_core.identification.search.methods import DEFAULT_METHOD, MIN_EVALUATIONS, require_method
from bam_core.identification.search.schedule import DEFAULT_SCHEDULE, SearchSchedule
from bam_core.identification.uncertainty.tolerances import DEFAULT, Tolerances
from bam_core.identification.uncertainty.unit_prior import UnitPrior
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import resolve_effects
from bam_core.servo.friction import FRICTION_MODELS, FrictionModel, friction_model

_MAX_SEED = 2**32 - 1


@dataclass(frozen=True, kw_only=True)
class IdentifySettings:
    """Settings of `identify`. The constructor raises BamError if a name is unknown or a number out of range.

    Attributes:
        models: "all", or names of friction models.
        effects: which of `effects.EFFECTS` to fit besides motor and friction. None: those that the servo
            names. A bench effect among these is removed if it does not lower the selection error of the
            chosen model; a servo effect stays, because other gains than those of the logs may need it.
        test: the logs that no fit and no decision sees, see `split.split_recordings`. None: a random quarter
            from `split.ENOUGH` logs on.
        trials: largest number of simulations of all training logs per search, coarser steps included; at
            least MIN_EVALUATIONS. There is one search per model, and another of the chosen one without each
            of its effects. If it loses some, `ModelFit.trials` is the sum of both. None:
            `SearchSchedule.trials_per_parameter` per free parameter, more for a model with no simpler one
            near to start from.
        seed: of the search and of a random split, 0 to 2³² - 1.
        seeds: how many times to search and choose, each with the next seed and the same test logs. The first
            one is the result; `Identification.seeds` has the choices and errors of the others.
        search: "gauss-newton" (`search.gauss_newton_search`) or "cma-es", the method of BAM's authors
            (`search.cma_es`). Both have the same budget and objective. With both, selection refits to fewer
            logs by Gauss-Newton steps.
        uncertainty: "all", "none", or names of models whose parameters get standard errors and intervals. The
            chosen model always has them.
        tolerances: of the bench: largest header errors, which intervals include.
        prior: of the units of this servo's type. The search then is a descent from the typical unit to the
            parameters that are most probable under prior and logs. Its friction model is the only one fitted.
        schedule: settings of the search; for studies.
        strict: the first recording that cannot be used ends the call; else each is left out, with a warning.
    """

    models: str | Collection[str] = "all"
    effects: Collection[str] | None = None
    test: str | Sequence[Recording] | None = None
    trials: int | None = None
    seed: int = 0
    seeds: int = 1
    search: str = DEFAULT_METHOD
    uncertainty: str | Collection[str] = ()
    tolerances: Tolerances = DEFAULT
    prior: UnitPrior | None = None
    schedule: SearchSchedule = DEFAULT_SCHEDULE
    strict: bool = False

    def __post_init__(self) -> None:
        require_field_types(self)
        require_method(self.search)
        named_among(self.uncertainty, [model.name for model in self.friction_models])
        if self.prior is not None:
            self._require_prior(self.prior)
        if self.effects is not None:
            resolve_effects(self.effects)
        if self.trials is not None and self.trials < MIN_EVALUATIONS:
            raise OutOfRange(
                "trials", self.trials, f"at least {MIN_EVALUATIONS}", advice="leave it out for the default"
            )
        if self.seeds < 1:
            raise OutOfRange("seeds", self.seeds, "at least 1")
        if not 0 <= self.seed <= _MAX_SEED - self.seeds + 1:
            raise OutOfRange("seed", self.seed, f"0 to {_MAX_SEED - self.seeds + 1}")

    def _require_prior(self, prior: UnitPrior) -> None:
        own, names = prior.servo.friction_model, [model.name for model in self.friction_models]
        if names != [own]:
            raise Conflict(
                "models",
                f"{', '.join(names)}, and the prior is of {own}",
                advice=f"fit {own} alone, or take a prior of another model",
            )
        for field, value, default in (("search", self.search, DEFAULT_METHOD), ("trials", self.trials, None)):
            if value != default:
                raise Conflict(field, f"{value}, with a prior", advice="leave it out: a descent is enough")

    @property
    def friction_models(self) -> tuple[FrictionModel, ...]:
        """The models to fit, from M1 to M6."""
        return resolve_models(self.models)

    @property
    def with_uncertainty(self) -> tuple[str, ...]:
        """Names of models that get intervals even if they are not chosen."""
        return tuple(named_among(self.uncertainty, [model.name for model in self.friction_models]))

    @property
    def test_recordings(self) -> Sequence[Recording]:
        """Test logs given as such; empty if a rule chooses them."""
        return () if self.test is None or isinstance(self.test, str) else self.test


def resolve_models(models: str | Collection[str]) -> tuple[FrictionModel, ...]:
    """Return friction models by name, each once, from M1 to M6; "all" stands for all six.

    Raises:
        BamError: a name is unknown, or there is none.
    """
    names = [models] if isinstance(models, str) else list(models)
    if "all" in names:
        return tuple(FRICTION_MODELS.values())
    known = {friction_model(name.strip().lower()).name for name in names}
    if not known:
        raise Missing("model", f"all, or some of {', '.join(FRICTION_MODELS)}", advice="name some")
    return tuple(model for name, model in FRICTION_MODELS.items() if name in known)


def named_among(models: str | Collection[str], fitted: Sequence[str]) -> list[str]:
    """Return the named ones of the fitted models; "all" stands for all of them, "none" for none.

    Raises:
        UnknownName: a model is not fitted.
    """
    names = [models] if isinstance(models, str) else list(models)
    if names == ["none"]:
        return []
    named = fitted if "all" in names else [name.strip().lower() for name in names]
    for name in named:
        if name not in fitted:
            raise UnknownName("fitted model", name, fitted, advice="or fit it, too")
    return list(named)
