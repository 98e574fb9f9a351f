# SPDX-License-Identifier: Apache-2.0
"""Which servos a bus has, where they are, and how long they wait for their driver."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bam_core.errors import OutOfRange, WrongShape
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.servo_bus import EACH_ONCE
from bam_ros.dynamixel.discovery import BAUD_RATES
from bam_ros.dynamixel.servo import LARGEST_WATCHDOG, LEAST_WATCHDOG, SETPOINT_WATCHDOG, WATCHDOG


@dataclass(frozen=True, kw_only=True)
class DynamixelSettings:
    """Which servos, and where.

    Attributes:
        port: device path; empty: the only serial port there is.
        joints: joint names.
        ids: bus id of each joint.
        baud_rate: tried first, bit/s; 0: unknown.
        protocol: 1 or 2; 0: unknown, or both are on the line.
        command_kinds: what each joint is commanded by: operating modes of servos; empty: position.
        multi_turn: whether goals may be beyond a turn, in extended position mode; Protocol 2.0 only.
        current_limit: largest current of every servo, in current-based position mode, A; 0: position mode.
        watchdog: silence of this driver after which Protocol 2.0 servos stop by themselves, s. 0: 0.3 s, or
            0.2 s where a servo is commanded by velocity, current or duty.
        guardian_silence: silence after which the guardian releases every servo, s. 0: 1.6 times the watchdog.
        answer_timeout: after which an answer counts as lost, s; 0: 34 ms and the time that its bytes take.
        models: YAML file with control tables of models that are not built in; empty: none.
        baud_rates: tried after the first, bit/s.

    Raises:
        WrongShape: no joints, names or ids that repeat, or not one id per joint.
        OutOfRange: an impossible value.
    """

    port: str = ""
    joints: Sequence[str] = ("joint",)
    ids: Sequence[int] = (1,)
    baud_rate: int = 0
    protocol: int = 0
    command_kinds: Sequence[CommandKind] = ()
    multi_turn: bool = False
    current_limit: float = 0.0
    watchdog: float = 0.0
    guardian_silence: float = 0.0
    answer_timeout: float = 0.0
    models: str = ""
    baud_rates: Sequence[int] = BAUD_RATES

    def __post_init__(self) -> None:
        for what, values in (("joint_names", self.joints), ("ids", self.ids)):
            if not values or len(set(values)) != len(values):
                raise WrongShape(what, list(values), "at least one, each once", advice=EACH_ONCE)
        if len(self.joints) != len(self.ids):
            raise WrongShape(
                "ids",
                len(self.ids),
                "one id per joint",
                printed=f"{len(self.ids)} ids for {len(self.joints)} joint_names",
                advice="correct the parameters",
            )
        wrong = [servo for servo in self.ids if not 0 <= servo <= 252]
        if wrong:
            raise OutOfRange("ids", wrong[0], "0 to 252", advice="correct the parameter")
        if self.watchdog and not LEAST_WATCHDOG <= self.watchdog <= LARGEST_WATCHDOG:
            raise OutOfRange(
                "watchdog",
                self.watchdog,
                f"{LEAST_WATCHDOG:g} to {LARGEST_WATCHDOG:g} s, or 0",
                printed=f"{self.watchdog:g} s",
                advice="correct the parameter",
            )
        if not 0.0 <= self.answer_timeout < self.silence:
            raise OutOfRange(
                "answer_timeout",
                self.answer_timeout,
                f"0, or less than the watchdog, {self.silence:g} s",
                printed=f"{self.answer_timeout:g} s",
                advice="correct the parameter",
            )
        if not 0.0 <= self.current_limit < math.inf:
            raise OutOfRange(
                "current_limit", self.current_limit, "A, or 0 for none", advice="correct the parameter"
            )
        if self.protocol not in (0, 1, 2):
            raise OutOfRange(
                "protocol", self.protocol, "1, 2, or 0 to find it", advice="correct the parameter"
            )

    @property
    def silence(self) -> float:
        """How long the watchdog waits, s."""
        holds = all(kind is CommandKind.POSITION for kind in self.kinds)
        return self.watchdog or (WATCHDOG if holds else SETPOINT_WATCHDOG)

    @property
    def kinds(self) -> tuple[CommandKind, ...]:
        """What each joint is commanded by."""
        return tuple(self.command_kinds) or (CommandKind.POSITION,) * len(self.joints)
