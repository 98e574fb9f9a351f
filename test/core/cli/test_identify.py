# SPDX-License-Identifier: Apache-2.0
"""``bam identify``: results and table, and one line with status 2 for what cannot be."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bam_core.cli import main
from bam_core.identification.data.split import DEFAULT_RULE
from bam_core.identification.identify import identify
from bam_core.identification.search.methods import CMA_ES, GAUSS_NEWTON, METHODS, MIN_EVALUATIONS
from bam_core.identification.search.schedule import DEFAULT_SCHEDULE, SearchSchedule
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.uncertainty.tolerances import DEFAULT
from bam_core.recordings import load_recordings
from bam_core.report.loading import load_results
from bam_core.report.page import render
from bam_core.servo.effects import EFFECTS
from bam_core.servo.model import load_servo
from bam_core.text.data_findings import DutyMismatch
from bam_core.text.error_findings import ShortErrors
from bam_core.text.fit_findings import NotConverged
from bam_core.text.left_out import LeftOut, Reason
from bam_core.text.recording_findings import ReadingsLeftOut, Repeated
from bam_core.text.verdict_words import headline
from test.core.cli.identify_command import brief, run, without_intervals
from test.core.finding_cases import logged
from test.core.identification_cases import xl330_logs

pytestmark = pytest.mark.usefixtures("no_plots")


def test_the_help_names_all_effects_and_the_tolerances_that_count(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("--help-all") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert [name for name in EFFECTS if name not in shown] == []
    assert [
        f"{name} {value:g}" for name, value in asdict(DEFAULT).items() if f"{name} {value:g}" not in shown
    ] == []


def test_the_help_says_that_one_rule_or_files_are_taken_for_the_test(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("--help-all") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "--test RULE|FILE [FILE ...]" in shown
    assert "[RULE|FILE ...]" not in shown
    assert "fraction=0.25" in shown
    assert run("x.json", "--output", "out", "--test", "kp=8", "--bogus") == 2
    assert "commas" not in capsys.readouterr().err


def test_it_prints_a_table_and_writes_the_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = sorted(xl330_logs().glob("kp[12]00_*_*.json"))
    output = tmp_path / "out"
    options = ["--models", "m1,m3", "--test", "kp=200", "--seed", 7, "--output", output]
    assert run(*logs, "--servo", "xl330", "--effects", "zero_offset", "--trials", 60, *options) == 0
    shown = capsys.readouterr()
    assert "train [mrad]" in shown.out
    assert "chosen: " in shown.out
    assert str(output) in shown.out
    assert "m1: 60 trials at most\n" in shown.err  # one line a model where there is no terminal
    summary = json.loads((output / "summary.json").read_text())
    assert list(summary["models"]) == ["m1", "m3"]
    assert summary["seed"] == 7
    assert all(name.startswith("kp200") for name in summary["split"]["test"])
    chosen = summary["models"][summary["chosen"]]
    short, longer = (chosen[f"test_mae_short{end}"] for end in ("", "_1s"))
    first, *_ = lines = shown.out.splitlines()
    verdict = summary["verdict"]
    assert verdict["test_mae"] == chosen["test_mae"]
    begin = len(lines) - 1 - lines[::-1].index(first)
    assert first == f"{headline(verdict['kind'])}: {verdict['sentence']}"
    reservations, *beside, rule = lines[begin + 1 :]
    assert all(reason["sentence"] in reservations for reason in verdict["reasons"])
    assert beside == [finding["sentence"] for finding in verdict["findings"]]
    assert rule == f"rule: {verdict['rule']}"
    assert lines[2] == str(ShortErrors(errors=((0.25, short), (1.0, longer))))
    assert all(warning["sentence"] for warning in summary["warnings"])


@pytest.mark.long
@pytest.mark.parametrize("given", [True, False], ids=["fewer trials", "the default"])
def test_a_search_that_its_budget_ended_is_told_by_the_default_budget_too(given: bool) -> None:
    logs = sorted(xl330_logs().glob("kp[12]00_sin_*.json"))
    short = SearchSchedule(cold_trials_per_parameter=10)
    trials = 60 if given else None
    found = identify(
        load_recordings(logs),
        "xl330",
        IdentifySettings(models="m1", test="kp=200", trials=trials, schedule=short),
    )
    assert not found.fits["m1"].converged
    assert found.fits["m1"].limited == given
    assert NotConverged(models=("m1",), spent=True) in found.warnings


@without_intervals
@pytest.mark.parametrize("method", [None, *METHODS])
def test_the_servo_file_names_the_search_that_ran(method: str | None, tmp_path: Path) -> None:
    logs = sorted(xl330_logs().glob("kp*_sin_sin.json"))
    option = [] if method is None else ["--search", method]
    assert run(*brief(*logs), "--models", "m1", "--output", tmp_path, *option) == 0
    found = load_servo(tmp_path / "m1.yaml").provenance
    ran = method or GAUSS_NEWTON
    assert found.method == ran
    assert METHODS[ran] in found.source
    assert ("CMA-ES" in found.source) is (ran == CMA_ES)
    assert found.trials == 60
    assert json.loads((tmp_path / "summary.json").read_text())["models"]["m1"]["method"] == ran


def test_a_search_that_does_not_exist_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = sorted(xl330_logs().glob("kp*_sin_sin.json"))
    assert run(*brief(*logs), "--models", "m1", "--output", tmp_path / "out", "--search", "cmaes") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "did you mean 'cma-es'" in error
    assert not (tmp_path / "out").exists()


@without_intervals
def test_a_log_that_is_given_twice_counts_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first, second = sorted(xl330_logs().glob("kp[12]00_sin_sin.json"))
    (tmp_path / "link.json").symlink_to(first)
    (tmp_path / "copy.json").write_bytes(second.read_bytes())
    logs = [first, second, first, tmp_path / "link.json", tmp_path / "copy.json"]
    assert run(*brief(*logs), "--models", "m1", "--output", tmp_path / "out") == 0
    split = json.loads((tmp_path / "out" / "summary.json").read_text())["split"]
    assert sorted(split["train"] + split["test"]) == [first.stem, second.stem]
    assert [finding for finding in logged(caplog) if isinstance(finding, Repeated)] == [
        Repeated(kind="given_twice", source=first),
        Repeated(kind="given_twice", source=tmp_path / "link.json"),
        Repeated(kind="same_data", source=tmp_path / "copy.json", duplicate_of=second),
    ]


def test_a_single_log_cannot_be_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--servo", "xl330", "--models", "m1", "--output", tmp_path / "out"]
    assert run(xl330_logs() / "kp100_sin_sin.json", *words) == 2
    error = capsys.readouterr().err
    assert "(expected at least 2 logs, got 1)" in error
    assert f"give others besides {xl330_logs() / 'kp100_sin_sin.json'}" in error
    assert error.count("\n") == 1


def test_help_tells_what_bounds_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help-all") == 0
    shown = " ".join(capsys.readouterr().out.split())
    trials = shown[shown.rindex("--trials N") :].partition(" --")[0]
    assert f"at least {MIN_EVALUATIONS}" in trials
    assert f"(default: {DEFAULT_SCHEDULE.trials_per_parameter} per" in shown
    assert DEFAULT_RULE in shown


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"--models": "m1,m9"}, ["m9", "m1, m2, m3, m4, m5, m6"]),
        ({"--models": ","}, ["m1, m2, m3, m4, m5, m6"]),
        ({"--servo": "xl33"}, ["xl33", "xl330"]),
        ({"--servo": "mx106"}, ["mx106", "'xl330'"]),
        ({"--test": "kp=123"}, ["kp=123", "100, 200, 800"]),
        ({"--test": "speed=1"}, ["speed", "fraction"]),
        ({"--test": "nowhere.json"}, ["nowhere.json"]),
        ({"--test": "kp"}, ["--test: is 'kp'", "kp=800"]),
        ({"--test": "leave_one_out=kp"}, ["did you mean 'leave-one-out'?"]),
        ({"--trials": "49"}, ["trials: is 49", "at least 50"]),
        ({"--trials": "0"}, ["trials: is 0", "at least 50"]),
        ({"--trials": "-5"}, ["trials: is -5", "at least 50"]),
        ({"--output": "FILE"}, ["is a file"]),
    ],
)
def test_bad_input_gets_one_line_and_status_2_and_writes_nothing(
    changes: dict[str, str], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    options = {"--servo": "xl330", "--models": "m1", "--output": str(tmp_path / "out"), **changes}
    options = {key: str(file) if value == "FILE" else value for key, value in options.items()}
    assert run(xl330_logs(), *(word for pair in options.items() for word in pair)) == 2
    error = capsys.readouterr().err
    assert error.startswith("bam identify: ")
    assert error.count("\n") == 1
    for word in words:
        assert word in error
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_logs_in_two_places_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = xl330_logs()
    words = ["--servo", "xl330", "--models", "m1", "--output", tmp_path / "out"]
    assert run(logs, *words, "--test", "kp=800", logs) == 2
    assert "LOGS before the options" in capsys.readouterr().err


def test_results_do_not_replace_the_servo_file_that_they_start_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m4.yaml"
    file.write_text(load_servo("xl330").to_yaml())
    before = file.read_text()
    assert run(xl330_logs(), "--servo", file, "--models", "m4", "--output", tmp_path) == 2
    assert "holds the servo file m4.yaml" in capsys.readouterr().err
    assert file.read_text() == before


@without_intervals
def test_a_log_with_another_gain_than_it_states_is_named_before_the_search(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A header that states another gain than the one that ran spoils a fit, and looks sound."""
    odd = xl330_logs() / "kp100_up_and_down.json"
    for path in (*xl330_logs().glob("kp[12]00_sin_sin.json"), odd):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    stated = {**json.loads(odd.read_text()), "kp": 1600}
    (tmp_path / odd.name).write_text(json.dumps(stated))
    options = ["--models", "m1", "--test", "kp=200", "--output", tmp_path / "out"]
    assert run(*brief(tmp_path), *options) == 0
    findings = {finding.kind: finding for finding in logged(caplog)}
    mismatch = findings["duty_mismatch"]
    assert isinstance(mismatch, DutyMismatch)
    assert mismatch.logs == ("kp100_up_and_down",)
    assert mismatch.ratios == pytest.approx((100 / 1600,), rel=0.1)
    assert "one_test_log" in findings


def damaged(log: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Return a copy of a log of which every entry was changed."""
    entries = [dict(entry) for entry in log["entries"]]
    for entry in entries:
        change(entry)
    return {**log, "entries": entries}


GARBAGE: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = {
    "still": (
        lambda log: damaged(log, lambda entry: entry.update(position=0.3)),
        "position: ",
    ),
    "free": (
        lambda log: damaged(
            log, lambda entry: entry.update(position=0.1 * math.cos(9.0 * entry["timestamp"]), speed=0.0)
        ),
        "position: ",
    ),
    "nan": (
        lambda log: damaged(log, lambda entry: entry.update(position=math.nan)),
        "entry 0, position: is nan ",
    ),
    "degrees": (
        lambda log: damaged(log, lambda entry: entry.update(position=math.degrees(entry["position"]))),
        "it looks like degrees",
    ),
    "rpm": (
        lambda log: damaged(log, lambda entry: entry.update(speed=entry["speed"] * 9.55)),
        "velocity: ",
    ),
    "hot": (
        lambda log: damaged(log, lambda entry: entry.update(temp=300)),
        "entry 0, temperature: is 300 ",
    ),
    "unpowered": (
        lambda log: damaged(log, lambda entry: entry.update(input_volts=0)),
        "entry 0, voltage: is 0 V ",
    ),
    "backwards": (lambda log: {**log, "entries": log["entries"][::-1]}, "entry 1, time: "),
    "gap": (
        lambda log: {**log, "entries": log["entries"][:100] + log["entries"][200:]},
        "entry 100, time since the entry before: ",
    ),
    "weightless": (lambda log: {**log, "mass": 0}, "mass and arm_mass together: is 0 kg "),
    "featherweight": (
        lambda log: {**log, "mass": 1e-9},
        "mass and arm_mass together: is 1e-09 kg ",
    ),
    "swapped": (
        lambda log: damaged(
            log,
            lambda entry: entry.update(
                position=entry["goal_position"], goal_position=entry["position"], speed=0
            ),
        ),
        "position: is its script sin_sin ",
    ),
    "upside down": (
        lambda log: damaged(
            log,
            lambda entry: entry.update(
                position=entry["position"] + math.pi, goal_position=entry["goal_position"] + math.pi
            ),
        ),
        "position: gravity ",
    ),
    "heavy": (lambda log: {**log, "mass": 100_000}, "mass: is 100000 "),
    "overloaded": (
        lambda log: {**log, "mass": 49},
        "mass, length: 49 kg at 0.1 m ",
    ),
    "limp": (lambda log: {**log, "kp": 0}, "kp: is 0 "),
    "empty": (
        lambda log: {**log, "entries": []},
        "entries: ",
    ),
    "single": (
        lambda log: {**log, "entries": log["entries"][:1]},
        "samples: ",
    ),
}
"""What happens to a log, and what is said of it."""


@pytest.mark.parametrize("damage", GARBAGE)
def test_garbage_in_one_of_several_logs_is_refused_by_name_and_reason(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, reason = GARBAGE[damage]
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(change(json.loads((xl330_logs() / "kp800_sin_sin.json").read_text()))))
    good = sorted(xl330_logs().glob("kp[12]00_sin_sin.json"))
    words = ["--servo", "xl330", "--models", "m1", "--output", tmp_path / "out"]
    assert run(*good, bad, "--strict", *words) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"bam identify: {bad}: ")
    assert reason in error
    assert "; " in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.json"]


@pytest.mark.parametrize("damage", ["degrees", "swapped"])  # one that cannot be read, one that fits nothing
def test_a_log_that_cannot_be_used_is_left_out_and_listed(
    damage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    change, reason = GARBAGE[damage]
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(change(json.loads((xl330_logs() / "kp800_sin_sin.json").read_text()))))
    good = sorted(xl330_logs().glob("kp[12]00_sin_sin.json"))
    words = ["--servo", "xl330", "--models", "m1", "--effects", "none", "--test", "none"]
    assert run(*good, bad, *words, "--trials", "50", "--output", tmp_path / "out") == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    (excluded,) = summary["excluded"]
    assert excluded["name"] == "bad"
    assert reason in excluded["reason"]
    assert excluded["reason"] in caplog.text
    assert summary["models"]["m1"]["per_log"].keys() == {path.stem for path in good}


def test_a_single_log_of_an_arm_that_never_moved_is_refused_for_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    still = tmp_path / "still.json"
    log = json.loads((xl330_logs() / "kp800_sin_sin.json").read_text())
    still.write_text(json.dumps(GARBAGE["still"][0](log)))
    assert run(still, "--servo", "xl330", "--models", "m1", "--output", tmp_path / "out") == 2
    assert f"{still}: position: is 0.3 rad throughout" in capsys.readouterr().err


@without_intervals
def test_torque_off_throughout_one_log_is_fine_and_throughout_all_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = sorted(xl330_logs().glob("kp[18]00_lift_and_drop.json"))
    released = []
    for log in logs:
        released.append(tmp_path / log.name)
        content = damaged(json.loads(log.read_text()), lambda entry: entry.update(torque_enable=False))
        released[-1].write_text(json.dumps(content))
    options = ["--models", "m1", "--test", "kp=100", "--output", tmp_path / "out"]
    assert run(*brief(*released), *options) == 2
    error = capsys.readouterr().err
    assert f"{released[1]}: torque_enabled: torque is off throughout all training logs" in error
    assert not (tmp_path / "out").exists()
    assert run(*brief(released[0], logs[1]), *options) == 0


@pytest.mark.parametrize(
    "command", [["validate", "--params", "xl330"], ["simulate", "--servo", "xl330", "--recording"]]
)
def test_what_only_reads_takes_an_arm_that_never_moved(
    command: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    still = tmp_path / "still.json"
    log = json.loads((xl330_logs() / "kp800_sin_sin.json").read_text())
    still.write_text(json.dumps(GARBAGE["still"][0](log)))
    words = [command[0], str(still), *command[1:]] if command[0] == "validate" else [*command, str(still)]
    assert main(words) == 0
    assert "still" in capsys.readouterr().out
    assert ("still.json: position: " in caplog.text) == (command[0] == "validate")


@without_intervals
def test_fields_of_logs_can_be_set_and_false_readings_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = tmp_path / "logs"
    shutil.copytree(xl330_logs(), directory)
    spoilt = directory / "kp800_sin_sin.json"
    content = json.loads(spoilt.read_text())
    content["entries"][100]["position"] = -3.14
    spoilt.write_text(json.dumps(content))
    output = tmp_path / "out"
    options = ["--models", "m1", "--test", "kp=800", "--set", "arm_mass=0.012", "--output", output]
    assert run(*brief(directory), *options) == 0
    logs = json.loads((output / "summary.json").read_text())["logs"]
    assert {name: each["dropped_samples"] for name, each in logs.items() if each["dropped_samples"]} == {
        "kp800_sin_sin": 1
    }
    summary = json.loads((output / "summary.json").read_text())
    assert list(summary["left_out"]) == ["kp800_sin_sin"]
    (left_out,) = summary["left_out"]["kp800_sin_sin"]
    spike = LeftOut(kind=Reason.SPIKE, channel="position", samples=1, first=100)
    assert left_out == spike.phrase
    assert set(summary["corrections"]) == set(logs)
    assert summary["corrections"]["kp800_sin_sin"] == [
        {"field": "arm_mass", "value": 0.012, "before": None, "source": "--set"}
    ]
    page = render(load_results(output))
    assert f'<td data-label="Left out">{left_out}</td>' in page
    table = page[page.index('id="found-in-logs"') :]
    assert table.index(left_out) < table.index("kp100")  # though kp800 is the last of them
    assert page.count("arm_mass 0.012 kg") == 12
    assert {each["arm_mass"] for each in logs.values()} == {0.012}
    assert {each["set"]["arm_mass"] for each in logs.values()} == {0.012}
    (finding,) = [finding for finding in logged(caplog) if isinstance(finding, ReadingsLeftOut)]
    assert (finding.names, finding.total) == (("kp800_sin_sin",), 12)
    assert finding.channels == (("position", 1),)
