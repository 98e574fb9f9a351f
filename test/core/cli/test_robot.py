# SPDX-License-Identifier: Apache-2.0
"""``bam robot validate`` and ``bam robot identify``."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bam_core.cli import main
from bam_core.cli.robot import design, identify, validate, view
from bam_core.errors import Terminated
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.motion import read_motion
from bam_core.text.output_findings import Unfinished
from bam_core.text.recording_findings import SupplyContradicted
from bam_core.text.robot_result_findings import PriorOnly
from test.core.finding_cases import logged
from test.core.whole_robot_cases import ARM, SERVOS, recorded, servos, write_csv

LATE = RobotDeviations(delay=0.015)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A robot and three logs."""
    place = tmp_path_factory.mktemp("robot")
    (place / "arm.xml").write_text(ARM)
    for seed, gain in ((1, "a_kp16"), (2, "b_kp16"), (3, "c_kp16")):
        write_csv(recorded(servos("m1"), seed=seed, deviations=LATE, duration=1.5), place / f"{gain}.csv")
    return place


def command(place: Path, name: str, *more: str) -> list[str]:
    return [
        "robot",
        name,
        "--robot",
        str(place / "arm.xml"),
        "--servos",
        ",".join(SERVOS),
        "--vin",
        "12",
        *more,
    ]


def test_gains_and_maps_of_runs_are_on_the_first_screen() -> None:
    assert {"--kp", "--ki", "--kd", "--map"} <= set(identify.FIRST_SCREEN)


def summary_kind(output: Path) -> str:
    return str(json.loads((output / "summary.json").read_text())["verdict"]["kind"])


def test_a_robot_is_identified_and_validated_with_the_result(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = [str(place / f"{name}.csv") for name in ("a_kp16", "b_kp16")]
    test = str(place / "c_kp16.csv")
    output = tmp_path / "out"
    exact = ["--tolerance", "mass=0", "--tolerance", "centre=0"]
    options = ["--models", "m1", "--output", str(output), "--test", test, *exact]
    (tmp_path / "cut_kp16.csv").write_text("time,goal:shoulder,read:shoulder\n0,0,0\n")
    logs.append(str(tmp_path / "cut_kp16.csv"))
    assert main([*command(place, "identify"), *options, "--joints", "elbow,shoulder", *logs]) == 0
    printed = capsys.readouterr().out
    assert "before [mrad]" in printed
    assert printed.splitlines()[0].startswith(f"{summary_kind(output).upper()}, ")
    assert json.loads((output / "summary.json").read_text())["verdict"]["rule"] in printed.splitlines()[-1]
    assert "12.00 V" in printed
    assert "supply_voltage:=12.0" in printed
    assert f" --params {output}/*.yaml" in printed
    summary = json.loads((output / "summary.json").read_text())
    assert summary["test"] == ["c_kp16"]
    assert [excluded["name"] for excluded in summary["excluded"]] == ["cut_kp16"]
    assert summary["tolerances"]["mass"] == 0.0
    assert not [name for name in summary["models"]["m1"]["deviations"] if name.startswith("mass")]
    model = summary["models"]["m1"]
    assert model["test_mae"] < model["test_mae_before"]
    assert not all(each["told"] for of_servo in model["parameters"].values() for each in of_servo.values())
    assert str(PriorOnly()) in printed
    file = tmp_path / "errors.json"
    params = [str(path) for path in sorted(output.glob("*.yaml"))]
    assert (
        main([*command(place, "validate", test), "--params", *params, "--draws", "10", "--json", str(file)])
        == 0
    )
    errors = json.loads(file.read_text())["m1"]
    assert errors["mae"] == pytest.approx(
        model["test_mae"], abs=1e-9
    )  # with the deviations beside the servos
    assert set(errors["per_log"]["c_kp16"]["per_joint"]) == {"shoulder", "elbow"}
    assert 0.5 < errors["band_90_coverage"]["c_kp16"] <= 1.0
    assert main([*command(place, "validate", test), "--draws", "10"]) == 2  # nothing was identified
    assert str(output / "deviations" / "m1.yaml") in capsys.readouterr().out
    none = [*command(place, "validate", test), "--params", *params, "--deviations", "none"]
    assert main([*none, "--json", str(file)]) == 0
    assert json.loads(file.read_text())["m1"]["mae"] > errors["mae"]


@pytest.mark.parametrize(("stop", "status"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_a_stopped_identification_is_one_line_that_names_what_is_kept(
    stop: type[KeyboardInterrupt],
    status: int,
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stopped(*_: object, finished: Any, **__: object) -> None:
        output = finished.__self__
        output.complete, output.unfinished, output.not_converged = ("m1",), {"m2", "m4"}, {"m4"}
        raise stop

    monkeypatch.setattr("bam_core.robot.identification.fit_models", stopped)
    output = tmp_path / "out"
    words = [*command(place, "identify", str(place / "a_kp16.csv")), "--models", "m1,m2,m4,m6"]
    assert main([*words, "--output", str(output)]) == status
    kept = Unfinished(
        kind="interrupted",
        directory=output,
        models=("m1",),
        not_converged=("m4",),
        without_errors=("m2",),
        not_done=("m6",),
    )
    assert capsys.readouterr().err.splitlines()[-1].endswith(str(kept))


def test_without_params_the_servos_given_are_validated(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(place, "validate", str(place / "a_kp16.csv"))) == 0
    printed = capsys.readouterr().out
    assert "given" in printed
    assert re.search(r"a_kp16 +16 +12\.0 +0\.0 to 1\.5 ", printed)  # gain, supply and part that were used
    assert printed.endswith("identified: none\n")


def test_runs_that_cannot_be_used_are_left_out_and_listed(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    good, file = place / "a_kp16.csv", tmp_path / "errors.json"
    unnamed = tmp_path / "unnamed_kp16.csv"
    unnamed.write_text(good.read_text().replace("time", "stamp", 1))
    command_line = command(place, "validate", str(good), str(unnamed))
    assert main([*command_line, "--json", str(file)]) == 0
    errors = json.loads(file.read_text())
    (excluded,) = errors["excluded"]
    assert excluded["name"] == "unnamed_kp16"
    assert excluded["reason"].startswith(f"{unnamed}: ")
    assert excluded["reason"] in caplog.text
    assert errors["given"]["per_log"].keys() == {"a_kp16"}
    capsys.readouterr()
    for words in ([*command_line, "--strict"], command(place, "validate", str(unnamed))):
        assert main(words) == 2
        assert excluded["reason"] in capsys.readouterr().err


def test_runs_of_a_robot_are_viewed_with_its_servos(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, log = tmp_path / "runs.html", str(place / "a_kp16.csv")
    assert main([*command(place, "view", log, str(place / "b_kp16.csv")), "--output", str(page)]) == 0
    assert capsys.readouterr().out == f"wrote {page}\n"
    html = page.read_text()
    data = json.loads(re.search(r'id="fit-data">(.*?)</script>', html, re.DOTALL)[1])
    names = [f"{run}_kp16 · {joint}" for run in "ab" for joint in ("shoulder", "elbow")]
    assert list(data["logs"]) == names
    assert list(data["titles"].values()) == ["given"]
    assert all("m1" in log["residual"] for log in data["logs"].values())
    errors = tmp_path / "errors.json"
    assert main([*command(place, "validate", log), "--json", str(errors)]) == 0
    (result,) = json.loads(errors.read_text()).values()
    for error in result["per_log"]["a_kp16"]["per_joint"].values():
        assert f">{1e3 * error:.2f}<" in html


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--servos", "strong"], "--servos"),
        (["--servos", "stong=mx106"], "did you mean 'strong'?"),
        (["--servos", "strong=mx107"], "mx107"),
        (["--joints", "wrist"], "wrist"),
        (["--root", "toe"], "toe"),
        (["--root", "free"], "--root fixed"),
        (["--interval", "none.json"], "none.json"),
        (["--kp", "-1"], "--kp"),
        (["--params", "xl330"], "xl330"),
        (["--params", "mx106"], "mx64"),
        (["--robot", "none.xml"], "none.xml"),
        (["--draws", "50"], "--draws"),
        (["--set", "vin=12"], "--set"),
    ],
)
def test_what_is_wrong_is_one_line(
    words: list[str], said: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command(place, "validate", str(place / "a_kp16.csv")), *words]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert said in errors


def test_a_test_run_that_is_not_there_names_those_that_are(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*command(place, "identify", str(place / "a_kp16.csv")), "--test", "eight"]
    assert main([*words, "--models", "m1", "--output", str(tmp_path / "out")]) == 2
    assert "a_kp16" in capsys.readouterr().err


def test_a_supply_that_the_servos_did_not_measure_is_warned_of(
    place: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = (place / "a_kp16.csv").read_text().splitlines()
    log = tmp_path / "a_kp16.csv"
    log.write_text("\n".join([lines[0] + ",vin", *(f"{line},14.7" for line in lines[1:])]))
    assert main(command(place, "validate", str(log))) == 0
    (finding,) = [finding for finding in logged(caplog) if isinstance(finding, SupplyContradicted)]
    assert (finding.source, finding.names) == ("--vin", ("a_kp16",))
    assert (finding.given, finding.recorded) == ((12.0,), pytest.approx((14.7,)))


@pytest.mark.parametrize("words", [["--effects", "zero_offset"], ["--servo", "mx106"], ["--trials", "500"]])
def test_options_of_a_bench_are_refused_for_a_robot(
    words: list[str], place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = str(place / "a_kp16.csv")
    assert main([*command(place, "identify", log), "--output", str(tmp_path / "out"), *words]) == 2
    assert words[0] in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["identify", "validate", "design", "record"])
@pytest.mark.parametrize("words", [["--robot", "arm.xml"], ["--robot=arm.xml"]])
def test_a_robot_given_to_a_command_of_a_bench_names_the_command_that_takes_it(
    name: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, *words]) == 2
    assert capsys.readouterr().err == (
        f"bam {name}: --robot: is no option of bam {name} (expected the command bam robot {name}); "
        f"use bam robot {name} --robot FILE ...\n"
    )


@pytest.mark.parametrize("name", ["identify", "validate", "design"])
def test_a_robot_s_commands_need_a_robot(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["robot", name, "a_kp16.csv", "--vin", "12"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"bam robot {name}: error: the following arguments are required: --robot")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["robot"], "bam robot: error: the following arguments are required: COMMAND"),
        (["robot", "identfy"], "did you mean 'robot identify'?"),
        (["robot", "record", "--robot", "a.xml", "--motion", "m.csv", "--output", "o"], "without ROS 2"),
    ],
)
def test_the_group_of_robots_commands_refuses_in_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.long
def test_a_motion_is_designed_and_written(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "motion.csv"
    options = ["--kp", "16", "--models", "m1", "--pieces", "2", "--seconds", "12", "--output", str(output)]
    assert main([*command(place, "design"), *options, "--floor", "-1"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("95 %") >= 2
    assert "stall torque" in printed
    motion = read_motion(output)
    assert set(motion.joints) == {"shoulder", "elbow"}
    assert motion.kp == 16.0
    assert motion.duration <= 12.0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--kp", "16"], "--output"),
        (["--output", "m.csv"], "--kp"),
        (["--output", "m.csv", "--kp", "8,16"], "--kp"),
        (["--output", "m.csv", "--kp", "16", "--mass", "1"], "--mass"),
        (["--output", "m.csv", "--kp", "16", "--torque", "2"], "torque"),
        (["--output", "m.csv", "--kp", "16", "--start", "home"], "keyframe"),
        (["--output", "m.csv", "--kp", "16", "--models", "m1,m4"], "--models"),
    ],
)
def test_a_design_that_cannot_be_is_one_line(
    place: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*command(place, "design"), *options]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [["design", "--start", "home", "--servo", "xl330"], ["validate", "--film", "a.gif", "--params", "xl330"]],
)
def test_options_of_a_robot_are_none_of_a_bench(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "log.json"]) == 2
    assert words[1] in capsys.readouterr().err


@pytest.mark.parametrize("module", [identify, validate, view, design], ids=lambda module: module.__name__)
def test_the_example_is_understood(module: ModuleType) -> None:
    words = shlex.split(module.EXAMPLE)
    parser = argparse.ArgumentParser(exit_on_error=False)
    module.add_arguments(parser)
    assert parser.parse_args(words[3:]).robot == "arm.urdf"
