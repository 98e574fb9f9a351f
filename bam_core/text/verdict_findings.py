# SPDX-License-Identifier: Apache-2.0
"""Findings that stand beside a verdict: what it rests on, and what it does not cover."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding, count, listed, mrad

_MOST_JOINTS = 4


@dataclass(frozen=True, kw_only=True)
class ErrorShare(Finding):
    """The test error beside the motion.

    Attributes:
        error: of the test, rad.
        motion: mean absolute distance of the test's positions from their mean, rad.
    """

    kind: str = field(default="error_share", init=False)
    error: float
    motion: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both, and the share."""
        share = f"{100.0 * self.error / self.motion:.2g} %"
        return (f"Test error: {mrad(self.error)}, {share} of the motion ({mrad(self.motion)} on average).",)


@dataclass(frozen=True, kw_only=True)
class MotorOutsidePrior(Finding):
    """A servo whose motor constants ended far outside their prior.

    Attributes:
        servo: name.
        torque_constant: as a multiple of the one given.
        resistance: likewise.
        supply: that was simulated, mean of the fitted runs, V.
        speed_supply: at which the servo given is as fast without load, V.
        torque_supply: at which it has as much torque at standstill, V.
    """

    kind: str = field(default="motor_outside_prior", init=False)
    servo: str
    torque_constant: float
    resistance: float
    supply: float
    speed_supply: float
    torque_supply: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both multiples, at which supplies the servo given is alike, and what to check."""
        return (
            f"{self.servo}: torque constant is {self.torque_constant:.2f} times, resistance "
            f"{self.resistance:.2f} times the one given.",
            f"At {self.supply:.1f} V it is as fast as the one given at {self.speed_supply:.1f} V, "
            f"as strong as at {self.torque_supply:.1f} V.",
            "Check the supply (--vin), the gain kp, and which servo it is.",
        )


@dataclass(frozen=True, kw_only=True)
class UntestedJoints(Finding):
    """Joints that no test run moves.

    Attributes:
        joints: names.
        limit: of their motion in all test runs, rad.
    """

    kind: str = field(default="untested_joints", init=False)
    joints: tuple[str, ...]
    limit: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which, and what follows."""
        return (
            f"No test run moves {listed(self.joints, most=8)} by more than {self.limit:g} rad.",
            "The verdict does not cover them.",
        )


@dataclass(frozen=True, kw_only=True)
class WorseJoints(Finding):
    """Joints whose test error grew.

    Attributes:
        joints: name, error with the servo given, and error with the one identified, rad.
    """

    kind: str = field(default="worse_joints", init=False)
    joints: tuple[tuple[str, float, float], ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both errors of the first ones, and how many more there are."""
        more = len(self.joints) - _MOST_JOINTS
        return (
            *(
                f"{joint}: test error {mrad(after)}, {mrad(before)} with the servo given."
                for joint, before, after in self.joints[:_MOST_JOINTS]
            ),
            *((f"{count(more, 'more joint')} got worse.",) if more > 0 else ()),
        )


@dataclass(frozen=True, kw_only=True)
class DeviationsNeeded(Finding):
    """What the test error is without the deviations of this robot.

    Attributes:
        file: of the deviations.
        error: with them, rad.
        error_without: with the servos alone, rad.
    """

    kind: str = field(default="deviations_needed", init=False)
    file: str
    error: float
    error_without: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both errors, and whether the file is needed."""
        verb = "needs" if self.error_without > self.error else "does not need"
        return (
            f"The prediction {verb} {self.file}: test error {mrad(self.error)} with it, "
            f"{mrad(self.error_without)} without.",
        )
