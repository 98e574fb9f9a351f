# SPDX-License-Identifier: Apache-2.0
"""Torques of a bench that the model does not know of, and of wrong headers."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.identification.misfit.bench_causes import bench_causes, header_causes
from bam_core.identification.misfit.motion import arm_on_a_spring, natural_compliances
from test.core.misfit_cases import columns, motion

INERTIA, DT = 0.02, 2e-4


def swing(frequency: float, *, amplitude: float = 0.1, gravity_torque: float = 0.0):
    time = DT * np.arange(round(4.0 / DT))
    turn = 2.0 * np.pi * frequency
    return motion(
        time=time,
        position=amplitude * np.sin(turn * time),
        velocity=amplitude * turn * np.cos(turn * time),
        acceleration=-amplitude * turn**2 * np.sin(turn * time),
        gravity=-gravity_torque * np.sin(amplitude * np.sin(turn * time)),
        bench_inertia=INERTIA,
        gravity_torque=gravity_torque,
        dt=DT,
    )


@pytest.mark.parametrize("frequency", [2.0, 4.0])
def test_an_arm_on_a_spring_swings_as_a_driven_oscillator(frequency: float) -> None:
    own, damping = 6.0, 0.15
    moved = swing(frequency)
    springs = natural_compliances(INERTIA, np.array([own]))
    found = arm_on_a_spring(moved, springs, damping, np.zeros(1))[:, 0]
    ratio = frequency / own
    passed = (1.0 + 2j * damping * ratio) / (1.0 - ratio**2 + 2j * damping * ratio)
    late = moved.time > 2.0
    turn = 2.0 * np.pi * frequency
    expected = INERTIA * 0.1 * turn**2 * np.imag((passed - 1.0) * np.exp(1j * turn * moved.time))
    off = np.sqrt(np.mean((found - expected)[late] ** 2) / np.mean(expected[late] ** 2))
    assert off < 0.03


def test_a_stiff_spring_takes_nothing_gravity_included() -> None:
    moved = swing(1.0, amplitude=0.5, gravity_torque=1.2)
    springs = natural_compliances(INERTIA, np.array([60.0]))
    found = arm_on_a_spring(moved, springs, 0.15, np.zeros(1))[moved.time > 1.0]
    rigid = INERTIA * moved.acceleration - moved.gravity
    assert np.max(np.abs(found)) < 0.03 * np.max(np.abs(rigid))


def test_within_its_play_an_arm_is_not_pulled() -> None:
    moved = swing(2.0, amplitude=0.01)
    springs = natural_compliances(INERTIA, np.array([15.0]))
    # From its rest in the middle of the play, the arm goes on as it began until the play is taken up.
    still = motion(
        time=moved.time,
        position=moved.position,
        velocity=moved.velocity - moved.velocity[0],
        acceleration=moved.acceleration,
        bench_inertia=INERTIA,
        dt=DT,
    )
    found = arm_on_a_spring(still, springs, 0.15, np.array([0.03]))[:, 0]
    np.testing.assert_allclose(found, INERTIA * moved.acceleration, atol=1e-12)


def test_a_shaft_without_an_arm_has_no_spring() -> None:
    bare = motion(time=[0.0, 1.0])
    assert np.array_equal(arm_on_a_spring(bare, np.ones(3), 0.1, np.zeros(3)), np.zeros((2, 3)))


def test_compliances_are_those_of_natural_frequencies() -> None:
    (found,) = natural_compliances(0.02, np.array([5.0]))
    assert 1.0 / (2.0 * np.pi) * np.sqrt(1.0 / (found * 0.02)) == pytest.approx(5.0)


def test_gyration_and_zero_are_torques_of_the_load() -> None:
    moved = motion(
        time=[0.0, 1.0],
        bench_inertia=0.02,
        mass=0.5,
        acceleration=[4.0, -6.0],
        gravity_torque=1.5,
        position=[0.0, np.pi / 3.0],
    )
    causes = bench_causes([moved])
    np.testing.assert_allclose(columns(causes, "load_gyration", moved), [[-2.0, 3.0]])
    np.testing.assert_allclose(columns(causes, "zero_offset", moved), [[1.5, 0.75]])


def test_springs_and_play_of_a_bench_are_those_of_its_median_arm() -> None:
    moved = swing(3.0)
    light, heavy = (motion(time=[0.0], bench_inertia=inertia) for inertia in (0.001, 5.0))
    causes = bench_causes([light, moved, heavy])
    frequencies = np.geomspace(2.5, 25.0, 18)
    springs = natural_compliances(INERTIA, frequencies)
    found = columns(causes, "flexible_joint", moved)
    assert len(found) == 36
    for index, damping in ((4, 0.04), (18 + 4, 0.15)):
        expected = arm_on_a_spring(moved, springs, damping, np.zeros(18))[:, 4]
        np.testing.assert_allclose(found[index], expected)
    stiff = natural_compliances(INERTIA, np.array([15.0]))
    for play, torque in zip((0.005, 0.01, 0.02, 0.04), columns(causes, "backlash", moved), strict=True):
        np.testing.assert_allclose(torque, arm_on_a_spring(moved, stiff, 0.15, np.array([play]))[:, 0])


def test_a_wrong_header_is_a_torque_in_its_own_logs_alone() -> None:
    moved = [
        motion(
            time=[0.0, 1.0],
            bench_inertia=0.1,
            acceleration=[5.0, -5.0],
            gravity=[1.0, 2.0],
            gain=[3.0, 3.0],
            error=[0.1, 0.2],
        )
        for _ in range(3)
    ]
    causes = header_causes(moved, [("1 kg", "kp=8"), ("2 kg", "kp=8"), ("1 kg", "kp=8")])
    assert [cause.kind for cause in causes] == ["load_header"]
    assert [form.value for form in causes[0].forms] == ["1 kg", "2 kg"]
    for index, own in ((0, 0), (1, 1), (2, 0)):
        found = columns(causes, "load_header", moved[index])
        np.testing.assert_allclose(found[own], [0.5, 2.5])
        np.testing.assert_allclose(found[1 - own], [0.0, 0.0])
    (gain,) = header_causes(moved, [("1 kg", "kp=8"), ("1 kg", "kp=16"), ("1 kg", "kp=8")])
    np.testing.assert_allclose(gain.torques(moved[1]), [[0.0, 0.3], [0.0, 0.6]])
