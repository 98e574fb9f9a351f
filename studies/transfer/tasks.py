# SPDX-License-Identifier: Apache-2.0
"""Two tasks: swing a load to a mark with a 2R arm, and reach with an arm like the SO-101."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.mujoco.robot_file import load_robot

ROBOTS = Path(__file__).parents[2] / "config" / "robots"
STEP = 2e-3  # s, of the physics
ACTION_STEPS = 10  # physics steps per action: 50 Hz


@dataclass(frozen=True, kw_only=True)
class Task:
    """Bring the tip from rest to a mark, and keep it there.

    Attributes:
        name: key in TASKS.
        title: for people.
        servo: of every joint that moves, name in the library.
        kp, kd: gains of the firmware.
        robot: description in `config/robots`.
        joints: that the policy moves.
        still: joints that are removed; their bodies are fixed.
        tip: site.
        start: posture (joints,) in which the arm rests, rad.
        low, high: of the postures (joints,) whose tip positions are marks, rad.
        duration: of an episode, s.
        arrival: from when on the distance counts, s.
        reached: largest distance of a success at any time from `arrival` on, m.
    """

    name: str
    title: str
    servo: str
    kp: float
    kd: float
    robot: str
    joints: tuple[str, ...]
    still: tuple[str, ...]
    tip: str
    start: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    duration: float
    arrival: float
    reached: float

    @property
    def actions(self) -> int:
        """Actions of an episode."""
        return round(self.duration / (STEP * ACTION_STEPS))

    @property
    def first_counted(self) -> int:
        """The first action whose end counts."""
        return round(self.arrival / (STEP * ACTION_STEPS))

    def spec(self) -> mujoco.MjSpec:
        """Return the robot with a sensor of its tip, and without servos."""
        spec = load_robot(ROBOTS / self.robot)
        for name in self.still:
            spec.delete(spec.joint(name))
        for actuator in list(spec.actuators):
            spec.delete(actuator)
        spec.option.timestep = STEP
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.add_sensor(
            name="tip_position",
            type=mujoco.mjtSensor.mjSENS_FRAMEPOS,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            objname=self.tip,
        )
        return spec

    def marks(self, count: int, random: np.random.Generator) -> Marks:
        """Return marks that the arm can reach."""
        model = self.spec().compile()
        data = mujoco.MjData(model)
        postures = random.uniform(self.low, self.high, (count, len(self.joints)))
        tips, gravity = np.empty((count, 3)), np.empty_like(postures)
        for row, posture in enumerate(postures):
            data.qpos[:], data.qvel[:] = posture, 0.0
            mujoco.mj_forward(model, data)
            tips[row], gravity[row] = data.sensordata, data.qfrc_bias
        return Marks(postures=postures, tips=tips, gravity=gravity)


@dataclass(frozen=True, kw_only=True)
class Marks:
    """Where tips are to go.

    Attributes:
        postures: (marks, joints) rad.
        tips: (marks, 3) m.
        gravity: (marks, joints) torque that holds the described arm there, N·m.
    """

    postures: Array
    tips: Array
    gravity: Array

    def __getitem__(self, rows: NDArray[np.integer[Any]]) -> Marks:
        return Marks(postures=self.postures[rows], tips=self.tips[rows], gravity=self.gravity[rows])


TASKS: Mapping[str, Task] = MappingProxyType(
    {
        task.name: task
        for task in (
            Task(
                name="swing",
                title="2R arm swings a load to a mark",
                servo="mx106",
                kp=8.0,
                kd=0.0,
                robot="dynamixel_2r.xml",
                joints=("shoulder", "elbow"),
                still=(),
                tip="tip",
                start=(0.0, 0.0),
                low=(0.5, -0.8),
                high=(1.3, 0.8),
                duration=1.0,
                arrival=0.6,
                reached=0.003,
            ),
            Task(
                name="reach",
                title="SO-101-like arm reaches",
                servo="sts3215",
                kp=16.0,
                kd=32.0,
                robot="so101_like.xml",
                joints=("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex"),
                still=("wrist_roll", "gripper"),
                tip="fingertips",
                start=(0.0, 0.0, 0.0, 0.0),
                low=(-0.8, -0.2, -0.7, -0.8),
                high=(0.8, 1.0, 0.7, 0.8),
                duration=1.0,
                arrival=0.6,
                reached=0.005,
            ),
        )
    }
)
"""Tasks by name."""
