# SPDX-License-Identifier: Apache-2.0
"""BAM's JSON logs: whole ones read well, every kind of damage is named by file, entry and key."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bam_core.errors import (
    BadData,
    BamError,
    Conflict,
    Malformed,
    Missing,
    OutOfRange,
    Unreadable,
    Unsupported,
    WrongType,
)
from bam_core.recordings import load_recordings, read_json_log
from bam_core.recordings.json_log import NotALogError
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.text.recording_findings import SampleGaps, SupplyNotMeasured, UnknownKeys, UnmetRule
from test.core.finding_cases import logged
from test.core.json_log_cases import log, save
from test.core.refusals import refused


def test_a_log_becomes_a_recording_in_si_units(tmp_path: Path) -> None:
    path = save(tmp_path, log())
    recording = read_json_log(path)
    assert recording.name == "log"
    assert recording.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (recording.servo, recording.script, recording.kp) == ("xl330", "sin_sin", 100.0)
    assert (recording.bench.mass, recording.bench.length, recording.bench.arm_mass) == (0.49, 0.1, 0.0)
    assert recording.time[0] == 0.004
    assert recording.torque_enabled.sum() == 30
    assert recording.duty[:2].tolist() == [-1.0, 1.0]


def test_gains_are_read_and_what_else_changes_the_law_is_refused(
    tmp_path: Path,
) -> None:
    neutral = {"max_torque": 100.0, "offset": 0.0}
    assert read_json_log(save(tmp_path, log(kd=32, **neutral))).kd == 32.0
    assert read_json_log(save(tmp_path, log(**neutral))).kd == 0.0
    assert read_json_log(save(tmp_path, log(ki=3))).ki == 3.0
    assert read_json_log(save(tmp_path, log(**{"Position I Gain": 3, "d_gain": 8}))).ki == 3.0
    for key, value in (("max_torque", 50.0), ("profile_velocity", 40), ("offset", 0.1)):
        with refused(Unsupported, thing=key):
            read_json_log(save(tmp_path, log(**{key: value})))
    with refused(OutOfRange, thing="kd"):
        read_json_log(save(tmp_path, log(kd=-1)))
    with refused(Conflict, thing="registers.P_Coefficient"):
        read_json_log(save(tmp_path, log(registers={"P_Coefficient": 101, "D_Coefficient": 32})))


def test_current_based_position_mode_is_a_law_of_some_servos(tmp_path: Path) -> None:
    mode = {"operating_mode": 5, "goal_current": 3.0}
    with refused(Unsupported, thing="operating_mode"):
        read_json_log(save(tmp_path, log(motor="mx106_2", **mode)))
    assert read_json_log(save(tmp_path, log(motor="mx106_current", **mode))).demand_limit == 3.0
    assert read_json_log(save(tmp_path, log(motor="mx106_current"))).demand_limit == math.inf
    with refused(Conflict, thing="i_gain"):
        read_json_log(save(tmp_path, log(ki=3, i_gain=4)))


def test_keys_that_nothing_reads_are_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for number in (1, 2):
        path = save(tmp_path, log(gripper_angle=number, torque_profile="fast", notes="mine"))
        read_json_log(path)
    (found,) = [finding for finding in logged(caplog) if isinstance(finding, UnknownKeys)]
    assert found.keys == ("gripper_angle", "torque_profile")


@pytest.mark.parametrize("key", ["arm_mass", "arm-mass"])
def test_both_spellings_of_the_arms_mass_are_read(tmp_path: Path, key: str) -> None:
    assert read_json_log(save(tmp_path, log(**{key: 0.05}))).bench.arm_mass == 0.05


def test_duty_is_unknown_where_the_load_register_means_something_else(tmp_path: Path) -> None:
    assert np.isnan(read_json_log(save(tmp_path, log(motor="mx106"))).duty).all()


def test_newer_logs_that_hold_the_duty_itself_are_read_as_such(tmp_path: Path) -> None:
    content = log()
    for entry in content["entries"]:
        entry["load"] = 0.25
    assert (read_json_log(save(tmp_path, content)).duty == 0.25).all()


def test_a_duty_that_is_not_a_number_does_not_change_what_the_others_mean(tmp_path: Path) -> None:
    duty = read_json_log(save(tmp_path, entry(7, "load", math.nan)())).duty
    assert math.isnan(duty[7])
    assert duty[:2].tolist() == [-1.0, 1.0]


def test_optional_measurements_may_be_missing(tmp_path: Path) -> None:
    content = log()
    for entry in content["entries"]:
        for key in ("speed", "load", "input_volts", "temp"):
            del entry[key]
    recording = read_json_log(save(tmp_path, content))
    for name in ("velocity", "duty", "voltage", "temperature"):
        assert np.isnan(getattr(recording, name)).all()


def test_a_log_of_which_every_sample_was_written_twice_is_read(tmp_path: Path) -> None:
    content = log()
    once = read_json_log(save(tmp_path, content))
    content["entries"] = [entry for entry in content["entries"] for _ in range(2)]
    twice = read_json_log(save(tmp_path, content))
    assert twice.position.tolist() == once.position.tolist()
    assert twice.dropped_samples == len(once)


def test_a_lost_turn_is_named_where_it_is_lost(tmp_path: Path) -> None:
    content = log()
    for entry in content["entries"][30:]:
        entry["position"] += 2.0 * math.pi
    with refused(BadData, thing="entry 30, position") as caught:
        read_json_log(save(tmp_path, content))
    assert "jumps by 6." in str(caught.value)


def without(key: str) -> Callable[[], Any]:
    return lambda: {k: v for k, v in log().items() if k != key}


def entry(index: int, key: str, value: Any) -> Callable[[], Any]:
    def make() -> Any:
        content = log()
        content["entries"][index][key] = value
        return content

    return make


def entry_without(index: int, key: str) -> Callable[[], Any]:
    def make() -> Any:
        content = log()
        del content["entries"][index][key]
        return content

    return make


@pytest.mark.parametrize(
    ("make", "kind", "about"),
    [
        (without("kp"), Missing, {"thing": "kp"}),
        (without("mass"), Missing, {"thing": "mass"}),
        (without("length"), Missing, {"thing": "length"}),
        (without("vin"), Missing, {"thing": "vin"}),
        (without("motor"), Missing, {"thing": "motor"}),
        (without("trajectory"), Missing, {"thing": "trajectory"}),
        (without("entries"), NotALogError, {}),
        (lambda: log(kp="400"), WrongType, {"thing": "kp", "value": "400"}),
        (lambda: log(kp=True), WrongType, {"thing": "kp", "value": True}),
        (lambda: log(kp=10**400), WrongType, {"thing": "kp"}),
        (lambda: log(mass=-1), OutOfRange, {"thing": "bench mass", "value": -1.0}),
        (lambda: log(motor=330), WrongType, {"thing": "motor", "value": 330}),
        (lambda: log(entries=[]), BadData, {"thing": "entries"}),
        (lambda: log(entries={}), WrongType, {"thing": "entries"}),
        (lambda: log(entries=[1]), WrongType, {"thing": "entry 0", "value": 1}),
        (lambda: log(**{"arm_mass": 0.1, "arm-mass": 0.2}), Conflict, {"thing": "arm_mass"}),
        (lambda: [log()], NotALogError, {}),
        (entry(7, "position", "left"), WrongType, {"thing": "entry 7, position", "value": "left"}),
        (entry(7, "position", [0.1]), WrongType, {"thing": "entry 7, position", "value": [0.1]}),
        (entry(7, "goal_position", math.inf), OutOfRange, {"thing": "entry 7, goal_position"}),
        (entry(7, "torque_enable", "on"), WrongType, {"thing": "entry 7, torque_enable", "value": "on"}),
        (entry(7, "timestamp", 0.001), OutOfRange, {"thing": "entry 7, time", "value": 0.001}),
        (entry_without(7, "goal_position"), Missing, {"thing": "entry 7, goal_position"}),
        (entry_without(7, "torque_enable"), Missing, {"thing": "entry 7, torque_enable"}),
    ],
)
def test_a_mistake_in_a_log_is_named_in_one_line(
    tmp_path: Path, make: Callable[[], Any], kind: type[BamError], about: dict[str, object]
) -> None:
    path = save(tmp_path, make())
    with refused(kind, **about) as caught:
        read_json_log(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_false_readings_are_left_out_and_counted(tmp_path: Path) -> None:
    content = log()
    content["entries"][7]["position"] = math.nan
    content["entries"][12]["input_volts"] = 0.0
    content["entries"][20]["position"] = None  # as programs write NaN
    recording = read_json_log(save(tmp_path, content))
    assert [(part.channel, part.samples, part.first) for part in recording.left_out] == [
        ("position", 2, 7),
        ("voltage", 1, 12),
    ]
    assert math.isnan(recording.voltage[12])
    # What the servo was told then still drives the simulation.
    told = [each["goal_position"] for each in content["entries"]]
    assert list(recording.goal_position) == told
    assert recording.position[7] == pytest.approx(
        0.5 * (recording.position[6] + recording.position[8]), abs=0.02
    )


def test_a_log_of_which_too_much_is_false_is_refused(tmp_path: Path) -> None:
    content = log()
    for number in (8, 20, 32, 44):
        content["entries"][number]["position"] += 0.3  # 60 rad/s, which alone might be another servo
    with refused(BadData, thing="position") as caught:
        read_json_log(save(tmp_path, content))
    assert "4 of 60" in caught.value.problem


def test_keys_of_a_log_can_be_set_from_outside(tmp_path: Path) -> None:
    (tmp_path / "bench.yaml").write_text("set: {arm_mass: 0.036, vin: 12.0}")
    path = save(tmp_path, log(**{"arm-mass": 0.5}))
    (recording,) = load_recordings(path, set_fields=["vin=7.2"])
    assert (recording.bench.arm_mass, recording.supply_voltage) == (0.036, 7.2)
    assert [(each.field, each.source) for each in recording.corrections] == [
        ("arm_mass", str(tmp_path / "bench.yaml")),
        ("vin", "--set"),
    ]


def test_conditions_of_a_bench_yaml_that_no_log_meets_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rules = ["{where: {mass: 0.4}, set: {vin: 5.0}}", "{where: {mass: 0.49}, set: {length: 0.2}}"]
    rules.append("{where: {length: 0.2}, set: {arm_mass: 0.02}}")  # as the rule before has set it
    (tmp_path / "bench.yaml").write_text(f"rules: [{', '.join(rules)}]")
    load_recordings(save(tmp_path, log()))
    (finding,) = logged(caplog)
    assert isinstance(finding, UnmetRule)
    assert finding.where == (("mass", 0.4),)


def test_a_supply_that_the_servo_did_not_read_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "b"):
        save(tmp_path, log(vin=10.0, kp=100 + ord(name))).rename(tmp_path / f"{name}.json")
    load_recordings(tmp_path)
    (finding,) = logged(caplog)
    assert isinstance(finding, SupplyNotMeasured)
    assert (finding.names, finding.total, finding.is_set) == (("a", "b"), 2, False)
    assert (finding.given, finding.measured) == ((10.0, 10.0), (7.3, 7.3))
    assert finding.median == 7.3
    caplog.clear()
    load_recordings(tmp_path, set_fields=["vin=7.5"])
    assert logged(caplog) == []


def test_all_unusable_logs_are_told_at_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name, value in (("negative", -1.0), ("word", "heavy")):
        save(tmp_path, log(mass=value)).rename(tmp_path / f"{name}.json")
    with refused(BadData, thing="recordings", problem="none of 2 can be used (reasons above)"):
        load_recordings(tmp_path)
    assert [line for line in ("negative.json", "word.json") if line in caplog.text] == [
        "negative.json",
        "word.json",
    ]


@given(fraction=st.floats(0.0, 0.999))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_truncated_log_says_so_wherever_it_ends(tmp_path: Path, fraction: float) -> None:
    text = json.dumps(log())
    path = tmp_path / "cut.json"
    path.write_text(text[: int(len(text) * fraction)])
    with refused(Malformed, path=str(path)) as caught:
        read_json_log(path)
    assert caught.value.problem.startswith("is cut short")


@pytest.mark.parametrize("text", ["[" * 100_000, f'{{"mass": {"9" * 5000}}}', '{"mass" 1}', '{"a": 1}}'])
def test_what_is_no_json_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(text)
    with refused(Malformed, path=str(path)):
        read_json_log(path)


@pytest.mark.parametrize("text", ["hello", "time,position\n0,1\n", "<html></html>", "x" * 5000 + "}"])
def test_text_that_never_was_json_is_not_called_cut_short(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(text)
    with refused(Malformed, path=str(path)) as caught:
        read_json_log(path)
    assert "cut short" not in caught.value.problem


@pytest.mark.parametrize(
    ("data", "byte"),
    [
        (b'{"mass": "\xff\xfe"}', "byte 10 is 0xff"),
        (b"\x00" * 64, "byte 0 is 0x00"),
        (b"\x89PNG\r\n\x1a\n", "byte 0 is 0x89"),
        ("µ\x07".encode(), "byte 2 is 0x07"),
        (b"SQLite format 3\x00", "byte 15 is 0x00"),
        (json.dumps(log()).encode("utf-16"), "byte 0 is 0xff"),
        (b'{"mass": 0.4, \x00', "byte 14 is 0x00"),
    ],
    ids=["latin1", "zeros", "png", "bell", "sqlite", "utf-16", "zero_in_json"],
)
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes, byte: str) -> None:
    path = tmp_path / "binary.json"
    path.write_bytes(data)
    with refused(Malformed, path=str(path)) as caught:
        read_json_log(path)
    assert byte in caught.value.problem


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "windows.json"
    path.write_bytes(json.dumps(log()).encode("utf-8-sig"))
    assert len(read_json_log(path)) == 60


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with refused(Unreadable, path=str(tmp_path / "gone.json")):
        read_json_log(tmp_path / "gone.json")


def test_twelve_logs_read_as_six_second_runs(xl330: Path) -> None:
    recordings = load_recordings(xl330)
    assert len(recordings) == 12
    assert {recording.kp for recording in recordings} == {100.0, 200.0, 800.0}
    for recording in recordings:
        assert recording.servo == "xl330"
        assert 5.9 < recording.duration < 6.1
        assert 0.003 < recording.dt < 0.021


def test_the_load_register_of_the_xl330_is_the_duty_that_its_firmwares_law_predicts(xl330: Path) -> None:
    firmware = FIRMWARES["xl330"]
    for recording in load_recordings(xl330):
        if recording.script not in ("sin_sin", "up_and_down"):
            continue  # too fast to compare a register with a position read a millisecond apart
        law = firmware.duty(recording.kp, recording.goal_position - recording.position)
        inside = np.abs(law) < 0.9 * firmware.duty_limit
        slope = law[inside] @ recording.duty[inside] / (law[inside] @ law[inside])
        assert slope == pytest.approx(1.0, abs=0.01), recording.name


def test_a_gap_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    content = log()
    load_recordings(save(tmp_path, content))
    assert logged(caplog) == []
    del content["entries"][20:35]
    load_recordings(save(tmp_path, content))
    (finding,) = logged(caplog)
    assert isinstance(finding, SampleGaps)
    assert (finding.names, finding.total) == (("log",), 1)
    assert finding.gaps[0] == pytest.approx((0.08, 0.10), abs=0.006)


def test_a_bench_yaml_that_is_wrong_is_told_once_for_all_its_logs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps(log(trajectory=name)))
    (tmp_path / "bench.yaml").write_text("set: {arm_maas: 0.03}")
    with pytest.raises(BamError) as caught:
        load_recordings(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'bench.yaml'}")
    assert caplog.text == ""
