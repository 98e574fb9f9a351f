# SPDX-License-Identifier: Apache-2.0
"""Effect ablation: the fit with and without each effect, compared in selection.

Effects of the bench are dropped where recordings do not need them; those that a servo's file names are the
servo's own and stay. Logs at some gains do not show what is needed at others: of an XL330 whose models were
fitted to kp 100 and 200, `winding_heating` was dropped in half of the fits, which then missed kp 800 by 18 to
24 mrad instead of 12 to 15.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from bam_core.identification.choice.choice import SAME, excess
from bam_core.identification.choice.evaluator import Evaluator
from bam_core.identification.choice.model_fit import EffectAblation, ModelFit
from bam_core.identification.fitting import Fitter
from bam_core.identification.planned_fit import Fit, PlannedFit, fit_all
from bam_core.simulation.rollout import PARAMETERS

TRIALS_PER_PARAMETER = 50
"""Of a fit without an effect: it starts from the fit with it."""

MISSED = 0.05
"""Relative increase of the training error above which an effect is kept.

Removing a meaningless parameter changes the error by less: by about 1/(2n) for n independent errors, of which
each log holds several.
"""

HARMS = 2.0
"""Standard errors by which the error in selection must fall without an effect that training seems to need.

Such an effect fits noise of the training logs. Two standard errors: about one chance in forty.
"""


def ablate_effects(
    fitter: Fitter, full: Fit, evaluator: Evaluator, *, droppable: Collection[str], trials: int | None
) -> tuple[Fit, tuple[EffectAblation, ...]]:
    """Refit without each effect in turn; drop all effects that neither selection nor training needs, or none.

    An effect is needed if without it the error in selection grows by more than `choice.SAME`, or that in
    training by more than `MISSED`. Selection alone is not enough: with few logs it would drop by chance an
    effect that every training log shows, such as a zero offset of 20 mrad. Where selection is better without
    it by `HARMS` standard errors, training does not count. If the fit without all of them is worse, the one
    goes alone that selection is best without.

    Args:
        fitter: that made the fit.
        full: the fit with all effects.
        evaluator: computes a fit's errors.
        droppable: effects that may be dropped; the others are only reported.
        trials: of the fit with all effects, where they were limited.

    Returns:
        The fit to use (`full`, or one with fewer effects that is as good) and the ablations.
    """
    effects = full.effects
    evaluate = evaluator.evaluate
    reference = evaluate(full)
    refits = _refits(fitter, full, [_without(effects, [effect]) for effect in effects], trials)
    evaluator.prepare(refits)
    without = {effect: evaluate(fit) for effect, fit in zip(effects, refits, strict=True)}
    as_good = (1.0 + SAME) * reference.contender.error
    unneeded = [
        name
        for name, fit in without.items()
        if name in droppable
        and fit.contender.error <= as_good
        and (fit.train_mae <= (1.0 + MISSED) * reference.train_mae or _harms(reference, fit))
    ]
    used = full
    if unneeded:
        (pruned,) = _refits(fitter, full, [_without(effects, unneeded)], trials)
        evaluated = evaluate(pruned)
        most = (1.0 + MISSED * len(unneeded)) * reference.train_mae
        fits_well = evaluated.train_mae <= most or _harms(reference, evaluated)
        if evaluated.contender.error <= as_good and fits_well:
            used = pruned
        else:
            best = min(unneeded, key=lambda name: without[name].contender.error)
            if without[best].contender.error < (1.0 - SAME) * reference.contender.error:
                used = refits[effects.index(best)]
    ablations = tuple(
        _ablation(
            name,
            reference,
            fit,
            value=float(full.vector[PARAMETERS.index(name)]),
            used=used,
            droppable=name in droppable,
        )
        for name, fit in without.items()
    )
    return used, ablations


def _harms(reference: ModelFit, without: ModelFit) -> bool:
    """Return whether selection is clearly better without the effect."""
    if not reference.selection or len(reference.selection) < 2:
        return False
    gain, error = excess(reference.contender.errors, without.contender.errors)
    return gain > max(HARMS * error, SAME * reference.contender.error)


def _refits(fitter: Fitter, full: Fit, choices: Sequence[Sequence[str]], trials: int | None) -> list[Fit]:
    """Fit again with each choice of effects."""
    made = fit_all([_planned(fitter, full, effects, trials) for effects in choices])
    # They go on where that one ended.
    return [
        replace(
            fit,
            result=replace(fit.result, evaluations=full.result.evaluations + fit.result.evaluations),
            budget=full.budget + fit.budget,
            limited=full.limited,
            seconds=full.seconds + fit.seconds,
        )
        for fit in made
    ]


def _planned(fitter: Fitter, full: Fit, effects: Sequence[str], trials: int | None) -> PlannedFit:
    gone = ", ".join(_without(full.effects, effects))
    budget = TRIALS_PER_PARAMETER * (full.space.dimension - 1)
    return fitter.plan(
        full.model,
        trials=min(budget, trials or budget),
        effects=effects,
        starts=[full.vector],  # of which the search takes what it varies
        label=f"{full.model.name} without {gone}",
    )


def _without(effects: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in effects if name not in others]


def _ablation(
    name: str, reference: ModelFit, without: ModelFit, *, value: float, used: Fit, droppable: bool
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
        kind="",
        compared="selection" if reference.selection else "training",
    )
    return replace(ablation, kind=_kind(ablation, droppable=droppable))


def _kind(ablation: EffectAblation, *, droppable: bool) -> str:
    """Return why an effect is kept or not, see `AblationVerdict`."""
    if ablation.is_needed:
        return "needed"
    if not ablation.kept:
        return "dropped"
    if ablation.selection_mae_without > (1.0 + SAME) * ablation.selection_mae:
        return "within_chance"
    if not droppable:
        return "requested"
    if ablation.train_mae_without > (1.0 + MISSED) * ablation.train_mae:
        return "needed_in_training"
    return "needed_together"
