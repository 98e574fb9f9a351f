# SPDX-License-Identifier: Apache-2.0
"""The engine plugin: the same law as from Python, inside mj_step, in rollouts and batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from numpy.typing import NDArray

from bam_core.errors import MissingSoftware, OutOfRange, WrongType
from bam_core.mujoco import BENCH_JOINT, ServoActuation, bench_spec, compile_robot, equip
from bam_core.mujoco.native import NativeServo, NativeState, equip_native, load_plugin, plugin_path
from bam_core.servo.effects import ServoEffects
from bam_core.servo.law_values import law_values
from bam_core.servo.model import ServoModel, load_servo, servo_names
from bam_core.servo.pendulum import PendulumBench
from bam_core.servo.protection import OverloadProtection
from test.core.mujoco_cases import HELD, held_bench
from test.core.refusals import refused

Array = NDArray[np.float64]

LOADS = {
    "mx64": PendulumBench(mass=0.8, length=0.15),
    "mx106": PendulumBench(mass=1.0, length=0.15),
    "mx106_2": PendulumBench(mass=1.0, length=0.15),
    "xl320": PendulumBench(mass=0.05, length=0.08),
    "xl330": PendulumBench(mass=0.2, length=0.1),
    "erob80_50": PendulumBench(mass=5.0, length=0.4),
    "erob80_100": PendulumBench(mass=10.0, length=0.5),
}
KP = {"xl330": 200.0, "mx106_2": 850.0, "erob80_50": 40.0, "erob80_100": 60.0}

# A trunk on two legs: free base, contacts, an equality and a tendon with friction of its own.
ROBOT = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <geom type="plane" size="2 2 0.1"/>
    <body name="trunk" pos="0 0 0.32">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.04" mass="1.2"/>
      <body pos="0.1 0 0">
        <joint name="a" axis="0 1 0" range="-1 1" limited="true"/>
        <geom type="capsule" fromto="0 0 0 0.02 0 -0.15" size="0.02" mass="0.2"/>
        <body pos="0.02 0 -0.15">
          <joint name="b" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.15" size="0.02" mass="0.1"/>
        </body>
      </body>
      <body pos="-0.1 0 0">
        <joint name="c" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 -0.02 0 -0.15" size="0.02" mass="0.2"/>
        <body pos="-0.02 0 -0.15">
          <joint name="d" type="slide" axis="0 0 1" frictionloss="0.1"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.15" size="0.02" mass="0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="t" frictionloss="0.05"><joint joint="b" coef="1"/><joint joint="d" coef="1"/></fixed>
  </tendon>
</mujoco>
"""
SERVOS = {"a": "mx106", "b": "mx64", "c": "mx106", "d": "mx64"}


def native_bench(name: str, dt: float = 1e-3, **more: object) -> mujoco.MjModel:
    spec = bench_spec(LOADS[name], timestep=dt)
    servo = NativeServo(servo=load_servo(name), kp=KP.get(name, 32.0), **more)  # type: ignore[arg-type]
    equip_native(spec, {BENCH_JOINT: servo})
    return compile_robot(spec)


def native_robot(joints: tuple[str, ...] = tuple(SERVOS)) -> mujoco.MjModel:
    spec = mujoco.MjSpec.from_string(ROBOT)
    equip_native(spec, {joint: NativeServo(servo=load_servo(SERVOS[joint])) for joint in joints})
    for joint in joints:  # goals push joints against their ends
        spec.actuator(joint).ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE
    return compile_robot(spec)


def swing(time: float) -> Array:
    return np.array([0.5 * np.sin((i + 2) * time) for i in range(4)])


def run_robot(model: mujoco.MjModel, steps: int = 400) -> Array:
    data = mujoco.MjData(model)
    track = np.empty((steps, model.nq))
    for k in range(steps):
        data.ctrl[:] = swing(k * model.opt.timestep)
        mujoco.mj_step(model, data)
        track[k] = data.qpos
    return track


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 1.7e-3])
@pytest.mark.parametrize("name", list(LOADS))
def test_a_bench_moves_as_with_the_python_plugin(name: str, dt: float) -> None:
    same_motion(load_servo(name), LOADS[name], KP.get(name, 32.0), dt)


@pytest.mark.parametrize("dt", [5e-4, 1e-3, 1.7e-3])
@pytest.mark.parametrize(("name", "kp"), [("mx106", 32.0), ("erob80_100", 60.0)])
def test_so_it_does_with_a_firmware_that_shapes_its_error(name: str, kp: float, dt: float) -> None:
    servo = load_servo(name)
    shape = {
        "dead_band": 0.01,
        "error_offset": 0.02,
        "goal_speed_limit": 2.0,
        "goal_acceleration_limit": 30.0,
    }
    firmware = dataclasses.replace(servo.firmware, name="shaped", **shape)
    same_motion(dataclasses.replace(servo, firmware=firmware), LOADS[name], kp, dt)


PROTECTION = OverloadProtection(threshold=0.5, time=0.1, limit=0.2)


@pytest.mark.parametrize("dt", [5e-4, 1e-3, 1.7e-3])
@pytest.mark.parametrize(("name", "kp"), [("mx106", 32.0), ("sts3215", 32.0), ("erob80_100", 600.0)])
def test_so_it_does_with_a_firmware_that_protects_itself(name: str, kp: float, dt: float) -> None:
    servo = load_servo(name)
    heavy = PendulumBench(mass=60.0 if name == "erob80_100" else 8.0, length=0.3)

    def stepped(time: float) -> float:
        return 2.0 * float(np.sign(np.sin(4.0 * time)))

    firmware = dataclasses.replace(servo.firmware, name="own", protection=PROTECTION)
    duties = same_motion(dataclasses.replace(servo, firmware=firmware), heavy, kp, dt, stepped)
    firmware = dataclasses.replace(firmware, protection=None)
    free = same_motion(dataclasses.replace(servo, firmware=firmware), heavy, kp, dt, stepped)
    assert np.max(np.abs(duties - free)) > 0.5


def test_the_plugin_s_duty_falls_after_the_time_until_another_goal_or_torque_off() -> None:
    servo = load_servo("sts3215")
    bench = PendulumBench(mass=6.0, length=0.1)  # 5.9 N·m: more than it can lift
    spec = bench_spec(bench, timestep=1e-3)
    equip_native(spec, {BENCH_JOINT: NativeServo(servo="sts3215", has_torque_enable=True)})
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    data.qpos[:] = 1.4
    state = NativeState(model, data, BENCH_JOINT)
    duties = np.empty(11000)
    for k in range(len(duties)):
        data.ctrl[:] = 3.0 if k < 4000 else 2.9, float(not 7000 <= k < 7100)
        mujoco.mj_step(model, data)
        duties[k] = state.duty
    full = servo.firmware.demand_limit
    over = np.flatnonzero(duties >= 0.8 * full)
    first, again, third = (int(over[over >= start][0]) for start in (0, 4000, 7100))
    assert first < 200
    assert np.all(duties[first : first + 2000] >= 0.8 * full)
    assert np.all(duties[first + 2000 : 4000] == pytest.approx(0.2 * full))
    assert again == 4000
    assert np.all(duties[4000:6000] >= 0.8 * full)
    assert np.all(duties[6000:7000] == pytest.approx(0.2 * full))
    assert np.all(duties[7000:7100] == 0.0)
    assert np.all(duties[third : third + 2000] >= 0.8 * full)
    assert duties[third + 2000] == pytest.approx(0.2 * full)


def same_motion(
    servo: ServoModel,
    bench: PendulumBench,
    kp: float,
    dt: float,
    goals: Callable[[float], float] = lambda time: float(np.sin(time**2)),
) -> Array:
    """Check that the plugin moves a bench as `ServoActuation` does, torque on and off; return its duties."""
    spec = bench_spec(bench, timestep=dt)
    equip(spec, {BENCH_JOINT: servo})
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    python = ServoActuation(model, data, {BENCH_JOINT: servo})
    python.kp[:] = kp
    native_spec = bench_spec(bench, timestep=dt)
    equip_native(native_spec, {BENCH_JOINT: NativeServo(servo=servo, kp=kp, has_torque_enable=True)})
    native_model = compile_robot(native_spec)
    native = mujoco.MjData(native_model)
    worst = 0.0
    duties = np.empty(int(5.0 / dt))
    for k in range(len(duties)):
        goal, enable = goals(k * dt), 0.3 < k * dt < 3.5
        python.goal_position[0], python.torque_enabled[0] = goal, enable
        native.ctrl[:] = goal, enable
        python.step()
        mujoco.mj_step(native_model, native)
        worst = max(worst, abs(data.qpos[0] - native.qpos[0]))
        duties[k] = python.duty[0]
    assert worst < 1e-9
    state = NativeState(native_model, native, BENCH_JOINT)
    for quantity in (
        "duty",
        "current",
        "motor_torque",
        "external_torque",
        "friction_budget",
        "friction_torque",
    ):
        assert getattr(state, quantity) == pytest.approx(getattr(python, quantity)[0], abs=1e-9)
    return duties


def test_every_effect_of_a_servo_is_as_with_the_python_plugin() -> None:
    servo = load_servo("mx106")
    servo = dataclasses.replace(
        servo,
        motor=dataclasses.replace(servo.motor, torque_saturation=0.3, winding_heating=8.0),
        servo_effects=ServoEffects(
            firmware_gain=-0.1,
            limit_shortfall=0.3,
            sensor_delay=0.004,
            friction_temperature=0.01,
            bridge_coasting=0.5,
            encoder_quantisation=1.0,
            goal_slew_time=0.4,
            load_inertia=1.0,
            friction_direction=-0.1,
        ),
    )
    spec = bench_spec(LOADS["mx106"], timestep=1e-3)
    equip(spec, {BENCH_JOINT: servo})
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    python = ServoActuation(model, data, {BENCH_JOINT: servo})
    python.case_temperature_rise[:], python.encoder_zero[:], python.supply_voltage[:] = 12.0, 0.01, 13.0
    python.reset()
    spec = bench_spec(LOADS["mx106"], timestep=1e-3)
    native_servo = NativeServo(
        servo=servo,
        case_temperature_rise=12.0,
        encoder_zero=0.01,
        supply_voltage=13.0,
        has_torque_enable=True,
    )
    equip_native(spec, {BENCH_JOINT: native_servo})
    native_model = compile_robot(spec)
    native = mujoco.MjData(native_model)
    worst = 0.0
    for k in range(6000):
        goal, enable = np.sin((1e-3 * k) ** 2), float(np.clip(2.0 * np.sin(3e-3 * k) + 1.0, 0.0, 1.0))
        python.goal_position[0], python.torque_enabled[0] = goal, enable
        native.ctrl[:] = goal, enable
        python.step()
        mujoco.mj_step(native_model, native)
        worst = max(worst, abs(data.qpos[0] - native.qpos[0]))
    assert worst < 1e-9


def test_a_robot_with_a_free_base_contacts_and_tendons_moves_as_with_the_python_plugin() -> None:
    spec = mujoco.MjSpec.from_string(ROBOT)
    servos = {joint: load_servo(name) for joint, name in SERVOS.items()}
    equip(spec, servos)
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    python = ServoActuation(model, data, servos)
    python.torque_enabled[:] = 1.0
    native_model = native_robot()
    native = mujoco.MjData(native_model)
    worst = 0.0
    for _ in range(600):
        python.goal_position[:] = native.ctrl[:] = swing(data.time)
        python.step()
        mujoco.mj_step(native_model, native)
        worst = max(worst, float(np.abs(data.qpos - native.qpos).max()))
    assert native.ncon > 0
    assert worst < 1e-9


def test_rollouts_and_batches_are_what_a_loop_over_mj_step_is() -> None:
    model = native_robot()
    serial = run_robot(model)
    control = np.array([swing(k * model.opt.timestep) for k in range(len(serial))])
    start = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    data = mujoco.MjData(model)
    mujoco.mj_getState(model, data, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states, _ = mujoco.rollout.rollout(
        model, [mujoco.MjData(model) for _ in range(2)], np.tile(start, (6, 1)), np.tile(control, (6, 1, 1))
    )
    for states_of_one in states:
        np.testing.assert_array_equal(states_of_one[:, 1 : 1 + model.nq], serial)
    from mujoco.batch import Batch  # of MuJoCo 3.17 or newer

    batch = Batch(model, nsim=5, nthread=2)
    found = batch.rollout(len(serial), control=np.tile(control, (5, 1, 1)), record=("qpos",))["qpos"]
    for of_one in found:
        np.testing.assert_array_equal(of_one, serial)


def test_two_simulations_of_one_model_in_two_threads_are_what_they_are_one_by_one() -> None:
    model = native_robot()
    serial = run_robot(model)
    with ThreadPoolExecutor(2) as pool:
        for track in pool.map(lambda _: run_robot(model), range(4)):
            np.testing.assert_array_equal(track, serial)


def test_stepping_leaves_the_model_as_it_was() -> None:
    model = native_robot()
    before = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, before)
    run_robot(model, 50)
    after = np.empty_like(before)
    mujoco.mj_saveModel(model, None, after)
    np.testing.assert_array_equal(before, after)


def test_the_order_of_actuators_does_not_matter() -> None:
    goals = {"a": 0.3, "b": -0.2, "c": 0.1, "d": 0.02}
    tracks = []
    for order in (("a", "b", "c", "d"), ("d", "b", "a", "c")):
        model = native_robot(order)
        data = mujoco.MjData(model)
        data.ctrl[:] = [goals[joint] for joint in order]
        for _ in range(300):
            mujoco.mj_step(model, data)
        tracks.append(data.qpos.copy())
    np.testing.assert_allclose(tracks[0], tracks[1], rtol=0.0, atol=1e-9)


def test_forward_without_a_step_changes_nothing_that_follows() -> None:
    model = native_bench("xl330")
    plain, asked = mujoco.MjData(model), mujoco.MjData(model)
    for k in range(500):
        plain.ctrl[0] = asked.ctrl[0] = np.sin(0.01 * k)
        mujoco.mj_step(model, plain)
        mujoco.mj_forward(model, asked)
        mujoco.mj_step(model, asked)
    assert plain.qpos[0] == asked.qpos[0]


def test_a_copied_simulation_goes_on_alike() -> None:
    model = native_robot()
    data = mujoco.MjData(model)
    for _ in range(100):
        data.ctrl[:] = swing(data.time)
        mujoco.mj_step(model, data)
    twin = mujoco.MjData(model)
    mujoco.mj_copyData(twin, model, data)
    for _ in range(100):
        for each in (data, twin):
            mujoco.mj_step(model, each)
    np.testing.assert_array_equal(data.qpos, twin.qpos)


def test_a_reset_simulation_starts_as_a_new_one() -> None:
    model = native_bench("xl330")
    data = mujoco.MjData(model)
    tracks = []
    for _ in range(2):
        mujoco.mj_resetData(model, data)
        data.ctrl[0] = 0.7
        for _ in range(300):
            mujoco.mj_step(model, data)
        tracks.append(float(data.qpos[0]))
    assert tracks[0] == tracks[1]


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("name", HELD)
def test_a_joint_held_by_friction_does_not_drift(name: str, share: float) -> None:
    servo = load_servo(name)
    spec = bench_spec(held_bench(servo, share))
    equip_native(spec, {BENCH_JOINT: NativeServo(servo=servo, has_torque_enable=True)})
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    data.qpos[0] = 1.0
    for _ in range(10_000):
        mujoco.mj_step(model, data)
    state = NativeState(model, data, BENCH_JOINT)
    assert -state.external_torque == pytest.approx(share * state.friction_budget, rel=1e-6)
    assert abs(data.qpos[0] - 1.0) < 1e-9


def test_released_servos_never_gain_energy() -> None:
    model = native_bench("mx64", has_torque_enable=True)
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(model)
    data.qpos[0] = 2.5
    mujoco.mj_forward(model, data)
    highest = data.energy.sum()
    for _ in range(4000):
        mujoco.mj_step(model, data)
        assert data.energy.sum() < highest + 2e-3  # MuJoCo's velocity belongs half a step earlier
    assert data.energy.sum() < highest - 1.0


@pytest.mark.parametrize("command", [(np.nan, 1.0), (np.inf, 1.0), (0.5, np.nan)])
def test_a_command_that_is_no_number_is_torque_off_with_a_warning(
    command: tuple[float, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings into a file there
    model = native_bench("mx106", has_torque_enable=True)
    data = mujoco.MjData(model)
    state = NativeState(model, data, BENCH_JOINT)
    positions = []
    for each in ((0.5, 1.0), command, (0.5, 1.0)):
        data.ctrl[:] = each
        for _ in range(500):
            mujoco.mj_step(model, data)
        positions.append(float(data.qpos[0]))
        assert (state.motor_torque == 0.0) == (each is command)
    assert data.time == pytest.approx(1.5)
    assert data.warning[mujoco.mjtWarning.mjWARN_BADCTRL].number == 500
    assert positions[1] < positions[0] == pytest.approx(positions[2], abs=1e-3)


def test_goals_stay_within_the_control_range() -> None:
    model = native_bench("mx106")
    model.actuator_ctrllimited[0], model.actuator_ctrlrange[0] = True, (-0.4, 0.4)
    data, clipped = mujoco.MjData(model), mujoco.MjData(model)
    data.ctrl[0], clipped.ctrl[0] = 2.0, 0.4
    for _ in range(500):
        mujoco.mj_step(model, data)
        mujoco.mj_step(model, clipped)
    assert data.qpos[0] == clipped.qpos[0]


@pytest.mark.parametrize("name", servo_names())
def test_mjcf_can_name_every_servo_of_the_library(name: str) -> None:
    load_plugin()
    servo = load_servo(name)
    text = f"""
    <mujoco>
      <extension><plugin plugin="bam_bench.servo"/></extension>
      <worldbody>
        <body>
          <joint name="j" axis="1 0 0" armature="{servo.motor.armature}" frictionloss="0.1"/>
          <geom size="0.05" pos="0 0 -0.1" mass="0.1"/>
        </body>
      </worldbody>
      <actuator>
        <plugin name="{{}}" joint="j" plugin="bam_bench.servo">{{}}<config key="kp" value="20"/></plugin>
      </actuator>
    </mujoco>"""
    numbers = "".join(f'<config key="{k}" value="{v!r}"/>' for k, v in law_values(servo).items())
    ends = []
    for config in (f'<config key="servo" value="{name}"/>', numbers):
        model = mujoco.MjModel.from_xml_string(text.format("a", config))
        data = mujoco.MjData(model)
        data.ctrl[0] = 0.3
        for _ in range(200):
            mujoco.mj_step(model, data)
        ends.append(float(data.qpos[0]))
    assert ends[0] == ends[1] != 0.0


GOOD = '<config key="servo" value="mx106"/><config key="kp" value="32"/>'


@pytest.mark.parametrize(
    ("config", "joint", "option", "words"),
    [
        (
            '<config key="servo" value="mx999"/><config key="kp" value="3"/>',
            "",
            "",
            "mx999.*not in the library",
        ),
        ('<config key="servo" value="mx106"/>', "", "", "kp is missing"),
        ('<config key="kp" value="3"/>', "", "", "torque_constant is missing"),
        (GOOD.replace("32", "much"), "", "", "kp is 'much'"),
        (GOOD + '<config key="viscous" value="-1"/>', "", "", "viscous is -1"),
        (GOOD + '<config key="overload_limit" value="20"/>', "", "", "overload_limit must be shares"),
        (GOOD, "frictionloss='0'", "", "frictionloss is 0"),
        (GOOD, "armature='0'", "", 'armature is 0.*armature="0.0250582"'),
        (GOOD, "actuatorfrcrange='-1.5 1.5'", "", "'j': actuatorfrcrange -1.5 to 1.5 limits"),
        (GOOD, "actuatorgravcomp='true'", "", "'j': actuatorgravcomp"),
        (GOOD, "", 'solver="CG"', "needs Newton"),
        (GOOD, "", 'integrator="RK4"', "RK4"),
        (GOOD, "", 'timestep="0.1"', "time step"),
        (GOOD, "type='ball'", "", "hinge or slide"),
    ],
)
def test_what_the_plugin_cannot_drive_is_refused_with_the_cure(
    config: str, joint: str, option: str, words: str
) -> None:
    load_plugin()
    joint = joint if "frictionloss" in joint else f"{joint} frictionloss='0.1'"
    joint = joint if "armature" in joint else f"{joint} armature='0.01'"
    text = f"""
    <mujoco>
      <option {option}/>
      <extension><plugin plugin="bam_bench.servo"/></extension>
      <worldbody>
        <body><joint name="j" {joint}/><geom size="0.05" mass="0.1"/></body>
      </worldbody>
      <actuator><plugin joint="j" plugin="bam_bench.servo">{config}</plugin></actuator>
    </mujoco>"""
    with pytest.raises((ValueError, mujoco.FatalError), match=words):
        mujoco.MjData(mujoco.MjModel.from_xml_string(text))


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("timestep", 0.5, "'joint': the time step of 0.5 s is unstable"),
        ("integrator", mujoco.mjtIntegrator.mjINT_RK4, "RK4"),
        ("solver", mujoco.mjtSolver.mjSOL_CG, "needs Newton"),
    ],
)
def test_options_that_are_changed_while_a_model_is_stepped_are_refused_as_at_the_start(
    option: str, value: float, words: str
) -> None:
    spec = bench_spec(LOADS["mx106"], timestep=1e-3)
    equip_native(spec, {BENCH_JOINT: NativeServo(servo="mx106")})
    model = spec.compile()
    data = mujoco.MjData(model)
    data.ctrl[:] = 0.5
    mujoco.mj_step(model, data, nstep=20)
    before = getattr(model.opt, option)
    setattr(model.opt, option, value)
    with pytest.raises(mujoco.FatalError, match=words):
        mujoco.mj_step(model, data)
    with pytest.raises(mujoco.FatalError, match=words):
        mujoco.MjData(model)
    setattr(model.opt, option, before)
    ends = []
    for mine in (data, mujoco.MjData(model)):
        mujoco.mj_resetData(model, mine)
        mine.ctrl[:] = 0.5
        mujoco.mj_step(model, mine, nstep=20)
        ends.append(mine.qpos[0])
    assert ends[0] == ends[1] != 0.0


def test_a_goal_acts_in_the_step_that_it_is_set_before() -> None:
    def moved(dt: float) -> tuple[float, float]:
        spec = bench_spec(LOADS["mx106"], timestep=dt)
        equip_native(spec, {BENCH_JOINT: NativeServo(servo="mx106", kp=32)})
        model = spec.compile()
        data = mujoco.MjData(model)
        for k in range(round(0.2 / dt)):
            data.ctrl[:] = 3.0 if k * dt > 0.04 - 1e-9 else 0.0
            mujoco.mj_step(model, data)
            assert (data.qvel[0] > 0.0) == (data.ctrl[0] > 0.0)
        return data.qpos[0], data.qvel[0]

    position, speed = moved(2e-5)
    for dt, lead in ((1e-3, 0.1e-3), (2e-3, 0.5e-3), (1e-2, 4e-3)):
        assert abs(moved(dt)[0] - position) / speed < lead  # s, as the page says


def test_two_servos_on_one_joint_are_refused() -> None:
    load_plugin()
    servo = f'<plugin joint="j" plugin="bam_bench.servo">{GOOD}</plugin>'
    text = f"""
    <mujoco>
      <extension><plugin plugin="bam_bench.servo"/></extension>
      <worldbody>
        <body><joint name="j" armature="0.01" frictionloss="0.1"/><geom size="0.05" mass="0.1"/></body>
      </worldbody>
      <actuator>{servo}{servo}</actuator>
    </mujoco>"""
    with pytest.raises(
        (ValueError, mujoco.FatalError), match="joint 'j': two servos drive it, actuators 0 and 1"
    ):
        mujoco.MjData(mujoco.MjModel.from_xml_string(text))


def test_a_missing_library_is_named_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAM_SERVO_PLUGIN", "/nowhere/libbam_servo.so")
    with refused(MissingSoftware, software="/nowhere/libbam_servo.so"):
        plugin_path()


def test_the_name_of_a_servo_is_a_servo_with_its_factory_gain() -> None:
    named, given = mujoco.MjSpec.from_string(ROBOT), mujoco.MjSpec.from_string(ROBOT)
    joint = next(joint.name for joint in named.joints if joint.type == mujoco.mjtJoint.mjJNT_HINGE)
    equip_native(named, {joint: "mx106"})
    equip_native(given, {joint: NativeServo(servo="mx106", kp=32.0)})
    assert named.to_xml() == given.to_xml()


@pytest.mark.parametrize("spec", ["arm.urdf", 3])
def test_what_is_no_description_is_refused(spec: object) -> None:
    for put in (equip, equip_native):
        with refused(WrongType, thing="spec"):
            put(spec, {"joint": "mx106"})  # type: ignore[operator]


@pytest.mark.parametrize("value", [-1.0, 0.0, float("nan")])
@pytest.mark.parametrize("name", ["kp", "supply_voltage"])
def test_a_servo_with_an_impossible_gain_or_supply_is_refused(name: str, value: float) -> None:
    with refused(OutOfRange, thing=f"NativeServo {name}"):
        NativeServo(servo="mx106", **{name: value})
