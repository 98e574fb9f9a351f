# SPDX-License-Identifier: Apache-2.0
"""What servos in MuJoCo Warp need of a compiled model: its actuators, its options, and a stable step."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco

from bam_core.errors import Conflict, Missing, OutOfRange, UnknownName, Unsupported

_INTEGRATORS = (
    mujoco.mjtIntegrator.mjINT_EULER,
    mujoco.mjtIntegrator.mjINT_IMPLICIT,
    mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
)


def actuator_of(model: mujoco.MjModel, joint: str) -> int:
    """Return the number of the actuator by which a servo acts on a joint."""
    names = [model.joint(number).name for number in range(model.njnt)]
    if joint not in names:
        raise UnknownName("joint", joint, [name for name in names if name])
    for actuator in range(getattr(model, "nactuator", model.nu)):  # MuJoCo 3 has one control for each
        acts = model.actuator_trntype[actuator] == mujoco.mjtTrn.mjTRN_JOINT
        is_user = model.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_USER
        if acts and is_user and model.actuator_trnid[actuator, 0] == model.joint(joint).id:
            return actuator
    raise Missing(f"joint '{joint}'", "an actuator of equip_warp", advice="call it before compiling")


def controls_of(model: mujoco.MjModel, actuators: list[int]) -> list[int]:
    """Return the first control of each actuator; in MuJoCo 3 it bears the actuator's number."""
    addresses = getattr(model, "actuator_ctrladr", None)
    return actuators if addresses is None else [int(addresses[actuator]) for actuator in actuators]


def require_options(model: mujoco.MjModel) -> None:
    """Refuse options of a model in which friction would not hold, or a step would not be one."""
    if model.opt.solver != mujoco.mjtSolver.mjSOL_NEWTON:
        raise Unsupported(
            "option solver", "is not Newton", expected="friction that holds still", advice='set "Newton"'
        )
    if model.opt.integrator not in _INTEGRATORS:
        raise Unsupported(
            "option integrator",
            "evaluates a step more than once, or changes friction rows",
            expected="Euler, implicit or implicitfast",
            advice='set "Euler"',
        )
    flags = mujoco.mjtDisableBit
    for flag, name in ((flags.mjDSBL_FRICTIONLOSS, "frictionloss"), (flags.mjDSBL_ACTUATION, "actuation")):
        if model.opt.disableflags & flag:
            raise Conflict(f"option flag {name}", "is disabled", advice='set it to "enable"')
    if model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP:
        raise Unsupported("option flag sleep", "puts servos to sleep", expected='"disable"', advice="set it")


def require_stable(model: mujoco.MjModel, name: str, joint: int, values: Mapping[str, float]) -> None:
    """Refuse a time step that is unstable with back-EMF and inertia, as the plugin does."""
    constant, resistance = values["torque_constant"], values["resistance"]
    dof = model.jnt_dofadr[joint]
    if not model.dof_frictionloss[dof] > 0.0:
        raise Missing(f"joint '{name}'", "frictionloss above 0", advice="call equip_warp before compiling")
    longest = resistance / (constant**2 * model.dof_invweight0[dof])
    if model.opt.timestep >= longest:
        raise OutOfRange(
            f"joint '{name}', timestep",
            float(model.opt.timestep),
            f"below {longest:.2g} s, for its back-EMF and inertia",
        )
