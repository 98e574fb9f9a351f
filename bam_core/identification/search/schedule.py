# SPDX-License-Identifier: Apache-2.0
"""Settings of the Gauss-Newton search: budgets, numbers of descents, simulation steps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SearchSchedule:
    """How a search spends its trials; a trial is one simulation of all training recordings.

    Lengths and standard deviations are in coordinates of the search space: 0 to 1 along each parameter's
    range.

    "With VALUE: -20 % of trials" is a result of `studies.search_ablation` with that value instead of the
    default. It belongs to an easy session: six runs of an MX-106, M4 alone. There, every variant reaches the
    same training error within 0.1 %, so only the number of trials differs. docs/explanation/search.md has the
    results for a hard session.
    """

    # Budget
    trials_per_parameter: int = 400
    """Default budget per free parameter, for a model that starts at the optimum of a model it contains.

    With twice as many, training errors of an XL330 change by +0.2 % to -1.8 %. Seeds differ as much.
    """

    cold_trials_per_parameter: int = 800
    """Default budget per free parameter, for a model without starts.

    A model whose starts are far from its optimum gets the sum of both budgets.
    """

    near_terms: int = 3
    """Largest number of added terms for which the optimum of the simpler model counts as near.

    M4 adds four or more terms to M1, M2 and M3. Three searches of an XL330's M4 began at the optima of these
    models. Two of them ended 15 % above the optimum that a search without starts finds. M2, M3, M5 and M6
    reach the same optimum with and without starts.
    """

    # Approaches: descents from random points of the whole space, first over short horizons
    approaches: int = 4
    """Approaches per round, if there are starts near the optimum."""

    cold_approaches: int = 8
    """Approaches per round, if there are none. With 2: -22 % of trials."""

    approach_rounds: int = 8
    """Rounds at most; they end once two descents reach the same error. With 1: no difference."""

    approach_share: float = 0.25
    """Share of the budget for the approaches of one round. With 0.1: -20 % of trials."""

    scatter_share: float = 0.12
    """Share of an approach for random points; it starts at the best one. With 0.02: -2 % of trials."""

    short_share: float = 0.6
    """Share of the remaining trials for the descent over the shorter horizon. With 0.2: +2 % of trials."""

    horizons: tuple[float, ...] = (0.25, 1.0)
    """Times after which simulations of approaches restart from the measured state, s, the shortest first.

    Over 0.25 s, simulated and measured motion cannot differ much. So the error has nearly no local minima.
    With 0.25 alone: -3 % of trials.
    """

    clear_gain: float = 0.05
    """Smallest relative gain of approaches over descents from starts that may be far from the optimum.

    With a smaller gain, the approaches are ignored. Seeds differ by up to 3 %.
    """

    same_error: float = 5e-3
    """Relative difference below which two errors belong to one optimum. With 0.0001: no difference."""

    # Starts
    warm_starts: int = 2
    """Number of starts that are refined: the optima of the last models fitted."""

    warm_copies: int = 2
    """Random points about each such start, which are refined as well."""

    warm_spread: float = 0.08
    """Standard deviation of these points about the start."""

    # Descents on the draft: a simulation of some recordings with a longer step
    refining_share: float = 0.5
    """Largest share of the remaining trials for the descents from all starts, or from the ends of a round.

    With 0.2: no difference.
    """

    rough_steps: int = 3
    """Gauss-Newton steps of each first descent, which ranks the starts. With 1: -6 % of trials."""

    deepest: int = 4
    """Number of lowest ends from which descents continue. With 1: +33 % of trials."""

    thorough_steps: int = 8
    """Gauss-Newton steps of each continued descent. With 3: -7 % of trials."""

    # Hops: random steps along the valley from the lowest end, each with a descent
    hops: tuple[float, ...] = (0.05, 0.15, 0.4, 0.15)
    """Standard deviations of the hops of a round, along the direction that the data determine least.

    With 0.15 0.15 0.15 0.15: no difference.
    """

    hop_steps: int = 4
    """Gauss-Newton steps of the descent after a hop. With 2: -3 % of trials."""

    hop_rounds_in_vain: int = 3
    """Consecutive rounds with a gain below `progress`, after which hops end. With 0: -20 % of trials."""

    progress: float = 1e-3
    """Smallest relative gain that counts as progress. With 0.0001: +7 % of trials."""

    # The last part: descents on all recordings, with simulation step `step`
    final_share: float = 0.17
    """Share of the budget reserved for the last part. With 0.05: no difference."""

    final_share_after_hops: float = 0.25
    """Largest share of the budget for the last part after hops. With 0.1: -15 % of trials."""

    final_ends: int = 3
    """Number of lowest ends on the draft from which descents start again. With 1: -5 % of trials."""

    final_steps: int = 10
    """Gauss-Newton steps of each of these descents. One more descent of as many starts at their lowest end.

    With 4: -3 % of trials.
    """

    final_hops_in_vain: int = 8
    """Consecutive hops with a gain below `progress`, after which hops in the last part end.

    Later hops gained 0.2 % and doubled the time of the search. With 0: -25 % of trials, and on an XL330 14 %
    more training error.
    """

    fine_steps: int = 15
    """Gauss-Newton steps at most with a simulation step per firmware period. With 0: -2 % of trials."""

    fine_share: float = 0.4
    """Largest share of the last part's trials for these steps. With 0.1: no difference."""

    # Simulations
    step: float = 4e-3
    """Longest simulation step of a search, s.

    Its discretisation error is 0.03 to 0.06 mrad on servos of the library, and 0.15 mrad with delayed goals.
    """

    draft_step: float = 8e-3
    """Longest simulation step of a draft, s."""

    draft_recordings: int = 100
    """Largest number of recordings in a draft, about as many as a session has."""


DEFAULT_SCHEDULE = SearchSchedule()
"""Settings of `bam identify`."""
