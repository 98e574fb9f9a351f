# SPDX-License-Identifier: Apache-2.0
"""Files for training programs: MuJoCo loads and moves them; the others have documented fields only."""

from __future__ import annotations

import ast
from typing import Any

import mujoco
import numpy as np
import pytest

from bam_core.exchange.training.drive_draws import drive_draws
from bam_core.exchange.training.drive_fit import PricedDrive, fit_drive, standard_motions
from bam_core.exchange.training.drive_rollout import STEP, drive_model
from bam_core.exchange.training.linear_drive import DriveGains
from bam_core.exchange.training.targets import DRAWN, TARGETS, span
from bam_core.mujoco.step_law import Number
from bam_core.servo.law_values import law_values
from bam_core.servo.model import load_servo

GAINS = DriveGains(kp=16, kd=32)
SERVO = "sts3215"
_ISAAC = {
    "joint_names_expr",
    "stiffness",
    "damping",
    "armature",
    "friction",
    "dynamic_friction",
    "viscous_friction",
}
_MJLAB = {
    "target_names_expr",
    "stiffness",
    "damping",
    "effort_limit",
    "armature",
    "frictionloss",
    "viscous_damping",
}
FIELDS = {
    "mjlab": {
        "BuiltinPositionActuatorCfg": _MJLAB,
        "DcMotorActuatorCfg": _MJLAB | {"saturation_effort", "velocity_limit"},
    },
    "isaaclab": {
        "DCMotorCfg": _ISAAC | {"saturation_effort", "velocity_limit", "effort_limit"},
        "DelayedPDActuatorCfg": _ISAAC | {"min_delay", "max_delay", "velocity_limit", "effort_limit"},
        "ImplicitActuatorCfg": _ISAAC | {"effort_limit_sim", "velocity_limit_sim"},
        "EventTermCfg": {"func", "mode", "params"},
    },
    "newton": {"add_actuator": {"index", "clamping", "delay_steps", "kp", "kd"}},
    "genesis": {},
    "playground": {},
}
"""Keywords of what files call, from mjlab 1.6, Isaac Lab 2.3 and Newton 1.8."""


@pytest.fixture(scope="module")
def priced() -> PricedDrive:
    """Return the STS3215's drive as it is before a fit."""
    return fit_drive(load_servo(SERVO), GAINS, evaluations=1)


@pytest.fixture(scope="module")
def draws(priced: PricedDrive) -> dict[str, list[float]]:
    """Return draws of it."""
    return drive_draws(SERVO, GAINS, priced, count=40)


@pytest.mark.parametrize("target", [name for name, (suffix, _) in TARGETS.items() if suffix == ".xml"])
def test_mujoco_moves_the_class_as_the_drive(
    target: str, priced: PricedDrive, draws: dict[str, list[float]]
) -> None:
    servo = load_servo(SERVO)
    text = TARGETS[target][1](servo, GAINS, priced, draws)
    run = standard_motions(servo, GAINS)[0]
    ours = drive_model(priced.drive, run)
    spec = mujoco.MjSpec.from_string(text)
    robot = spec.worldbody.add_body(name="arm")
    robot.add_joint(spec.find_default(SERVO), name="hinge", axis=[1, 0, 0])
    robot.add_geom(size=[0.02, 0, 0], pos=[0, 0, -0.1])
    actuator = spec.add_actuator(spec.find_default(SERVO), name="servo", target="hinge")
    actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
    theirs = spec.compile()
    for name in ("actuator_gainprm", "actuator_biasprm", "actuator_forcerange"):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), rtol=1e-6)
    for name in ("dof_armature", "dof_damping", "dof_frictionloss"):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), rtol=1e-6)
    assert theirs.actuator_forcelimited[0]
    assert ours.opt.timestep == STEP


@pytest.mark.parametrize("target", FIELDS)
def test_modules_use_documented_fields_only(
    target: str, priced: PricedDrive, draws: dict[str, list[float]]
) -> None:
    module = ast.parse(TARGETS[target][1](load_servo(SERVO), GAINS, priced, draws))
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    for name, documented in FIELDS[target].items():
        used = [
            {keyword.arg for keyword in call.keywords}
            for call in calls
            if name in (getattr(call.func, "id", None), getattr(call.func, "attr", None))
        ]
        assert used, name
        for keywords in used:
            assert keywords <= documented, name


def test_isaac_lab_scales_the_damping_that_its_drive_has(priced: PricedDrive) -> None:
    single = {name: [getattr(priced.drive, name)] for name in DRAWN}
    wide = {**single, "drive_damping": [factor * priced.drive.drive_damping for factor in (0.5, 2.0)]}
    text = TARGETS["isaaclab"][1](load_servo(SERVO), GAINS, priced, wide)
    assert '"damping_distribution_params": (0.5, 2.0)' in text


def test_draws_are_joint_and_scatter_about_the_drive(
    priced: PricedDrive, draws: dict[str, list[float]]
) -> None:
    assert set(draws) == set(DRAWN)
    assert {len(values) for values in draws.values()} == {40}
    for name in DRAWN:
        value = getattr(priced.drive, name)
        assert min(draws[name]) <= 1.02 * value, name
        assert max(draws[name]) >= 0.98 * value, name
    assert np.std(draws["stiffness"]) > 0.0


def test_a_servo_of_unknown_uncertainty_is_drawn_as_it_is() -> None:
    gains = DriveGains(kp=32)
    priced = fit_drive(load_servo("mx106"), gains, evaluations=1)
    draws = drive_draws("mx106", gains, priced)
    assert draws == {name: [getattr(priced.drive, name)] for name in DRAWN}


def test_the_span_is_the_middle_of_the_draws() -> None:
    assert span([float(value) for value in range(101)], 50.0) == (0.1, 1.9)
    assert span([0.0], 0.0) == (1.0, 1.0)


def test_the_full_law_of_mjlab_has_all_numbers_that_it_needs(
    priced: PricedDrive, draws: dict[str, list[float]]
) -> None:
    scope: dict[str, Any] = {}
    module = ast.parse(TARGETS["mjlab"][1](load_servo(SERVO), GAINS, priced, draws))
    written = [node for node in module.body if isinstance(node, ast.Assign)]
    exec(compile(ast.Module(written, type_ignores=[]), "mjlab", "exec"), scope)
    assert set(Number.__members__) <= set(scope["NUMBERS"])
    values = law_values(load_servo(SERVO))
    assert scope["NUMBERS"]["coulomb"] == pytest.approx(values["coulomb"], rel=1e-6)
    assert (scope["NUMBERS"]["kp"], scope["NUMBERS"]["kd"]) == (GAINS.kp, GAINS.kd)
