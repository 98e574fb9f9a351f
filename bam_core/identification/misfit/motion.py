# SPDX-License-Identifier: Apache-2.0
"""What the arm of a recording did and what torques that took, as the fitted servo sees it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.servo.effects import BenchEffects
from bam_core.servo.model import ServoModel
from bam_core.simulation.law import set_point
from bam_core.simulation.packing import case_temperature_rise
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.rows import ENABLED, GOAL, MEASURED, SUPPLY
from bam_core.simulation.set_points import SetPointLimits, slewed_means

CREEP = 0.03
"""rad/s; slower than that, rounded positions do not show the direction of a motion."""

EVERY = 2
"""Steps of the simulation per step of a motion: an arm moves little in them."""

_SMOOTH = 0.025  # s to either side: a tenth of a swing at 4 Hz
_LEAST_SAMPLES = 3.5  # to either side: a cubic needs them
_ORDER = 3  # of the polynomials that give velocity and acceleration


@dataclass(frozen=True, kw_only=True)
class Motion:
    """One recording on every second step of its simulation; arrays are (steps,), torques in N·m at the shaft.

    In open loop there is no goal: the duty that was commanded is goal and error, and nothing limits it.

    Attributes:
        time: s since the first sample.
        position: θ, rad, from where the arm hangs straight down.
        velocity: rad/s, from positions.
        acceleration: rad/s².
        error: goal less position, rad.
        goal: as applied by the firmware, slewed where it slews goals, rad.
        limited: the firmware asks for as much as its limit allows.
        enabled: share of the time with torque on.
        duty: what the firmware asks for, or current over its limit; -1..1.
        duty_per_error: 1/rad.
        full: torque of a duty of 1, back-EMF apart; 0 where torque is off.
        motor: τ_m.
        gravity: τ_e, signed as τ_m.
        budget: of friction, zero or more.
        loss: copper loss, W.
        stiffness: -∂τ/∂θ of controller and gravity, N·m/rad.
        gain: ∂τ/∂goal, N·m/rad; 0 where limited or off.
        back_emf: damping by back-EMF, N·m·s/rad; 0 where torque is off or firmware regulates the current.
        damping: -∂τ/∂θ̇, N·m·s/rad.
        inertia: of arm and motor, kg·m².
        bench_inertia: of the arm alone.
        gravity_torque: with the arm level.
        mass: of the load, kg.
        temperature_rise: of the servo above 25 °C, K; 0 where nobody measured it.
        dt: s.
    """

    time: Array
    position: Array
    velocity: Array
    acceleration: Array
    error: Array
    goal: Array
    limited: Array
    enabled: Array
    duty: Array
    duty_per_error: float
    full: Array
    motor: Array
    gravity: Array
    budget: Array
    loss: Array
    stiffness: Array
    gain: Array
    back_emf: Array
    damping: Array
    inertia: float
    bench_inertia: float
    gravity_torque: float
    mass: float
    temperature_rise: float
    dt: float

    @property
    def direction(self) -> Array:
        """Sign of the velocity, smooth through zero."""
        return np.asarray(self.velocity / np.sqrt(self.velocity**2 + CREEP**2))

    @property
    def moves(self) -> Array:
        """1 where the arm moves, 0 where it rests, smooth between."""
        return np.abs(self.direction)


def motions(rollout: Rollout, servo: ServoModel, bench_effects: BenchEffects) -> list[Motion]:
    """Return what the arm did in every recording of a rollout.

    Args:
        rollout: of the recordings.
        servo: with the parameters found.
        bench_effects: that were found with it.
    """
    return [_motion(rollout, index, servo, bench_effects) for index in range(len(rollout.recordings))]


def smoothed(position: Array, dt: float, period: float) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration from positions on a grid, by cubics through 50 ms or more.

    Args:
        position: (steps,) rad.
        dt: of the grid, s.
        period: of the samples that positions were interpolated from, s.
    """
    half = min(round(max(_SMOOTH, _LEAST_SAMPLES * period) / dt), (len(position) - 1) // 2)
    at = np.arange(-half, half + 1) * dt
    cubic = np.linalg.pinv(np.stack([at**power for power in range(_ORDER + 1)], axis=1))
    # The motion is extended by point reflection about its ends.
    ends = 2.0 * position[0] - position[half:0:-1], 2.0 * position[-1] - position[-2 : -half - 2 : -1]
    longer = np.concatenate([ends[0], position, ends[1]])
    fitted = [np.convolve(longer, weights[::-1], mode="valid") for weights in cubic[:3]]
    return fitted[0], fitted[1], 2.0 * fitted[2]


def _motion(rollout: Rollout, index: int, servo: ServoModel, bench_effects: BenchEffects) -> Motion:
    recording = rollout.recordings[index]
    grid = rollout.packed.grid(index)
    signals = rollout.packed.signals[: len(grid), :, rollout.packed.lanes[index]]
    late = bench_effects.command_delay
    goal = np.interp(grid - late, grid, signals[:, GOAL])
    enabled = np.interp(grid - late, grid, signals[:, ENABLED])
    supply = signals[:, SUPPLY]
    limit = servo.servo_effects.goal_speed_limit(servo.firmware.goal_speed_limit)
    limit_of_acceleration = float(rollout.packed.logs.goal_acceleration[rollout.packed.lanes[index]])
    if limit_of_acceleration > 0.0:
        limits = SetPointLimits(rollout.dt, limit, limit_of_acceleration)
        goal = slewed_means(goal, enabled, signals[:, MEASURED], limits, 1)
    elif math.isfinite(limit) and not recording.open_loop:
        goal = slewed(goal, enabled, signals[:, MEASURED], limit * rollout.dt)
    firmware = servo.firmware.limited(recording.demand_limit)
    kp = recording.kp * (1.0 + servo.servo_effects.firmware_gain)
    integral = firmware.integrals(
        goal - signals[:, MEASURED],
        enabled,
        kp=kp,
        rate=firmware.integral_rate(recording.kp, recording.ki),
        time=rollout.dt,
    )[::EVERY]
    measured, velocity, acceleration = (
        signal[::EVERY] for signal in smoothed(signals[:, MEASURED], rollout.dt, recording.dt)
    )
    goal, enabled, supply, grid = goal[::EVERY], enabled[::EVERY], supply[::EVERY], grid[::EVERY]
    bench = bench_effects.corrected(recording.bench)
    motor = servo.motor
    stiffness_gain = float(firmware.gains(kp)[0])
    if recording.open_loop:
        demand, error, largest, duty_per_error = goal, goal, 1.0, 1.0
        limited = np.zeros(len(grid), dtype=np.bool_)
    else:
        error, largest = goal - measured, firmware.demand_limit
        rate = np.gradient(goal, grid) - velocity if recording.kd else 0.0
        rate_time = firmware.rate_time(recording.kp, recording.kd)
        demand = firmware.demand(kp, error, velocity, rate_time=rate_time, error_rate=rate, integral=integral)
        limited = np.abs(demand) >= largest * (1.0 - 1e-9)
        duty_per_error = stiffness_gain / largest
    if firmware.regulates_current:
        voltage = np.asarray(motor.regulating_voltage(demand, velocity, supply))
        per_demand = np.full(len(grid), motor.torque_constant)
        back_emf = np.zeros(len(grid))
        rate_gain = motor.torque_constant * float(firmware.gains(kp)[1])
    else:
        voltage = demand * supply
        per_demand = motor.torque_constant / motor.resistance * supply
        back_emf = np.asarray(motor.torque_constant**2 / motor.resistance * enabled)
        rate_gain = 0.0
    torque = np.asarray(motor.torque(voltage, velocity, enabled))
    current = np.asarray(motor.current(voltage, velocity, enabled))
    position = measured - bench_effects.zero_offset
    gravity = bench.external_torque(position)
    gain = np.where(limited, 0.0, per_demand * stiffness_gain * enabled)
    return Motion(
        time=grid,
        position=position,
        velocity=velocity,
        acceleration=acceleration,
        error=error,
        goal=goal,
        limited=limited.astype(np.float64) * enabled,
        enabled=enabled,
        duty=demand / largest,
        duty_per_error=duty_per_error,
        full=per_demand * largest * enabled,
        motor=torque,
        gravity=gravity,
        budget=np.asarray(servo.friction.budget(torque, gravity, velocity)),
        loss=motor.resistance * current**2,
        stiffness=gain + bench.gravity_torque * np.cos(position),
        gain=gain,
        back_emf=back_emf,
        damping=back_emf + rate_gain * enabled + servo.friction.viscous,
        inertia=bench.inertia + motor.armature,
        bench_inertia=bench.inertia,
        gravity_torque=bench.gravity_torque,
        mass=bench.mass,
        temperature_rise=case_temperature_rise(recording),
        dt=EVERY * rollout.dt,
    )


def slewed(goal: Array, enabled: Array, position: Array, most: float) -> Array:
    """Return set-points (steps,), rad, that follow goals by at most so many rad per step.

    While torque is off, the set-point is where the servo is; see `firmware.PositionFirmware`.
    """
    points = np.empty_like(goal)
    _slew(goal, enabled, position, most, points)
    return points


@compiled()
def _slew(goal: Array, enabled: Array, position: Array, most: float, points: Array) -> None:
    point = goal[0]
    for k in range(len(goal)):
        point = set_point(point, goal[k], most)
        if enabled[k] <= 0.0:
            point = position[k]
        points[k] = point


def natural_compliances(inertia: float, frequencies: Array) -> Array:
    """Return the compliances, rad/(N·m), with which an arm swings at frequencies in Hz on a held servo."""
    return np.asarray(1.0 / (inertia * (math.tau * frequencies) ** 2))


def arm_on_a_spring(motion: Motion, compliances: Array, damping_ratio: float, play: Array) -> Array:
    """Return what an arm on a spring takes from the servo beyond a rigid one, (steps, springs) N·m.

    The servo's own motion is the measured one, so that the arm is a pendulum on a base that moves as known.

    Args:
        motion: of the servo.
        compliances: (springs,) rad/(N·m).
        damping_ratio: of the arm on its spring.
        play: (springs,) rad from end to end.
    """
    if motion.bench_inertia == 0.0:
        return np.zeros((len(motion.time), len(compliances)))
    pulls = np.empty((len(motion.time), len(compliances)))
    for spring, (compliance, free) in enumerate(zip(compliances, play, strict=True)):
        _pull(
            motion.position,
            motion.velocity,
            (1.0 / compliance, damping_ratio, free),
            (motion.bench_inertia, motion.gravity_torque, motion.dt),
            pulls[:, spring],
        )
    rigid = motion.bench_inertia * motion.acceleration - motion.gravity
    return np.asarray(rigid[:, None] - pulls)


@compiled()
def _pull(
    position: Array,
    velocity: Array,
    spring: tuple[float, float, float],
    arm_and_step: tuple[float, float, float],
    pulls: Array,
) -> None:
    """Swing an arm from a servo that moves as given.

    Args:
        position: (steps,) of the servo, rad.
        velocity: (steps,) rad/s.
        spring: stiffness in N·m/rad, damping ratio, play in rad.
        arm_and_step: inertia in kg·m², gravity torque in N·m, step in s.
        pulls: (steps,) receives the torque on the arm, N·m.
    """
    stiffness, damping_ratio, play = spring
    inertia, gravity_torque, dt = arm_and_step
    damping = 2.0 * damping_ratio * math.sqrt(stiffness * inertia)
    soft = 1.0 + dt * (damping + dt * stiffness) / inertia  # swings within a step are not resolved
    arm = position[0] - gravity_torque * math.sin(position[0]) / stiffness
    speed = velocity[0]
    for k in range(len(position)):
        lead = position[k] - arm
        bent = max(abs(lead) - 0.5 * play, 0.0)
        bent = bent if lead > 0.0 else -bent
        pull = stiffness * bent
        if bent != 0.0 or play == 0.0:
            pull += damping * (velocity[k] - speed)
        pull /= soft
        pulls[k] = pull
        speed += (pull - gravity_torque * math.sin(arm)) / inertia * dt
        arm += speed * dt
