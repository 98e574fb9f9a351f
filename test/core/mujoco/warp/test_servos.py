# SPDX-License-Identifier: Apache-2.0
"""Servos in MuJoCo Warp: the plugin's motion in float32, rest, energy, and worlds of their own."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
import pytest

from bam_core.arrays import Array
from bam_core.errors import OutOfRange, UnknownName, Unsupported
from bam_core.exchange.conformance import conformance
from bam_core.mujoco import BENCH_JOINT, bench_spec, compile_robot
from bam_core.mujoco.native import NativeServo, equip_native
from bam_core.servo.pendulum import PendulumBench

wp = pytest.importorskip("warp", reason="mujoco-warp is not installed (pip install mujoco-warp)")
mjw = pytest.importorskip("mujoco_warp", reason="mujoco-warp is not installed (pip install mujoco-warp)")

from bam_core.exchange.training import warp_port  # noqa: E402
from bam_core.mujoco.warp import WarpServos, equip_warp  # noqa: E402

DT = 2e-3
BENCHES = {
    "mx106": (PendulumBench(mass=1.0, length=0.15), 32.0),
    "xl330": (PendulumBench(mass=0.2, length=0.1), 200.0),
    "sts3215": (PendulumBench(mass=0.4, length=0.12), 16.0),
}

Goal = Callable[[float], float]


class Worlds:
    """A bench in several worlds."""

    def __init__(self, servo: NativeServo, bench: PendulumBench, count: int, **more: float) -> None:
        spec = bench_spec(bench, timestep=DT)
        equip_warp(spec, {BENCH_JOINT: servo})
        self.spec_model = compile_robot(spec)
        self.model = mjw.put_model(self.spec_model)
        self.data = mjw.put_data(self.spec_model, mujoco.MjData(self.spec_model), nworld=count)
        self.servos = WarpServos(self.spec_model, self.model, self.data, {BENCH_JOINT: servo}, **more)

    def step(self, goal: float) -> None:
        self.data.ctrl.fill_(goal)
        mjw.step(self.model, self.data)

    def run(self, goal: Goal, steps: int) -> Array:
        """Return positions, (steps, worlds)."""
        rows = []
        for index in range(steps):
            self.step(goal(index * DT))
            rows.append(self.data.qpos.numpy()[:, 0].copy())
        return np.array(rows)


def plugin_run(servo: NativeServo, bench: PendulumBench, goal: Goal, steps: int) -> Array:
    spec = bench_spec(bench, timestep=DT)
    equip_native(spec, {BENCH_JOINT: servo})
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    rows = []
    for index in range(steps):
        data.ctrl[:] = goal(index * DT)
        mujoco.mj_step(model, data)
        rows.append(float(data.qpos[0]))
    return np.array(rows)


def swing(time: float) -> float:
    """Swing, then hold a goal."""
    return float(0.6 * np.sin(9.0 * time)) if time < 0.6 else 0.3


def test_all_golden_cases_agree() -> None:
    outcome = conformance(warp_port.servo, "float32")
    assert outcome.differences == ()
    assert outcome.largest_error < 1e-5


@pytest.mark.parametrize("name", sorted(BENCHES))
def test_a_motion_is_the_plugins(name: str) -> None:
    bench, kp = BENCHES[name]
    servo = NativeServo(servo=name, kp=kp)
    ours = Worlds(servo, bench, 1).run(swing, 500)[:, 0]
    assert np.ptp(ours) > 0.3
    assert np.abs(ours - plugin_run(servo, bench, swing, 500)).max() < 1e-5


def test_friction_holds_loads_within_its_budget_exactly() -> None:
    """Torque off, 21 loads: those that friction holds do not creep, the others fall."""
    servo = NativeServo(servo="mx106", kp=32.0)
    worlds = Worlds(servo, PendulumBench(mass=1.0, length=0.15), 21)
    loads = np.linspace(0.0, 0.2, 21, dtype=np.float32)
    worlds.servos.enabled.fill_(0.0)
    worlds.data.qfrc_applied.assign(loads[:, None])
    worlds.step(0.0)
    share = np.abs(worlds.servos.read("external_torque") / worlds.servos.read("friction_budget"))[:, 0]
    held, falling = share < 0.95, share > 1.05
    for _ in range(100):
        worlds.step(0.0)
    start = worlds.data.qpos.numpy()[:, 0].copy()
    for _ in range(100):
        worlds.step(0.0)
    speed = np.abs(worlds.data.qvel.numpy()[:, 0])
    assert 3 < held.sum() < 21
    assert speed[held].max() < 1e-6
    assert np.abs(worlds.data.qpos.numpy()[held, 0] - start[held]).max() < 1e-7
    assert speed[falling].min() > 1e-3


def test_friction_adds_no_energy() -> None:
    servo = NativeServo(servo="mx106", kp=32.0)
    bench = PendulumBench(mass=1.0, length=0.15)
    worlds = Worlds(servo, bench, 1)
    worlds.servos.enabled.fill_(0.0)
    worlds.data.qpos.fill_(1.2)
    gravity = abs(float(bench.external_torque(np.pi / 2)))
    inertia = 1.0 / float(worlds.spec_model.dof_invweight0[0])
    energies = []
    for _ in range(300):
        worlds.step(0.0)
        position, speed = float(worlds.data.qpos.numpy()[0, 0]), float(worlds.data.qvel.numpy()[0, 0])
        middle = position - 0.5 * DT * speed  # where the velocity of a symplectic step belongs
        energies.append(0.5 * inertia * speed**2 - gravity * np.cos(middle))
    gains = np.diff(energies)
    assert gains.max() < 1e-6 * (max(energies) - min(energies))
    assert energies[-1] < energies[0]


def test_a_reset_world_begins_anew_and_the_others_go_on() -> None:
    servo = NativeServo(servo="sts3215", kp=16.0)
    worlds = Worlds(servo, BENCHES["sts3215"][0], 3)
    fresh = worlds.run(swing, 40)
    worlds.run(lambda time: 1.0, 60)
    mjw.reset_data(worlds.model, worlds.data, wp.array([False, True, False], dtype=wp.bool))
    again = worlds.run(swing, 40)
    assert np.array_equal(again[:, 1], fresh[:, 1])
    assert np.abs(again[:, 0] - fresh[:, 0]).max() > 0.1
    assert np.array_equal(again[:, 0], again[:, 2])


def test_worlds_have_numbers_of_their_own() -> None:
    servo, (bench, kp) = "mx106", BENCHES["mx106"]
    supplies = (10.0, 12.0, 14.0)
    worlds = Worlds(NativeServo(servo=servo, kp=kp), bench, 3)
    worlds.servos.set(supply_voltage=[[supply] for supply in supplies])
    ours = worlds.run(swing, 100)
    for index, supply in enumerate(supplies):
        native = NativeServo(servo=servo, kp=kp, supply_voltage=supply)
        assert np.abs(ours[:, index] - plugin_run(native, bench, swing, 100)).max() < 1e-5
    assert np.abs(ours[:, 0] - ours[:, 2]).max() > 1e-3


def test_goals_act_late_by_the_delay_of_a_world() -> None:
    servo, (bench, kp) = "mx106", BENCHES["mx106"]
    worlds = Worlds(NativeServo(servo=servo, kp=kp), bench, 2, max_delay=0.02)
    worlds.servos.set(delay=[[0.0], [5 * DT]])
    ours = worlds.run(lambda time: 0.5 if time >= 0.05 else 0.0, 100)
    assert np.abs(ours[5:, 1] - ours[:-5, 0]).max() < 1e-6
    assert np.abs(ours[:, 1] - ours[:, 0]).max() > 1e-2


def test_a_control_that_is_no_number_is_torque_off() -> None:
    servo, (bench, kp) = "mx106", BENCHES["mx106"]
    worlds = Worlds(NativeServo(servo=servo, kp=kp), bench, 1)
    worlds.step(0.5)
    for _ in range(2):
        worlds.step(float("nan"))
    assert worlds.servos.read("motor_torque")[0, 0] == 0.0
    assert np.isfinite(worlds.data.qpos.numpy()).all()


def test_wrong_numbers_and_options_are_refused() -> None:
    servo, (bench, kp) = "mx106", BENCHES["mx106"]
    worlds = Worlds(NativeServo(servo=servo, kp=kp), bench, 2)
    with pytest.raises(UnknownName):
        worlds.servos.set(friction=1.0)
    with pytest.raises(OutOfRange):
        worlds.servos.set(coulomb=float("nan"))
    with pytest.raises(OutOfRange):
        worlds.servos.set(delay=0.1)
    worlds.spec_model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    with pytest.raises(Unsupported):
        WarpServos(worlds.spec_model, worlds.model, worlds.data, {BENCH_JOINT: servo})
