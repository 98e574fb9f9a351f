# SPDX-License-Identifier: Apache-2.0
"""Identify the MX-64 of Dynaban's runs in open loop, and print the tables of docs/open_loop.md.

    .venv/bin/python -m papers.dynaban.open_loop DIRECTORY [SEED ...]

DIRECTORY holds its files no_load.txt and heavy_load.txt. Runs with an odd number take no part. Seeds are 0, 1
and 2 unless told.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Sequence
from dataclasses import replace

from bam_core.identification.identify import identify
from bam_core.identification.settings import IdentifySettings
from bam_core.recordings import load_recordings
from bam_core.recordings.recording import Recording
from bam_core.servo.friction import Friction
from bam_core.servo.model import ServoModel, load_servo
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.text.table import format_table
from papers.dynaban.motor_model import DynabanModel
from papers.dynaban.published_models import FIRMWARE, PROGRAM

HEADINGS = [
    "",
    "0.25 s [mrad]",
    "whole run [mrad]",
    "k_t [N·m/A]",
    "R [Ω]",
    "K_v [N·m·s/rad]",
    "k_t/R [N·m/V]",
    "(1-K_m)·k_t/R",
    "(1-K_m)·k_t²/R + K_v [N·m·s/rad]",
    "friction at 3 rad/s [N·m]",
    "at 0.1 rad/s [N·m]",
    "J_m [kg·m²]",
]
"""Load friction takes a share K_m of τ_m where the motor drives: what is left acts, and open loop tells it.
Friction is that of steady motion, K_v apart."""
_BALANCE = 100  # iterations until the motor's torque is what friction takes of it


def published(model: DynabanModel) -> ServoModel:
    """Return Dynaban's model as a servo of this suite: law (4) with δ = 1 is M2 with α = 1."""
    return replace(
        load_servo("mx64"),
        motor=model.motor,
        friction_model="m2",
        friction=model.friction,
        integrator="midpoint",
    )


def row(label: str, servo: ServoModel, test: Sequence[Recording]) -> list[str]:
    """Return errors on the test runs, and what open loop tells of a servo beside what it does not."""
    vector = parameter_vector(servo)
    short, whole = (
        1e3 * float(Rollout.for_servo(test, servo, restart=restart).errors(vector).mean())
        for restart in (None, math.inf)
    )
    motor, friction = servo.motor, servo.friction
    ratio = motor.torque_constant / motor.resistance
    acting = ratio * (1.0 - friction.load_motor)
    return [
        label,
        f"{short:.2f}",
        f"{whole:.1f}",
        f"{motor.torque_constant:.2f}",
        f"{motor.resistance:.2f}",
        f"{friction.viscous:.3f}",
        f"{ratio:.3f}",
        f"{acting:.3f}",
        f"{acting * motor.torque_constant + friction.viscous:.3f}",
        f"{_steady(friction, 3.0):.3f}",
        f"{_steady(friction, 0.1):.3f}",
        f"{motor.armature:.4f}",
    ]


def _steady(friction: Friction, speed: float) -> float:
    """Return friction in steady motion, N·m, without its viscous term: the motor's torque balances it."""
    torque = 0.0
    for _ in range(_BALANCE):
        torque = float(friction.budget(torque, 0.0, speed))
    return torque - friction.viscous * speed


def main(directory: str, seeds: Sequence[int]) -> None:
    """Print the tables."""
    logs = load_recordings([f"{directory}/no_load.txt", f"{directory}/heavy_load.txt"])
    test = [log for log in logs if int(log.name.rsplit("_", 1)[1]) % 2]
    others = {
        "library mx64 (M6)": load_servo("mx64"),
        "published/mx64 (M6, BAM)": load_servo("published/mx64"),
        "Dynaban, its program": published(PROGRAM),
        "Dynaban, its firmware": published(FIRMWARE),
    }
    rows = [row(name, servo, test) for name, servo in others.items()]
    for seed in seeds:
        result = identify(logs, "mx64", IdentifySettings(models="all", test=test, seed=seed))
        for name, fit in result.fits.items():
            chosen = ", chosen" if name == result.chosen else ""
            rows.append(row(f"{name}, seed {seed}{chosen}", fit.servo, test))
        best = result.fits[result.chosen]
        logging.info("seed %d: %s %s", seed, result.reason, result.test_error)
        if best.diagnosis is not None:
            logging.info("%s", best.diagnosis.sentence)
        for estimate in best.uncertainty.estimates if best.uncertainty is not None else ():
            told = "" if estimate.identifiable else " (not identifiable)"
            logging.info(
                "%s %.4g, %.4g to %.4g%s", estimate.name, estimate.value, estimate.low, estimate.high, told
            )
        print(format_table(HEADINGS, rows), flush=True)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(sys.argv[1], [int(word) for word in sys.argv[2:]] or [0, 1, 2])
