# SPDX-License-Identifier: Apache-2.0
"""The two systems of Kikuuwe's section 6: a rod that meets a spring, and a two-link robot that pushes a wall.

What the paper does not say is chosen here: where the rod starts, how stiff the wall is, and which way the
robot's elbow points.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.gears.gear import Gear
from bam_core.gears.robot import GearedRobot, JointGear
from bam_core.servo.asymmetry import Asymmetry
from bam_core.servo.friction import Friction

TIMESTEP = 1e-3
"""h, s."""

ROD_START = 0.5
"""rad; where the rod starts, at rest. Not in the paper."""

ROD_STIFFNESS, ROD_VISCOSITY = 10_000.0, 10.0  # K_e, N·m/rad; B_e, N·m·s/rad

WALL_STIFFNESS = 10_000.0
"""N/m. Not in the paper; as stiff per metre as the rod's spring per radian."""

ELBOW_IN, ELBOW_OUT = (math.pi / 3.0, -math.pi / 6.0), (math.pi / 6.0, math.pi / 6.0)
"""rad; both put the hand at x = 1.366 m, which the paper rounds to 1.37: links at 60° and 30°."""

WALL_RETREAT = 0.25
"""m; 1.37 m less 1.12 m."""

PUSH = 500.0
"""N; magnitude of f_ux."""

_TWO_LINKS = """
<mujoco model="two_links">
  <compiler angle="radian"/>
  <option gravity="0 0 0" timestep="{timestep}"/>
  <default><joint axis="0 0 1" damping="5" armature="1"/></default>
  <worldbody>
    <body name="upper">
      <joint name="shoulder"/>
      <inertial pos="1 0 0" mass="1" diaginertia="1e-12 1e-12 1e-12"/>
      <body name="fore" pos="1 0 0">
        <joint name="elbow"/>
        <inertial pos="1 0 0" mass="1" diaginertia="1e-12 1e-12 1e-12"/>
        <site name="hand" pos="1 0 0"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@dataclass(frozen=True, kw_only=True)
class RodRun:
    """What the rod did (fig. 9), every step of time.

    Attributes:
        gear: that drove it.
        time: (n,) s.
        drive: f_u, (n,) N·m.
        position: p, (n,) rad.
        velocity: (n,) rad/s.
        contact: f_v, (n,) N·m, from rod to environment; negative where it presses on the spring.
    """

    gear: Gear
    time: Array
    drive: Array
    position: Array
    velocity: Array
    contact: Array


def rod_drive(time: float) -> float:
    """Return f_u of section 6.1, N·m, at a time in s."""
    return -40.0 if time < 0.9 else 0.0 if time < 1.4 else 20.0


def rod_gear(output_side: float) -> Gear:
    """Return the gear of section 6.1 with a γ_v."""
    return Gear(
        asymmetry=Asymmetry(input_side=0.2, output_side=output_side), input_inertia=1.0, output_inertia=1.0
    )


def run_rod(
    gear: Gear | float, *, start: float = ROD_START, duration: float = 2.0, timestep: float = TIMESTEP
) -> RodRun:
    """Simulate section 6.1 by (44).

    Args:
        gear: between motor and rod, or γ_v of that of the paper.
        start: position at first, rad.
        duration: s.
        timestep: h, s.
    """
    gear = gear if isinstance(gear, Gear) else rod_gear(gear)
    count = round(duration / timestep)
    time: Array = timestep * np.arange(1, count + 1, dtype=np.float64)
    drive, position, velocity, contact = (np.empty(count) for _ in range(4))
    p, v = start, 0.0
    for k in range(count):
        drive[k] = rod_drive(time[k])
        contact[k] = min(ROD_STIFFNESS * p, 0.0) + ROD_VISCOSITY * v
        v = gear.step(v, drive[k], contact[k], timestep).velocity
        p += timestep * v
        position[k], velocity[k] = p, v
    return RodRun(gear=gear, time=time, drive=drive, position=position, velocity=velocity, contact=contact)


@dataclass(frozen=True, kw_only=True)
class WallRun:
    """What the robot did (figs. 11, 12), every millisecond.

    Attributes:
        output_side: γ_v of shoulder and elbow.
        time: (n,) s.
        joints: q, (n, 2) rad.
        hand: (n, 2) m, x and y.
        wall: w_x, (n,) m.
        force: (n,) N, from the wall on the hand, zero or less.
        gain: largest σ_max(P) of the run.
    """

    output_side: tuple[float, float]
    time: Array
    joints: Array
    hand: Array
    wall: Array
    force: Array
    gain: float


def wall_drive(time: float) -> float:
    """Return f_ux of section 6.2, N, at a time in s."""
    return 0.0 if time < 0.5 or 2.0 <= time < 2.5 else PUSH if time < 2.0 else -PUSH


def wall_place(time: float, first: float) -> float:
    """Return w_x of section 6.2, m, at a time in s, of a wall that starts at `first`."""
    return first - WALL_RETREAT * min(max((time - 1.0) / 0.5, 0.0), 1.0)


def two_links() -> mujoco.MjModel:
    """Return the robot of fig. 10: links of 1 m, 1 kg at the end of each, rotors of 1 kg·m², 5 N·m·s/rad."""
    return mujoco.MjModel.from_xml_string(_TWO_LINKS.format(timestep=TIMESTEP))


def run_wall(
    output_side: tuple[float, float],
    *,
    start: tuple[float, float] = ELBOW_IN,
    stiffness: float = WALL_STIFFNESS,
    friction: float | None = None,
    duration: float = 3.0,
    watch: Callable[[GearedRobot], None] = lambda robot: None,
) -> WallRun:
    """Simulate section 6.2 by (69), with M(q) and h from MuJoCo.

    Args:
        output_side: γ_v of shoulder and elbow; γ_u is 0.1.
        start: q at first, rad.
        stiffness: K of the wall, N/m.
        friction: Coulomb friction of both joints, N·m, in place of gears; default: gears.
        duration: s.
        watch: called after every step.
    """
    model = two_links()
    data = mujoco.MjData(model)
    data.qpos[:] = start
    mujoco.mj_forward(model, data)
    hand = model.site("hand").id
    first = float(data.site_xpos[hand, 0])
    gears = {
        name: JointGear(asymmetry=Asymmetry(input_side=0.1, output_side=side))
        if friction is None
        else JointGear(
            asymmetry=Asymmetry(input_side=0.0, output_side=0.0), friction=Friction(coulomb=friction)
        )
        for name, side in zip(("shoulder", "elbow"), output_side, strict=True)
    }
    robot = GearedRobot(model, data, gears)
    count = round(duration / TIMESTEP)
    time: Array = TIMESTEP * np.arange(1, count + 1, dtype=np.float64)
    joints, places = np.empty((count, 2)), np.empty((count, 2))
    wall, force = np.empty(count), np.empty(count)
    jacobian, gain = np.empty((3, 2)), 0.0
    for k in range(count):
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_jacSite(model, data, jacobian, None, hand)
        places[k], joints[k] = data.site_xpos[hand, :2], data.qpos
        wall[k] = wall_place(time[k], first)
        force[k] = -stiffness * max(places[k, 0] - wall[k], 0.0)
        data.qfrc_applied[:] = jacobian[0] * force[k]
        gain = max(gain, robot.step(jacobian[0] * wall_drive(time[k])).gain)
        watch(robot)
    return WallRun(
        output_side=output_side, time=time, joints=joints, hand=places, wall=wall, force=force, gain=gain
    )
