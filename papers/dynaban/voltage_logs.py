# SPDX-License-Identifier: Apache-2.0
"""Open-loop voltage logs (Dynaban, section 4): the 113 commands, and virtual servos that execute them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, WrongShape
from bam_core.servo.model import ServoModel
from bam_core.servo.pendulum import PendulumBench
from papers.dynaban.motor_model import DynabanModel

BARE = PendulumBench(mass=0.0, arm_mass=0.0, length=0.12)
"""Nothing attached to the shaft."""

LOADED = PendulumBench(mass=0.28, arm_mass=0.0, length=0.12)
"""The load of the paper."""

PERIOD = 1e-3
"""Between the samples of a log, s."""

SAMPLES = 1000
"""Of a log that lasts 1 s."""

_STEPS, _SAW_TEETH, _ABRUPT = 48, 33, 32  # together 113
_SUBSTEPS = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class VoltageLog:
    """One run without feedback.

    Attributes:
        name: of the command and its load.
        bench: what hangs on the shaft.
        voltage: (n,) V, held from its sample on for PERIOD.
        position: (n,) rad; θ = 0 hangs straight down.
        start_velocity: at the first sample, rad/s.

    Raises:
        BamError: lengths differ, there are fewer than two samples, or a number is not finite.
    """

    name: str
    bench: PendulumBench
    voltage: Array
    position: Array
    start_velocity: float = 0.0

    def __post_init__(self) -> None:
        if self.voltage.shape != self.position.shape or self.voltage.ndim != 1 or len(self.voltage) < 2:
            raise WrongShape(
                f"log '{self.name}', shapes",
                (self.voltage.shape, self.position.shape),
                "as many samples, two or more",
                printed=f"voltage {self.voltage.shape} and position {self.position.shape}",
                advice="record it again",
            )
        if not (np.all(np.isfinite(self.voltage)) and np.all(np.isfinite(self.position))):
            raise BadData(f"log '{self.name}'", "a sample is not finite", advice="record it again")


def voltage_commands(supply: float) -> dict[str, Array]:
    """Return the 113 commands of 1 s, (SAMPLES,) V each: steps, saw-teeth, and abrupt steps."""
    time = PERIOD * np.arange(SAMPLES)
    commands: dict[str, Array] = {}
    for index, level in enumerate(np.linspace(0.06, 1.0, _STEPS // 2)):
        for sign in (1.0, -1.0):
            commands[f"step {2 * index + (sign < 0):02d}"] = np.full(SAMPLES, sign * level * supply)
    for index in range(_SAW_TEETH):
        teeth, size = 1 + index % 4, 0.2 + 0.8 * index / (_SAW_TEETH - 1)
        saw = np.mod(time * teeth, 1.0) * (1.0 if index % 2 else -1.0)
        lifted = saw if index % 3 else 2.0 * saw - np.sign(saw.sum())
        commands[f"saw-tooth {index:02d}"] = size * supply * lifted
    rng = np.random.default_rng(16)
    for index in range(_ABRUPT):
        levels = rng.uniform(-1.0, 1.0, 3 + index % 8)
        places = np.minimum((time * len(levels)).astype(int), len(levels) - 1)
        commands[f"abrupt {index:02d}"] = supply * levels[places]
    return commands


def record_virtual(
    servo: ServoModel | DynabanModel,
    supply: float,
    *,
    counts_per_turn: float = 4096.0,
    benches: Sequence[PendulumBench] = (BARE, LOADED),
) -> list[VoltageLog]:
    """Return the logs of a servo whose physics are known, simulated ten times finer than they are sampled.

    Args:
        servo: that executes them.
        supply: largest voltage, V.
        counts_per_turn: of the encoder, which rounds.
        benches: loads, each with every command.
    """
    commands = voltage_commands(supply)
    count = 2.0 * np.pi / counts_per_turn
    logs = []
    for bench in benches:
        voltage = np.array(list(commands.values()))
        position = count * np.rint(_simulated(servo, bench, voltage) / count)
        load = "bare" if bench.mass == 0.0 else f"{bench.mass:g} kg"
        for name, volts, places in zip(commands, voltage, position, strict=True):
            logs.append(VoltageLog(name=f"{name}, {load}", bench=bench, voltage=volts, position=places))
    return logs


def _simulated(servo: ServoModel | DynabanModel, bench: PendulumBench, voltage: Array) -> Array:
    """Return positions (runs, samples) of runs from rest; BAM Algorithm 1 with the velocity in the middle."""
    dt = PERIOD / _SUBSTEPS
    inertia = bench.inertia + servo.motor.armature
    place, speed = np.zeros((2, len(voltage)))
    result = np.empty_like(voltage)
    for k in range(voltage.shape[1]):
        result[:, k] = place
        for _ in range(_SUBSTEPS):
            motor = servo.motor.torque(voltage[:, k], speed)
            load = bench.external_torque(place)
            if isinstance(servo, DynabanModel):
                budget = servo.budget(speed)
            else:
                budget = servo.friction.budget(motor, load, speed)
            stop = -(inertia / dt * speed + motor + load)
            gained = (motor + load + np.clip(stop, -budget, budget)) / inertia * dt
            place = place + dt * (speed + 0.5 * gained)
            speed = speed + gained
    return result
