# SPDX-License-Identifier: Apache-2.0
"""Servos behind gears in MuJoCo do what the gear's own rollout says."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest

from bam_core import BamError, PendulumBench, load_servo
from bam_core.gears import Asymmetry
from bam_core.gears.rollout import GEAR_PARAMETERS, TRACE_STEPS, GearRollout
from bam_core.gears.servos import GearedServos, equip_with_gears
from bam_core.mujoco import BENCH_JOINT, bench_spec
from bam_core.servo_model import ServoModel
from bam_core.synthetic import synthesize

BENCH = PendulumBench(mass=0.49, length=0.1)
GEAR = Asymmetry(input_side=0.1, output_side=0.35)


def servo() -> ServoModel:
    known = load_servo("xl330_bam")
    motor = dataclasses.replace(known.motor, torque_saturation=0.0, winding_heating=0.0)
    return dataclasses.replace(known, motor=motor)


def geared(asymmetry: Asymmetry, timestep: float) -> tuple[mujoco.MjData, GearedServos]:
    spec = bench_spec(BENCH, timestep=timestep)
    equip_with_gears(spec, {BENCH_JOINT: servo()})
    model = spec.compile()
    data = mujoco.MjData(model)
    return data, GearedServos(model, data, {BENCH_JOINT: (servo(), asymmetry)})


@pytest.mark.parametrize("script", ["sin_sin", "up_and_down"])
def test_the_bench_moves_as_in_the_rollout(script: str) -> None:
    period = servo().firmware.period
    run = synthesize(servo(), BENCH, script, 400.0, sample_period=TRACE_STEPS * period)
    run = dataclasses.replace(run, position=np.full(len(run), run.goal_position[0]))
    values = {**servo().parameters, **servo().friction.coefficients()}
    values |= {"input_side": 0.1, "output_side": 0.35, "zero_offset": 0.0, "command_delay": 0.0}
    vector = np.array([values[name] for name in GEAR_PARAMETERS])
    expected = GearRollout([run], firmware=servo().firmware, substeps=10).positions(vector)[0]
    data, servos = geared(GEAR, period / 5.0)
    data.qpos[0] = run.position[0]
    servos.kp[:], servos.torque_enabled[:] = 400.0, 1.0
    off = []
    for k in range(3 * 1000):
        if k % TRACE_STEPS == 0:
            off.append(data.qpos[0] - expected[k // TRACE_STEPS])
        late = k * period - 0.5 * period  # a goal comes into force half a period after it was written
        held = max(int(np.searchsorted(run.time, late, side="right")) - 1, 0)
        servos.goal_position[:] = run.goal_position[held]
        for _ in range(5):
            servos.step()
    assert np.mean(np.abs(off)) < 3e-3


def test_a_self_locking_gear_carries_the_arm_with_torque_off() -> None:
    for asymmetry, holds in ((GEAR, False), (Asymmetry(input_side=0.1, output_side=1.05), True)):
        data, servos = geared(asymmetry, 1e-3)
        data.qpos[0] = 1.2
        for _ in range(500):
            servos.step()
        assert (data.qpos[0] == 1.2) == holds


def test_the_servos_load_dependent_friction_gives_way_to_the_gear() -> None:
    _, servos = geared(GEAR, 1e-3)
    law = servos.robot.joints.frictions[0]
    assert (law.load_motor, law.load_external, law.quadratic_external) == (0.0, 0.0, 0.0)
    assert law.coulomb == servo().friction.coulomb


def test_a_joint_that_does_not_exist_is_named() -> None:
    with pytest.raises(BamError, match=r"'wrist'.*joint"):
        equip_with_gears(bench_spec(BENCH), {"wrist": servo()})
