# SPDX-License-Identifier: Apache-2.0
"""The same arm as `mujoco.sysid` finds it: position actuators, joint damping, dry friction and armature.

Its best settings are looked for as an experienced user would: parameters shared by joints of one type or
each joint's own, with and without the masses of bodies, always with a delay and the zero of every encoder.
Which of these serves best is decided on a run that is held out of the fit and is no test.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco import sysid

from bam_core.errors import MissingSoftware
from bam_core.robot.run import RobotRun
from bam_core.servo.model import load_servo
from studies.robot_arm.arm import BODIES, JOINTS, six_joint_arm
from studies.robot_arm.hidden import joint_types

_STEP = 2e-3  # s
_ITERATIONS = 40  # it comes to rest within 30
_DELAY = 0.03  # s, at most


@dataclass(frozen=True, kw_only=True)
class PeerSettings:
    """What is left free.

    Attributes:
        own: each joint has its own parameters; else joints of one type share theirs.
        masses: bodies may be heavier or lighter than described, by 10 %.
    """

    own: bool
    masses: bool


ALL_SETTINGS = tuple(
    PeerSettings(own=own, masses=masses) for own, masses in itertools.product((False, True), repeat=2)
)


@dataclass(frozen=True, kw_only=True, eq=False)
class PeerFit:
    """What was found.

    Attributes:
        settings: those that served best.
        parameters: of `mujoco.sysid`.
        transform: delay and zeros.
    """

    settings: PeerSettings
    parameters: sysid.ParameterDict
    transform: sysid.SignalTransform

    def error(self, runs: Sequence[RobotRun]) -> float:
        """Return the mean absolute error over runs, joints and samples, rad."""
        residual = sysid.build_residual_fn(
            models_sequences=[_sequence(run) for run in runs], modify_residual=self.transform.apply
        )
        off, _, _ = residual(self.parameters.as_vector(), self.parameters)
        return float(np.mean([np.abs(errors).mean() for errors in off]))


def require_peer() -> None:
    """Raise MissingSoftware where `mujoco.sysid` lacks what it needs."""
    if not hasattr(sysid, "optimize"):  # it comes with MuJoCo, and is empty without its own dependencies
        raise MissingSoftware(
            "mujoco.sysid",
            "mujoco[sysid]",
            problem="is not complete (expected the packages of MuJoCo's extra sysid)",
            advice=f"install them, with: {sys.executable} -m pip install 'mujoco[sysid]'",
        )


def best_fit(runs: Sequence[RobotRun], progress: Callable[[str], None] = lambda words: None) -> PeerFit:
    """Fit all settings but for the last run, choose by the last run, and fit the chosen to all runs."""
    tried = []
    for settings in ALL_SETTINGS:
        fitted = fit(runs[:-1], settings)
        tried.append((fitted.error(runs[-1:]), settings))
        progress(f"mujoco.sysid, {settings}: {1e3 * tried[-1][0]:.2f} mrad on the run held out")
    return fit(runs, min(tried, key=lambda attempt: attempt[0])[1])


def fit(runs: Sequence[RobotRun], settings: PeerSettings) -> PeerFit:
    """Fit one of the settings to runs."""
    parameters, transform = sysid.ParameterDict(), sysid.SignalTransform(normalize=False)
    for parameter in _actuators(settings):
        parameters.add(parameter)
    if settings.masses:
        spec = six_joint_arm()
        for body in BODIES:
            mass = float(spec.body(body).first_geom().mass)
            parameters.add(free_parameter(f"mass {body}", mass, 0.9 * mass, 1.1 * mass, _set_mass, (body,)))
    delay = sysid.Parameter("delay", 0.005, 0.0, _DELAY)
    parameters.add(delay)
    transform.delay("*", delay)
    for joint in JOINTS:
        zero = sysid.Parameter(f"zero {joint}", 0.0, -0.1, 0.1)
        parameters.add(zero)
        transform.bias(f"{joint}_pos", zero, target="predicted")
    residual = sysid.build_residual_fn(
        models_sequences=[_sequence(run) for run in runs], modify_residual=transform.apply
    )
    with contextlib.redirect_stdout(io.StringIO()):  # a line per step, which nothing switches off
        optimum, _ = sysid.optimize(parameters, residual, max_iters=_ITERATIONS, verbose=False, x_scale="jac")
    return PeerFit(settings=settings, parameters=optimum, transform=transform)


def _actuators(settings: PeerSettings) -> list[sysid.Parameter]:
    """Return stiffness, damping, dry friction and armature of joints or types, from the library's on."""
    types = joint_types()
    groups = (
        {joint: (joint,) for joint in JOINTS}
        if settings.own
        else {name: tuple(joint for joint in JOINTS if types[joint] == name) for name in set(types.values())}
    )
    actuators = []
    for name, joints in groups.items():
        servo = load_servo(types[joints[0]])
        motor, law = servo.motor, servo.friction
        per_volt = motor.torque_constant / motor.resistance
        stiffness = per_volt * 14.0 * float(servo.firmware.gains(1.0)[0])
        damping = per_volt * motor.torque_constant + law.viscous
        dry = law.coulomb + law.stribeck_coulomb
        for what, start, most, change in (
            ("stiffness", stiffness, 10.0 * stiffness, _set_stiffness),
            ("damping", damping, 10.0 * damping, set_damping),
            ("friction", dry, 20.0 * dry, set_friction),
            ("armature", motor.armature, 10.0 * motor.armature, set_armature),
        ):
            actuators.append(free_parameter(f"{what} {name}", start, 0.0, most, change, joints))
    return actuators


def _sequence(run: RobotRun) -> sysid.ModelSequences:
    spec = six_joint_arm()
    spec.option.timestep = _STEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.add_numeric(name="kp", data=[run.kp])
    for joint in JOINTS:
        actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=1.0)
        spec.add_sensor(
            name=f"{joint}_pos",
            type=mujoco.mjtSensor.mjSENS_JOINTPOS,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            objname=joint,
        )
    model = spec.compile()
    columns = [run.column(joint) for joint in JOINTS]
    control = sysid.TimeSeries.from_control_names(
        times=run.time, data=run.goal_position[:, columns], model=model, names=[*JOINTS]
    )
    measured = sysid.TimeSeries.from_names(
        times=run.time, data=run.position[:, columns], model=model, names=[f"{joint}_pos" for joint in JOINTS]
    )
    return sysid.ModelSequences(
        name=run.name,
        spec=spec,
        sequence_name=run.name,
        initial_state=sysid.create_initial_state(model, run.position[0, columns]),
        control=control,
        sensordata=measured,
    )


def free_parameter(
    name: str,
    start: float,
    low: float,
    high: float,
    change: Callable[[mujoco.MjSpec, str, float], None],
    places: Sequence[str],
) -> sysid.Parameter:
    """Return an unknown between two limits, which sets the same value in several places of a description."""

    def modifier(spec: mujoco.MjSpec, parameter: sysid.Parameter) -> None:
        for place in places:
            change(spec, place, float(parameter.value[0]))

    return sysid.Parameter(name, start, low, high, modifier=modifier)


def _set_stiffness(spec: mujoco.MjSpec, joint: str, value: float) -> None:
    actuator = spec.actuator(joint)
    gain = value * spec.numeric("kp").data[0]
    actuator.gainprm[0], actuator.biasprm[1] = gain, -gain


def set_damping(spec: mujoco.MjSpec, joint: str, value: float) -> None:
    """Set the viscous friction of a joint, N·m·s/rad."""
    spec.joint(joint).damping = [value, 0.0, 0.0]  # linear, quadratic and cubic in the speed


def set_friction(spec: mujoco.MjSpec, joint: str, value: float) -> None:
    """Set the dry friction of a joint, N·m."""
    spec.joint(joint).frictionloss = value


def set_armature(spec: mujoco.MjSpec, joint: str, value: float) -> None:
    """Set the armature of a joint, kg·m²."""
    spec.joint(joint).armature = value


def _set_mass(spec: mujoco.MjSpec, body: str, value: float) -> None:
    (geom,) = spec.body(body).geoms
    geom.mass = value
