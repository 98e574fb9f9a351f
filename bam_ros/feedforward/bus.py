# SPDX-License-Identifier: Apache-2.0
"""Servos that follow trajectories by feed-forward: a layer over a bus that is commanded by duty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bam_core.errors import Unavailable, UnknownName
from bam_core.feedforward import Follower, PidGains, Points
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.servo_bus import Gains, ServoBus, ServoGoal, ServoSample
from bam_ros.driver.wrapped_bus import WrappedBus
from bam_ros.feedforward.settings import FeedForwardSettings
from bam_ros.text.feedforward_notices import TrajectoryRefused
from bam_ros.text.notice import Notice


class FeedForwardBus(WrappedBus):
    """Torque by goals, positions by trajectories.

    A duty belongs to the sample before it. Where that was lost there is none, so that the motors brake: no
    servo moves on what is not known any more. All of it happens on the clock of the bus: trajectories of
    simulated servos are as fast as the simulation, and stand still with it.

    Args:
        bus: of servos that take duties.
        settings: how they are fed forward.
    """

    def __init__(self, bus: ServoBus, settings: FeedForwardSettings) -> None:
        super().__init__(bus)
        self._settings = settings
        self._gains = [settings.gains] * len(bus.names)
        self._follower: Follower | None = None
        self._sample: ServoSample | None = None
        self._measured = 0.0  # when that was taken, s
        self._none = np.zeros(len(bus.names))
        self._duty = self._none  # that answers the sample of this time:
        self._answered = math.nan  # s

    @property
    def position_limits(self) -> tuple[tuple[float, float], ...]:
        """That trajectories keep."""
        if self._follower is None:
            return self._bus.position_limits
        limits = self._follower.limits
        return tuple(zip(limits.low.tolist(), limits.high.tolist(), strict=True))

    @property
    def warnings(self) -> tuple[Notice | str, ...]:
        """Of the bus, and why the last trajectory was refused, until another one is taken over."""
        refusal = self._follower.refusal if self._follower is not None else ""
        return (*self._bus.warnings, *([TrajectoryRefused(reason=refusal)] if refusal else []))

    @property
    def figures(self) -> Mapping[str, str]:
        """Counts of trajectories, and how closely servos follow them."""
        follower = self._follower
        if follower is None:
            return self._bus.figures
        dropped = [name for name, on in zip(self.names, follower.model_on, strict=True) if not on]
        delay = follower.delay.delay * 1e3
        return {
            **self._bus.figures,
            "trajectories accepted": str(follower.accepted),
            "trajectories refused": str(follower.refused),
            "delay [ms]": "unknown" if math.isnan(delay) else f"{delay:.1f}",
            "model dropped": ", ".join(dropped) or "nowhere",
            "model dropped so far": str(follower.drops),
        }

    @property
    def command_kinds(self) -> tuple[CommandKind, ...]:
        """Positions, by trajectories; the duties are its own matter."""
        return (CommandKind.POSITION,) * len(self.names)

    def describe_errors(self, name: str, bits: int) -> tuple[str, ...]:
        """Return why torque had to go off, else the reason of the bus."""
        fault = self._follower.fault if self._follower is not None else None
        if fault is not None and bits & HardwareError.DRIVE and self.names[fault[0]] == name:
            return (f"{name}: {fault[1]}",)
        return self._bus.describe_errors(name, bits)

    def open(self) -> str:
        """Open the bus and load what is known of its servos; raises BamError."""
        opened = self._bus.open()
        try:
            settings = self._settings.for_bus(self._bus)
            follower = Follower(replace(settings, gains=self._gains))
            follower.prepare()
        except BaseException:
            self._bus.close()
            raise
        self._follower, self._sample = follower, None
        return f"{opened}; fed forward in PWM mode"

    def exchange(self, goal: ServoGoal) -> ServoSample:
        """Command the duties that follow from the last sample, then read; errors as of the bus.

        Servos follow while torque is wanted on all of them; else all are released.
        """
        follower = self._opened()
        wanted = all(goal.torque_enable)
        if not wanted:
            goal = ServoGoal.released(len(goal.torque_enable))
            follower.release()
        duty = self._next_duty(follower)
        self._sample = None
        sample = self._bus.exchange(replace(goal, setpoint=tuple(duty.tolist())))
        self._sample = sample
        self._measured = self._bus.acquired(sample)
        if wanted and not follower.following:
            follower.hold(sample.position)
        errors = sample.hardware_error
        if follower.fault is not None:
            lost = follower.fault[0]
            errors = tuple(
                bits | HardwareError.DRIVE if index == lost else bits for index, bits in enumerate(errors)
            )
        return replace(
            sample,
            setpoint=(),
            goal_position=tuple(follower.goal(self._measured).tolist()),
            hardware_error=errors,
        )

    def release(self) -> None:
        """Turn torque off everywhere, and forget what was planned."""
        self._bus.release()
        if self._follower is not None:
            self._follower.release()

    def set_gains(self, name: str, gains: Gains) -> Gains:
        """Set the gains of one joint's PID, which runs here; raises BamError."""
        index = self._index(name)
        wanted = PidGains(p=gains.kp, i=gains.ki, d=gains.kd)
        self._opened().tune(index, wanted)
        self._gains[index] = wanted
        return gains

    def read_gains(self, name: str) -> Gains:
        """Return the gains of one joint's PID; raises UnknownName."""
        gains = self._gains[self._index(name)]
        return Gains(kp=gains.p, ki=gains.i, kd=gains.d)

    def close(self) -> None:
        """Turn torque off and give the bus back."""
        self.release()
        self._bus.close()

    # Of another thread than the one that exchanges.

    def follow(self, points: Points, start: float) -> None:
        """Take a trajectory over, or raise BamError with the reason.

        Args:
            points: in the order of the names.
            start: s, of the clock of the bus.
        """
        self._opened().follow(points, start, self._bus.now())

    def refuse(self, reason: str) -> None:
        """Count a trajectory that could not be read."""
        self._opened().refuse(reason)

    def stop(self) -> None:
        """Drop all trajectories, brake and hold."""
        self._opened().stop(self._bus.now())

    def _next_duty(self, follower: Follower) -> np.ndarray:
        sample = self._sample
        if sample is None or not follower.following:
            self._answered, self._duty = math.nan, self._none
        elif self._measured != self._answered:  # else the simulation is paused, and so is the PID
            self._duty = follower.duty(
                np.array(sample.position),
                np.array(sample.velocity),
                np.array(sample.voltage),
                measured=self._measured,
                now=self._bus.now(),
            )
            self._answered = self._measured
        return self._duty

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise UnknownName("joint", name, self.names)
        return self.names.index(name)

    def _opened(self) -> Follower:
        if self._follower is None:
            raise Unavailable("bus", "not open", advice="open it first")
        return self._follower
