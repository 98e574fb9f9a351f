# SPDX-License-Identifier: Apache-2.0
"""Why a fault of a driver cannot be ended now."""

from __future__ import annotations

from collections.abc import Sequence

from bam_core.errors import Conflict, Unavailable


class FaultPersists(Unavailable):
    """A fault whose cause has not passed; torque stays off."""

    def __init__(self, fault: str) -> None:
        """Compose the line.

        Args:
            fault: in one line.
        """
        super().__init__(
            "fault", f"persists, {fault}", advice="remove its cause (~/reboot ends errors of servos)"
        )


class StillAsked(Conflict):
    """A fault cannot end while commands ask for torque, which would be on again at once.

    Attributes:
        joints: for which torque is asked.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        """Compose the line.

        Args:
            joints: for which torque is asked.
        """
        self.joints = tuple(joints)
        super().__init__(
            "fault",
            f"torque is still asked for ({', '.join(joints)})",
            expected="no such commands for command_timeout",
            advice="stop them, then ask again",
        )
