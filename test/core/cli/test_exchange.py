# SPDX-License-Identifier: Apache-2.0
"""``bam import`` and ``bam export``: round trips, and mistakes that leave nothing behind."""

from __future__ import annotations

import json
import math
from pathlib import Path

import mujoco
import pytest

from bam_core.cli import execute, main
from bam_core.errors import (
    BamError,
    Conflict,
    Missing,
    NotWritable,
    OutOfRange,
    UnknownName,
    Unreadable,
    Unsupported,
    WrongType,
)
from bam_core.exchange import bam_log_text
from bam_core.recordings import load_recordings
from bam_core.robot.lerobot_dataset import read_dataset_runs
from bam_core.servo.bench_effects_file import load_bench_effects
from bam_core.servo.model import load_servo
from bam_core.text.robot_evidence_findings import JointsFinding
from bam_core.text.training_words import next_step
from test.core.exchange_cases import EROB80_100_M1, XL330_M4, write
from test.core.finding_cases import logged
from test.core.identification_cases import xl330_logs
from test.core.physics_cases import random_run
from test.core.refusals import refused

LEROBOT = Path(__file__).parents[2] / "data" / "lerobot_v3"
SO101 = Path(__file__).parents[3] / "config" / "robots" / "so101_like.xml"


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_run(path: str, *joints: str) -> None:
    """Write a run of two seconds, all joints alike."""
    header = ["time", *(f"{part}:{joint}" for joint in joints for part in ("goal", "read"))]
    rows = [
        [0.01 * row, *[math.sin(0.03 * row), 0.99 * math.sin(0.03 * (row - 2))] * len(joints)]
        for row in range(200)
    ]
    lines = [",".join(map(str, row)) for row in (header, *rows)]
    Path(path).write_text("\n".join(lines))


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    before = sorted(Path().rglob("*"))
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"bam {words[0]}: ")
    assert captured.err.count("\n") == 1
    assert sorted(Path().rglob("*")) == before
    return captured.err


def test_a_servo_is_written_for_training(capsys: pytest.CaptureFixture[str]) -> None:
    logs = next(str(path) for path in xl330_logs().glob("*sin_sin.json"))
    words = ["export", "xl330", "--to", "mjlab", "--kp", "400", "--motion", logs, "--output", "servo.py"]
    assert main(words) == 0
    compile(Path("servo.py").read_text(encoding="utf-8"), "servo.py", "exec")
    printed = capsys.readouterr().out
    assert "no back-EMF" in printed
    assert printed.splitlines()[-1] == next_step("mjlab", "servo.py", "xl330")


def test_parameters_go_round(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("m4.json"), XL330_M4)
    assert main(["import", "m4.json", "--output", "servo.yaml"]) == 0
    assert "wrote servo.yaml" in capsys.readouterr().out
    assert load_bench_effects("servo.yaml").zero_offset == -XL330_M4["q_offset"]
    assert main(["export", "servo.yaml", "--output", "back.json"]) == 0
    assert json.loads(Path("back.json").read_text()) == XL330_M4


@pytest.mark.long
def test_logs_become_bags_of_their_names_and_logs_again() -> None:
    logs = Path("logs")
    logs.mkdir()
    for path in xl330_logs().glob("kp100_*.json"):
        (logs / path.name).symlink_to(path)
    assert main(["import", str(logs), "--output", "bags"]) == 0
    names = sorted(path.stem for path in logs.glob("*.json"))
    assert [path.name for path in sorted(Path("bags").iterdir())] == names
    assert [len(each) for each in load_recordings("bags")] == [len(each) for each in load_recordings(logs)]
    assert main(["export", "bags", "--output", "again"]) == 0
    assert [path.stem for path in sorted(Path("again").iterdir())] == names
    assert main(["export", "bags/kp100_sin_sin", "--output", "one.json"]) == 0
    assert Path("one.json").read_bytes() == Path("again/kp100_sin_sin.json").read_bytes()


def test_a_servo_becomes_mjcf_for_a_robot_or_a_bench(caplog: pytest.LogCaptureFixture) -> None:
    assert main(["export", "mx106", "--output", "mx106.xml"]) == 0
    assert mujoco.MjModel.from_xml_path("mx106.xml").nv == 0
    assert "m1 with --effects none" in caplog.text
    words = ["export", "mx106", "--kp", "32", "--vin", "12", "--bench", "1,0.15,0.05"]
    assert main([*words, "--output", "bench.xml"]) == 0
    model = mujoco.MjModel.from_xml_path("bench.xml")
    assert (model.nv, model.nu) == (1, 1)
    assert model.body_mass[1] == pytest.approx(1.05)


def test_runs_of_a_robot_become_a_lerobot_dataset(caplog: pytest.LogCaptureFixture) -> None:
    assert main(["export", str(LEROBOT), "--lerobot", "--fps", "10", "--task", "go", "--output", "new"]) == 0
    info = json.loads(Path("new/meta/info.json").read_text())
    assert (info["fps"], info["total_episodes"], info["robot_type"]) == (10, 2, "so101_follower")
    before, after = (read_dataset_runs(path)[0] for path in (LEROBOT, Path("new")))
    assert after.position == pytest.approx(before.position[::3], abs=1e-5)


def test_a_gripper_needs_the_description_of_its_robot(caplog: pytest.LogCaptureFixture) -> None:
    write_run("run.csv", "gripper", "lift")
    assert main(["export", "run.csv", "--lerobot", "--output", "without"]) == 0
    assert logged(caplog) == [JointsFinding(kind="unknown_range", joints=("gripper",))]
    assert main(["export", "run.csv", "--lerobot", "--robot", str(SO101), "--output", "with"]) == 0
    names = [json.loads(Path(name, "meta", "info.json").read_text())["features"]["action"]["names"]
             for name in ("without", "with")]  # fmt: skip
    assert names == [["lift.pos"], ["gripper.pos", "lift.pos"]]


def test_what_an_import_fills_in_is_told(caplog: pytest.LogCaptureFixture) -> None:
    write(Path("m1.json"), EROB80_100_M1)
    assert main(["import", "m1.json", "--output", "servo.yaml"]) == 0
    assert any(record.getMessage().startswith("R: ") for record in caplog.records)
    assert "m1.json" in caplog.text
    assert load_servo("servo.yaml").firmware.name == "erob80"


def test_an_unknown_actuator_can_be_given_a_servo(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("m4.json"), {**XL330_M4, "actuator": "sts9999"})
    assert "'sts9999': unknown" in refusal(capsys, "import", "m4.json", "--output", "servo.yaml")
    assert main(["import", "m4.json", "--servo", "xl330", "--output", "servo.yaml"]) == 0


def test_an_import_overwrites_nothing() -> None:
    write(Path("m4.json"), XL330_M4)
    write(Path("servo.yaml"), "mine")
    with refused(NotWritable, path="servo.yaml"):
        execute(["import", "m4.json", "--output", "servo.yaml"])
    assert Path("servo.yaml").read_text() == "mine"
    for name in ("a", "b"):
        write(Path(f"{name}.json"), bam_log_text(random_run(len(name) + ord(name), 5e-3)))
    Path("bags/b").mkdir(parents=True)
    with refused(NotWritable, path="bags/b"):
        execute(["import", "a.json", "b.json", "--output", "bags"])


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '{"a": 1}', "\0\1", "[" * 5000, '{"entries": []}'])
def test_garbage_is_refused(capsys: pytest.CaptureFixture[str], text: str) -> None:
    write(Path("garbage.json"), text)
    assert "garbage.json" in refusal(capsys, "import", "garbage.json", "--output", "out")
    assert "garbage.json" in refusal(capsys, "export", "garbage.json", "--output", "out.json")
    assert "garbage.json" in refusal(capsys, "export", "mx106", "garbage.json", "--output", "o.json")


def test_a_damaged_log_is_named_and_left_out_of_an_import(caplog: pytest.LogCaptureFixture) -> None:
    text = bam_log_text(random_run(1, 5e-3))
    Path("logs").mkdir()
    write(Path("logs/good.json"), text)
    write(Path("logs/nan.json"), text.replace('"goal_position": ', '"goal_position": NaN, "was": ', 1))
    assert main(["import", "logs", "--output", "bags"]) == 0
    assert [bag.name for bag in Path("bags").iterdir()] == ["good"]
    assert "nan.json: entry 0, goal_position" in caplog.text


@pytest.mark.parametrize(
    ("words", "kind", "about"),
    [
        (("import", "no.json", "--output", "out"), Unreadable, {"path": "no.json"}),
        (("import", "m4.json", "--output", "servo.txt"), WrongType, {"value": "servo.txt"}),
        (("import", "m4.json", "--output", "no/servo.yaml"), NotWritable, {"path": "no/servo.yaml"}),
        (("import", "m4.json", "m4.json", "--output", "a.yaml"), Conflict, {"thing": "m4.json"}),
        (("import", "m4.json", "--servo", "mx107", "--output", "a.yaml"), UnknownName, {"name": "mx107"}),
        (("import", "log.json", "--servo", "mx106", "--output", "bags"), Conflict, {"thing": "--servo"}),
        (("import", "log.json", "--output", "m4.json"), NotWritable, {"path": "m4.json"}),
        (("export", "mx107", "--output", "a.json"), UnknownName, {"name": "mx107"}),
        (("export", "no/such.mcap", "--output", "a.json"), Unreadable, {"path": "no/such.mcap"}),
        (("export", "mx106", "--output", "a.txt"), WrongType, {"thing": "--output", "value": "a.txt"}),
        (("export", "mx106", "--output", "no/a.json"), NotWritable, {"path": "no/a.json"}),
        (("export", "mx106", "mx64", "--output", "a.json"), Conflict, {"thing": "mx64"}),
        (("export", "mx106", "--output", "a.json", "--kp", "8"), Conflict, {"thing": "--kp"}),
        (
            ("export", "mx106", "--output", "a.xml", "--actuator", "mx106"),
            Conflict,
            {"thing": "--actuator"},
        ),
        (
            ("export", "mx106", "--output", "a.json", "--actuator", "mx107"),
            UnknownName,
            {"kind": "actuator of BAM", "name": "mx107"},
        ),
        (("export", "mx106", "--output", "a.xml", "--kp", "nan"), OutOfRange, {"thing": "kp"}),
        (("export", "mx106", "--output", "a.xml", "--vin", "-3"), OutOfRange, {"value": -3.0}),
        (("export", "mx106", "--output", "a.xml", "--bench", "1"), WrongType, {"value": "1"}),
        (("export", "sts3215", "--output", "a.xml", "--kp", "5000"), OutOfRange, {"value": 5000.0}),
        (
            ("export", "sts3215", "--output", "a.py", "--to", "mjlab", "--kp", "5000"),
            OutOfRange,
            {"value": 5000.0},
        ),
        (
            ("export", "sts3215", "--output", "mjlab.py", "--to", "mjlab", "--kp", "8"),
            OutOfRange,
            {"value": "mjlab.py"},
        ),
        (("export", "mx106", "--output", "a.py", "--to", "mjlab"), Missing, {"thing": "--kp"}),
        (
            ("export", "mx106", "--output", "a.xml", "--to", "mjlab", "--kp", "8"),
            WrongType,
            {"thing": "--output"},
        ),
        (
            ("export", "mx106", "--output", "a.xml", "--to", "mujoco", "--kp", "8", "--bench", "1,0.1"),
            Conflict,
            {"thing": "--bench"},
        ),
        (("export", "logs", "--output", "a.py", "--to", "mjlab", "--kp", "8"), UnknownName, {"name": "logs"}),
        (("export", "mx106", "--output", "a.xml", "--kd", "8"), Conflict, {"thing": "--kd"}),
        (("export", "mx106", "--output", "a.xml", "--ki", "8"), Conflict, {"thing": "--ki"}),
        (("export", "xl330", "--output", "a.npy", "--draws", "8"), WrongType, {"thing": "--output"}),
        (
            ("export", "xl330", "--output", "a.npz", "--draws", "8", "--kp", "8"),
            Conflict,
            {"thing": "--kp"},
        ),
        (("export", "xl330", "--output", "a.npz", "--draws", "0"), OutOfRange, {"thing": "--draws"}),
        (("export", "xl330", "--output", "a.xml", "--seed", "8"), Conflict, {"thing": "--seed"}),
        (
            ("export", "erob80_100", "--output", "a.py", "--to", "mjlab", "--kp", "8", "--kd", "8"),
            Unsupported,
            {},
        ),
        (("export", "mx106", "--output", "a.xml", "--bench", "1,x"), WrongType, {"value": "x"}),
        (("export", "mx106", "--output", "a.xml", "--bench", "1,-0.1"), OutOfRange, {"value": -0.1}),
        (("export", "log.json", "--fps", "30", "--output", "a"), Conflict, {"thing": "--fps"}),
        (("export", "log.json", "--output", "a.xml"), WrongType, {"value": "a.xml"}),
        (("export", "none.yaml", "--output", "a.json"), Unreadable, {"path": "none.yaml"}),
        (("export", ".", "--output", "m4.json"), Conflict, {"thing": "--output"}),
    ],
)
def test_a_mistake_is_an_error_about_it_and_nothing_is_written(
    words: tuple[str, ...], kind: type[BamError], about: dict[str, object]
) -> None:
    write(Path("m4.json"), XL330_M4)
    for name in ("log", "other"):
        write(Path(f"{name}.json"), bam_log_text(random_run(len(name), 5e-3)))
    before = sorted(Path().rglob("*"))
    with refused(kind, **about):
        execute(words)
    assert sorted(Path().rglob("*")) == before
