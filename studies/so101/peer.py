# SPDX-License-Identifier: Apache-2.0
"""The arm as `mujoco.sysid` finds it: position actuators, joint damping, dry friction and armature.

Its settings are those of `studies.robot_arm.peer`: parameters shared by all joints or each joint's own, with
and without the masses of bodies, always with a delay and the zero of every encoder. They are chosen on two
of the runs to fit, which take no part in that fit. Then the chosen settings are fitted to all of them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from mujoco import sysid

from bam_core.arrays import Array
from bam_core.errors import BamError
from bam_core.robot.run import RobotRun
from studies.robot_arm.peer import (
    PeerSettings,
    free_parameter,
    require_peer,
    set_armature,
    set_damping,
    set_friction,
)
from studies.so101.table import Arm

_STEP = 4e-3  # s
_ITERATIONS = 10  # more were not tried
_DELAY = 0.06  # s, at most: three periods of the recordings
_CHOICE = ("random_waypoints", "large_amplitude")  # of the runs to fit; chosen before the first fit
_CHOICE_LENGTH = 40.0  # s, of each run while settings are chosen
_SMOOTH = 5.0  # N·m·s/rad, damping at most
_STIFF, _DRY, _HEAVY = 200.0, 2.0, 0.3  # N·m/rad, N·m, kg·m²: at most


@dataclass(frozen=True, kw_only=True, eq=False)
class PeerArm:
    """The description, and what of it is free.

    Attributes:
        spec: the description.
        joints: that were recorded as angles.
        settings: what is left free.
    """

    spec: mujoco.MjSpec
    joints: Sequence[str]
    settings: PeerSettings

    def parameters(self) -> tuple[sysid.ParameterDict, sysid.SignalTransform]:
        """Return the unknowns, from the description's values on, and delay and zeros of the readings."""
        parameters, transform = sysid.ParameterDict(), sysid.SignalTransform(normalize=False)
        groups = {joint: (joint,) for joint in self.joints} if self.settings.own else {"all": self.joints}
        for name, joints in groups.items():
            for what, start, most, change in (
                ("stiffness", 17.8, _STIFF, _set_stiffness),
                ("damping", 0.6, _SMOOTH, set_damping),
                ("friction", 0.052, _DRY, set_friction),
                ("armature", 0.028, _HEAVY, set_armature),
            ):
                parameters.add(free_parameter(f"{what} {name}", start, 0.0, most, change, joints))
        if self.settings.masses:
            for body in self.spec.bodies[2:]:  # the world and the base do not move
                mass = float(body.mass)
                if mass > 0.0:
                    parameters.add(
                        free_parameter(
                            f"mass {body.name}", mass, 0.7 * mass, 1.3 * mass, _set_mass, (body.name,)
                        )
                    )
        delay = sysid.Parameter("delay", 0.02, 0.0, _DELAY)
        parameters.add(delay)
        transform.delay("*", delay)
        for joint in self.joints:
            zero = sysid.Parameter(f"zero {joint}", 0.0, -0.1, 0.1)
            parameters.add(zero)
            transform.bias(f"{joint}_pos", zero, target="predicted")
        return parameters, transform

    def sequence(self, run: RobotRun, length: float = math.inf) -> sysid.ModelSequences:
        """Return the first `length` seconds of a run in the words of `mujoco.sysid`."""
        rows = run.time - run.time[0] < length
        time, position = run.time[rows] - run.time[0], run.position[rows]
        spec = self.spec.copy()
        spec.option.timestep = _STEP
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        for joint in self.joints:
            spec.add_sensor(
                name=f"{joint}_pos",
                type=mujoco.mjtSensor.mjSENS_JOINTPOS,
                objtype=mujoco.mjtObj.mjOBJ_JOINT,
                objname=joint,
            )
        model = spec.compile()
        columns = [run.column(joint) for joint in self.joints]
        goals = np.zeros((len(time), model.nu))
        names = [model.actuator(number).name for number in range(model.nu)]
        for joint, column in zip(self.joints, columns, strict=True):
            (number,) = np.flatnonzero(model.actuator_trnid[:, 0] == model.joint(joint).id)
            goals[:, number] = run.goal_position[rows, column]
        posture = np.zeros(model.nq)
        for joint, column in zip(self.joints, columns, strict=True):
            posture[model.joint(joint).qposadr[0]] = position[0, column]
        return sysid.ModelSequences(
            name=run.name,
            spec=spec,
            sequence_name=run.name,
            initial_state=sysid.create_initial_state(model, posture),
            control=sysid.TimeSeries.from_control_names(times=time, data=goals, model=model, names=names),
            sensordata=sysid.TimeSeries.from_names(
                times=time,
                data=position[:, columns],
                model=model,
                names=[f"{joint}_pos" for joint in self.joints],
            ),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PeerFit:
    """What was found: unknowns, with delay and zeros of the readings."""

    arm: PeerArm
    parameters: sysid.ParameterDict
    transform: sysid.SignalTransform

    def errors(self, runs: Sequence[RobotRun]) -> Array:
        """Return (runs, joints) mean absolute errors, rad."""
        residual = sysid.build_residual_fn(
            models_sequences=[self.arm.sequence(run) for run in runs], modify_residual=self.transform.apply
        )
        off, _, _ = residual(self.parameters.as_vector(), self.parameters)
        return np.array([np.abs(errors.reshape(-1, len(self.arm.joints))).mean(axis=0) for errors in off])


def fit(arm: PeerArm, runs: Sequence[RobotRun], length: float = math.inf) -> PeerFit:
    """Fit one of the settings to the first `length` seconds of runs."""
    parameters, transform = arm.parameters()
    residual = sysid.build_residual_fn(
        models_sequences=[arm.sequence(run, length) for run in runs], modify_residual=transform.apply
    )
    with contextlib.redirect_stdout(io.StringIO()):  # a line per step, which nothing switches off
        optimum, _ = sysid.optimize(parameters, residual, max_iters=_ITERATIONS, verbose=False, x_scale="jac")
    return PeerFit(arm=arm, parameters=optimum, transform=transform)


def _set_stiffness(spec: mujoco.MjSpec, joint: str, value: float) -> None:
    actuator = spec.actuator(joint)
    actuator.gainprm[0], actuator.biasprm[1], actuator.biasprm[2] = value, -value, 0.0


def _set_mass(spec: mujoco.MjSpec, body: str, value: float) -> None:
    described = spec.body(body)
    described.fullinertia = described.fullinertia * (value / described.mass)
    described.mass = value


def main(words: list[str] | None = None) -> int:
    """Choose the settings, fit them to all runs to fit, and print the errors of the tests."""
    parser = argparse.ArgumentParser(prog="python -m studies.so101.peer", description=__doc__)
    parser.add_argument("folder", type=Path, help="with so101.xml and runs/")
    arguments = parser.parse_args(words)
    try:
        require_peer()
        recorded = Arm.load(arguments.folder)
    except BamError as error:
        print(f"so101: {error}", file=sys.stderr)
        return 2
    chosen_by = [run for run in recorded.train if run.name in _CHOICE]
    others = [run for run in recorded.train if run.name not in _CHOICE]
    tried = []
    for own, masses in itertools.product((False, True), repeat=2):
        settings = PeerSettings(own=own, masses=masses)
        arm = PeerArm(spec=recorded.spec, joints=recorded.train[0].joints, settings=settings)
        fitted = fit(arm, others, _CHOICE_LENGTH)
        off = fitted.errors(chosen_by).mean()
        tried.append((off, own, masses, arm))
        print(f"{settings}: {1e3 * off:.2f} mrad on {', '.join(_CHOICE)}", flush=True)
    arm = min(tried)[3]
    fitted = fit(arm, recorded.train)
    errors = fitted.errors(recorded.test)
    print(f"chosen: {arm.settings}; fitted runs: {1e3 * fitted.errors(recorded.train).mean():.2f} mrad")
    for name, off in (("mean", errors.mean()), *zip(arm.joints, errors.mean(axis=0), strict=True)):
        print(f"{name}: {1e3 * off:.2f} mrad on the tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
