# SPDX-License-Identifier: Apache-2.0
"""What the simulator simulates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from bam_core.errors import Unsupported
from bam_core.errors.checks import require_positive
from bam_core.servo.model import ServoModel
from bam_core.servo.pendulum import PendulumBench
from bam_core.servo.plausible import require_plausible
from bam_ros.driver.command_kind import CommandKind


@dataclass(frozen=True, kw_only=True)
class SimulationSettings:
    """What is simulated, and how.

    Attributes:
        servos: joint -> its servo, in the order of the bus.
        model: MJCF or URDF file; empty: the pendulum bench.
        bench: load of the pendulum bench; other models ignore it.
        kp: position gain of every servo at first, firmware units; 0: each with that of its factory.
        supply_voltage: of every servo, V; 0: the nominal one of each.
        timestep: s; 0 keeps that of the model, which is 1 ms for the bench.
        period: least simulated time of one exchange, s.
        real_time_factor: simulated seconds per second; 0 is as fast as possible.
        keyframe: of the model, to start from; empty: as the model stands.
        initial_position: joint -> position at the start, rad; others, and where NaN, start as keyframe or
            model have.
        start_contacts: whether contacts between links that touch at the start are simulated.
        pwm: whether servos are commanded by duty, as in their PWM mode; only those with a voltage law can.
            Each exchange is then a whole period.
        command_kinds: joint -> what it is commanded by; others by position.
        simulated_stamps: stamp samples with the simulated time instead of the wall clock.
        dump_directory: where a simulation that diverges leaves its last moments.
    """

    servos: Mapping[str, ServoModel]
    model: str = ""
    bench: PendulumBench = field(default_factory=lambda: PendulumBench(mass=0.5, length=0.15))
    kp: float = 0.0
    supply_voltage: float = 0.0
    timestep: float = 0.0
    period: float = 2e-3
    real_time_factor: float = 1.0
    keyframe: str = ""
    initial_position: Mapping[str, float] = field(default_factory=dict)
    start_contacts: bool = False
    pwm: bool = False
    command_kinds: Mapping[str, CommandKind] = field(default_factory=dict)
    simulated_stamps: bool = False
    dump_directory: str = "."

    def own_limits(self, joint: str) -> tuple[float, float]:
        """Return the positions that the servo of a joint takes, rad: one turn, where it follows positions."""
        by_position = self.command_kinds.get(joint, CommandKind.POSITION) is CommandKind.POSITION
        return (-math.pi, math.pi) if by_position else (-math.inf, math.inf)

    @property
    def time_warning(self) -> str:
        """What to know about stamps, in one line; empty: nothing."""
        if self.simulated_stamps or self.real_time_factor in (0.0, 1.0):
            return ""
        return (
            f"stamps of states are of the wall clock, and the simulation runs at {self.real_time_factor:g} of"
            " it: recordings and speeds by them are wrong; set publish_clock:=true, and use_sim_time:=true in"
            " other nodes"
        )

    def __post_init__(self) -> None:
        if self.kp:
            require_positive("simulator", kp=self.kp)
            require_plausible("simulator kp", "kp", self.kp)
        if self.supply_voltage:
            require_plausible("simulator supply_voltage", "supply_voltage", self.supply_voltage)
        for joint, servo in self.servos.items():
            if self.pwm and servo.firmware.regulates_current:
                raise Unsupported(
                    f"joint {joint!r}",
                    f"{servo.title} regulates its current and has no PWM mode",
                    expected="a servo that is commanded by voltage",
                    advice="choose another servo, or drive it by position",
                )
