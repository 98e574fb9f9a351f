# SPDX-License-Identifier: Apache-2.0
"""``bam conform``: a right port passes, a wrong one is explained, and bad input is one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bam_core.cli import execute, main
from bam_core.errors import BamError, Missing, NotWritable, UnknownName, WrongType
from test.core.refusals import refused

RIGHT = "bam_core.exchange.conformance.specification:Specification"
WRONG = """
from bam_core.exchange.conformance.specification import Specification


def servo(numbers):
    return Specification(numbers, ("quadratic_rule",))


def dumb(numbers):
    return None


def quitter(numbers):
    raise SystemExit(0)
"""


@pytest.fixture(autouse=True)
def in_a_directory_with_a_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "wrong_port.py").write_text(WRONG, encoding="utf-8")
    (tmp_path / "script_that_ends.py").write_text("raise SystemExit(0)", encoding="utf-8")


def test_the_specification_conforms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "--against", RIGHT, "--json", "out.json"]) == 0
    written = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert written["conforms"]
    assert written["differences"] == []
    assert written["largest_error"] == 0.0


def test_a_wrong_port_is_explained_and_the_status_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "--against", "wrong_port:servo", "--json", "out.json"]) == 1
    written = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert not written["conforms"]
    assert {tuple(difference["deviations"]) for difference in written["differences"]} == {("quadratic_rule",)}


def test_golden_cases_are_written_for_ports_in_other_languages() -> None:
    assert main(["conform", "--vectors", "cases.json"]) == 0
    written = json.loads(Path("cases.json").read_text(encoding="utf-8"))
    assert written["version"] == 3
    (case, *_) = written["cases"]
    assert len(case["steps"]) == len(case["expected"])
    assert case["servo"]["goal_speed_limit"] is None
    assert case["servo"]["goal_acceleration_limit"] is None


@pytest.mark.parametrize(
    ("words", "error", "about"),
    [
        ((), Missing, {"thing": "--against"}),
        (("--against", "port"), WrongType, {"value": "port"}),
        (("--against", "no_such_module:servo"), BamError, {}),
        (("--against", "wrong_port:servo_of_mine"), UnknownName, {"name": "servo_of_mine"}),
        (("--against", "wrong_port:dumb"), BamError, {}),
        (("--against", "wrong_port:quitter"), BamError, {}),
        (("--against", "script_that_ends:servo"), BamError, {}),
        (("--against", RIGHT, "--json", "no/such/out.json"), NotWritable, {}),
    ],
)
def test_bad_input_is_one_line(
    words: tuple[str, ...], error: type[BamError], about: dict[str, object]
) -> None:
    with refused(error, **about):
        execute(["conform", *words])
