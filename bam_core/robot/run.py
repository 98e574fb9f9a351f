# SPDX-License-Identifier: Apache-2.0
"""A recorded run of a robot: goals of its servos, and where they were."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import BadData, Missing, UnknownName, WrongShape
from bam_core.errors.checks import require_positive
from bam_core.recordings.supply import Supply
from bam_core.robot.gaps import SETTLING, restart_rows, rows_that_count
from bam_core.robot.run_start import begins_elsewhere
from bam_core.servo.gains import Gain, require_acceleration, require_gain
from bam_core.servo.plausible import require_plausible
from bam_core.text.left_out import LeftOut

_FEWEST = 20  # samples; fewer show no motion, on a bench neither
_SLOWEST = 0.5  # s between two samples; no servo's motion is observable with fewer


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotRun:
    """Goals and positions of a robot's servos over time.

    Attributes:
        name: of the recording, such as its file's name without the ending.
        joints: names, in the order of the columns below.
        time: (n,) s, increasing.
        goal_position: (n, joints) rad, in force at the samples, and from then on if `sent` lacks the joint.
        position: (n, joints) rad, measured; where a reading is not sound, a path between those that are.
        kp: position gain of all servos, or joint -> gain, firmware units; None: not known.
        kd: derivative gain, likewise.
        ki: integral gain, likewise; the integrals are 0 at the first sample.
        goal_acceleration: of the firmwares' set-points at most, rad/s², likewise; 0: not limited; None: those
            of the firmwares.
        supply_voltage: V; None: not known.
        recorded_voltage: V, of the recording, whoever gave another one; None: not recorded.
        interval: (first, last) time that counts, s; None: all of it.
        sound: (n, joints) which readings are measured; None: all of them. Errors count no others.
        left_out: joint -> its readings that cannot be right.
        wraps: joint -> how often its reading jumped by whole turns, which were counted on.
        sent: joint -> times [s], from that of the first sample on, and goals [rad] in force from then on,
            where goals have times of their own.

    Raises:
        BamError: shapes disagree, time does not increase, a value is not finite, no sample is within the
            interval, or gain or supply is none of a servo.
    """

    name: str
    joints: tuple[str, ...]
    time: Array
    goal_position: Array
    position: Array
    kp: Gain | None = None
    kd: Gain = 0.0
    ki: Gain = 0.0
    goal_acceleration: Gain | None = None
    supply_voltage: float | None = None
    recorded_voltage: float | None = None
    interval: tuple[float, float] | None = None
    sound: NDArray[np.bool_] | None = None
    left_out: Mapping[str, tuple[LeftOut, ...]] = field(default_factory=dict)
    wraps: Mapping[str, int] = field(default_factory=dict)
    sent: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = (len(self.time), len(self.joints))
        for what in ("goal_position", "position"):
            values = getattr(self, what)
            if np.shape(values) != shape:
                raise WrongShape(f"{self.name}, {what}", np.shape(values), f"{shape}: samples x joints")
            if not np.all(np.isfinite(values)):
                row, column = np.argwhere(~np.isfinite(values))[0]
                raise Missing(f"{self.name}, {what} of '{self.joints[column]}', sample {row}", "a number")
        if self.sound is not None and np.shape(self.sound) != shape:
            raise WrongShape(f"{self.name}, sound", np.shape(self.sound), f"{shape}: samples x joints")
        if self.kp is not None:
            require_gain(f"{self.name}, kp", self.kp, "kp")
        require_gain(f"{self.name}, kd", self.kd, "kd")
        require_gain(f"{self.name}, ki", self.ki, "ki")
        require_acceleration(self.name, self.goal_acceleration)
        if self.supply_voltage is not None:
            require_positive(f"{self.name},", supply_voltage=self.supply_voltage)
            require_plausible(f"{self.name}, supply_voltage", "supply_voltage", self.supply_voltage)
        _require_increasing(self.name, self.time)
        if (spacing := float(np.median(np.diff(self.time)))) > _SLOWEST:
            raise BadData(
                f"{self.name}, time",
                f"has one sample per {spacing:g} s",
                expected=f"{_SLOWEST:g} s at most",
                advice="give time_unit in a map (ms, us or ns) where it is not in s",
            )
        if not self.counts.any():
            first, last = self.interval or (0.0, 0.0)
            raise BadData(
                f"{self.name}, interval {first:g} to {last:g} s",
                "holds no sample",
                expected=f"a part of {self.time[0]:g} to {self.time[-1]:g} s",
                advice="correct it",
            )

    @property
    def supply(self) -> Supply:
        """What was given beside what was recorded."""
        return Supply(
            used=math.nan if self.supply_voltage is None else self.supply_voltage,
            recorded=math.nan if self.recorded_voltage is None else self.recorded_voltage,
        )

    @property
    def sha256(self) -> str:
        """SHA-256 of times, goals and positions, as they were read."""
        digest = hashlib.sha256()
        for values in (self.time, self.goal_position, self.position):
            digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
        return digest.hexdigest()

    @functools.cached_property
    def counts(self) -> NDArray[np.bool_]:
        """(n,) which samples count: those within the interval, but not those just behind a gap or a jump.

        A run that begins with a jump of its goals begins to count when the servos have forgotten it.
        """
        counts = self.in_interval & rows_that_count(self.time, self.restarts)
        if self._begins_elsewhere.any():
            counts &= self.time >= self.time[0] + SETTLING
        return np.asarray(counts)

    @property
    def goal_before(self) -> Array:
        """(joints,) rad, goals before the first sample: the first ones, or, before a jump, the position."""
        return np.where(self._begins_elsewhere, self.position[0], self.goal_position[0])

    @functools.cached_property
    def _begins_elsewhere(self) -> NDArray[np.bool_]:
        """(joints,) which joints a run begins with a jump of their goal."""
        return begins_elsewhere(self.time, self.goal_position, self.position)

    def goals_of(self, joint: str) -> tuple[Array, Array]:
        """Return times [s] and goals [rad] of a joint, each in force from its time on."""
        return self.sent.get(joint, (self.time, self.goal_position[:, self.column(joint)]))

    def beginning(self, longest: float) -> RobotRun:
        """Return the run with an interval of its first `longest` seconds that count."""
        first, last = self.time[self.counts][[0, -1]]
        return replace(self, interval=(float(first), float(min(first + longest, last))))

    @property
    def in_interval(self) -> NDArray[np.bool_]:
        """(n,) which samples are within the interval."""
        first, last = self.interval or (-math.inf, math.inf)
        return np.asarray((self.time >= first) & (self.time <= last))

    @functools.cached_property
    def restarts(self) -> NDArray[np.intp]:
        """Rows from which a simulation begins anew; see `gaps`."""
        return restart_rows(self.time, self.is_sound)

    @functools.cached_property
    def is_sound(self) -> NDArray[np.bool_]:
        """(n, joints) which readings were measured."""
        return np.ones(self.position.shape, dtype=bool) if self.sound is None else self.sound

    def compared(self, joints: Sequence[str]) -> NDArray[np.bool_]:
        """Return (n, joints) which readings of some joints are compared with simulations."""
        return self.is_sound[:, [self.column(joint) for joint in joints]] & self.counts[:, None]

    def column(self, joint: str) -> int:
        """Return the column of a joint; raises UnknownName."""
        if joint not in self.joints:
            raise UnknownName(f"joint of {self.name}", joint, self.joints)
        return self.joints.index(joint)


def _require_increasing(name: str, time: Array) -> None:
    """Refuse times that go back, as where one run follows another, or that have too few digits."""
    steps = np.diff(time)
    if len(time) > 1 and np.all(steps > 0.0):
        return
    if (steps < 0.0).any():
        row = int(np.argmax(steps < 0.0)) + 1
        problem = f"goes back from {time[row - 1]:.10g} to {time[row]:.10g} s at sample {row}"
        raise BadData(
            f"{name}, time", problem, advice="make two runs of it where one ends there, else sort the samples"
        )
    raise BadData(
        f"{name}, time",
        "does not increase",
        expected="another time for every sample",
        advice="write it with more digits, or record two samples at least",
    )


def require_enough(run: RobotRun) -> None:
    """Refuse a recorded run of a few samples; raises BadData."""
    if len(run.time) < _FEWEST:
        raise BadData(
            f"{run.name}, samples",
            f"are {len(run.time)}",
            expected=f"{_FEWEST} at least",
            advice="record longer, or leave it out",
        )
