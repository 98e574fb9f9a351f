# SPDX-License-Identifier: Apache-2.0
"""`ServoActuation` on robots: what it leaves alone, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from bam_core.errors import (
    BamError,
    Conflict,
    Malformed,
    Missing,
    OutOfRange,
    UnknownName,
    Unreadable,
    Unsupported,
)
from bam_core.mujoco import (
    BENCH_JOINT,
    ServoActuation,
    bench_spec,
    compile_robot,
    equip,
    load_robot,
)
from bam_core.mujoco.actuation import NotFiniteError
from bam_core.servo.pendulum import PendulumBench
from test.core.mujoco_cases import BENCH, SERVO, on_bench, walker
from test.core.refusals import refused

HOPPER = """
<mujoco>
  <worldbody>
    <body>
      <freejoint name="base"/>
      <geom type="sphere" size="0.05" mass="0.5"/>
      <body>
        <joint name="hip" axis="1 0 0"/>
        <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.15" mass="0.1"/>
        <body pos="0 0 -0.15">
          <joint name="slider" type="slide" axis="0 0 1"/>
          <geom type="sphere" size="0.02" mass="0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="turn" joint="hip"/><motor name="lift" joint="slider"/></actuator>
  <sensor>
    <actuatorfrc name="turn_force" actuator="turn"/>
    <jointpos name="angle" joint="hip"/>
    <actuatorfrc name="lift_force" actuator="lift"/>
  </sensor>
</mujoco>
"""


def test_the_model_and_the_user_s_forces_stay_as_they_are() -> None:
    actuation = walker()
    size = mujoco.mj_sizeModel(actuation.model)
    before, after = np.zeros(size, dtype=np.uint8), np.zeros(size, dtype=np.uint8)
    mujoco.mj_saveModel(actuation.model, None, before)
    actuation.torque_enabled[:] = 1.0
    actuation.data.qfrc_applied[:] = 0.01
    for _ in range(50):
        actuation.step()
    mujoco.mj_saveModel(actuation.model, None, after)
    assert (before == after).all()
    assert (actuation.data.qfrc_applied == 0.01).all()


def test_joint_order_does_not_matter() -> None:
    forward, backward = walker(), walker()
    backward = ServoActuation(
        backward.model, backward.data, dict(zip(forward.names[::-1], forward.servos[::-1], strict=True))
    )
    for actuation in (forward, backward):
        actuation.torque_enabled[:] = 1.0
        for _ in range(300):
            actuation.step()
    np.testing.assert_allclose(forward.data.qpos, backward.data.qpos, atol=1e-12)


def test_external_torque_of_a_held_joint_contains_contact_forces() -> None:
    actuation = on_bench(SERVO)
    actuation.data.xfrc_applied[1, 1] = 1.0  # N along y at the load: +0.15 N·m about the axis
    for _ in range(5):
        actuation.step()
    assert actuation.external_torque[0] == pytest.approx(0.15, rel=1e-3)


def test_mistakes_are_named() -> None:
    spec = bench_spec(BENCH)
    with refused(UnknownName, kind="joint", name="jont"):
        equip(spec, {"jont": SERVO})
    model = compile_robot(spec)
    with refused(OutOfRange, thing="joint 'joint', frictionloss", value=0.0):
        ServoActuation(model, mujoco.MjData(model), {BENCH_JOINT: SERVO})
    equip(spec, {BENCH_JOINT: SERVO})
    spec.joint(BENCH_JOINT).armature = 0.0
    model = compile_robot(spec)
    with refused(OutOfRange, thing="joint 'joint', armature", value=0.0):  # and not: a shorter time step
        ServoActuation(model, mujoco.MjData(model), {BENCH_JOINT: SERVO})
    with refused(Conflict, thing="joint 'joint'"):
        on_bench(SERVO, PendulumBench(mass=0.0, length=0.1), dt=0.1)
    with refused(Unreadable, path="nowhere.xml"):
        load_robot("nowhere.xml")
    for option, value in (
        ("solver", mujoco.mjtSolver.mjSOL_PGS),
        ("integrator", mujoco.mjtIntegrator.mjINT_RK4),
    ):
        spec = bench_spec(BENCH)
        equip(spec, {BENCH_JOINT: SERVO})
        setattr(spec.option, option, value)
        model = compile_robot(spec)
        with refused(Unsupported, thing=f"model option {option}"):
            ServoActuation(model, mujoco.MjData(model), {BENCH_JOINT: SERVO})


@pytest.mark.parametrize(
    ("option", "value", "error", "thing"),
    [
        ("timestep", 10.0, Conflict, "joint 'joint'"),
        ("integrator", mujoco.mjtIntegrator.mjINT_RK4, Unsupported, "model option integrator"),
        ("solver", mujoco.mjtSolver.mjSOL_CG, Unsupported, "model option solver"),
    ],
)
def test_options_that_are_changed_later_are_refused_as_at_the_start(
    option: str, value: float, error: type[BamError], thing: str
) -> None:
    actuation, alone = on_bench(SERVO), on_bench(SERVO)
    for either in (actuation, alone):
        either.goal_position[:] = 0.5
        either.step()
    before = getattr(actuation.model.opt, option)
    setattr(actuation.model.opt, option, value)
    with refused(error, thing=thing):
        actuation.step()
    setattr(actuation.model.opt, option, before)
    actuation.step()  # goes on as if nothing had been
    alone.step()
    assert (actuation.position, actuation.velocity) == (alone.position, alone.velocity)
    assert (actuation.data.qfrc_applied == alone.data.qfrc_applied).all()


def test_a_free_base_is_not_offered_as_a_joint_for_a_servo() -> None:
    with refused(UnknownName, name="knee", valid=("hip", "slider")):
        equip(mujoco.MjSpec.from_string(HOPPER), {"knee": SERVO})
    spec = mujoco.MjSpec.from_string(HOPPER)
    equip(spec, {"hip": SERVO})
    model = compile_robot(spec)
    with refused(UnknownName, name="knee", valid=("hip", "slider")):
        ServoActuation(model, mujoco.MjData(model), {"knee": SERVO})


def test_a_model_without_joints_for_servos_is_named() -> None:
    spec = mujoco.MjSpec.from_string(
        "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    )
    with refused(Missing, thing="joint 'hip'"):
        equip(spec, {"hip": SERVO})


def test_sensors_of_actuators_that_servos_replace_go_with_them() -> None:
    spec = mujoco.MjSpec.from_string(HOPPER)
    equip(spec, {"hip": SERVO})
    model = compile_robot(spec)
    assert [model.actuator(i).name for i in range(model.nu)] == ["lift"]
    assert [model.sensor(i).name for i in range(model.nsensor)] == ["angle", "lift_force"]


@pytest.mark.parametrize(
    ("instance", "actuator"),
    [
        ("", '<config key="servo" value="mx64"/><config key="kp" value="32"/>'),
        ('<instance name="s"><config key="servo" value="mx64"/><config key="kp" value="32"/></instance>', ""),
    ],
)
def test_a_robot_with_servos_of_the_engine_plugin_can_be_read_and_get_others(
    tmp_path: Path, instance: str, actuator: str
) -> None:
    file = tmp_path / "robot.xml"
    named = 'instance="s"' if instance else ""
    extension = f'<extension><plugin plugin="bam_bench.servo">{instance}</plugin></extension>'
    file.write_text(
        HOPPER.replace("<worldbody>", f"{extension}<worldbody>", 1).replace(
            '<motor name="turn" joint="hip"/>',
            f'<plugin name="turn" joint="hip" plugin="bam_bench.servo" {named}>{actuator}</plugin>',
        )
    )
    spec = load_robot(file)
    equip(spec, {"hip": SERVO})
    model = compile_robot(spec)
    actuation = ServoActuation(model, mujoco.MjData(model), {"hip": SERVO})
    actuation.step()
    assert [model.actuator(i).name for i in range(model.nu)] == ["lift"]


def test_a_divergence_names_the_joint_and_which_servos_were_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo logs its warning to the working directory
    spec = mujoco.MjSpec.from_string(HOPPER)
    equip(spec, {"hip": SERVO})
    model = compile_robot(spec)
    slider = model.joint("slider")
    for array, address in (("qpos", slider.qposadr[0]), ("qvel", slider.dofadr[0])):
        actuation = ServoActuation(model, mujoco.MjData(model), {"hip": SERVO})
        getattr(actuation.data, array)[address] = np.nan
        with refused(NotFiniteError, culprit="joint 'slider'"):
            actuation.step()


def test_an_actuator_on_a_servo_s_joint_is_refused() -> None:
    spec = bench_spec(BENCH)
    equip(spec, {BENCH_JOINT: SERVO})
    spec.add_actuator(name="second", target=BENCH_JOINT, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    model = compile_robot(spec)
    with refused(Conflict, thing="joint 'joint'"):
        ServoActuation(model, mujoco.MjData(model), {BENCH_JOINT: SERVO})


def test_a_goal_that_is_no_number_is_a_named_error_and_changes_nothing() -> None:
    actuation = on_bench(SERVO)
    actuation.torque_enabled[0], actuation.goal_position[0] = 1.0, np.nan
    with refused(NotFiniteError, time=0.0):
        actuation.step()
    assert actuation.data.qfrc_applied[0] == 0.0
    actuation.goal_position[0] = 0.1
    for _ in range(300):
        actuation.step()
    assert actuation.position[0] == pytest.approx(0.1, abs=0.03)


def test_a_broken_description_is_one_line(tmp_path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text("<mujoco><worldbody><body>")
    with refused(Malformed, path=str(file)):
        load_robot(file)
