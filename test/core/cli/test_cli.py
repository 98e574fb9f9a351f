# SPDX-License-Identifier: Apache-2.0
"""`bam` helps, fails in one line with status 2, and never leaves half an output."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bam_core.cli import CORE_COMMANDS, Command, execute, main
from bam_core.cli.bench_effects import bench_effects_for, warn_of_bench
from bam_core.errors import (
    BamError,
    Conflict,
    Malformed,
    MissingSoftware,
    OutOfRange,
    UnknownName,
    WrongType,
)
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.uncertainty.prediction_file import save_prediction
from bam_core.identification.variation.spread import Spread
from bam_core.identification.variation.variation import Variation
from bam_core.recordings import load_recordings
from bam_core.servo.bench_effects_file import bench_effects_path, save_bench_effects
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.families import LEROBOT_GAINS
from bam_core.servo.model import load_servo, servo_names
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.synthetic import synthesize
from bam_core.text.gain_words import gain_words
from bam_core.text.model_findings import BenchLeftOut
from bam_core.text.split_findings import TrainedOn
from test.core.finding_cases import logged
from test.core.json_log_cases import log, save
from test.core.refusals import refused
from test.run_bag import RunBag

ROOT = Path(__file__).parents[3]
WITHIN = 300.0  # s; generous: what a process may take on a machine that others use as well


def bam(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bam_core.cli", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=WITHIN,
        check=False,
    )


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; from bam_core.cli import main; main(['--help']); print(*sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=WITHIN, check=True
    ).stdout
    assert "validate" in out
    loaded = set(out.splitlines()[-1].split())
    assert not loaded & {"numpy", "scipy", "numba", "matplotlib", "mujoco", "yaml", "rosbags", "rclpy"}
    assert len(loaded) < 200  # modules, 116 of them today; `make bench` says how long it takes


@pytest.mark.parametrize("command", [command.name for command in CORE_COMMANDS])
def test_help_of_a_command_comes_without_what_only_its_work_needs(command: str) -> None:
    code = (
        f"import sys; from bam_core.cli import main; main([*'{command}'.split(), '--help']); "
        "print(*sys.modules)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=WITHIN, check=True
    ).stdout
    assert "example:" in out
    loaded = set(out.splitlines()[-1].split())
    heavy = {"numpy", "scipy", "numba", "matplotlib", "mujoco", "yaml", "rosbags", "mcap", "cmaes", "tqdm"}
    assert not loaded & heavy


@pytest.mark.parametrize("command", CORE_COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_itself_with_an_example(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.name.split(), "--help"]) == 0
    out = capsys.readouterr().out
    assert "example:\n  " in out
    assert "bam " in out.split("example:")[1]


def test_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("bam_bench ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["servo"], "bam: command 'servo': unknown .*did you mean 'servos'?"),
        (["servos", "xl33"], "bam servos: servo 'xl33': unknown .*did you mean 'xl330'?"),
        (
            ["servos", "xl330", "extra"],
            r"bam servos: extra: is one argument too many \(expected a servo alone\)",
        ),
        (["validate", "nowhere", "--params", "xl330"], "bam validate: nowhere: does not exist"),
        (["validate", "nowhere"], "bam validate: --params: is missing"),
        (["diagram", "xl330", "--output", "x.docx"], "bam diagram: x.docx: '.docx' is no picture format"),
        (["diagram", "xl330", "--output", "x.png", "--max-torque", "-1"], "bam diagram: --max-torque: is -1"),
        (["record", "--session", "x"], "bam record: .* is not part of an installation without ROS 2"),
        ([], "bam: error: .*COMMAND"),
    ],
)
def test_a_mistake_ends_with_status_2_and_one_line_that_says_what(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert re.match(message, captured.err), captured.err


@pytest.mark.parametrize(
    ("words", "kind", "about"),
    [
        (["servo"], UnknownName, {"kind": "command", "name": "servo"}),
        (["servos", "xl33"], UnknownName, {"kind": "servo", "name": "xl33"}),
        (["servos", "xl330", "extra"], Conflict, {"thing": "extra"}),
        (["diagram", "xl330", "--output", "x.png", "--max-torque", "-1"], OutOfRange, {"value": -1.0}),
        (["record", "--session", "x"], MissingSoftware, {"software": "ROS 2"}),
        (
            ["identify", "--servo", "xl330", "--output", "out", "--models", "m1", "--", "m4", "logs"],
            WrongType,
            {"thing": "LOGS", "value": "m4"},
        ),
    ],
)
def test_a_python_program_is_told_a_mistake_by_kind_and_objects(
    words: list[str], kind: type[BamError], about: dict[str, object]
) -> None:
    with refused(kind, **about):
        execute(words)


def test_a_directory_in_place_of_a_servo_file_is_told_with_the_files_in_it(tmp_path: Path) -> None:
    load_servo("mx106").save(tmp_path / "m1.yaml")
    load_servo("mx106").save(tmp_path / "m4.yaml")
    with refused(Malformed, path=str(tmp_path)) as caught:
        execute(["validate", "nowhere", "--params", str(tmp_path)])
    assert str(caught.value).endswith("name a servo file in it: m1.yaml, m4.yaml")


def test_several_values_of_an_option_are_told_to_be_separated_by_commas(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["identify", "recordings", "--servo", "xl330", "--models", "m1", "m4", "m6", "--output", "out"]
    assert main(words) == 2
    assert "--models takes them with commas between: --models m1,m4,m6 " in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [command for command in CORE_COMMANDS if "needs_ros" not in command.module]
)
def test_wrong_arguments_get_one_line_that_leads_to_the_help(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.name.split(), "--no-such\noption", "--output"]) == 2
    error = capsys.readouterr().err
    assert re.fullmatch(rf"bam {command.name}: error: .* \(see bam {command.name} --help\)\n", error)


@pytest.mark.parametrize(
    "words",
    [
        ["validate", "LOG", "--params", "xl330", "--json"],
        ["diagram", "xl330", "--output"],
    ],
)
def test_a_single_output_file_is_not_put_where_no_directory_is(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = str(save(tmp_path, log()))
    output = tmp_path / "no" / "where.png"
    assert main([recording if word == "LOG" else word for word in [*words, str(output)]]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"bam {words[0]}: {output}: there is no directory {output.parent} ")
    assert error.count("\n") == 1
    assert not output.parent.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["validate", "nowhere", "--params", "nothing.yaml", "--json"],
        ["diagram", "nothing.yaml", "--output"],
        ["simulate", "--servo", "xl330", "--recording", "nowhere", "--output"],
        ["identify", "nowhere", "--servo", "xl330", "--models", "m1", "--output"],
    ],
)
def test_an_output_that_cannot_be_is_told_before_anything_is_read(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    for output in (str(tmp_path / "file" / "below.png"), "/proc/nothing.png"):
        assert main([*words, output]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"bam {words[0]}: {output}: ")
        assert error.count("\n") == 1


@pytest.mark.parametrize("dt", ["1", "0.0201", "0", "-0.001", "1e-9", "nan", "inf"])
def test_a_step_beyond_what_firmware_does_is_refused(
    dt: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", str(save(tmp_path, log())), "--params", "xl330", f"--dt={dt}"]) == 2
    assert re.fullmatch(
        rf"bam validate: --dt: is {float(dt):g} s \(expected 1e-05 to 0\.02: firmware .*\); .*\n",
        capsys.readouterr().err,
    )


def test_steps_up_to_the_coarsest_are_taken(tmp_path: Path) -> None:
    path = str(save(tmp_path, log()))
    for dt in ("0.02", "0.005", "0.001"):
        assert main(["validate", path, "--params", "xl330", "--dt", dt]) == 0


def test_an_added_command_replaces_the_one_of_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my_record.py").write_text(
        "EXAMPLE = 'bam record'\n"
        "def add_arguments(parser): parser.add_argument('--n', type=int)\n"
        "def run(arguments):\n    print(arguments.n)\n    return 7\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    commands = (*CORE_COMMANDS, Command("record", "record", "my_record"))
    assert main(["record", "--n", "3"], commands) == 7
    assert capsys.readouterr().out == "3\n"


@pytest.mark.parametrize(("error", "status"), [("KeyboardInterrupt", 130), ("BrokenPipeError", 0)])
def test_interruptions_end_without_a_traceback(tmp_path: Path, error: str, status: int) -> None:
    (tmp_path / "stop.py").write_text(
        f"EXAMPLE = ''\ndef add_arguments(parser): pass\ndef run(arguments): raise {error}\n"
    )
    code = (
        "import sys; from bam_core.cli import Command, main; "
        "sys.exit(main(['stop'], [Command('stop', 'stop', 'stop')]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=WITHIN,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
        check=False,
    )
    assert done.returncode == status
    assert "Traceback" not in done.stderr


def test_servos_lists_the_library_and_prints_a_file_that_loads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["servos"]) == 0
    table = capsys.readouterr().out
    assert all(name in table for name in servo_names())
    assert main(["servos", "mx64"]) == 0
    (tmp_path / "copy.yaml").write_text(capsys.readouterr().out)
    assert load_servo(tmp_path / "copy.yaml") == load_servo("mx64")
    assert main(["servos", "sts3215"]) == 0
    firmware = load_servo("sts3215").firmware
    words = gain_words(firmware.factory_kp, LEROBOT_GAINS[firmware.name])
    assert capsys.readouterr().out.endswith("".join(f"# {line}\n" for line in words))


def test_validate_writes_errors_per_model_and_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path, log(motor="mx106", kp=32, mass=0.5))
    RunBag(samples=1000).write(tmp_path / "bag")
    load_servo("mx64").save(tmp_path / "mine.yaml")
    (tmp_path / "bad.json").write_text('{"mass": 0.4')
    out = tmp_path / "validation_result.txt"
    arguments = [str(tmp_path), "--params", "mx106", str(tmp_path / "mine.yaml"), "--json", str(out)]
    assert main(["validate", *arguments]) == 0
    result = json.loads(out.read_text())
    assert [excluded["name"] for excluded in result.pop("excluded")] == ["bad"]
    assert list(result) == ["mx106", "mine"]
    for scores in result.values():
        assert list(scores["per_log"]) == ["bag", "log"]
        assert scores["mae"] == pytest.approx(sum(scores["per_log"].values()) / 2)
        assert 0 < scores["mae"] < 3
    table = capsys.readouterr().out
    assert f"{1e3 * result['mx106']['mae']:.2f}" in table


def test_validate_names_logs_that_a_servo_was_fitted_to(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    logs = [tmp_path / "16.json", tmp_path / "32.json"]
    for path in logs:
        path.write_text(json.dumps(log(motor="mx106", kp=int(path.stem), mass=0.5)))
    servo, out = load_servo("mx106"), tmp_path / "result.txt"
    first, _ = load_recordings(logs)
    trained = replace(servo.provenance, train_data={"some name": first.sha256})
    replace(servo, provenance=trained).save(tmp_path / "mine.yaml")
    words = ["validate", *map(str, logs), "--params", str(tmp_path / "mine.yaml"), "mx106"]
    assert main([*words, "--json", str(out)]) == 0
    result = json.loads(out.read_text())
    assert result["mine"]["trained_on"] == ["16"]
    assert result["mx106"]["trained_on"] == []
    assert caplog.text.count(str(TrainedOn(model="mine", logs=("16",), total=2))) == 1
    assert "mx106 was fitted" not in caplog.text


def test_validate_tells_short_horizons_and_bands_per_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    save(tmp_path, log(motor="mx106", kp=32, mass=0.5))
    mine, out = tmp_path / "mine.yaml", tmp_path / "result.txt"
    servo = load_servo("mx106")
    servo.save(mine)
    factor = np.diag([0.01, 0.01])
    ranges = {"torque_constant": (1.0, 5.0), "resistance": (0.5, 10.0)}
    told = Prediction(ranges=ranges, factor=factor, inflation=2.0, residual=0.01, residual_alone=0.02)
    save_prediction(mine, told)
    words = ["validate", str(tmp_path), "--params", str(mine), "--json", str(out)]

    def result(*more: str) -> dict[str, float]:
        assert main([*words, *more]) == 0
        return dict(json.loads(out.read_text())["mine"])

    plain = result()
    of_readings = ["dropped_samples", "position_update_period"]
    assert list(plain) == [
        "mae",
        "per_log",
        "mae_short",
        "mae_short_1s",
        *of_readings,
        "trained_on",
        "bench_fitted",
    ]
    assert [list(plain[name]) for name in of_readings] == 2 * [list(plain["per_log"])]
    assert plain["mae_short"] > 0.0
    drawn = result("--draws", "40")
    assert {name: drawn[name] for name in plain} == plain
    assert 0.0 <= drawn["band_90_coverage"] <= 1.0
    assert drawn["band_90_width"] > 2.0 * 1.6 * 0.01  # of the residual alone
    assert result("--draws", "40") == drawn != result("--draws", "40", "--seed", "1")
    said = capsys.readouterr().out
    assert f" {100 * drawn['band_90_coverage']:.1f}" in said
    assert drawn["per_log_draws"] == {
        log: {name: drawn[name] for name in ("crps", "band_90_coverage", "band_90_width")}
        for log in plain["per_log"]
    }
    assert f" {1e3 * drawn['crps']:.2f}" in said
    spread = Spread(draws={"run": np.full((20, 3), 0.3)})
    save_prediction(mine, replace(told, variation=Variation(spread=spread, residual=0.01)))
    varying = result("--draws", "40")
    assert varying["band_90_width"] > 1.5 * drawn["band_90_width"]
    assert result("--draws", "40", "--fixed-friction") == drawn
    capsys.readouterr()
    # One that says nothing of errors costs the others nothing.
    assert main([*words[:4], "mx64", *words[4:], "--draws", "40"]) == 0
    others = json.loads(out.read_text())
    assert others["mine"] == varying
    assert "band_90_width" not in others["mx64"]
    assert re.search(r"\[%\] +[0-9.]+ +- +- +-\n", capsys.readouterr().out)
    assert caplog.text.count("mx64: no 90 % band") == 1
    assert main([*words, "--draws", "3"]) == 2
    assert "--draws: is 3" in capsys.readouterr().err


def test_recordings_are_simulated_on_the_bench_of_the_servo_s_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path, log(motor="mx106", kp=32, mass=0.5))
    mine, out = tmp_path / "mine.yaml", tmp_path / "result.txt"
    load_servo("mx106").save(mine)
    save_bench_effects(mine, BenchEffects(zero_offset=0.3))

    def error(*words: str) -> float:
        assert main(["validate", str(tmp_path), *words, "--json", str(out)]) == 0
        (result,) = json.loads(out.read_text()).values()
        return float(result["mae"])

    file = str(mine)
    plain, found = error("--params", "mx106"), error("--params", file)
    assert abs(plain - found) > 1e-3
    assert error("--params", file, "--bench-effects", "none") == pytest.approx(plain)
    assert error("--params", "mx106", "--bench-effects", file) == pytest.approx(found)
    assert error("--params", "mx106", "--bench-effects", str(bench_effects_path(mine))) == found
    capsys.readouterr()
    figures = []
    for words in (["mx106"], [file], ["mx106", "--bench-effects", file]):
        assert main(["simulate", "--recording", str(tmp_path), "--servo", *words]) == 0
        figures.append(capsys.readouterr().out)
    assert figures[0] != figures[1] == figures[2]
    assert main(["simulate", "--script", "sin_sin", "--servo", file, "--bench-effects", file]) == 2
    assert "--bench-effects: is for recordings" in capsys.readouterr().err
    assert main(["validate", str(tmp_path), "--params", file, "--bench-effects", "nowhere.yaml"]) == 2
    assert "nowhere.yaml: cannot be read" in capsys.readouterr().err


def test_that_the_bench_of_a_library_servo_is_left_out_is_told(caplog: pytest.LogCaptureFixture) -> None:
    recording = synthesize("xl330", PendulumBench(mass=0.1, length=0.1), "sin_sin", 200.0)
    digest = next(iter(load_servo("xl330").provenance.train_data.values()))
    assert bench_effects_for(None, "xl330") == IDEAL_BENCH
    warn_of_bench("none", "xl330", [recording])
    assert logged(caplog) == []
    warn_of_bench(None, "xl330", [recording])
    assert logged(caplog) == [BenchLeftOut(kind="other_bench", servo="xl330")]
    caplog.clear()
    warn_of_bench(None, "xl330", [replace(recording, sha256=digest)])
    assert logged(caplog) == [BenchLeftOut(kind="own_recordings", servo="xl330")]
    caplog.clear()
    warn_of_bench(None, "mx106", [recording])  # whose bench is not known
    assert caplog.text == ""


def test_what_is_left_out_of_a_validation_is_named_below_the_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before: list[str] = []
    monkeypatch.setattr(
        "bam_core.cli.validate.warn_of_bench", lambda *_: before.append(capsys.readouterr().out)
    )
    assert main(["validate", str(save(tmp_path, log())), "--params", "xl330"]) == 0
    (shown,) = before
    assert "mean" in shown
    assert capsys.readouterr().out == ""


def test_a_failed_validation_leaves_an_earlier_result_untouched(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("earlier")
    arguments = [str(tmp_path / "gone"), "--params", "mx106", "--json", str(tmp_path / "result.json")]
    assert main(["validate", *arguments]) == 2
    assert (tmp_path / "result.json").read_text() == "earlier"


def test_diagram_draws_a_picture(tmp_path: Path) -> None:
    picture = tmp_path / "pictures" / "diagram.png"
    picture.parent.mkdir()
    assert main(["diagram", "mx106", "xl330", "--output", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert list(picture.parent.iterdir()) == [picture]


def garbage(**changes: Any) -> dict[str, Any]:
    """A log whose header, or whose every entry, is changed; a function changes an entry by its index."""
    content = log()
    for key, value in changes.items():
        if key in content["entries"][0]:
            for k, entry in enumerate(content["entries"]):
                entry[key] = value(k) if callable(value) else value
        else:
            content[key] = value
    return content


@pytest.mark.parametrize(
    ("content", "thing"),
    [
        (garbage(position=math.nan), "entry 0, position"),
        (garbage(position=lambda k: 3.0 * k), "entry 5, position"),
        (garbage(timestamp=lambda k: 0.3 - 0.005 * k), "entry 1, time"),
        (garbage(timestamp=lambda k: 5.0 * k), "time between samples"),
        (garbage(mass=0), "mass and arm_mass together"),
        (garbage(mass=-0.5), "bench mass"),
        (garbage(mass=math.nan), "bench mass"),
        (garbage(mass=490), "mass"),
        (garbage(length=0), "length"),
        (garbage(length=100), "length"),
        (garbage(kp=-1), "kp"),
        (garbage(entries=log()["entries"][:10]), "samples"),
    ],
)
def test_a_log_of_nonsense_is_refused_by_name_and_reason(
    content: dict[str, Any], thing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save(tmp_path, content)
    for words in (
        ["--params", "xl330"],
        ["--servo", "xl330", "--models", "m1", "--output", str(tmp_path / "out")],
    ):
        command = "validate" if "--params" in words else "identify"
        assert main([command, str(tmp_path), *words]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"bam {command}: {path}: {thing}: ")
        assert "; " in error
        assert error.count("\n") == 1
        assert not (tmp_path / "out").exists()
