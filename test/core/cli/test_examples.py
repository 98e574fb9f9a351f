# SPDX-License-Identifier: Apache-2.0
"""The examples that ``--help`` shows, typed one after the other, work on recordings."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from bam_core.cli import CORE_COMMANDS, main
from test.core.identification_cases import xl330_logs

README = Path(__file__).parents[3] / "README.md"


def example(command: str) -> list[str]:
    """Words of a command's example without `bam`; what follows a `>` is the shell's."""
    (module,) = (each.module for each in CORE_COMMANDS if each.name == command)
    words = shlex.split(import_module(module).EXAMPLE)
    assert words[:2] == ["bam", command]
    return words[1 : words.index(">")] if ">" in words else words[1:]


@pytest.mark.long
def test_the_examples_make_one_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "recordings").symlink_to(xl330_logs())
    monkeypatch.chdir(tmp_path)
    brief = {"identify": ["--trials", "60"]}
    for command in (
        "servos",
        "identify",
        "design",
        "validate",
        "diagram",
        "report",
        "view",
        "simulate",
        "import",
        "export",
    ):
        assert main([*example(command), *brief.get(command, [])]) == 0, capsys.readouterr().err
        assert "error" not in capsys.readouterr().err
    written = {str(path) for path in Path().rglob("*") if path.is_file()}
    assert written >= {
        "out/xl330/m1.yaml",
        "out/xl330/m6.yaml",
        "out/xl330/summary.json",
        "out/xl330/report.html",
        "view.html",
        "next.yaml",
        "validation.json",
        "diagram.png",
        "run/xl330_sin_sin.csv",
        "bags/kp100_sin_sin/metadata.yaml",
        "xl330.py",
    }


def test_the_readme_calls_commands_that_there_are() -> None:
    calls = re.findall(r"^bam (robot [a-z]+|[a-z]\S*)", README.read_text(), re.MULTILINE)
    assert calls
    assert set(calls) <= {command.name for command in CORE_COMMANDS}


@pytest.mark.long
def test_the_readme_s_identification_works_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = re.findall(r"^bam (identify recordings .*)$", README.read_text(), re.MULTILINE)
    words = shlex.split(line)
    servo = words.index("--servo") + 1
    words[servo] = "xl330"  # the servo of the recordings at hand
    (tmp_path / "recordings").symlink_to(xl330_logs())
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--trials", "60"]) == 0, capsys.readouterr().err
    told = re.findall(r"`(identified/[\w.]+)`", README.read_text())
    assert told
    assert all(Path(path).is_file() for path in told)
