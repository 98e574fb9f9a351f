# SPDX-License-Identifier: Apache-2.0
"""What every effect is worth: the fit with and without it, judged by held-out logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bam_core.identification.choice.choice import SAME, excess
from bam_core.identification.choice.model_fit import EffectWeight, ModelFit
from bam_core.identification.fitting import Fit, Fitter
from bam_core.simulation.rollout import PARAMETERS

Array = NDArray[np.float64]

TRIALS_PER_PARAMETER = 50
"""Of a fit without an effect: it starts from the fit with it."""


def weigh_effects(
    fitter: Fitter, full: Fit, judge: Callable[[Fit], ModelFit], *, prune: bool, trials: int | None
) -> tuple[Fit, tuple[EffectWeight, ...]]:
    """Fit anew without each effect in turn, and drop those that held-out logs do not miss.

    An effect must earn its place: the held-out error must grow without it, by more than a difference that
    does not count between models either (`choice.SAME`).

    Args:
        fitter: that made the fit.
        full: the fit with all effects.
        judge: tells a fit's errors.
        prune: drop effects; else they are weighed only.
        trials: of the fit with all effects, where they were limited.

    Returns:
        The fit to use: `full`, or one with fewer effects that is as good on held-out logs. And the weights.
    """
    effects = full.effects
    reference = judge(full)
    without = {effect: judge(_refit(fitter, full, _less(effects, [effect]), trials)) for effect in effects}
    as_good = (1.0 + SAME) * reference.validation_mae
    idle = [name for name, fit in without.items() if fit.validation_mae <= as_good]
    used = full
    if prune and idle:
        pruned = _refit(fitter, full, _less(effects, idle), trials)
        if judge(pruned).validation_mae <= as_good:
            used = pruned
    weights = tuple(
        _weight(
            name, reference, fit, value=float(full.vector[PARAMETERS.index(name)]), used=used, prune=prune
        )
        for name, fit in without.items()
    )
    return used, weights


def _refit(fitter: Fitter, full: Fit, effects: Sequence[str], trials: int | None) -> Fit:
    start = full.vector.copy()
    for name in full.effects:
        if name not in effects:
            start[PARAMETERS.index(name)] = 0.0
    gone = ", ".join(_less(full.effects, effects))
    budget = TRIALS_PER_PARAMETER * (full.space.dimension - 1)
    fit = fitter.fit(
        full.model,
        trials=min(budget, trials or budget),
        effects=effects,
        starts=[start],
        label=f"{full.model.name} without {gone}",
    )
    # It goes on where that one ended.
    return replace(
        fit,
        result=replace(fit.result, evaluations=full.result.evaluations + fit.result.evaluations),
        limited=full.limited,
        seconds=full.seconds + fit.seconds,
    )


def _less(effects: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in effects if name not in others]


def _weight(
    name: str, reference: ModelFit, without: ModelFit, *, value: float, used: Fit, prune: bool
) -> EffectWeight:
    _, chance = excess(without.held_out, reference.held_out)
    weight = EffectWeight(
        name=name,
        value=value,
        train_mae=reference.train_mae,
        validation_mae=reference.validation_mae,
        train_mae_without=without.train_mae,
        validation_mae_without=without.validation_mae,
        chance=chance,
        kept=name in used.effects,
        reason="",
    )
    return replace(weight, reason=_reason(weight, prune))


def _reason(weight: EffectWeight, prune: bool) -> str:
    if weight.is_needed:
        return "needed: held-out logs are followed worse without it"
    if not weight.kept:
        return "dropped: held-out logs are followed as well without it"
    if weight.validation_mae_without > (1.0 + SAME) * weight.validation_mae:
        chance = f"{1e3 * weight.chance:.1f} mrad"
        return f"kept: held-out logs are followed worse without it, but within chance ({chance})"
    if not prune:
        return "asked for: held-out logs are followed as well without it"
    return "kept: held-out logs are followed as well without it, but not without all such effects"
