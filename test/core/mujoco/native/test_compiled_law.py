# SPDX-License-Identifier: Apache-2.0
"""Servos that C++ steps own what they remember: copies, pickles, resets and values that are no numbers."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
from collections.abc import Callable

import mujoco
import numpy as np
import pytest

from bam_core.errors import Conflict
from bam_core.mujoco import ServoActuation
from bam_core.mujoco.actuation import NotFiniteError
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.protection import OverloadProtection
from test.core.mujoco_cases import SERVO, affected, on_bench, walker
from test.core.refusals import refused

COPIES: dict[str, Callable[[ServoActuation], ServoActuation]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda actuation: pickle.loads(pickle.dumps(actuation)),
}
COMMANDS = (
    "goal_position",
    "torque_enabled",
    "kp",
    "supply_voltage",
    "case_temperature_rise",
    "encoder_zero",
)


def with_memory() -> ServoModel:
    """A servo that remembers all that the law knows: set-point, overload, a warm winding."""
    firmware = dataclasses.replace(
        SERVO.firmware,
        name="own",
        goal_speed_limit=2.0,
        goal_acceleration_limit=30.0,
        protection=OverloadProtection(threshold=0.2, time=0.05, limit=0.1),
    )
    servo = affected(SERVO, winding_heating=8.0, load_inertia=0.5, friction_direction=0.1)
    return dataclasses.replace(servo, firmware=firmware)


def track(actuation: ServoActuation, steps: int = 200) -> np.ndarray:
    """Positions behind every step of a swing, (steps, servos) rad."""
    found = np.empty((steps, len(actuation.names)))
    for step in range(steps):
        actuation.goal_position[:] = np.sin(0.03 * step)
        actuation.step()
        found[step] = actuation.position
    return found


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_goes_on_alike_and_on_its_own(make: Callable[[ServoActuation], ServoActuation]) -> None:
    actuation = walker(servo=with_memory())
    actuation.torque_enabled[:] = 1.0
    track(actuation)
    twin = make(actuation)
    assert type(twin) is ServoActuation
    expected = track(actuation)
    np.testing.assert_array_equal(track(twin), expected)
    twin.goal_position[:] = 5.0
    assert (actuation.goal_position != 5.0).all()


def test_nothing_survives_a_reset() -> None:
    actuation = on_bench(with_memory())
    tracks = []
    for _ in range(2):
        mujoco.mj_resetData(actuation.model, actuation.data)
        actuation.reset()
        actuation.torque_enabled[:] = 1.0
        tracks.append(track(actuation, 400))
    np.testing.assert_array_equal(tracks[0], tracks[1])
    actuation.torque_enabled[:], actuation.goal_position[:] = 1.0, 0.5
    mujoco.mj_resetData(actuation.model, actuation.data)
    actuation.reset()
    actuation.step()
    assert actuation.duty[0] > 0.0  # the set-point is the new goal at once, not where it was


def with_firmware(**changes: object) -> ServoModel:
    return dataclasses.replace(SERVO, firmware=dataclasses.replace(SERVO.firmware, name="own", **changes))


def test_after_a_goal_duty_the_set_point_starts_where_the_joint_was_last() -> None:
    servo = with_firmware(goal_speed_limit=2.0)
    actuation = on_bench(servo)
    actuation.torque_enabled[:], actuation.goal_duty[:] = 1.0, 0.3
    positions = track(actuation, 100)[:, 0]
    actuation.goal_duty[:], actuation.goal_position[:] = np.nan, -5.0
    actuation.step()
    firmware = servo.firmware
    gain, _ = firmware.gains(firmware.factory_kp)
    error = positions[-2] - 2.0 * firmware.period - positions[-1]
    assert positions[-1] > 0.05
    assert actuation.duty[0] == pytest.approx(float(gain) * error)


def test_a_goal_duty_ends_the_protection_from_overload() -> None:
    servo = with_firmware(protection=OverloadProtection(threshold=0.2, time=0.05, limit=0.1))
    actuation = on_bench(servo)
    actuation.torque_enabled[:], actuation.goal_position[:] = 1.0, 5.0
    duties = []
    for goal_duty in (*[np.nan] * 100, 0.0, np.nan):
        actuation.goal_duty[:] = goal_duty
        actuation.step()
        duties.append(float(actuation.duty[0]))
    full = servo.firmware.demand_limit
    assert duties[-3:] == pytest.approx([0.1 * full, 0.0, full])


def test_a_view_outlives_its_servos() -> None:
    goal = on_bench(SERVO).goal_position
    gc.collect()
    goal[:] = 1.0
    assert goal.tolist() == [1.0]


def test_what_other_servos_remembered_is_refused() -> None:
    actuation = on_bench(SERVO)
    with refused(Conflict):
        actuation.recall(walker().remember())
    with refused(Conflict):
        actuation.recall(actuation.remember()[["duty", "kp"]])


@pytest.mark.parametrize("name", ["mx106", "erob80_100"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_no_number_ends_the_simulation_and_leaves_forces(name: str, command: str) -> None:
    servo = load_servo(name)
    heated = dataclasses.replace(servo.motor, winding_heating=8.0)
    effects = dataclasses.replace(servo.servo_effects, encoder_quantisation=1.0, friction_temperature=0.01)
    actuation = on_bench(dataclasses.replace(servo, motor=heated, servo_effects=effects))
    actuation.data.qfrc_applied[:] = 0.25
    actuation.torque_enabled[:], actuation.goal_position[:] = 1.0, 0.1
    actuation.step()
    getattr(actuation, command)[:] = np.nan
    with refused(NotFiniteError, time=pytest.approx(1e-3)):
        actuation.step()
    assert actuation.data.qfrc_applied.tolist() == [0.25]
