# SPDX-License-Identifier: Apache-2.0
"""False alarms of the friction monitor in a day, and how soon it notices wear, on a virtual joint.

    python -m studies.friction_health [--hours 24] [--seeds 3]

The joint moves, pauses, carries other loads every few minutes, some of which its model does not know, and
warms up and cools down. Its friction falls with temperature as greases do, varies by a few percent over
minutes, and has a load term that is not that of its file. Positions, torques and temperatures come at the
rate of the node, noise included; friction is that of the servo's law, and no dynamics are simulated.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.servo.model import ServoModel, load_servo
from bam_core.whole_body.friction_blocks import (
    REFERENCE_TEMPERATURE,
    FrictionSamples,
    friction_block,
    predicted_friction,
)
from bam_core.whole_body.friction_health import BLOCK, FrictionHealth, HealthMonitor

RATE = 100.0
"""Samples per second."""


@dataclass(frozen=True, kw_only=True)
class VirtualJoint:
    """A joint that moves all day.

    Attributes:
        servo: whose law its friction follows.
        factor: of friction, as a function of the hours since it began.
        gamma: by how much friction without load falls per kelvin, 1/K.
        load_error: of the file's friction under load, relative.
        wander: standard deviation of the logarithm of friction over minutes.
        noise: of the observed torque, as a share of stall torque.
        unknown_load: share of a load that the robot's model lacks, at most.
        rise: K that the servo is warmer after long motion.
    """

    servo: ServoModel
    gamma: float = 0.008
    load_error: float = 0.05
    wander: float = 0.02
    noise: float = 0.003
    unknown_load: float = 0.1
    rise: float = 30.0

    def blocks(
        self, hours: float, seed: int, wear: float = 0.0, since: float = 0.0, work: float = 900.0
    ) -> Iterator[tuple[float, FrictionSamples]]:
        """Yield hours since the beginning, and the samples of every block of motion.

        Args:
            hours: to simulate, pauses included.
            seed: of all random numbers.
            wear: relative increase of friction,
            since: from this hour on.
            work: s of motion between pauses of up to as long.
        """
        random = np.random.default_rng(seed)
        count = round(BLOCK * RATE)
        clock = np.arange(count) / RATE
        stall = self.servo.stall_torque()
        now, warm, wandering, rest = 0.0, 0.0, 0.0, 0.0
        task = self._task(random, stall)
        phase, until = 0.0, 0.0
        while now < 3600.0 * hours:
            if now >= until:
                task = self._task(random, stall)
                until = now + random.uniform(30.0, 300.0)
            if rest >= work:
                pause = random.uniform(0.1, 1.0) * work
                warm *= math.exp(-pause / 900.0)
                now, rest = now + pause, 0.0
            warm += (1.0 - warm) * (1.0 - math.exp(-BLOCK / 900.0))
            amplitude, frequency, load, unknown = task
            angle = amplitude * np.sin(phase + 2.0 * math.pi * frequency * clock)
            velocity = (
                amplitude * 2.0 * math.pi * frequency * np.cos(phase + 2.0 * math.pi * frequency * clock)
            )
            phase += 2.0 * math.pi * frequency * BLOCK
            external = -load * np.sin(angle)
            temperature = REFERENCE_TEMPERATURE + self.rise * warm
            no_load, by_load = predicted_friction(self.servo, -external, external, velocity)
            wandering += (
                -wandering * BLOCK / 60.0
                + self.wander * math.sqrt(2.0 * BLOCK / 60.0) * random.standard_normal()
            )
            grown = math.exp(wandering) * (1.0 + (wear if now >= 3600.0 * since else 0.0))
            true = grown * (
                no_load * math.exp(-self.gamma * (temperature - REFERENCE_TEMPERATURE))
                + (1.0 + self.load_error) * by_load
            )
            torque = true * np.sign(velocity) - unknown * external
            torque += self.noise * stall * _coloured(random, count)
            now, rest = now + BLOCK, rest + BLOCK
            yield (
                now / 3600.0,
                FrictionSamples(
                    torque=torque,
                    no_load=no_load,
                    load=by_load,
                    external=external,
                    velocity=velocity,
                    temperature=np.full(count, round(temperature)),
                ),
            )

    def _task(self, random: np.random.Generator, stall: float) -> tuple[float, float, float, float]:
        """Return amplitude, frequency, load torque and the share of it that is unknown, of one task."""
        return (
            random.uniform(0.3, 1.2),
            random.uniform(0.4, 1.0),
            random.uniform(0.0, 0.2) * stall,
            random.uniform(-1.0, 1.0) * self.unknown_load,
        )


def _coloured(random: np.random.Generator, count: int) -> Array:
    """Return noise (count,) of deviation 1, a moving average over five samples as a filter makes it."""
    return np.convolve(random.standard_normal(count + 4), np.ones(5) / math.sqrt(5.0), mode="valid")


def watch(
    joint: VirtualJoint, monitor: HealthMonitor, hours: float, seed: int, **wear: float
) -> tuple[list[tuple[float, str]], FrictionHealth, int]:
    """Return every alarm with its hour, what is known in the end, and the blocks of motion."""
    alarms: list[tuple[float, str]] = []
    before = ""
    gamma = monitor.servo.servo_effects.friction_temperature
    moved = 0
    for hour, samples in joint.blocks(hours, seed, **wear):
        moved += 1
        block = friction_block(samples, gamma)
        if block is None:
            continue
        alarm = monitor.take(block).alarm
        if alarm and alarm != before:
            alarms.append((hour, alarm))
        before = alarm
    return alarms, monitor.health, moved


def main() -> None:
    """Print false alarms and delays."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    servo = load_servo("mx106")
    for gamma in (0.0, 0.005, 0.01):
        for seed in range(arguments.seeds):
            begin = time.process_time()
            joint = VirtualJoint(servo=servo, gamma=gamma)
            alarms, end, moved = watch(joint, HealthMonitor(servo), arguments.hours, seed)
            print(
                f"gamma {gamma:g}, seed {seed}: {len(alarms)} false alarms in {arguments.hours:g} h "
                f"({moved * BLOCK / 3600.0:.1f} h of motion); change {100 * end.change:+.1f} %, gamma found "
                f"{end.temperature_coefficient[0]:.4f} ± {end.temperature_coefficient[1]:.4f}; "
                f"{time.process_time() - begin:.1f} s",
                flush=True,
            )
    for since in (0.0, 0.05, 1.0):
        delays = []
        for seed in range(4 * arguments.seeds):
            joint = VirtualJoint(servo=servo)
            alarms, _, _ = watch(joint, HealthMonitor(servo), since + 0.1, seed, wear=0.2, since=since)
            delays.append(3600.0 * (alarms[0][0] - since) if alarms else math.inf)
        print(
            f"+20 % after {since:g} h: noticed after {', '.join(f'{delay:.0f}' for delay in delays)} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
