# SPDX-License-Identifier: Apache-2.0
"""Findings about readings of a robot's runs: left out, corrected, or not proven."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding, count, listed, mrad, percent
from bam_core.text.left_out import LeftOut


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
class ClippedGoals(Finding):
    """Goals of a dataset that its servos could not take.

    Attributes:
        dataset: its path.
        joints: joint and share of its goals that are beyond its calibrated range.
    """

    kind: str = field(default="clipped_goals", init=False)
    dataset: str
    joints: tuple[tuple[str, float], ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many of which joint, and what counts instead."""
        joints = listed([f"{joint} {100.0 * share:.2g} %" for joint, share in self.joints], most=8)
        return (
            f"{self.dataset}: goals are beyond the calibrated range: {joints}.",
            "The servo stops at its end, which counts as the goal.",
        )


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
class LateJoint(Finding):
    """A joint whose readings are later than those of the others.

    Attributes:
        joint: name.
        runs: in which they are.
        lateness: s, beside the other joints.
        error: of its simulation in these runs, rad.
        other_error: with the readings as much earlier, rad.
        is_corrected: the data prove it, and the readings were moved.
    """

    kind: str = field(default="late_joint", init=False)
    joint: str
    runs: tuple[str, ...]
    lateness: float
    error: float
    other_error: float
    is_corrected: bool

    @property
    def sentences(self) -> tuple[str, ...]:
        """By how much, in which runs, both errors, and what was done or is to be done."""
        late = f"{1e3 * self.lateness:.0f} ms"
        done = (
            ("They were moved to earlier times.",)
            if self.is_corrected
            else ("A wrong gain or servo can look alike, so nothing was moved.",)
        )
        return (
            f"{listed(self.runs)}: readings of {self.joint} are {late} later than those of other joints.",
            f"Moved back, their error is {mrad(self.other_error)}, not {mrad(self.error)}.",
            *done,
            f"Check the bus and the gains of {self.joint}.",
        )
