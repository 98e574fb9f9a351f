# SPDX-License-Identifier: Apache-2.0
"""A follower on an emulated servo and its load, on an explicit clock: safe wherever the stream is cut."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.feedforward import FeedForwardLaw, Follower, FollowerSettings, Limits, PidGains, Points
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators import bench_physics as physics
from papers.dynaban.motions import through_keys
from test.ros.virtual_helpers import Clock, make

LOAD = PendulumBench(mass=0.3, length=0.12)
MOTION = through_keys([0.0, 0.5, 1.0, 1.5], [[0.0], [0.9], [-0.6], [0.0]])
LOW, HIGH = -0.63, 0.91  # between which the motion goes, rad
PIECE, STEP, BUS = 0.05, 2.5e-3, 1e-3  # s: of the stream, between duties, from a sample to its duty


def follow(cut: float) -> tuple[np.ndarray, Follower]:
    """Return times, positions and duties, (n, 3), of a motion whose stream ends at `cut`, s."""
    servo = make("mx64_2", LOAD, seed=3)
    hidden, clock = servo.bench.hidden, Clock(servo)
    law = FeedForwardLaw(hidden.motor, tuple(hidden.friction.coefficients().values()))
    follower = Follower(
        FollowerSettings(
            laws=[law],
            supply=[hidden.supply_voltage],
            limits=Limits(low=[-2.0], high=[2.0], speed=[8.0], torque=[3.0]),
            firmware=FIRMWARES["mx-protocol1"],
            gains=[PidGains()],
            dynamics=lambda place, rate, bend: LOAD.inertia * bend + LOAD.gravity_torque * np.sin(place),
        )
    )
    clock.write(operating_mode=16)
    clock.write(torque_enable=1)
    follower.hold([0.0])
    starts = [start for start in np.arange(0.0, 1.5 - PIECE / 2, PIECE) if start < cut]
    rows = []
    while clock.now < cut + 1.2:
        while starts and starts[0] < clock.now + 2.0 * PIECE:
            start = starts.pop(0)
            place, rate, _ = MOTION(start + np.array([0.0, PIECE]))
            follower.follow(
                Points(time=np.array([0.0, PIECE]), position=place, velocity=rate), start, clock.now
            )
        measured = clock.now
        place, rate, supply = (
            np.array([clock.si(f"present_{n}")]) for n in ("position", "velocity", "input_voltage")
        )
        duty = follower.duty(place, rate, supply, measured=measured, now=measured + BUS)
        clock.run(BUS)
        clock.write(goal_pwm=servo.table["goal_pwm"].from_si(duty[0]))
        clock.run(STEP - BUS)
        rows.append((measured, servo.bench.state[physics.POSITION], duty[0]))
    return np.array(rows), follower


@pytest.mark.parametrize("cut", np.arange(0.05, 1.55, 0.1))
def test_wherever_the_stream_is_cut_the_arm_stops_within_its_way_and_stays(cut: float) -> None:
    rows, follower = follow(cut)
    time, place, duty = rows.T
    assert follower.fault is None
    assert follower.refused == 0
    assert place.min() > LOW - 0.05
    assert place.max() < HIGH + 0.05
    still = time > cut + PIECE + 0.3
    assert np.ptp(place[still]) < 0.01
    assert np.abs(duty[still]).max() < 0.15  # what holding takes, and no more
    assert follower.goal(time[-1])[0] == pytest.approx(place[-1], abs=0.02)


def test_a_whole_motion_is_followed_without_delay() -> None:
    rows, follower = follow(2.0)
    assert follower.accepted == 30
    assert abs(follower.delay.delay) < 2e-3
    at = rows[:, 0]
    inside = at < 1.5
    assert np.abs(rows[inside, 1] - MOTION(at[inside] + STEP)[0][:, 0]).max() < 0.03
