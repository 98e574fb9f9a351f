# SPDX-License-Identifier: Apache-2.0
"""`bam servos new`: a servo of one's own from its data sheet, without touching code."""

from __future__ import annotations

import io
import math
import shlex
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from bam_core.cli import execute, main
from bam_core.cli.new_servo import units_that_agree
from bam_core.errors import (
    BamError,
    Conflict,
    Missing,
    NotWritable,
    OutOfRange,
    UnknownName,
    WrongType,
)
from bam_core.identification.data.same_servo import require_same_servo
from bam_core.report import load_results
from bam_core.servo.data_sheet import DataSheet
from bam_core.servo.firmware_laws import CurrentFirmware, VoltageFirmware
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from test.core.cli.test_data_sheet_questions import QUESTIONS
from test.core.identification_cases import BENCH, record, write_log
from test.core.refusals import refused

ROOT = Path(__file__).parents[3]
SHEET_OPTIONS = [
    "--voltage",
    "12",
    "--stall-torque",
    "4.1",
    "--stall-current",
    "2.3",
    "--no-load-speed",
    "46 rpm",
]
STS3250 = ["--voltage", "12", "--stall-torque", "50 kg.cm", "--stall-current", "2.8"]
STS3250 += ["--no-load-speed", "0.133 s/60deg"]


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())


def test_the_servo_starts_from_the_data_sheet_and_its_ranges_hold_it(tmp_path: Path) -> None:
    file = tmp_path / "my3250.yaml"
    assert main(["servos", "new", str(file), *STS3250, "--manufacturer", "Feetech"]) == 0
    servo = load_servo(file)
    assert (servo.name, servo.title, servo.manufacturer) == ("my3250", "my3250", "Feetech")
    assert servo.nominal_voltage == 12.0
    assert servo.motor.resistance == pytest.approx(12 / 2.8, rel=1e-2)
    by_stall, by_speed = 4.903 / 2.8, 12 / 7.874
    assert servo.motor.torque_constant == pytest.approx(math.sqrt(by_stall * by_speed), rel=1e-2)
    for name in ("torque_constant", "resistance", "armature"):
        low, high = servo.search.ranges[name]
        assert low < 0.5 * getattr(servo.motor, name) < 2.0 * getattr(servo.motor, name) < high
    assert servo.search.effects == ("firmware_gain",)  # nobody told the gain


def test_an_unknown_gain_is_searched_between_those_of_all_known_firmwares(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    assert main(["servos", "new", str(file), *SHEET_OPTIONS, "--factory-kp", "850"]) == 0
    servo = load_servo(file)
    low, high = servo.search.ranges["firmware_gain"]
    guess = float(servo.firmware.gains(1.0)[0])
    for firmware in FIRMWARES.values():
        if isinstance(firmware, VoltageFirmware):
            assert 2.0 * (1.0 + low) * guess < firmware.duty_per_kp_rad < 0.5 * (1.0 + high) * guess


@pytest.mark.parametrize(
    ("name", "law", "factory_kp"),
    [
        ("XM430-W350", "mx-protocol2", 800),
        ("xl430", "mx-protocol2", 640),
        ("2xl430-w250", "mx-protocol2", 640),
        ("dynamixel_xd540", "mx-protocol2", 800),
        ("xl330-m288", "xl330", 400),
        ("xl320", "xl320", 32),
        ("mx-28", "mx-protocol1", 32),
        ("MX-28(2.0)", "mx-protocol2", 850),
        ("mx106_2", "mx-protocol2", 850),
        ("sts3032", "feetech-sts", 32),
    ],
)
def test_a_servo_of_a_known_series_has_the_law_of_the_series(
    name: str, law: str, factory_kp: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["servos", "new", str(tmp_path / "my.yaml"), *SHEET_OPTIONS, "--name", name]) == 0
    servo = load_servo(tmp_path / "my.yaml")
    assert servo.firmware.gains(1.0) == FIRMWARES[law].gains(1.0)
    assert servo.firmware.factory_kp == factory_kp
    assert servo.search.effects == ()
    assert f"control law: {law}" in capsys.readouterr().out


def test_numbers_of_a_controller_that_are_assumed_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["servos", "new", str(tmp_path / "my.yaml"), *SHEET_OPTIONS, "--factory-kp", "1"]) == 0
    said = capsys.readouterr().out
    assert "--counts-per-turn 4096" in said
    assert "--factory-kp" not in said
    assert " 10," in said  # the end of the range, which holds the 5 that is taken


@pytest.mark.parametrize("name", ["xm4300", "ax12", "scs0009", "xm", "my-xm430"])
def test_a_servo_of_no_known_series_has_an_unknown_gain(name: str, tmp_path: Path) -> None:
    assert main(["servos", "new", str(tmp_path / "my.yaml"), *SHEET_OPTIONS, "--name", name]) == 0
    assert load_servo(tmp_path / "my.yaml").search.effects == ("firmware_gain",)


@pytest.mark.parametrize(
    ("name", "kp", "counts"),
    [
        ("HLS3930", 32, 4096),
        ("feetech_hls2915", 32, 4096),
        ("PH54-200-S500-R", 314, 1003846),
        ("M54-60-S250-R(A)", 314, 1003846),
        ("H54-100-S500-R", 32, 501923),
        ("YM070-210-M001-RH", 6283185, 524288),
    ],
)
def test_a_series_of_cascades_has_a_law_of_current_whose_gain_is_fitted(
    name: str, kp: float, counts: float, tmp_path: Path
) -> None:
    assert main(["servos", "new", str(tmp_path / "my.yaml"), *STS3250, "--name", name]) == 0
    servo = load_servo(tmp_path / "my.yaml")
    assert isinstance(servo.firmware, CurrentFirmware)
    assert (servo.firmware.factory_kp, servo.firmware.counts_per_turn) == (kp, counts)
    assert servo.firmware.current_limit == 2.8  # stall
    assert servo.search.effects == ("firmware_gain",)
    low, high = servo.search.ranges["firmware_gain"]
    assert 1.0 + low <= 0.1
    assert 1.0 + high >= 10.0
    described = [*STS3250, "--name", name, "--law", "voltage", "--duty-per-kp", "0.1"]
    assert main(["servos", "new", str(tmp_path / "other.yaml"), *described]) == 0
    assert isinstance(load_servo(tmp_path / "other.yaml").firmware, VoltageFirmware)


def test_a_series_whose_gain_nobody_measured_has_its_law_and_both_units_in_range(tmp_path: Path) -> None:
    assert main(["servos", "new", str(tmp_path / "xc330-m288.yaml"), *SHEET_OPTIONS]) == 0
    servo = load_servo(tmp_path / "xc330-m288.yaml")
    low, high = servo.search.ranges["firmware_gain"]
    own = float(servo.firmware.gains(1.0)[0])
    for law in ("mx-protocol2", "xl330"):
        assert (1.0 + low) * own < float(FIRMWARES[law].gains(1.0)[0]) < (1.0 + high) * own


def test_a_firmware_that_is_named_counts_more_than_the_series(tmp_path: Path) -> None:
    words = ["--name", "xm430", "--firmware", "xl330", "--factory-kp", "300"]
    assert main(["servos", "new", str(tmp_path / "my.yaml"), *SHEET_OPTIONS, *words]) == 0
    firmware = load_servo(tmp_path / "my.yaml").firmware
    assert firmware == replace(FIRMWARES["xl330"], factory_kp=300)


def test_a_law_that_is_described_counts_more_than_the_series(tmp_path: Path) -> None:
    words = ["--name", "xm430", "--duty-per-kp", "0.1"]
    assert main(["servos", "new", str(tmp_path / "my.yaml"), *SHEET_OPTIONS, *words]) == 0
    assert float(load_servo(tmp_path / "my.yaml").firmware.gains(1.0)[0]) == 0.1
    words = ["--name", "xm430", "--firmware", "unknown"]
    assert main(["servos", "new", str(tmp_path / "other.yaml"), *SHEET_OPTIONS, *words]) == 0
    assert load_servo(tmp_path / "other.yaml").search.effects == ("firmware_gain",)


def test_goals_of_an_sts_servo_are_slewed_at_its_own_speed_without_load(tmp_path: Path) -> None:
    assert main(["servos", "new", str(tmp_path / "sts3032.yaml"), *SHEET_OPTIONS]) == 0
    assert load_servo(tmp_path / "sts3032.yaml").firmware.goal_speed_limit == 4.82


def test_a_terminal_asks_for_the_law_and_offers_that_of_the_series(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter(["xl3", "xl330"])
    asked = []

    def answer(question: str) -> str:
        asked.append(question)
        return next(answers)

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", answer)
    assert main(["servos", "new", str(tmp_path / "xm430.yaml"), *SHEET_OPTIONS]) == 0
    assert "(mx-protocol2)" in asked[0]
    assert "xl3" in capsys.readouterr().err
    assert load_servo(tmp_path / "xm430.yaml").firmware == FIRMWARES["xl330"]


def test_a_gain_that_is_known_is_not_fitted(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    assert main(["servos", "new", str(file), *STS3250, "--duty-per-kp", "0.165", "--name", "sts3250"]) == 0
    servo = load_servo(file)
    assert servo.name == "sts3250"
    assert servo.search.effects == ()
    assert float(servo.firmware.gains(32.0)[0]) == pytest.approx(32 * 0.165)


def test_a_servo_under_the_current_law(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    law = ["--law", "current", "--current-limit", "2.5", "--damping", "0.1", "--counts-per-turn", "16384"]
    assert main(["servos", "new", str(file), *STS3250, *law]) == 0
    firmware = load_servo(file).firmware
    assert isinstance(firmware, CurrentFirmware)
    assert (firmware.current_limit, firmware.damping, firmware.counts_per_turn) == (2.5, 0.1, 16384)


def test_the_gain_of_a_current_law_is_given_or_fitted(tmp_path: Path) -> None:
    law = ["--law", "current", "--current-limit", "1.4", "--factory-kp", "400"]
    given, unknown = tmp_path / "given.yaml", tmp_path / "unknown.yaml"
    assert main(["servos", "new", str(given), *STS3250, *law, "--amps-per-kp", "0.0025"]) == 0
    servo = load_servo(given)
    assert servo.firmware.gains(400.0) == (1.0, 0.0)
    assert servo.search.effects == ()
    assert main(["servos", "new", str(unknown), *STS3250, *law]) == 0
    servo = load_servo(unknown)
    low, high = servo.search.ranges["firmware_gain"]
    guess = float(servo.firmware.gains(1.0)[0])
    assert (1.0 + low) * guess < 0.0025 < 1.0 < (1.0 + high) * guess


def test_what_is_missing_is_asked_for_and_wrong_answers_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter(["twelve", "12", "50 kg.cm", "2.8", "75 rpm", "", "", "", "", "0.165", ""])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: next(answers))
    assert main(["servos", "new", str(tmp_path / "my.yaml")]) == 0
    assert next(answers, "none left") == "none left"
    assert "--voltage: is 'twelve' (expected a number " in capsys.readouterr().err
    assert load_servo(tmp_path / "my.yaml").firmware.counts_per_turn == 4096


@pytest.mark.parametrize(
    ("words", "kind", "about"),
    [
        ([], Missing, {"thing": "FILE"}),
        (["my.txt"], WrongType, {"thing": "FILE", "value": "my.txt"}),
        (["TMP/no/my.yaml"], NotWritable, {}),
        (["TMP/there.yaml"], NotWritable, {}),
        (["TMP/my.yaml"], Missing, {"thing": "--voltage"}),
        (["TMP/my.yaml", "--stall-torque", "5 lb"], Missing, {"thing": "--voltage"}),
        (["TMP/my.yaml", "--voltage", "12 A"], WrongType, {"thing": "--voltage", "value": "12 A"}),
        (["TMP/my.yaml", *STS3250, "--stall-torque", "5 lb"], WrongType, {"value": "5 lb"}),
        (["TMP/my.yaml", *STS3250, "--duty-limit", "0"], OutOfRange, {"thing": "--duty-limit"}),
        (["TMP/my.yaml", *STS3250, "--firmware", "xl3"], UnknownName, {"name": "xl3"}),
        (
            ["TMP/my.yaml", *STS3250, "--firmware", "xl330", "--duty-per-kp", "1"],
            Conflict,
            {"thing": "--duty-per-kp"},
        ),
        (
            ["TMP/my.yaml", *STS3250, "--firmware", "xl330", "--law", "current"],
            Conflict,
            {"thing": "--law"},
        ),
        (["TMP/my.yaml", *STS3250, "--damping", "1"], Conflict, {"thing": "--damping"}),
        (
            ["TMP/my.yaml", *STS3250, "--law", "current", "--duty-limit", "1"],
            Conflict,
            {"thing": "--duty-limit"},
        ),
    ],
)
def test_what_is_wrong_is_an_error_about_it_and_nothing_is_written(
    words: list[str], kind: type[BamError], about: dict[str, object], tmp_path: Path
) -> None:
    (tmp_path / "there.yaml").touch()
    with refused(kind, **about):
        execute(["servos", "new", *(word.replace("TMP", str(tmp_path)) for word in words)])
    assert [path.name for path in tmp_path.iterdir()] == ["there.yaml"]


def test_the_end_of_input_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(question: str) -> str:
        raise EOFError

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", end)
    with refused(Missing, thing="answer to --voltage"):
        execute(["servos", "new", str(tmp_path / "my.yaml")])
    assert not list(tmp_path.iterdir())


def test_help_shows_new(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["servos", "new", "--help"]) == 0
    usage, *_, examples = capsys.readouterr().out.split("\n\n")
    assert "[SERVO|new]" in usage
    assert " my_servo.yaml" in examples


@pytest.mark.parametrize("name", ["xd540", "XD430-T350", "ax12"])
def test_a_servo_of_a_family_that_the_library_lacks_gets_no_suggestion(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with refused(UnknownName, name=name, closest=None) as caught:
        execute(["servos", name])
    assert name[:2].upper() in caught.value.advice
    assert f" new {name}.yaml" in caught.value.advice


@pytest.mark.parametrize(
    ("name", "meant"),
    [("mx-106", "mx106"), ("xl30", "xl330"), ("XM430-W350", "xm430_w350"), ("sts3095", None)],
)
def test_a_servo_is_suggested_where_its_name_is_near(
    name: str, meant: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with refused(UnknownName, name=name, closest=meant):
        execute(["servos", name])


def test_an_unknown_servo_leads_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["servos", "sts3095"]) == 2
    assert (
        "write a file for a servo of your own with 'bam servos new sts3095.yaml'" in capsys.readouterr().err
    )


@pytest.mark.long
def test_a_servo_of_ones_own_is_identified_from_logs_of_bams_recorder(tmp_path: Path, no_plots: None) -> None:
    """Its gain, motor and friction are others than the data sheet has made us believe."""
    file = tmp_path / "sts3250.yaml"
    assert main(["servos", "new", str(file), *STS3250, "--firmware", "unknown"]) == 0
    guess = load_servo(file)
    truth = replace(
        guess,
        firmware=replace(guess.firmware, duty_per_kp_rad=0.8 * guess.firmware.duty_per_kp_rad),
        motor=replace(guess.motor, torque_constant=1.9, resistance=3.4, armature=0.03),
        friction=replace(guess.friction, viscous=0.06, coulomb=0.15),
    )
    logs = tmp_path / "logs"
    logs.mkdir()
    heavy = PendulumBench(mass=1.5, arm_mass=0.05, length=0.2)  # a gain shows where duties reach their limit
    for script in ("sin_sin", "sin_time_square", "up_and_down", "lift_and_drop"):
        for kp, bench in ((8.0, heavy), (32.0, heavy), (32.0, BENCH)):
            log = record(truth, script, kp, bench)
            write_log(log, logs / f"{script}_{kp:g}_{bench.mass:g}.json")
    output = tmp_path / "out"
    words = ["identify", str(logs), "--servo", str(file), "--models", "m1", "--effects", "firmware_gain"]
    assert main([*words, "--output", str(output)]) == 0
    found = load_results(output)
    assert found
    servo = load_servo(output / "m1.yaml")
    assert servo.motor.torque_constant == pytest.approx(1.9, rel=0.02)
    assert servo.motor.resistance == pytest.approx(3.4, rel=0.03)
    assert servo.servo_effects.firmware_gain == pytest.approx(-0.2, abs=0.02)
    assert servo.firmware == guess.firmware  # written and read again


def test_the_servo_of_the_page_can_be_identified_from_the_recordings_of_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/own_servo.md, "Try it without hardware": they name a firmware of the library."""
    page = (ROOT / "docs" / "own_servo.md").read_text().split("## Try it without hardware")[1]
    line = next(line for line in page.splitlines() if line.startswith("bam servos new"))
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(line)[1:]) == 0
    law = load_servo("mx106").firmware.name
    demo = replace(record(load_servo("mx106"), "sin_sin", 8.0), firmware=law)
    require_same_servo(load_servo("my_servo.yaml"), [demo])


@pytest.mark.parametrize(
    ("option", "text", "unit"),
    [
        ("stall_torque", "30", "kg·cm"),
        ("stall_torque", "2940", "mN·m"),
        ("stall_current", "2700", "mA"),
        ("no_load_speed", "100", "rpm"),
        ("no_load_speed", "0.1", "s/60°"),
    ],
)
def test_a_bare_number_that_contradicts_the_others_gets_the_unit_that_agrees(
    option: str, text: str, unit: str
) -> None:
    sound = {
        "voltage": "12 V",
        "stall_torque": "2.94 N·m",
        "stall_current": "2.7 A",
        "no_load_speed": "10 rad/s",
    }
    texts = {**sound, option: text}
    sheet = DataSheet(
        **{name: QUESTIONS[name.replace("_", "-")].value(value) for name, value in texts.items()}
    )
    proposed = units_that_agree(sheet, Namespace(**texts))
    assert proposed == [f"--{option.replace('_', '-')} '{text} {unit}'"]
    assert units_that_agree(sheet, Namespace(**{**texts, option: f"{text} {unit}"})) == []
