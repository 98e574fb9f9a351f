# SPDX-License-Identifier: Apache-2.0
"""Servos simulated by MuJoCo as a `ServoBus`: to its user they are servos on a wire."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BamError, Conflict, OutOfRange, Unavailable, UnknownName, Unsupported
from bam_core.mujoco import BlackBox, ServoActuation, SimulationError
from bam_core.mujoco.library_warnings import divergence_reported
from bam_core.servo.gains import require_gain
from bam_core.servo.model import ServoModel
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.servo_bus import (
    Gains,
    LawSettings,
    ServoBus,
    ServoGoal,
    ServoIdentity,
    ServoSample,
)
from bam_ros.dynamixel.control_table import CONTROL_TABLES, require_position_gain
from bam_ros.simulator.pacer import WINDOW, Pacer
from bam_ros.simulator.setpoint_law import SetpointLaw
from bam_ros.simulator.settings import SimulationSettings
from bam_ros.simulator.speed_meter import SpeedMeter
from bam_ros.simulator.world import World
from bam_ros.text.notice import Notice
from bam_ros.text.simulator_notices import LastMoments, SimulationOpened, SimulationSlow

if TYPE_CHECKING:
    from bam_ros.simulator.ghosts import Draws, Ghosts

_POSITION = CommandKind.POSITION
_ROOM_TEMPERATURE = 25.0  # °C; nothing here heats up
_LARGEST_GAIN = 16383.0  # of servos whose control table is not known: what the largest register holds
_STEP_SLACK = 1e-9  # s
_STANDS = "stands at its start after diverging twice the same way; to go on call ~/pause with false"
_MOST_DUMPS = 10  # of one bus; a robot that diverges every second shall not fill the disk


def _require_kp(servo: ServoModel, joint: str, kp: float) -> None:
    """Refuse a position gain that the servo's own register does not hold, as its driver does; OutOfRange."""
    table = CONTROL_TABLES.get(servo.name)
    if table is not None:
        require_position_gain(table, joint, "position_p_gain", kp)
    elif not 0.0 <= kp <= _LARGEST_GAIN:  # also for NaN
        raise OutOfRange(
            f"kp of {joint}", kp, f"0 to {_LARGEST_GAIN:g}", printed=f"{kp:g}", advice="choose another"
        )


class Diverged(Unavailable):
    """A simulation that became unstable.

    Attributes:
        cause: where and when.
    """

    def __init__(self, cause: SimulationError, outcome: str) -> None:
        """Compose the line.

        Args:
            cause: where and when.
            outcome: what is left of it, in words.
        """
        self.cause = cause
        super().__init__("simulation", f"diverged ({cause})", advice=outcome)


class MujocoBus(ServoBus):
    """A simulation that runs while it is exchanged with.

    One that diverges begins anew when it is opened again, and stands still where it diverges the same way.

    An exchange first lets the time pass that is due, under the goals in force, then takes the new goal and
    reads. The positions it reads are whole encoder counts.

    In PWM mode it takes the new goal first, because a duty answers the sample before it, and lets one period
    pass, because motors run on a duty for as long as nobody renews it: a machine that stalls shall not change
    the motion. As on servos, the first duty after torque on is none.

    Args:
        settings: what is simulated.
        pacer: ties it to the wall clock; None: one for the settings.
        clock: simulated time to begin at, s.
        draws: joint -> what its servo may be; of none, there is no `band`.
    """

    def __init__(
        self,
        settings: SimulationSettings,
        pacer: Pacer | None = None,
        *,
        clock: float = 0.0,
        draws: Mapping[str, Draws] | None = None,
    ) -> None:
        self._settings = settings
        self._pacer = pacer or Pacer(settings.real_time_factor)
        self._meter = SpeedMeter()
        self._world: World | None = None
        self._draws = draws
        self._ghosts: Ghosts | None = None
        self._black_box: BlackBox | None = None
        self._dumps = 0
        self._divergence = ""  # how it diverged last
        self._kept = ""  # where that was left
        self._stands = False  # paused by itself
        self._clock = clock  # simulated time that never goes back, s
        self._paused = False
        self._goal = np.full(len(settings.servos), math.nan)
        for name, servo in settings.servos.items():
            if settings.kp:
                _require_kp(servo, name, settings.kp)
        self._kp = np.array(
            [settings.kp or servo.firmware.factory_kp for servo in settings.servos.values()], dtype=np.float64
        )
        self._kd = np.zeros(len(settings.servos))
        self._ki = np.zeros(len(settings.servos))
        self._resolution = np.array([servo.firmware.resolution for servo in settings.servos.values()])
        self._limits: tuple[tuple[float, float], ...] = ()
        self._laws = {  # place -> law, of joints that follow no positions
            index: SetpointLaw(joint, kind, settings.servos[joint])
            for index, joint in enumerate(settings.servos)
            if (kind := settings.command_kinds.get(joint, _POSITION)) is not _POSITION
        }
        if self._laws and draws:
            raise Unsupported(
                "draws",
                "are for joints that are commanded by position",
                expected="0 of other joints",
                advice="set draws to 0",
            )
        self._setpoint = np.full(len(settings.servos), math.nan)

    @property
    def names(self) -> tuple[str, ...]:
        """Joint names."""
        return tuple(self._settings.servos)

    def now(self) -> float:
        """Return the simulated time, s; it stands still while the simulation is paused."""
        return self._clock

    @property
    def second(self) -> str:
        """Seconds of simulated time."""
        return "simulated s"

    @property
    def identities(self) -> tuple[ServoIdentity, ...]:
        """The model of each servo."""
        return tuple(ServoIdentity(servo=servo.name) for servo in self._settings.servos.values())

    @property
    def command_kinds(self) -> tuple[CommandKind, ...]:
        """What each joint is commanded by."""
        return tuple(self._settings.command_kinds.get(joint, _POSITION) for joint in self.names)

    @property
    def setpoint_limits(self) -> tuple[float, ...]:
        """Largest velocity, current or duty at the factory settings of each servo; infinite of others."""
        return tuple(
            self._laws[index].largest if index in self._laws else math.inf for index in range(len(self.names))
        )

    @property
    def torque_constants(self) -> tuple[float, ...]:
        """Of the motors at the output shaft, N·m/A."""
        return tuple(servo.motor.torque_constant for servo in self._settings.servos.values())

    @property
    def law_settings(self) -> tuple[LawSettings, ...]:
        """What the firmware of each servo allows."""
        models = self._settings.servos.values()
        return tuple(LawSettings(demand_limit=servo.firmware.demand_limit) for servo in models)

    @property
    def position_limits(self) -> tuple[tuple[float, float], ...]:
        """Range of each joint in the model, else one turn, rad."""
        return self._limits

    @property
    def warnings(self) -> tuple[Notice | str, ...]:
        """Whether the simulation keeps up, whether it stands, and warnings about its gears."""
        if self._stands:
            return (f"simulation: {_STANDS}",)
        world, lag = self._world, self._pacer.lag()
        warnings: tuple[Notice | str, ...] = (
            tuple(map(str, world.actuation.warnings)) if world is not None else ()
        )
        warnings += self._ghosts.warnings if self._ghosts is not None else ()
        if lag * WINDOW <= self._settings.period:
            return warnings
        return (
            *warnings,
            SimulationSlow(speed=1.0 - lag),
        )

    @property
    def figures(self) -> Mapping[str, str]:
        """Whether and how fast time passes, and what no servo drives."""
        world = self._world
        free = world.free_joints if world is not None else ()
        return {
            "paused": "yes" if self._paused else "no",
            "real-time factor": f"{self.real_time_factor:.3f}",
            "simulated time [s]": f"{self._clock:.3f}",
            "joints without servo": ", ".join(free) or "none",
        }

    @property
    def real_time_factor(self) -> float:
        """Measured: simulated seconds per second, mean of the last two; NaN before it is known."""
        return self._meter.factor

    @property
    def world(self) -> World:
        """The robot that is simulated; raises Unavailable where not open."""
        if self._world is None:
            raise Unavailable("simulation", "not open", advice="open it first")
        return self._world

    @property
    def bench(self) -> PendulumBench | None:
        """What hangs on the pendulum bench; None where another model is simulated."""
        return None if self._settings.model else self._settings.bench

    @property
    def band(self) -> tuple[Array, Array] | None:
        """5th and 95th percentile of the joints over all draws, (joints,) rad each; None without draws."""
        return self._ghosts.band() if self._ghosts is not None else None

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
        self._paused, self._stands = paused, False
        self._pacer.restart(self._clock)

    def open(self) -> str:
        """Build the simulation at its start, with torque off.

        Raises:
            BamError: the model cannot be read, or the servos do not fit it.
        """
        world = World(self._settings)
        world.actuation.kp[:] = self._kp
        world.actuation.kd[:] = self._kd
        world.actuation.ki[:] = self._ki
        self._world, self._limits = world, world.position_limits
        if self._draws:
            from bam_ros.simulator.ghosts import Ghosts  # here, for it takes half a second

            self._ghosts = Ghosts(self._settings, self._draws)
        self._black_box = BlackBox(world.actuation)
        self._goal[:] = self._setpoint[:] = math.nan
        self._pacer.restart(self._clock)
        settings = self._settings
        what = settings.model or f"bench of {settings.bench.mass:g} kg on {settings.bench.length:g} m"
        servos = tuple((joint, _described(servo)) for joint, servo in settings.servos.items())
        return str(SimulationOpened(model=what, servos=servos, free_joints=tuple(world.free_joints)))

    def exchange(self, goal: ServoGoal) -> ServoSample:
        """Let time pass, take the goal, read.

        Raises:
            Unavailable: not open, or the simulation diverged.
        """
        actuation = self._simulation()
        self._meter.note(self._clock)
        if self._settings.pwm:
            self._take_duty(actuation, goal)
        if self._paused:
            self._pacer.idle(self._settings.period)
            self._pacer.restart(self._clock)
        else:
            least = max(self._settings.period, actuation.model.opt.timestep)
            due = self._pacer.wait(self._clock, least)
            self._advance(actuation, self._clock + least if self._settings.pwm else due)
        if not self._settings.pwm:
            self._take_goal(actuation, goal)
        return self._sample(actuation)

    def time_of(self, stamp: int) -> float:
        """Return the simulated time, s, of a stamp in ns as samples have them."""
        return stamp * 1e-9 if self._settings.simulated_stamps else self._pacer.simulated(stamp)

    def acquired(self, sample: ServoSample) -> float:
        """Return when the newest sample was taken, s of simulated time."""
        return self._clock

    def release(self) -> None:
        """Turn torque off everywhere."""
        self._goal[:] = self._setpoint[:] = math.nan
        if self._world is not None:
            self._world.actuation.torque_enabled[:] = 0.0

    def set_gains(self, name: str, gains: Gains) -> Gains:
        """Set the gains of one servo, all or none, and return what it holds: whole numbers, as in registers.

        Raises:
            UnknownName: no such joint.
            OutOfRange: a gain is none that registers hold.
            Unsupported: an integral or derivative gain whose effect in this firmware is not known.
        """
        index = self._index(name)
        _require_kp(self._settings.servos[name], name, gains.kp)
        require_gain(f"{name}: ki", gains.ki, "ki")
        require_gain(f"{name}: kd", gains.kd, "kd")
        firmware = self._settings.servos[name].firmware
        try:
            firmware.integral_rate(gains.kp, gains.ki)
            firmware.rate_time(gains.kp, gains.kd)
        except BamError as error:
            raise error.within(name) from None
        gains.require_whole(name)
        actuation = self._simulation()
        self._kp[index] = actuation.kp[index] = int(gains.kp)
        self._ki[index] = actuation.ki[index] = int(gains.ki)
        self._kd[index] = actuation.kd[index] = int(gains.kd)
        return self.read_gains(name)

    def read_gains(self, name: str) -> Gains:
        """Return the gains of one servo; raises UnknownName."""
        index, actuation = self._index(name), self._simulation()
        return Gains(
            kp=float(actuation.kp[index]), ki=float(actuation.ki[index]), kd=float(actuation.kd[index])
        )

    def reboot(self, name: str) -> None:
        """Release one servo; raises UnknownName where there is no such joint."""
        index = self._index(name)
        self._simulation().torque_enabled[index] = 0.0
        self._goal[index] = self._setpoint[index] = math.nan

    def close(self) -> None:
        """Drop the simulation."""
        self._world = None

    def reset(self) -> None:
        """Go back to the initial state, torque off, without turning the clock back; raises BamError."""
        self._simulation()
        self.open()

    def step(self) -> None:
        """Advance a paused simulation by one time step; raises Conflict where it is not paused."""
        actuation = self._simulation()
        if not self._paused:
            raise Conflict("simulation", "runs", expected="paused", advice="pause it before stepping")
        self._advance(actuation, self._clock + actuation.model.opt.timestep)

    def set_load(self, bench: PendulumBench) -> None:
        """Hang another load on the pendulum bench and start at rest; raises Unsupported for other models."""
        if self.bench is None:
            raise Unsupported(self._settings.model, "is no pendulum bench", advice="change its file instead")
        self._simulation()
        self._settings = replace(self._settings, bench=bench)
        self.open()

    def _take_goal(self, actuation: ServoActuation, goal: ServoGoal) -> None:
        for i, (torque, position) in enumerate(zip(goal.torque_enable, goal.position, strict=True)):
            if not torque:
                self._goal[i] = math.nan  # as on servos: no goal outlives its torque
            elif not math.isnan(position):
                self._goal[i] = position
            actuation.goal_position[i] = self._goal[i]
            actuation.torque_enabled[i] = torque
        for i, law in self._laws.items():
            if not goal.torque_enable[i]:
                self._setpoint[i] = math.nan
                continue
            if math.isnan(self._setpoint[i]):
                law.reset()
            wanted = goal.setpoint[i] if goal.setpoint else 0.0
            self._setpoint[i] = min(max(wanted, -law.largest), law.largest) if wanted == wanted else 0.0

    def _drive(self, actuation: ServoActuation) -> None:
        """Let the laws of joints that follow no positions demand what the next step applies."""
        velocity, step = actuation.velocity, actuation.model.opt.timestep
        for i, law in self._laws.items():
            setpoint = self._setpoint[i]
            actuation.goal_duty[i] = (
                0.0
                if math.isnan(setpoint)
                else law.demand(setpoint, float(velocity[i]), float(actuation.supply_voltage[i]), step)
            )

    def _take_duty(self, actuation: ServoActuation, goal: ServoGoal) -> None:
        held = actuation.torque_enabled != 0.0
        actuation.goal_duty[:] = np.where(held, goal.setpoint or 0.0, 0.0)
        actuation.torque_enabled[:] = goal.torque_enable

    def _advance(self, actuation: ServoActuation, until: float) -> None:
        timestep = actuation.model.opt.timestep
        assert self._black_box is not None
        self._black_box.note()
        steps = 0
        try:
            with divergence_reported():
                while self._clock + timestep <= until + _STEP_SLACK:
                    if self._laws:
                        self._drive(actuation)
                    actuation.step()
                    self._clock += timestep
                    steps += 1
        except SimulationError as error:
            self._world = None
            raise Diverged(error, self._diverged(self._black_box, str(error))) from None
        if self._ghosts is not None:
            self._ghosts.follow(actuation, steps)

    def _diverged(self, black_box: BlackBox, reason: str) -> str:
        """Leave the last moments in a file, stand still where this was the second time, and report it."""
        if reason == self._divergence:
            self._paused = self._stands = True
            return f"{self._kept}; {_STANDS}"
        self._divergence, self._kept = reason, self._keep(black_box, reason)
        return self._kept

    def _keep(self, black_box: BlackBox, reason: str) -> str:
        """Leave the last moments in a file and report where."""
        if self._dumps >= _MOST_DUMPS:
            return str(LastMoments(most=_MOST_DUMPS))
        try:
            path = black_box.write(Path(self._settings.dump_directory), reason)
        except BamError as error:
            return str(LastMoments(error=str(error)))
        self._dumps += 1
        return str(LastMoments(file=str(path)))

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
            setpoint=tuple(self._setpoint.tolist()) if self._laws else (),
            torque_enabled=tuple((actuation.torque_enabled != 0.0).tolist()),
            hardware_error=(0,) * servos,
        )

    def _simulation(self) -> ServoActuation:
        return self.world.actuation

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise UnknownName("joint", name, self.names)
        return self.names.index(name)


def _described(servo: ServoModel) -> str:
    if servo.gear is None:
        return servo.title
    return f"{servo.title} with a gear (γ_u {servo.gear.input_side:g}, γ_v {servo.gear.output_side:g})"
