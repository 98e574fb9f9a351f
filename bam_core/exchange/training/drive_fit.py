# SPDX-License-Identifier: Apache-2.0
"""Fit a linear drive to a servo's full law, and price what the drive leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.exchange.training.drive_rollout import drive_positions
from bam_core.exchange.training.linear_drive import (
    LOAD_SHARE,
    DriveGains,
    LinearDrive,
    nearest_drive,
)
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.servo.pendulum import GRAVITY, PendulumBench
from bam_core.simulation.synthetic import SynthesisSettings, commanded, finely_simulated

MOTIONS = ("sin_time_square", "sin_sin", "up_and_down")
"""The standard motions: scripts of BAM V-A whose torque stays on."""

FITTED = ("frictionloss", "viscous_damping", "stiffness")
"""What is fitted, as attributes of `LinearDrive`."""

_TEST_LOADS = (0.1, 0.2)  # likewise, of those that errors are reported of
_LENGTH = 0.15  # m
_EVALUATIONS = 120  # at 30 ms each; later ones change the error by less than 0.1 mrad
_FIRST_STEP = (
    0.5,
    0.5,
    0.1,
)  # as shares: stiffness is known but for the firmware's dead band and error offset
_LEAST = 1e-6  # N·m, N·m·s/rad: where the fit begins if the servo has none
_HELD_ACTION = 0.02  # s; a policy at 50 Hz acts that much later where its actions are applied a step late
_SAMPLE_PERIOD = 2e-3  # s


@dataclass(frozen=True, kw_only=True)
class PricedDrive:
    """A linear drive and what each of its simplifications costs.

    Attributes:
        drive: with friction fitted to the full law.
        errors: mean distance from the full law, rad, by simplification, over the scripts with two loads that
            took no part in the fit. "fitted" is the drive itself, "nearest" the one before the fit.
        fit_error: the same of the fitted drive over the motions of the fit, rad.
        motions: those of the fit.
        remarks: one line about everything in which it differs from the servo.
    """

    drive: LinearDrive
    errors: dict[str, float]
    fit_error: float
    motions: tuple[str, ...]
    remarks: tuple[str, ...]


def standard_motions(servo: ServoModel, gains: DriveGains, load: float = LOAD_SHARE) -> list[Recording]:
    """Return the commands of the standard motions.

    Args:
        servo: the servo.
        gains: of its firmware.
        load: largest gravity torque of the bench's load, as a share of the servo's stall torque.
    """
    mass = load * servo.stall_torque(gains.supply_voltage) / (GRAVITY * _LENGTH)
    bench = PendulumBench(mass=mass, length=_LENGTH)
    settings = SynthesisSettings(sample_period=_SAMPLE_PERIOD, supply_voltage=gains.supply_voltage)
    runs = [commanded(servo, bench, name, gains.kp, settings) for name in MOTIONS]
    return [replace(run, kd=gains.kd, ki=gains.ki) for run in runs]


def fit_drive(
    servo: ServoModel,
    gains: DriveGains,
    motions: Sequence[Recording] | None = None,
    *,
    evaluations: int = _EVALUATIONS,
) -> PricedDrive:
    """Fit frictionloss, viscous damping and stiffness to the positions of the full law.

    The motor is the servo's own. The fit is Nelder-Mead on the mean absolute difference of positions.

    Args:
        servo: without a gear.
        gains: of its firmware.
        motions: commands to fit to, whose torque is on; default `standard_motions`.
        evaluations: of the fit, at most.

    Raises:
        BamError: the servo has a gear, its firmware no such gain, or torque is off in a motion.
    """
    nearest, remarks = nearest_drive(servo, gains)
    runs = standard_motions(servo, gains) if motions is None else [_at_gains(run, gains) for run in motions]
    comparison = _Comparison.of(servo, runs)
    test = _Comparison.of(
        servo, [run for load in _TEST_LOADS for run in standard_motions(servo, gains, load)]
    )
    scale = {name: max(getattr(nearest, name), _LEAST) for name in FITTED}

    def drive_at(factors: Array) -> LinearDrive:
        values = zip(FITTED, np.abs(factors), strict=True)
        return replace(nearest, **{name: float(factor * scale[name]) for name, factor in values})

    fit = minimize(
        lambda factors: comparison.error(drive_at(factors)),
        np.ones(len(FITTED)),
        method="Nelder-Mead",
        options={
            "maxfev": evaluations,
            "initial_simplex": 1.0 + np.vstack([np.zeros(len(FITTED)), np.diag(_FIRST_STEP)]),
        },
    )
    fitted = min((nearest, drive_at(fit.x)), key=comparison.error)
    simplified = {
        "fitted": fitted,
        "nearest": nearest,
        "no friction": replace(fitted, frictionloss=0.0, viscous_damping=0.0),
        "no back-EMF": replace(fitted, back_emf_damping=0.0),
        "no armature": replace(fitted, armature=0.0),
    }
    return PricedDrive(
        drive=fitted,
        errors={
            **{name: test.error(drive) for name, drive in simplified.items()},
            "action 20 ms late": test.error(fitted, _HELD_ACTION),
        },
        fit_error=comparison.error(fitted),
        motions=MOTIONS if motions is None else tuple(run.name for run in runs),
        remarks=tuple(remarks),
    )


@dataclass(frozen=True, kw_only=True)
class _Comparison:
    """Commands, and the positions rad of the full law that follows them."""

    runs: list[Recording]
    full: list[Array]

    @classmethod
    def of(cls, servo: ServoModel, runs: list[Recording]) -> _Comparison:
        return cls(runs=runs, full=[finely_simulated(servo, run, quantised=False) for run in runs])

    def error(self, drive: LinearDrive, delay: float = 0.0) -> float:
        """Return the mean distance of a drive from the full law, rad."""
        differences = [
            np.abs(drive_positions(drive, run, delay) - position).mean()
            for run, position in zip(self.runs, self.full, strict=True)
        ]
        return float(np.mean(differences))


def _at_gains(run: Recording, gains: DriveGains) -> Recording:
    if not run.torque_enabled.all():
        raise BadData(
            f"motion '{run.name}'",
            f"torque is off in {1.0 - run.torque_enabled.mean():.0%} of it",
            expected="torque on throughout, since a linear drive cannot release",
            advice="leave this recording out",
        )
    supply = run.supply_voltage if gains.supply_voltage is None else gains.supply_voltage
    return replace(run, kp=gains.kp, kd=gains.kd, ki=gains.ki, supply_voltage=supply)
