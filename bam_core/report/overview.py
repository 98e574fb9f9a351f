# SPDX-License-Identifier: Apache-2.0
"""What a reader should know first: the figures of the chosen model, what to beware of, what is not there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bam_core.report.names import words
from bam_core.report.numbers import mrad, mrad_interval
from bam_core.report.parameters import not_identifiable
from bam_core.report.results import ModelResult, Results
from bam_core.text.error_findings import TOO_FEW, UNEXPLAINED, error_difference, outliers
from bam_core.text.finding import Finding
from bam_core.text.fit_findings import NotConverged, ParameterList
from bam_core.text.misfit_findings import FAILED
from bam_core.text.report_findings import MissingParts, NeededUndetermined
from bam_core.text.split_findings import FEW

_SAME = (
    0.02  # relative difference of errors in selection that does not count: as `identification.choice` has it
)


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
    unknown = not_identifiable(best)
    trained = sum(log.set == "training" for log in results.logs.values())
    return [
        _test(results),
        Tile(
            label="Error in selection",
            value=mrad(best.selection_mae),
            unit="mrad",
            note="logs left out of training in turn; it decided on model and effects",
        ),
        Tile(
            label="Training error",
            value=mrad(best.train_mae),
            unit="mrad",
            note=f"on {_count(trained, 'log')}",
        ),
        _against_simplest(results),
        Tile(
            label="Parameters",
            value=str(len(best.parameters)),
            unit="",
            note=f"{len(unknown)} not identifiable" if unknown else _known(results),
        ),
    ]


def warnings(results: Results) -> list[tuple[str, str]]:
    """Return kind and sentences of what to be careful of before using the chosen model."""
    best = results.best
    training = {
        name: best.per_log[name]
        for name, log in results.logs.items()
        if log.set == "training" and name in best.per_log
    }
    misfit = best.misfit.findings if best.misfit is not None else ()
    kind = misfit[0][0] if misfit else ""
    explained = kind not in ("", *UNEXPLAINED)
    findings: list[Finding | None] = [
        NotConverged(spent=best.spent) if best.ended_early else None,
        _parameters("at_bounds", best.at_bound),
        _parameters("not_identifiable", not_identifiable(best)),
        error_difference(best.train_mae, training, best.test_mae, best.selection_mae),
        outliers(best.per_log, training, explained=explained),
    ]
    return [
        *(misfit[:1] if kind == FAILED else ()),
        *((finding.kind, finding.sentence) for finding in findings if finding is not None),
    ]


def _parameters(kind: str, names: Sequence[str]) -> ParameterList | None:
    return ParameterList(kind=kind, parameters=tuple(map(words, names))) if names else None


def needed_undetermined(results: Results) -> NeededUndetermined | None:
    """Return effects that are needed and yet not determined; None where no effect is both."""
    unidentifiable = not_identifiable(results.best)
    both = tuple(
        words(effect.name)
        for effect in results.effects or ()
        if effect.name in unidentifiable
        and effect.kept
        and effect.selection_mae_without - effect.selection_mae
        > max(_SAME * effect.selection_mae, effect.chance)
    )
    return NeededUndetermined(effects=both) if both else None


def missing_parts(results: Results) -> MissingParts | None:
    """Return what the directory does not hold; None where it is complete."""
    best = results.best
    absent = {
        "verdict": results.verdict is None,
        "uncertainty": best.uncertainty is None,
        "effects": results.effects is None,
        "choice": not any(model.verdict for model in results.models.values()),
        "per_log": not best.per_log,
        "runs": not any(log.script for log in results.logs.values()),
    }
    parts = tuple(part for part, is_absent in absent.items() if is_absent)
    return MissingParts(parts=parts) if parts else None


def _test(results: Results) -> Tile:
    best = results.best
    if not math.isfinite(best.test_mae):
        return Tile(
            label="Test error",
            value=mrad(math.nan),
            unit="",
            note=FEW["no_test"][0],
        )
    low_to_high = "" if results.has_few_tests else mrad_interval(best.test_interval)
    seeds = results.test_of_seeds
    spread = f"; {len(seeds)} seeds: {mrad_interval((min(seeds), max(seeds)))} mrad" if seeds else ""
    restart = results.restarted_every.get("test", math.nan)
    return Tile(
        label="Test error" + (f", restarted every {restart:g} s" if math.isfinite(restart) else ""),
        value=mrad(best.test_mae),
        unit=f"mrad, 95\N{NO-BREAK SPACE}%: {low_to_high}" if low_to_high else "mrad",
        note=f"{math.degrees(best.test_mae):.2g}° on {_count(results.test_logs, 'log')} that took no part"
        + (f", {TOO_FEW}" if results.has_few_tests else "")
        + spread
        + _restarted(best, restart),
    )


def _restarted(best: ModelResult, usual: float) -> str:
    short = {0.25: best.test_short, 1.0: best.test_longer}
    shown = ", ".join(
        f"every {horizon:g} s: {mrad(error)} mrad"
        for horizon, error in short.items()
        if math.isfinite(error) and horizon != usual
    )
    return f"; restarted from measured states {shown}" if shown else ""


def _against_simplest(results: Results) -> Tile:
    best, simplest = results.best, next(iter(results.models.values()))
    others = [model for model in results.models.values() if model is not best]
    if best is not simplest:
        error, own = (
            (simplest.test_mae, best.test_mae)
            if math.isfinite(best.test_mae)
            else (simplest.selection_mae, best.selection_mae)
        )
        value = f"{error / own:.2g}×" if math.isfinite(error / own) else "–"
        note = f"{simplest.name.upper()}: {mrad(error)} mrad"
        return Tile(label=f"Less error than {simplest.name.upper()}", value=value, unit="", note=note)
    names = ", ".join(model.name.upper() for model in others) or "no other"
    return Tile(label="Models compared", value=str(len(results.models)), unit="", note=f"against {names}")


def _known(results: Results) -> str:
    return "all identifiable" if results.best.uncertainty else "motor, friction, effects"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(words, names))
