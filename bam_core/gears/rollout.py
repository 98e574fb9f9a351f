# SPDX-License-Identifier: Apache-2.0
"""Recordings of a pendulum followed with a gear between motor and arm, for many candidates at a time.

The motor's armature is the gear's input inertia, load and arm are its output inertia; the motor's torque is
f_u, and -τ_e is f_v. Commands, supply, the error's definition and the "midpoint" integrator are those of
`bam_core.simulation.rollout`, so that errors compare.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import Missing, Unsupported, WrongShape
from bam_core.gears._pendulum import Outcome, simulate
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.firmware import PositionFirmware
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.model import ServoModel
from bam_core.simulation.packing import pack
from bam_core.simulation.rows import MEASURED, Stepping, firmware_stepping

GEAR_PARAMETERS = (
    "torque_constant",
    "resistance",
    "armature",
    "viscous",
    "coulomb",
    "stribeck_coulomb",
    "stribeck_velocity",
    "stribeck_exponent",
    "input_side",
    "output_side",
    "zero_offset",
    "command_delay",
)
"""Columns of candidates, SI; `input_side` and `output_side` are γ_u and γ_v."""

TRACE_STEPS = 12
"""Steps of the firmware between positions that `GearRollout.positions` returns."""


def gear_vector(servo: ServoModel, bench_effects: BenchEffects = IDEAL_BENCH) -> Array:
    """Return a servo with a gear, and its bench, as a candidate, (GEAR_PARAMETERS,) SI.

    Raises:
        BamError: it has no gear, or an effect that this rollout does not know.
    """
    if servo.gear is None:
        raise Missing(f"servo '{servo.name}', gear", "input_side and output_side")
    effects = {**servo.effect_values, **vars(bench_effects)}
    for name, value in effects.items():
        if value and name not in GEAR_PARAMETERS:
            raise Unsupported(
                f"servo '{servo.name}', {name}",
                f"is {value:g} beside a gear, whose rollout has no such effect",
                expected=" or ".join(GEAR_PARAMETERS[-2:]),
                advice="take it out, or use 'bam simulate'",
            )
    values = {**servo.friction.coefficients(), **effects, **servo.parameters}
    return np.array([values[name] for name in GEAR_PARAMETERS])


class GearRollout:
    """Recordings, packed once, to be simulated with many candidates.

    Attributes:
        recordings: as given.
        measured: (samples,) rad: what `positions` is compared with, recording after recording.
        counts: samples per recording.
    """

    def __init__(
        self,
        recordings: Sequence[Recording],
        *,
        firmware: PositionFirmware,
        dt: float | None = None,
        substeps: int = 2,
        restart: float | None = None,
    ) -> None:
        """Pack recordings.

        Args:
            recordings: at least one.
            firmware: position controller that ran.
            dt: its period, s; default its own.
            substeps: of the integrator per period of the firmware.
            restart: as of `bam_core.simulation.rollout.Rollout`.

        Raises:
            BamError: there is no recording.
        """
        if not recordings:
            raise Missing("recording", "at least one", advice="give some")
        for recording in recordings:
            recording.require_closed_loop("a simulation of a gear")
        self.recordings = tuple(recordings)
        self._packed = pack(recordings, firmware, dt or firmware.period, restart=restart)
        self._stepping = Stepping(
            dt=self._packed.dt,
            substeps=substeps,
            integrator=INTEGRATORS.index("midpoint"),
            opposing_only=False,
            restart=self._packed.restart,
            **firmware_stepping(firmware),
            renewal=substeps,
            lead=0.0,
            slew_share=1.0,
        )
        lengths = self._packed.logs.length[self._packed.lanes].astype(np.intp)
        self.counts = -(-lengths // TRACE_STEPS)
        self._ends = np.concatenate([[0], np.cumsum(self.counts)])
        self.measured = np.concatenate(
            [
                self._packed.signals[:length:TRACE_STEPS, MEASURED, lane]
                for lane, length in zip(self._packed.lanes, lengths, strict=True)
            ]
        )

    def errors(self, parameters: ArrayLike) -> Array:
        """Return the mean absolute position errors of candidates, (candidates, recordings) rad.

        Args:
            parameters: (candidates, GEAR_PARAMETERS) SI; or one candidate.

        Raises:
            BamError: wrong shape.
        """
        return self._simulate(parameters)[0]

    def positions(self, parameters: ArrayLike) -> Array:
        """Return positions where `measured` is, (candidates, samples) rad; arguments as of `errors`."""
        return self._simulate(parameters)[1]

    def _simulate(self, parameters: ArrayLike) -> tuple[Array, Array]:
        candidates = np.atleast_2d(np.ascontiguousarray(parameters, dtype=np.float64))
        if candidates.ndim != 2 or candidates.shape[1] != len(GEAR_PARAMETERS):
            raise WrongShape(
                "gear parameters",
                candidates.shape,
                f"(candidates, {len(GEAR_PARAMETERS)})",
                advice=f"columns are {', '.join(GEAR_PARAMETERS)}",
            )
        errors = np.empty((len(candidates), len(self.recordings)))
        trace = np.empty((len(candidates), int(self._ends[-1])))

        def run(rows: slice) -> None:
            outcome = Outcome(self._ends, TRACE_STEPS, errors[rows], trace[rows])
            simulate(candidates[rows], self._packed.inputs, self._packed.lanes, self._stepping, outcome)

        workers = min(os.cpu_count() or 1, len(candidates))
        edges = [len(candidates) * i // workers for i in range(workers + 1)]
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(run, [slice(edges[i], edges[i + 1]) for i in range(workers)]))
        return errors, trace
