# SPDX-License-Identifier: Apache-2.0
"""The master's cycle without a line, for tests that go period by period."""

from __future__ import annotations

import math
import socket
from collections.abc import Sequence

from bam_core.errors import BamError
from bam_ros.erob.al_status import AlStatus, SlaveState
from bam_ros.erob.axis import Axis, Ratings
from bam_ros.erob.cia402 import Encoder
from bam_ros.erob.cycle import Cycle
from bam_ros.erob.goal_guard import GoalLimits
from bam_ros.erob.master_settings import MasterSettings
from bam_ros.erob.messages import AxisGoal, Goals, Note, failure, receive
from bam_ros.erob.pdo_layout import load_layout
from bam_ros.erob.position_law import MotorLimits
from bam_ros.erob.segment import Outcome

LAYOUT = load_layout("torque")
MOTOR = MotorLimits(heat_limit=12.0, torque_constant=9.4, resistance=2.0, nominal_voltage=48.0)
NEXT = {0x06: 0x21, 0x07: 0x23, 0x0F: 0x27}  # control word -> status word
OFF = AxisGoal(False, math.nan, 0.0, 0.0)


def on(position: float) -> AxisGoal:
    return AxisGoal(True, position, 20.0, 9.0)


class Drives:
    """Two drives at 0 rad that switch on as they are told and do not move.

    Attributes:
        outcome: of every cycle from now on.
        states: EtherCAT states of the drives; None: no answer.
        torques: target torques of both, of every cycle.
    """

    interface = "lo"
    working_counter = expected_counter = 6
    dc_time = 0

    def __init__(self) -> None:
        self.status = [0x40, 0x40]
        self.outcome = Outcome.ANSWERED
        self.states: list[AlStatus | None] = [AlStatus(SlaveState.OP)] * 2
        self.torques: list[list[int]] = []

    def exchange(self, outputs: Sequence[bytes]) -> Outcome:
        rows = [LAYOUT.receive.unpack(data) for data in outputs]
        self.torques.append([row[0] for row in rows])
        if self.outcome is Outcome.ANSWERED:
            self.status = [NEXT.get(row[1], 0x40) for row in rows]
        return self.outcome

    def inputs(self, index: int) -> bytes:
        return LAYOUT.transmit.pack([0, 0, 0, self.status[index], 0, 10, 48000])

    def al_status(self, index: int) -> AlStatus | None:
        return self.states[index]

    def who(self, index: int) -> str:
        return f"slave {index + 1}"


class StandingClock:
    """A clock that stands where a test sets it.

    Attributes:
        now: s.
    """

    now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def monotonic_ns(self) -> int:
        return round(self.now * 1e9)

    def time_ns(self) -> int:
        return round(self.now * 1e9)


class Master:
    """The cycle of two drives, period by period, on a clock that stands.

    Attributes:
        clock: what time it is for the cycle.

    Args:
        limits: of the goals of each drive.
        silence: see `MasterSettings`, s.
        answer_timeout: likewise; a third of the time of a loss.
    """

    def __init__(self, *limits: GoalLimits, silence: float = 1e3, answer_timeout: float = 1e3) -> None:
        self.drives = Drives()
        self.clock = StandingClock()
        self._node, link = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        axes = [
            Axis(
                name=name,
                layout=LAYOUT,
                encoder=Encoder(),
                limits=MOTOR,
                ratings=Ratings(current=6.0),
                goals=one,
            )
            for name, one in zip(("a", "b"), limits, strict=True)
        ]
        settings = MasterSettings(
            interface="lo", axes=(), watchdog=1e3, silence=silence, answer_timeout=answer_timeout
        )
        self.cycle = Cycle(link, self.drives, axes, settings, self.clock)  # type: ignore[arg-type]
        self._number = 0

    def go(self, *goals: AxisGoal, cycles: int = 1) -> None:
        self._number += 1
        self.cycle._take(Goals(self._number, goals))
        for _ in range(cycles):
            self.cycle._period()

    @property
    def trip(self) -> str:
        return "; ".join(map(str, self.trips))

    @property
    def trips(self) -> list[BamError]:
        notes = list(self.cycle._outbox)
        while (message := receive(self._node)) is not None:
            if isinstance(message, Note):
                notes.append(message)
        return [failure(note) for note in notes if note.kind == "failed"]
