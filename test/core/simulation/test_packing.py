# SPDX-License-Identifier: Apache-2.0
"""Recordings on the kernel's grid."""

import dataclasses

import numpy as np
import pytest

from bam_core.servo.firmware_library import FIRMWARES
from bam_core.simulation.packing import pack
from bam_core.simulation.run_start import initial_state
from test.core.physics_cases import BENCH, run

FIRMWARE = FIRMWARES["mx-protocol1"]
COUNT = FIRMWARE.resolution


def signals(recording, dt):
    packed = pack([recording], FIRMWARE, dt)
    return packed.signals[:, :, packed.lanes[0]]


def test_samples_on_the_grid_are_taken_as_they_are():
    time = np.arange(200) * 5e-3
    goal, voltage, position = np.sin(time), 12.0 + np.cos(9.0 * time), np.cos(time)
    packed = signals(run(time, goal, voltage=voltage, position=position, enabled=time < 0.5), 5e-3)
    assert packed.shape[0] == 200
    np.testing.assert_allclose(packed[:, 1], voltage, rtol=1e-12)
    assert np.array_equal(packed[:, 2], time < 0.5)
    np.testing.assert_allclose(packed[:, 3], position, atol=1e-12)


@pytest.mark.parametrize(("row", "delay"), [(0, 0.5 * FIRMWARE.period), (1, 0.0), (2, 0.0)])
def test_a_grid_step_gets_the_mean_of_what_was_in_force_during_it(row, delay):
    """The controller looks at its goal once per period, so a goal comes into force half a period late."""
    time = np.sort(np.random.default_rng(1).uniform(0.0, 1.0, 150))
    random = np.random.default_rng(2)
    goal, voltage, enabled = (
        random.uniform(-1.0, 1.0, 150),
        random.uniform(9.0, 12.0, 150),
        random.random(150) < 0.5,
    )
    packed = signals(run(time, goal, voltage=voltage, enabled=enabled), 1e-2)[:, row]
    fine = np.arange(0.0, len(packed) * 1e-2, 1e-6) + 5e-7
    index = np.searchsorted(time - time[0], fine - delay, side="right") - 1
    held = (goal, voltage, enabled.astype(float))[row][np.maximum(index, 0)]
    np.testing.assert_allclose(packed, held.reshape(len(packed), -1).mean(axis=1), atol=1e-3)


def test_goals_and_releases_of_a_drive_on_a_synchronous_bus_act_one_period_after_their_sample():
    drive = FIRMWARES["erob80"]
    time = np.arange(100) * drive.period
    packed = pack([run(time, np.sin(30.0 * time), enabled=time < 0.05)], drive, drive.period)
    signals = packed.signals[:, :, packed.lanes[0]]
    np.testing.assert_allclose(signals[1:, 0], np.sin(30.0 * time[: len(signals) - 1]), atol=1e-12)
    assert np.array_equal(signals[1:, 2], time[: len(signals) - 1] < 0.05)


def test_constant_signals_stay_exact():
    time = np.sort(np.random.default_rng(3).uniform(0.0, 6.0, 900))
    packed = signals(run(time, 0.7, voltage=11.3, position=0.2), 1e-3)
    assert np.all(packed == [0.7, 11.3, 1.0, 0.2])


def test_an_unknown_supply_is_the_nominal_one_and_of_a_gap_the_one_read_before_or_the_first():
    """What was measured counts more than the header."""
    time = np.arange(40) * 1e-2
    voltage = np.full(40, np.nan)
    assert (signals(run(time, 0.0, voltage=voltage), 1e-2)[:, 1] == 15.0).all()
    voltage[10:20], voltage[20:25] = 12.0, 11.0
    packed = signals(run(time, 0.0, voltage=voltage), 1e-2)[:, 1]
    np.testing.assert_allclose(packed, np.where(np.arange(40) < 20, 12.0, 11.0))


def test_every_recording_keeps_its_own_length_bench_and_gain():
    short, long = run(np.arange(50) * 1e-2, 0.1, kp=8.0), run(np.arange(90) * 1e-2, 0.2, kp=32.0)
    packed = pack([long, short], FIRMWARE, 1e-2)
    assert packed.logs.length[packed.lanes].tolist() == [90.0, 50.0]
    assert packed.logs.stiffness[packed.lanes] == pytest.approx([0.158 * 32.0, 0.158 * 8.0])
    assert packed.logs.inertia[packed.lanes] == pytest.approx(BENCH.inertia)
    assert packed.logs.gravity_torque[packed.lanes] == pytest.approx(BENCH.gravity_torque)
    assert len(packed.grid(1)) == 50


@pytest.mark.parametrize("count", [1, 8, 9, 64, 65, 100, 200])
def test_blocks_cover_every_lane_once_and_fit_the_kernel(count):
    packed = pack([run(np.arange(20) * 1e-2, 0.0)] * count, FIRMWARE, 1e-2)
    covered = [lane for first, lanes in packed.blocks for lane in range(first, first + lanes)]
    assert covered == list(range(len(packed.logs.length)))
    assert all(lanes % 8 == 0 and 0 < lanes <= 64 for _, lanes in packed.blocks)
    assert sorted(packed.lanes) == list(range(count))


def counts(angle):
    return np.round(angle / COUNT) * COUNT


def test_encoder_noise_of_an_arm_at_rest_is_not_a_velocity():
    time = np.arange(1000) * 2e-3
    flicker = 0.3 + COUNT * np.random.default_rng(4).integers(0, 2, 1000)
    assert initial_state(run(time, 0.0, position=flicker), COUNT) == (flicker[0], 0.0)


def test_a_slow_start_from_rest_is_rest():
    time = np.arange(1000) * 5e-3
    assert initial_state(run(time, 0.0, position=counts(np.sin(time**2))), COUNT)[1] == 0.0


@pytest.mark.parametrize("velocity", [-3.0, 0.5, 2.0])
@pytest.mark.parametrize("period", [1e-3, 2e-3, 5e-3])
def test_the_velocity_of_a_moving_arm_is_seen_through_encoder_counts(velocity, period):
    time = 0.3 + np.arange(1000) * period
    position = counts(0.2 + velocity * (time - 0.3) - 2.0 * (time - 0.3) ** 2)
    start, seen = initial_state(run(time, 0.0, position=np.clip(position, -9, 9)), COUNT)
    assert start == pytest.approx(0.2, abs=1.5 * COUNT)
    assert seen == pytest.approx(velocity, abs=0.1)


def test_an_aliased_supply_counts_by_its_mean():
    time = np.arange(40) * 5e-3
    voltage = 7.3 + np.where(np.arange(40) % 2, 0.8, -0.8)
    firmware = dataclasses.replace(FIRMWARE, supply_is_aliased=True)
    packed = pack([run(time, 0.0, voltage=voltage)], firmware, 1e-3)
    length = int(packed.logs.length[0])
    np.testing.assert_allclose(packed.signals[:length, 1, 0], 7.3)


def test_a_shorter_log_holds_its_last_commands_beyond_its_end():
    logs = [run(np.arange(n) * 5e-3, 0.01 * n, enabled=True) for n in (30, 60)]
    packed = pack(logs, FIRMWARE, 5e-3)
    np.testing.assert_array_equal(packed.signals[:, 0, packed.lanes[0]], 0.3)
    np.testing.assert_array_equal(packed.signals[:, 2, packed.lanes[0]], 1.0)


@pytest.mark.parametrize("kd", [0.0, 4.0])
def test_goals_with_times_of_their_own_count_as_if_there_were_a_sample_at_each(kd):
    stamps, goals = np.array([0.0, 0.0042, 0.0301]), np.array([0.1, 0.5, -0.2])
    coarse, fine = np.arange(60) * 0.01, np.arange(5901) * 1e-4
    held = goals[np.searchsorted(stamps, fine + 1e-9, side="right") - 1]
    of_stamps = dataclasses.replace(run(coarse, np.zeros(60)), kd=kd, sent=(stamps, goals))
    of_samples = dataclasses.replace(run(fine, held), kd=kd)
    packed, expected = (signals(recording, 1e-3)[:590, 0] for recording in (of_stamps, of_samples))
    np.testing.assert_allclose(packed, expected, atol=1e-12)
