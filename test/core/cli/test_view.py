# SPDX-License-Identifier: Apache-2.0
"""``bam view``: a page or a file for Rerun, or one line with status 2 and nothing written."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bam_core.cli import main
from bam_core.gears import Asymmetry
from bam_core.recordings import load_recordings
from bam_core.report.numbers import mrad
from bam_core.servo.model import load_servo
from bam_core.validation.validation import validate
from test.core.identification_cases import xl330_logs

LOG = xl330_logs() / "kp100_lift_and_drop.json"


class Stream:
    """What a recording stream of Rerun was given."""

    made: list[Stream]

    def __init__(self, application: str) -> None:
        self.columns: dict[str, tuple[Any, Any]] = {}
        self.plots: list[str] = []
        type(self).made.append(self)

    def binary_stream(self) -> SimpleNamespace:
        return SimpleNamespace(read=lambda: b"RRF2")

    def log(self, path: str, series: str, *, static: bool) -> None:
        assert static

    def send_columns(self, path: str, indexes: Any, columns: Any) -> None:
        ((_, time),) = indexes
        self.columns[path] = (time, columns)

    def send_blueprint(self, blueprint: Any) -> None:
        self.plots = [view["name"] for tab in blueprint for view in tab["views"]]


@pytest.fixture
def rerun(monkeypatch: pytest.MonkeyPatch) -> type[Stream]:
    """A stand-in for the module, with the calls that we make."""
    Stream.made = []
    module, blueprint = ModuleType("rerun"), ModuleType("rerun.blueprint")
    blueprint.__dict__.update(
        TimeSeriesView=lambda **given: given,
        Vertical=lambda *views, name: {"name": name, "views": views},
        Tabs=lambda *tabs: tabs,
        Blueprint=lambda tabs: tabs,
    )
    module.__dict__.update(
        RecordingStream=Stream,
        SeriesLines=lambda names: names,
        Scalars=SimpleNamespace(columns=lambda scalars: scalars),
        TimeColumn=lambda name, duration: (name, duration),
        new_entity_path="/".join,
        blueprint=blueprint,
    )
    monkeypatch.setitem(sys.modules, "rerun", module)
    monkeypatch.setitem(sys.modules, "rerun.blueprint", blueprint)
    return Stream


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["view", *map(str, words)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert shown.err.startswith("bam view: ")
    return shown.err


def test_the_page_lies_where_the_command_is_run_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["view", str(LOG)]) == 0
    assert capsys.readouterr().out == "wrote view.html\n"
    assert main(["view", str(LOG), "--output", "other.html"]) == 0
    assert Path("other.html").read_text() == Path("view.html").read_text()
    assert LOG.stem in Path("view.html").read_text()


def test_errors_on_the_page_are_those_of_validate(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["view", str(LOG), "--params", "xl330", "xl330_bam", "--output", str(page)]) == 0
    for servo in ("xl330", "xl330_bam"):
        told = validate(servo, load_recordings(LOG)).mae
        assert f">{mrad(told)}<" in page.read_text()


@pytest.mark.long
def test_a_geared_servo_is_simulated_in_mujoco(tmp_path: Path) -> None:
    gear = tmp_path / "gear.yaml"
    load_servo("xl330_bam").with_gear(Asymmetry(input_side=0.1, output_side=0.2)).save(gear)
    assert main(["view", str(LOG), "--params", str(gear), "--output", str(tmp_path / "page.html")]) == 0


def test_mistakes_are_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "nowhere" in refused(capsys, tmp_path / "nowhere")
    assert "no_such_servo" in refused(capsys, LOG, "--params", "no_such_servo")
    assert "--output" in refused(capsys, LOG, "--rerun", "--output", "page.html")
    assert "at most" in refused(capsys, LOG, "--params", *(f"servo{i}" for i in range(7)))
    assert str(tmp_path / "no") in refused(capsys, LOG, "--output", tmp_path / "no" / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_without_rerun_the_line_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rerun", None)
    told = refused(capsys, LOG, "--rerun", tmp_path / "run.rrd")
    assert "'rerun'" in told
    assert told.rstrip().endswith(" rerun-sdk")
    assert list(tmp_path.iterdir()) == []


def test_rerun_gets_every_quantity_on_the_time_of_the_run(tmp_path: Path, rerun: type[Stream]) -> None:
    file = tmp_path / "run.rrd"
    assert main(["view", str(LOG), "--params", "xl330", "--rerun", str(file)]) == 0
    assert file.read_bytes() == b"RRF2"
    (stream,) = rerun.made
    (recording,) = load_recordings(LOG)
    time, position = stream.columns[f"{LOG.stem}/position [rad]/measured"]
    np.testing.assert_array_equal(time, recording.time)
    np.testing.assert_array_equal(position, recording.position)
    simulated = stream.columns[f"{LOG.stem}/position [rad]/xl330"][1]
    residual = stream.columns[f"{LOG.stem}/residual [mrad]/xl330"][1]
    np.testing.assert_allclose(residual, 1e3 * (simulated - recording.position))
    assert {path.split("/")[1] for path in stream.columns} == set(stream.plots)
    assert {"motor torque [N·m]", "duty", "supply [V]", "temperature [°C]"} < set(stream.plots)


def test_the_real_rerun_reads_it(tmp_path: Path) -> None:
    if find_spec("rerun") is None:
        pytest.skip("no rerun; pip install rerun-sdk")
    file = tmp_path / "run.rrd"
    assert main(["view", str(LOG), "--params", "xl330", "--rerun", str(file)]) == 0
    assert file.read_bytes()[:3] == b"RRF"
    assert file.stat().st_size > 10_000
