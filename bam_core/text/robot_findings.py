# SPDX-License-Identifier: Apache-2.0
"""Findings about a robot's runs: what they do not determine, and what its servos cannot be used for."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding, count, listed, mrad, percent
from bam_core.text.left_out import LeftOut


@dataclass(frozen=True, kw_only=True)
class JointsFinding(Finding):
    """Something about some joints.

    Attributes:
        kind: "undriven" (no servo is named), "held" (not recorded in all logs), "resting" (they hardly
            move), or "unknown_range" (grippers that a dataset has as shares of their opening).
        joints: names.
        limit: of the motion of joints that rest, rad.
    """

    joints: tuple[str, ...]
    limit: float | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what follows."""
        joints = listed(self.joints, most=8)
        if self.kind == "undriven":
            return (f"{joints}: no servo is named (--servos).", "Nothing drives them in simulations.")
        if self.kind == "held":
            return (f"{joints}: not in all logs with goal and position.", "Their servos hold still.")
        if self.kind == "unknown_range":
            return (f"{joints}: left out of the dataset.", "Their range is unknown; --robot FILE gives it.")
        return (
            f"{joints}: rest within {self.limit:g} rad in all runs.",
            "Their loads are determined, their friction in motion is not.",
        )


@dataclass(frozen=True, kw_only=True)
class RunLeftOut(Finding):
    """What of a run is not compared with simulations.

    Attributes:
        run: name.
        readings: joint, and its readings that cannot be right.
        gaps: first and last time of each gap, s.
        lost: share of the readings of all joints that do not count.
    """

    kind: str = field(default="run_left_out", init=False)
    run: str
    readings: tuple[tuple[str, tuple[LeftOut, ...]], ...]
    gaps: tuple[tuple[float, float], ...]
    lost: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which readings of which joints, where the simulation begins anew, and how much is lost."""
        parts = [
            f"{joint} {sum(part.samples for part in parts)} ({'; '.join(part.why for part in parts)})"
            for joint, parts in self.readings
        ]
        gaps = [f"{first:.2f} to {last:.2f} s" for first, last in self.gaps]
        lines = []
        if parts:
            lines.append(f"{self.run}: readings that cannot be right are left out: {listed(parts, most=8)}.")
        if gaps:
            lines.append(f"{self.run}: no readings from {listed(gaps)}.")
            lines.append("Simulations restart there.")
        return (*lines, f"{percent(self.lost)} of its readings do not count.")


@dataclass(frozen=True, kw_only=True)
class ReversedJoint(Finding):
    """A joint that turns the other way than in the description.

    Attributes:
        joint: name.
        error: of its simulation, rad.
        other_error: with the other sign, rad.
    """

    kind: str = field(default="reversed_joint", init=False)
    joint: str
    error: float
    other_error: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both errors, and what to correct."""
        return (
            f"{self.joint}: gravity pulls it the other way than in the description.",
            f"With the opposite sign its error is {mrad(self.other_error)}, not {mrad(self.error)}.",
            "Correct the sign of its axis, or of its goals and readings.",
        )


@dataclass(frozen=True, kw_only=True)
class OtherZero(Finding):
    """A joint whose zero is elsewhere than in the description.

    Attributes:
        joint: name.
        zero: reading at the description's zero, rad.
        error: of its simulation, rad.
        other_error: with that zero, rad.
    """

    kind: str = field(default="other_zero", init=False)
    joint: str
    zero: float
    error: float
    other_error: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """By how much it is off, both errors, and what to correct."""
        return (
            f"{self.joint}: gravity puts its zero at a reading of {self.zero:+.2f} rad.",
            f"With that zero its error is {mrad(self.other_error)}, not {mrad(self.error)}.",
            "Correct the zero in the description, or of its goals and readings.",
        )


@dataclass(frozen=True, kw_only=True)
class CopiedReadings(Finding):
    """Joints whose readings are their goals, number for number.

    Attributes:
        run: name.
        joints: names.
    """

    kind: str = field(default="copied_readings", init=False)
    run: str
    joints: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what was done."""
        joints = listed(self.joints, most=8)
        return (
            f"{self.run}: readings of {joints} are their goals, number for number.",
            "Nobody measured them, so they are left out.",
        )


@dataclass(frozen=True, kw_only=True)
class StampedRate(Finding):
    """A dataset whose stamps have another rate than its description.

    Attributes:
        dataset: its path.
        fps: of its description, Hz.
        stamped: of its stamps, Hz.
    """

    kind: str = field(default="stamped_rate", init=False)
    dataset: str
    fps: float
    stamped: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both rates, and which one counts."""
        return (
            f"{self.dataset}: stamps have {self.stamped:.3g} frames/s, its description {self.fps:.3g}.",
            "The stamps count.",
        )


@dataclass(frozen=True, kw_only=True)
class UnprovenSigns(Finding):
    """Joints that gravity does not load.

    Attributes:
        joints: names.
    """

    kind: str = field(default="unproven_signs", init=False)
    joints: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, what nothing shows, and how to check it."""
        return (
            f"{listed(self.joints, most=8)}: without a load by gravity, no data prove sign and zero.",
            "Move such a joint by hand and compare its readings with the description.",
        )


@dataclass(frozen=True, kw_only=True)
class OtherRate(Finding):
    """A run that another frame rate explains far better.

    Attributes:
        run: name.
        rate: of its times, Hz.
        shown: by readings against goals, Hz.
        error: of its simulation, rad.
        other_error: at that rate, rad.
    """

    kind: str = field(default="other_rate", init=False)
    run: str
    rate: float
    shown: float
    error: float
    other_error: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both rates, both errors, and what to check."""
        return (
            f"{self.run}: readings follow goals as at {self.shown:.3g} samples/s, not {self.rate:.3g}.",
            f"At that rate the error is {mrad(self.other_error)}, not {mrad(self.error)}.",
            "Check the frame rate that the recorder kept (fps), and the gains.",
        )


@dataclass(frozen=True, kw_only=True)
class DerivedRanges(Finding):
    """Calibrated ranges that the steps between a dataset's values show.

    Attributes:
        dataset: its path.
        ranges: joint and counts of its range.
    """

    kind: str = field(default="derived_ranges", init=False)
    dataset: str
    ranges: tuple[tuple[str, int], ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The ranges, and what no value shows."""
        ranges = listed([f"{joint} {counts}" for joint, counts in self.ranges], most=8)
        return (
            f"{self.dataset}: values are shares of calibrated ranges.",
            f"Their steps show how wide these are, in counts of 4096 per turn: {ranges}.",
            "Zero is taken as the middle of a range.",
            "Where that is in the description, and whether a joint is inverted, no value shows.",
        )


@dataclass(frozen=True, kw_only=True)
class CountedTurns(Finding):
    """Joints whose readings jumped by whole turns.

    Attributes:
        run: name.
        wraps: joint and how often.
    """

    kind: str = field(default="counted_turns", init=False)
    run: str
    wraps: tuple[tuple[str, int], ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which joints, how often, and what was done."""
        joints = listed([f"{joint} {count(number, 'time')}" for joint, number in self.wraps], most=8)
        return (f"{self.run}: readings jump by a whole turn: {joints}.", "Turns were counted on.")


@dataclass(frozen=True, kw_only=True)
class SteadySpeed(Finding):
    """A servo that never moves slowly.

    Attributes:
        servo: name.
        speed: near which it always is, rad/s.
    """

    kind: str = field(default="steady_speed", init=False)
    servo: str
    speed: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """The speed, what is not determined, and what to record."""
        return (
            f"Servo {self.servo} never moves slowly: its speed is near {self.speed:.2g} rad/s in all runs.",
            "Its Coulomb and viscous friction are determined as a sum only.",
            "Let it stop, or turn round slowly.",
        )


@dataclass(frozen=True, kw_only=True)
class SlowRate(Finding):
    """Recordings that are slow for friction that fades with speed.

    Attributes:
        models: friction models with such friction that are fitted.
        rate: of the slowest recording, Hz.
        runs: how many recordings are slow.
        limit: from which rate on they are not, Hz.
    """

    kind: str = field(default="slow_rate", init=False)
    models: tuple[str, ...]
    rate: float
    runs: int
    limit: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """The rate, and what is not determined."""
        return (
            f"{count(self.runs, 'run')} recorded at {self.rate:.1f} Hz ({self.limit:.0f} or more expected).",
            f"How friction fades with speed ({', '.join(self.models)}) happens between such samples.",
            "It stays near that of the given servo.",
        )


@dataclass(frozen=True, kw_only=True)
class NoLoad(Finding):
    """A servo that never carries a load that matters.

    Attributes:
        servo: name.
        load: by which its load changes at most, N·m.
        friction: that holds it without load, N·m.
    """

    kind: str = field(default="no_load", init=False)
    servo: str
    load: float
    friction: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Load and friction, what is not determined, and what to record."""
        return (
            f"Servo {self.servo} never carries a load that matters.",
            f"The load changes by ±{self.load:.2g} N·m at most.",
            f"Friction alone holds ±{self.friction:.2g} N·m.",
            "Its torque constant stays near the given one.",
            "Friction is determined relative to it.",
            "Move links that gravity turns, or add a mass.",
        )


@dataclass(frozen=True, kw_only=True)
class IdleMotors(Finding):
    """Joints without a load beyond friction, whose motors may differ from others of their type.

    Attributes:
        joints: names.
        servo: their type.
        friction: N·m.
    """

    kind: str = field(default="idle_motors", init=False)
    joints: tuple[str, ...]
    servo: str
    friction: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what is not determined."""
        return (
            f"{listed(self.joints, most=8)}: no load beyond friction (±{self.friction:.2g} N·m).",
            f"How these motors differ from other {self.servo} is hardly determined.",
        )


@dataclass(frozen=True, kw_only=True)
class TableFound(Finding):
    """A table under a robot that its description does not have.

    Attributes:
        point: site or body that rests on it.
        height: m, at which it does.
        above: m, by how much it then misses its goals, median.
        time: s at rest on it, in all runs.
    """

    kind: str = field(default="table_found", init=False)
    point: str
    height: float
    above: float
    time: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Where, what shows it, what is simulated, and how to leave it out."""
        return (
            f"{self.point} rests {1e3 * self.above:.0f} mm above its goals for {self.time:.0f} s.",
            f"It is {1e3 * self.height:.0f} mm high there, so a table holds it.",
            "Simulations have a level table at that height, which is fitted, too.",
        )


@dataclass(frozen=True, kw_only=True)
class NoBand(Finding):
    """Runs without a 90 % band.

    Attributes:
        model: name.
        runs: names.
    """

    kind: str = field(default="no_band", init=False)
    model: str
    runs: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, why, and what is not affected."""
        return (
            f"{self.model}: no 90 % band for {listed(self.runs)}.",
            "Hardly any draw of the parameters can be simulated.",
            "Parameters and errors are not affected.",
        )


@dataclass(frozen=True, kw_only=True)
class FreeBase(Finding):
    """A robot whose base is free and is taken as fixed; `robot` is its file."""

    kind: str = field(default="free_base", init=False)
    robot: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """That it is, and what a standing robot needs."""
        return (
            f"{self.robot}: its base is free, and does not move here (--root fixed).",
            "A robot that stands needs --root with the site under a foot.",
        )


@dataclass(frozen=True, kw_only=True)
class NoInterval(Finding):
    """Runs for which a file of intervals has none.

    Attributes:
        file: of the intervals.
        runs: names.
    """

    kind: str = field(default="no_interval", init=False)
    file: str
    runs: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what counts."""
        return (f"{self.file}: has no interval of {listed(self.runs)}, so all of them counts.",)


@dataclass(frozen=True, kw_only=True)
class DerivativeGainUnknown(Finding):
    """A dataset of an arm whose software sets a derivative gain that the dataset does not hold.

    Attributes:
        dataset: its name.
        usual: the gain that LeRobot sets.
    """

    kind: str = field(default="derivative_gain_unknown", init=False)
    dataset: str
    usual: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is usual, what counts, and what to give."""
        return (
            f"{self.dataset}: LeRobot sets kd {self.usual:g} on this arm and does not store it.",
            f"kd 0 counts: give --kd {self.usual:g}, or --kd 0 if it was off.",
        )


@dataclass(frozen=True, kw_only=True)
class RobotErrors(Finding):
    """How errors of a robot's runs compare.

    Attributes:
        kind: "no_test_runs", "worse_than_fitted" (test runs), "worse_than_given" (test runs, than with the
            servos given) or "errors_passed_on" (the whole robot, than one joint at a time).
        factor: ratio of the errors; None of "no_test_runs".
    """

    factor: float | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The ratio, and what it means."""
        return {
            "no_test_runs": (
                "All runs were fitted, so errors of other runs are unknown.",
                "Give --test FILES or --test kp=VALUE.",
            ),
            "worse_than_fitted": (
                f"Test runs are followed {self.factor or 0.0:.1f} times worse than fitted ones.",
                "The servos may not carry over to such runs.",
            ),
            "worse_than_given": ("Test runs are followed worse than with the servos given.",),
            "errors_passed_on": (
                f"The whole robot's error is {self.factor or 0.0:.1f} times that of one joint at a time.",
                "Joints or the base pass errors on to other joints.",
                "Look for one that slips.",
            ),
        }[self.kind]


@dataclass(frozen=True, kw_only=True)
class UndeterminedServos(Finding):
    """Servos of which no parameter is determined on its own; `servos` are their names."""

    kind: str = field(default="undetermined_servos", init=False)
    servos: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which."""
        return (f"These runs determine no parameter of {', '.join(self.servos)} on its own.",)


@dataclass(frozen=True, kw_only=True)
class NarrowBands(Finding):
    """Test runs whose 90 % bands hold too few samples.

    Attributes:
        runs: names.
        shares: of their samples.
        total: number of test runs.
    """

    kind: str = field(default="narrow_bands", init=False)
    runs: tuple[str, ...]
    shares: tuple[float, ...]
    total: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many they hold, and what that means."""
        low, high = percent(min(self.shares)), percent(max(self.shares))
        held = low if low == high else f"{low} to {high}"
        where = ", ".join(self.runs) if len(self.runs) <= 3 else f"{len(self.runs)} of {self.total} test runs"
        return (
            f"90 % bands hold only {held} of the samples of {where}.",
            "They are too narrow for such runs.",
        )


@dataclass(frozen=True, kw_only=True)
class PriorOnly(Finding):
    """Parameters that runs do not determine on their own; the tables mark them."""

    kind: str = field(default="prior_only", init=False)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the mark means, and how to use such values."""
        return (
            "Not determined on its own: the interval is hardly narrower than what was known beforehand.",
            "The value may still have changed, together with others.",
            "Use all values of a servo together.",
            "A single value is not a property of the servo.",
        )
