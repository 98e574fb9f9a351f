# SPDX-License-Identifier: Apache-2.0
"""Sessions: what their files may say, which runs follow from them, in which order and under which names."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from bam_core.errors import BamError, OutOfRange, UnknownName, Unreadable
from bam_ros.recorder import Session, load_session
from bam_ros.recorder.session import PAUSE_LIMIT
from bam_ros.recorder.session_file import SessionFile, find_session, shipped_sessions
from test.core.refusals import refused
from test.documented import blocks, written

SESSIONS = Path(__file__).parents[3] / "config" / "sessions"
GOOD = """\
servo: mx106
supply_voltage: 15.0
loads: [{mass: 0.5, length: 0.1}, {mass: 1, length: 0.15, arm_mass: 0.03}]
gains: [8, 32]
scripts: [sin_sin, lift_and_drop]
"""


def read(tmp_path: Path, text: str) -> Session:
    file = tmp_path / "session.yaml"
    file.write_text(text)
    return load_session(file)


def complaint(tmp_path: Path, text: str) -> str:
    with pytest.raises(BamError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(tmp_path / "session.yaml"))
    return message


def test_every_combination_is_planned_once(tmp_path: Path) -> None:
    runs = read(tmp_path, GOOD + "repetitions: 2\n").runs()
    assert len(runs) == 2 * 2 * 2 * 2
    assert [run.index for run in runs] == list(range(1, 17))
    assert len({run.name for run in runs}) == len(runs)


def test_the_operator_hangs_each_load_once(tmp_path: Path) -> None:
    runs = read(tmp_path, GOOD + "repetitions: 3\n").runs()
    blocks = [run.block for run in runs]
    assert blocks == sorted(blocks)
    assert all((run.load == runs[0].load) == (run.block == 1) for run in runs)


def test_names_tell_load_gain_and_script(tmp_path: Path) -> None:
    names = [run.name for run in read(tmp_path, GOOD).runs()]
    assert names[0] == "m0.50_l0.100_kp8_sin_sin"
    assert names[-1] == "m1.00_l0.150_a0.030_kp32_lift_and_drop"


def test_a_derivative_gain_is_part_of_every_run_and_refused_where_the_law_has_none(tmp_path: Path) -> None:
    runs = read(tmp_path, GOOD + "kd: 32\n").runs()
    assert {run.kd for run in runs} == {32.0}
    assert all(f"_kp{run.kp:g}_kd32_" in run.name and "kd 32" in run.label for run in runs)
    assert "kd" not in read(tmp_path, GOOD).runs()[0].name
    other = GOOD.replace("mx106", "erob80_100")
    assert "kd: is 32" in complaint(tmp_path, other + "kd: 32\n")


def test_an_integral_gain_is_part_of_every_run_and_refused_where_the_law_has_none(tmp_path: Path) -> None:
    runs = read(tmp_path, GOOD + "ki: 4\nkd: 32\n").runs()
    assert {(run.ki, run.kd) for run in runs} == {(4.0, 32.0)}
    assert all("_ki4_kd32_" in run.name and "ki 4, kd 32" in run.label for run in runs)
    assert "ki" not in read(tmp_path, GOOD + "kd: 32\n").runs()[0].name.partition("_sin")[0]
    other = GOOD.replace("mx106", "sts3215")
    assert "ki: is 4" in complaint(tmp_path, other + "ki: 4\n")


def test_a_growing_session_keeps_the_names_of_its_runs(tmp_path: Path) -> None:
    before = {run.name for run in read(tmp_path, GOOD).runs()}
    grown = GOOD.replace("[8, 32]", "[4, 8, 16, 32]") + "repetitions: 2\n"
    assert before <= {run.name for run in read(tmp_path, grown).runs()}


def test_loads_without_an_arm_take_the_one_of_the_session(tmp_path: Path) -> None:
    session = read(tmp_path, GOOD + "arm_mass: 0.05\n")
    assert [load.arm_mass for load in session.loads] == [0.05, 0.03]


def test_a_servo_file_is_found_beside_the_session(tmp_path: Path) -> None:
    from bam_core.servo.model import load_servo

    load_servo("mx106").save(tmp_path / "mine.yaml")
    session = read(tmp_path, GOOD.replace("mx106", "mine.yaml"))
    assert session.servo.firmware.name == "mx-protocol1"


def test_a_session_of_a_request_names_no_servo_file_outside_the_data_directory(tmp_path: Path) -> None:
    from bam_core.servo.model import load_servo

    data = tmp_path.resolve() / "data"
    data.mkdir()
    (tmp_path / "link.txt").write_text("root:x:0:0")
    load_servo("mx106").save(tmp_path / "mine.yaml")
    load_servo("mx106").save(data / "mine.yaml")
    (data / "link.yaml").symlink_to(tmp_path / "mine.yaml")
    for servo in ("mx106", "published/mx106", "mine.yaml"):
        (data / "session.yaml").write_text(GOOD.replace("mx106", servo))
        assert load_session(data / "session.yaml", inside=data).servo.firmware.name == "mx-protocol1"
    for servo in ("../mine.yaml", str(tmp_path / "mine.yaml"), "link.yaml", "../link.txt", "/etc/passwd"):
        (data / "session.yaml").write_text(GOOD.replace("mx106", servo))
        with pytest.raises(OutOfRange, match="a path below") as caught:
            load_session(data / "session.yaml", inside=data)
        assert "root:" not in str(caught.value)


def test_a_file_that_is_no_session_or_servo_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("root:x:0:0")
    for session in ("root:x:0:0", GOOD.replace("mx106", "secret.yaml")):
        with pytest.raises(BamError, match="is text") as caught:
            read(tmp_path, session)
        assert "root:x" not in str(caught.value)


@pytest.mark.parametrize("file", sorted(SESSIONS.glob("*.yaml")), ids=lambda file: file.stem)
def test_shipped_sessions_can_be_recorded(file: Path) -> None:
    session = load_session(file)
    assert session.name == file.stem
    assert session.runs()


def test_a_session_of_this_package_is_found_by_its_name(tmp_path: Path) -> None:
    found = find_session("mx106", tmp_path)
    assert found == shipped_sessions() / "mx106.yaml"
    assert load_session(found).name == "mx106"
    (tmp_path / "mx106.yaml").write_text(GOOD)
    assert find_session("mx106", tmp_path) == Path("mx106.yaml")
    (tmp_path / "mine").write_text(GOOD)
    assert find_session("mine", tmp_path) == Path("mine")


@pytest.mark.parametrize("path", ["mx106.yaml", "./mx106", "/etc/passwd", "../mx106.yaml"])
def test_a_path_is_no_name(path: str, tmp_path: Path) -> None:
    assert find_session(path, tmp_path) == Path(path)


@pytest.mark.parametrize("name", ["mx160", "a" * 5000, "mx106\n"])
def test_a_session_that_is_not_there_is_refused_with_those_that_are(name: str, tmp_path: Path) -> None:
    names = tuple(sorted(file.stem for file in SESSIONS.glob("*.yaml")))
    with refused(UnknownName, name=name, valid=names):
        find_session(name, tmp_path)


def test_the_paper_s_table_has_its_hundred_and_more_runs() -> None:
    assert len(load_session(SESSIONS / "mx106.yaml").runs()) == 9 * 4 * 4


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["expected keys such as"]),
        ("[1, 2]", ["is a list"]),
        ("servo: [mx106\n", ["is not YAML", "line"]),
        (GOOD + "gain: [1]\n", ["'gain'", "did you mean 'gains'"]),
        (GOOD.replace("mx106", "mx107"), ["servo", "'mx107'", "did you mean 'mx106'"]),
        (GOOD.replace("servo: mx106\n", ""), ["servo: is missing"]),
        (GOOD.replace("loads:", "notes: ''\n#"), ["loads: is missing"]),
        (GOOD.replace("sin_sin", "sinsin"), ["scripts", "'sinsin'", "did you mean 'sin_sin'"]),
        (GOOD.replace("mass: 0.5", "mas: 0.5"), ["loads, entry 1", "did you mean 'mass'"]),
        (GOOD.replace("mass: 0.5, ", ""), ["loads, entry 1", "mass: is missing"]),
        (GOOD.replace("mass: 0.5", "mass: heavy"), ["loads, entry 1, mass", "'heavy'", "a number"]),
        (GOOD.replace("mass: 0.5", "mass: -1"), ["loads, entry 1", "mass", "-1"]),
        (GOOD.replace("length: 0.1}", "length: 0}"), ["loads, entry 1", "length", "> 0"]),
        (GOOD.replace("[8, 32]", "8"), ["gains", "is 8", "a list"]),
        (GOOD.replace("[8, 32]", "[]"), ["gains", "is missing"]),
        (GOOD.replace("[8, 32]", "[8, 8]"), ["gains", "'8'", "twice", "repetitions"]),
        (GOOD.replace("[8, 32]", "[8, 0]"), ["gains", "kp", "> 0"]),
        (GOOD.replace("15.0", "true"), ["supply_voltage", "True", "a number"]),
        (GOOD.replace("15.0", ".nan"), ["supply_voltage", "nan"]),
        (GOOD + "id: 254\n", ["id", "254", "0 to 253"]),
        (GOOD + "id: 1.5\n", ["id", "1.5", "whole"]),
        (GOOD + "repetitions: 0\n", ["repetitions", "> 0"]),
        (GOOD + "notes: 2024\n", ["notes", "2024", "quotes"]),
        (GOOD + "approach_speed: 30\n", ["approach_speed", "at most 3"]),
        (GOOD + "approach_speed: 1.0e-300\n", ["approach_speed", "0.01"]),
        (GOOD + "pause_limit: 1.0e+300\n", ["pause_limit", "at most 60"]),
        (GOOD.replace("15.0", "1.0e+300"), ["supply_voltage", "at most 100"]),
        (GOOD.replace("[8, 32]", "[8, 1.0e+300]"), ["gains", "1e+08"]),
        (GOOD.replace("mass: 0.5", "mass: 1.0e+200"), ["loads, entry 1", "mass", "grams"]),
        (GOOD.replace("mass: 0.5", 'mass: "0.5"'), ["loads, entry 1, mass", "write 0.5 without quotes"]),
        (GOOD + "servo: mx64\n", ["'servo'", "line 1"]),
        (
            GOOD.replace("{mass: 1, length", "{mass: 0.50001, length: 0.1, arm_mass: 0}, {mass: 1, length"),
            ["named"],
        ),
    ],
)
def test_mistakes_are_told_in_one_line_with_file_key_and_cure(
    tmp_path: Path, text: str, parts: list[str]
) -> None:
    message = complaint(tmp_path, text)
    for part in parts:
        assert part in message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as caught:
        load_session(tmp_path / "none.yaml")
    assert caught.value.path == str(tmp_path / "none.yaml")


def test_the_page_of_files_shows_every_field_with_its_default(tmp_path: Path) -> None:
    name = "docs/reference/files.md"
    shown = next(each.code for each in blocks({name: written()[name]}) if "loads:" in each.code)
    assert set(yaml.safe_load(shown)) == {each.name for each in fields(SessionFile)}
    session, short = read(tmp_path, shown), read(tmp_path, GOOD)
    assert session.pause_limit == PAUSE_LIMIT
    limits = ("approach_speed", "position_limit", "error_limit")
    for key in (*limits, "joint", "id", "ki", "kd", "repetitions", "notes"):
        assert getattr(session, key) == getattr(short, key), key
