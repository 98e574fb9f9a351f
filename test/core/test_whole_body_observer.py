# SPDX-License-Identifier: Apache-2.0
"""Friction observed sample by sample is that of the log, half a window later."""

from __future__ import annotations

import numpy as np
import pytest
from whole_body_cases import arm, robot, walk

from bam_core.errors import BamError
from bam_core.whole_body import (
    ConstrainedDynamics,
    FrictionObserver,
    JointFriction,
    ObservedFriction,
    SavitzkyGolay,
    differentiate,
    estimate_friction,
)
from bam_core.whole_body.humanoid import LEGS, SOLES

WINDOW = 9


def pushed(observer: FrictionObserver, samples: range) -> list[ObservedFriction]:
    log, found = walk().log, []
    for index in samples:
        position = dict(zip(log.names, log.position[index], strict=True))
        effort = dict(zip(log.names, log.effort[index], strict=True))
        contacts = {foot: bool(flags[index]) for foot, flags in log.contacts.items()}
        observed = observer.push(log.time[index], position, effort, contacts)
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


def test_swapped_feet_are_named_and_give_no_torque() -> None:
    log, observer = walk().log, FrictionObserver(robot(), 1e-3, WINDOW)
    right, left = (log.contacts[foot] for foot in SOLES)
    for index in range(800, 830):
        observed = observer.push(
            log.time[index],
            dict(zip(log.names, log.position[index], strict=True)),
            dict(zip(log.names, log.effort[index], strict=True)),
            {SOLES[0]: bool(left[index]), SOLES[1]: bool(right[index])},
        )
    assert observed
    assert "'right_sole' is said to stand" in observed.contradiction
    assert np.isnan(observed.torque).all()


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
                {},
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
    ("position", "effort", "contacts", "named"),
    [
        ({"shoulder": 0.0}, {"shoulder": 0.0, "elbow": 0.0}, {}, "'elbow': has no position"),
        ({"shoulder": 0.0, "elbow": 0.0}, {"shoulder": 0.0}, {}, "'elbow': has no effort"),
        ({"shoulder": 0.0, "elbow": 0.0}, {"shoulder": 0.0, "elbow": 0.0}, {"foot": True}, "contact 'foot'"),
    ],
)
def test_what_is_missing_is_named(
    position: dict[str, float], effort: dict[str, float], contacts: dict[str, bool], named: str
) -> None:
    with pytest.raises(BamError, match=named):
        FrictionObserver(arm(), 1e-3).push(0.0, position, effort, contacts)


def test_contacts_that_nobody_publishes_are_named() -> None:
    log = walk().log
    with pytest.raises(BamError, match="contact 'right_sole': nothing says"):
        FrictionObserver(robot(), 1e-3).push(
            0.0,
            dict.fromkeys(log.names, 0.0),
            dict.fromkeys(log.names, 0.0),
            {},
        )


def test_a_period_of_zero_is_refused() -> None:
    with pytest.raises(BamError, match="period"):
        FrictionObserver(arm(), 0.0)
