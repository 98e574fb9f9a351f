# SPDX-License-Identifier: Apache-2.0
"""What the driver of eRobs reports about drives and their segment."""

from __future__ import annotations

from dataclasses import dataclass

from bam_core.errors import BamError
from bam_ros.text.notice import Notice


@dataclass(frozen=True, kw_only=True)
class DriveFault(Notice):
    """Fault that a drive reports.

    Attributes:
        joint: name.
        code: of the fault, 0x603F.
        name: of the fault, or of its group.
        cure: what to do.
    """

    joint: str
    code: int
    name: str
    cure: str

    def __str__(self) -> str:
        return f"{self.joint}: drive fault 0x{self.code:04X}, {self.name}; {self.cure}, then reboot"


@dataclass(frozen=True, kw_only=True)
class OtherRatings(Notice):
    """A drive that cannot be the servo it is set to be.

    Attributes:
        joint: name.
        position: on the segment.
        current: rated, A.
        torque: rated, N·m.
        servo: that was set.
        torque_constant: of this servo, N·m/A.
    """

    joint: str
    position: int
    current: float
    torque: float
    servo: str
    torque_constant: float

    def __str__(self) -> str:
        return (
            f"slave at position {self.position} (joint {self.joint!r}): rated {self.torque:.3g} N·m at"
            f" {self.current:.3g} A, {self.torque / self.current:.3g} N·m/A (expected about"
            f" {self.torque_constant:.3g}, as {self.servo} has); set the parameter servos to the drive that"
            " is there"
        )


@dataclass(frozen=True, kw_only=True)
class CycleLoss(Notice):
    """Cycles are lost on an interface.

    Attributes:
        interface: name.
        share: of the newest cycles that were lost, 0..1.
    """

    interface: str
    share: float

    def __str__(self) -> str:
        return (
            f"interface {self.interface}: {self.share:.1%} of the newest cycles lost (expected none); check"
            " cables and plugs, and that the master gets a processor"
        )


@dataclass(frozen=True, kw_only=True)
class CameUpLater(Notice):
    """A segment that came up at a later attempt; `failure` is that of an earlier one."""

    failure: BamError

    def __str__(self) -> str:
        return f"{self.failure} (it came up when that was tried again)"
