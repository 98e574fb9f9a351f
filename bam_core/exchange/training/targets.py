# SPDX-License-Identifier: Apache-2.0
"""Files that training programs load: a servo's linear drive in the words of each of them.

Field names are those of mjlab 1.6, Isaac Lab 2.3, Newton 1.8, Genesis 1.4, MuJoCo Playground 0.2, MJX 3.17
and MuJoCo 3.x and 4.x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from xml.etree import ElementTree

from bam_core._version import __version__
from bam_core.exchange.training.drive_fit import PricedDrive
from bam_core.exchange.training.linear_drive import DriveGains, LinearDrive
from bam_core.mujoco.native import NativeServo
from bam_core.servo.model import ServoModel

Draws = Mapping[str, list[float]]
"""Joint draws of a drive: for each of `DRAWN`, one value per draw."""

PLAYGROUND_COLUMNS = ("stiffness", "damping", "effort_limit", "joint_damping", "armature", "frictionloss")
"""Columns of draws in files for Playground, as attributes of `LinearDrive`."""

DRAWN = (*PLAYGROUND_COLUMNS, "drive_damping")
"""What files randomise, as attributes of `LinearDrive`."""

Writer = Callable[[ServoModel, DriveGains, PricedDrive, Draws], str]


def mujoco_xml(servo: ServoModel, gains: DriveGains, priced: PricedDrive, draws: Draws) -> str:
    """Return MJCF with a default class, for MuJoCo and MJX: `position` actuator, joint constants."""
    drive = priced.drive
    root = ElementTree.Element("mujoco", model=servo.name)
    note = " ".join(about(servo, gains, priced)).replace("--", "-")
    root.append(ElementTree.Comment(f' {note} To use: class="{servo.name}" on joint and position. '))
    default = ElementTree.SubElement(root, "default")
    servo_class = ElementTree.SubElement(default, "default", {"class": servo.name})
    joint = {
        "armature": drive.armature,
        "damping": drive.joint_damping,
        "frictionloss": drive.frictionloss,
    }
    ElementTree.SubElement(servo_class, "joint", {name: number(value) for name, value in joint.items()})
    limit = number(drive.effort_limit)
    actuator = {
        "kp": number(drive.stiffness),
        "kv": number(drive.damping),
        "forcerange": f"-{limit} {limit}",
        "forcelimited": "true",
    }
    ElementTree.SubElement(servo_class, "position", actuator)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def mjlab(servo: ServoModel, gains: DriveGains, priced: PricedDrive, draws: Draws) -> str:
    """Return a module with mjlab's position and DC-motor actuators, and ours with the full law."""
    drive = priced.drive
    native = NativeServo(
        servo=servo, kp=gains.kp, kd=gains.kd, ki=gains.ki, supply_voltage=gains.supply_voltage
    )
    numbers = {name: float(text) for name, text in native.config().items()}
    joint = _fields(
        armature=drive.armature, frictionloss=drive.frictionloss, viscous_damping=drive.viscous_damping
    )
    return _module(
        servo,
        gains,
        priced,
        f'''
from mjlab.actuator import BuiltinPositionActuatorCfg, DcMotorActuatorCfg


def position_actuator(*target_names_expr: str) -> BuiltinPositionActuatorCfg:
    """The whole law but for friction; back-EMF is damping of the joint."""
    return BuiltinPositionActuatorCfg(
        target_names_expr=target_names_expr,
{_fields(stiffness=drive.stiffness, damping=drive.damping, effort_limit=drive.effort_limit)}
{_fields(armature=drive.armature, frictionloss=drive.frictionloss, viscous_damping=drive.joint_damping)}
    )


def dc_motor_actuator(*target_names_expr: str) -> DcMotorActuatorCfg:
    """The same with the torque-speed curve of the supply; explicit, so that steps must be short."""
    return DcMotorActuatorCfg(
        target_names_expr=target_names_expr,
{_fields(stiffness=drive.stiffness, damping=drive.drive_damping)}
{_fields(**_curve(drive))}
{joint}
    )


def servo_actuator(*target_names_expr: str, draws: str | None = None, **options):
    """The full law of the servo; needs bam_bench with mujoco-warp, see its page on training.

    Args:
        draws: npz of `bam export SERVO --draws N`: every servo gets one of them at each reset.
        options: of mjlab's ActuatorCfg, such as delay_min_lag and delay_max_lag.
    """
    from bam_core.exchange.training.mjlab_actuator import ServoActuatorCfg

    return ServoActuatorCfg(
        target_names_expr=target_names_expr, numbers=NUMBERS, draws=draws, **options
    )


NUMBERS = {{
{_lines(numbers)}
}}
"""Of the full law, SI."""
''',
    )


def isaaclab(servo: ServoModel, gains: DriveGains, priced: PricedDrive, draws: Draws) -> str:
    """Return a module with Isaac Lab's actuator configurations and ranges for its event terms."""
    drive = priced.drive
    friction = _fields(
        armature=drive.armature,
        friction=drive.frictionloss,
        dynamic_friction=drive.frictionloss,
        viscous_friction=drive.viscous_damping,
    )
    explicit = _fields(stiffness=drive.stiffness, damping=drive.drive_damping)
    ranges = {name: span(draws[name], getattr(drive, name)) for name in DRAWN}
    return _module(
        servo,
        gains,
        priced,
        f'''
import isaaclab.envs.mdp as mdp
from isaaclab.actuators import DCMotorCfg, DelayedPDActuatorCfg, ImplicitActuatorCfg
from isaaclab.managers import EventTermCfg, SceneEntityCfg


def dc_motor(joint_names_expr: list[str]) -> DCMotorCfg:
    """The motor with the torque-speed curve of its supply."""
    return DCMotorCfg(
        joint_names_expr=joint_names_expr,
{explicit}
{_fields(**_curve(drive))}
{friction}
    )


def delayed(joint_names_expr: list[str], min_delay: int, max_delay: int) -> DelayedPDActuatorCfg:
    """A PD whose goals act some physics steps late; without the torque-speed curve."""
    return DelayedPDActuatorCfg(
        joint_names_expr=joint_names_expr,
        min_delay=min_delay,
        max_delay=max_delay,
{explicit}
{_fields(effort_limit=drive.effort_limit, velocity_limit=drive.velocity_limit)}
{friction}
    )


def implicit(joint_names_expr: list[str]) -> ImplicitActuatorCfg:
    """The PD within the physics engine, for long steps."""
    return ImplicitActuatorCfg(
        joint_names_expr=joint_names_expr,
{explicit}
{_fields(effort_limit_sim=drive.effort_limit, velocity_limit_sim=drive.velocity_limit)}
{friction}
    )


def randomisation(asset: str, joint_names: list[str]) -> dict[str, EventTermCfg]:
    """Event terms at every reset: the middle 90 % of the servo's draws, as factors."""
    joints = SceneEntityCfg(asset, joint_names=joint_names)
    return {{
        "gains": EventTermCfg(
            func=mdp.randomize_actuator_gains,
            mode="reset",
            params={{
                "asset_cfg": joints,
                "operation": "scale",
                "stiffness_distribution_params": {ranges["stiffness"]},
                "damping_distribution_params": {ranges["drive_damping"]},
            }},
        ),
        "friction": EventTermCfg(
            func=mdp.randomize_joint_parameters,
            mode="reset",
            params={{
                "asset_cfg": joints,
                "operation": "scale",
                "friction_distribution_params": {ranges["frictionloss"]},
                "armature_distribution_params": {ranges["armature"]},
            }},
        ),
    }}
''',
    )


def newton(servo: ServoModel, gains: DriveGains, priced: PricedDrive, draws: Draws) -> str:
    """Return a module that adds the drive to a degree of freedom of Newton's model builder."""
    drive = priced.drive
    joint = {
        "armature": drive.armature,
        "friction": drive.frictionloss,
        "damping": drive.viscous_damping,
    }
    curve = _curve(drive)
    clamp = {
        "saturation_effort": curve["saturation_effort"],
        "velocity_limit": curve["velocity_limit"],
        "max_motor_effort": curve["effort_limit"],
    }
    return _module(
        servo,
        gains,
        priced,
        f'''
import newton
from newton.actuators import ClampingDCMotor, DrivePD

JOINT = {_dictionary(joint)}
"""For `newton.ModelBuilder.JointDofConfig`, or the arrays joint_armature, joint_friction, joint_damping."""


def add_servo(builder: newton.ModelBuilder, dof: int, delay_steps: int | None = None) -> None:
    """Drive a degree of freedom; `delay_steps` physics steps lie between goal and torque."""
    builder.joint_armature[dof] = JOINT["armature"]
    builder.joint_friction[dof] = JOINT["friction"]
    builder.joint_damping[dof] = JOINT["damping"]
    builder.add_actuator(
        DrivePD,
        index=dof,
        clamping=[(ClampingDCMotor, {_dictionary(clamp)})],
        delay_steps=delay_steps,
        kp={number(drive.stiffness)},
        kd={number(drive.drive_damping)},
    )
''',
    )


def genesis(servo: ServoModel, gains: DriveGains, priced: PricedDrive, draws: Draws) -> str:
    """Return a module that sets the drive on degrees of freedom of a Genesis entity."""
    drive = priced.drive
    return _module(
        servo,
        gains,
        priced,
        f'''
from collections.abc import Sequence

import numpy as np


def set_servo(entity, dofs_idx_local: Sequence[int]) -> None:
    """Set gains, limits and friction on degrees of freedom of a built scene's entity."""
    ones = np.ones(len(dofs_idx_local))
    entity.set_dofs_kp({number(drive.stiffness)} * ones, dofs_idx_local)
    entity.set_dofs_kv({number(drive.damping)} * ones, dofs_idx_local)
    limit = {number(drive.effort_limit)} * ones
    entity.set_dofs_force_range(-limit, limit, dofs_idx_local)
    entity.set_dofs_armature({number(drive.armature)} * ones, dofs_idx_local)
    entity.set_dofs_damping({number(drive.joint_damping)} * ones, dofs_idx_local)
    entity.set_dofs_frictionloss({number(drive.frictionloss)} * ones, dofs_idx_local)
''',
    )


def playground(servo: ServoModel, gains: DriveGains, priced: PricedDrive, draws: Draws) -> str:
    """Return a module with a `domain_randomize(model, rng)` of MuJoCo Playground, from joint draws."""
    rows = zip(*(draws[name] for name in PLAYGROUND_COLUMNS), strict=True)
    table = ",\n".join("        [" + ", ".join(number(value) for value in row) + "]" for row in rows)
    return _module(
        servo,
        gains,
        priced,
        f'''
from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jp

if TYPE_CHECKING:
    from mujoco import mjx

DOFS = None  # which degrees of freedom have this servo, as in jp.arange(6, 12); None: those of actuators
ACTUATORS = None  # which actuators; None: all

# One row per draw: {", ".join(PLAYGROUND_COLUMNS)}. A row is drawn whole, for its values belong together.
DRAWS = jp.array(
    [
{table},
    ]
)


def domain_randomize(model: mjx.Model, rng: jax.Array):
    """Return a model with one draw per servo and environment, and the axes for `jax.vmap`."""
    actuators = jp.arange(model.nu) if ACTUATORS is None else ACTUATORS
    dofs = jp.asarray(model.actuator_trnid)[actuators, 0] if DOFS is None else DOFS
    if DOFS is None:
        dofs = jp.asarray(model.jnt_dofadr)[dofs]

    @jax.vmap
    def draw(key):
        rows = DRAWS[jax.random.randint(key, (len(actuators),), 0, len(DRAWS))]
        stiffness, damping, limit, joint_damping, armature, frictionloss = rows.T
        bias = model.actuator_biasprm.at[actuators, 1].set(-stiffness).at[actuators, 2].set(-damping)
        return (
            model.actuator_gainprm.at[actuators, 0].set(stiffness),
            bias,
            model.actuator_forcerange.at[actuators].set(jp.stack([-limit, limit], axis=1)),
            model.dof_damping.at[dofs].set(joint_damping),
            model.dof_armature.at[dofs].set(armature),
            model.dof_frictionloss.at[dofs].set(frictionloss),
        )

    names = (
        "actuator_gainprm",
        "actuator_biasprm",
        "actuator_forcerange",
        "dof_damping",
        "dof_armature",
        "dof_frictionloss",
    )
    axes = jax.tree_util.tree_map(lambda _: None, model)
    axes = axes.tree_replace(dict.fromkeys(names, 0))
    return model.tree_replace(dict(zip(names, draw(rng), strict=True))), axes
''',
    )


TARGETS: Mapping[str, tuple[str, Writer]] = MappingProxyType(
    {
        "mjlab": (".py", mjlab),
        "isaaclab": (".py", isaaclab),
        "newton": (".py", newton),
        "genesis": (".py", genesis),
        "playground": (".py", playground),
        "mjx": (".xml", mujoco_xml),
        "mujoco": (".xml", mujoco_xml),
    }
)
"""Programs by name: the suffix of their file, and what writes it."""


def about(servo: ServoModel, gains: DriveGains, priced: PricedDrive) -> list[str]:
    """Return the lines that every file begins with: what it is, and what it costs."""
    others = "".join(f", {name} {gain:g}" for name, gain in (("ki", gains.ki), ("kd", gains.kd)) if gain)
    supply = servo.nominal_voltage if gains.supply_voltage is None else gains.supply_voltage
    return [
        f"{servo.title} at kp {gains.kp:g}{others} and {supply:g} V, written by bam_bench {__version__}.",
        f"Constant friction in place of {servo.friction_model}, fitted to {', '.join(priced.motions)}:",
        f"{1e3 * priced.errors['fitted']:.2g} mrad from the whole law on the mean, with other loads.",
    ]


def number(value: float) -> str:
    """Return a number as these files have it: seven digits, more than float32 holds."""
    return repr(float(f"{value:.7g}"))


def span(draws: list[float], middle: float) -> tuple[float, float]:
    """Return the middle 90 % of draws as factors of a value."""
    if middle == 0.0:
        return (1.0, 1.0)
    ordered = sorted(draws)
    low, high = (ordered[round(share * (len(ordered) - 1))] / middle for share in (0.05, 0.95))
    return (round(low, 4), round(high, 4))


def _curve(drive: LinearDrive) -> dict[str, float]:
    return {
        "saturation_effort": drive.saturation_effort,
        "velocity_limit": drive.velocity_limit,
        "effort_limit": drive.effort_limit,
    }


def _fields(**values: float) -> str:
    return "\n".join(f"        {name}={number(value)}," for name, value in values.items())


def _dictionary(values: Mapping[str, float]) -> str:
    return "{" + ", ".join(f'"{name}": {number(value)}' for name, value in values.items()) + "}"


def _lines(values: Mapping[str, float]) -> str:
    return "\n".join(f'    "{name}": {number(value)},' for name, value in values.items())


def _module(servo: ServoModel, gains: DriveGains, priced: PricedDrive, body: str) -> str:
    lines = about(servo, gains, priced)
    return '"""' + lines[0] + "\n\n" + "\n".join(lines[1:]) + '\n"""\n' + body
