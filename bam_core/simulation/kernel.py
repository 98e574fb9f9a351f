# SPDX-License-Identifier: Apache-2.0
"""BAM Algorithm 1 and its variants, compiled: a block of lanes, each one candidate on one log.

The loops over lanes hold nothing but arithmetic, in groups of LANES, so that they become vector code; what
all candidates of a block leave off (load terms, Stribeck terms, effects) is skipped for all lanes at once.
Nothing is allocated in the step loop, and the interpreter lock is released. `reference.py` is the executable
specification.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.servo.arm_link import (
    DAMPING_RATIO,
    LEAST_COMPLIANCE,
    LEAST_INNER_SHARE,
    LEAST_SLOPE,
    REST_ITERATIONS,
)
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.motor import COPPER_COEFFICIENT, WINDING_COOLING_TIME
from bam_core.servo.pendulum import GRAVITY
from bam_core.simulation import _vector_math as vm
from bam_core.simulation.rows import (
    ENABLED,
    GOAL,
    MEASURED,
    SUPPLY,
    VELOCITY_LIMIT,
    LaneArrays,
    LogRows,
    Stepping,
    SteppingValues,
)

LANES = 8
"""Lanes come in groups of this many: one 512-bit vector of doubles."""

BLOCK = 64
"""Most lanes in one block, so that its state stays in the first-level cache."""

_MIDPOINT = INTEGRATORS.index("midpoint")
_SEMI_IMPLICIT = INTEGRATORS.index("semi_implicit")

# Two buffers of rows, each BLOCK lanes long: candidates in the order of `rollout.PARAMETERS`, and states. One
# buffer with constant offsets lets the compiler prove that rows do not overlap; unsigned offsets spare it the
# test for negative indices.
(
    _TORQUE_CONSTANT,
    _RESISTANCE,
    _ARMATURE,
    _VISCOUS,
    _COULOMB,
    _STRIBECK_COULOMB,
    _STRIBECK_VELOCITY,
    _STRIBECK_EXPONENT,
    _LOAD_MOTOR,
    _LOAD_EXTERNAL,
    _LOAD_MOTOR_STRIBECK,
    _LOAD_EXTERNAL_STRIBECK,
    _QUADRATIC_MOTOR,
    _QUADRATIC_EXTERNAL,
    _TORQUE_SATURATION,
    _WINDING_HEATING,
    _FRICTION_TEMPERATURE,
    _BRIDGE_COASTING,
    _FIRMWARE_GAIN,
    _LIMIT_SHORTFALL,
    _SENSOR_DELAY,
    _ENCODER_QUANTISATION,
    _LOAD_INERTIA,
    _GOAL_SLEW_TIME,
    _FRICTION_DIRECTION,
    _ZERO_OFFSET,
    _COMMAND_DELAY,
    _ARM_COMPLIANCE,
    _ARM_BACKLASH,
    _ARM_MASS,
    _SUPPLY_RIPPLE,
    _LOAD_GYRATION,
) = (np.uint64(row * BLOCK) for row in range(32))

(
    _POSITION,
    _VELOCITY,
    _DEMAND,
    _ENABLED,
    _MOTOR,
    _EXTERNAL,
    _BUDGET,
    _INERTIA,
    _GRAVITY,
    _GAIN,
    _LENGTH,
    _ERROR,
    _BENCH_INERTIA,
    _WARMING,
    _CASE,
    _ARM_POSITION,
    _ARM_VELOCITY,
    _LINK_STIFFNESS,
    _LINK_DAMPING,
    _BENCH_MOBILITY,
    _CONDUCTANCE,
    _SPEED_SCALE,
    _GOAL,
    _SUPPLY,
    _RATE_GAIN,
    _SEEN,
    _LIMIT,
    _CLOSED,
    _LINKED,
    _ACTING,
    _STARTING_VELOCITY,
    _ACCELERATION,
    _SET_POINT,
    _FARTHEST,
    _AHEAD,
    _MIDDLE,
    _WAS_ENABLED,
    _DRIVEN_SHARE,
    _FEEDBACK,
) = (np.uint64(row * BLOCK) for row in range(39))
_ROWS = 39

# Adding 1.5·2^52 to a double rounds it to an integer.
_ROUNDER = 6755399441055744.0

_COOLING_RATE = 1.0 / WINDING_COOLING_TIME


# "contract" merges a multiplication and an addition into one instruction that rounds once; it changes the
# last digit only, whereas the other relaxations would break the rounding tricks of exp, log and sin.
_compiled = compiled(fastmath={"contract"})


@_compiled
def whole_steps(delay: float, steps: int) -> int:
    """Return the whole steps of a delay in steps, between -steps and steps; 0 where it is NaN."""
    if delay >= steps:
        return steps
    if delay <= -steps:
        return -steps
    return math.floor(delay) if delay == delay else 0


@_compiled
def _command(
    s: Array,
    lanes: int,
    signals: Array,
    start: Any,
    k: int,
    late: NDArray[np.int64],
    late_share: Array,
) -> None:
    """Add this step's error, then read the commands in force.

    They are those of `late` steps before; to a share `late_share`, those of one more.
    """
    now = float(k)
    last = signals.shape[0] - 1
    for i in range(np.uint64(lanes)):
        error = abs(s[_POSITION + i] - signals[k, MEASURED, start + i])
        s[_ERROR + i] += error if now < s[_LENGTH + i] else 0.0
        step = min(max(k - late[i], 0), last)
        earlier = min(max(k - late[i] - 1, 0), last)
        share = late_share[i]
        goal = signals[step, GOAL, start + i]
        s[_GOAL + i] = goal + share * (signals[earlier, GOAL, start + i] - goal)
        s[_SUPPLY + i] = signals[k, SUPPLY, start + i]
        s[_WAS_ENABLED + i] = s[_ENABLED + i]
        enabled = signals[step, ENABLED, start + i]
        s[_ENABLED + i] = enabled + share * (signals[earlier, ENABLED, start + i] - enabled)


@_compiled
def _follow_goal(s: Array, lanes: int, share: float) -> None:
    """Let the set-point follow the goal as far as it may in this step; with torque off it is the servo's.

    The firmware works with the mean of its set-points in the step: `share` of the way where the set-point is
    under way throughout, and the more of it the sooner it arrives.
    """
    for i in range(np.uint64(lanes)):
        goal, before, most = s[_GOAL + i], s[_SET_POINT + i], s[_FARTHEST + i]
        ahead = goal - before
        moved = min(max(ahead, -most), most)
        point = before + moved if abs(ahead) > most else goal
        is_off = s[_ENABLED + i] <= 0.0
        s[_SET_POINT + i] = s[_POSITION + i] if is_off else point
        s[_GOAL + i] = s[_POSITION + i] if is_off else point - (1.0 - share) * moved * (abs(moved) / most)


@_compiled
def _see(s: Array, c: Array, lanes: int, lead: float) -> None:
    """Let the firmware see the position `lead` s from now, as old as it may be."""
    for i in range(np.uint64(lanes)):
        s[_SEEN + i] = s[_POSITION + i] + (lead - c[_SENSOR_DELAY + i]) * s[_VELOCITY + i]


@_compiled
def _count(s: Array, c: Array, lanes: int, resolution: float) -> None:
    """Let the firmware see whole counts of its encoder, where it does."""
    for i in range(np.uint64(lanes)):
        seen = s[_SEEN + i]
        counts = (seen / resolution + _ROUNDER) - _ROUNDER
        s[_SEEN + i] = seen + c[_ENCODER_QUANTISATION + i] * (resolution * counts - seen)


@_compiled
def _add_ripple(s: Array, c: Array, lanes: int, ripple: Array, start: Any) -> None:
    """Let a share of the ripple of the supply count; `ripple` is (lanes,) of this step."""
    for i in range(np.uint64(lanes)):
        s[_SUPPLY + i] += c[_SUPPLY_RIPPLE + i] * ripple[start + i]


@_compiled
def _shape_error(s: Array, lanes: int, dead_band: float, offset: float) -> None:
    """Let the firmware see an error that its dead band and offset have shaped, as another position."""
    for i in range(np.uint64(lanes)):
        error = s[_GOAL + i] - s[_SEEN + i]
        more = offset if error > 0.0 else -offset
        shaped = error + more if abs(error) > dead_band else 0.0
        s[_SEEN + i] = s[_GOAL + i] - shaped


@_compiled
def _demand_voltage(s: Array, c: Array, lanes: int) -> None:
    """Let the firmware set the voltage (eq. 12)."""
    for i in range(np.uint64(lanes)):
        limit = s[_LIMIT + i]
        duty = s[_GAIN + i] * (s[_GOAL + i] - s[_FEEDBACK + i] * s[_SEEN + i])
        duty = min(max(duty, -limit), limit)
        s[_CLOSED + i] = 1.0 - c[_BRIDGE_COASTING + i] * (1.0 - abs(duty))
        s[_DEMAND + i] = duty * s[_SUPPLY + i]


@_compiled
def _demand_current(s: Array, lanes: int, lead_in_half_steps: float) -> None:
    """Let the firmware ask for a current (eq. 14), which the supply may not be able to bring about."""
    for i in range(np.uint64(lanes)):
        limit = s[_LIMIT + i]
        velocity = s[_VELOCITY + i] + lead_in_half_steps * s[_AHEAD + i]
        current = s[_GAIN + i] * (s[_GOAL + i] - s[_SEEN + i]) - s[_RATE_GAIN + i] * velocity
        s[_DEMAND + i] = min(max(current, -limit), limit)


@_compiled
def _demand_voltage_in_time(s: Array, lanes: int, now: Array, start: Any, step: float, lead: float) -> None:
    """`_command` to `_demand_voltage` in one, where the firmware is as its law says and nothing is late.

    `now` is (4, lanes) of this step.
    """
    for i in range(np.uint64(lanes)):
        position = s[_POSITION + i]
        error = abs(position - now[MEASURED, start + i])
        s[_ERROR + i] += error if step < s[_LENGTH + i] else 0.0
        seen = position + lead * s[_VELOCITY + i]
        duty = s[_GAIN + i] * (now[GOAL, start + i] - s[_FEEDBACK + i] * seen)
        limit = s[_LIMIT + i]
        s[_DEMAND + i] = min(max(duty, -limit), limit) * now[SUPPLY, start + i]
        s[_WAS_ENABLED + i] = s[_ENABLED + i]
        s[_ENABLED + i] = now[ENABLED, start + i]


@_compiled
def _drive(s: Array, c: Array, lanes: int, half_step: float) -> None:
    """Motor torque (eq. 13), inertia of the servo, and the terms of the budget that are never off.

    Back-EMF is that of `half_step` s later, as `integrators.INTEGRATORS` explains; friction is that of the
    velocity expected there.
    """
    for i in range(np.uint64(lanes)):
        velocity = s[_VELOCITY + i]
        ahead = s[_AHEAD + i]
        torque_constant = c[_TORQUE_CONSTANT + i]
        torque_per_volt = torque_constant * s[_CONDUCTANCE + i]
        enabled = s[_ENABLED + i]
        damping = torque_per_volt * torque_constant * enabled
        motor = torque_per_volt * (s[_DEMAND + i] - torque_constant * velocity) * enabled
        s[_MOTOR + i] = motor
        s[_MIDDLE + i] = motor - damping * ahead
        s[_INERTIA + i] = c[_ARMATURE + i] + half_step * damping
        s[_BUDGET + i] = c[_VISCOUS + i] * abs(velocity + ahead) + c[_COULOMB + i]


@_compiled
def _drive_warm(s: Array, c: Array, lanes: int, dt: float, half_step: float) -> None:
    """`_drive` with saturation, winding heat (see `motor.DcMotor`) and bridge coasting (`ServoEffects`)."""
    for i in range(np.uint64(lanes)):
        velocity = s[_VELOCITY + i]
        torque_constant = c[_TORQUE_CONSTANT + i]
        back_emf = torque_constant * s[_CLOSED + i]
        enabled = s[_ENABLED + i]
        warming = s[_WARMING + i]
        warm = c[_RESISTANCE + i] * (1.0 + COPPER_COEFFICIENT * warming)
        conductance = enabled / warm
        current = (s[_DEMAND + i] - back_emf * velocity) * conductance
        share = 1.0 / (1.0 + c[_TORQUE_SATURATION + i] * abs(current))
        damping = torque_constant * back_emf * conductance * share * share
        ahead = s[_AHEAD + i]
        s[_MOTOR + i] = torque_constant * current * share
        s[_MIDDLE + i] = torque_constant * current * share - damping * ahead
        s[_INERTIA + i] = c[_ARMATURE + i] + half_step * damping
        s[_BUDGET + i] = c[_VISCOUS + i] * abs(velocity + ahead) + c[_COULOMB + i]
        loss = c[_WINDING_HEATING + i] * warm * current * current
        s[_WARMING + i] = warming + dt * (loss - (warming - s[_CASE + i]) * _COOLING_RATE)


@_compiled
def _drive_by_current(s: Array, c: Array, lanes: int, dt: float, half_step: float) -> None:
    """As `_drive_warm`, with the current that the firmware asks for as far as the supply allows (eq. 15).

    A current that is kept up has no back-EMF; one that the supply limits has that of the voltage law.
    """
    for i in range(np.uint64(lanes)):
        velocity = s[_VELOCITY + i]
        torque_constant = c[_TORQUE_CONSTANT + i]
        enabled = s[_ENABLED + i]
        warming = s[_WARMING + i]
        warm = c[_RESISTANCE + i] * (1.0 + COPPER_COEFFICIENT * warming)
        conductance = 1.0 / warm
        highest = (s[_SUPPLY + i] - torque_constant * velocity) * conductance
        lowest = (-s[_SUPPLY + i] - torque_constant * velocity) * conductance
        demand = s[_DEMAND + i]
        current = min(max(demand, lowest), highest) * enabled
        share = 1.0 / (1.0 + c[_TORQUE_SATURATION + i] * abs(current))
        damping = torque_constant * torque_constant * conductance * enabled * share * share
        damping = damping if (demand <= lowest) | (demand >= highest) else 0.0
        ahead = s[_AHEAD + i]
        s[_MOTOR + i] = torque_constant * current * share
        s[_MIDDLE + i] = torque_constant * current * share - damping * ahead
        s[_INERTIA + i] = c[_ARMATURE + i] + half_step * damping
        s[_BUDGET + i] = c[_VISCOUS + i] * abs(velocity + ahead) + c[_COULOMB + i]
        loss = c[_WINDING_HEATING + i] * warm * current * current
        s[_WARMING + i] = warming + dt * (loss - (warming - s[_CASE + i]) * _COOLING_RATE)


@_compiled
def _hang(s: Array, c: Array, lanes: int, half_step: float) -> None:
    """Gravity torque (eq. 1) of `half_step` s later, and the inertia of the arm."""
    for i in range(np.uint64(lanes)):
        angle = s[_POSITION + i] + half_step * s[_VELOCITY + i] - c[_ZERO_OFFSET + i]
        s[_EXTERNAL + i] = -s[_GRAVITY + i] * vm.sin(angle)
        s[_INERTIA + i] += s[_BENCH_INERTIA + i]


@_compiled
def _hang_on_link(s: Array, c: Array, lanes: int, dt: float, half_step: float) -> None:
    """Let the arm swing behind a link with play and spring, which loads the servo; see `arm_link`.

    Lanes whose link is rigid are as in `_hang`: what a candidate does is no matter of its neighbours.
    """
    for i in range(np.uint64(lanes)):
        linked = s[_LINKED + i] != 0.0
        arm = s[_ARM_POSITION + i]
        speed = s[_ARM_VELOCITY + i]
        slip = s[_VELOCITY + i] - speed
        twist = s[_POSITION + i] - arm + half_step * slip
        bent = max(abs(twist) - 0.5 * c[_ARM_BACKLASH + i], 0.0)
        bent = bent if twist > 0.0 else -bent
        damping = s[_LINK_DAMPING + i] if bent != 0.0 else 0.0
        torque = s[_LINK_STIFFNESS + i] * bent + damping * slip
        outer = arm + half_step * speed
        inner = s[_POSITION + i] + half_step * s[_VELOCITY + i]
        angle = (outer if linked else inner) - c[_ZERO_OFFSET + i]
        gravity = -s[_GRAVITY + i] * vm.sin(angle)
        gained = (torque + gravity) * s[_BENCH_MOBILITY + i] * dt
        s[_ARM_POSITION + i] = arm + (speed + 0.5 * gained) * dt
        s[_ARM_VELOCITY + i] = min(max(speed + gained, -VELOCITY_LIMIT), VELOCITY_LIMIT)
        s[_EXTERNAL + i] = -torque if linked else gravity
        s[_INERTIA + i] += 0.0 if linked else s[_BENCH_INERTIA + i]


@_compiled
def _press_teeth(s: Array, c: Array, lanes: int) -> None:
    """Let friction take for τ_e what loads the gear: the torque that accelerates the load counts as well.

    It is that of the step before. An arm on a link loads the gear with its inertia anyway.
    """
    for i in range(np.uint64(lanes)):
        external = s[_EXTERNAL + i]
        carried = s[_BENCH_INERTIA + i] * s[_ACCELERATION + i]
        s[_ACTING + i] = external
        s[_STARTING_VELOCITY + i] = s[_VELOCITY + i]
        s[_EXTERNAL + i] = external - (0.0 if s[_LINKED + i] != 0.0 else c[_LOAD_INERTIA + i] * carried)


@_compiled
def _unpress_teeth(s: Array, lanes: int) -> None:
    """Put τ_e back, which moves the arm."""
    for i in range(np.uint64(lanes)):
        s[_EXTERNAL + i] = s[_ACTING + i]


@_compiled
def _note_acceleration(s: Array, lanes: int, rate: float) -> None:
    """Keep the acceleration of the step that was made; `rate` is 1/dt."""
    for i in range(np.uint64(lanes)):
        s[_ACCELERATION + i] = (s[_VELOCITY + i] - s[_STARTING_VELOCITY + i]) * rate


@_compiled
def _add_load(s: Array, c: Array, lanes: int) -> None:
    """Load-dependent friction, |K_m τ_m - K_e τ_e|."""
    for i in range(np.uint64(lanes)):
        s[_BUDGET + i] += abs(c[_LOAD_MOTOR + i] * s[_MIDDLE + i] - c[_LOAD_EXTERNAL + i] * s[_EXTERNAL + i])


@_compiled
def _add_stribeck(s: Array, c: Array, lanes: int, opposing_only: float) -> None:
    """Friction that fades with speed, s·[K_c^s + |K_m^s τ_m - K_e^s τ_e| + Q] with s = exp(-|θ̇/v_s|^α)."""
    for i in range(np.uint64(lanes)):
        motor = s[_MIDDLE + i]
        external = s[_EXTERNAL + i]
        ratio = max(abs(s[_VELOCITY + i] + s[_AHEAD + i]) * s[_SPEED_SCALE + i], vm.SMALLEST)
        stribeck_factor = vm.exp(-vm.exp(c[_STRIBECK_EXPONENT + i] * vm.log(ratio)))
        drives = c[_QUADRATIC_EXTERNAL + i] * external * external
        driven = c[_QUADRATIC_MOTOR + i] * motor * motor
        quadratic = drives if abs(motor) > abs(external) else 0.0
        quadratic = driven if abs(motor) < abs(external) else quadratic
        quadratic = 0.0 if opposing_only * motor * external > 0.0 else quadratic
        load = abs(c[_LOAD_MOTOR_STRIBECK + i] * motor - c[_LOAD_EXTERNAL_STRIBECK + i] * external)
        s[_BUDGET + i] += stribeck_factor * (c[_STRIBECK_COULOMB + i] + load + quadratic)


@_compiled
def _advance(s: Array, c: Array, lanes: int, dt: float, rate: float, semi_implicit: float) -> None:
    """Applied friction (eqs. 4, 5) and the update of the state (Algorithm 1, lines 5-9); `rate` is 1/dt."""
    for i in range(np.uint64(lanes)):
        velocity = s[_VELOCITY + i]
        budget = s[_BUDGET + i]
        inertia = s[_INERTIA + i]
        net = s[_MOTOR + i] + s[_EXTERNAL + i]
        stop = -(inertia * rate * velocity + net)
        lean = c[_FRICTION_DIRECTION + i] * budget
        friction = min(max(stop, -budget - lean), budget - lean)
        gained = (net + friction) / inertia * dt
        s[_POSITION + i] += (velocity + (0.5 + semi_implicit) * gained) * dt
        s[_VELOCITY + i] = min(max(velocity + gained, -VELOCITY_LIMIT), VELOCITY_LIMIT)


@_compiled
def _advance_in_pieces(s: Array, c: Array, lanes: int, dt: float, half_step: float) -> None:
    """`_advance` of second order: friction changes where the velocity reaches zero, not at the step's end.

    Up to that instant it opposes the old motion; from then on it holds the arm or opposes the new motion.
    """
    for i in range(np.uint64(lanes)):
        velocity = s[_VELOCITY + i]
        budget = s[_BUDGET + i]
        mobility = 1.0 / s[_INERTIA + i]
        net = s[_MOTOR + i] + s[_EXTERNAL + i]
        lean = c[_FRICTION_DIRECTION + i] * budget
        slowed = (net - (budget + lean if velocity > 0.0 else lean - budget)) * mobility
        turned = (net - min(max(net, lean - budget), budget + lean)) * mobility
        free = velocity + slowed * dt
        turns = free * velocity <= 0.0
        until = min(max(-velocity / slowed, 0.0), dt)
        until = until if velocity != 0.0 else 0.0
        until = until if turns else dt
        rest = (dt - until) * s[_DRIVEN_SHARE + i]
        onward = turned * rest
        s[_POSITION + i] += (velocity + 0.5 * slowed * until) * until + 0.5 * onward * rest
        after = onward if turns else free
        s[_VELOCITY + i] = min(max(after, -VELOCITY_LIMIT), VELOCITY_LIMIT)
        s[_AHEAD + i] = half_step * (turned if turns else slowed)


@_compiled
def _is_switching(s: Array, lanes: int) -> bool:
    """Tell whether torque goes on or off in any lane during this step."""
    count = 0
    for i in range(np.uint64(lanes)):
        enabled = s[_ENABLED + i]
        count += int((enabled > 0.0) & (enabled < 1.0))
    return count > 0


@_compiled
def _hold_until_switched(s: Array, lanes: int) -> None:
    """Where torque is switched on an arm at rest: friction holds it until then, see `_stop_holding`.

    For the rest of the step it gets what the new torque leaves, and not what the mean torque would: that
    might not even let it go, which would start every fall later by a part of a step.
    """
    for i in range(np.uint64(lanes)):
        enabled = s[_ENABLED + i]
        before = s[_WAS_ENABLED + i]
        waits = (enabled > 0.0) & (enabled < 1.0) & (enabled != before) & (s[_VELOCITY + i] == 0.0)
        is_released = enabled < before
        renewed = 0.0 if is_released else s[_MOTOR + i] / enabled
        share = 1.0 - enabled if is_released else enabled
        s[_MOTOR + i] = renewed if waits else s[_MOTOR + i]
        s[_MIDDLE + i] = renewed if waits else s[_MIDDLE + i]
        s[_DRIVEN_SHARE + i] = share if waits else 1.0


@_compiled
def _stop_holding(s: Array, lanes: int) -> None:
    """Let the next step be driven as a whole again."""
    for i in range(np.uint64(lanes)):
        s[_DRIVEN_SHARE + i] = 1.0


@_compiled
def _is_on(c: Array, row: Any, lanes: int) -> bool:
    """Tell whether any candidate has this parameter."""
    on = False
    for i in range(np.uint64(lanes)):
        on = on or c[row + i] != 0.0
    return on


@_compiled
def _has_link(s: Array, c: Array, lanes: int) -> bool:
    """Note which candidates' arms are on a link that matters; tell whether any is."""
    on = False
    for i in range(np.uint64(lanes)):
        linked = c[_ARM_COMPLIANCE + i] > LEAST_COMPLIANCE or c[_ARM_BACKLASH + i] > LEAST_COMPLIANCE
        linked = linked and s[_BENCH_INERTIA + i] > 0.0
        s[_LINKED + i] = 1.0 if linked else 0.0
        on = on or linked
    return on


@_compiled
def _start_link(s: Array, c: Array, lanes: int, dt: float) -> None:
    """Hang the arm on its link at rest, and work out the link's constants."""
    for i in range(np.uint64(lanes)):
        bench = s[_BENCH_INERTIA + i]
        inner = max(c[_ARMATURE + i], LEAST_INNER_SHARE * bench)
        reduced = inner * bench / (inner + bench)
        compliance = max(c[_ARM_COMPLIANCE + i], dt * dt / reduced)
        stiffness = 1.0 / compliance
        damping = 2.0 * DAMPING_RATIO * math.sqrt(stiffness * reduced)
        softening = 1.0 + 0.5 * dt * (damping + 0.5 * dt * stiffness) / reduced
        s[_LINK_STIFFNESS + i] = stiffness / softening
        s[_LINK_DAMPING + i] = damping / softening
        s[_BENCH_MOBILITY + i] = 1.0 / bench
        held = s[_POSITION + i] - c[_ZERO_OFFSET + i]
        hangs = held
        play = 0.5 * c[_ARM_BACKLASH + i]
        taken = held - min(max(held, -play), play)  # where the play is taken up
        for _ in range(REST_ITERATIONS):
            excess = hangs + compliance * s[_GRAVITY + i] * math.sin(hangs) - taken
            slope = 1.0 + compliance * s[_GRAVITY + i] * math.cos(hangs)
            hangs -= excess / max(slope, LEAST_SLOPE)
        s[_ARM_POSITION + i] = hangs + c[_ZERO_OFFSET + i]
        s[_ARM_VELOCITY + i] = s[_VELOCITY + i]


@_compiled
def _restart(s: Array, lanes: int, states: Array, start: Any) -> None:
    """Put servos where they were measured, `states` (2, lanes).

    What nobody measured goes on: the winding's warmth, a set-point on its way, and by how much the arm is off
    behind its link.
    """
    for i in range(np.uint64(lanes)):
        position, velocity = states[0, start + i], states[1, start + i]
        s[_ARM_POSITION + i] += position - s[_POSITION + i]
        s[_ARM_VELOCITY + i] += velocity - s[_VELOCITY + i]
        s[_POSITION + i] = position
        s[_VELOCITY + i] = velocity


@_compiled
def simulate_block(
    candidates: Array,
    first: int,
    lanes: int,
    lane_arrays: LaneArrays,
    stepping_values: SteppingValues,
    mae: Array,
    trace: Array,
) -> None:
    """Simulate one block of lanes, each one candidate on one log.

    The demand is computed in every `stepping.renewal`-th substep, at first in that with which a step starts,
    and held until the next time; the integrator runs once per substep.

    Args:
        candidates: (lanes, PARAMETERS): a row of `rollout.PARAMETERS` for every lane.
        first: first lane of the block, counted over all lanes of the packed logs.
        lanes: count, a multiple of LANES, at most BLOCK.
        lane_arrays: all lanes, as of `LaneInputs`.
        stepping_values: how to follow them, as of `Stepping`.
        mae: (lanes,) rad; receives the mean absolute error over the length of each log.
        trace: (2, steps, lanes); receives positions and velocities, unless it is empty.
    """
    signals, ripple, log_rows, restarts = lane_arrays
    logs, stepping = LogRows(*log_rows), Stepping(*stepping_values)
    dt, substeps, regulates_current = stepping.dt, stepping.substeps, stepping.regulates_current
    s = np.zeros(_ROWS * BLOCK)
    c = np.zeros(candidates.shape[1] * BLOCK)
    late = np.zeros(lanes, dtype=np.int64)
    late_share = np.zeros(lanes)
    start = np.uint64(first)
    longest = 0
    for i in range(np.uint64(lanes)):
        s[_LENGTH + i] = logs.length[start + i]
        s[_BENCH_INERTIA + i] = logs.inertia[start + i]
        s[_GRAVITY + i] = logs.gravity_torque[start + i]
        s[_GAIN + i] = logs.stiffness[start + i]
        s[_POSITION + i] = logs.position[start + i]
        s[_VELOCITY + i] = logs.velocity[start + i]
        s[_CASE + i] = logs.case_temperature_rise[start + i]
        s[_RATE_GAIN + i] = logs.damping[start + i]
        length = logs.arm_length[start + i]
        longest = max(longest, int(s[_LENGTH + i]))
        for row in range(np.uint64(candidates.shape[1])):
            c[np.uint64(row * np.uint64(BLOCK)) + i] = candidates[i, row]
        arm = c[_ARM_MASS + i]
        s[_BENCH_INERTIA + i] += arm / 3.0 * length * length
        s[_GRAVITY + i] += arm / 2.0 * GRAVITY * length
        s[_BENCH_INERTIA + i] += logs.load_mass[start + i] * c[_LOAD_GYRATION + i] ** 2
        feedback = logs.feedback[start + i]
        s[_FEEDBACK + i] = feedback
        gain = 1.0 + feedback * c[_FIRMWARE_GAIN + i]
        s[_GAIN + i] *= gain
        s[_RATE_GAIN + i] *= math.sqrt(gain)
        s[_LIMIT + i] = logs.demand_limit[start + i] * (1.0 - c[_LIMIT_SHORTFALL + i])
        s[_CLOSED + i] = 1.0
        s[_DRIVEN_SHARE + i] = 1.0
        s[_ENABLED + i] = signals[0, ENABLED, start + i]
        s[_SET_POINT + i] = signals[0, GOAL, start + i]
        slew_time = c[_GOAL_SLEW_TIME + i]
        slew_time = slew_time if feedback > 0.0 else 0.0
        goal_speed_limit = stepping.goal_speed_limit if feedback > 0.0 else math.inf
        s[_FARTHEST + i] = dt * (1.0 / slew_time if slew_time > 0.0 else goal_speed_limit)
        temperature_scale = math.exp(-c[_FRICTION_TEMPERATURE + i] * s[_CASE + i])
        c[_VISCOUS + i] *= temperature_scale
        c[_COULOMB + i] *= temperature_scale
        c[_STRIBECK_COULOMB + i] *= temperature_scale
        s[_CONDUCTANCE + i] = 1.0 / c[_RESISTANCE + i]
        s[_SPEED_SCALE + i] = 1.0 / c[_STRIBECK_VELOCITY + i]
        s[_CASE + i] = s[_CASE + i] if c[_WINDING_HEATING + i] > 0.0 else 0.0
        s[_WARMING + i] = s[_CASE + i]
        delay = c[_COMMAND_DELAY + i] / dt
        late[i] = whole_steps(delay, signals.shape[0])
        late_share[i] = delay - late[i]
    has_load = _is_on(c, _LOAD_MOTOR, lanes) or _is_on(c, _LOAD_EXTERNAL, lanes)
    has_stribeck = (
        _is_on(c, _STRIBECK_COULOMB, lanes)
        or _is_on(c, _LOAD_MOTOR_STRIBECK, lanes)
        or _is_on(c, _LOAD_EXTERNAL_STRIBECK, lanes)
        or _is_on(c, _QUADRATIC_MOTOR, lanes)
        or _is_on(c, _QUADRATIC_EXTERNAL, lanes)
    )
    presses = _is_on(c, _LOAD_INERTIA, lanes) and (has_load or has_stribeck)
    has_coasting = _is_on(c, _BRIDGE_COASTING, lanes)
    has_effects = has_coasting or _is_on(c, _TORQUE_SATURATION, lanes) or _is_on(c, _WINDING_HEATING, lanes)
    has_counts = _is_on(c, _ENCODER_QUANTISATION, lanes)
    has_ripple = ripple.size > 0 and _is_on(c, _SUPPLY_RIPPLE, lanes)
    has_slew = stepping.goal_speed_limit < math.inf or _is_on(c, _GOAL_SLEW_TIME, lanes)
    shapes_error = stepping.dead_band > 0.0 or stepping.error_offset > 0.0
    renewal, lead = stepping.renewal, stepping.lead
    is_plain = renewal >= substeps and not (
        regulates_current
        or shapes_error
        or has_slew
        or has_coasting
        or has_counts
        or has_ripple
        or _is_on(c, _COMMAND_DELAY, lanes)
        or _is_on(c, _SENSOR_DELAY, lanes)
        or _is_on(c, _LIMIT_SHORTFALL, lanes)
    )
    has_link = _has_link(s, c, lanes)
    opposing = 1.0 if stepping.opposing_only else 0.0
    substep = dt / substeps
    is_midpoint = stepping.integrator == _MIDPOINT
    half_step = 0.5 * substep if is_midpoint else 0.0
    semi_implicit = 1.0 if stepping.integrator == _SEMI_IMPLICIT else 0.0
    lead_in_half_steps = lead / half_step if lead > 0.0 else 0.0
    if has_link:
        _start_link(s, c, lanes, substep)
    for k in range(longest):
        if stepping.restart > 0 and k % stepping.restart == stepping.restart // 2:
            _restart(s, lanes, restarts[k // stepping.restart], start)
        if trace.size > 0:
            for i in range(np.uint64(lanes)):
                trace[0, k, i] = s[_POSITION + i]
                trace[1, k, i] = s[_VELOCITY + i]
        if is_plain:
            _demand_voltage_in_time(s, lanes, signals[k], start, float(k), lead)
        else:
            _command(s, lanes, signals, start, k, late, late_share)
            if has_slew:
                _follow_goal(s, lanes, stepping.slew_share)
            if has_ripple:
                _add_ripple(s, c, lanes, ripple[k], start)
        switches = is_midpoint and _is_switching(s, lanes)
        for j in range(substeps):
            if not is_plain and j % renewal == 0:
                _see(s, c, lanes, lead)
                if has_counts:
                    _count(s, c, lanes, stepping.resolution)
                if shapes_error:
                    _shape_error(s, lanes, stepping.dead_band, stepping.error_offset)
                if regulates_current:
                    _demand_current(s, lanes, lead_in_half_steps)
                else:
                    _demand_voltage(s, c, lanes)
            if regulates_current:
                _drive_by_current(s, c, lanes, substep, half_step)
            elif has_effects:
                _drive_warm(s, c, lanes, substep, half_step)
            else:
                _drive(s, c, lanes, half_step)
            if has_link:
                _hang_on_link(s, c, lanes, substep, half_step)
            else:
                _hang(s, c, lanes, half_step)
            if presses:
                _press_teeth(s, c, lanes)
            if switches:
                _hold_until_switched(s, lanes)
            if has_load:
                _add_load(s, c, lanes)
            if has_stribeck:
                _add_stribeck(s, c, lanes, opposing)
            if presses:
                _unpress_teeth(s, lanes)
            if is_midpoint:
                _advance_in_pieces(s, c, lanes, substep, half_step)
            else:
                _advance(s, c, lanes, substep, 1.0 / substep, semi_implicit)
            if switches:
                _stop_holding(s, lanes)
            if presses:
                _note_acceleration(s, lanes, 1.0 / substep)
    for i in range(np.uint64(lanes)):
        mae[i] = s[_ERROR + i] / s[_LENGTH + i]


@_compiled
def interpolate(trace: Array, steps: NDArray[np.intp], weights: Array, positions: Array) -> None:
    """Read positions off a trace between its steps.

    Args:
        trace: (2, steps): positions in rad and velocities in rad/s.
        steps: (samples,): the step in which each sample lies.
        weights: (samples, 4): of position and velocity at its start and at its end.
        positions: (samples,): receives rad.
    """
    for j in range(len(steps)):
        k = steps[j]
        positions[j] = (
            weights[j, 0] * trace[0, k]
            + weights[j, 1] * trace[1, k]
            + weights[j, 2] * trace[0, k + 1]
            + weights[j, 3] * trace[1, k + 1]
        )
