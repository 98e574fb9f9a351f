# SPDX-License-Identifier: Apache-2.0
"""From registers to motion: the emulated servo moves as the law of the library with its true parameters."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import Unsupported
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import script
from bam_core.servo.firmware_library import find_firmware
from bam_core.servo.model import ServoModel, load_servo
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_ros.emulators.dynamixel.builder import BusSetup, build_servo
from bam_ros.emulators.feetech.catalog import FEETECH
from test.ros.feetech_helpers import LOAD
from test.ros.virtual_helpers import Clock

PERIOD = 4e-3


def clock() -> Clock:
    setup = BusSetup(
        catalog=FEETECH, servo="sts3215", pendulum=dataclasses.replace(LOAD, mass=0.5, length=0.15)
    )
    return Clock(build_servo(setup, 0, 0.0))


def record(kp: int, kd: int = 0, ki: int = 0, **registers: int) -> Recording:
    """Return a run of the emulated servo with these gains, and further registers that were changed."""
    served = clock()
    servo = served.servo
    position = servo.table["present_position"]
    served.write(position_p_gain=kp, position_d_gain=kd, position_i_gain=ki, **registers)
    served.write(torque_enable=1)
    follow = script("sin_time_square")
    time = np.arange(0.0, follow.duration, PERIOD)
    goal, enabled = follow(time)
    names = ("position", "velocity", "input_voltage", "temperature", "load")
    registers_read = [servo.table[f"present_{name}"] for name in names]
    measured = []
    for wanted in goal:
        served.write(goal_position=position.from_si(float(wanted)))
        measured.append([row.to_si(served.read(row.name)) for row in registers_read])
        served.run(PERIOD)
    columns = np.array(measured).T
    return Recording(
        name="emulated",
        source=Path("emulated"),
        sha256="emulated",
        servo="sts3215",
        bench=servo.bench.pendulum,
        kp=kp,
        kd=kd,
        ki=ki,
        supply_voltage=servo.bench.hidden.supply_voltage,
        time=time,
        goal_position=goal,
        torque_enabled=enabled,
        script="sin_time_square",
        **dict(zip(("position", "velocity", "voltage", "temperature", "duty"), columns, strict=True)),
    )


def error(run: Recording, ki_scale: float | None = None) -> float:
    """Return the mean absolute error of the library's law with the servo's true parameters, rad."""
    hidden = clock().servo.bench.hidden
    true: ServoModel = dataclasses.replace(
        load_servo("sts3215"),
        firmware=dataclasses.replace(find_firmware("feetech-sts"), ki_scale=ki_scale),
        motor=hidden.motor,
        friction=hidden.friction,
        friction_model="m6",
        integrator="midpoint",
    )
    return float(Rollout.for_servo([run], true).errors(parameter_vector(true))[0, 0])


@pytest.mark.parametrize(("kp", "kd"), [(32, 0), (16, 0), (16, 32)])
def test_the_servo_moves_as_the_library_says(kp: int, kd: int) -> None:
    assert error(record(kp, kd)) < 4e-3


def test_without_its_derivative_gain_the_model_is_wrong() -> None:
    run = record(16, 32)
    assert error(dataclasses.replace(run, kd=0)) > 2.0 * error(run)


def test_its_integral_gain_is_the_law_with_the_scale_that_the_emulator_assumes() -> None:
    """1/256 of P per period of 1 ms. Nobody knows the scale of a real one, so the library refuses it."""
    run = record(8, ki=24)
    assert error(run, ki_scale=1000.0 / 256.0) < 4e-3
    assert error(dataclasses.replace(run, ki=0)) > 2.0 * error(run, ki_scale=1000.0 / 256.0)
    with pytest.raises(Unsupported, match="ki"):
        error(run)


@pytest.mark.parametrize(
    "registers", [{"goal_velocity": 300}, {"goal_acceleration": 10}, {"torque_limit": 150}]
)
def test_registers_that_change_the_law_change_the_motion(registers: dict[str, int]) -> None:
    assert error(record(32, **registers)) > 2.0 * error(record(32))
