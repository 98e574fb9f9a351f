# SPDX-License-Identifier: Apache-2.0
"""Filters chosen from the data: near the best one, which only the truth could tell."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bam_core.errors import BadData
from bam_core.text.whole_body_findings import ConstantEffort, LostSamples, RankDeficit, UnevenSamples
from bam_core.whole_body import (
    SAVITZKY_GOLAY,
    JointLog,
    SavitzkyGolay,
    Scheme,
    butterworths,
    choose_for_acceleration,
    estimate_filtered,
    single_support,
)
from bam_core.whole_body.filter_choice import noise_level
from papers.egle.humanoid import LEGS, SOLES
from papers.egle.sensors import Sensors
from test.core.refusals import refused
from test.core.whole_body_cases import arm, robot, swings, walk

DT = 1e-3
TIME = DT * np.arange(4000)


def swaying(noise: float, seed: int) -> tuple[JointLog, np.ndarray]:
    rates = np.array([3.0, 11.0, 25.0])
    sizes = np.array([0.5, 0.1, 0.02])
    position = (sizes * np.sin(rates * TIME[:, None])).sum(axis=1)
    acceleration = (-sizes * rates**2 * np.sin(rates * TIME[:, None])).sum(axis=1)
    measured = position + noise * np.random.default_rng(seed).standard_normal(len(TIME))
    one = measured[:, None]
    return JointLog(names=("joint",), time=TIME, position=one, effort=np.zeros_like(one)), acceleration


def unseen(scheme: Scheme, noise: float, samples: int) -> float:
    """RMS of a distortion, rad/s², that chance hides in the noise that passes a filter.

    Twice the standard deviation of that noise's mean square, which is 2·Σρ²/samples of it, squared, where ρ
    is the autocorrelation that the filter gives to white noise.
    """
    weights = scheme.kernel(2, DT)
    correlation = np.correlate(weights, weights, "full")
    passed = noise**2 * correlation.max()
    deviation = passed * np.sqrt(2.0 * np.sum((correlation / correlation.max()) ** 2) / samples)
    return float(np.sqrt(2.0 * deviation))


@pytest.mark.long
@settings(max_examples=6, deadline=None)
@example(exponent=-5.0, seed=622, family=butterworths(DT))  # the two best are expected to be alike
@given(
    exponent=st.floats(-8.0, -4.0),
    seed=st.integers(0, 1000),
    family=st.sampled_from([SAVITZKY_GOLAY, butterworths(DT)]),
)
def test_the_chosen_filter_is_nearly_the_best(exponent: float, seed: int, family: tuple[Scheme, ...]) -> None:
    log, acceleration = swaying(10.0**exponent, seed)
    inner = np.zeros(len(TIME), dtype=bool)
    inner[700:-700] = True
    choice = choose_for_acceleration(log, family, inner)["joint"]
    errors = {
        scheme: np.sqrt(np.mean((scheme.second(log.position[:, 0], DT) - acceleration)[inner] ** 2))
        for scheme in family
    }
    best = min(errors, key=errors.__getitem__)
    found, least = errors[choice.scheme], errors[best]
    # A filter is compared with the one two places finer; what hides in that one's noise may be mistaken for
    # a distortion of the best filter.
    finer = family[max(family.index(best) - 2, 0)]
    assert found < 3.0 * least + unseen(finer, 10.0**exponent, int(inner.sum()))
    # central differences, behind every Butterworth filter, distort alike: nobody sees that
    assert found / 3.0 - 0.002 < choice.expected < 3.0 * found


@settings(max_examples=10, deadline=None)
@given(noise=st.floats(1e-7, 1e-3), seed=st.integers(0, 1000))
def test_the_noise_is_measured_through_the_motion(noise: float, seed: int) -> None:
    log, _ = swaying(noise, seed)
    assert noise_level(log.position[:, 0]) == pytest.approx(noise, rel=0.15)


def test_more_noise_asks_for_longer_windows() -> None:
    windows = [
        choose_for_acceleration(swaying(noise, 1)[0])["joint"].scheme.window for noise in (1e-9, 1e-6, 1e-4)
    ]
    assert windows[0] < windows[1] < windows[2]


@pytest.mark.long
def test_a_noisy_walk_is_estimated_as_well_as_foreseen() -> None:
    noisy = Sensors().measure(walk().log)
    found = estimate_filtered(robot(), noisy, single_support(noisy), swings())
    assert found.remarks == ()
    for joint in LEGS:
        column, used = found.estimate.column(joint), swings()[joint]
        error = (found.estimate.torque - walk().friction)[used, column]
        rms = np.sqrt(np.nanmean(error**2))
        assert rms < 3.0 * found.choices[joint].expected
        assert rms < 0.3


@pytest.mark.long
def test_without_noise_the_window_is_the_shortest() -> None:
    found = estimate_filtered(robot(), walk().log, single_support(walk().log), swings())
    assert {found.choices[joint].scheme for joint in LEGS} <= {SavitzkyGolay(7, order=6), SavitzkyGolay(5)}
    column = found.estimate.column("right_knee")
    error = (found.estimate.torque - walk().friction)[swings()["right_knee"], column]
    assert np.sqrt(np.nanmean(error**2)) < 1e-3


@pytest.mark.long
def test_lost_samples_and_wrong_flags_are_remarked_and_left_out() -> None:
    log = walk().log
    kept = np.ones(len(log), dtype=bool)
    kept[[800, 801]] = False
    swapped = log.contacts[SOLES[0]].copy(), log.contacts[SOLES[1]].copy()
    step = (log.time > 1.5) & (log.time < 2.4) & (swapped[0] != swapped[1])
    flags = {foot: np.where(step, ~each, each) for foot, each in zip(SOLES, swapped, strict=True)}
    spoilt = JointLog(
        names=log.names,
        time=log.time[kept],
        position=log.position[kept],
        effort=log.effort[kept],
        contacts={foot: each[kept] for foot, each in flags.items()},
    )
    found = estimate_filtered(robot(), spoilt, single_support(spoilt))
    assert LostSamples(lost=2, gaps=1) in found.remarks
    others = [remark for remark in found.remarks if remark.kind == "other_stands"]
    assert any(remark.contacts[-1] == "right_sole" for remark in others)
    assert np.isnan(found.estimate.torque[step[kept]]).all()
    error = found.estimate.torque - walk().friction[kept]
    assert np.nanmax(np.abs(error)) < 0.2


def with_contacts(right: np.ndarray, left: np.ndarray) -> JointLog:
    return dataclasses.replace(walk().log, contacts=dict(zip(SOLES, (right, left), strict=True)))


@pytest.mark.long
def test_what_is_left_to_choose_is_all_on_one_foot() -> None:
    chosen = estimate_filtered(robot(), walk().log).estimate.torque
    np.testing.assert_array_equal(np.isfinite(chosen[:, 0]), single_support(walk().log))


@pytest.mark.long
def test_two_feet_are_remarked_and_left_out() -> None:
    found = estimate_filtered(robot(), walk().log, np.ones(len(walk().log), dtype=bool))
    both = np.logical_and(*walk().log.contacts.values())
    (deficit,) = [remark for remark in found.remarks if isinstance(remark, RankDeficit)]
    assert (deficit.rank, deficit.joints, deficit.is_left_out) == (19, 25, True)
    assert np.isnan(found.estimate.torque[both]).all()
    with refused(BadData) as caught:
        estimate_filtered(robot(), walk().log, both & (walk().log.time < 0.4))
    assert "right_hip_roll" in caught.value.problem


def test_contacts_that_are_wrong_throughout_are_an_error_that_names_them() -> None:
    right, left = (walk().log.contacts[foot] for foot in SOLES)
    with refused(BadData) as caught:
        estimate_filtered(robot(), with_contacts(left, right))
    assert "'left_sole'" in str(caught.value)
    with refused(BadData, thing="joint log"):
        estimate_filtered(robot(), with_contacts(right | True, left | True))


@pytest.mark.long
def test_uneven_samples_are_remarked() -> None:
    jitter = np.random.default_rng(1).uniform(-2e-4, 2e-4, len(walk().log))
    found = estimate_filtered(robot(), dataclasses.replace(walk().log, time=walk().log.time + jitter))
    (uneven,) = [remark for remark in found.remarks if isinstance(remark, UnevenSamples)]
    assert 0.1 < uneven.unevenness < 0.2


def test_an_effort_that_never_changes_is_remarked() -> None:
    time = 1e-3 * np.arange(600)
    position = np.column_stack((np.sin(5.0 * time), np.cos(4.0 * time)))
    effort = np.column_stack((np.sin(3.0 * time), np.zeros(600)))
    found = estimate_filtered(arm(), JointLog(names=arm().names, time=time, position=position, effort=effort))
    assert found.remarks == (ConstantEffort(joint="elbow", effort=0.0),)
    assert np.isfinite(found.estimate.torque).any()


def test_a_log_too_short_for_any_filter_is_an_error() -> None:
    log = walk().log
    short = dataclasses.replace(
        log,
        time=log.time[:6],
        position=log.position[:6],
        effort=log.effort[:6],
        contacts={foot: each[:6] for foot, each in log.contacts.items()},
    )
    with refused(BadData, thing="filter choice"):
        choose_for_acceleration(short)
