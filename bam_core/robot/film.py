# SPDX-License-Identifier: Apache-2.0
"""A film of a measured robot, as a translucent ghost, against the simulated one, drawn by MuJoCo.

Nobody measured where a floating base was: the ghost stands on the simulated base.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Unsupported
from bam_core.files.atomic_file import write_bytes
from bam_core.mujoco.film import FILM_RATE, Frame, add_sky, film, open_renderer, require_film
from bam_core.mujoco.robot import compile_robot
from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.servo.model import ServoModel

_GHOST = np.array([0.15, 0.45, 0.95, 0.35], dtype=np.float32)  # blue, so that it is told from a grey robot
_FLOOR = [0.85, 0.87, 0.9, 1.0]
_MARGIN = 1.05  # of what is seen around what moves
_AZIMUTH, _ELEVATION = 130.0, -12.0  # degrees; from the front, where x points forwards
_MOMENTS = 20  # at which the size of what moves is taken


@dataclass(frozen=True, kw_only=True, eq=False)
class Postures:
    """What a film shows.

    Attributes:
        time: (n,) s.
        simulated: (n, nq) generalised positions.
        measured: likewise; what was not measured is as simulated.
    """

    time: Array
    simulated: Array
    measured: Array


def write_robot_film(
    bench: RobotBench,
    run: RobotRun,
    servos: Mapping[str, ServoModel],
    path: str | os.PathLike[str],
    deviations: RobotDeviations = NO_DEVIATIONS,
) -> None:
    """Film the part of a run that counts, at its own speed.

    Args:
        bench: the robot.
        run: to show.
        servos: by joint.
        path: of the film, .gif or .mp4.
        deviations: of this robot.

    Raises:
        BamError: see `film.require_film`, `film.open_renderer` and `RobotBench.simulate`.
    """
    path = Path(path)
    require_film(path)
    model = scene(bench)
    postures = postures_of(bench, model, run, servos, deviations)
    write_bytes(path, film(_frames(model, postures, FILM_RATE[path.suffix]), path.suffix))


def scene(bench: RobotBench) -> mujoco.MjModel:
    """Return the robot to look at: before a light background, on a light floor."""
    spec = bench.spec.copy()
    add_sky(spec)
    for geom in spec.geoms:
        if geom.type == mujoco.mjtGeom.mjGEOM_PLANE and not geom.material:
            geom.rgba = _FLOOR
    spec.visual.headlight.ambient = [0.5, 0.5, 0.5]
    spec.visual.headlight.diffuse = [0.6, 0.6, 0.6]
    return compile_robot(spec)


def postures_of(
    bench: RobotBench,
    model: mujoco.MjModel,
    run: RobotRun,
    servos: Mapping[str, ServoModel],
    deviations: RobotDeviations = NO_DEVIATIONS,
) -> Postures:
    """Return where robot and ghost are at the samples of a run that count.

    Args:
        bench: the robot.
        model: what is drawn, of the same description.
        run: to follow.
        servos: by joint.
        deviations: of this robot; angles are without the encoders' zeros.
    """
    simulated = bench.postures(run, servos, deviations)[run.counts]
    measured = simulated.copy()
    for joint in run.joints:
        address = model.joint(joint).qposadr[0]
        zero = deviations.zero.get(joint, 0.0)
        measured[:, address] = run.position[run.counts, run.column(joint)] - zero
    return Postures(time=run.time[run.counts], simulated=simulated, measured=measured)


def _frames(model: mujoco.MjModel, postures: Postures, rate: float) -> Iterator[Frame]:
    robot, ghost = mujoco.MjData(model), mujoco.MjData(model)
    camera = _camera(model, postures)
    option, perturbation = _option(model), mujoco.MjvPerturb()
    renderer = open_renderer(model)
    try:
        for time in np.arange(postures.time[0], postures.time[-1], 1.0 / rate):
            sample = min(int(np.searchsorted(postures.time, time)), len(postures.time) - 1)
            for data, positions in ((robot, postures.simulated), (ghost, postures.measured)):
                data.qpos[:] = positions[sample]
                mujoco.mj_forward(model, data)
            renderer.update_scene(robot, camera=camera, scene_option=option)
            begin = renderer.scene.ngeom
            moving = mujoco.mjtCatBit.mjCAT_DYNAMIC
            mujoco.mjv_addGeoms(model, ghost, option, perturbation, moving, renderer.scene)
            for number in range(begin, renderer.scene.ngeom):
                renderer.scene.geoms[number].rgba = _GHOST
                renderer.scene.geoms[number].matid = -1
            yield renderer.render().copy()
    finally:
        renderer.close()


def _option(model: mujoco.MjModel) -> mujoco.MjvOption:
    """Return what is drawn: a robot without meshes for the eye is seen by its contacts' geoms."""
    option = mujoco.MjvOption()
    bodies = model.geom_bodyid > 0  # not the floor
    shown = np.asarray(option.geomgroup, dtype=bool)[model.geom_group]
    if bodies.any() and not (bodies & shown).any():
        option.geomgroup[:] = 1
    return option


def _camera(model: mujoco.MjModel, postures: Postures) -> mujoco.MjvCamera:
    """Return a camera that stands still and sees the robot in all its postures."""
    seen = [number for number in range(model.ngeom) if model.geom_type[number] != mujoco.mjtGeom.mjGEOM_PLANE]
    if not seen:
        raise Unsupported(
            "film",
            "its robot has no shapes, only joints and masses",
            expected="a description with geoms",
            advice="give one whose meshes are there",
        )
    data = mujoco.MjData(model)
    centres = []
    for sample in np.linspace(0, len(postures.time) - 1, _MOMENTS).round().astype(int):
        for positions in (postures.simulated, postures.measured):
            data.qpos[:] = positions[sample]
            mujoco.mj_kinematics(model, data)
            centres.append(data.geom_xpos[seen])
    radii = np.tile(model.geom_rbound[seen], len(centres))[:, None]
    points = np.concatenate(centres)
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE
    camera.lookat = 0.5 * ((points - radii).min(axis=0) + (points + radii).max(axis=0))
    reach = float((np.linalg.norm(points - camera.lookat, axis=1) + radii[:, 0]).max())
    camera.distance = _MARGIN * reach / math.sin(math.radians(0.5 * float(model.vis.global_.fovy)))
    camera.azimuth, camera.elevation = _AZIMUTH, _ELEVATION
    return camera
