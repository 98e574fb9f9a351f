# SPDX-License-Identifier: Apache-2.0
"""Settings of a simulation of recordings: steps, integrator, restarts, threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bam_core.errors import UnknownName
from bam_core.errors.checks import require_positive
from bam_core.errors.field_types import require_field_types
from bam_core.recordings.recording import Recording
from bam_core.servo.friction import QUADRATIC_RULES
from bam_core.servo.integrators import INTEGRATORS

DEFAULT_SUBSTEPS = 2
"""Steps of the integrator per period of the firmware.

Friction is of first order in time. On recordings of a servo whose parameters are known, the true ones are
0.55 mrad off (mean) with one step of 1 ms, 0.51 with two and 0.49 with four, of which 0.4 are the encoder's.
"""

OPEN_LOOP_HORIZON = 0.25
"""s; from restart to restart of runs in open loop, where nothing pulls simulation and servo together.

Friction that differs from session to session drifts off by 15 mrad in a second, and drowns how a servo starts
and stops, which gives inertia. On halves of Dynaban's training runs, k_t/R of M2 differs by 1 % with it and
by 44 % without, and errors over the whole second are the same.
"""


@dataclass(frozen=True, kw_only=True)
class RolloutSettings:
    """Settings of a `Rollout`. The constructor raises BamError if a name is unknown or a number out of range.

    Attributes:
        dt: period of the controller and of the time grid, s; None: `periods` of the firmware.
        substeps: steps of the integrator per dt. None: DEFAULT_SUBSTEPS, or 1 with `dt` or periods.
        periods: without `dt`: of the firmware, for which a step of the time grid stands. The demand of a step
            is then the mean of those that the firmware would make within it.
        short_substeps: steps of the integrator per dt for candidates with effects that need short ones; None:
            `substeps`.
        integrator: one of `integrators.INTEGRATORS`.
        quadratic_rule: one of `friction.QUADRATIC_RULES`.
        restart: interval, s, after which a simulation continues from the measured position and velocity, so
            that errors are those over short horizons; infinite: never. None: `usual_restart`.
        slew_first: let the firmware's set-points follow goals before the simulation and not within it, which
            long steps need to be exact. Candidates with `goal_slew_time` are refused then.
        workers: threads; None: one per available processor, or `simulation_threads`.
    """

    dt: float | None = None
    substeps: int | None = None
    periods: int = 1
    short_substeps: int | None = None
    integrator: str = "midpoint"
    quadratic_rule: str = "paper"
    restart: float | None = None
    slew_first: bool = False
    workers: int | None = None

    def __post_init__(self) -> None:
        require_field_types(self)
        require_positive("rollout", substeps=self.substeps_per_dt, periods=self.periods)
        require_positive("rollout", short_substeps=self.short_substeps_per_dt)
        if self.dt is not None:
            require_positive("rollout", dt=self.dt)
        if self.integrator not in INTEGRATORS:
            raise UnknownName("integrator", self.integrator, INTEGRATORS)
        if self.quadratic_rule not in QUADRATIC_RULES:
            raise UnknownName("quadratic_rule", self.quadratic_rule, QUADRATIC_RULES)

    @property
    def substeps_per_dt(self) -> int:
        """Steps of the integrator per dt."""
        if self.substeps is not None:
            return self.substeps
        return DEFAULT_SUBSTEPS if self.dt is None and self.periods == 1 else 1

    @property
    def short_substeps_per_dt(self) -> int:
        """The same for candidates that need short steps."""
        return self.short_substeps or self.substeps_per_dt

    def dt_for(self, period: float) -> float:
        """Return dt for a firmware with this period, s."""
        return self.periods * (period if self.dt is None else self.dt)

    def restart_for(self, recordings: Sequence[Recording]) -> float | None:
        """Return the interval from restart to restart, s; None: never."""
        return usual_restart(recordings) if self.restart is None else self.restart


def usual_restart(recordings: Sequence[Recording]) -> float | None:
    """Return the default interval of restarts, s: OPEN_LOOP_HORIZON if all are in open loop, else never."""
    return OPEN_LOOP_HORIZON if all(recording.open_loop for recording in recordings) else None
