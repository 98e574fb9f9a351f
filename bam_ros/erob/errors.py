# SPDX-License-Identifier: Apache-2.0
"""Errors of a segment that is up: what stopped the master, or let torque go off."""

from __future__ import annotations

from bam_core.errors import Unavailable
from bam_ros.erob.al_status import AlStatus
from bam_ros.text.al_status_words import al_status_cure


class NodeSilent(Unavailable):
    """The node sends no goals while torque is on.

    Attributes:
        duration: longest time without goals, s.
    """

    def __init__(self, duration: float) -> None:
        """Compose the line.

        Args:
            duration: longest time without goals, s.
        """
        self.duration = duration
        super().__init__(
            "driver",
            f"no goals for {duration:g} s while torque was on, the node hangs",
            advice="give it a processor",
        )


class MasterStalled(Unavailable):
    """The master had no processor for longer than the watchdogs of the drives.

    Attributes:
        duration: of the cycle, s.
    """

    def __init__(self, duration: float, period: float) -> None:
        """Compose the line.

        Args:
            duration: of the cycle, s.
            period: that it should have, s.
        """
        self.duration = duration
        super().__init__(
            "master process",
            f"stood still for {duration:.2f} s",
            expected=f"{period:g} s",
            advice="give it a processor, and real-time priority",
        )


class MasterExited(Unavailable):
    """The master process has ended by itself, or somebody has ended it.

    Attributes:
        pid: of the process.
        status: of its exit; negative: number of the signal. None where it has not ended.
    """

    def __init__(self, pid: int, status: int | None) -> None:
        """Compose the line.

        Args:
            pid: of the process.
            status: of its exit; None where it has not ended.
        """
        self.pid, self.status = pid, status
        super().__init__(
            f"master process {pid}",
            f"exited unexpectedly (status {status})",
            advice="do not kill it, and see the node's output",
        )


class OutsideOp(Unavailable):
    """A drive has left the EtherCAT state OP.

    Attributes:
        status: of the drive.
    """

    def __init__(self, who: str, status: AlStatus) -> None:
        """Compose the line.

        Args:
            who: the drive, such as "slave at position 1".
            status: of the drive.
        """
        self.status = status
        advice = "it is brought back, torque off"
        if status.error:
            advice += f"; if that happens again: {al_status_cure(status.code)}"
        super().__init__(who, f"is in {status}", expected="OP", advice=advice)
