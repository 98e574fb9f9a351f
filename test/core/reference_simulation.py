# SPDX-License-Identifier: Apache-2.0
"""BAM Algorithm 1 and its variants in plain Python, step by step: what the compiled kernel reproduces."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core.errors import UnknownName
from bam_core.errors.checks import require_positive
from bam_core.servo.arm_link import ArmLink
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.firmware import PositionFirmware, followed, profiled
from bam_core.servo.friction import Friction
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.motor import DcMotor
from bam_core.servo.pendulum import PendulumBench
from bam_core.servo.protection import Overload
from bam_core.simulation.rows import VELOCITY_LIMIT


@dataclass(frozen=True, kw_only=True)
class PendulumState:
    """State of servo and arm.

    Attributes:
        position: of the servo, rad.
        velocity: of the servo, rad/s.
        warming: of the winding, K.
        arm_position: rad; of a rigid arm it says nothing.
        arm_velocity: rad/s, likewise.
        acceleration: of the servo in the past step, mean, rad/s².
        ending_acceleration: the same at its end, of "midpoint" alone.
    """

    position: float
    velocity: float = 0.0
    warming: float = 0.0
    arm_position: float = 0.0
    arm_velocity: float = 0.0
    acceleration: float = 0.0
    ending_acceleration: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ReferenceSimulation:
    """A servo on the bench, position-controlled or in open loop.

    Attributes:
        firmware: position controller.
        motor: motor constants at the output shaft.
        friction: friction law.
        bench: pendulum.
        kp: position gain in the firmware's units, above zero; of no account in open loop.
        kd: derivative gain.
        ki: integral gain.
        integrator: one of INTEGRATORS.
        bench_effects: zero offset, masses and inertias, and the arm's link to the servo. Command delay and
            supply ripple are ignored: commands are given when they are obeyed, the supply as it is.
        servo_effects: of the servo.
        case_temperature_rise: temperature of the motor's case above `motor.REFERENCE_TEMPERATURE`, K.
        open_loop: goals are duties, -1..1, which the servo applies as they are.

    Raises:
        BamError: kp is not above zero, or the integrator is unknown.
    """

    firmware: PositionFirmware
    motor: DcMotor
    friction: Friction
    bench: PendulumBench
    kp: float
    kd: float = 0.0
    ki: float = 0.0
    integrator: str = "midpoint"
    bench_effects: BenchEffects = field(default_factory=BenchEffects)
    servo_effects: ServoEffects = field(default_factory=ServoEffects)
    case_temperature_rise: float = 0.0
    open_loop: bool = False

    def __post_init__(self) -> None:
        if not self.open_loop:
            require_positive("simulation", kp=self.kp)
        if self.integrator not in INTEGRATORS:
            raise UnknownName("integrator", self.integrator, INTEGRATORS)

    @property
    def inertia(self) -> float:
        """J = bench + armature, kg·m²."""
        return self._bench.inertia + self.motor.armature

    def error(self, state: PendulumState, goal: float, lead: float = 0.0) -> float:
        """Return set-point minus what the firmware sees, rad; arguments as of `demand`."""
        position = state.position + lead * state.velocity
        return goal - self.servo_effects.seen_position(position, state.velocity, self.firmware.resolution)

    def demand(
        self, state: PendulumState, goal: float, lead: float = 0.0, rate: float = 0.0, integral: float = 0.0
    ) -> float:
        """Return what the firmware asks for where nothing is protected: duty (BAM eq. 12) or A (eq. 14).

        Args:
            state: of the servo.
            goal: set-point, rad.
            lead: how much later than this state the firmware looks at it, s.
            rate: of the error, rad/s.
            integral: of the error, rad.
        """
        if self.open_loop:
            return goal
        velocity = state.velocity + lead * state.ending_acceleration
        kp = self.kp * (1.0 + self.servo_effects.firmware_gain)
        wanted = self.firmware.demand(
            kp,
            self.error(state, goal, lead),
            velocity,
            rate_time=self.firmware.rate_time(self.kp, self.kd),
            error_rate=rate,
            integral=integral,
        )
        return _clipped(float(wanted), self._largest_demand)

    @property
    def _largest_demand(self) -> float:
        return self.firmware.demand_limit * (1.0 - self.servo_effects.limit_shortfall)

    def protected(self, overload: Overload, demand: float, period: float) -> tuple[float, Overload]:
        """Return a demand as protection limits it, and what the servo then remembers.

        Args:
            overload: what it remembers.
            demand: duty or A.
            period: for which the demand holds, s.
        """
        protection = self.firmware.protection
        if protection is None:
            return demand, overload
        largest = self._largest_demand
        allowed = protection.share(overload) * largest
        return _clipped(demand, allowed), protection.after_demand(overload, demand, largest, period)

    def closed_share(self, demand: float) -> float:
        """Return the share of a PWM period in which the winding is closed; see `effects.ServoEffects`."""
        if self.firmware.regulates_current:
            return 1.0
        return 1.0 - self.servo_effects.bridge_coasting * (1.0 - abs(demand))

    def step(
        self,
        state: PendulumState,
        demand: float,
        enabled: float,
        dt: float,
        supply: float = math.inf,
        closed: float = 1.0,
        was_enabled: float | None = None,
    ) -> PendulumState:
        """Advance by one step of Algorithm 1 or of its variant.

        Args:
            state: at the start of the step.
            demand: of the firmware, in force during the step, V or A.
            enabled: share of the step that the H-bridge drives, 0..1.
            dt: Δt, s.
            supply: what limits a current, V.
            closed: share of a PWM period in which the winding is closed, so that back-EMF acts.
            was_enabled: share of the step before that the H-bridge drove; default as in this one.
        """
        half_step = 0.5 * dt if self.integrator == "midpoint" else 0.0
        voltage, is_kept = demand, False
        if self.firmware.regulates_current:
            regulating = self.motor.regulating_voltage(demand, state.velocity, supply, state.warming)
            voltage = float(regulating)
            is_kept = abs(voltage) < supply
        electrical = (voltage, closed * state.velocity, enabled, state.warming)
        # J·θ̈ = τ - b·(θ̇ + ½θ̈Δt) is (J + ½bΔt)·θ̈ = τ - b·θ̇: back-EMF at the mean velocity adds inertia.
        # A current that is kept up has no b.
        damping = 0.0 if is_kept else closed * float(self.motor.damping(*electrical))
        inertia = self.motor.armature + half_step * damping
        motor = float(self.motor.torque(*electrical))
        link = self.link(dt)
        arm = state.arm_position, state.arm_velocity
        if link.is_rigid:
            external = self._gravity(state.position, state.velocity, half_step)
            inertia += self._bench.inertia
            pressing = external - self.servo_effects.load_inertia * self._bench.inertia * state.acceleration
        else:
            lead, slip = state.position - state.arm_position, state.velocity - state.arm_velocity
            pull = link.torque(lead, slip, half_step)
            external = pressing = -pull
            falling = self._gravity(state.arm_position, state.arm_velocity, half_step)
            arm = _moved(*arm, (pull + falling) / self._bench.inertia * dt, dt, 0.0)
        onward, back = self.servo_effects.direction_scales
        if self.integrator == "midpoint":
            middle = motor - damping * half_step * state.ending_acceleration
            share = 1.0
            if (
                was_enabled is not None
                and 0.0 < enabled < 1.0
                and enabled != was_enabled
                and not state.velocity
            ):
                # Friction holds the arm until torque is switched; then the new torque acts for the rest.
                is_released = enabled < was_enabled
                motor = middle = 0.0 if is_released else motor / enabled
                share = 1.0 - enabled if is_released else enabled
            expected = state.velocity + half_step * state.ending_acceleration
            budget = float(self._warm_friction.budget(middle, pressing, expected))
            limits = budget * onward, budget * back
            position, velocity, ending = _moved_in_pieces(state, motor + external, limits, inertia, dt, share)
        else:
            budget = float(self._warm_friction.budget(motor, pressing, state.velocity))
            stop = -(inertia / dt * state.velocity + motor + external)
            friction = min(max(stop, -budget * onward), budget * back)
            gained = (motor + external + friction) / inertia * dt
            extra = 1.0 if self.integrator == "semi_implicit" else 0.0
            position, velocity = _moved(state.position, state.velocity, gained, dt, extra)
            ending = 0.0
        current = self.motor.current(*electrical)
        warmed = float(self.motor.warming_rate(current, state.warming, self._case)) * dt
        return PendulumState(
            position=position,
            velocity=velocity,
            warming=state.warming + warmed,
            arm_position=arm[0],
            arm_velocity=arm[1],
            acceleration=(velocity - state.velocity) / dt,
            ending_acceleration=ending,
        )

    def at_rest(self, position: float, velocity: float = 0.0, *, dt: float) -> PendulumState:
        """Return the state of a servo with this position and velocity whose arm hangs still from it.

        Args:
            position: rad.
            velocity: rad/s.
            dt: of the steps that follow, s.
        """
        zero = self.bench_effects.zero_offset
        arm = zero + self.link(dt).rest(position - zero, self._bench.gravity_torque)
        return PendulumState(
            position=position, velocity=velocity, warming=self._case, arm_position=arm, arm_velocity=velocity
        )

    def link(self, dt: float) -> ArmLink:
        """Return the link between servo and arm for steps of dt s."""
        return ArmLink(
            compliance=self.bench_effects.arm_compliance,
            backlash=self.bench_effects.arm_backlash,
            inner=self.motor.armature,
            outer=self._bench.inertia,
            dt=dt,
        )

    @property
    def _case(self) -> float:
        """The case's temperature counts where that of the winding does."""
        return self.case_temperature_rise if self.motor.winding_heating else 0.0

    @property
    def _bench(self) -> PendulumBench:
        return self.bench_effects.corrected(self.bench)

    @property
    def _warm_friction(self) -> Friction:
        return self.friction.scaled(no_load=self.servo_effects.temperature_scale(self.case_temperature_rise))

    def _gravity(self, position: float, velocity: float, half_step: float) -> float:
        angle = position + half_step * velocity - self.bench_effects.zero_offset
        return float(self._bench.external_torque(angle))

    def run(
        self,
        initial: PendulumState,
        *,
        goal: ArrayLike,
        supply: ArrayLike,
        enabled: ArrayLike,
        dt: float,
        substeps: int = 1,
        renewal: int | None = None,
        lead: float = 0.0,
        slew_share: float = 1.0,
        integral: float = 0.0,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Follow goals for n - 1 steps.

        The demand is computed in every `renewal`-th substep, at first in that with which a step starts, and
        held until the next time; the supply limits a current in every substep.

        Args:
            initial: state at the first sample, see `at_rest`.
            goal: (n,) rad, or duties in open loop, in force from each sample to the next.
            supply: (n,) V, likewise.
            enabled: (n,) share of the time that the H-bridge drives, 0..1, likewise.
            dt: time between samples, s.
            substeps: steps of the integrator between samples.
            renewal: substeps for which the firmware holds what it demands; default all of a step.
            lead: how much later than it renews its demand the firmware sees positions, s; where a step stands
                for several of its periods, half of what it is longer than one.
            slew_share: of what a slewed set-point moves in a step, how much the firmware works with on the
                mean where the set-point is under way throughout.
            integral: of the integral gain at the start, rad.

        Returns:
            Positions (n,) in rad and velocities (n,) in rad/s at the samples.
        """
        goals, supplies, switches = np.asarray(goal), np.asarray(supply), np.asarray(enabled)
        state = initial
        states = [state]
        applied, closed = 0.0, 1.0
        renewed = renewal or substeps
        protection, overload = None if self.open_loop else self.firmware.protection, Overload()
        point = float(goals[0])  # the servo has had time to get there
        farthest = self.servo_effects.goal_speed_limit(self.firmware.goal_speed_limit) * dt
        hardest = math.inf if self.open_loop else self.firmware.goal_acceleration_limit
        periods, point_speed = round(1.0 / (2.0 * slew_share - 1.0)), 0.0
        if self.open_loop:
            farthest = math.inf
        past: float | None = None  # error of the last demand
        integral_rate = self.firmware.integral_rate(self.kp, self.ki)
        for k in range(len(goals) - 1):
            goal, supply_now = float(goals[k]), float(supplies[k])
            before = float(switches[max(k - 1, 0)])
            if protection is not None:
                count = self.firmware.resolution
                overload = protection.after_goal(overload, goal, count, is_enabled=switches[k] > 0.0)
            if switches[k] <= 0.0:
                goal = point = state.position
                point_speed = 0.0
            else:
                if math.isinf(hardest):
                    reached = followed(point, goal, farthest)
                    moved, point = reached - point, reached
                    goal = reached - (1.0 - slew_share) * moved * abs(moved) / farthest
                else:
                    points = []
                    for _ in range(periods):
                        point, point_speed = profiled(
                            point,
                            point_speed,
                            goal,
                            time=dt / periods,
                            fastest=farthest / dt,
                            acceleration=hardest,
                        )
                        points.append(point)
                    goal = sum(points) / periods
            for j in range(substeps):
                if j % renewed == 0:
                    error = self.error(state, goal, lead)
                    rate = -state.velocity if past is None else (error - past) / (dt / substeps * renewed)
                    past = error if switches[k] > 0.0 else None
                    integral = self.firmware.integrated(
                        integral,
                        error,
                        kp=self.kp * (1.0 + self.servo_effects.firmware_gain),
                        rate=integral_rate,
                        time=dt / substeps * renewed,
                        largest=self._largest_demand,
                    )
                    if switches[k] <= 0.0:
                        integral = 0.0
                    demand = self.demand(state, goal, lead, rate, integral)
                    if protection is not None and switches[k] > 0.0:
                        demand, overload = self.protected(overload, demand, dt / substeps * renewed)
                    closed = self.closed_share(demand)
                    applied = demand if self.firmware.regulates_current else demand * supply_now
                state = self.step(
                    state, applied, float(switches[k]), dt / substeps, supply_now, closed, before
                )
            states.append(state)
        return np.array([s.position for s in states]), np.array([s.velocity for s in states])


def _moved_in_pieces(
    state: PendulumState, net: float, budgets: tuple[float, float], inertia: float, dt: float, share: float
) -> tuple[float, float, float]:
    """Return position, velocity and acceleration after a step of "midpoint".

    Until the velocity reaches zero friction opposes the old motion; from then on it holds the servo or
    opposes the new motion, for a share of the time that is left. `budgets` are those of friction in motion
    towards positive positions and back.
    """
    velocity = state.velocity
    onward, back = budgets
    slowed = (net - (onward if velocity > 0.0 else -back)) / inertia
    turned = (net - min(max(net, -back), onward)) / inertia
    free = velocity + slowed * dt
    if velocity * free > 0.0:
        return state.position + (velocity + 0.5 * slowed * dt) * dt, _limited(free), slowed
    until = min(-velocity / slowed, dt) if velocity != 0.0 else 0.0
    rest = (dt - until) * share
    position = state.position + (velocity + 0.5 * slowed * until) * until + 0.5 * turned * rest**2
    return position, _limited(turned * rest), turned


def _clipped(value: float, limit: float) -> float:
    return min(max(value, -limit), limit)


def _limited(velocity: float) -> float:
    return _clipped(velocity, VELOCITY_LIMIT)


def _moved(position: float, velocity: float, gained: float, dt: float, extra: float) -> tuple[float, float]:
    """Return position and velocity after a step that gains so much velocity (Algorithm 1, lines 5-9)."""
    moved = position + (velocity + (0.5 + extra) * gained) * dt
    return moved, _limited(velocity + gained)
