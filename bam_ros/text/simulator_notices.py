# SPDX-License-Identifier: Apache-2.0
"""What the simulator reports: what it simulates, how fast, and what is left of a run that diverged."""

from __future__ import annotations

from dataclasses import dataclass

from bam_ros.text.notice import Notice


@dataclass(frozen=True, kw_only=True)
class SimulationOpened(Notice):
    """A simulation at its start.

    Attributes:
        model: that is simulated.
        servos: joint and servo.
        free_joints: without a servo.
    """

    model: str
    servos: tuple[tuple[str, str], ...]
    free_joints: tuple[str, ...] = ()

    def __str__(self) -> str:
        servos = ", ".join(f"{joint}: {servo}" for joint, servo in self.servos)
        free = f"; joints without servo: {', '.join(self.free_joints)}" if self.free_joints else ""
        return f"simulation of {self.model} with {servos}{free}"


@dataclass(frozen=True, kw_only=True)
class SimulationSlow(Notice):
    """A simulation that does not keep up; `speed` is the share of the one asked for."""

    speed: float

    def __str__(self) -> str:
        return (
            f"simulation: runs at {self.speed:.0%} of the speed asked for (expected 100%); lower"
            " real_time_factor or raise timestep"
        )


@dataclass(frozen=True, kw_only=True)
class LastMoments(Notice):
    """What is left of a run that diverged.

    Attributes:
        file: that has its last moments; empty: none has.
        most: files that are kept; 0: it was not that.
        error: why they are lost, where it was neither.
    """

    file: str = ""
    most: int = 0
    error: str = ""

    def __str__(self) -> str:
        if self.file:
            return f"its last moments are in {self.file}, for bam_core.mujoco.load_diverged_run"
        if self.most:
            return f"its last moments are not kept, after {self.most} files"
        return f"its last moments are lost: {self.error}"
