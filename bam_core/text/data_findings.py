# SPDX-License-Identifier: Apache-2.0
"""Findings about recordings that can be used, though something is missing, odd or too little."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from bam_core.text.finding import Finding, listed


@dataclass(frozen=True, kw_only=True)
class LogsFinding(Finding):
    """Base of findings about some logs.

    Attributes:
        logs: names.
        is_all: these are all logs, and more than one.
    """

    logs: tuple[str, ...]
    is_all: bool = False

    @property
    def where(self) -> str:
        """The first names, or that it is all."""
        return "All logs" if self.is_all else listed(self.logs)


@dataclass(frozen=True, kw_only=True)
class NoVoltage(LogsFinding):
    """Logs without a measured supply voltage.

    Attributes:
        supplies: nominal voltages that are assumed, V.
    """

    kind: str = field(default="no_voltage", init=False)
    supplies: tuple[float, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which logs, and what is assumed."""
        supplies = " or ".join(f"{supply:g} V" for supply in self.supplies)
        return (f"{self.where}: no supply voltage was measured.", f"{supplies} is assumed.")


@dataclass(frozen=True, kw_only=True)
class NoTemperature(LogsFinding):
    """Logs without a measured temperature, for effects that depend on it.

    Attributes:
        assumed: temperature, °C.
        effects: that depend on it.
    """

    kind: str = field(default="no_temperature", init=False)
    assumed: float
    effects: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which logs, and what is assumed for what."""
        depend = "depend" if len(self.effects) > 1 else "depends"
        return (
            f"{self.where}: no temperature was measured.",
            f"{self.assumed:g} °C is assumed.",
            f"{' and '.join(self.effects)} {depend} on it.",
        )


@dataclass(frozen=True, kw_only=True)
class DutyMismatch(LogsFinding):
    """Logs whose duty is not what their gain asks of their position error.

    Attributes:
        ratios: recorded duty over expected duty, of each log.
        kp: of the first one.
    """

    kind: str = field(default="duty_mismatch", init=False)
    ratios: tuple[float, ...]
    kp: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """By how much, and what to correct."""
        low, high = f"{min(self.ratios):.2g}", f"{max(self.ratios):.2g}"
        span = low if len(self.ratios) == 1 else f"{low} to {high}"
        return (
            f"{self.where}: recorded duty is {span} times that of kp (such as {self.kp:g}).",
            "Correct kp, or fit the effect firmware_gain if the firmware is another one.",
        )


@dataclass(frozen=True, kw_only=True)
class ImplausibleGain(LogsFinding):
    """Logs whose gain is none that servos with this law have.

    Attributes:
        kp: of the first one.
        error: at which that gain asks for all that the law has, rad.
        law: name of the firmware.
    """

    kind: str = field(default="implausible_gain", init=False)
    kp: float
    error: float
    law: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """At which error, what that means, and what to check."""
        error = math.degrees(self.error)
        return (
            f"{self.where}: kp {self.kp:g} asks for the full demand at {error:.2g}° of error.",
            f"No servo with the law {self.law} has such a gain.",
            "Either kp has other units, or the law is another one.",
            "Check kp, --servo, and the firmware in the servo's file (bam servos new --firmware).",
        )


@dataclass(frozen=True, kw_only=True)
class RecordingFinding(Finding):
    """Base of findings about one recording; `source` is its file."""

    source: Path


@dataclass(frozen=True, kw_only=True)
class OffGoals(RecordingFinding):
    """Positions that stay on one side of their goals.

    Attributes:
        gap: least distance from them, positive above, rad.
    """

    kind: str = field(default="off_goals", init=False)
    gap: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """How far, and what to correct."""
        side = "above" if self.gap > 0.0 else "below"
        return (
            f"{self.source}: position is {abs(self.gap):.2f} rad or more {side} its goals with torque on.",
            "It should meet them now and then.",
            "Correct the encoder's zero, or a lost turn of 2π, or leave the log out.",
        )


@dataclass(frozen=True, kw_only=True)
class OffHoldingPosition(RecordingFinding):
    """Positions that differ from where goals hold the arm.

    Attributes:
        offset: mean difference, rad.
    """

    kind: str = field(default="off_holding_position", init=False)
    offset: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """How far, and what to do."""
        return (
            f"{self.source}: position is {self.offset:+.2f} rad from where its goals hold the arm.",
            "Subtract that from position, or leave the log out.",
        )


@dataclass(frozen=True, kw_only=True)
class GravityOffZero(RecordingFinding):
    """Gravity that pulls an arm towards another angle than zero, beyond the offsets that a fit covers.

    Attributes:
        angle: towards which it pulls, rad.
        low: end of the offsets that a fit covers, rad.
        high: the other end, rad.
    """

    kind: str = field(default="gravity_off_zero", init=False)
    angle: float
    low: float
    high: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """The angle, what a fit covers, and what to do."""
        return (
            f"{self.source}: gravity pulls the arm towards {self.angle:.2f} rad instead of 0.",
            f"A fit covers a zero_offset from {self.low:g} to {self.high:g} rad only.",
            "Let the arm hang straight down at 0.",
            "Or subtract the difference from position and goal_position.",
        )
