# SPDX-License-Identifier: Apache-2.0
"""Kernels of MuJoCo Warp: each servo's motor torque and friction row, in every world and step."""

from __future__ import annotations

import mujoco
import warp as wp

from bam_core.mujoco.step_law import Drive, Memory
from bam_core.mujoco.warp.functions import step_law

COMPLIANCE = 3e-5
"""Of a friction row, relative to the joint's inverse inertia.

A joint that friction stops gets its torque from the difference of two accelerations, which float32 knows to
6e-8. So the torque is known to 6e-8/COMPLIANCE, 0.2 %. At rest the row gives way by COMPLIANCE of what the
load would accelerate the joint by; `begin_steps` adds as much to the row's reference, so that the joint
stays. The plugin, in float64, has 1e-7.
"""
_COMPLIANCE = wp.constant(COMPLIANCE)
_FRICTION_ROW = wp.constant(int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF))
_NEVER = wp.constant(-1.0)  # s; the time of a step that has not begun


@wp.func
def _row_of(
    efc_type: wp.array2d(dtype=wp.int32),
    efc_id: wp.array2d(dtype=wp.int32),
    world: int,
    dof: int,
    ne: int,
    nf: int,
    guess: int,
) -> int:
    """The friction row of a degree of freedom, or -1; it is most often where it was."""
    for index in range(nf):
        row = ne + (wp.max(guess - ne, 0) + index) % nf
        if row < efc_type.shape[1]:  # noqa: SIM102 (Warp evaluates both sides of `and`)
            if efc_type[world, row] == _FRICTION_ROW and efc_id[world, row] == dof:
                return row
    return -1


@wp.func
def _delayed(
    goals: wp.array2d(dtype=wp.float32),
    k: int,
    newest: int,
    lag: float,
) -> float:
    """The goal `lag` steps before the newest; between two steps the share of each."""
    size = goals.shape[0]
    late = int(wp.floor(lag))
    share = lag - float(late)
    here = goals[(newest - late + 2 * size) % size, k]
    before = goals[(newest - late - 1 + 2 * size) % size, k]
    return here + share * (before - here)


@wp.kernel(enable_backward=False)
def begin_steps(  # type: ignore[no-untyped-def]
    numbers: wp.array2d(dtype=wp.float32),
    enabled: wp.array2d(dtype=wp.float32),
    delay: wp.array2d(dtype=wp.float32),
    dofs: wp.array(dtype=wp.int32),
    positions: wp.array(dtype=wp.int32),
    controls: wp.array(dtype=wp.int32),
    forces: wp.array(dtype=wp.int32),
    ranges: wp.array(dtype=wp.vec2),
    timestep: wp.array(dtype=wp.float32),
    invweight: wp.array2d(dtype=wp.float32),
    time: wp.array(dtype=wp.float32),
    ctrl: wp.array2d(dtype=wp.float32),
    qpos: wp.array2d(dtype=wp.float32),
    qvel: wp.array2d(dtype=wp.float32),
    qacc: wp.array2d(dtype=wp.float32),
    qfrc_passive: wp.array2d(dtype=wp.float32),
    qfrc_bias: wp.array2d(dtype=wp.float32),
    qfrc_applied: wp.array2d(dtype=wp.float32),
    qfrc_smooth: wp.array2d(dtype=wp.float32),
    qfrc_constraint: wp.array2d(dtype=wp.float32),
    ne: wp.array(dtype=wp.int32),
    nf: wp.array(dtype=wp.int32),
    efc_type: wp.array2d(dtype=wp.int32),
    efc_id: wp.array2d(dtype=wp.int32),
    efc_force: wp.array2d(dtype=wp.float32),
    memory: wp.array2d(dtype=wp.float32),
    following: wp.array2d(dtype=wp.float32),
    drive: wp.array2d(dtype=wp.float32),
    begun: wp.array2d(dtype=wp.float32),
    past_row: wp.array2d(dtype=wp.int32),
    goals: wp.array2d(dtype=wp.float32),
    newest: wp.array2d(dtype=wp.int32),
    actuator_force: wp.array2d(dtype=wp.float32),
    efc_frictionloss: wp.array2d(dtype=wp.float32),
    efc_D: wp.array2d(dtype=wp.float32),
    efc_aref: wp.array2d(dtype=wp.float32),
):
    """End the step before, of which engine arrays still hold the results; then begin this one."""
    world, servo = wp.tid()
    k = world * enabled.shape[1] + servo
    dof = dofs[servo]
    dt = timestep[world % timestep.shape[0]]
    now, then = time[world], begun[world, servo]
    velocity = qvel[world, dof]
    low_high = ranges[servo]
    asked = ctrl[world, controls[servo]]
    goal = 0.0  # torque is off where a control is no number, as in the plugin
    is_on = 0.0
    if wp.isfinite(asked):
        goal = wp.clamp(asked, low_high[0], low_high[1])
        is_on = enabled[world, servo]
    if now < then:
        step_law.start(numbers, memory, k)
    elif now > then and then != _NEVER:
        row = past_row[world, servo]
        friction = 0.0
        if row >= 0:
            friction = efc_force[world, row]
        push = drive[Drive.push, k]
        motor = drive[Drive.motor_torque, k]
        residual = qfrc_smooth[world, dof] - push - motor + qfrc_constraint[world, dof] - friction
        step_law.end_step(
            numbers, memory, following, drive, k, velocity, qacc[world, dof], friction, residual, dt
        )
        newest[world, servo] = (newest[world, servo] + 1) % goals.shape[0]
    if now < then or then == _NEVER:
        for index in range(goals.shape[0]):
            goals[index, k] = goal
    begun[world, servo] = now
    goals[newest[world, servo], k] = goal
    late_goal = _delayed(goals, k, newest[world, servo], delay[world, servo] / dt)
    external = qfrc_passive[world, dof] - qfrc_bias[world, dof] + qfrc_applied[world, dof]
    step_law.begin_step(
        numbers,
        memory,
        following,
        drive,
        k,
        late_goal,
        is_on,
        qpos[world, positions[servo]],
        velocity,
        external,
        dt,
    )
    actuator_force[world, forces[servo]] = drive[Drive.motor_torque, k]
    row = _row_of(efc_type, efc_id, world, dof, ne[world], nf[world], past_row[world, servo])
    past_row[world, servo] = row
    if row >= 0:
        inverse_inertia = invweight[world % invweight.shape[0], dof]
        following[Memory.inverse_inertia, k] = inverse_inertia
        compliance = _COMPLIANCE * inverse_inertia
        efc_frictionloss[world, row] = drive[Drive.friction_limit, k]
        efc_D[world, row] = 1.0 / compliance
        # To rest within this step (BAM eq. 4); the second term is how far the row gives way at rest.
        efc_aref[world, row] = -velocity / dt + compliance * memory[Memory.friction_torque, k]


@wp.kernel(enable_backward=False)
def reset_worlds(  # type: ignore[no-untyped-def]
    numbers: wp.array2d(dtype=wp.float32),
    worlds: wp.array(dtype=wp.bool),
    memory: wp.array2d(dtype=wp.float32),
    begun: wp.array2d(dtype=wp.float32),
):
    """Begin an episode in the worlds that are chosen."""
    world, servo = wp.tid()
    if worlds[world]:
        step_law.start(numbers, memory, world * begun.shape[1] + servo)
        begun[world, servo] = _NEVER
