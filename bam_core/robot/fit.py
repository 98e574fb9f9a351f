# SPDX-License-Identifier: Apache-2.0
"""The most probable unknowns of a robot, given its runs and what was known beforehand.

How much an error counts is not known beforehand. A first descent assumes it, and changes only what is little
known; its simulations start anew from measured states, so that no joint is biased by where it once stuck.
A second one changes everything, simulates whole runs, and measures noise in the errors that are left with
each new Jacobian. Rounds of posterior linearisation go on from there, for derivatives of one unknown at a
time neither lead to the optimum nor show how well it is known.

Friction models of the same robot have most unknowns in common. So the second and later ones begin with the
second descent, where the model before ended, and need fewer rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.robot.benches import SearchBenches
from bam_core.robot.descent import Descent, Place, derivatives, descend, one_sided, seen_by
from bam_core.robot.distribution import BEGIN, find_distribution
from bam_core.robot.noise import Noise, assumed_noise
from bam_core.robot.one_joint import OneJointBench, OneJointErrors
from bam_core.robot.run import RobotRun
from bam_core.robot.run_errors import RunErrors
from bam_core.robot.simulation import RobotBench
from bam_core.robot.unknowns import Unknowns
from bam_core.simulation.threads import allowed_threads

_ROUGH = 0.02  # of the cost; a step that gains less ends the first descent
_HORIZON = 1.0  # s between two measured states in the first descent
_SKIPPED = 3  # rounds, of those in which a spread grows from that of a descent
_OTHER_STEP = 0.3  # standard deviations, of differences beside those of the second descent


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotFit:
    """What was found.

    Attributes:
        unknowns: what the point means.
        point: (unknowns,) coordinates.
        covariance: (unknowns, unknowns) of them, as the last rounds have it; simulations are drawn from it.
        standard_errors: (unknowns,) of them, for intervals; see `_standard_errors`.
        noise: of the errors that are left.
    """

    unknowns: Unknowns
    point: Array
    covariance: Array
    standard_errors: Array
    noise: Noise


def fit_robot(
    benches: SearchBenches,
    runs: Sequence[RobotRun],
    joints: Sequence[str],
    unknowns: Unknowns,
    *,
    before: RobotFit | None = None,
    progress: Callable[[str], None] = lambda words: None,
    reached: Callable[[Array], None] = lambda point: None,
) -> RobotFit:
    """Descend from where the unknowns begin.

    Args:
        benches: the robot. By what is quick, derivatives are found; by one joint at a time, the whole first
            descent is made.
        runs: to follow.
        joints: that count.
        unknowns: what may change.
        before: what another friction model ended with on the same runs; this one begins there.
        progress: called with a line of text every step.
        reached: called with the (unknowns,) coordinates of the best point so far, when there is a better one.

    Raises:
        BamError: the simulation diverges where it begins.
    """
    origin, quick = np.zeros(len(unknowns.names)), benches.quick
    with ThreadPoolExecutor(allowed_threads(), thread_name_prefix="robot") as pool:
        whole = RunErrors(bench=benches.search, runs=runs, joints=joints, unknowns=unknowns, pool=pool)
        whole = replace(whole, quick=_quick(whole, quick))
        place = None if before is None else _taken_over(whole, before)
        is_later = before is not None and place is not None
        if place is None:
            here = whole.begin()
            progress(f"begins with {1e3 * np.abs(here).mean():.2f} mrad")
            begin = Place(point=origin, errors=here, jacobian=np.zeros((len(here), len(origin))))
            short = _restarted(whole, quick)
            assumed = assumed_noise(len(joints))
            first = Descent(
                name="first",
                share=_ROUGH,
                directions=one_sided(unknowns.is_wide),
                noise=lambda errors: assumed,
            )
            place = descend(short, first, seen_by(short, begin, begin), progress, reached=reached)
            place = seen_by(whole, place, begin)
        everything = np.ones(len(origin), dtype=bool)
        second = Descent(name="second", directions=one_sided(everything), noise=whole.noise)
        place = descend(whole, second, place, progress, reached=reached)
        again = replace(second, directions=_OTHER_STEP * np.eye(len(origin)), is_two_sided=True)
        coarse = _covariance(whole, place, again)
        spread = BEGIN**2 * coarse
        if before is not None and is_later:
            spread = _with_known(spread, unknowns, before)
        skipped = _SKIPPED if is_later else 0
        distribution = find_distribution(whole, place, spread, progress, skipped=skipped, reached=reached)
        return RobotFit(
            unknowns=unknowns,
            point=distribution.point,
            covariance=distribution.covariance,
            standard_errors=_standard_errors(coarse, distribution.covariance),
            noise=whole.noise(distribution.errors),
        )


def _shared(unknowns: Unknowns, before: RobotFit) -> tuple[list[int], list[int]]:
    """Return the numbers of the unknowns that a fit before had, too, and those that they had there."""
    there = {name: number for number, name in enumerate(before.unknowns.names)}
    pairs = [(number, there[name]) for number, name in enumerate(unknowns.names) if name in there]
    own, earlier = zip(*pairs, strict=True)
    return list(own), list(earlier)


def _taken_over(whole: RunErrors, before: RobotFit) -> Place | None:
    """Return where a fit before ended, as far as it had these unknowns; None if that diverges."""
    own, earlier = _shared(whole.unknowns, before)
    point = np.zeros(len(whole.unknowns.names))
    point[own] = before.point[earlier]
    point = np.maximum(point, whole.unknowns.least)
    (errors,) = whole.at([point])
    if errors is None:
        return None
    return Place(point=point, errors=errors, jacobian=np.zeros((len(errors), len(point))))


def _with_known(spread: Array, unknowns: Unknowns, before: RobotFit) -> Array:
    """Return a covariance with that of a fit before, of the unknowns that it had; others do not go along."""
    own, earlier = _shared(unknowns, before)
    result, new = np.zeros_like(spread), np.setdiff1d(np.arange(len(spread)), own)
    result[np.ix_(new, new)] = spread[np.ix_(new, new)]
    result[np.ix_(own, own)] = before.covariance[np.ix_(earlier, earlier)]
    return result


def _quick(whole: RunErrors, quick: RobotBench | OneJointBench | None) -> RunErrors | None:
    """Return the errors of quick simulations."""
    if isinstance(quick, OneJointBench):
        settings = {field.name: getattr(whole, field.name) for field in fields(RunErrors)}
        return OneJointErrors(**settings, one_joint=quick)
    return None if quick is None else replace(whole, bench=quick)


def _restarted(whole: RunErrors, quick: RobotBench | OneJointBench | None) -> RunErrors:
    """Return errors of simulations that start anew from measured states."""
    if isinstance(quick, OneJointBench):
        short = _quick(replace(whole, quick=None), quick.restarted(_HORIZON))
        assert short is not None, "there is a quick bench"
        return short
    short = replace(whole, bench=whole.bench.restarted(_HORIZON), quick=None)
    return replace(short, quick=_quick(short, None if quick is None else quick.restarted(_HORIZON)))


def _covariance(run_errors: RunErrors, place: Place, again: Descent) -> Array:
    """Return the covariance of the unknowns, from a place's derivatives and from those found again."""
    objective = run_errors.objective(again.noise(place.errors))
    return objective.covariance(place.jacobian, derivatives(run_errors, again, place), place.errors)


def _standard_errors(coarse: Array, fine: Array) -> Array:
    """Return (unknowns,) standard errors by two covariances, for which runs must determine an unknown twice.

    Valleys of the cost are curved, such as that of friction under load that falls with speed against
    friction that does not. Within a standard deviation of the last rounds a valley looks short and straight,
    and the truth may be further along it. The derivatives of the descent, over a fifth of what is known
    beforehand, see that runs leave it open. On arms whose truth is known, each of both alone holds it too
    rarely. Nothing is known less than beforehand.
    """
    return np.sqrt(np.minimum(np.diag(coarse) + np.diag(fine), 1.0))


def information(
    bench: RobotBench, run: RobotRun, joints: Sequence[str], unknowns: Unknowns, pool: ThreadPoolExecutor
) -> Array:
    """Return the information of a run, (unknowns, unknowns), where unknowns begin and errors are small.

    Errors count as a fit assumes that they do before it has seen any.

    Args:
        bench: the robot.
        run: whose goals count.
        joints: that count.
        unknowns: in standard deviations of their priors, which are not part of it.
        pool: does the simulations.

    Raises:
        BamError: the simulation diverges where it begins.
    """
    whole = RunErrors(bench=bench, runs=[run], joints=joints, unknowns=unknowns, pool=pool)
    point = np.zeros(len(unknowns.names))
    here, assumed = whole.begin(), assumed_noise(len(joints))
    descent = Descent(
        name="information",
        directions=one_sided(np.ones(len(point), dtype=bool)),
        noise=lambda errors: assumed,
    )
    place = Place(point=point, errors=here, jacobian=np.zeros((len(here), len(point))))
    jacobian = derivatives(whole, descent, place)
    objective = whole.objective(assumed)
    return np.asarray((jacobian.T * (objective.worth / objective.scale**2)) @ jacobian)
