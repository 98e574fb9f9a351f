# SPDX-License-Identifier: Apache-2.0
"""Settings of the Gauss-Newton search: budgets, shares, counts of descents, steps of simulations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SearchSchedule:
    """How a search spends its trials; a trial is one simulation of all training recordings.

    Lengths are in coordinates of the search space, which are 0 to 1 along each parameter's range. Figures of
    worth are of `studies.search_ablation`, from a session that is easy to search: six runs of an MX-106, M4
    alone. There no setting changes the training error by 0.1 %; what it saves or costs is in trials. What
    settings are worth in a hard one is in docs/explanation/search.md.
    """

    # Budget
    trials_per_parameter: int = 400
    """Default budget, per free parameter, of a model that starts from one it contains.

    With twice as many, models of an XL330 come out 0.2 % worse to 1.8 % better in training, as seeds differ.
    """

    cold_trials_per_parameter: int = 800
    """Default budget, per free parameter, of a model without a start near its optimum."""

    near_terms: int = 3
    """Terms that a model may add to one whose optimum is near its own.

    M4 adds four or more to M1, M2 and M3. Of three searches of an XL330's M4 that began at their optima, two
    ended 15 % above the optimum that a search without starts finds. M2, M3, M5 and M6 find the same in
    both ways.
    """

    # Approaches: descents from points all over the space, over short horizons first
    approaches: int = 4
    """In a round, where there are starts."""

    cold_approaches: int = 8
    """In a round, where there are none. With 2: -22 % of trials."""

    approach_rounds: int = 8
    """At most; rounds end as soon as two descents lead to the same error. With 1: no difference."""

    approach_share: float = 0.25
    """Of the budget, for the approaches of a round. With 0.1: -20 % of trials."""

    scatter_share: float = 0.12
    """Of an approach, for random points, the best of which is its start. With 0.02: -2 % of trials."""

    short_share: float = 0.6
    """Of the rest of an approach, for the descent over the shorter horizon. With 0.2: +2 % of trials."""

    horizons: tuple[float, ...] = (0.25, 1.0)
    """s, after which simulations of approaches restart from measured states.

    In a quarter of a second an arm has no time to go quite another way: the error has next to no local
    minima. With 0.25: -3 % of trials."""

    clear_gain: float = 0.05
    """Relative gain over what starts lead to, from which on approaches count; seeds differ by up to 3 %."""

    same_error: float = 5e-3
    """Relative difference of the errors of descents that lead to one optimum. With 0.0001: no difference."""

    # Starts
    warm_starts: int = 2
    """Optima of simpler models that are refined, the richest ones."""

    warm_copies: int = 2
    """Random points about each of them that are refined as well."""

    warm_spread: float = 0.08
    """Standard deviation of these points."""

    # Descents on the draft
    refining_share: float = 0.5
    """Of the trials left, at most, for the descents from all starts or ends of approaches. With 0.2: no
    difference.
    """

    rough_steps: int = 3
    """Of each first descent, which shows how deep its valley is. With 1: -6 % of trials."""

    deepest: int = 4
    """Lowest ends that descend further. With 1: +33 % of trials."""

    thorough_steps: int = 8
    """Of each of these. With 3: -7 % of trials."""

    # Hops: random steps along the valley from the lowest end, each with a descent
    hops: tuple[float, ...] = (0.05, 0.15, 0.4, 0.15)
    """Standard deviations of a round, along the longest direction of the valley. With 0.15 0.15 0.15 0.15: no
    difference.
    """

    hop_steps: int = 4
    """Of the descent after a hop. With 2: -3 % of trials."""

    hop_rounds_in_vain: int = 3
    """Rounds one after the other that gain less than `progress`, after which hops end. With 0: -20
    % of trials.
    """

    progress: float = 1e-3
    """Relative gain that counts. With 0.0001: +7 % of trials."""

    # The last part, on all recordings with the search's own step
    final_share: float = 0.17
    """Of the budget, reserved for it. With 0.05: no difference."""

    final_share_after_hops: float = 0.25
    """The same, where hops have left that much. With 0.1: -15 % of trials."""

    final_ends: int = 3
    """Lowest ends of the draft that descend again. With 1: -5 % of trials."""

    final_steps: int = 10
    """Of each of these descents, then of another one from the lowest of them. With 4: -3 % of trials."""

    final_hops_in_vain: int = 8
    """Hops about it that gain nothing, after which there are no more: later ones gained 0.2 % in what took as
    long as all before. With 0: -25 % of trials, and on an XL330 14 % more training error.
    """

    fine_steps: int = 15
    """Last steps at most, with a simulation step per period of the firmware. With 0: -2 % of trials."""

    fine_share: float = 0.4
    """Of the last part, at most, for these. With 0.1: no difference."""

    # Simulations
    step: float = 4e-3
    """s, longest step of a search; on servos of the library it leaves 0.03 to 0.06 mrad, 0.15 where goals
    come late."""

    draft_step: float = 8e-3
    """s, longest step of a draft."""

    draft_recordings: int = 100
    """Recordings that a draft simulates at most, about as many as a session has."""


DEFAULT_SCHEDULE = SearchSchedule()
"""What `bam identify` uses."""
