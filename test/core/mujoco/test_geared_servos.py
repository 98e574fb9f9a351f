# SPDX-License-Identifier: Apache-2.0
"""Servos behind gears in MuJoCo do what the gear's own rollout says, beside servos that have none."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import mujoco
import numpy as np
import pytest

from bam_core import PendulumBench, load_servo
from bam_core.errors import Conflict, UnknownName, Unsupported
from bam_core.gears import Asymmetry, axproj
from bam_core.gears.robot import GearedRobot
from bam_core.gears.rollout import TRACE_STEPS, GearRollout, gear_vector
from bam_core.mujoco import (
    BENCH_JOINT,
    BenchCommands,
    BlackBox,
    ServoActuation,
    SimulationError,
    actuate,
    bench_spec,
    equip,
    load_diverged_run,
    replay,
)
from bam_core.mujoco.actuation import NotFiniteError
from bam_core.mujoco.geared_servos import GearedServos
from bam_core.servo.friction import Friction
from bam_core.servo.model import ServoModel
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from bam_core.text.gear_findings import IllPosedGears
from test.core.refusals import refused

BENCH = PendulumBench(mass=0.49, length=0.1)
GEAR = Asymmetry(input_side=0.1, output_side=0.35)
LOCKING = Asymmetry(input_side=0.1, output_side=1.05)

ARM = """
<mujoco>
  <option timestep="1e-3"/>
  <worldbody>
    <geom type="plane" size="3 3 0.1"/>
    <body pos="0 0 0.15">
      <joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" fromto="0.01 0 0 0.12 0 0" size="0.008" mass="0.1"/>
      <body pos="0.13 0 0">
        <joint name="elbow" axis="0 1 0"/>
        <geom type="capsule" fromto="0.01 0 0 0.12 0 0" size="0.008" mass="0.1"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def servo() -> ServoModel:
    known = load_servo("xl330_bam")
    motor = dataclasses.replace(known.motor, torque_saturation=0.0, winding_heating=0.0)
    return dataclasses.replace(known, motor=motor)


def ready(spec: mujoco.MjSpec, servos: dict[str, ServoModel]) -> ServoActuation:
    equip(spec, servos)
    model = spec.compile()
    return actuate(model, mujoco.MjData(model), servos)


def geared(asymmetry: Asymmetry, timestep: float) -> tuple[mujoco.MjData, GearedServos]:
    servos = ready(bench_spec(BENCH, timestep=timestep), {BENCH_JOINT: servo().with_gear(asymmetry)})
    assert isinstance(servos, GearedServos)
    return servos.data, servos


def arm(shoulder: ServoModel, elbow: ServoModel) -> ServoActuation:
    return ready(mujoco.MjSpec.from_string(ARM), {"shoulder": shoulder, "elbow": elbow})


def swing(servos: ServoActuation, steps: int) -> np.ndarray:
    """Positions of a run with both joints on their way, from rest, and torque off at its end."""
    servos.torque_enabled[:], servos.kp[:] = 1.0, 400.0
    seen = []
    for k in range(steps):
        servos.goal_position[:] = (-0.5 * np.sin(4e-3 * k), 0.8 * np.sin(7e-3 * k))
        servos.torque_enabled[:] = 1.0 if k < 0.8 * steps else 0.0
        servos.step()
        seen.append(servos.position.copy())
    return np.array(seen)


@pytest.mark.long
@pytest.mark.parametrize("script", ["sin_sin", "up_and_down"])
def test_the_bench_moves_as_in_the_rollout(script: str) -> None:
    period = servo().firmware.period
    run = synthesize(servo(), BENCH, script, 400.0, SynthesisSettings(sample_period=TRACE_STEPS * period))
    run = dataclasses.replace(run, position=np.full(len(run), run.goal_position[0]))
    vector = gear_vector(servo().with_gear(GEAR))
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
    for asymmetry, holds in ((GEAR, False), (LOCKING, True)):
        data, servos = geared(asymmetry, 1e-3)
        data.qpos[0] = 1.2
        for _ in range(500):
            servos.step()
        assert (data.qpos[0] == 1.2) == holds
        assert (data.qvel[0] == 0.0) == holds
        assert abs(servos.friction_torque[0]) <= servos.friction_budget[0]


@pytest.mark.long
def test_a_gear_that_takes_nothing_is_the_servo_without_it() -> None:
    plain = dataclasses.replace(servo(), friction_model="m2", friction=servo().with_gear(GEAR).friction)
    nothing = plain.with_gear(Asymmetry(input_side=0.0, output_side=0.0))
    goal = np.sin(np.arange(15000) * 2e-4 * 4.0)
    runs = [
        replay(
            each,
            BENCH,
            BenchCommands(goal_position=goal, torque_enabled=np.ones(len(goal)), supply_voltage=7.5),
            dt=2e-4,
            kp=400.0,
        )
        for each in (plain, nothing)
    ]
    assert runs[0].position == pytest.approx(runs[1].position, abs=1e-4)
    assert runs[0].motor_torque[50:] == pytest.approx(runs[1].motor_torque[50:], abs=2e-3)


def test_beside_a_gear_an_ordinary_servo_moves_as_it_does_without() -> None:
    # The gear locks the shoulder at rest, so that the elbow cannot tell it from a servo that holds.
    ordinary, locked = servo(), servo().with_gear(LOCKING)
    mixed = arm(locked, ordinary)
    alone_spec = mujoco.MjSpec.from_string(ARM)
    alone_spec.joint("shoulder").frictionloss = 10.0
    alone = ready(alone_spec, {"elbow": ordinary})
    assert isinstance(mixed, GearedServos)
    assert not isinstance(alone, GearedServos)
    seen = []
    for servos in (mixed, alone):
        servos.torque_enabled[-1], servos.kp[:] = 1.0, 400.0
        places = []
        for k in range(1500):
            servos.goal_position[-1] = 0.8 * np.sin(7e-3 * k)
            servos.step()
            places.append(servos.position[-1])
        seen.append(np.array(places))
    assert np.ptp(seen[0]) > 1.0
    assert mixed.data.joint("shoulder").qpos[0] == 0.0
    assert np.abs(seen[0] - seen[1]).max() < 1e-2
    assert mixed.friction_budget[1] > 0.0


def test_load_dependent_friction_beside_a_gear_counts_like_any_budget() -> None:
    held = dataclasses.replace(
        servo(),
        friction_model="m3",
        friction=Friction(coulomb=0.1, load_motor=0.3, load_external=0.3),
    )
    servos = arm(servo().with_gear(GEAR), held)
    servos.step()
    servos.step()
    load = abs(servos.external_torque[1])
    assert load > 0.05
    assert servos.friction_budget[1] == pytest.approx(0.1 + 0.3 * load, rel=1e-6)


def test_the_floor_stops_geared_servos_where_it_stops_any_and_then_they_are_at_rest() -> None:
    plain = dataclasses.replace(servo(), friction_model="m2", friction=servo().with_gear(GEAR).friction)
    runs = [
        arm(shoulder, plain)
        for shoulder in (plain, plain.with_gear(Asymmetry(input_side=0.0, output_side=0.0)))
    ]
    for servos in runs:
        for _ in range(1200):
            servos.step()
        assert servos.data.ncon == 1
    assert runs[0].position == pytest.approx(runs[1].position, abs=3e-3)
    assert runs[1].velocity.tolist() == [0.0, 0.0]


def test_what_is_remembered_is_all_that_the_next_step_depends_on() -> None:
    full = mujoco.mjtState.mjSTATE_INTEGRATION
    servos = arm(servo().with_gear(GEAR), servo())
    swing(servos, 200)
    servos.torque_enabled[:] = 1.0
    state = np.empty(mujoco.mj_stateSize(servos.model, full))
    mujoco.mj_getState(servos.model, servos.data, state, full)
    memory = servos.remember()
    first = [(servos.step(), servos.position.copy())[1] for _ in range(100)]
    other = actuate(
        servos.model, mujoco.MjData(servos.model), dict(zip(servos.names, servos.servos, strict=True))
    )
    mujoco.mj_setState(other.model, other.data, state, full)
    other.recall(memory)
    assert np.array_equal(first, [(other.step(), other.position.copy())[1] for _ in range(100)])


def test_a_simulation_with_gears_that_diverges_says_so_and_can_be_run_again(tmp_path: Path) -> None:
    servos = arm(servo().with_gear(GEAR), servo())
    box = BlackBox(servos)
    swing(servos, 20)
    box.note()
    servos.data.qvel[0] = np.nan
    with refused(NotFiniteError, time=pytest.approx(0.02)):
        servos.step()
    run = load_diverged_run(box.write(tmp_path, "test"))
    assert run.servos == dict(zip(servos.names, servos.servos, strict=True))
    assert isinstance(run.resume(), GearedServos)


def test_a_step_that_nothing_solves_ends_the_simulation_and_names_joints_and_equations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unsolved(*arguments: object) -> None:  # servos on an arm never led there in thousands of tries
        axproj([-0.001, -0.006], np.eye(2) * 1e-3, [-1.0, -7.0], [[1.0, -0.3], [-3.5, 1.7]])

    servos = arm(servo().with_gear(GEAR), servo())
    monkeypatch.setattr(GearedRobot, "advance", unsolved)
    with refused(SimulationError, time=0.0):
        servos.step()


@pytest.mark.parametrize(
    ("output_side", "is_reported"),
    [(1.05, False), (1.6, True)],
)
def test_an_ill_posed_gear_is_simulated_and_reported(output_side: float, is_reported: bool) -> None:
    _, servos = geared(Asymmetry(input_side=0.1, output_side=output_side), 1e-3)
    assert servos.warnings == ()  # before the first step
    for _ in range(20):
        servos.step()
    assert len(servos.warnings) == is_reported
    for warning in servos.warnings:
        assert (warning.kind, warning.joints, warning.servo) == ("own_feedback", ("joint",), "xl330")
        assert (warning.input_side, warning.output_side) == (0.1, 1.6)
        assert warning.gain == pytest.approx(1.16, abs=0.005)


def test_gears_with_a_warning_together_only_are_reported_by_their_gain() -> None:
    pair = servo().with_gear(Asymmetry(input_side=0.0, output_side=1.4))
    servos = arm(pair, pair)
    assert isinstance(servos, GearedServos)
    servos.step()
    assert np.abs(np.diag(servos.feedback)).max() < 1.0 < servos.gain
    assert servos.warnings == (
        IllPosedGears(kind="joint_gain", joints=("shoulder", "elbow"), gain=float(servos.gain)),
    )


def test_the_servos_load_dependent_friction_gives_way_to_the_gear() -> None:
    _, servos = geared(GEAR, 1e-3)
    law = servos.servos[0].friction
    assert (law.load_motor, law.load_external, law.quadratic_external) == (0.0, 0.0, 0.0)
    assert law.coulomb == servo().friction.coulomb


def test_servos_with_gears_are_refused_where_they_would_lose_them() -> None:
    servos = {BENCH_JOINT: servo().with_gear(GEAR)}
    spec = bench_spec(BENCH)
    equip(spec, servos)
    model = spec.compile()
    with refused(Unsupported, thing="joint 'joint'"):
        ServoActuation(model, mujoco.MjData(model), servos)
    model.dof_frictionloss[0] = 0.2
    with refused(Conflict, thing="joint 'joint'"):
        actuate(model, mujoco.MjData(model), servos)


def test_a_joint_that_does_not_exist_is_named() -> None:
    with refused(UnknownName, kind="joint", name="wrist"):
        equip(bench_spec(BENCH), {"wrist": servo().with_gear(GEAR)})
