# SPDX-License-Identifier: Apache-2.0
"""Logs that are sound, but odd, are told: a wrong gain in a header, channels that are missing, outliers."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import BadData
from bam_core.identification.data.data_warnings import (
    full_demand_errors,
    gain_warnings,
    missing_channels,
    require_temperature,
    scarcity,
)
from bam_core.recordings import load_recordings
from bam_core.recordings.recording import Recording
from bam_core.servo.model import load_servo, servo_names
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.synthetic import synthesize
from bam_core.text.data_findings import DutyMismatch, ImplausibleGain, NoTemperature, NoVoltage
from bam_core.text.split_findings import FewLogs
from test.core.refusals import refused

SERVO = load_servo("xl330_bam")


@pytest.fixture(scope="module")
def log() -> Recording:
    recording = synthesize(SERVO, PendulumBench(mass=0.3, length=0.1), "sin_sin", 200.0)
    asked = SERVO.firmware.duty(200.0, recording.goal_position - recording.position)
    return dataclasses.replace(
        recording,
        duty=np.round(885 * asked) / 885,
        voltage=np.full(len(recording), 7.4),
        temperature=np.full(len(recording), 30.0),
    )


def without(log: Recording, channel: str, name: str) -> Recording:
    return dataclasses.replace(log, name=name, **{channel: np.full(len(log), np.nan)})


def test_sound_logs_give_no_warning(log: Recording) -> None:
    assert missing_channels([log], ["winding_heating", "friction_temperature"]) == []
    assert gain_warnings(SERVO, [log]) == []
    require_temperature([log], ["friction_temperature"])


def test_a_supply_that_nobody_measured_is_told(log: Recording) -> None:
    supplies = (log.supply_voltage,)
    (finding,) = missing_channels([log, without(log, "voltage", "blind")], [])
    assert finding == NoVoltage(logs=("blind",), supplies=supplies)
    (finding,) = missing_channels([without(log, "voltage", name) for name in "abcde"], [])
    assert finding == NoVoltage(logs=tuple("abcde"), is_all=True, supplies=supplies)
    (finding,) = missing_channels([log, *(without(log, "voltage", name) for name in "abcde")], [])
    assert finding == NoVoltage(logs=tuple("abcde"), supplies=supplies)


def test_a_temperature_matters_to_the_effects_that_go_by_it(log: Recording) -> None:
    logs = [log, without(log, "temperature", "cold")]
    assert missing_channels(logs, ["zero_offset"]) == []
    assert missing_channels(logs, ["winding_heating"]) == [
        NoTemperature(logs=("cold",), assumed=25.0, effects=("winding_heating",))
    ]
    require_temperature(logs, ["friction_temperature"])
    require_temperature(logs[1:], ["winding_heating"])
    with refused(BadData, thing="effect friction_temperature"):
        require_temperature(logs[1:], ["friction_temperature"])


@pytest.mark.parametrize("wrong", [25.0, 400.0, 1000.0])
def test_a_gain_that_was_not_the_one_that_ran_is_told(log: Recording, wrong: float) -> None:
    (finding,) = gain_warnings(SERVO, [log, dataclasses.replace(log, name="odd", kp=wrong)])
    assert isinstance(finding, DutyMismatch)
    assert (finding.logs, finding.kp) == (("odd",), wrong)
    assert finding.ratios == pytest.approx((200.0 / wrong,), rel=0.05)


@pytest.mark.parametrize(
    ("servo", "kp"), [("xl330", 2.0), ("xl330", 40_000.0), ("sts3215", 800.0), ("erob80_100", 2e4)]
)
def test_a_gain_in_other_units_is_named_before_the_search(log: Recording, servo: str, kp: float) -> None:
    """The factory's kp 800 of an X servo, taken for one of another series, is full duty at half a degree."""
    model = load_servo(servo)
    sound = dataclasses.replace(log, kp=model.firmware.factory_kp)
    assert full_demand_errors(model, [sound]) == []
    (finding,) = full_demand_errors(model, [sound, dataclasses.replace(log, name="odd", kp=kp)])
    assert isinstance(finding, ImplausibleGain)
    assert (finding.logs, finding.kp, finding.law) == (("odd",), kp, model.firmware.name)
    assert finding.error == pytest.approx(model.firmware.full_demand_error(kp))


def test_every_servo_may_have_any_gain_of_its_register_down_to_a_tenth_of_the_factory_s(
    log: Recording,
) -> None:
    for name in servo_names():
        servo = load_servo(name)
        for kp in (0.1 * servo.firmware.factory_kp, 7.0 * servo.firmware.factory_kp):
            assert full_demand_errors(servo, [dataclasses.replace(log, kp=kp)]) == [], name


def test_duties_that_follow_another_law_or_are_unknown_are_not_judged(log: Recording) -> None:
    other = dataclasses.replace(log, duty=np.sign(log.duty) * 0.3, kp=1600.0)
    assert gain_warnings(SERVO, [without(log, "duty", "blind"), other]) == []
    assert gain_warnings(load_servo("erob80_100"), [log]) == []


def test_what_few_logs_cannot_tell_is_said() -> None:
    def told(*counts: int) -> list[str]:
        return [finding.kind for finding in scarcity(*counts)]

    assert told(8, 2, 3) == []
    assert told(1, 1, 0) == ["one_training_log", "no_selection", "one_test_log"]
    assert told(8, 0, 3) == ["no_test"]
    assert scarcity(7, 0, 3) == [FewLogs(kind="too_few_for_test", training=7, test=0, needed=8)]
    needs = scarcity(1, 1, 0)
    assert needs == [
        FewLogs(kind=kind, training=1, test=1, needed=needed)
        for kind, needed in (("one_training_log", 2), ("no_selection", 3), ("one_test_log", 4))
    ]


def test_recordings_of_a_sound_bench_give_no_warning(xl330: Path) -> None:
    logs = load_recordings([xl330])
    assert missing_channels(logs, ["winding_heating"]) == []
    assert gain_warnings(load_servo("xl330"), logs) == []
