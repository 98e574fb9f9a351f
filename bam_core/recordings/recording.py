# SPDX-License-Identifier: Apache-2.0
"""One validated run on the bench: what every reader returns and everything else consumes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import BadData, BamError, Conflict, OutOfRange, Unsupported, WrongShape
from bam_core.recordings.header_corrections import Correction
from bam_core.recordings.left_out import require_few
from bam_core.recordings.position_jumps import first_jump
from bam_core.servo.gains import require_acceleration
from bam_core.servo.pendulum import PendulumBench
from bam_core.servo.plausible import PLAUSIBLE
from bam_core.text.left_out import LeftOut

MIN_SAMPLES = 20
"""Fewer samples than this cannot distinguish a moving arm from a resting one."""

MEASURED_SUPPLY = (0.3, 3.0)
"""Shares of the nominal supply between which a measured one is plausible; it may sag, or be another one."""

# What a bench can produce. Values beyond are another unit, not another servo.
_PLAUSIBLE = {
    "position": (4 * np.pi, "rad", "degrees or encoder counts"),
    "goal_position": (4 * np.pi, "rad", "degrees or encoder counts"),
    "velocity": (100.0, "rad/s", "rpm or degrees per second"),
    "voltage": (100.0, "V", "tenths of a volt or millivolts"),
    "temperature": (200.0, "°C", "tenths of a degree or kelvin"),
    "duty": (1.0, "-1..1", "percent or register counts"),
    "current": (200.0, "A", "milliamperes or register counts"),
}
_ALWAYS_FINITE = ("time", "position", "goal_position")
_LONGEST_PERIOD = 0.2  # s; the arm swings at ~2 Hz, slower sampling does not show it
_SHORTEST_PERIOD = 1e-4  # s; no bus is faster
_LONGEST_GAP = 0.5  # s; what the arm did in a longer one cannot be guessed
_LATEST_START = 60.0  # s after the first command; later is another clock
_FAST = 0.5  # rad/s; slower, reported velocities are mostly noise
_PROPORTIONAL = 0.9  # correlation of reported and seen velocity, if they are the same but for the unit
_SAME_UNIT = (1 / 3, 3.0)  # seen velocity by reported one; rpm is 0.1, degrees per second 0.02, turns 6.3


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Recording:
    """One run: a servo follows a script while it carries a known pendulum, or duties in open loop.

    Arrays have one entry per sample and are read-only. A quantity that was not measured is NaN (for all or
    for some samples); time, position, goal and torque state are always there.

    Raises:
        BamError: lengths differ, fewer than ``MIN_SAMPLES`` samples, time not increasing or with a gap,
            position or goal not finite, a position that jumps, values that betray another unit, a supply that
            is off while torque is on, or a header field out of range; nothing hangs on the bench of a run in
            closed loop in which the motor's current was not measured; a run in open loop has a goal, a gain
            or unknown duties. The line begins with the source.
    """

    name: str
    """Unique within one load, e.g. the file's stem."""
    source: Path
    """File or bag directory it was read from."""
    sha256: str
    """Digest of the source's bytes (of the ``.mcap`` data for a bag)."""
    servo: str
    """Servo model as named when recording, such as "mx106"."""
    unit: str = ""
    """Which servo of that model this was, such as a serial number; empty: unknown."""
    session: str = ""
    """Runs that share a mounting and a day, by any name; empty: unknown."""
    bench: PendulumBench
    """Load, arm and length of this run."""
    firmware: str = ""
    """Control law that ran, a key of `firmware_library.FIRMWARES`; empty where the recording has none."""
    demand_limit: float = np.inf
    """Largest duty (0..1), or current [A], that the servo's settings allowed, > 0; infinite: not known to be
    lower than that of its firmware."""
    open_loop: bool = False
    """True: `duty` was commanded and applied as it is; no position controller ran."""
    kp: float
    """Position gain, firmware units, > 0; 0 in open loop."""
    kd: float = 0.0
    """Derivative gain, firmware units, >= 0."""
    ki: float = 0.0
    """Integral gain, firmware units, >= 0; `run_start.initial_integral` is where its integral starts."""
    goal_acceleration: float | None = None
    """Largest acceleration of the firmware's set-point, rad/s²; 0: not limited; None: the firmware's."""
    supply_voltage: float
    """Nominal supply [V], > 0."""
    script: str
    """Trajectory script, such as "sin_sin"."""
    time: NDArray[np.float64]
    """(n,) s since the run's first command, >= 0, strictly increasing."""
    position: NDArray[np.float64]
    """(n,) rad, θ = 0 hanging straight down, counter-clockwise positive."""
    velocity: NDArray[np.float64]
    """(n,) rad/s as the servo reported it."""
    goal_position: NDArray[np.float64]
    """(n,) rad, goal in force at the sample; NaN in open loop."""
    torque_enabled: NDArray[np.bool_]
    """(n,) false: H-bridge released."""
    voltage: NDArray[np.float64]
    """(n,) V, measured supply."""
    temperature: NDArray[np.float64]
    """(n,) °C."""
    duty: NDArray[np.float64]
    """(n,) -1..1, PWM duty that the servo applied; in open loop the command, always known."""
    current: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """(n,) A through the motor, positive where it drives towards positive positions; NaN, also where none is
    given: not measured."""
    left_out: tuple[LeftOut, ...] = ()
    """Readings of the source that cannot be right; what the arrays have in their place is not measured."""
    position_update_period: float | None = None
    """s between updates of the position in the source, by another clock than the samples'; `position` is as
    of the samples' times all the same, see `position_updates`. None: no such clock was found."""
    corrections: tuple[Correction, ...] = ()
    """Fields of the source that were set from outside."""
    sent: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    """Times [s], from the first sample's on, and goals [rad] in force from then on; None: as the samples."""

    def __post_init__(self) -> None:
        self._freeze_arrays()
        try:
            self._check_header()
            self._check_lengths()
            self._check_time()
            for name, (limit, unit, usual_mistake) in _PLAUSIBLE.items():
                self._check_values(name, limit, unit, usual_mistake)
            require_few(self.left_out, len(self.time))
            self._check_jumps()
            self._check_velocity()
            self._check_voltage()
        except BamError as error:
            raise error.within(self.source) from None

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.time[-1] - self.time[0])

    @property
    def dt(self) -> float:
        """Median sampling period [s]."""
        return float(np.median(np.diff(self.time)))

    @property
    def dropped_samples(self) -> int:
        """Count of readings of any channel that cannot be right, not counting those beside a spike."""
        return sum(part.samples for part in self.left_out)

    def __len__(self) -> int:
        """Count of samples."""
        return len(self.time)

    def __repr__(self) -> str:
        """Name what was run, not thousands of samples."""
        others = "".join(f", {name} {gain:g}" for name, gain in (("ki", self.ki), ("kd", self.kd)) if gain)
        control = "open loop" if self.open_loop else f"kp {self.kp:g}{others}"
        return (
            f"Recording({self.name!r}: {self.servo} with {self.bench}, {control}, {self.script}, "
            f"{len(self)} samples in {self.duration:.2f} s)"
        )

    @property
    def goals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times [s] and goals [rad], each in force from its time on."""
        return (self.time, self.goal_position) if self.sent is None else self.sent

    @property
    def measures_motor(self) -> bool:
        """Whether current and duty were measured: they determine the motor where no load does."""
        return bool(np.any(np.isfinite(self.current) & np.isfinite(self.duty)))

    def require_closed_loop(self, what: str) -> None:
        """Raise Unsupported where no controller ran, which `what`, a phrase, needs."""
        if self.open_loop:
            raise Unsupported(
                f"{self.source}, duty",
                f"was commanded in open loop, which {what} does not know",
                expected="a run of a position controller",
                advice="leave it out, or use 'bam identify' and 'bam validate'",
            )

    def _freeze_arrays(self) -> None:
        if len(self.current) != len(self.time) and not np.isfinite(self.current).any():
            object.__setattr__(self, "current", np.full(len(self.time), np.nan))
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                kind = np.bool_ if item.name == "torque_enabled" else np.float64
                array: NDArray[Any] = np.array(value, dtype=kind)
                array.flags.writeable = False
                object.__setattr__(self, item.name, array)

    def _check_header(self) -> None:
        if self.open_loop and self.kp != 0.0:
            raise Conflict(
                "kp",
                f"is {self.kp:g} in open loop",
                expected="0: no position gain acts",
                advice="leave it out",
            )
        for name, least, limit, unit in (
            ("kp", *PLAUSIBLE["kp"], "firmware units"),
            ("supply_voltage", 0.1, 100.0, "V"),
        ):
            value = getattr(self, name)
            if name == "kp" and self.open_loop:
                continue
            if not least <= value <= limit:
                raise OutOfRange(
                    name,
                    value,
                    f"{unit}, {least:g} to {limit:g}",
                    printed=f"{value:g}",
                    advice="write the value that was in force when recording",
                )
        for name in ("ki", "kd"):
            if not 0.0 <= getattr(self, name) <= PLAUSIBLE[name][1]:
                raise OutOfRange(
                    name,
                    getattr(self, name),
                    f"firmware units, 0 to {PLAUSIBLE[name][1]:g}",
                    advice="write the value that was in force when recording",
                )
        require_acceleration("recording", self.goal_acceleration)
        if not self.demand_limit > 0.0:
            raise OutOfRange(
                "demand_limit",
                self.demand_limit,
                "a duty or current above 0",
                advice="write the limit that was in force when recording, or leave it out where that was the "
                "firmware's own",
            )
        if self.bench.gravity_torque == 0.0 and not (self.open_loop or self.measures_motor):
            none, unit = ("length", "m") if self.bench.length == 0.0 else ("mass and arm_mass together", "kg")
            raise OutOfRange(
                none,
                0.0,
                "a mass above 0 at a length above 0",
                printed=f"0 {unit}",
                advice="write what hung on the bench when recording",
            )

    def _check_lengths(self) -> None:
        n = len(self.time)
        if n < MIN_SAMPLES:
            raise BadData(
                "samples",
                f"there are only {n}",
                expected=f"at least {MIN_SAMPLES}",
                advice="record the run again or leave it out",
            )
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray) and value.shape != (n,):
                raise WrongShape(
                    f"{item.name}, shape",
                    value.shape,
                    f"({n},), one value for each time",
                    advice="the file is damaged, record the run again",
                )

    def _check_time(self) -> None:
        bad = _first(~np.isfinite(self.time))
        if bad is not None:
            raise OutOfRange(
                f"entry {bad}, time", self.time[bad], "seconds", advice="repair or remove the entry"
            )
        if self.time[0] < 0:
            raise OutOfRange(
                "entry 0, time",
                self.time[0],
                "at least 0 s, the time of the first command",
                printed=f"{self.time[0]:g} s",
                advice="subtract the time of the first command",
            )
        bad = _first(np.diff(self.time) <= 0)
        if bad is not None:
            before, here = self.time[bad], self.time[bad + 1]
            raise OutOfRange(
                f"entry {bad + 1}, time",
                here,
                f"more than {before:.10g} s, the time of the entry before",
                printed=f"{here:.10g} s",
                advice="remove the entry or record the run again",
            )
        if self.dt > _LONGEST_PERIOD:
            raise OutOfRange(
                "time between samples",
                self.dt,
                f"at most {_LONGEST_PERIOD:g} s",
                printed=f"{self.dt:g} s",
                advice="give seconds, not milliseconds, or record faster",
            )
        if self.dt < (1.0 - 1e-6) * _SHORTEST_PERIOD:  # times are rounded
            raise OutOfRange(
                "time between samples",
                self.dt,
                f"at least {_SHORTEST_PERIOD:g} s",
                printed=f"{self.dt:g} s",
                advice="give seconds, not minutes or longer",
            )
        if self.time[0] > _LATEST_START:
            raise OutOfRange(
                "entry 0, time",
                self.time[0],
                f"at most {_LATEST_START:g} s after the first command",
                printed=f"{self.time[0]:.10g} s",
                advice="subtract the time of the first command",
            )
        gaps = np.diff(self.time)
        bad = _first(gaps > _LONGEST_GAP)
        if bad is not None:
            raise OutOfRange(
                f"entry {bad + 1}, time since the entry before",
                gaps[bad],
                f"at most {_LONGEST_GAP:g} s",
                printed=f"{gaps[bad]:g} s",
                advice="record the run again, or cut it there",
            )

    def _check_values(self, name: str, limit: float, unit: str, usual_mistake: str) -> None:
        values = getattr(self, name)
        if name == "goal_position" and self.open_loop:
            if not np.isnan(values).all():
                raise Conflict(
                    name,
                    "is given in open loop",
                    expected="NaN throughout",
                    advice="give one of goal and duty",
                )
            return
        if name in _ALWAYS_FINITE or (name == "duty" and self.open_loop):
            bad = _first(~np.isfinite(values))
            if bad is not None:
                raise OutOfRange(
                    f"entry {bad}, {name}",
                    values[bad],
                    f"a finite number, {unit}",
                    advice="remove the entry or record the run again",
                )
        bad = _first(np.abs(values) > limit)
        if bad is not None:
            looks_like = f"convert it, it looks like {usual_mistake}"
            cure = looks_like if np.isfinite(values[bad]) else "remove the entry"
            raise OutOfRange(
                f"entry {bad}, {name}",
                values[bad],
                f"{unit}, within ±{limit:.4g}",
                printed=f"{values[bad]:g}",
                advice=cure,
            )

    def _check_jumps(self) -> None:
        at = first_jump(self.time, self.position)
        if at is not None:
            jump, passed = (float(values[at] - values[at - 1]) for values in (self.position, self.time))
            raise BadData(
                f"entry {at}, position",
                f"jumps by {jump:.3g} rad in {passed:.2g} s and goes on from there",
                expected="the pace of the samples around it",
                advice="correct the offset from there on, such as a lost turn of 2π, or record it again",
            )

    def _check_velocity(self) -> None:
        """Compare what the servo reported with what its positions show."""
        seen = np.gradient(self.position, self.time)
        fast = np.abs(self.velocity) > _FAST  # false for NaN
        seen, reported = seen[fast], self.velocity[fast]
        if len(seen) < MIN_SAMPLES or np.ptp(seen) == 0.0 or np.ptp(reported) == 0.0:
            return
        share = float(seen @ reported / (reported @ reported))
        with np.errstate(all="ignore"):  # squares of what hardly moves may be zero
            correlation, times = abs(np.corrcoef(seen, reported)[0, 1]), np.divide(1.0, share)
        if correlation < _PROPORTIONAL or _SAME_UNIT[0] < share < _SAME_UNIT[1]:
            return
        what = "is against" if share < 0.0 else f"is {times:.3g} times"
        cure = "correct the sign of one" if share < 0.0 else "convert the one that is in another unit"
        raise BadData("velocity", f"{what} the change of position", expected="rad/s, and rad", advice=cure)

    def _check_voltage(self) -> None:
        driven = _first(self.torque_enabled & (self.voltage <= 0.0))
        bad = _first(self.voltage < 0.0) if driven is None else driven
        if bad is not None:
            raise OutOfRange(
                f"entry {bad}, voltage",
                self.voltage[bad],
                "above 0 V while torque is on",
                printed=f"{self.voltage[bad]:g} V",
                advice="remove the entry, or the voltage of all if the servo does not measure it; check vin",
            )
        known = self.voltage[np.isfinite(self.voltage) & self.torque_enabled]
        if not known.size:
            return
        middle, nominal = float(np.median(known)), self.supply_voltage
        low, high = (share * nominal for share in MEASURED_SUPPLY)
        if not low <= middle <= high:
            raise BadData(
                "voltage",
                f"is {middle:g} V in the middle where supply_voltage is {nominal:g} V",
                expected=f"{low:g} to {high:g} V",
                advice="correct the one that is wrong, or its unit",
            )


def _first(mask: NDArray[np.bool_]) -> int | None:
    """Index of the first true entry, or None."""
    hits = np.flatnonzero(mask)
    return int(hits[0]) if hits.size else None
