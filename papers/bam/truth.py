# SPDX-License-Identifier: Apache-2.0
"""Servos outside of M1 to M6, and recordings of them on pendulum benches as a laboratory makes them.

Their friction in steady motion is what BAM's authors published (M6); what is beyond follows recordings of
real servos, see `Reality`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.model import ServoModel
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.threads import available_processors
from papers.bam.joint import PERIOD, STEP, Joint, demanded, dry_friction, friction_torque, motor_torque

SAMPLE_PERIOD = 5e-3
"""s; of recordings: about what BAM's recorder reaches."""


@dataclass(frozen=True, kw_only=True)
class Reality:
    """What real servos and benches have beyond the models, with where its size comes from.

    Attributes:
        presliding: rad over which bristles bend: what data sheets of MX servos state as backlash, 0.33°.
        asymmetry: share of dry friction that depends on the direction.
        ripple: share of the stall torque. Motors of MX servos are coreless, so what ripples is less than
            their dry friction.
        harmonic: of the ripple, per turn of the output shaft.
        delay: of commands, s: that of the library's XL330, which was recorded on BAM's own bench.
        friction_spread: standard deviation, relative, of dry and viscous friction from run to run, as servos
            warm up and cool down. With it two repetitions of a run differ by 5 to 7 mrad on the mean,
            those of the real STS3215 by 11.
        supply_spread: likewise of the supply: what readings in tenths of a volt leave open.
        mass_spread: standard deviation, relative, of a load from what was weighed; one value per load.
        start: standard deviation of where the arm is at first, rad: friction holds it off its rest.
        zero_offset: of the encoder, rad: -0.023 and 0.017 on the library's benches.
    """

    presliding: float = 5e-3
    asymmetry: float = 0.1
    ripple: float = 0.003
    harmonic: float = 28.0
    delay: float = 2.5e-3
    friction_spread: float = 0.03
    supply_spread: float = 0.005
    mass_spread: float = 0.005
    start: float = 0.02
    zero_offset: float = 0.02


SPUR_GEARS = Reality()
"""Dynamixel servos."""


def harmonic_drive(reduction: float) -> Reality:
    """Return that of an eRob80: a stiffer gear whose torque ripples twice per turn of its input shaft."""
    return replace(SPUR_GEARS, presliding=2e-3, ripple=0.01, harmonic=2.0 * reduction)


@dataclass(frozen=True, kw_only=True)
class TrueServo:
    """A servo and what it has beyond M1 to M6.

    Attributes:
        servo: motor, firmware and friction in steady motion.
        reality: the rest.
    """

    servo: ServoModel
    reality: Reality

    def joint(self, kp: float, *, supply: float = 1.0, friction: float = 1.0) -> Joint:
        """Return the joint with a gain, with factors of its supply voltage and of its friction."""
        servo, reality = self.servo, self.reality
        law, firmware = servo.friction.coefficients(), servo.firmware
        scaled = {
            name: value * (1.0 if name in ("stribeck_velocity", "stribeck_exponent") else friction)
            for name, value in law.items()
        }
        gain, damping = firmware.gains(kp)
        return Joint(
            torque_constant=servo.motor.torque_constant,
            resistance=servo.motor.resistance,
            armature=servo.motor.armature,
            **scaled,
            gain=float(gain),
            damping=float(damping),
            limit=firmware.demand_limit,
            supply=servo.nominal_voltage * supply,
            is_current=float(firmware.regulates_current),
            presliding=reality.presliding,
            asymmetry=reality.asymmetry,
            ripple=reality.ripple * servo.stall_torque(),
            harmonic=reality.harmonic,
        )


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run on the bench: load, gain and script."""

    load: PendulumBench
    kp: float
    script: str


def record(truth: TrueServo, runs: Sequence[Run], *, seed: int = 0) -> list[Recording]:
    """Record runs, each with its own supply, friction and start; loads that weigh the same are the same."""
    random = np.random.default_rng(seed)
    draws = random.standard_normal((len(runs), 4))
    for row, run in zip(draws, runs, strict=True):
        row[1] = np.random.default_rng(round(1e3 * run.load.mass)).standard_normal()
    with ThreadPoolExecutor(available_processors()) as pool:
        return list(pool.map(lambda pair: _recorded(truth, *pair), zip(runs, draws, strict=True)))


def _recorded(truth: TrueServo, run: Run, draw: Array) -> Recording:
    reality, script = truth.reality, SCRIPTS[run.script]
    supply, mass, friction = (
        1.0 + spread * float(deviation)
        for spread, deviation in zip(
            (reality.supply_spread, reality.mass_spread, reality.friction_spread), draw, strict=False
        )
    )
    time = np.arange(0.0, script.duration, SAMPLE_PERIOD)
    grid = np.arange(0.0, script.duration, PERIOD)
    # Goals are sent once per sample and arrive later.
    sent = SAMPLE_PERIOD * np.floor((grid - reality.delay) / SAMPLE_PERIOD + 1e-6)
    goal, enabled = script(np.maximum(sent, 0.0))
    fine = _pendulum(
        truth.joint(run.kp, supply=supply, friction=max(friction, 0.0)),
        goal - reality.zero_offset,
        enabled.astype(np.float64),
        run.load.inertia * mass,
        run.load.gravity_torque * mass,
        reality.start * float(draw[3]),
    )
    count = truth.servo.firmware.resolution
    position = np.interp(time, grid, fine) + reality.zero_offset
    goals, on = script(time)
    load = f"{run.load.mass:g}kg_{run.load.length:g}m"
    name = f"{truth.servo.name}_{run.script}_kp{run.kp:g}_{load}"
    unknown = np.full(len(time), np.nan)
    return Recording(
        name=name,
        source=Path("synthetic") / name,
        sha256=hashlib.sha256(name.encode()).hexdigest(),
        servo=truth.servo.name,
        bench=run.load,
        kp=run.kp,
        supply_voltage=truth.servo.nominal_voltage,
        script=run.script,
        time=time,
        position=np.round(position / count) * count,
        velocity=unknown,
        goal_position=goals,
        torque_enabled=on,
        voltage=unknown,
        temperature=unknown,
        duty=unknown,
    )


@compiled()
def _pendulum(
    joint: Joint, goals: Array, enabled: Array, arm_inertia: float, weight: float, start: float
) -> Array:
    """Return positions once per period, rad.

    Args:
        joint: the servo.
        goals: (n,) rad, one per period.
        enabled: (n,) 1 where torque is on.
        arm_inertia: of the load, kg·m².
        weight: gravity torque of the level arm, N·m.
        start: rad, at rest.
    """
    substeps = round(PERIOD / STEP)
    inertia = joint.armature + arm_inertia
    result = np.empty(len(goals))
    position, velocity, strain = start, 0.0, 0.0
    for k in range(len(goals)):
        result[k] = position
        demand = demanded(joint, goals[k] - position, velocity)
        for _ in range(substeps):
            motor = motor_torque(joint, demand, position, velocity, enabled[k])
            external = -weight * np.sin(position)
            level = dry_friction(joint, motor, external, velocity)
            friction, rate = friction_torque(joint, level, strain, velocity, inertia)
            strain += rate * STEP
            velocity += (motor + external + friction) / inertia * STEP
            position += velocity * STEP
    return result


_DYNAMIXEL = ((0.5, 1.0, 1.5), (0.1, 0.15, 0.2), (4.0, 8.0, 16.0, 32.0))
_EROB = ((3.1, 8.2, 12.7, 14.6, 19.6), (0.5,), (10.0, 25.0, 50.0, 100.0))
"""BAM table I: masses, kg, lengths, m, gains."""


def table_1(is_erob: bool) -> Iterator[tuple[PendulumBench, float]]:
    """Yield the loads and gains of BAM table I."""
    masses, lengths, gains = _EROB if is_erob else _DYNAMIXEL
    for mass in masses:
        for length in lengths:
            for kp in gains:
                yield PendulumBench(mass=mass, length=length), kp


def within_table_1(is_erob: bool, count: int, *, seed: int) -> list[Run]:
    """Return runs whose load, gain and script are drawn each for itself, within the ranges of table I.

    Masses and lengths are drawn evenly, gains evenly on a logarithmic scale, as the table has them.
    """
    masses, lengths, gains = _EROB if is_erob else _DYNAMIXEL
    random = np.random.default_rng(seed)
    return [
        Run(
            load=PendulumBench(
                mass=float(random.uniform(masses[0], masses[-1])),
                length=float(random.uniform(lengths[0], lengths[-1])),
            ),
            kp=float(np.exp(random.uniform(np.log(gains[0]), np.log(gains[-1])))),
            script=str(random.choice(list(SCRIPTS))),
        )
        for _ in range(count)
    ]
