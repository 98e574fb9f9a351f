# SPDX-License-Identifier: Apache-2.0
"""The same run is found again in any form; other runs are not taken for it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import BamError
from bam_core.identification.data.split import split_recordings
from bam_core.recordings import load_recordings
from bam_core.recordings.recording import Recording
from bam_core.recordings.run_identity import RunIdentities
from bam_core.text.recording_findings import Repeated
from test.core.identification_cases import mx106, record, write_log, xl330_logs

SERVO = mx106("m1")


def shortened(recording: Recording, start: int, end: int) -> Recording:
    """The same run without its first and last samples."""
    arrays = {
        name: getattr(recording, name)[start:end]
        for name in (
            "time",
            "position",
            "velocity",
            "goal_position",
            "torque_enabled",
            "voltage",
            "temperature",
            "duty",
        )
    }
    return replace(recording, sha256=f"{start}-{end}", **arrays)


@pytest.mark.parametrize(("start", "end"), [(0, None), (0, -3), (5, None), (40, -200)])
def test_a_run_that_was_cut_is_the_same_run(start: int, end: int) -> None:
    run = record(SERVO, "sin_sin", 16.0)
    other = shortened(run, start, end if end is not None else len(run))
    assert RunIdentities([run]).same_run(other) is run
    assert RunIdentities([other]).same_run(run) is other


def test_runs_under_other_conditions_are_other_runs() -> None:
    runs = [
        record(SERVO, script, kp)
        for script in ("sin_sin", "lift_and_drop", "sin_time_square")
        for kp in (8.0, 16.0, 16.5)
    ]
    known = RunIdentities()
    for run in runs:
        assert known.same_run(run) is None, run.name
        known.add(run)


def test_a_repetition_that_differs_by_counts_is_another_run() -> None:
    run = record(SERVO, "sin_sin", 16.0)
    random = np.random.default_rng(0)
    counts = SERVO.firmware.resolution * (random.random(len(run)) < 0.2)
    assert RunIdentities([run]).same_run(replace(run, position=run.position + counts)) is None


def test_the_recordings_of_one_servo_are_all_different_runs() -> None:
    assert len(load_recordings(xl330_logs())) == 12


def test_the_same_run_in_another_file_is_loaded_once_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = write_log(record(SERVO, "sin_sin", 16.0), tmp_path / "a.json")
    content = json.loads(first.read_text())
    (tmp_path / "b.json").write_text(json.dumps(content, indent=1))
    content["entries"] = content["entries"][:-3]
    (tmp_path / "c.json").write_text(json.dumps(content))
    assert [recording.name for recording in load_recordings(tmp_path)] == ["a"]
    for copy in ("b", "c"):
        same = Repeated(kind="same_run", source=tmp_path / f"{copy}.json", duplicate_of=first)
        assert str(same) in caplog.text


def test_a_test_run_in_another_format_is_not_trained_on() -> None:
    runs = [record(SERVO, "sin_sin", kp) for kp in (8.0, 16.0, 32.0)]
    copy = shortened(runs[0], 0, len(runs[0]) - 2)
    split = split_recordings(runs, [copy])
    assert [log.kp for log in split.train] == [16.0, 32.0]
    with pytest.raises(BamError):
        split_recordings(runs[:1], [copy])
