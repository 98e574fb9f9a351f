# SPDX-License-Identifier: Apache-2.0
"""A servo in plain MJCF moves as ours does, where plain MJCF can say what it is."""

from __future__ import annotations

import dataclasses
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from bam_core.errors import OutOfRange
from bam_core.exchange import MjcfDrive, servo_mjcf
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.effects import ServoEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo, servo_names
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.refusals import refused

DT = 1e-4
LIGHT = PendulumBench(mass=1.0, arm_mass=0.05, length=0.15)
HEAVY = PendulumBench(mass=8.2, arm_mass=1.0, length=0.5)
FRICTIONS = {
    "mx106": {"viscous": 0.05, "coulomb": 0.1},
    "erob80_100": {"viscous": 8.4, "coulomb": 5.6},
}


def m1(name: str, **motor: float) -> ServoModel:
    """Return a servo with M1 friction whose firmware works all the time, as MuJoCo's controller does."""
    servo = load_servo(name)
    return dataclasses.replace(
        servo,
        firmware=dataclasses.replace(servo.firmware, period=DT),
        motor=dataclasses.replace(servo.motor, **motor),
        friction_model="m1",
        friction=FRICTION_MODELS["m1"].friction(FRICTIONS[name]),
        integrator="midpoint",
    )


def moved(servo: ServoModel, bench: PendulumBench, script: str, kp: float, supply: float) -> np.ndarray:
    """Return where the exported pendulum goes, one position per DT, rad."""
    text, remarks = servo_mjcf(servo, MjcfDrive(kp=kp, supply_voltage=supply), bench)
    assert remarks == []
    spec = mujoco.MjSpec.from_string(text)
    spec.option.timestep = DT
    model = spec.compile()
    data = mujoco.MjData(model)
    goals, _ = SCRIPTS[script](np.arange(round(SCRIPTS[script].duration / DT) + 1) * DT)
    positions = np.empty(len(goals))
    data.qpos[0] = goals[0]
    for k, goal in enumerate(goals):
        positions[k] = data.qpos[0]
        data.ctrl[0] = goal
        mujoco.mj_step(model, data)
    return positions


@pytest.mark.parametrize(
    "script",
    ["sin_time_square", *(pytest.param(name, marks=pytest.mark.long) for name in ("sin_sin", "up_and_down"))],
)
@pytest.mark.parametrize(
    ("name", "bench", "kp", "supply", "motor"),
    [
        ("mx106", LIGHT, 32.0, 15.0, {}),
        ("mx106", LIGHT, 8.0, 12.0, {"winding_heating": 20.0}),
        pytest.param("erob80_100", HEAVY, 50.0, 48.0, {}, marks=pytest.mark.long),
        ("erob80_100", HEAVY, 50.0, 20.0, {}),  # which limits the current
    ],
    ids=["voltage", "warm", "current", "starved"],
)
def test_an_exported_m1_pendulum_moves_as_ours(
    name: str, bench: PendulumBench, kp: float, supply: float, motor: dict[str, float], script: str
) -> None:
    """Same law, so what is left is of first order in MuJoCo's step: at 0.1 ms, 0.02 to 0.26 mrad."""
    servo = m1(name, **motor)
    ours = synthesize(
        servo, bench, script, kp, SynthesisSettings(sample_period=DT, supply_voltage=supply)
    ).position
    assert np.ptp(ours) > 0.8
    assert np.mean(np.abs(moved(servo, bench, script, kp, supply) - ours)) < 0.4e-3


def test_heat_matters_in_that_comparison() -> None:
    cold, warm = (
        synthesize(m1("mx106", **h), LIGHT, "sin_sin", 8.0) for h in ({}, {"winding_heating": 20.0})
    )
    assert np.mean(np.abs(cold.position - warm.position)) > 4e-3


@pytest.mark.parametrize("kp", [None, 20.0])
@pytest.mark.parametrize("name", servo_names())
def test_every_servo_of_the_library_compiles_alone_and_in_a_robot(name: str, kp: float | None) -> None:
    servo = load_servo(name)
    text, remarks = servo_mjcf(servo, MjcfDrive(kp=kp))
    mujoco.MjSpec.from_string(text).compile()
    assert any(remark.startswith("friction: ") for remark in remarks) == (servo.friction_model != "m1")
    assert all("\n" not in remark for remark in remarks)
    robot = f"""<mujoco><include file="servo.xml"/><worldbody><body>
        <joint name="hip" class="{servo.name}" axis="1 0 0"/>
        <geom size="0.05" pos="0 0 -0.1"/></body></worldbody>
        <actuator><dcmotor class="{servo.name}" joint="hip"/></actuator></mujoco>"""
    model = mujoco.MjSpec.from_string(robot, include={"servo.xml": text.encode()}).compile()
    assert model.dof_armature[0] == servo.motor.armature
    assert model.dof_frictionloss[0] > 0.0
    assert model.nu == 1


def test_m1_is_exact_to_the_last_digit() -> None:
    text, _ = servo_mjcf(m1("mx106"), bench=LIGHT)
    model = mujoco.MjSpec.from_string(text).compile()
    assert model.dof_damping[0] == 0.05
    assert model.dof_frictionloss[0] == 0.1
    assert model.dof_armature[0] == load_servo("mx106").motor.armature


def test_the_error_of_the_gain_is_in_the_stiffness() -> None:
    servo = dataclasses.replace(m1("mx106"), servo_effects=ServoEffects(firmware_gain=0.25))
    text, remarks = servo_mjcf(servo, MjcfDrive(kp=8.0))
    plain, _ = servo_mjcf(m1("mx106"), MjcfDrive(kp=10.0))
    wanted, found = (ElementTree.fromstring(each).find(".//dcmotor") for each in (plain, text))
    assert wanted is not None
    assert found is not None
    assert found.attrib == wanted.attrib
    assert not any(remark.startswith("firmware_gain") for remark in remarks)


def test_without_a_gain_the_input_is_a_voltage_or_a_torque() -> None:
    stalled = 6.0 * load_servo("mx106").motor.torque_constant / load_servo("mx106").motor.resistance
    for name, control, torque in (("mx106", 6.0, stalled), ("erob80_100", 30.0, 30.0)):
        text, _ = servo_mjcf(m1(name), bench=HEAVY)
        model = mujoco.MjSpec.from_string(text).compile()
        data = mujoco.MjData(model)
        data.ctrl[0] = control
        mujoco.mj_forward(model, data)
        assert data.actuator_force[0] == pytest.approx(torque)
        data.ctrl[0] = 1e6
        mujoco.mj_forward(model, data)
        assert data.actuator_force[0] == pytest.approx(m1(name).stall_torque())


def test_the_approximation_of_a_law_without_load_terms_is_near_it() -> None:
    """M2 whose Stribeck term is gone below any speed is M1."""
    friction = FRICTION_MODELS["m2"].friction(
        {
            "viscous": 0.07,
            "coulomb": 0.2,
            "stribeck_coulomb": 0.0,
            "stribeck_velocity": 0.1,
            "stribeck_exponent": 1.0,
        }
    )
    servo = dataclasses.replace(m1("mx106"), friction_model="m2", friction=friction)
    model = mujoco.MjSpec.from_string(servo_mjcf(servo, bench=LIGHT)[0]).compile()
    assert model.dof_damping[0] == pytest.approx(0.07)
    assert model.dof_frictionloss[0] == pytest.approx(0.2)


def forces(model: mujoco.MjModel, controls: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Return the torque of the actuator for every control and speed, N·m."""
    data = mujoco.MjData(model)
    found = np.empty(len(controls))
    for k, (control, speed) in enumerate(zip(controls, speeds, strict=True)):
        data.ctrl[0], data.qvel[0] = control, speed
        mujoco.mj_forward(model, data)
        found[k] = data.actuator_force[0]
    return found


@pytest.mark.parametrize("saturation", [0.2, 2.0])
def test_no_other_linear_motor_is_nearer_to_one_that_saturates(saturation: float) -> None:
    servo = m1("mx106", torque_saturation=saturation)
    largest = servo.nominal_voltage * servo.firmware.demand_limit
    fastest = 0.5 * largest / servo.motor.torque_constant
    model = mujoco.MjSpec.from_string(servo_mjcf(servo, bench=LIGHT)[0]).compile()
    volts, speeds = (
        axis.ravel() for axis in np.meshgrid(np.linspace(0.0, largest, 41), np.linspace(0.0, fastest, 41))
    )
    wanted = servo.motor.torque(volts, speeds)
    linear = forces(model, volts, speeds)
    per_volt, damping = np.linalg.lstsq(np.stack([volts, -speeds], axis=1), linear, rcond=None)[0]

    def off(per_volt: float, damping: float) -> float:
        return float(np.mean((per_volt * volts - damping * speeds - wanted) ** 2))

    best = off(per_volt, damping)
    assert np.max(np.abs(per_volt * volts - damping * speeds - linear)) < 1e-9  # the actuator is linear
    for other in (off(0.97 * per_volt, damping), off(1.03 * per_volt, damping)):
        assert best < other
    for other in (off(per_volt, 0.9 * damping), off(per_volt, 1.1 * damping)):
        assert best < other


def test_a_current_that_saturates_becomes_a_smaller_torque_constant() -> None:
    servo = m1("erob80_100", torque_saturation=0.05)
    model = mujoco.MjSpec.from_string(servo_mjcf(servo, bench=HEAVY)[0]).compile()
    currents = np.linspace(0.0, servo.firmware.demand_limit, 30)
    constant = currents @ servo.motor.torque(servo.motor.resistance * currents, 0.0) / (currents @ currents)
    asked = np.array([0.3, 100.0]) * constant * servo.firmware.demand_limit
    expected = np.array([0.3, 1.0]) * constant * servo.firmware.demand_limit
    np.testing.assert_allclose(forces(model, asked, np.zeros(2)), expected, rtol=0.01)


def test_what_mjcf_cannot_hold_is_told() -> None:
    voltage = m1("mx106", torque_saturation=0.2, winding_heating=1.0)
    assert [line.split(":")[0] for line in servo_mjcf(voltage)[1]] == ["torque_saturation"]
    quirky = dataclasses.replace(voltage, servo_effects=ServoEffects(sensor_delay=1e-3, bridge_coasting=1.0))
    assert [line.split(":")[0] for line in servo_mjcf(quirky)[1]] == [
        "torque_saturation",
        "bridge_coasting",
        "sensor_delay",
    ]
    current = dataclasses.replace(m1("erob80_100", winding_heating=1.0), integrator="semi_implicit")
    assert [line.split(":")[0] for line in servo_mjcf(current)[1]] == ["winding_heating", "integrator"]


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_drive_out_of_range_is_refused(value: float) -> None:
    for name in ("kp", "supply_voltage"):
        with refused(OutOfRange, thing=name):
            MjcfDrive(**{name: value})
