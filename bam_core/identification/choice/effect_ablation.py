# SPDX-License-Identifier: Apache-2.0
"""Effect ablation: the fit with and without each effect, compared in selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bam_core.identification.choice.choice import SAME, excess
from bam_core.identification.choice.evaluator import Evaluator
from bam_core.identification.choice.model_fit import EffectAblation, ModelFit
from bam_core.identification.fitting import Fit, Fitter, PlannedFit, fit_all
from bam_core.simulation.rollout import PARAMETERS

TRIALS_PER_PARAMETER = 50
"""Of a fit without an effect: it starts from the fit with it."""

MISSED = 0.05
"""Relative growth of the training error without an effect from which training logs miss it.

A parameter that describes nothing takes less away: its share is one over twice the count of independent
errors, of which each log holds several.
"""


def ablate_effects(
    fitter: Fitter, full: Fit, evaluator: Evaluator, *, prune: bool, trials: int | None
) -> tuple[Fit, tuple[EffectAblation, ...]]:
    """Fit again without each effect in turn, and drop those that neither selection nor training misses.

    Errors in selection must grow by more than the difference that is ignored between models (`choice.SAME`),
    errors in training by more than one parameter less explains (`MISSED`): with few logs, selection alone
    would drop by chance what every training log shows, as a zero that is 20 mrad off.

    Args:
        fitter: that made the fit.
        full: the fit with all effects.
        evaluator: computes a fit's errors.
        prune: drop effects; otherwise only report them.
        trials: of the fit with all effects, where they were limited.

    Returns:
        The fit to use (`full`, or one with fewer effects that is as good) and the ablations.
    """
    effects = full.effects
    evaluate = evaluator.evaluate
    reference = evaluate(full)
    refits = _refits(fitter, full, [_less(effects, [effect]) for effect in effects], trials)
    evaluator.prepare(refits)
    without = {effect: evaluate(fit) for effect, fit in zip(effects, refits, strict=True)}
    as_good = (1.0 + SAME) * reference.contender.error
    idle = [
        name
        for name, fit in without.items()
        if fit.contender.error <= as_good and fit.train_mae <= (1.0 + MISSED) * reference.train_mae
    ]
    used = full
    if prune and idle:
        (pruned,) = _refits(fitter, full, [_less(effects, idle)], trials)
        judged, most = evaluate(pruned), (1.0 + MISSED * len(idle)) * reference.train_mae
        if judged.contender.error <= as_good and judged.train_mae <= most:
            used = pruned
    ablations = tuple(
        _ablation(
            name, reference, fit, value=float(full.vector[PARAMETERS.index(name)]), used=used, prune=prune
        )
        for name, fit in without.items()
    )
    return used, ablations


def _refits(fitter: Fitter, full: Fit, choices: Sequence[Sequence[str]], trials: int | None) -> list[Fit]:
    """Fit again with each choice of effects."""
    made = fit_all([_planned(fitter, full, effects, trials) for effects in choices])
    # They go on where that one ended.
    return [
        replace(
            fit,
            result=replace(fit.result, evaluations=full.result.evaluations + fit.result.evaluations),
            limited=full.limited,
            seconds=full.seconds + fit.seconds,
        )
        for fit in made
    ]


def _planned(fitter: Fitter, full: Fit, effects: Sequence[str], trials: int | None) -> PlannedFit:
    start = full.vector.copy()
    for name in full.effects:
        if name not in effects:
            start[PARAMETERS.index(name)] = 0.0
    gone = ", ".join(_less(full.effects, effects))
    budget = TRIALS_PER_PARAMETER * (full.space.dimension - 1)
    return fitter.plan(
        full.model,
        trials=min(budget, trials or budget),
        effects=effects,
        starts=[start],
        label=f"{full.model.name} without {gone}",
    )


def _less(effects: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in effects if name not in others]


def _ablation(
    name: str, reference: ModelFit, without: ModelFit, *, value: float, used: Fit, prune: bool
) -> EffectAblation:
    _, chance = excess(without.contender.errors, reference.contender.errors)
    ablation = EffectAblation(
        name=name,
        value=value,
        train_mae=reference.train_mae,
        selection_mae=reference.contender.error,
        train_mae_without=without.train_mae,
        selection_mae_without=without.contender.error,
        chance=chance,
        kept=name in used.effects,
        reason="",
    )
    return replace(ablation, reason=_reason(ablation, prune))


def _reason(ablation: EffectAblation, prune: bool) -> str:
    if ablation.is_needed:
        return "needed: logs left out are followed worse without it"
    if not ablation.kept:
        return "dropped: logs left out are followed as well without it"
    if ablation.selection_mae_without > (1.0 + SAME) * ablation.selection_mae:
        chance = f"{1e3 * ablation.chance:.1f} mrad"
        return f"kept: logs left out are followed worse without it, but within chance ({chance})"
    if not prune:
        return "asked for: logs left out are followed as well without it"
    if ablation.train_mae_without > (1.0 + MISSED) * ablation.train_mae:
        return "kept: training logs are followed worse without it, though logs left out are not"
    return "kept: logs are followed as well without it, but not without all such effects"
