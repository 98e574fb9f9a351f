# SPDX-License-Identifier: Apache-2.0
"""Friction observed sample by sample is that of the log, half a window later."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.errors import BadData, Missing, OutOfRange, UnknownName
from bam_core.whole_body import (
    ConstrainedDynamics,
    FrictionObserver,
    JointFriction,
    ObservedFriction,
    SavitzkyGolay,
    differentiate,
    estimate_friction,
)
from papers.egle.humanoid import LEGS, SOLES
from test.core.refusals import refused
from test.core.whole_body_cases import arm, robot, walk

WINDOW = 9


def pushed(observer: FrictionObserver, samples: range) -> list[ObservedFriction]:
    log, found = walk().log, []
    for index in samples:
        position = dict(zip(log.names, log.position[index], strict=True))
        effort = dict(zip(log.names, log.effort[index], strict=True))
        observer.stand(log.time[index], {foot: bool(flags[index]) for foot, flags in log.contacts.items()})
        observed = observer.push(log.time[index], position, effort)
        if observed:
            found.append(observed)
    return found


def test_observed_friction_is_the_logs() -> None:
    found = pushed(FrictionObserver(robot(), 1e-3, WINDOW), range(800, 850))
    assert len(found) == 50 - WINDOW + 1
    motion = differentiate(walk().log, SavitzkyGolay(WINDOW))
    wanted = np.zeros(len(walk().log), dtype=bool)
    wanted[804:846] = True
    expected = estimate_friction(robot(), motion, wanted)
    for each in found:
        row = round(each.time / 1e-3)
        np.testing.assert_allclose(each.torque, expected.torque[row], atol=1e-6)
        np.testing.assert_allclose(each.residual, 0.0, atol=1e-6)


def test_on_two_feet_the_legs_are_not_a_number_and_the_waist_is() -> None:
    found = pushed(FrictionObserver(robot(), 1e-3, WINDOW), range(100, 120))
    for each in found:
        known = dict(zip(robot().joints, each.torque, strict=True))
        assert {name for name, torque in known.items() if np.isnan(torque)} == set(LEGS)
        assert each.rank.unidentifiable == LEGS
        assert (each.driving[:12] == 0).all()


def test_lift_off_is_left_out() -> None:
    observer = FrictionObserver(robot(), 1e-3, WINDOW, after=0.1, before=0.05)
    found = pushed(observer, range(300, 800))
    lift_off = walk().supports[1].start
    times = np.array([each.time for each in found])
    assert times[times < lift_off].max() < lift_off - 0.05 + 1e-9
    assert times[times > lift_off].min() > lift_off + 0.1 - 1e-9


def test_lost_samples_are_counted_and_the_window_fills_anew() -> None:
    observer = FrictionObserver(robot(), 1e-3, WINDOW)
    first = pushed(observer, range(800, 820))
    second = pushed(observer, range(825, 845))
    assert observer.lost == 5
    assert len(first) == len(second) == 20 - WINDOW + 1
    assert pushed(observer, range(800, 801)) == []
    assert observer.lost == 6


def sent(
    observer: FrictionObserver, samples: range, flags: dict[str, bool], effort: float = 1.0
) -> list[ObservedFriction]:
    """As `pushed`, but with contacts that are said once, and efforts in another unit."""
    log = walk().log
    observer.stand(log.time[samples[0]], flags)
    found = [
        observer.push(
            log.time[index],
            dict(zip(log.names, log.position[index], strict=True)),
            dict(zip(log.names, effort * log.effort[index], strict=True)),
        )
        for index in samples
    ]
    return [each for each in found if each]


RIGHT_SWINGS = range(800, 830)
ON_LEFT = {SOLES[0]: False, SOLES[1]: True}


@pytest.mark.parametrize(
    ("samples", "flags", "effort", "kind", "contacts"),
    [
        (RIGHT_SWINGS, {SOLES[0]: True, SOLES[1]: False}, 1.0, "other_stands", SOLES),
        (RIGHT_SWINGS, {SOLES[0]: True, SOLES[1]: True}, 1.0, "standing_moves", SOLES[::-1]),
        (RIGHT_SWINGS, {SOLES[0]: False, SOLES[1]: False}, 1.0, "nothing_stands", ()),
        (range(100, 130), ON_LEFT, 1.0, "swinging_rests", SOLES[:1]),
        (RIGHT_SWINGS, ON_LEFT, 0.0, "other_motion", SOLES[1:]),
        (RIGHT_SWINGS, ON_LEFT, -1.0, "other_motion", SOLES[1:]),
    ],
    ids=["swapped", "both", "none", "one of two", "no effort", "wrong sign"],
)
def test_what_cannot_be_is_named_and_gives_no_torque(
    samples: range, flags: dict[str, bool], effort: float, kind: str, contacts: tuple[str, ...]
) -> None:
    found = sent(FrictionObserver(robot(), 1e-3, WINDOW), samples, flags, effort)
    assert len(found) == 30 - WINDOW + 1
    for each in found:
        assert each.inconsistency is not None
        assert (each.inconsistency.kind, each.inconsistency.contacts) == (kind, contacts)
        assert np.isnan(each.torque).all()
        assert (each.driving == 0).all()


@pytest.mark.long
def test_contacts_count_by_their_times_not_by_when_they_are_said() -> None:
    """All of them before the first sample, or each 15 samples late: the same friction."""
    log, early = walk().log, FrictionObserver(robot(), 1e-3, WINDOW, after=0.1, before=0.05)
    late = FrictionObserver(robot(), 1e-3, WINDOW, after=0.1, before=0.05, contact_delay=0.02)
    changes = [0, *(index for index in range(1, 1500) if flags_at(index) != flags_at(index - 1))]
    for index in changes:
        early.stand(log.time[index], flags_at(index))
    late.stand(log.time[0], flags_at(0))
    found: dict[FrictionObserver, dict[float, np.ndarray]] = {early: {}, late: {}}
    for index in range(400, 1500):
        if index - 15 in changes:
            late.stand(log.time[index - 15], flags_at(index - 15))
        for observer, torques in found.items():
            observed = observer.push(
                log.time[index],
                dict(zip(log.names, log.position[index], strict=True)),
                dict(zip(log.names, log.effort[index], strict=True)),
            )
            if observed:
                assert observed.inconsistency is None
                torques[observed.time] = observed.torque
    shared = found[early].keys() & found[late].keys()
    assert len(shared) == len(found[late]) > 600
    for time in shared:
        np.testing.assert_array_equal(found[early][time], found[late][time])


def flags_at(index: int) -> dict[str, bool]:
    return {foot: bool(flags[index]) for foot, flags in walk().log.contacts.items()}


def test_a_lost_sample_costs_a_window_and_no_more() -> None:
    observer = FrictionObserver(robot(), 1e-3, WINDOW, after=0.1, before=0.05, contact_delay=0.02)
    log, found = walk().log, []
    for index in range(620, 1200):
        if index == 900:
            continue
        observer.stand(log.time[index], flags_at(index))
        observed = observer.push(
            log.time[index],
            dict(zip(log.names, log.position[index], strict=True)),
            dict(zip(log.names, log.effort[index], strict=True)),
        )
        found += [round(observed.time / 1e-3)] if observed else []
    missing = sorted(set(range(720, 1130)) - set(found))
    assert missing == list(range(896, 905))
    assert observer.lost == 1


def test_time_that_goes_back_begins_anew() -> None:
    observer = FrictionObserver(robot(), 1e-3, WINDOW)
    first = pushed(observer, range(800, 840))
    second = pushed(observer, range(150, 190))
    assert (observer.restarts, observer.lost) == (1, 0)
    assert len(first) == len(second) == 40 - WINDOW + 1
    assert second[0].time == pytest.approx(0.154)


def test_contacts_of_the_time_before_do_not_count_once_it_goes_back() -> None:
    observer = FrictionObserver(robot(), 1e-3, WINDOW)
    assert sent(observer, range(800, 840), ON_LEFT)
    log = walk().log
    values = [dict.fromkeys(log.names, 0.0)] * 2
    observer.push(0.1, *values)
    with refused(Missing) as caught:
        observer.push(0.101, *values)
    assert caught.value.thing.startswith("state of contact ")


def test_samples_at_another_period_are_told_the_period() -> None:
    observer = FrictionObserver(arm(), 1e-3)
    values = [dict.fromkeys(arm().names, 0.0)] * 2
    for index in range(20):
        observer.push(0.01 * index, *values)
    with refused(BadData, thing="joint states"):
        observer.push(0.2, *values)


def test_a_fixed_base_arm_shows_its_friction_and_that_it_takes_power() -> None:
    law = JointFriction(viscous=0.3, coulomb=0.4)
    dynamics, observer = ConstrainedDynamics(arm()), FrictionObserver(arm(), 1e-3, 21)
    position, velocity = np.array([0.8, -0.4]), np.zeros(2)
    found = []
    for index in range(600):
        time = 1e-3 * index
        effort = np.array([np.sin(9.0 * time), 0.5 * np.cos(7.0 * time)])
        found.append(
            observer.push(
                time,
                dict(zip(arm().names, position, strict=True)),
                dict(zip(arm().names, effort, strict=True)),
            )
        )
        for _ in range(10):
            state = dynamics.at(position, velocity, ())
            velocity = velocity + 1e-4 * state.acceleration(effort + law.torque(velocity))
            position = position + 1e-4 * velocity
    seen = [each for each in found if each]
    moving = [each for each in seen if np.abs(each.velocity).min() > 0.2]
    assert moving
    for each in moving:
        np.testing.assert_allclose(each.torque, law.torque(each.velocity), atol=0.03)
        assert (each.driving == -1).all()


@pytest.mark.parametrize(
    ("position", "effort", "kind", "thing"),
    [
        ({"shoulder": 0.0}, {"shoulder": 0.0, "elbow": 0.0}, Missing, "joint 'elbow', position"),
        ({"shoulder": 0.0, "elbow": 0.0}, {"shoulder": 0.0}, Missing, "joint 'elbow', effort"),
        (
            {"shoulder": 0.0, "elbow": 0.0},
            {"shoulder": np.nan, "elbow": 0.0},
            OutOfRange,
            "joint 'shoulder', effort",
        ),
        (
            {"shoulder": 0.0, "elbow": np.inf},
            {"shoulder": 0.0, "elbow": 0.0},
            OutOfRange,
            "joint 'elbow', position",
        ),
    ],
)
def test_what_is_missing_is_named(
    position: dict[str, float], effort: dict[str, float], kind: type, thing: str
) -> None:
    with refused(kind, thing=thing):
        FrictionObserver(arm(), 1e-3).push(0.0, position, effort)


def test_contacts_that_the_robot_does_not_have_are_named() -> None:
    with refused(UnknownName, kind="contact", name="foot"):
        FrictionObserver(robot(), 1e-3).stand(0.0, {"foot": True})


def test_contacts_may_be_said_one_at_a_time() -> None:
    observer = FrictionObserver(robot(), 1e-3, WINDOW)
    for foot, stands in ON_LEFT.items():
        observer.stand(0.0, {foot: stands})
    assert pushed(observer, RIGHT_SWINGS)


def test_contacts_that_nobody_publishes_are_named() -> None:
    log = walk().log
    with refused(Missing, thing="state of contact 'right_sole'"):
        FrictionObserver(robot(), 1e-3).push(
            0.0,
            dict.fromkeys(log.names, 0.0),
            dict.fromkeys(log.names, 0.0),
        )


def test_a_period_of_zero_is_refused() -> None:
    with refused(OutOfRange, thing="friction observer period"):
        FrictionObserver(arm(), 0.0)
