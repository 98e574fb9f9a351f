# SPDX-License-Identifier: Apache-2.0
"""What few runs of a new unit are worth beside the units of its type: virtual XL330 that scatter.

    python -m studies.new_unit [--units 12] [--new 3] [--seed 0]

Units differ by 18 % in friction and 3 % in motor constants, runs of one unit by 6 % and 1 %. Every unit of
the type is identified from eight runs, and `servo_type` makes the prior of them. Each new unit is identified
from two runs with that prior, from the same two runs without, and from 24 runs without. Reported is the mean
absolute error on twelve other runs, and the share of parameters within their 95 % intervals.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.found_servo import found_servo
from bam_core.identification.identify import identify
from bam_core.identification.result import Identification
from bam_core.identification.servo_type import servo_type
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.uncertainty.prediction_file import save_prediction
from bam_core.identification.uncertainty.unit_prior import UnitPrior
from bam_core.identification.variation.factors import GROUPS, varied
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import ServoEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.synthetic import SynthesisSettings, synthesize

OF_UNITS = {"no_load": 0.18, "load": 0.18, "strength": 0.03, "other": 0.03}
"""Relative standard deviations from unit to unit: of the three groups, and of each parameter by itself."""

OF_RUNS = (0.06, 0.06, 0.01)
"""From run to run, in the order of `GROUPS`."""

SCRIPTS = ("sin_time_square", "sin_sin", "up_and_down", "lift_and_drop")
BENCHES = (
    PendulumBench(mass=0.25, arm_mass=0.02, length=0.1),
    PendulumBench(mass=0.5, arm_mass=0.02, length=0.1),
)
GAINS = (200.0, 400.0, 800.0)


def base() -> ServoModel:
    """Return an XL330 without the effects of its servo: motor and friction alone."""
    servo = load_servo("xl330")
    motor = replace(servo.motor, torque_saturation=0.0, winding_heating=0.0)
    search = replace(servo.search, effects=())
    return replace(servo, motor=motor, servo_effects=ServoEffects(), search=search, uncertainty={})


def unit(servo: ServoModel, random: np.random.Generator) -> Array:
    """Return the parameters (PARAMETERS,) of another unit."""
    vector = parameter_vector(servo)
    common = np.array([[OF_UNITS[group] * random.standard_normal() for group in GROUPS]])
    vector = varied(vector, common)[0]
    model = FRICTION_MODELS[servo.friction_model]
    names = ("torque_constant", "resistance", "armature", *model.parameters)
    factors = dict(zip(names, np.exp(OF_UNITS["other"] * random.standard_normal(len(names))), strict=True))
    one, _ = found_servo(servo, model, vector)
    values = {name: value * factors[name] for name, value in model.values(one.friction).items()}
    motor = {name: getattr(one.motor, name) * factors[name] for name in names[:3]}
    return parameter_vector(replace(one, motor=replace(one.motor, **motor), friction=model.friction(values)))


def runs(servo: ServoModel, vector: Array, count: int, random: np.random.Generator) -> list[Recording]:
    """Return recordings of a unit, each with factors of its own."""
    model = FRICTION_MODELS[servo.friction_model]
    recordings = []
    for number in range(count):
        factors = np.array([OF_RUNS]) * random.standard_normal((1, len(GROUPS)))
        own, _ = found_servo(servo, model, varied(vector, factors)[0])
        recording = synthesize(
            own,
            BENCHES[number % len(BENCHES)],
            SCRIPTS[number // len(BENCHES) % len(SCRIPTS)],
            GAINS[number % len(GAINS)],
            SynthesisSettings(sample_period=5e-3, quantised=True),
        )
        recordings.append(replace(recording, name=f"{number} {recording.name}"))
    return recordings


def identified(
    servo: ServoModel, recordings: Sequence[Recording], prior: UnitPrior | None = None
) -> Identification:
    """Identify one friction model, all runs in training."""
    settings = IdentifySettings(models=servo.friction_model, test="none", prior=prior)
    return identify(recordings, servo, settings)


def main() -> None:
    """Print the errors of every new unit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=12)
    parser.add_argument("--new", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    random, servo = np.random.default_rng(arguments.seed), base()
    model = servo.friction_model
    with tempfile.TemporaryDirectory() as directory:
        files = {}
        for number in range(arguments.units):
            result = identified(servo, runs(servo, unit(servo, random), 8, random))
            files[f"u{number}"] = Path(directory) / f"u{number}" / f"{model}.yaml"
            files[f"u{number}"].parent.mkdir()
            result.fits[model].servo.save(files[f"u{number}"])
            save_prediction(files[f"u{number}"], result.predictions[model])
            print(f"unit {number}: {1e3 * result.fits[model].train_mae:.2f} mrad", flush=True)
        prior = servo_type(files)
    for number in range(arguments.new):
        true = unit(servo, random)
        many, others = runs(servo, true, 24, random), runs(servo, true, 12, random)
        rollout = Rollout.for_servo(others, servo)
        line = f"new {number}: typical {1e3 * rollout.errors(parameter_vector(prior.servo)).mean():.2f}"
        for name, logs, known in (
            ("2 runs with prior", many[4:6], prior),
            ("2 runs", many[4:6], None),
            ("24 runs", many, None),
        ):
            fit = identified(servo, logs, known).fits[model]
            error = float(rollout.errors(parameter_vector(fit.servo)).mean())
            assert fit.uncertainty is not None
            held = [
                estimate.low <= true[PARAMETERS.index(axis.targets[0])] <= estimate.high
                for estimate, axis in zip(fit.uncertainty.estimates, fit.space.axes, strict=True)
            ]
            line += f", {name} {1e3 * error:.2f} ({sum(held)}/{len(held)})"
        print(f"{line} mrad", flush=True)


if __name__ == "__main__":
    main()
