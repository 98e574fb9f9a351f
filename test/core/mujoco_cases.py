# SPDX-License-Identifier: Apache-2.0
"""Servos, benches and robots that the tests of MuJoCo share."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.mujoco import BENCH_JOINT, ServoActuation, bench_spec, compile_robot, equip
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects, ServoEffects
from bam_core.servo.friction import Friction
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.motor import DcMotor
from bam_core.servo.parameters import BENCH_EFFECTS, MOTOR_EFFECTS, SERVO_EFFECTS
from bam_core.servo.pendulum import GRAVITY, PendulumBench
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings

Array = NDArray[np.float64]

BENCH = PendulumBench(mass=0.5, length=0.15)

SERVO = load_servo("mx106")

FREE = dataclasses.replace(
    SERVO, friction=Friction(), motor=DcMotor(torque_constant=2.0, resistance=2.0, armature=0.01)
)

ENCODER_NOISE = 2.0 * np.pi / 4096 / np.sqrt(12.0)
"""rad, 0.44e-3; what rounding to the counts of an XL330's or MX's encoder puts on a recording."""

EFFECT_CASES = {
    "torque_saturation": {"torque_saturation": 0.3},
    "winding_heating": {"winding_heating": 16.0},
    "zero_offset": {"zero_offset": 0.03},
    # The rollout spreads a release over the firmware's period that it falls into: here it falls near an end.
    "command_delay": {"command_delay": 0.0039},
    "negative_command_delay": {"command_delay": -0.001},
    "arm_compliance": {"arm_compliance": 0.3},
    "arm_backlash": {"arm_compliance": 0.1, "arm_backlash": 0.03},
    "bridge_coasting": {"bridge_coasting": 0.7},
    "firmware_gain": {"firmware_gain": -0.1},
    "limit_shortfall": {"limit_shortfall": 0.7},
    "sensor_delay": {"sensor_delay": 0.004},
    "goal_slew_time": {"goal_slew_time": 0.4},
    "load_inertia": {"load_inertia": 1.0},
    "friction_direction": {"friction_direction": 0.2},
    "load_gyration": {"load_gyration": 0.05},
    "arm_mass": {"arm_mass": 0.02},
    "all": {
        "torque_saturation": 0.3,
        "winding_heating": 8.0,
        "zero_offset": -0.03,
        "command_delay": 0.0039,
        "arm_compliance": 0.3,
        "arm_backlash": 0.03,
    },
}

SOFT = BenchEffects(arm_compliance=0.3, arm_backlash=0.03)

HELD = ("mx64", "mx106", "erob80_100", "xl330_bam", "xl330")
"""Servos whose friction is put to the test at rest."""


def affected(servo: ServoModel, **effects: float) -> ServoModel:
    """Return a servo with those effects that are its own."""
    motor = dataclasses.replace(servo.motor, **_of(MOTOR_EFFECTS, effects))
    return dataclasses.replace(servo, motor=motor, servo_effects=ServoEffects(**_of(SERVO_EFFECTS, effects)))


def bench_with(**effects: float) -> BenchEffects:
    """Return those effects that are of the bench."""
    return BenchEffects(**_of(BENCH_EFFECTS, effects))


def _of(names: tuple[str, ...], effects: dict[str, float]) -> dict[str, float]:
    return {name: effects[name] for name in names if name in effects}


def on_bench(
    servo: ServoModel, bench: PendulumBench = BENCH, *, position: float = 0.0, dt: float = 1e-3
) -> ServoActuation:
    spec = bench_spec(bench, timestep=dt)
    equip(spec, {BENCH_JOINT: servo})
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    data.qpos[0] = position
    return ServoActuation(model, data, {BENCH_JOINT: servo})


def held_bench(servo: ServoModel, share: float) -> PendulumBench:
    """Return a bench whose gravity at 1 rad takes this share of the friction budget that it causes."""
    bench = PendulumBench(mass=0.0, length=0.1)
    for _ in range(50):
        gravity = float(bench.external_torque(1.0))
        wanted = share * float(servo.friction.budget(0.0, gravity, 0.0))
        bench = dataclasses.replace(bench, mass=wanted / (bench.length * GRAVITY * np.sin(1.0)))
    return bench


def at_full_duty(servo: ServoModel) -> ServoActuation:
    """Return a servo on the bench whose duty is at its limit and stays there."""
    actuation = on_bench(servo)
    actuation.torque_enabled[0], actuation.goal_position[0] = 1.0, 1000.0
    actuation.step()
    return actuation


def walker(seed: int = 0, servo: ServoModel | None = None) -> ServoActuation:
    """Three legs of two servos each below a floating base, over a floor."""
    rng = np.random.default_rng(seed)
    spec = mujoco.MjSpec()
    spec.option.timestep = 1e-3
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1])
    base = spec.worldbody.add_body(pos=[0, 0, 0.36])
    base.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.03], mass=1.0)
    base.add_freejoint()
    servos = {}
    for leg in range(3):
        body, position = base, [0.12 * np.cos(2.1 * leg), 0.12 * np.sin(2.1 * leg), 0.0]
        for segment in range(2):
            body = body.add_body(pos=position)
            name = f"leg{leg}_{segment}"
            joint = body.add_joint(name=name, axis=rng.normal(size=3))
            # In MuJoCo 3.4, damping of a joint is one number; newer versions have a polynomial.
            joint.damping = [0.1, 0, 0] if np.ndim(joint.damping) else 0.1
            actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.set_to_position(kp=10.0)
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                size=[0.02, 0, 0],
                fromto=[0, 0, 0, 0, 0, -0.15],
                mass=0.2,
            )
            position = [0, 0, -0.17]
            servos[name] = servo or load_servo("mx64")
    equip(spec, servos)
    model = compile_robot(spec)
    return ServoActuation(model, mujoco.MjData(model), servos)


def converged(
    servo: ServoModel, runs: list[Recording], bench_effects: BenchEffects = IDEAL_BENCH
) -> list[Array]:
    """Return what a rollout with very small steps makes of recorded commands, rad."""
    rollout = Rollout(
        runs,
        servo.firmware,
        RolloutSettings(dt=servo.firmware.period, substeps=50, quadratic_rule=servo.friction.quadratic_rule),
    )
    return rollout.positions(parameter_vector(servo, bench_effects))


def distances(simulated: list[Array], expected: list[Array]) -> list[float]:
    """Return the root mean square difference of each run, rad."""
    return [float(np.sqrt(np.mean((x - y) ** 2))) for x, y in zip(simulated, expected, strict=True)]
