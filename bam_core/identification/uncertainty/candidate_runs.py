# SPDX-License-Identifier: Apache-2.0
"""What could be recorded next: scripts, gains and loads that the servo can lift."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bam_core.errors import Conflict
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS, TrajectoryScript
from bam_core.servo.model import ServoModel
from bam_core.servo.pendulum import GRAVITY, PendulumBench
from bam_core.text.recording_words import run_words

OVERHEAD = 6.0
"""s per run beyond its script: to the start, rest, and back."""
LOAD_CHANGE = 60.0
"""s to hang another load."""

_SAMPLE_PERIOD = 5e-3  # s; as fine as any difference between runs
_LEAST_MARGIN = 0.9  # of the stall torque; close to stall a winding cooks and the arm hangs
_SHARES = (0.25, 0.6)  # of the stall torque: what loads weigh where nothing was recorded yet
_LENGTHS = (0.1, 0.2)  # m, their arms; longer
_SMALL = 16.0  # N·m; for servos stronger than this
_DEMANDS = (1.5, 5.0)  # duty per rad of error: gains where nothing was recorded yet


@dataclass(frozen=True, kw_only=True)
class CandidateRun:
    """One run that could be recorded.

    Attributes:
        script: what the servo follows.
        kp: position gain, firmware units.
        bench: load.
        supply_voltage: V.
    """

    script: TrajectoryScript
    kp: float
    bench: PendulumBench
    supply_voltage: float

    @property
    def label(self) -> str:
        """The run in words."""
        return run_words(self.script.name, self.bench.mass, self.bench.length, self.kp)

    @property
    def seconds(self) -> float:
        """What the run takes with its load hanging, s."""
        return self.script.duration + OVERHEAD

    def as_recording(self, servo: ServoModel) -> Recording:
        """Return the run's commands as a recording whose arm is held at the start."""
        samples = round(self.script.duration / _SAMPLE_PERIOD) + 1
        time = np.linspace(0.0, (samples - 1) * _SAMPLE_PERIOD, samples)
        goal, enabled = self.script(time)
        unknown = np.full(len(time), np.nan)
        return Recording(
            name=self.label,
            source=Path("planned") / self.label,
            sha256=hashlib.sha256(self.label.encode()).hexdigest(),
            servo=servo.name,
            bench=self.bench,
            kp=self.kp,
            supply_voltage=self.supply_voltage,
            script=self.script.name,
            time=time,
            position=np.full(len(time), goal[0]),
            velocity=unknown,
            goal_position=goal,
            torque_enabled=enabled,
            voltage=unknown,
            temperature=unknown,
            duty=unknown,
        )


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What may be varied from run to run.

    Attributes:
        loads: to hang.
        gains: kp, firmware units.
        scripts: to follow.
        supply_voltage: V.
    """

    loads: tuple[PendulumBench, ...]
    gains: tuple[float, ...]
    scripts: tuple[TrajectoryScript, ...] = tuple(SCRIPTS.values())
    supply_voltage: float

    def runs(self) -> tuple[CandidateRun, ...]:
        """Every combination, load by load."""
        return tuple(
            CandidateRun(script=script, kp=kp, bench=load, supply_voltage=self.supply_voltage)
            for load in self.loads
            for kp in self.gains
            for script in self.scripts
        )


def stall_torque(servo: ServoModel, supply_voltage: float) -> float:
    """Return the largest torque at rest, N·m, without friction, which helps to hold and hinders to lift."""
    return servo.stall_torque(supply_voltage)


def liftable(
    servo: ServoModel, loads: Iterable[PendulumBench], supply_voltage: float
) -> tuple[tuple[PendulumBench, ...], tuple[str, ...]]:
    """Return the loads that the servo can lift, and a line about each of the others.

    Raises:
        BamError: it can lift none of them.
    """
    stall = stall_torque(servo, supply_voltage)
    fits, refused = [], []
    for load in loads:
        if load.gravity_torque <= _LEAST_MARGIN * stall:
            fits.append(load)
        else:
            refused.append(
                f"{load.mass:g} kg at {load.length:g} m: takes {load.gravity_torque:.3g} N·m to hold level "
                f"(expected at most {_LEAST_MARGIN:.0%} of the stall torque, {stall:.3g} N·m at "
                f"{supply_voltage:g} V); left out"
            )
    if not fits:
        raise Conflict("loads", refused[0].removesuffix("; left out"), advice="give lighter or shorter ones")
    return tuple(fits), tuple(refused)


def arm_stretch(servo: ServoModel, supply_voltage: float) -> float:
    """Return by how much longer arms should be than for a small servo, so that loads stay in hand."""
    return round(max(math.sqrt(stall_torque(servo, supply_voltage) / _SMALL), 1.0), 1)


def choice_for(servo: ServoModel, supply_voltage: float | None = None) -> Choice:
    """Return what suits a servo's strength, where nothing has been recorded yet."""
    supply = supply_voltage or servo.nominal_voltage
    stall = stall_torque(servo, supply)
    lengths = [_rounded(arm_stretch(servo, supply) * length) for length in _LENGTHS]
    loads = tuple(
        PendulumBench(mass=_rounded(share * stall / (GRAVITY * length)), length=length)
        for share in _SHARES
        for length in lengths
    )
    gains = tuple(_rounded(servo.firmware.kp_for(demand)) for demand in _DEMANDS)
    return Choice(loads=loads, gains=gains, supply_voltage=supply)


def choice_near(servo: ServoModel, recordings: Sequence[Recording]) -> Choice:
    """Return what a lab that made these recordings can do next: its loads and gains, and some beside them.

    Of its loads these are the lightest and the heaviest, each also with half and one and a half times the
    mass and one and a half times the length; of its gains the smallest and the largest, half and twice these.

    Raises:
        Unsupported: some are runs in open loop.
    """
    for recording in recordings:
        recording.require_closed_loop("a plan of recordings")
    supply = max(recording.supply_voltage for recording in recordings)
    by_torque = sorted({recording.bench for recording in recordings}, key=lambda bench: bench.gravity_torque)
    known = list(dict.fromkeys((by_torque[0], by_torque[-1])))
    loads = dict.fromkeys(known)
    for load in known:
        for mass, length in ((0.5, 1.0), (1.5, 1.0), (1.0, 1.5)):
            loads[
                PendulumBench(
                    mass=_rounded(mass * load.mass),
                    length=_rounded(length * load.length),
                    arm_mass=load.arm_mass,
                )
            ] = None
    gains = sorted({recording.kp for recording in recordings})
    fits = tuple(load for load in loads if load.gravity_torque <= _LEAST_MARGIN * stall_torque(servo, supply))
    return Choice(
        loads=fits or tuple(known[:1]),
        gains=tuple(sorted({_rounded(0.5 * gains[0]), gains[0], gains[-1], _rounded(2.0 * gains[-1])})),
        supply_voltage=supply,
    )


def _rounded(value: float) -> float:
    """Round to two digits, as weights and gains come."""
    return float(f"{value:.2g}")
