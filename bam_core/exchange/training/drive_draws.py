# SPDX-License-Identifier: Apache-2.0
"""Joint draws of a linear drive, from what an identification knows of its servo."""

from __future__ import annotations

import os
from dataclasses import replace

from bam_core.errors import Missing
from bam_core.exchange.training.drive_fit import FITTED, PricedDrive
from bam_core.exchange.training.linear_drive import DriveGains, LinearDrive, nearest_drive
from bam_core.exchange.training.targets import DRAWN
from bam_core.identification.uncertainty.drawn_servos import draw_servos
from bam_core.servo.model import load_servo

COUNT = 256
"""Draws in a file; ranges of 5 to 95 % change by less than 2 % with more."""


def drive_draws(
    source: str | os.PathLike[str],
    gains: DriveGains,
    priced: PricedDrive,
    *,
    count: int = COUNT,
    seed: int = 0,
) -> dict[str, list[float]]:
    """Return draws of the drive by attribute of `LinearDrive`; one draw is one servo.

    Parameters are drawn from the covariance of the servo's identification. A draw is
    corrected by the factors by which the fit to the full law corrected the servo itself.

    Args:
        source: library name or path of the servo's file.
        gains: of its firmware.
        priced: the servo's fitted drive.
        count: draws.
        seed: the same seed gives the same draws.

    Raises:
        BamError: a file cannot be read. A servo of unknown uncertainty is drawn as it is.
    """
    servo = load_servo(source)
    nearest, _ = nearest_drive(servo, gains)
    try:
        drawn = draw_servos(source, count=count, seed=seed)
    except Missing:
        return {name: [getattr(priced.drive, name)] for name in DRAWN}
    drives = [_corrected(nearest_drive(one, gains)[0], nearest, priced.drive) for one in drawn]
    return {name: [float(getattr(drive, name)) for drive in drives] for name in DRAWN}


def _corrected(drawn: LinearDrive, nearest: LinearDrive, fitted: LinearDrive) -> LinearDrive:
    factors = {
        name: getattr(fitted, name) / before for name in FITTED if (before := getattr(nearest, name)) > 0.0
    }
    return replace(drawn, **{name: getattr(drawn, name) * factor for name, factor in factors.items()})
