# SPDX-License-Identifier: Apache-2.0
"""Findings about recordings that can be used, though something is missing, odd or too little."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from bam_core.text.finding import Finding, count, listed


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


FEW = {
    "one_training_log": ("One training log: standard errors and intervals need two or more.",),
    "no_selection": (
        "{training}: selection needs {needed} different gains, loads or scripts.",
        "Model and effects are chosen by training error.",
        "A richer model always has a lower training error.",
        "Record another gain or load.",
    ),
    "one_test_log": (
        "One test log: it does not show how far other logs are from it.",
        "An interval needs {needed}.",
        "Keep more logs for the test.",
    ),
    "too_few_for_test": (
        "No test set: {training}, a test by default needs {needed}.",
        "All errors are of logs that were used for the fit or the choice.",
        "Record more, choose some with --test, or give others to bam validate.",
    ),
    "no_test": (
        "No test set: all errors are of logs that were used for the fit or the choice.",
        "Keep some with --test, or give others to bam validate.",
    ),
}
"""Kind -> sentences."""


@dataclass(frozen=True, kw_only=True)
class FewLogs(Finding):
    """Something that needs more logs.

    Attributes:
        kind: "one_training_log", "no_selection", "one_test_log", "too_few_for_test" (by
            default) or "no_test".
        training: number of training logs.
        test: number of test logs.
        needed: number of logs, of training or test, that it needs.
    """

    training: int
    test: int
    needed: int = 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is not known, and which logs would help."""
        training = count(self.training, "training log")
        return tuple(line.format(training=training, needed=self.needed) for line in FEW[self.kind])


@dataclass(frozen=True, kw_only=True)
class OtherServo(Finding):
    """Recordings of another servo, or of another control law, that a model is compared with.

    Attributes:
        kind: "other_servo" or "other_law".
        servo: name of the model.
        firmware: name of its law.
        others: names of servos, or of laws.
    """

    servo: str
    firmware: str
    others: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is compared with what."""
        if self.kind == "other_servo":
            others = ", ".join(f"'{name}'" for name in self.others)
            return (f"Servo model '{self.servo}' is compared with recordings of {others}.",)
        return (
            f"Servo model '{self.servo}' has firmware {self.firmware}.",
            f"It is compared with recordings under {', '.join(self.others)}.",
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


@dataclass(frozen=True, kw_only=True)
class IllPosedGear(Finding):
    """A gear that friction may jam with a load, Kikuuwe eq. 29.

    Attributes:
        servo: name.
        feedback: |ρ̂| with this load; it should be below 1.
        input_side: asymmetry of the gear.
        output_side: asymmetry of the gear.
    """

    kind: str = field(default="ill_posed_gear", init=False)
    servo: str
    feedback: float
    input_side: float
    output_side: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """How far, and what to lower."""
        return (
            f"Servo '{self.servo}', gear: |ρ̂| is {self.feedback:.3g} with this load (expected < 1, eq. 29).",
            "Friction may jam it while it moves.",
            f"Lower gear.input_side = {self.input_side:g} or gear.output_side = {self.output_side:g}.",
        )


@dataclass(frozen=True, kw_only=True)
class PriorOfOneUnit(Finding):
    """A prior that is an identified unit, not a type.

    Attributes:
        file: of the prior.
    """

    kind: str = field(default="prior_of_one_unit", init=False)
    file: Path

    @property
    def sentences(self) -> tuple[str, ...]:
        """Whose prior it is, and what to take for another unit."""
        return (
            f"{self.file}: the prior is of one unit.",
            "Use it for further runs of the same unit.",
            "For another unit, use the file that 'bam fleet' wrote.",
        )


@dataclass(frozen=True, kw_only=True)
class InBothSets(Finding):
    """Logs that were given for training and for the test; `logs` are their paths."""

    kind: str = field(default="in_both_sets", init=False)
    logs: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what they are used for."""
        return (f"In LOGS and in --test, used for the test only: {', '.join(self.logs)}.",)


@dataclass(frozen=True, kw_only=True)
class FittedToTest(Finding):
    """A model that was fitted to logs of the test set.

    Attributes:
        model: its name or file.
        seen: number of these logs.
        total: number of logs of the test set.
    """

    kind: str = field(default="fitted_to_test", init=False)
    model: str
    seen: int
    total: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many, and what follows."""
        return (
            f"{self.model} was fitted to {self.seen} of {self.total} test logs.",
            "Its error there is no test error.",
        )


@dataclass(frozen=True, kw_only=True)
class TrainedOn(Finding):
    """Logs of a validation that a model was fitted to.

    Attributes:
        model: its name or file.
        logs: names of these logs.
        total: number of logs of the validation.
    """

    kind: str = field(default="trained_on", init=False)
    model: str
    logs: tuple[str, ...]
    total: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many, and what follows."""
        some = "" if len(self.logs) == self.total else f" ({', '.join(self.logs)})"
        return (
            f"{self.model} was fitted to {len(self.logs)} of these {self.total} logs{some}.",
            "Errors there are training errors.",
        )


@dataclass(frozen=True, kw_only=True)
class IllPosedGears(Finding):
    """Gears that may jam, or have two solutions, with rotor and load in simulation: Kikuuwe eqs. 29, 57.

    Attributes:
        kind: "own_feedback" (of one joint, eq. 29) or "joint_gain" (of all together, eq. 57).
        joints: names.
        gain: |ρ̂| or σ_max(P); it should be below 1.
        servo: name of the joint's servo; empty of several.
        input_side: asymmetry of the joint's gear.
        output_side: asymmetry of the joint's gear.
    """

    joints: tuple[str, ...]
    gain: float
    servo: str = ""
    input_side: float = 0.0
    output_side: float = 0.0

    @property
    def sentences(self) -> tuple[str, ...]:
        """How far, and what to lower."""
        if self.kind == "joint_gain":
            return (
                f"Gears: σ_max(P) is {self.gain:.3g} in this pose with this load (expected < 1, eq. 57).",
                "A step may have two solutions.",
                f"Lower gear.output_side of {', '.join(self.joints)}.",
            )
        return (
            f"Joint '{self.joints[0]}': |ρ̂| of its gear is {self.gain:.3g} (expected < 1, eq. 29).",
            "Friction may jam it while it moves.",
            f"Lower gear.input_side = {self.input_side:g} or gear.output_side = {self.output_side:g} "
            f"of servo '{self.servo}'.",
        )


@dataclass(frozen=True, kw_only=True)
class BenchLeftOut(Finding):
    """A library servo whose bench effects are not simulated.

    Attributes:
        kind: "own_recordings" (it was identified from these recordings) or "other_bench" (it was not).
        servo: name.
    """

    servo: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is left out, and how to include it."""
        option = f"--bench-effects {self.servo}"
        if self.kind == "own_recordings":
            return (
                f"{self.servo} was identified from these recordings, but its bench effects are not used.",
                f"Give {option} to simulate them as well.",
            )
        return (
            f"{self.servo}: delay, offset and arm of the bench of its identification are not used.",
            f"Give {option} if these recordings are from that bench.",
        )
