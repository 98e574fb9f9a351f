# SPDX-License-Identifier: Apache-2.0
"""Servos of the plugin: rollouts of several models, models in other processes, what descriptions say."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import mujoco
import mujoco.rollout
import numpy as np
import pytest

from bam_core.arrays import Array
from bam_core.mujoco import equip
from bam_core.mujoco.native import NativeServo, equip_native

KIND = mujoco.mjtState.mjSTATE_FULLPHYSICS
SECOND = 1000  # steps


def arm(joint: str = "", actuator: str = "", angle: str = "radian", default: str = "") -> mujoco.MjSpec:
    """One link on the joint "j", with these attributes, actuators and defaults, angles in this unit."""
    return mujoco.MjSpec.from_string(f"""
<mujoco>
  <compiler angle="{angle}"/>
  <option timestep="0.001"/><default>{default}</default>
  <worldbody><body gravcomp="1">
    <joint name="j" axis="0 1 0" {joint}/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.15" size="0.01" mass="1"/>
  </body></worldbody>
  <actuator>{actuator}</actuator>
</mujoco>""")


def model(**servo: object) -> mujoco.MjModel:
    spec = arm()
    equip_native(spec, {"j": NativeServo(**{"servo": "mx106", **servo})})  # type: ignore[arg-type]
    return spec.compile()


def angles(model: mujoco.MjModel, goal: float) -> Array:
    data = mujoco.MjData(model)
    data.ctrl[:] = goal
    track = np.empty(SECOND)
    for step in range(SECOND):
        mujoco.mj_step(model, data)
        track[step] = data.qpos[0]
    return track


CHANGES: dict[str, Callable[[int], dict[str, object]]] = {
    "gain": lambda i: {"kp": (4, 8, 32, 16, 2)[i]},
    "supply": lambda i: {"supply_voltage": 8.0 + 2.0 * i},
    "servo": lambda i: {"servo": ("mx106", "mx64", "sts3215", "mx106_2", "xl330")[i]},
}


@pytest.mark.parametrize("threads", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("change", CHANGES)
def test_rollouts_of_several_models_are_each_that_of_its_own_model(change: str, threads: int) -> None:
    models = [model(**CHANGES[change](i)) for i in range(5)]
    expected = np.array([angles(each, 1.0) for each in models])
    assert len(np.unique(expected[:, -1].round(4))) == 5
    start = np.empty((5, mujoco.mj_stateSize(models[0], KIND)))
    for row, each in zip(start, models, strict=True):
        mujoco.mj_getState(each, mujoco.MjData(each), row, KIND)
    data = [mujoco.MjData(models[0]) for _ in range(max(threads, 1))]
    control = np.ones((5, SECOND, 1))
    for _ in range(2):  # the second time every servo's constants are those of another model
        states, _ = mujoco.rollout.rollout(models, data, start, control)
        assert np.array_equal(states[:, :, 1], expected)


def test_a_simulation_that_goes_on_with_another_model_has_its_constants() -> None:
    weak, strong = model(kp=2.0), model(kp=32.0)
    data = mujoco.MjData(weak)
    data.ctrl[:] = 1.0
    for _ in range(SECOND):
        mujoco.mj_step(weak, data)
    assert data.qpos[0] < 0.9
    for _ in range(SECOND):
        mujoco.mj_step(strong, data)
    assert data.qpos[0] == pytest.approx(1.0, abs=0.02)


def test_a_reset_for_another_model_has_its_temperature() -> None:
    cold, hot = model(), model(case_temperature_rise=40.0)
    data, own = mujoco.MjData(cold), mujoco.MjData(hot)
    mujoco.mj_resetData(hot, data)
    assert np.array_equal(data.plugin_state, own.plugin_state)


def test_another_model_that_the_plugin_cannot_drive_is_refused() -> None:
    good, bad = model(), model()
    bad.dof_frictionloss[:] = 0.0
    data = mujoco.MjData(good)
    with pytest.raises(mujoco.FatalError, match="frictionloss is 0"):
        mujoco.mj_step(bad, data)


# What a description says of actuators at the joint

LIMITED = 'actuatorfrcrange="-1.5 1.5"'


@pytest.mark.parametrize("joint", [LIMITED, 'actuatorgravcomp="true"', LIMITED + ' actuatorgravcomp="true"'])
def test_what_a_joint_has_for_its_actuators_goes_with_them(joint: str) -> None:
    tracks, torques = [], []
    for attributes in ("", joint):
        spec = arm(attributes)
        equip_native(spec, {"j": NativeServo(servo="mx106", kp=32.0)})
        tracks.append(angles(spec.compile(), 1.0))
        spec = arm(attributes)
        equip(spec, {"j": "mx106"})
        compiled = spec.compile()
        torques.append((compiled.jnt_actfrclimited[0], compiled.jnt_actgravcomp[0]))
    assert np.array_equal(*tracks)
    assert tracks[0][-1] == pytest.approx(1.0, abs=0.01)
    assert torques == [(0, 0)] * 2


@pytest.mark.parametrize("own", ["", '<motor joint="j"/>'])
@pytest.mark.parametrize(
    "default",
    [
        '<motor gear="75"/>',
        '<general ctrllimited="true"/>',
        '<motor ctrllimited="true" ctrlrange="-0.3 0.3" forcelimited="true" forcerange="-0.1 0.1"/>',
        '<general dyntype="filter" dynprm="0.5" forcerange="-0.1 0.1"/>',
    ],
)
def test_defaults_of_a_description_for_its_actuators_are_not_those_of_servos(default: str, own: str) -> None:
    tracks = []
    for text in ("", default):
        spec = arm("", own, default=text)
        equip_native(spec, {"j": NativeServo(servo="mx106", kp=32.0, has_torque_enable=True)})
        compiled = mujoco.MjModel.from_xml_string(spec.to_xml())
        assert compiled.actuator_gear[:, 0] == pytest.approx(1.0)
        assert not compiled.actuator_ctrllimited.any()
        tracks.append(angles(compiled, 1.0))
    assert np.array_equal(*tracks)
    assert tracks[0][-1] == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("joint", "actuator", "angle", "expected"),
    [
        ('range="-1 2" limited="true"', "", "radian", (-1.0, 2.0)),
        ('range="-1 2"', "", "radian", (-1.0, 2.0)),
        ('range="-90 45"', "", "degree", (-np.pi / 2, np.pi / 4)),
        ('range="-1 2"', '<motor joint="j" ctrlrange="-5 5"/>', "radian", (-1.0, 2.0)),
        ('range="-1 2"', '<position joint="j" kp="5" ctrlrange="-0.5 0.6"/>', "radian", (-0.5, 0.6)),
        ('range="-1 2"', '<position joint="j" kp="5"/>', "radian", (-1.0, 2.0)),
        ("", '<position joint="j" kp="5"/>', "radian", None),
        ("", "", "radian", None),
        ('range="-1 2" limited="false"', "", "radian", None),
    ],
)
def test_goals_have_the_range_of_what_was_replaced_or_of_the_joint(
    joint: str, actuator: str, angle: str, expected: tuple[float, float] | None
) -> None:
    spec = arm(joint, actuator, angle)
    equip_native(spec, {"j": NativeServo(servo="mx106")})
    compiled = spec.compile()
    if expected is None:
        assert not compiled.actuator_ctrllimited[0]
    else:
        assert compiled.actuator_ctrllimited[0]
        assert compiled.actuator_ctrlrange[0] == pytest.approx(expected)


# In other processes


def _step(text: bytes) -> float:
    import bam_core  # noqa: F401  (loads the plugin, for MuJoCo is there already)

    compiled = pickle.loads(text)
    data = mujoco.MjData(compiled)
    data.ctrl[:] = 1.0
    for _ in range(SECOND):
        mujoco.mj_step(compiled, data)
    return float(data.qpos[0])


def test_a_model_that_was_sent_to_a_fresh_process_moves_there() -> None:
    compiled = model(kp=32.0)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_step, (pickle.dumps(compiled),)) == angles(compiled, 1.0)[-1]


@pytest.mark.parametrize("loaded", ["import mujoco, bam_core", "import bam_core; bam_core.load_plugin()"])
def test_a_fresh_process_that_imports_this_package_knows_the_plugin(loaded: str, tmp_path: Path) -> None:
    mujoco.mj_saveModel(compiled := model(kp=32.0), str(tmp_path / "arm.mjb"))
    code = (
        f"{loaded}\nimport mujoco\nmodel = mujoco.MjModel.from_binary_path({str(tmp_path / 'arm.mjb')!r})\n"
        "data = mujoco.MjData(model)\ndata.ctrl[:] = 1.0\nmujoco.mj_step(model, data, 1000)\n"
        "print(repr(float(data.qpos[0])))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert float(ended.stdout) == angles(compiled, 1.0)[-1]
