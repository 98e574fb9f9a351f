# SPDX-License-Identifier: Apache-2.0
"""What a recording session consists of, and the ordered list of runs that follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bam_core.errors import BamError, Conflict, Missing, OutOfRange
from bam_core.errors.checks import require_positive
from bam_core.recordings.trajectories import TrajectoryScript
from bam_core.servo.gains import require_gain
from bam_core.servo.model import ServoModel
from bam_core.servo.pendulum import PendulumBench
from bam_core.servo.plausible import require_plausible

MOST_RUNS = 10_000
"""Of a session; a day has 8000 of them."""

PAUSE_LIMIT = 0.03
"""Default of `Session.pause_limit`, s.

While nothing is measured for a time T, an arm that swings by A at ω moves up to A·(ω·T)²/8 beside a straight
line: 18 mrad at the bench's 1 rad and 2 Hz, as much as the models that are compared differ by.
"""


_RANGES = {
    "supply_voltage": (0.1, 100.0, "V"),  # as of recordings
    "approach_speed": (0.01, 3.0, "rad/s"),  # slower, a run's way to its start takes minutes
    "position_limit": (0.01, 4.0 * math.pi, "rad"),
    "error_limit": (0.01, 8.0 * math.pi, "rad"),
    "pause_limit": (1e-3, 60.0, "s"),  # no driver is faster, and no run longer
}


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """One script with one gain and one load: what becomes one bag.

    Attributes:
        index: place in the session, from 1.
        block: number of its load in the session, from 1; the operator acts between blocks.
        load: what hangs on the servo.
        kp: position gain, firmware units.
        script: what the servo follows.
        repetition: from 1.
        ki: integral gain, firmware units.
        kd: derivative gain, firmware units.
    """

    index: int
    block: int
    load: PendulumBench
    kp: float
    script: TrajectoryScript
    repetition: int = 1
    ki: float = 0.0
    kd: float = 0.0

    @property
    def name(self) -> str:
        """Name of the bag's directory; stays the same when the session file grows."""
        arm = f"_a{_digits(self.load.arm_mass, 3)}" if self.load.arm_mass else ""
        again = f"_{self.repetition}" if self.repetition > 1 else ""
        load = f"m{_digits(self.load.mass, 2)}_l{_digits(self.load.length, 3)}{arm}"
        gains = "".join(f"_{name}{gain:g}" for name, gain in self._others)
        return f"{load}_kp{self.kp:g}{gains}_{self.script.name}{again}"

    @property
    def label(self) -> str:
        """The run in words."""
        again = f", repetition {self.repetition}" if self.repetition > 1 else ""
        gains = "".join(f", {name} {gain:g}" for name, gain in self._others)
        return f"{describe_load(self.load)}, kp {self.kp:g}{gains}, {self.script.name}{again}"

    @property
    def _others(self) -> list[tuple[str, float]]:
        """Integral and derivative gain by name, where they are not 0."""
        return [(name, gain) for name, gain in (("ki", self.ki), ("kd", self.kd)) if gain]


@dataclass(frozen=True, kw_only=True)
class Session:
    """Scripts x gains x loads for one servo.

    Attributes:
        name: of the session, kept in every bag.
        servo: what is on the bench.
        joint: the servo's name in `servo_states`.
        id: bus id of the servo, kept in every bag.
        supply_voltage: nominal supply, V.
        loads: in the order in which the operator hangs them.
        gains: values of kp, firmware units.
        scripts: trajectory scripts.
        ki: integral gain of all runs, firmware units.
        kd: derivative gain of all runs, firmware units; LeRobot sets 32 on an SO-101.
        repetitions: how often everything is recorded with one load.
        notes: free text, kept in every bag.
        approach_speed: peak speed on the way to a script's start and back, rad/s.
        position_limit: a run is broken off beyond this angle, rad.
        error_limit: a run is broken off when goal and position differ by more while torque is on, rad.
        pause_limit: a run with a longer pause between two states is recorded again, s.

    Raises:
        OutOfRange: a value is.
        Unsupported: the servo's law has no integral or derivative gain.
        Missing: a list is empty.
        Conflict: a list has the same entry twice.
    """

    name: str
    servo: ServoModel
    joint: str
    id: int
    supply_voltage: float
    loads: tuple[PendulumBench, ...]
    gains: tuple[float, ...]
    scripts: tuple[TrajectoryScript, ...]
    ki: float = 0.0
    kd: float = 0.0
    repetitions: int = 1
    notes: str = ""
    approach_speed: float = 0.8
    position_limit: float = 2.6
    error_limit: float = 2.0
    pause_limit: float = PAUSE_LIMIT

    def __post_init__(self) -> None:
        require_positive(
            "session",
            supply_voltage=self.supply_voltage,
            repetitions=self.repetitions,
            approach_speed=self.approach_speed,
            position_limit=self.position_limit,
            error_limit=self.error_limit,
            pause_limit=self.pause_limit,
        )
        for name, (least, most, unit) in _RANGES.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise OutOfRange(
                    f"session {name}", value, f"{unit}, {least:g} to at most {most:g}", printed=f"{value:g}"
                )
        if not 0 <= self.id <= 253:
            raise OutOfRange("session id", self.id, "0 to 253", advice="give the servo's bus id")
        count = len(self.loads) * len(self.gains) * len(self.scripts) * self.repetitions
        if count > MOST_RUNS:
            raise OutOfRange(
                "session",
                count,
                f"at most {MOST_RUNS}",
                printed=f"{count} runs (loads x gains x scripts x repetitions)",
                advice="make several of it",
            )
        for number, load in enumerate(self.loads, 1):
            require_positive(f"session loads, entry {number},", length=load.length)
        for kp in self.gains:
            require_positive("session gains", kp=kp)
            require_plausible("session gains kp", "kp", kp)
        require_gain("session ki", self.ki, "ki")
        require_gain("session kd", self.kd, "kd")
        kp = min(self.gains, default=1.0)
        try:
            self.servo.firmware.integral_rate(kp, self.ki)
            self.servo.firmware.rate_time(kp, self.kd)
        except BamError as error:
            raise error.within("session") from None
        self._check_distinct()

    def runs(self) -> tuple[PlannedRun, ...]:
        """Every run in order; those with one load follow each other, so that it is hung only once."""
        plan: list[PlannedRun] = []
        for block, load in enumerate(self.loads, 1):
            for repetition in range(1, self.repetitions + 1):
                for kp in self.gains:
                    for script in self.scripts:
                        plan.append(
                            PlannedRun(
                                index=len(plan) + 1,
                                block=block,
                                load=load,
                                kp=kp,
                                script=script,
                                repetition=repetition,
                                ki=self.ki,
                                kd=self.kd,
                            )
                        )
        return tuple(plan)

    def _check_distinct(self) -> None:
        lists = {
            "loads": [describe_load(load) for load in self.loads],
            "gains": [f"{kp:g}" for kp in self.gains],
            "scripts": [script.name for script in self.scripts],
        }
        for key, entries in lists.items():
            if not entries:
                raise Missing(f"session {key}", "at least one", advice="add one")
            for entry in entries:
                if entries.count(entry) > 1:
                    raise Conflict(
                        f"session {key}",
                        f"{entry!r} is there twice",
                        expected="each once",
                        advice="use repetitions",
                    )
        names = [run.name for run in self.runs()]
        for name in names:
            if names.count(name) > 1:
                raise Conflict(
                    "session",
                    f"two runs would be named {name!r}",
                    expected="masses in 0.1 g, lengths in 0.1 mm",
                    advice="round them",
                )


def describe_load(load: PendulumBench) -> str:
    """Return a load in the operator's words."""
    arm = f", arm {load.arm_mass:g} kg" if load.arm_mass else ""
    return f"{load.mass:g} kg at {load.length:g} m{arm}"


def _digits(value: float, least: int) -> str:
    """Format with four decimals, without trailing zeros beyond the `least` decimals."""
    whole, _, decimals = f"{value:.4f}".partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(least, '0')}"
