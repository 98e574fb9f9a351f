# SPDX-License-Identifier: Apache-2.0
"""Servos with gears in the simulator: beside others on one robot, held exactly, with all that a bus has."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from bam_core.errors import Unavailable
from bam_core.gears import Asymmetry
from bam_core.mujoco import actuate, bench_spec, compile_robot, equip, load_diverged_run
from bam_core.mujoco.geared_servos import GearedServos
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.servo_bus import Gains, ServoGoal, ServoSample
from bam_ros.simulator.bus import MujocoBus
from bam_ros.simulator.settings import SimulationSettings

LOCKING = load_servo("mx106").with_gear(Asymmetry(input_side=0.1, output_side=1.05))
DRIVABLE = load_servo("mx106").with_gear(Asymmetry(input_side=0.1, output_side=0.3))
PLAIN = load_servo("mx106")
OFF = ServoGoal.released(1)

TWO_LINKS = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body>
      <joint name="shoulder" axis="1 0 0" range="-60 60"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.15" mass="0.1"/>
      <body pos="0 0 -0.17">
        <joint name="elbow" axis="1 0 0"/>
        <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.15" mass="0.5"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def opened(servo: ServoModel, **changes: object) -> MujocoBus:
    settings = SimulationSettings(servos={"joint": servo}, real_time_factor=0.0)
    bus = MujocoBus(dataclasses.replace(settings, **changes))
    bus.open()
    return bus


def goal(*positions: float) -> ServoGoal:
    return ServoGoal(torque_enable=(True,) * len(positions), position=positions)


def exchange(bus: MujocoBus, wish: ServoGoal, count: int) -> list[ServoSample]:
    return [bus.exchange(wish) for _ in range(count)]


@pytest.fixture
def arm(tmp_path: Path) -> MujocoBus:
    """A locking gear at the shoulder, a servo without any at the elbow."""
    (tmp_path / "arm.xml").write_text(TWO_LINKS)
    servos = {"shoulder": LOCKING, "elbow": PLAIN}
    return opened(PLAIN, servos=servos, model=str(tmp_path / "arm.xml"), dump_directory=str(tmp_path))


def test_a_locking_gear_holds_with_exactly_no_velocity_when_torque_goes_off() -> None:
    bus = opened(LOCKING)
    assert exchange(bus, goal(1.2), 800)[-1].position[0] == pytest.approx(1.2, abs=0.05)
    exchange(bus, OFF, 50)
    held = exchange(bus, OFF, 500)
    assert {sample.velocity for sample in held} == {(0.0,)}
    assert len({sample.position for sample in held}) == 1
    assert held[-1].position[0] == pytest.approx(1.2, abs=0.05)
    assert {sample.current for sample in held} == {(0.0,)}


@pytest.mark.long
@pytest.mark.parametrize("servo", [DRIVABLE, PLAIN])
def test_a_gear_that_can_be_driven_back_lets_the_arm_fall_as_other_servos_do(servo: ServoModel) -> None:
    bus = opened(servo)
    exchange(bus, goal(1.2), 800)
    assert abs(exchange(bus, OFF, 2000)[-1].position[0]) < 0.5


def test_the_bus_steps_as_the_gears_of_the_core_do() -> None:
    bus = opened(DRIVABLE)
    bench = PendulumBench(mass=0.5, length=0.15)
    spec = bench_spec(bench)
    equip(spec, {"joint": DRIVABLE})
    model = compile_robot(spec)
    servos = actuate(model, mujoco.MjData(model), {"joint": DRIVABLE})
    assert isinstance(servos, GearedServos)
    for k in range(500):
        wish = goal(math.sin(0.02 * k))
        sample = bus.exchange(wish)  # steps twice under the goal in force, then takes the new one
        for _ in range(2):
            servos.step()
        assert sample.velocity == tuple(servos.velocity)
        servos.goal_position[:], servos.torque_enabled[:] = wish.position, 1.0


@pytest.mark.long
def test_servos_with_and_without_gears_share_a_robot(arm: MujocoBus) -> None:
    assert exchange(arm, goal(0.8, 0.6), 1000)[-1].position == pytest.approx((0.8, 0.6), abs=0.05)
    fallen = exchange(arm, ServoGoal.released(2), 2000)
    assert fallen[-1].velocity[0] == 0.0
    assert fallen[-1].position[0] == pytest.approx(0.8, abs=0.05)
    assert fallen[-1].position[1] < 0.4  # the servo without a gear gives way
    assert arm.set_gains("elbow", Gains(kp=8, ki=0, kd=0)).kp == 8.0
    states = arm.world.friction_states
    assert [state.regime for state in states] == ["static", "static"]
    assert all(abs(state.friction_torque) <= state.budget for state in states)
    assert abs(states[0].friction_torque) > 0.1  # carries what hangs there


@pytest.mark.long
def test_a_geared_joint_does_not_pass_its_limits(arm: MujocoBus) -> None:
    furthest = max(sample.position[0] for sample in exchange(arm, goal(3.0, 0.0), 500))
    assert math.pi / 3 - 0.05 < furthest < math.pi / 3 + 0.05
    # The drive has wedged it against its limit, and pulls it out again.
    assert exchange(arm, goal(0.5, 0.0), 800)[-1].position[0] == pytest.approx(0.5, abs=0.05)


def test_the_opening_line_names_gears() -> None:
    line = opened(LOCKING).open()
    assert f"joint: {LOCKING.title}" in line
    assert "(γ_u 0.1, γ_v 1.05)" in line
    assert "gear" not in opened(PLAIN).open()


def test_a_gear_that_is_ill_posed_with_its_load_is_a_warning_until_it_hangs_another() -> None:
    wild = LOCKING.with_gear(Asymmetry(input_side=0.1, output_side=1.4))
    bus = opened(wild)
    assert bus.warnings == ()
    bus.set_load(PendulumBench(mass=2.0, length=0.3))
    exchange(bus, OFF, 5)
    (line,) = bus.warnings
    (finding,) = bus._world.actuation.warnings
    assert line == str(finding)
    assert (finding.kind, finding.joints, finding.servo) == ("own_feedback", ("joint",), "mx106")
    assert finding.gain == pytest.approx(1.2, abs=0.1)
    assert finding.output_side == 1.4
    bus.set_load(PendulumBench(mass=0.5, length=0.15))
    exchange(bus, OFF, 5)
    assert bus.warnings == ()


def test_reset_and_reopening_work_with_gears(arm: MujocoBus) -> None:
    exchange(arm, goal(0.5, 0.5), 200)
    clock = arm.clock
    arm.reset()
    assert arm.exchange(ServoGoal.released(2)).position == pytest.approx((0.0, 0.0), abs=2e-3)
    assert arm.clock > clock


def test_a_divergence_with_gears_is_dumped_and_can_be_replayed(arm: MujocoBus, tmp_path: Path) -> None:
    exchange(arm, goal(0.3, 0.3), 50)
    seen = [sample.velocity for sample in exchange(arm, goal(0.6, -0.3), 50)]
    arm.world.actuation.data.qvel[0] = math.nan
    with pytest.raises(Unavailable, match=r"no longer finite.*its last moments are in"):
        arm.exchange(goal(0.6, -0.3))
    run = load_diverged_run(next(tmp_path.glob("diverged_*.npz")))
    assert run.servos == {"shoulder": LOCKING, "elbow": PLAIN}
    replayed = [tuple(actuation.velocity) for actuation, _ in zip(run.replay(-51), range(100), strict=False)]
    assert replayed[1::2] == seen
    arm.open()
    assert np.isfinite(arm.exchange(goal(0.0, 0.0)).position).all()
