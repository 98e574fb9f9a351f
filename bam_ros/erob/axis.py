# SPDX-License-Identifier: Apache-2.0
"""One drive as the cycle sees it: from the bytes it sent and the goal in force to the bytes it gets."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from bam_ros.erob.cia402 import DriveState, Encoder, Mode, PowerSwitch, decode_status
from bam_ros.erob.goal_guard import GoalGuard, GoalLimits
from bam_ros.erob.messages import AxisGoal, AxisSample
from bam_ros.erob.objects import Object
from bam_ros.erob.pdo_layout import PdoLayout
from bam_ros.erob.position_law import MotorLimits, position_law
from bam_ros.text.goal_faults import DriveReleased, OtherMode
from bam_ros.text.torque_reasons import TorqueReason

ENABLE_TIME = 1.0
"""s; what a drive gets to switch its torque on."""
NEEDED_RECEIVE = (Object.TARGET_TORQUE, Object.CONTROLWORD)
NEEDED_TRANSMIT = (Object.ACTUAL_POSITION, Object.ACTUAL_VELOCITY, Object.STATUSWORD)
_LARGEST_TORQUE = 32767
_LETTING_GO = 4  # cycles from a release until the drive's word that it has let go
_PAST = 4  # cycles over which acceleration is seen: more are smoother, and older


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """Identity and ratings of a drive, read once.

    Attributes:
        current: rated current (0x6075), A: 1000 per mille of torque.
        torque: rated torque (0x6076), N·m; NaN where it has none.
        largest_torque: 0x6072, per mille.
    """

    current: float
    torque: float = math.nan
    largest_torque: int = _LARGEST_TORQUE


@dataclass
class Axis:
    """State and law of one drive.

    Torque is not zero only while the drive reports "operation enabled" and the goal asks for torque.

    Attributes:
        name: of the joint.
        layout: of its process data.
        encoder: its counts as angles.
        limits: of its motor.
        ratings: its scale of torque.
        goals: what may be asked of the joint.
        dead_time: from the state it measured to the torque that answers it, s.
        period: of the cycle, s.
        switch: the way to torque on and off.
    """

    name: str
    layout: PdoLayout
    encoder: Encoder
    limits: MotorLimits
    ratings: Ratings
    goals: GoalLimits = field(default_factory=GoalLimits)
    dead_time: float = 0.0
    period: float = 1e-3
    switch: PowerSwitch = field(default_factory=PowerSwitch)

    def __post_init__(self) -> None:
        self.layout.require(NEEDED_RECEIVE, NEEDED_TRANSMIT)
        receive, transmit = self.layout.receive, self.layout.transmit
        self._values = [0] * len(receive.objects)
        self._torque = receive.place(Object.TARGET_TORQUE)
        self._control = receive.place(Object.CONTROLWORD)
        if (mode := receive.place(Object.MODE_OF_OPERATION)) >= 0:
            self._values[mode] = int(Mode.CYCLIC_TORQUE)
        self._position_target = receive.place(Object.TARGET_POSITION)
        self._places = tuple(
            transmit.place(item)
            for item in (
                Object.ACTUAL_POSITION,
                Object.ACTUAL_VELOCITY,
                Object.STATUSWORD,
                Object.ACTUAL_TORQUE,
                Object.ERROR_CODE,
                Object.DC_LINK_VOLTAGE,
                Object.MODE_OF_OPERATION_DISPLAY,
            )
        )
        self._position, self._velocity, self._voltage = math.nan, 0.0, math.nan
        self._current = self._effort = math.nan
        self._past: deque[float] = deque(maxlen=_PAST)
        self._counts = 0
        self._statusword = self._error_code = 0
        self._mode = int(Mode.CYCLIC_TORQUE)  # where the drive does not say
        self._goal = math.nan
        self._enabling = 0  # cycles
        self._was_enabled = self._driven = False
        self._lingering = 0  # cycles
        self._guard = GoalGuard(self.name, self.goals, self.period)
        self.state = DriveState.UNKNOWN

    def take(self, data: bytes) -> None:
        """Take what the drive sent in a cycle that was answered."""
        values = self.layout.transmit.unpack(data)
        position, velocity, status, torque, error, voltage, mode = self._places
        self._counts = values[position]
        self._position = self.encoder.angle(self._counts)
        self._velocity = self.encoder.rate(values[velocity])
        self._past.append(self._velocity)
        self._statusword = values[status]
        self.state = decode_status(self._statusword)
        if torque >= 0:
            share = self.encoder.direction * values[torque] * 1e-3
            self._current, self._effort = share * self.ratings.current, share * self.ratings.torque
        if self.state.is_fault:
            self._error_code = values[error] if error >= 0 else 0
        else:
            self._error_code = 0
        if voltage >= 0:
            self._voltage = values[voltage] * 1e-3
        if mode >= 0:
            self._mode = values[mode]

    def take_goal(self, goal: AxisGoal, now: float) -> TorqueReason | None:
        """Take a goal that arrived at `now`, s; return why it must not be followed, None where it may."""
        return self._guard.take(goal, self._position, now)

    def outputs(self, goal: AxisGoal) -> bytes:
        """Return what the drive shall get next."""
        if not math.isnan(goal.position):
            self._goal = goal.position
        # In another mode the drive would follow another target.
        ready = self._mode == Mode.CYCLIC_TORQUE
        enabled = ready and self.state is DriveState.OPERATION_ENABLED
        wanted = goal.enable and not math.isnan(self._goal)
        if not wanted:
            self._enabling, self._was_enabled = 0, False
        elif enabled:
            self._enabling, self._was_enabled = 0, True
        else:
            self._enabling += 1
        torque = 0
        self._driven = wanted and enabled
        self._lingering = self._lingering + 1 if enabled and not wanted else 0
        if not self._driven:
            self._guard.behind = 0
        else:
            self._guard.note(abs(self._goal - self._position))
            position, velocity = self._ahead()
            current = self.limits.clip(
                position_law(goal.stiffness, goal.damping, self._goal, position, velocity),
                velocity,
                self._voltage,
            )
            most = self.ratings.largest_torque
            torque = round(1000.0 * current / self.ratings.current)
            torque = self.encoder.direction * min(max(torque, -most), most)
        self._values[self._torque] = torque
        self._values[self._control] = self.switch.controlword(self.state, enable=wanted and ready)
        if self._position_target >= 0:
            self._values[self._position_target] = (
                self._counts
            )  # nothing to jump to, whatever mode is in force
        return self.layout.receive.pack(self._values)

    def _ahead(self) -> tuple[float, float]:
        """Return position and velocity at the time when the torque that answers them acts, rad and rad/s.

        Without it the arm would run ahead of its goals by the dead time, and late damping would act like
        inertia that is not there: c·√k_p·k_t·2 ms is a third of an eRob's own.
        """
        past = self._past
        acceleration = (past[-1] - past[0]) / ((len(past) - 1) * self.period) if len(past) > 1 else 0.0
        gained = acceleration * self.dead_time
        return self._position + (self._velocity + 0.5 * gained) * self.dead_time, self._velocity + gained

    def complaint(self, cycles_to_enable: int) -> TorqueReason | None:
        """Return what is wrong though the drive is not in fault, None where all is well."""
        if self._guard.behind > self._guard.max_behind:
            return self._guard.complaint(abs(self._goal - self._position))
        if self.state.is_fault or not self._enabling:
            return None
        if self._was_enabled:
            return DriveReleased(joint=self.name, state=self.state.value)
        if self._enabling > cycles_to_enable:
            if self._mode != Mode.CYCLIC_TORQUE:
                return OtherMode(joint=self.name, mode=self._mode, expected=int(Mode.CYCLIC_TORQUE))
            return DriveReleased(joint=self.name, state=self.state.value, within=ENABLE_TIME)
        return None

    def sample(self) -> AxisSample:
        """Return what is known of the drive now."""
        enabled = self.state is DriveState.OPERATION_ENABLED
        return AxisSample(
            self._position,
            self._velocity,
            self._current,
            self._effort,
            self._voltage,
            self._goal,
            enabled and (self._driven or self._lingering > _LETTING_GO),
            enabled,
            self._statusword,
            self._error_code,
        )
