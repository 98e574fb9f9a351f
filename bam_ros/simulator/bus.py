# SPDX-License-Identifier: Apache-2.0
"""Servos simulated by MuJoCo as a `ServoBus`: to its user they are servos on a wire."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np

from bam_core.errors import unknown_name
from bam_core.mujoco import (
    BENCH_JOINT,
    ServoActuation,
    SimulationError,
    bench_spec,
    compile_robot,
    equip,
    load_robot,
)
from bam_core.pendulum import PendulumBench
from bam_core.servo_model import ServoModel
from bam_ros.servo_bus import BusError, Gains, ServoBus, ServoGoal, ServoIdentity, ServoSample
from bam_ros.simulator.pacer import WINDOW, Pacer

_ROOM_TEMPERATURE = 25.0  # °C; nothing here heats up
_LARGEST_GAIN = 16383.0  # that position gain registers hold
_STEP_SLACK = 1e-9  # s


@dataclass(frozen=True, kw_only=True)
class SimulationSettings:
    """What is simulated, and how.

    Attributes:
        servos: joint -> its servo, in the order of the bus.
        model: MJCF or URDF file; empty: the pendulum bench.
        bench: load of the pendulum bench; other models ignore it.
        kp: position gain of every servo at first, firmware units.
        timestep: s; 0 keeps that of the model, which is 1 ms for the bench.
        period: least simulated time of one exchange, s.
        real_time_factor: simulated seconds per second; 0 is as fast as possible.
        initial_position: joint -> position at the start, rad; others, and where NaN, start as the model says.
        simulated_stamps: stamp samples with the simulated time instead of the wall clock.
    """

    servos: Mapping[str, ServoModel]
    model: str = ""
    bench: PendulumBench = field(default_factory=lambda: PendulumBench(mass=0.5, length=0.15))
    kp: float = 32.0
    timestep: float = 0.0
    period: float = 2e-3
    real_time_factor: float = 1.0
    initial_position: Mapping[str, float] = field(default_factory=dict)
    simulated_stamps: bool = False


class MujocoBus(ServoBus):
    """A simulation that runs while it is exchanged with.

    An exchange first lets the time pass that is due, under the goals in force, then takes the new goal and
    reads. The positions it reads are whole encoder counts.
    """

    def __init__(self, settings: SimulationSettings, pacer: Pacer | None = None) -> None:
        self._settings = settings
        self._pacer = pacer or Pacer(settings.real_time_factor)
        self._actuation: ServoActuation | None = None
        self._clock = 0.0  # simulated time that never goes back, s
        self._paused = False
        self._goal = np.full(len(settings.servos), math.nan)
        self._kp = np.full(len(settings.servos), settings.kp)
        self._resolution = np.array([servo.firmware.resolution for servo in settings.servos.values()])
        self._limits: tuple[tuple[float, float], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Joint names."""
        return tuple(self._settings.servos)

    @property
    def identities(self) -> tuple[ServoIdentity, ...]:
        """The model of each servo."""
        return tuple(ServoIdentity(servo=servo.name) for servo in self._settings.servos.values())

    @property
    def position_limits(self) -> tuple[tuple[float, float], ...]:
        """Range of each joint in the model, else one turn, rad."""
        return self._limits

    @property
    def warnings(self) -> tuple[str, ...]:
        """Whether the simulation keeps up."""
        lag = self._pacer.lag()
        if lag * WINDOW <= self._settings.period:
            return ()
        return (
            f"simulation: runs at {1.0 - lag:.0%} of the speed asked for (expected 100%); lower"
            f" real_time_factor or raise timestep",
        )

    @property
    def bench(self) -> PendulumBench | None:
        """What hangs on the pendulum bench; None where another model is simulated."""
        return None if self._settings.model else self._settings.bench

    @property
    def clock(self) -> float:
        """Simulated time, s; it goes on over a reset."""
        return self._clock

    @property
    def paused(self) -> bool:
        """Whether the simulation stands still; setting it takes effect with the next exchange."""
        return self._paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        self._paused = paused
        self._pacer.restart(self._clock)

    def open(self) -> str:
        """Build the simulation at its start, with torque off.

        Raises:
            BamError: the model cannot be read, or the servos do not fit it.
        """
        self._actuation = self._build()
        self._goal[:] = math.nan
        self._pacer.restart(self._clock)
        settings = self._settings
        what = settings.model or f"bench of {settings.bench.mass:g} kg on {settings.bench.length:g} m"
        servos = ", ".join(f"{joint}: {servo.title}" for joint, servo in settings.servos.items())
        return f"simulation of {what} with {servos}"

    def exchange(self, goal: ServoGoal) -> ServoSample:
        """Let time pass, take the goal, read.

        Raises:
            BusError: not open, or the simulation diverged.
        """
        actuation = self._simulation()
        if self._paused:
            self._pacer.idle(self._settings.period)
            self._pacer.restart(self._clock)
        else:
            least = max(self._settings.period, actuation.model.opt.timestep)
            self._advance(actuation, self._pacer.wait(self._clock, least))
        for i, (torque, position) in enumerate(zip(goal.torque_enable, goal.position, strict=True)):
            if not math.isnan(position):
                self._goal[i] = position
            actuation.goal_position[i] = self._goal[i]
            actuation.torque_enabled[i] = torque
        return self._sample(actuation)

    def release(self) -> None:
        """Turn torque off everywhere."""
        if self._actuation is not None:
            self._actuation.torque_enabled[:] = 0.0

    def set_gains(self, name: str, gains: Gains) -> Gains:
        """Set the gain of one servo and return what it holds, a whole number as in a register.

        Raises:
            BusError: no such joint, a gain out of range, or one that the firmware model does not have.
        """
        index = self._index(name)
        if not 0.0 <= gains.kp <= _LARGEST_GAIN:
            raise BusError(f"{name}: kp {gains.kp:g} (expected 0 to {_LARGEST_GAIN:g}); choose another")
        if gains.ki != 0.0 or gains.kd != 0.0:
            raise BusError(
                f"{name}: ki {gains.ki:g} and kd {gains.kd:g} are not simulated (expected 0 for both); set"
                f" them to 0"
            )
        self._kp[index] = self._simulation().kp[index] = round(gains.kp)
        return Gains(kp=float(self._kp[index]), ki=0.0, kd=0.0)

    def reboot(self, name: str) -> None:
        """Release one servo; raises BusError where there is no such joint."""
        index = self._index(name)
        self._simulation().torque_enabled[index] = 0.0
        self._goal[index] = math.nan

    def close(self) -> None:
        """Drop the simulation."""
        self._actuation = None

    def reset(self) -> None:
        """Go back to the initial state, torque off, without turning the clock back; raises BusError."""
        self._simulation()
        self.open()

    def step(self) -> None:
        """Advance a paused simulation by one time step; raises BusError where it is not paused."""
        actuation = self._simulation()
        if not self._paused:
            raise BusError("simulation: runs (expected paused); pause it before stepping")
        self._advance(actuation, self._clock + actuation.model.opt.timestep)

    def hang(self, bench: PendulumBench) -> None:
        """Hang another load on the pendulum bench and start at rest; raises BusError for other models."""
        if self.bench is None:
            raise BusError(f"{self._settings.model}: is no pendulum bench; change its file instead")
        self._simulation()
        self._settings = replace(self._settings, bench=bench)
        self.open()

    def _build(self) -> ServoActuation:
        settings = self._settings
        if settings.model:
            spec = load_robot(settings.model)
        else:
            spec = bench_spec(settings.bench, joint=next(iter(settings.servos), BENCH_JOINT))
        if settings.timestep > 0.0:
            spec.option.timestep = settings.timestep
        equip(spec, settings.servos)
        model = compile_robot(spec)
        data = mujoco.MjData(model)
        for name in settings.servos:
            position = settings.initial_position.get(name, math.nan)
            if not math.isnan(position):
                data.joint(name).qpos[0] = position
        self._limits = tuple(
            tuple(model.joint(name).range) if model.jnt_limited[model.joint(name).id] else (-math.pi, math.pi)
            for name in settings.servos
        )
        actuation = ServoActuation(model, data, settings.servos)
        actuation.kp[:] = self._kp
        return actuation

    def _advance(self, actuation: ServoActuation, until: float) -> None:
        timestep = actuation.model.opt.timestep
        try:
            while self._clock + timestep <= until + _STEP_SLACK:
                actuation.step()
                self._clock += timestep
        except SimulationError as error:
            self._actuation = None
            raise BusError(str(error)) from None

    def _sample(self, actuation: ServoActuation) -> ServoSample:
        counts = np.round(actuation.position / self._resolution)
        stamp = (
            round(self._clock * 1e9) if self._settings.simulated_stamps else self._pacer.stamp(self._clock)
        )
        servos = len(counts)
        return ServoSample(
            stamp=stamp,
            position=tuple((counts * self._resolution).tolist()),
            velocity=tuple(actuation.velocity.tolist()),
            current=tuple(actuation.current.tolist()),
            duty=tuple(actuation.duty.tolist()),
            effort=tuple(actuation.motor_torque.tolist()),
            voltage=tuple(actuation.supply_voltage.tolist()),
            temperature=(_ROOM_TEMPERATURE,) * servos,
            goal_position=tuple(self._goal.tolist()),
            torque_enabled=tuple((actuation.torque_enabled != 0.0).tolist()),
            hardware_error=(0,) * servos,
        )

    def _simulation(self) -> ServoActuation:
        if self._actuation is None:
            raise BusError("simulation: not open; open it first")
        return self._actuation

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise BusError(str(unknown_name("joint", name, self.names)))
        return self.names.index(name)
