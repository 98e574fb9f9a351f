# SPDX-License-Identifier: Apache-2.0
"""Settings of the master process at its start, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from bam_ros.erob.cia402 import Encoder
from bam_ros.erob.goal_guard import GoalLimits
from bam_ros.erob.position_law import MotorLimits


@dataclass(frozen=True, kw_only=True)
class AxisSettings:
    """One drive.

    Attributes:
        joint: name of the joint.
        position: on the segment, counted from 1.
        encoder: its counts as angles.
        limits: of its motor.
        goals: what may be asked of the joint.
    """

    joint: str
    position: int
    encoder: Encoder
    limits: MotorLimits
    goals: GoalLimits = field(default_factory=GoalLimits)


@dataclass(frozen=True, kw_only=True)
class MasterSettings:
    """Everything that the master needs.

    Attributes:
        interface: name of the network interface.
        axes: the drives.
        layout: of the process data, a name or a YAML file.
        period: of the cycle, ns.
        watchdog: time without process data after which a drive stops by itself, s.
        answer_timeout: after which a frame counts as lost, s.
        silence: time without goals, while torque is on, after which torque goes off, s.
        clock: whether to use distributed clocks.
    """

    interface: str
    axes: tuple[AxisSettings, ...]
    layout: str = "torque"
    period: int = 1_000_000
    watchdog: float = 0.05
    answer_timeout: float = 2e-3
    silence: float = 0.5
    clock: bool = True

    @property
    def input_age(self) -> int:
        """How old inputs are when a frame fetches them, ns: with clocks, they are of the last SYNC0."""
        return self.period // 2 if self.clock else 0

    @property
    def dead_time(self) -> int:
        """From the state that a drive measured to the torque that answers it, ns.

        The law answers the frame before, so it takes a period, and with clocks half a one more at either end.
        """
        return 2 * self.period if self.clock else self.period

    def plain(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> MasterSettings:
        """Return the settings that `plain` gave."""
        axes = tuple(
            AxisSettings(
                joint=axis["joint"],
                position=axis["position"],
                encoder=Encoder(**axis["encoder"]),
                limits=MotorLimits(**axis["limits"]),
                goals=GoalLimits(**axis["goals"]),
            )
            for axis in plain["axes"]
        )
        return cls(**{**plain, "axes": axes})
