# SPDX-License-Identifier: Apache-2.0
"""Which drives an `ErobBus` has, checked, and as what the master process needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bam_core.errors import OutOfRange, Unsupported, WrongShape
from bam_core.servo.firmware_laws import CurrentFirmware
from bam_core.servo.model import ServoModel, load_servo
from bam_ros.driver.joint_limits import HALF_TURN, Range
from bam_ros.driver.servo_bus import EACH_ONCE
from bam_ros.erob.axis import NEEDED_RECEIVE, NEEDED_TRANSMIT
from bam_ros.erob.cia402 import Encoder
from bam_ros.erob.goal_guard import GoalLimits
from bam_ros.erob.master_settings import AxisSettings, MasterSettings
from bam_ros.erob.pdo_layout import load_layout
from bam_ros.erob.position_law import MotorLimits
from bam_ros.text.erob_notices import OtherRatings

LARGEST_RATE = 2000.0
"""Cycles per second that an eRob takes."""
LEAST_RATE = 100.0
"""Cycles per second that the position law needs. At its default gain a frictionless erob80_100 without load
oscillates by 0.15 rad with 50 of them, by 1 rad with 20."""
LONGEST_NODE_TIMEOUT = 5.0  # s; longer, and a joint would be held by nobody
_LARGEST_GAIN = 1000.0  # A/rad
_TOLERANCE = 1.4  # between gears of 1:50 and 1:100 in the middle, as factors go


@dataclass(frozen=True, kw_only=True)
class ErobSettings:
    """Which drives, and where.

    Attributes:
        interface: name of the network interface.
        joints: joint names.
        positions: of each drive on the segment, counted from 1.
        servos: model of each drive, a library name or a YAML file; one entry: for all.
        zeros: what is taken off each drive's angle, rad; one entry: for all.
        kp: position gain of every drive at first, A/rad.
        limits: lowest and highest goal of each drive, rad; one pair: for all.
        speed_limit: fastest that goals move, rad/s.
        following_error: distance from the goal at which torque goes off where it lasts, rad; 0: any may.
        layout: of the process data, a name or a YAML file.
        rate: cycles per second, 1/s.
        watchdog: time without process data after which a drive stops by itself, s.
        answer_timeout: after which a frame counts as lost, s; 0: two periods, at least 2 ms, at most
            a fifth of the watchdog's time.
        node_timeout: time without goals from the node, while torque is on, after which torque goes off, s.
        clock: whether to use distributed clocks.

    Raises:
        BamError: names or positions that repeat, lists of different length, an unknown servo or layout, or an
            impossible value.
    """

    interface: str
    joints: Sequence[str] = ("joint",)
    positions: Sequence[int] = (1,)
    servos: Sequence[str] = ("erob80_100",)
    zeros: Sequence[float] = (0.0,)
    kp: float = 20.0
    limits: Sequence[Range] = (HALF_TURN,)
    speed_limit: float = 20.0
    following_error: float = 2.0
    layout: str = "torque"
    rate: float = 1000.0
    watchdog: float = 0.05
    answer_timeout: float = 0.0
    node_timeout: float = 0.5
    clock: bool = True

    def __post_init__(self) -> None:
        for what, values in (("joint_names", self.joints), ("positions", self.positions)):
            if not values or len(set(values)) != len(values):
                raise WrongShape(what, list(values), "at least one, each once", advice=EACH_ONCE)
        if len(self.joints) != len(self.positions):
            raise WrongShape(
                "positions",
                len(self.positions),
                "one per joint",
                printed=f"{len(self.positions)} positions for {len(self.joints)} joint_names",
                advice="correct the parameters",
            )
        wrong = [position for position in self.positions if not 1 <= position <= 199]
        if wrong:
            raise OutOfRange("positions", wrong[0], "1 to 199", advice="correct the parameter")
        for what, count in (
            ("servos", len(self.servos)),
            ("zeros", len(self.zeros)),
            ("limits", len(self.limits)),
        ):
            if count not in (1, len(self.joints)):
                raise WrongShape(
                    what,
                    count,
                    f"1, or {len(self.joints)} as joint_names",
                    printed=f"{count} entries",
                    advice="correct the parameter",
                )
        if not all(math.isfinite(zero) for zero in self.zeros):
            raise OutOfRange("zeros", list(self.zeros), "finite angles, rad", advice="correct the parameter")
        require_gain("kp", self.kp)
        for low, high in self.limits:
            if not low < high:
                raise OutOfRange(
                    "limits",
                    (low, high),
                    "low < high",
                    printed=f"{low:g} to {high:g} rad",
                    advice="correct the parameter",
                )
        five_cycles = 5.0 / self.rate if self.rate else math.inf
        for what, number, unit, good, expected in (
            ("speed_limit", self.speed_limit, "rad/s", self.speed_limit > 0.0, "> 0"),
            ("following_error", self.following_error, "rad", self.following_error >= 0.0, "0 or more"),
            (
                "cycle_rate",
                self.rate,
                "1/s",
                LEAST_RATE <= self.rate <= LARGEST_RATE,
                f"{LEAST_RATE:g} to {LARGEST_RATE:g}: with a slower law joints oscillate",
            ),
            (
                "watchdog",
                self.watchdog,
                "s",
                five_cycles <= self.watchdog <= 1.0,
                f"{five_cycles:g}, five cycles, to 1",
            ),
            (
                "node_timeout",
                self.node_timeout,
                "s",
                0.1 <= self.node_timeout <= LONGEST_NODE_TIMEOUT,
                f"0.1 to {LONGEST_NODE_TIMEOUT:g}",
            ),
            (
                "answer_timeout",
                self.answer_timeout,
                "s",
                0.0 <= self.answer_timeout < self.watchdog,
                f"0 to less than the watchdog's {self.watchdog:g}",
            ),
        ):
            if not good:
                raise OutOfRange(
                    what, number, expected, printed=f"{number:g} {unit}", advice="correct the parameter"
                )
        load_layout(self.layout).require(NEEDED_RECEIVE, NEEDED_TRANSMIT)

    def models(self) -> tuple[ServoModel, ...]:
        """Return the servo of each joint; raises BamError where one is unknown or has no current law."""
        names = tuple(self.servos) * (len(self.joints) if len(self.servos) == 1 else 1)
        models = {name: load_servo(name) for name in names}
        for name, servo in models.items():
            if not isinstance(servo.firmware, CurrentFirmware):
                raise Unsupported(
                    "servos",
                    f"{name} has a voltage law, {servo.firmware.name}",
                    expected="a current law, as that of erob80_100",
                    advice="choose another servo",
                )
        return tuple(models[name] for name in names)

    def warnings(self, ratings: Sequence[tuple[float, float]]) -> tuple[OtherRatings, ...]:
        """Return the drives that cannot be the servos they are set to be.

        All eRobs have the same product code, so their rated torque and current must distinguish them.

        Args:
            ratings: of each drive, rated current, A, and torque, N·m; NaN where it has none.
        """
        others = []
        for joint, servo, position, (current, torque) in zip(
            self.joints, self.models(), self.positions, ratings, strict=True
        ):
            given, expected = torque / current, servo.motor.torque_constant
            if given > expected * _TOLERANCE or given < expected / _TOLERANCE:
                others.append(
                    OtherRatings(
                        joint=joint,
                        position=position,
                        current=current,
                        torque=torque,
                        servo=servo.name,
                        torque_constant=expected,
                    )
                )
        return tuple(others)

    def master(self) -> MasterSettings:
        """Return what the master process needs; raises BamError as `models`."""
        zeros = tuple(self.zeros) * (len(self.joints) if len(self.zeros) == 1 else 1)
        limits = tuple(self.limits) * (len(self.joints) if len(self.limits) == 1 else 1)
        axes = tuple(
            AxisSettings(
                joint=joint,
                position=position,
                encoder=Encoder(counts_per_turn=round(servo.firmware.counts_per_turn), zero=zero),
                limits=MotorLimits(
                    heat_limit=servo.firmware.demand_limit,
                    torque_constant=servo.motor.torque_constant,
                    resistance=servo.motor.resistance,
                    nominal_voltage=servo.nominal_voltage,
                ),
                goals=GoalLimits(
                    low=low,
                    high=high,
                    speed=self.speed_limit,
                    following_error=self.following_error,
                ),
            )
            for joint, position, servo, zero, (low, high) in zip(
                self.joints, self.positions, self.models(), zeros, limits, strict=True
            )
        )
        return MasterSettings(
            interface=self.interface,
            axes=axes,
            layout=self.layout,
            period=round(1e9 / self.rate),
            watchdog=self.watchdog,
            answer_timeout=self.answer_timeout or max(min(2.0 / self.rate, 0.2 * self.watchdog), 2e-3),
            silence=self.node_timeout,
            clock=self.clock,
        )


def require_gain(what: str, kp: float) -> None:
    """Raise OutOfRange for a position gain that the law cannot have."""
    if not 0.0 <= kp <= _LARGEST_GAIN:  # also for NaN
        raise OutOfRange(
            what, kp, f"0 to {_LARGEST_GAIN:g}", printed=f"{kp:g} A/rad", advice="choose another"
        )
