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

from bam_core.errors import BamError, Malformed, Missing, OutOfRange, UnknownName, WrongType
from bam_core.exchange import bam_parameters, bam_parameters_text, read_bam_parameters
from bam_core.exchange.bam_parameters import ACTUATORS, KEYS
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
    data = {key: float(random.uniform(1e-9, 1.0)) for name, key in KEYS.items() if name in names}
    data = {**data, "model": model, "actuator": actuator}
    found = read_bam_parameters(write(tmp_path / "a.json", data))
    file = tmp_path / "servo.yaml"
    found.servo.save(file)
    save_bench_effects(file, found.bench_effects)
    back, losses = bam_parameters(load_servo(file), bench_effects=file)
    assert json.loads(bam_parameters_text(back)) == data
    assert list(back) == list(data)
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
        assert data["model"] == "m6"
        assert losses == []
        written.append(data["actuator"])
    assert written == sorted(ACTUATORS)


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
        ({"actuator": "sts3215"}, UnknownName, {"kind": "actuator", "name": "sts3215"}),
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
        "command_delay",
        "integrator",
        "quadratic_rule",
    ]
    assert data["q_offset"] == -0.01


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
