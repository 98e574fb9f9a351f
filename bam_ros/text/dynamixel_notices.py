# SPDX-License-Identifier: Apache-2.0
"""What the driver of Dynamixel and Feetech servos reports about a bus and its servos."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bam_ros.text.notice import Notice


@dataclass(frozen=True, kw_only=True)
class SearchBegun(Notice):
    """A search for servos that takes a while.

    Attributes:
        port: path.
        baud_rates: that are tried, bit/s.
        ids: that are asked first.
        protocols: 1, 2 or both.
        longest: time that it takes, s.
    """

    port: str
    baud_rates: tuple[int, ...]
    ids: tuple[int, ...]
    protocols: tuple[int, ...]
    longest: float

    def __str__(self) -> str:
        numbers = " and ".join(f"{number}.0" for number in sorted(self.protocols))
        return (
            f"port {self.port}: searching servos, baud rates {numbers_list(self.baud_rates)} x ids"
            f" {numbers_list(self.ids)} x protocol {numbers}, then other ids; takes up to {self.longest:.0f}"
            " s"
        )


@dataclass(frozen=True, kw_only=True)
class DutyLimited(Notice):
    """Registers of a servo limit its duty below what its firmware applies.

    Attributes:
        joint: name.
        registers: that limit it.
        duty: largest, 0..1.
        own: largest of the firmware, 0..1.
    """

    joint: str
    registers: tuple[str, ...]
    duty: float
    own: float

    def __str__(self) -> str:
        return (
            f"{self.joint}: its registers {' and '.join(self.registers)} limit its duty to {self.duty:.3g}"
            f" (expected {self.own:.4g}, as its firmware does); raise them if that is not intended,"
            " recordings contain the limit"
        )


@dataclass(frozen=True, kw_only=True)
class TorqueOnAtStart(Notice):
    """A servo whose torque goes on with its supply; `joint` is its name."""

    joint: str

    def __str__(self) -> str:
        return (
            f"{self.joint}: its torque goes on by itself when it gets power (expected off); clear bit 0 of"
            " its register startup_configuration"
        )


@dataclass(frozen=True, kw_only=True)
class TorqueOnByGoal(Notice):
    """A servo whose torque goes on with each goal that it gets; `joint` is its name."""

    joint: str

    def __str__(self) -> str:
        return (
            f"{self.joint}: its torque goes on with any goal that is written (expected torque_enable alone);"
            " clear bit 3 of its register drive_mode"
        )


def numbers_list(numbers: Iterable[int]) -> str:
    """Return numbers in one line: "1, 2, 3"."""
    return ", ".join(map(str, numbers))
