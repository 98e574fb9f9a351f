# SPDX-License-Identifier: Apache-2.0
"""The law for compilers of Python, step by step beside the engine plugin, which has it in C++."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import mujoco
import numpy as np
import pytest

from bam_core.mujoco import BENCH_JOINT, bench_spec, compile_robot, step_law
from bam_core.mujoco.native import NativeServo, equip_native
from bam_core.mujoco.native.library import doubles
from bam_core.mujoco.step_law import Drive, Memory, Number
from bam_core.servo.effects import ServoEffects
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.servo.protection import OverloadProtection

LOADS = {
    "mx106": PendulumBench(mass=1.0, length=0.15),
    "xl330": PendulumBench(mass=0.2, length=0.1),
    "sts3215": PendulumBench(mass=0.4, length=0.12),
    "erob80_50": PendulumBench(mass=5.0, length=0.4),
}
KP = {"mx106": 32.0, "xl330": 200.0, "sts3215": 16.0, "erob80_50": 40.0}


class Shadow:
    """The law of one servo that gets what the plugin's servo gets, and steps beside it."""

    def __init__(self, model: mujoco.MjModel, servo: NativeServo) -> None:
        config = servo.config()
        self.c = np.array([[float(config.get(name, 0.0))] for name in Number.__members__])
        self.memory, self.next = np.zeros((len(Memory), 1)), np.zeros((len(Memory), 1))
        self.drive = np.zeros((len(Drive), 1))
        self.inverse_inertia = float(model.dof_invweight0[0])
        step_law.start(self.c, self.memory, 0)

    def begin(self, data: mujoco.MjData, goal: float, enabled: float, dt: float) -> None:
        push = float(data.qfrc_passive[0] - data.qfrc_bias[0])
        given = (goal, enabled, float(data.qpos[0]), float(data.qvel[0]), push, dt)
        step_law.begin_step(self.c, self.memory, self.next, self.drive, 0, *given)
        self.next[Memory.inverse_inertia] = self.inverse_inertia

    def end(self, data: mujoco.MjData, friction: float, other: float, dt: float) -> None:
        results = (float(data.qvel[0]), float(data.qacc[0]), friction, other, dt)
        step_law.end_step(self.c, self.memory, self.next, self.drive, 0, *results)


def differences(
    servo: NativeServo, bench: PendulumBench, dt: float, command: Callable[[float], tuple[float, float]]
) -> dict[str, float]:
    """Return the largest difference of each quantity of drive and memory in half a second."""
    spec = bench_spec(bench, timestep=dt)
    equip_native(spec, {BENCH_JOINT: servo})
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    record = data.plugin_state.view(doubles("state"))
    shadow = Shadow(model, servo)
    worst: dict[str, float] = {}
    for index in range(int(0.5 / dt)):
        goal, enabled = command(index * dt)
        data.ctrl[:] = goal, enabled
        before = mujoco.MjData(model)
        mujoco.mj_copyData(before, model, data)
        mujoco.mj_forward(model, before)
        shadow.begin(before, goal, enabled, dt)
        mujoco.mj_step(model, data)
        state = {name: float(record[name][0]) for name in record.dtype.names or ()}
        shadow.end(data, state["friction_torque"], state["other_torque"], dt)
        for table, names in ((shadow.drive, Drive.__members__), (shadow.memory, Memory.__members__)):
            for name in names:
                if name in state:
                    error = abs(float(table[names[name], 0]) - state[name])
                    worst[name] = max(worst.get(name, 0.0), error)
    return worst


def swing(time: float) -> tuple[float, float]:
    """Swing, stop at a held goal, and release for a while."""
    goal = 0.6 * math.sin(20.0 * time) if time < 0.3 else 0.3
    return goal, 0.0 if 0.35 <= time < 0.42 else 1.0


def assert_same(worst: dict[str, float]) -> None:
    assert len(worst) >= len(Drive) + len(Memory) - 3
    assert {name: error for name, error in worst.items() if error > 1e-9} == {}


@pytest.mark.parametrize("dt", [5e-4, 2e-3])
@pytest.mark.parametrize("name", sorted(LOADS))
def test_each_step_is_that_of_the_plugin(name: str, dt: float) -> None:
    servo = NativeServo(servo=name, kp=KP[name], has_torque_enable=True)
    assert_same(differences(servo, LOADS[name], dt, swing))


EFFECTS = {
    "temperature": ServoEffects(friction_temperature=0.01),
    "coasting": ServoEffects(bridge_coasting=0.6),
    "delay": ServoEffects(sensor_delay=2e-3),
    "counts": ServoEffects(encoder_quantisation=1.0),
    "load inertia": ServoEffects(load_inertia=1.0),
    "slew": ServoEffects(goal_slew_time=0.2),
    "direction": ServoEffects(friction_direction=0.3),
}


@pytest.mark.parametrize("effect", EFFECTS)
def test_effects_are_those_of_the_plugin(effect: str) -> None:
    servo = dataclasses.replace(load_servo("mx106"), servo_effects=EFFECTS[effect])
    native = NativeServo(servo=servo, kp=32.0, has_torque_enable=True, case_temperature_rise=15.0)
    assert_same(differences(native, LOADS["mx106"], 2e-3, swing))


def test_heat_and_saturation_are_those_of_the_plugin() -> None:
    servo = load_servo("mx106")
    motor = dataclasses.replace(servo.motor, winding_heating=5.0, torque_saturation=0.05)
    native = NativeServo(servo=dataclasses.replace(servo, motor=motor), kp=32.0, has_torque_enable=True)
    assert_same(differences(native, LOADS["mx106"], 2e-3, swing))


def test_gains_dead_band_and_protection_are_those_of_the_plugin() -> None:
    servo = load_servo("mx106")
    protection = OverloadProtection(threshold=0.3, time=0.05, limit=0.2)
    firmware = dataclasses.replace(
        servo.firmware,
        name="own",
        dead_band=0.01,
        error_offset=0.004,
        kd_scale=0.02,
        ki_scale=0.1,
        protection=protection,
    )
    own = dataclasses.replace(servo, firmware=firmware)
    native = NativeServo(servo=own, kp=32.0, kd=20.0, ki=30.0, has_torque_enable=True)
    assert_same(differences(native, LOADS["mx106"], 2e-3, swing))
