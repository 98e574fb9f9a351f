# SPDX-License-Identifier: Apache-2.0
"""BAM's parameter files become servos and come back with the same numbers."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.errors import (
    BamError,
    Conflict,
    Malformed,
    Missing,
    OutOfRange,
    UnknownName,
    Unsupported,
    WrongType,
)
from bam_core.exchange import bam_parameters, bam_parameters_text, read_bam_parameters
from bam_core.exchange.bam_actuators import ACTUATORS, ALIASES, BAM_NAMES, LAW_KEYS, UNSUPPORTED
from bam_core.exchange.bam_parameters import KEYS
from bam_core.recordings import load_recordings
from bam_core.servo.bench_effects_file import save_bench_effects
from bam_core.servo.effects import BenchEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import load_servo, published_names
from bam_core.simulation.rollout import Rollout, parameter_vector
from test.core.exchange_cases import EROB80_100_M1, XL330_M4, write
from test.core.refusals import refused


def refuse(file: Path, error: type[BamError], /, **about: object) -> None:
    with refused(error, **about) as caught:
        read_bam_parameters(file)
    assert str(caught.value).startswith(f"{file}: ")


@pytest.mark.parametrize("model", FRICTION_MODELS)
@pytest.mark.parametrize("actuator", ACTUATORS)
def test_parameters_come_back_with_identical_numbers(tmp_path: Path, model: str, actuator: str) -> None:
    names = ("torque_constant", "resistance", "armature", "zero_offset", *FRICTION_MODELS[model].parameters)
    random = np.random.default_rng(len(model + actuator))
    data = {key: float(random.uniform(0.02, 1.0)) for name, key in KEYS.items() if name in names}
    law = {key: float(random.uniform(0.1, 1.0)) for key in ACTUATORS[actuator].defaults}
    data = {**data, **law, "command_delay": 0.003, "model": model, "actuator": actuator}
    found = read_bam_parameters(write(tmp_path / "a.json", data))
    file = tmp_path / "servo.yaml"
    found.servo.save(file)
    save_bench_effects(file, found.bench_effects)
    back, losses = bam_parameters(load_servo(file), bench_effects=file)
    assert {key: value for key, value in back.items() if key not in law} == {
        key: value for key, value in data.items() if key not in law
    }
    assert {key: back[key] for key in law} == pytest.approx(law, rel=1e-12)
    assert json.loads(bam_parameters_text(back)) == back
    assert [*found.remarks, *losses] == []


@given(st.floats(-3.0, 3.0), st.floats(1e-300, 1e3))
def test_any_offset_and_constant_come_back(offset: float, constant: float) -> None:
    servo = load_servo("xl330")
    motor = dataclasses.replace(servo.motor, torque_constant=constant)
    bench_effects = BenchEffects(zero_offset=-offset)
    data, _ = bam_parameters(dataclasses.replace(servo, motor=motor), bench_effects=bench_effects)
    assert data["kt"] == constant
    assert data.get("q_offset", 0.0) == offset


def test_an_imported_servo_is_marked_as_fitted_by_bam_s_program(tmp_path: Path) -> None:
    servo = read_bam_parameters(write(tmp_path / "m4.json", XL330_M4)).servo
    assert servo.integrator == "semi_implicit"
    assert servo.friction.quadratic_rule == "opposing"
    assert servo.firmware is load_servo("xl330").firmware
    assert "m4.json" in servo.provenance.source
    assert servo.search == load_servo("xl330").search
    assert servo.parameters["load_stribeck"] == XL330_M4["load_friction_stribeck"]


def test_an_offset_changes_its_sign(tmp_path: Path, xl330: Path) -> None:
    """BAM adds it to the encoder's angle, we take it off: only so does it help on the recordings."""
    found = read_bam_parameters(write(tmp_path / "m4.json", XL330_M4))
    offset = found.bench_effects.zero_offset
    assert offset == -XL330_M4["q_offset"]
    rollout = Rollout.for_servo(load_recordings(xl330), found.servo)
    errors = [
        rollout.errors(parameter_vector(found.servo, BenchEffects(zero_offset=zero))).mean()
        for zero in (offset, 0.0, -offset)
    ]
    assert errors[0] < errors[1] < errors[2]


def test_every_published_servo_of_the_library_goes_back_without_a_loss() -> None:
    written = []
    for name in published_names():
        data, losses = bam_parameters(load_servo(name))
        assert losses == []
        written.append(data["actuator"])
    assert sorted(written) == sorted(ACTUATORS)


def test_a_missing_resistance_of_a_current_law_is_filled_in_and_told(tmp_path: Path) -> None:
    found = read_bam_parameters(write(tmp_path / "m1.json", EROB80_100_M1))
    assert found.servo.motor.resistance == 2.0
    (remark,) = found.remarks
    assert "2 Ω" in remark
    without = {key: value for key, value in XL330_M4.items() if key != "R"}
    refuse(write(tmp_path / "m4.json", without), Missing, thing="R")


@pytest.mark.parametrize(
    ("change", "kind", "about"),
    [
        ({"kt": 0.0}, OutOfRange, {"thing": "kt", "value": 0.0}),
        ({"kt": float("nan")}, OutOfRange, {"thing": "kt"}),
        ({"R": float("inf")}, OutOfRange, {"thing": "R"}),
        ({"armature": -1e-3}, OutOfRange, {"thing": "armature", "value": -1e-3}),
        ({"friction_base": "much"}, WrongType, {"thing": "friction_base", "value": "much"}),
        ({"friction_base": True}, WrongType, {"thing": "friction_base", "value": True}),
        ({"friction_base": 10**400}, OutOfRange, {"thing": "friction_base"}),
        ({"alpha": 0}, OutOfRange, {"thing": "alpha", "value": 0}),
        ({"q_offset": 28.0}, OutOfRange, {"thing": "q_offset", "value": 28.0}),
        ({"model": "m7"}, UnknownName, {"kind": "model", "name": "m7"}),
        ({"model": 4}, WrongType, {"thing": "model", "value": 4}),
        ({"actuator": "sts3032"}, UnknownName, {"kind": "actuator", "name": "sts3032"}),
        ({"error_gain_ratio": 0.0}, OutOfRange, {"thing": "error_gain_ratio", "value": 0.0}),
        ({"error_gain_ratio": "1.2"}, WrongType, {"thing": "error_gain_ratio"}),
        ({"max_velocity": -5.0}, OutOfRange, {"thing": "max_velocity", "value": -5.0}),
        ({"command_delay": -0.001}, OutOfRange, {"thing": "command_delay"}),
        ({"command_delay": 5.0}, OutOfRange, {"thing": "command_delay", "value": 5.0}),
        ({"current_limit": 1.5}, Unsupported, {"thing": "current_limit"}),
        ({"actuator": ["xl330"]}, WrongType, {"thing": "actuator", "value": ["xl330"]}),
        ({"speed": 1.0}, UnknownName, {"kind": "key of m4", "name": "speed"}),
        ({"load_friction_motor": 0.1}, UnknownName, {"kind": "key of m4", "name": "load_friction_motor"}),
    ],
)
def test_a_wrong_value_is_named(
    tmp_path: Path, change: dict[str, object], kind: type[BamError], about: dict[str, object]
) -> None:
    refuse(write(tmp_path / "m4.json", {**XL330_M4, **change}), kind, **about)


@pytest.mark.parametrize("key", XL330_M4)
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    path = write(tmp_path / "m4.json", {each: value for each, value in XL330_M4.items() if each != key})
    if key == "q_offset":
        assert read_bam_parameters(path).bench_effects == BenchEffects()
    else:
        refuse(path, Missing, thing=key)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "3", '{"a": 1}', "\0\1", "[" * 5000])
def test_garbage_is_no_parameter_file(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "garbage.json", text)
    refuse(path, Malformed, path=str(path))


def test_what_bam_cannot_hold_is_told_line_by_line() -> None:
    servo = load_servo("published/mx106")
    motor = dataclasses.replace(servo.motor, torque_saturation=0.3, winding_heating=2.0)
    bench_effects = BenchEffects(zero_offset=0.01, command_delay=2e-3)
    friction = dataclasses.replace(servo.friction, quadratic_rule="paper")
    ours = dataclasses.replace(servo, motor=motor, friction=friction, integrator="midpoint")
    data, losses = bam_parameters(ours, bench_effects=bench_effects)
    assert [loss.split(":")[0] for loss in losses] == [
        "torque_saturation",
        "winding_heating",
        "integrator",
        "quadratic_rule",
    ]
    assert data["q_offset"] == -0.01
    assert data["command_delay"] == 2e-3


def test_another_firmware_is_told() -> None:
    with refused(UnknownName, name="mx106_2"):
        bam_parameters(load_servo("mx106_2"))
    _, losses = bam_parameters(load_servo("mx106_2"), "mx106")
    assert [loss.split(":")[0] for loss in losses] == ["integrator", "firmware"]
    assert losses[1].startswith("firmware: is mx-protocol2")


def test_a_servo_of_one_s_own_lends_its_firmware(tmp_path: Path) -> None:
    path = write(tmp_path / "m4.json", {**XL330_M4, "actuator": "mine"})
    servo = read_bam_parameters(path, load_servo("mx64_2")).servo
    assert servo.name == "mx64_2"
    assert servo.motor.torque_constant == XL330_M4["kt"]


STS3215_M1 = {
    "kt": 1.3,
    "error_gain_ratio": 1.16,
    "R": 2.7,
    "armature": 0.022,
    "q_offset": -0.05,
    "max_velocity": 5.1,
    "command_delay": 0.005,
    "friction_base": 0.05,
    "friction_viscous": 0.03,
    "model": "m1",
    "actuator": "sts3215",
}
"""With the keys of BAM's files since 2026-08."""


def test_the_law_of_a_newer_file_becomes_effects_of_the_version_for_its_supply(tmp_path: Path) -> None:
    found = read_bam_parameters(write(tmp_path / "m1.json", STS3215_M1))
    assert found.servo.name == "sts3215_7v4"
    assert found.servo.nominal_voltage == 7.4
    assert found.servo.servo_effects.firmware_gain == pytest.approx(1.16 * 0.166 / 0.165 - 1.0)
    assert found.servo.servo_effects.goal_slew_time == pytest.approx(1.0 / 5.1)
    assert found.bench_effects == BenchEffects(zero_offset=0.05, command_delay=0.005)
    assert found.remarks == ()


def test_its_duty_is_that_of_bam_s_program(tmp_path: Path) -> None:
    """duty = 0.166 · ratio · kp · error up to 0.97, as its STS3215Actuator computes it."""
    servo = read_bam_parameters(write(tmp_path / "m1.json", STS3215_M1)).servo
    gain = 1.0 + servo.servo_effects.firmware_gain
    errors = np.array([0.001, 0.02, 0.1, 0.5])
    expected = np.minimum(0.166 * 1.16 * 16.0 * errors, 0.97)
    assert servo.firmware.demand(gain * 16.0, errors) == pytest.approx(expected)
    assert servo.stall_torque() == pytest.approx(0.97 * 7.4 * 1.3 / 2.7)


def test_what_an_older_file_lacks_is_taken_from_bam_s_program_and_told(tmp_path: Path) -> None:
    older = {key: value for key, value in STS3215_M1.items() if key not in LAW_KEYS}
    found = read_bam_parameters(write(tmp_path / "m1.json", older))
    assert found.servo.servo_effects.firmware_gain == pytest.approx(0.166 / 0.165 - 1.0)
    assert found.servo.servo_effects.goal_slew_time == pytest.approx(4096 / (2.0 * np.pi * 3400))
    assert [remark.split(":")[0] for remark in found.remarks] == ["error_gain_ratio", "max_velocity"]


def test_a_servo_for_another_supply_does_not_get_the_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "m1.json", STS3215_M1)
    with refused(Conflict):
        read_bam_parameters(path, load_servo("sts3215"))
    twelve = read_bam_parameters(
        write(tmp_path / "m1.json", {**STS3215_M1, "actuator": "sts3215_12V"}), load_servo("sts3215")
    )
    assert twelve.servo.name == "sts3215"


@pytest.mark.parametrize("actuator", ALIASES)
def test_other_names_of_an_actuator_are_known(tmp_path: Path, actuator: str) -> None:
    data = {key: value for key, value in STS3215_M1.items() if key not in LAW_KEYS}
    found = read_bam_parameters(write(tmp_path / "m1.json", {**data, "actuator": actuator}))
    assert BAM_NAMES[found.servo.name] == ALIASES[actuator]


@pytest.mark.parametrize("actuator", UNSUPPORTED)
def test_a_law_that_cannot_be_simulated_here_is_refused_in_words(tmp_path: Path, actuator: str) -> None:
    path = write(tmp_path / "m1.json", {**STS3215_M1, "actuator": actuator})
    with refused(Unsupported) as caught:
        read_bam_parameters(path)
    assert UNSUPPORTED[actuator] in str(caught.value)
    with refused(Unsupported):
        bam_parameters("mx106", actuator)


def test_a_limit_of_the_current_belongs_to_the_law(tmp_path: Path) -> None:
    data = {key: value for key, value in STS3215_M1.items() if key not in LAW_KEYS}
    hls = {**data, "actuator": "feetech_hls", "current_limit": 0.9}
    servo = read_bam_parameters(write(tmp_path / "m1.json", hls)).servo
    assert servo.firmware.demand_limit == 0.9
    with refused(Unsupported, thing="error_gain_ratio"):
        read_bam_parameters(write(tmp_path / "m1.json", {**hls, "error_gain_ratio": 1.1}))


def test_a_ratio_of_an_unknown_actuator_counts_from_the_servo_s_own_gain(tmp_path: Path) -> None:
    path = write(tmp_path / "m1.json", {**STS3215_M1, "actuator": "mine"})
    found = read_bam_parameters(path, load_servo("mx106"))
    assert found.servo.servo_effects.firmware_gain == pytest.approx(0.16)
    (remark,) = found.remarks
    assert remark.startswith("error_gain_ratio: ")


def test_no_advice_is_to_remove_a_key(tmp_path: Path) -> None:
    for change in ({"speed": 1.0}, {"current_limit": 1.0}, {"load_friction_motor": 0.1}):
        with pytest.raises(BamError) as caught:
            read_bam_parameters(write(tmp_path / "m1.json", {**STS3215_M1, **change}))
        assert "remove it" not in str(caught.value)


def test_export_knows_the_library_s_servo_by_its_version(tmp_path: Path) -> None:
    data, losses = bam_parameters("sts3215_7v4")
    assert data["actuator"] == "sts3215"
    assert data["error_gain_ratio"] == pytest.approx(1.1617, rel=1e-4)
    assert data["max_velocity"] == pytest.approx(5.09575, rel=1e-4)
    assert [loss.split(":")[0] for loss in losses] == ["integrator"]
    twelve, losses = bam_parameters("sts3215")
    assert twelve["actuator"] == "sts321512v"
    assert {loss.split(":")[0] for loss in losses} == {
        "torque_saturation",
        "integrator",
        "quadratic_rule",
        "firmware",
    }


def test_files_of_other_programs_have_notes_nulls_and_names_in_other_letters(tmp_path: Path) -> None:
    right = read_bam_parameters(write(tmp_path / "right.json", XL330_M4))
    notes = {"date": "2026-05-01", "comment": "best of 3", "q_offset": None, "command_delay": None}
    spelt = {**XL330_M4, **notes, "model": "M4", "actuator": "XL330"}
    if XL330_M4.get("q_offset"):
        spelt["q_offset"] = XL330_M4["q_offset"]
    other = read_bam_parameters(write(tmp_path / "other.json", spelt))
    assert dataclasses.replace(other.servo, provenance=right.servo.provenance) == right.servo
    assert other.bench_effects == right.bench_effects
    assert len(other.remarks) == len(right.remarks) + 2
    refuse(write(tmp_path / "number.json", {**XL330_M4, "mae": 0.02}), UnknownName, name="mae")
    refuse(write(tmp_path / "null.json", {**XL330_M4, "kt": None}), WrongType)
