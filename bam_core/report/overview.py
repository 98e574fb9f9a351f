# SPDX-License-Identifier: Apache-2.0
"""What a reader should know first: the figures of the chosen model, what to beware of, what is not there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bam_core.report.names import words
from bam_core.report.numbers import mrad
from bam_core.report.parameters import not_identifiable
from bam_core.report.results import Results

_SAME = 0.02  # relative difference of held-out errors that does not count: as `identification.choice` has it


@dataclass(frozen=True, kw_only=True)
class Tile:
    """One figure with what it is and what it means."""

    label: str
    value: str
    unit: str
    note: str


def tiles(results: Results) -> list[Tile]:
    """Return the figures of the chosen model."""
    best = results.best
    held_out = sum(log.held_out for log in results.logs.values())
    unknown = not_identifiable(best)
    return [
        Tile(
            label="Validation error",
            value=mrad(best.validation_mae),
            unit=f"± {mrad(error)} mrad" if math.isfinite(error := best.standard_error) else "mrad",
            note=f"{math.degrees(best.validation_mae):.2g}° on {_count(held_out, 'held-out log')}",
        ),
        Tile(
            label="Training error",
            value=mrad(best.train_mae),
            unit="mrad",
            note=f"on {_count(len(results.logs) - held_out, 'log')}",
        ),
        _against_simplest(results),
        Tile(
            label="Parameters",
            value=str(len(best.parameters)),
            unit="",
            note=f"{len(unknown)} not identifiable" if unknown else _known(results),
        ),
    ]


def warnings(results: Results) -> list[str]:
    """Return what a reader should beware of before using the chosen model, one sentence each."""
    best = results.best
    found = []
    if best.ended_early:
        found.append(
            "The search spent its trials, fewer than by default, before it came to rest: give more --trials."
        )
    if best.at_bound:
        found.append(f"Stopped by the end of the search range: {_list(best.at_bound)}.")
    if names := not_identifiable(best):
        found.append(f"Not determined by these logs: {_list(names)}.")
    if best.validation_mae > 2 * best.train_mae:
        ratio = best.validation_mae / best.train_mae
        found.append(
            f"Held-out logs are followed {ratio:.1f} times worse than training logs: "
            f"the model may not carry over to their configuration."
        )
    return found


def vague_effects(results: Results) -> str:
    """Return how effects can be needed and yet not be determined; empty where none is both."""
    unidentifiable = not_identifiable(results.best)
    both = [
        effect.name
        for effect in results.effects or ()
        if effect.name in unidentifiable
        and effect.kept
        and effect.validation_without - effect.validation_with
        > max(_SAME * effect.validation_with, effect.chance)
    ]
    if not both:
        return ""
    return (
        f"Needed, though these logs do not tell how large: {_list(both)}. Without any one of them held-out "
        f"logs are followed worse; with it they are followed alike over a range of values, as other "
        f"parameters make up for it."
    )


def left_out(results: Results) -> list[str]:
    """Return what the directory does not hold, in words."""
    best = results.best
    absent = {
        "uncertainties and correlation": best.uncertainty is None,
        "what each effect bought": results.effects is None,
        "verdicts on the models": not any(model.verdict for model in results.models.values()),
        "error of each log": not best.per_log,
        "what was run in each log": not any(log.script for log in results.logs.values()),
    }
    return [what for what, is_absent in absent.items() if is_absent]


def _against_simplest(results: Results) -> Tile:
    best, simplest = results.best, next(iter(results.models.values()))
    others = [model for model in results.models.values() if model is not best]
    if best is not simplest:
        ratio = simplest.validation_mae / best.validation_mae
        value = f"{ratio:.2g}×" if math.isfinite(ratio) else "–"
        note = f"{simplest.name.upper()}: {mrad(simplest.validation_mae)} mrad"
        return Tile(label=f"Less error than {simplest.name.upper()}", value=value, unit="", note=note)
    names = ", ".join(model.name.upper() for model in others) or "no other"
    return Tile(label="Models compared", value=str(len(results.models)), unit="", note=f"against {names}")


def _known(results: Results) -> str:
    return "all identifiable" if results.best.uncertainty else "motor, friction, effects"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(words, names))
