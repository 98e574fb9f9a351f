# SPDX-License-Identifier: Apache-2.0
"""An identification that is interrupted keeps the models that are finished, and says what is not done."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bam_core.errors import NotWritable
from bam_core.identification.execution import Execution, Progress
from bam_core.identification.identify import identify
from bam_core.identification.result import Identification
from bam_core.identification.search.meter import IdentificationCancelled
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.writing import write_identification
from bam_core.recordings.recording import Recording
from bam_core.servo.model import load_servo
from bam_core.servo.search_ranges import SearchRanges
from bam_core.text.output_findings import Unfinished
from test.core.identification_cases import mx106, record, write_log
from test.core.refusals import refused

WITHIN = 600.0  # s; generous: a whole identification on a machine that others use as well

WORKER = """
import os, signal, sys
from bam_core.cli import main
from bam_core.cli.identify_once import Bars
from bam_core.identification import writing

writing._plot = lambda *_: None  # takes longer than the search
action, at = sys.argv[1:3]
show = Bars.show

def shown(self, progress):
    if progress.model == at:
        os.kill(os.getpid(), getattr(signal, action))
    show(self, progress)

Bars.show = shown
sys.exit(main(sys.argv[3:]))
"""
"""`bam` that, while it fits the given model, does to itself what a signal from outside would."""


@pytest.fixture(scope="module")
def recordings() -> list[Recording]:
    runs = (("sin_sin", 8.0), ("sin_time_square", 16.0), ("up_and_down", 32.0), ("lift_and_drop", 8.0))
    return [record(mx106("m1"), script, kp) for script, kp in runs]


@pytest.fixture(scope="module")
def logs(recordings: list[Recording], tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("logs")
    for recording in recordings:
        write_log(recording, directory / f"{recording.script}_{recording.kp:g}.json")
    return directory


def words(logs: Path, output: Path, *more: str) -> list[str]:
    options = ["--servo", "mx106", "--models", "all", "--trials", "60", "--output", str(output)]
    return ["identify", str(logs), *options, *more]


def run(action: str, at: str, *arguments: str) -> tuple[int, list[str]]:
    """Return exit status and lines of standard error of a command that a signal ends at a model."""
    command = [sys.executable, "-c", WORKER, action, at, *arguments]
    done = subprocess.run(command, text=True, capture_output=True, timeout=WITHIN, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr.splitlines()


def summary(output: Path) -> dict[str, Any]:
    """As written, but for times."""
    content: dict[str, Any] = json.loads((output / "summary.json").read_text())
    for entry in content["models"].values():
        assert entry.pop("seconds") >= 0.0
    return content


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.long
@pytest.mark.parametrize(("action", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_keeps_finished_models(action: str, status: int, logs: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    code, lines = run(action, "m3", *words(logs, output))
    assert code == status
    finding = Unfinished(
        kind="interrupted",
        directory=output,
        models=("m1", "m2"),
        not_done=("m3", "m4", "m5", "m6", "uncertainty"),
        resume="--storage sqlite:///study.db",
    )
    assert lines[-1] == f"bam identify: {finding}"
    assert names(tmp_path) == ["out"]
    assert names(output) == ["m1.yaml", "m2.yaml", "summary.json", "trajectories.npz"]
    found = summary(output)
    assert found["interrupted"] is True
    assert found["not_done"] == ["m3", "m4", "m5", "m6", "uncertainty"]
    assert list(found["models"]) == ["m1", "m2"]
    assert found["chosen"] in found["models"]
    assert load_servo(output / "m2.yaml").friction_model == "m2"
    assert found["choice_reason"]["not_done"] == found["not_done"]


@pytest.mark.long
def test_with_a_storage_the_same_command_goes_on(logs: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    again = words(logs, tmp_path / "out", "--storage", url)
    code, lines = run("SIGINT", "m2", *again)
    assert code == 130
    part = summary(tmp_path / "out")
    finding = Unfinished(
        kind="interrupted",
        directory=tmp_path / "out",
        models=tuple(part["models"]),
        not_done=tuple(part["not_done"]),
        resume="",
    )
    assert lines[-1] == f"bam identify: {finding}"
    assert run("SIGINT", "never", *again)[0] == 0
    whole = summary(tmp_path / "out")
    assert (whole["interrupted"], whole["not_done"]) == (False, [])
    assert list(whole["models"]) == ["m1", "m2", "m3", "m4", "m5", "m6"]
    for key in ("trials", "train_mae", "parameters"):
        assert whole["models"]["m1"][key] == part["models"]["m1"][key]


def interrupted(
    recordings: list[Recording], model: str, stop: type[BaseException] | None = None, **more: Any
) -> list[Identification]:
    """Return what is kept where an identification of m1 and m2 ends as this model is fitted."""
    kept: list[Identification] = []
    seen: list[str] = []

    def progress(state: Progress) -> None:
        seen.append(state.model)
        if stop is not None and model in state.model:
            raise stop

    with pytest.raises(IdentificationCancelled if stop is None else stop):
        identify(
            recordings,
            more.pop("servo", load_servo("mx106")),
            IdentifySettings(models=["m1", "m2"], trials=60),
            execution=Execution(progress=progress, cancelled=lambda: bool(seen) and model in seen[-1]),
            interrupted=kept.append,
            **more,
        )
    return kept


@pytest.mark.long
@pytest.mark.parametrize("stop", [None, KeyboardInterrupt])
def test_a_cancelled_one_hands_out_what_is_finished(stop, recordings: list[Recording]) -> None:
    (kept,) = interrupted(recordings, "m2", stop)
    assert list(kept.fits) == ["m1"]
    assert kept.not_done == ("m2", "uncertainty")
    whole = identify(recordings, load_servo("mx106"), IdentifySettings(models=["m1", "m2"], trials=60))
    assert whole.not_done == ()
    assert kept.fits["m1"].train_mae == whole.fits["m1"].train_mae
    assert kept.fits["m1"].servo.friction == whole.fits["m1"].servo.friction


def test_where_no_model_is_finished_there_is_nothing_to_keep(recordings: list[Recording]) -> None:
    assert interrupted(recordings, "m1") == []


def test_an_effect_ablation_that_is_interrupted_leaves_all_models(recordings: list[Recording]) -> None:
    servo = replace(load_servo("mx106"), search=SearchRanges(effects=("zero_offset",)))
    (kept,) = interrupted(recordings, "without", servo=servo)
    assert list(kept.fits) == ["m1", "m2"]
    assert kept.not_done == ("effect ablation", "uncertainty")
    assert kept.effects == ()


@pytest.mark.usefixtures("no_intervals", "no_plots")
def test_an_interrupted_one_does_not_replace_a_complete_one(recordings: list[Recording], tmp_path) -> None:
    whole = identify(recordings, load_servo("mx106"), IdentifySettings(models=["m1"], trials=60))
    (part,) = interrupted(recordings, "m2")
    write_identification(part, tmp_path / "part")
    write_identification(whole, tmp_path / "part")  # the other way round it may
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "part").rglob("*")}
    with refused(NotWritable, path=str(tmp_path / "part")):
        write_identification(part, tmp_path / "part")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "part").rglob("*")} == before
    assert summary(tmp_path / "part")["interrupted"] is False
