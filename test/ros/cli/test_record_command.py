# SPDX-License-Identifier: Apache-2.0
"""`bam record` at the terminal: what it asks, what it shows, what it says about mistakes."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bam_core.errors import Unavailable
from bam_ros.cli import main
from bam_ros.cli.record import TerminalOperator, session_stopped
from bam_ros.cli.stop_signals import stop_signals
from bam_ros.recorder import RecordingStopped
from bam_ros.recorder.node import session_recorded
from bam_ros.recorder.session_recorder import Progress, RecordState, SessionReport
from bam_ros.text.recorder_notices import RobotHolds, SessionRecorded, SessionStopped
from test.ros.recorder_bench import short_session
from test.ros.ros_helpers import PATIENCE

RUNS = short_session().runs()


def progress(**changes: object) -> Progress:
    fields = {
        "state": RecordState.WAITING_FOR_LOAD,
        "run": RUNS[0],
        "runs": len(RUNS),
        "elapsed": 0.0,
        "dropped": 0,
        "activity": "waiting for the load",
    }
    return Progress(**{**fields, **changes})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda text: monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_the_operator_is_told_what_to_hang(
    keyboard: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    keyboard("\n")
    TerminalOperator(ask=True).mount_load(progress())
    assert "Hang 0.5 kg at 0.1 m" in capsys.readouterr().err


def test_with_yes_nothing_is_asked(
    keyboard: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    keyboard("")
    TerminalOperator(ask=False).mount_load(progress())
    assert capsys.readouterr().err == ""


def test_a_closed_keyboard_is_told_with_the_way_out(keyboard: Callable[[str], None]) -> None:
    keyboard("")
    with pytest.raises(Unavailable, match="--yes"):
        TerminalOperator(ask=True).mount_load(progress())


def test_progress_is_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with TerminalOperator(ask=False) as operator:
        operator.progress(progress(state=RecordState.RUNNING, elapsed=0.2, dropped=3, activity="following"))
    assert "0.5/2 runs" in terminal.getvalue()
    assert "following, 3" in terminal.getvalue()


def test_no_bar_goes_into_files(capsys: pytest.CaptureFixture[str]) -> None:
    with TerminalOperator(ask=False) as operator:
        operator.progress(progress(elapsed=0.2))
        operator.show(RobotHolds())
    assert capsys.readouterr().err == f"{RobotHolds()}\n"


def test_a_stopped_session_names_what_is_kept_and_where() -> None:
    report = SessionReport(recorded=0, resumed=1, dropped=0, bags=(Path("out/first"),))
    stopped = session_stopped(report, short_session(), Path("out"))
    assert stopped == SessionStopped(output=Path("out"), complete=1, runs=len(RUNS))


def test_a_signal_ends_the_session_at_the_next_progress() -> None:
    import os
    import signal

    operator = TerminalOperator(ask=False)
    with stop_signals(operator.on_signal):
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(RecordingStopped):
            operator.progress(progress())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        ("servo: mx106\ngain: [8]\n", "did you mean 'gains'"),
    ],
)
def test_a_bad_session_is_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, said: str
) -> None:
    file = tmp_path / "session.yaml"
    if text is not None:
        file.write_text(text)
    assert main(["record", "--session", str(file), "--output", str(tmp_path / "bags")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith(f"bam record: {file}: ")
    assert said in error
    assert not (tmp_path / "bags").exists()


def test_a_session_is_summed_up_from_its_report() -> None:
    report = SessionReport(recorded=1, resumed=2, dropped=3, bags=())
    assert session_recorded(report, Path("bags")) == SessionRecorded(
        output=Path("bags"), recorded=1, resumed=2, lost=3
    )


def test_help_costs_no_ros() -> None:
    code = "import sys; from bam_ros.cli import main; main(['--help']); sys.exit('rclpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0
    assert re.search(r"^ *record  ", done.stdout, re.MULTILINE)
