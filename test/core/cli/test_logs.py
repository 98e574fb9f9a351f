# SPDX-License-Identifier: Apache-2.0
"""LOGS behind an option that takes several words."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_core.cli.logs import logs_first


def test_logs_may_follow_the_files_of_params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.csv").touch()
    Path("bag").mkdir()
    Path("mx64").mkdir()  # results of a servo that the library has
    Path("m6.yaml").touch()
    robot, params = ["--robot", "r.xml"], ["--params", "mx106", "mx64", "m6.yaml"]
    logs, more = ["one.csv", "bag"], ["--json", "v"]
    words = ["validate", *robot, *params, *logs, *more]
    first = ["validate", *logs, *robot, *params, *more]
    assert logs_first(words) == first
    assert logs_first(first) == first
    assert logs_first([*words[:7], "gone.csv"]) == [*words[:7], "gone.csv"]  # is refused as servo
    assert logs_first(["servos"]) == ["servos"]
