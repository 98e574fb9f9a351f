# SPDX-License-Identifier: Apache-2.0
"""Findings about recordings while they are loaded: what was corrected, left out, or contradicts a header."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from bam_core.text.data_findings import RecordingFinding
from bam_core.text.finding import Finding, listed
from bam_core.text.left_out import LeftOut


def range_words(values: tuple[float, ...]) -> str:
    """Return numbers in three digits, such as "12" or "14.6 to 14.8"."""
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"


@dataclass(frozen=True, kw_only=True)
class SomeRecordings(Finding):
    """Base of findings about some of the recordings that were loaded.

    Attributes:
        names: of these recordings.
        total: number of recordings.
    """

    names: tuple[str, ...]
    total: int

    @property
    def where(self) -> str:
        """How many of how many."""
        return f"{len(self.names)} of {self.total} recordings"


@dataclass(frozen=True, kw_only=True)
class UnmetRule(RecordingFinding):
    """A rule of a bench.yaml whose condition no recording meets; `where` is the condition."""

    kind: str = field(default="unmet_rule", init=False)
    where: tuple[tuple[str, float | str], ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The condition, and what to correct."""
        condition = ", ".join(
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in self.where
        )
        return (
            f"{self.source}: no recording has {condition}, so that rule sets nothing.",
            "Correct its 'where': numbers must agree with those of the files in all digits.",
        )


@dataclass(frozen=True, kw_only=True)
class UnknownKeys(RecordingFinding):
    """Keys in the header of a log that nothing reads.

    Attributes:
        keys: their names.
    """

    kind: str = field(default="unknown_keys", init=False)
    keys: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what follows."""
        return (
            f"{self.source}: keys that are not known are passed over: {listed(self.keys, most=6)}.",
            "Settings of the servo that change its motion would be missing in the model.",
        )


@dataclass(frozen=True, kw_only=True)
class SupplyNotMeasured(SomeRecordings):
    """Headers whose supply is not the one that the servo measured.

    Attributes:
        given: of each of these headers, V.
        measured: by the servo, V.
        median: of what was measured, V, where these are alike; None where they are not.
        is_set: a header was set from outside.
    """

    kind: str = field(default="supply_not_measured", init=False)
    given: tuple[float, ...]
    measured: tuple[float, ...]
    median: float | None
    is_set: bool

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both voltages, which one counts, and how to correct the other."""
        header = "was set for the header" if self.is_set else "in the header"
        cure = "a bench.yaml" if self.median is None else f"--set vin={self.median:.3g}, or a bench.yaml"
        return (
            f"vin: {range_words(self.given)} V {header} of {self.where}.",
            f"Their servo measured {range_words(self.measured)} V, which simulations use.",
            f"Correct it with {cure}.",
        )


@dataclass(frozen=True, kw_only=True)
class ReadingsLeftOut(SomeRecordings):
    """Readings that cannot be right.

    Attributes:
        channels: name and number of readings.
        details: of each recording where they are few; empty where a table follows.
    """

    kind: str = field(default="readings_left_out", init=False)
    channels: tuple[tuple[str, int], ...]
    details: tuple[tuple[LeftOut, ...], ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many of what, and of which recordings."""
        total = ", ".join(f"{count} of {channel}" for channel, count in self.channels)
        named = zip(self.names, self.details, strict=False)
        return (
            f"Readings that cannot be right are left out of {self.where} ({total}).",
            *(f"{name}: {' and '.join(part.phrase for part in parts)}." for name, parts in named),
        )


@dataclass(frozen=True, kw_only=True)
class LatePositions(SomeRecordings):
    """Positions that were updated by another clock than they were read by.

    Attributes:
        periods: of the updates in these recordings, s.
        median: s.
        joints: of a robot; empty of a servo.
    """

    kind: str = field(default="late_positions", init=False)
    periods: tuple[float, ...]
    median: float
    joints: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """How often, and what was done."""
        low, high = 1e3 * min(self.periods), 1e3 * max(self.periods)
        every = f"{1e3 * self.median:.1f}" if high < 1.05 * low else f"{low:.1f} to {high:.1f}"
        if self.joints:
            where, what = self.names[0], f"position of {listed(self.joints)}"
        else:
            is_all = len(self.names) == self.total > 1
            where, what = f"All {self.total} recordings" if is_all else self.where, "position"
        return (f"{where}: {what} refreshes every {every} ms.", "Timestamps were corrected.")


@dataclass(frozen=True, kw_only=True)
class SampleGaps(SomeRecordings):
    """Recordings without samples for a while.

    Attributes:
        gaps: length and start of the longest one of each, s.
    """

    kind: str = field(default="sample_gaps", init=False)
    gaps: tuple[tuple[float, float], ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Where, what follows, what to do."""
        gaps = [
            f"{name}: {length:.2g} s at {start:.2f} s"
            for name, (length, start) in zip(self.names, self.gaps, strict=True)
        ]
        return (
            f"No samples for a while in {self.where}.",
            f"The longest: {listed(gaps, most=2)}.",
            "Goals of that time are unknown, so errors there are not the model's.",
            "Record these runs again, or leave them out.",
        )


@dataclass(frozen=True, kw_only=True)
class StaleVelocity(SomeRecordings):
    """Recordings whose velocity hardly changes while the arm moves."""

    kind: str = field(default="stale_velocity", init=False)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Where, and what to do."""
        return (
            f"velocity: hardly changes while the arm moves in {self.where} ({listed(self.names)}).",
            "Record it again where it matters.",
        )


@dataclass(frozen=True, kw_only=True)
class OtherLag(SomeRecordings):
    """Recordings whose velocity lags behind position by another time than usual.

    Attributes:
        lags: of each, s.
        usual: of most other recordings, for each servo, s; may be empty.
    """

    kind: str = field(default="other_lag", init=False)
    lags: tuple[float, ...]
    usual: tuple[float, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, the usual lag, and what to do."""
        lags = [f"{name}: {1e3 * lag:.0f} ms" for name, lag in zip(self.names, self.lags, strict=True)]
        usual = range_words(tuple(1e3 * lag for lag in self.usual)) if self.usual else ""
        return (
            f"Velocity lags behind position by an unusual time in {self.where}.",
            f"Lags: {listed(lags)}.",
            *((f"In most others it is {usual} ms.",) if usual else ()),
            "One of their channels lags: leave them out, or shift it.",
        )


@dataclass(frozen=True, kw_only=True)
class Repeated(RecordingFinding):
    """A recording that counts once though it was found twice.

    Attributes:
        kind: "given_twice", "same_data", or "same_run": in another format, or cut.
        duplicate_of: recording with the same data; None where it is the same file.
    """

    duplicate_of: Path | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which."""
        what = "the same run as" if self.kind == "same_run" else "holds the same data as"
        what = "given twice" if self.duplicate_of is None else f"{what} {self.duplicate_of}"
        return (f"{self.source}: {what}, counted once.",)


@dataclass(frozen=True, kw_only=True)
class Interrupted(RecordingFinding):
    """A bag that was not written to its end.

    Attributes:
        kind: "set_aside" or "ends_early" (both passed over), "no_index" (complete otherwise), or "cut".
        duration: of what is there, s; NaN where that is passed over.
        planned: duration of the run, s; None where that is unknown.
    """

    duration: float = float("nan")
    planned: float | None = None

    @property
    def is_passed_over(self) -> bool:
        """It is not read."""
        return self.kind in ("set_aside", "ends_early")

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is there, and how to read it."""
        if self.is_passed_over:
            why = {"set_aside": "the recorder set it aside", "ends_early": "it ends early"}[self.kind]
            return (
                f"{self.source}: interrupted recording passed over ({why}).",
                "Name it to read it, or copy what it has with 'bam import --repair'.",
            )
        if self.kind == "no_index":
            return (f"{self.source}: its index is cut off, but every message is there.",)
        if self.planned is None:
            return (f"{self.source}: interrupted, it has the first {self.duration:.1f} s.",)
        return (f"{self.source}: interrupted, it has {self.duration:.1f} s of {self.planned:.1f} s.",)


@dataclass(frozen=True, kw_only=True)
class UnmodelledSettings(RecordingFinding):
    """Settings of a servo that the model does not have; `settings` names them."""

    kind: str = field(default="unmodelled_settings", init=False)
    settings: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which."""
        return (f"{self.source}: the model does not have all settings of the servo: {self.settings}.",)


@dataclass(frozen=True, kw_only=True)
class SupplyContradicted(SomeRecordings):
    """A supply that was given, where recordings have another.

    Attributes:
        source: of what was given, in words: an option, a file; may be empty.
        given: of each of these runs, V.
        recorded: in each of them, V.
        error: relative, the largest; positive where too much was given.
    """

    kind: str = field(default="supply_contradicted", init=False)
    source: str
    given: tuple[float, ...]
    recorded: tuple[float, ...]
    error: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both voltages, what follows, what to do."""
        where = ", ".join(self.names) if len(self.names) <= 3 else f"{len(self.names)} of {self.total} logs"
        given = f"given by {self.source}" if self.source else "given"
        side = "weaker" if self.error > 0.0 else "stronger"
        return (
            f"vin: {range_words(self.given)} V {given}, {range_words(self.recorded)} V recorded ({where}).",
            f"Motors will seem up to {100.0 * abs(self.error):.0f} % {side} than they are.",
            "Leave it out unless the recording is wrong.",
        )


@dataclass(frozen=True, kw_only=True)
class OtherDamping(RecordingFinding):
    """A log of an eRob whose damping is not the usual one.

    Attributes:
        damping: factor in its header.
        firmware: with this damping.
        usual: firmware of most logs.
    """

    kind: str = field(default="other_damping", init=False)
    damping: float
    firmware: str
    usual: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """The damping, and which servo file goes with it."""
        return (
            f"{self.source}: damping is {self.damping:g}.",
            f"Use a servo file with firmware {self.firmware}, not {self.usual}.",
        )
