# SPDX-License-Identifier: Apache-2.0
"""Findings about what a robot's runs do not determine of its servos."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding, count, listed


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
            return (
                f"{joints}: not in all logs with goal and position.",
                "Servos of these joints hold still in simulations.",
            )
        if self.kind == "unknown_range":
            return (f"{joints}: left out of the dataset.", "Their range is unknown; --robot FILE gives it.")
        return (
            f"{joints}: at rest in all runs, within {self.limit:g} rad.",
            "Their loads are determined, their friction in motion is not.",
        )


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
        """Load beside friction; what is not determined, and what to record."""
        return (
            f"Servo {self.servo}: the load changes by ±{self.load:.2g} N·m, "
            f"friction alone holds ±{self.friction:.2g} N·m.",
            "Its torque constant stays near the given one: move links that gravity turns, or add a mass.",
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
class BeyondRange(Finding):
    """A joint that was measured beyond its range in the description.

    Attributes:
        joint: name.
        measured: lowest and highest reading, rad.
        limits: of the description, rad.
    """

    kind: str = field(default="beyond_range", init=False)
    joint: str
    measured: tuple[float, float]
    limits: tuple[float, float]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Where it was, where it ends, and what to do."""
        (least, most), (low, high) = self.measured, self.limits
        return (
            f"{self.joint}: was at {least:.3g} to {most:.3g} rad, its range is {low:.3g} to {high:.3g}.",
            "Simulations stop at its ends.",
            "Correct the range in the description, or the zero of the recording.",
        )


@dataclass(frozen=True, kw_only=True)
class TooHeavy(Finding):
    """A joint that rested where gravity, as described, needs more torque than its servo has.

    Attributes:
        joint: name.
        torque: that gravity needs there, median, N·m.
        stall_torque: of the servo, N·m.
        servo: its name.
    """

    kind: str = field(default="too_heavy", init=False)
    joint: str
    torque: float
    stall_torque: float
    servo: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both torques, and what to do."""
        return (
            f"{self.joint}: rested where the description's gravity needs {self.torque:.2g} N·m.",
            f"Its servo {self.servo} has {self.stall_torque:.2g} at most.",
            "Correct the masses (kg), lengths (m) or the servo.",
        )
