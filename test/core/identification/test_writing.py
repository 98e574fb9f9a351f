# SPDX-License-Identifier: Apache-2.0
"""Results on disk: complete, readable again, all or nothing."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from bam_core.errors import BamError, NotWritable, UnknownName
from bam_core.identification.identify import identify
from bam_core.identification.result import Identification
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.with_uncertainty import with_uncertainty
from bam_core.identification.writing import earlier_results, require_output, write_identification
from bam_core.servo.bench_effects_file import load_bench_effects
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import load_servo
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.text.output_findings import Replaced
from bam_core.validation.validation import validate
from test.core.finding_cases import logged
from test.core.identification_cases import mx106, record
from test.core.refusals import refused


@pytest.fixture(scope="module")
def found() -> Identification:
    logs = [record(mx106("m1"), script, 8.0) for script in ("sin_sin", "lift_and_drop", "up_and_down")]
    return identify(
        logs,
        load_servo("mx106"),
        IdentifySettings(models=["m1", "m3"], trials=400, test="script=up_and_down"),
    )


def content(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def test_a_directory_gets_servos_summary_and_plots(found: Identification, tmp_path: Path) -> None:
    output = tmp_path / "new" / "results"
    write_identification(found, output)
    fits = {f"plots/fit_{log.name}.png" for log in (*found.split.train, *found.split.test)}
    assert content(output) == {
        "m1.yaml",
        "m3.yaml",
        "predictions/m1.json",
        "predictions/m3.json",
        "summary.json",
        "trajectories.npz",
        "plots/mae.png",
        "plots/parameters.png",
        *fits,
    }
    assert [path.name for path in output.parent.iterdir()] == ["results"]


@pytest.mark.parametrize("failing", ["predicted_bands", "_plot"])
def test_bands_and_plots_fail_alone(
    failing: str,
    found: Identification,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*words: object, **options: object) -> None:
        raise ValueError("a curve\nthat cannot be drawn")

    monkeypatch.setattr("bam_core.identification.writing._plot", lambda *words: None)
    monkeypatch.setattr(f"bam_core.identification.writing.{failing}", fail)
    write_identification(found, tmp_path / "results")
    assert {"m1.yaml", "m3.yaml", "summary.json", "trajectories.npz"} <= content(tmp_path / "results")
    (warning,) = [each.getMessage() for each in caplog.records]
    assert "\n" not in warning


def test_what_was_found_of_the_bench_is_beside_the_servo(
    found: Identification, tmp_path: Path, caplog: pytest.LogCaptureFixture, no_plots: None
) -> None:
    bench_effects = BenchEffects(zero_offset=0.01, arm_backlash=0.02)
    fits = {**found.fits, "m3": replace(found.fits["m3"], bench_effects=bench_effects)}
    write_identification(replace(found, fits=fits), tmp_path)
    assert load_bench_effects(tmp_path / "m3.yaml") == bench_effects
    assert load_bench_effects(tmp_path / "m1.yaml") == IDEAL_BENCH
    assert "arm_backlash: " not in (tmp_path / "m3.yaml").read_text()
    caplog.clear()
    write_identification(found, tmp_path)  # on a bench without: those of the other must not pass for its own
    assert load_bench_effects(tmp_path / "m3.yaml") == IDEAL_BENCH
    (replaced,) = logged(caplog)
    assert isinstance(replaced, Replaced)
    assert replaced.files == ("bench_effects/m3.yaml",)


@pytest.mark.usefixtures("no_plots")
def test_the_summary_keeps_the_contract(found: Identification, tmp_path: Path) -> None:
    write_identification(found, tmp_path / "results")
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert list(summary["models"]) == ["m1", "m3"]
    for model, entry in summary["models"].items():
        fit = found.fits[model]
        assert entry["train_mae"] == fit.train_mae
        assert entry["test_mae"] == fit.test_mae
        judged = validate(fit.servo, found.split.test, fit.bench_effects)
        assert entry["test_mae_short"] == pytest.approx(judged.mae_short, rel=1e-12)
        assert entry["test_mae_short_1s"] == pytest.approx(judged.mae_longer, rel=1e-12)
        assert entry["test_mae_short"] != entry["test_mae_short_1s"]
        assert entry["selection_mae"] == fit.selection_mae
        assert entry["selection"] == fit.selection
        assert entry["trials"] == fit.trials
        assert entry["seconds"] == pytest.approx(fit.seconds, abs=1e-3)
    for log in (*found.split.train, *found.split.test):
        about = summary["logs"][log.name]
        assert (about["kp"], about["mass"], about["length"]) == (log.kp, log.bench.mass, log.bench.length)
        assert (about["script"], about["sha256"]) == (log.script, log.sha256)
    curves = (tmp_path / "results" / "trajectories.npz").read_bytes()
    assert summary["trajectories_sha256"] == hashlib.sha256(curves).hexdigest()
    assert summary["date"] == found.fits["m1"].servo.provenance.date
    assert summary["chosen"] == found.chosen
    assert summary["restarted_every"] == {"train": None, "test": None}
    assert summary["left_out"] == summary["corrections"] == {}
    assert summary["seed"] == 0
    assert summary["servo"] == "mx106"
    assert summary["split"]["rule"] == "script=up_and_down"
    names = [log.name for log in found.split.test]
    assert summary["split"]["test"] == names
    assert summary["split"]["train"] == [log.name for log in found.split.train]


@pytest.mark.long
def test_uncertainty_of_a_model_that_was_not_chosen_is_computed_when_asked_for(found: Identification) -> None:
    (other,) = set(found.fits) - {found.chosen}
    assert found.fits[other].uncertainty is None
    complete = with_uncertainty(found, other)
    uncertainty = complete.fits[other].uncertainty
    assert uncertainty is not None
    assert {each.name for each in uncertainty.estimates} == set(complete.fits[other].servo.parameters)
    assert complete.fits[found.chosen] is found.fits[found.chosen]
    assert complete.chosen == found.chosen
    with pytest.raises(UnknownName) as caught:
        with_uncertainty(found, "m6")
    assert caught.value.valid == ("m1", "m3")


@pytest.mark.usefixtures("no_plots")
def test_the_trajectories_are_those_of_the_fitted_servos(found: Identification, tmp_path: Path) -> None:
    write_identification(found, tmp_path)
    logs = {log.name: log for log in (*found.split.train, *found.split.test)}
    with np.load(tmp_path / "trajectories.npz") as arrays:
        assert set(arrays["logs"]) == set(logs)
        for i, name in enumerate(arrays["logs"]):
            for model, fit in found.fits.items():
                rollout = Rollout.for_servo([logs[name]], fit.servo)
                (expected,) = rollout.positions(parameter_vector(fit.servo, fit.bench_effects))
                kept = np.searchsorted(logs[name].time, arrays[f"time_{i}"] - 1e-4)
                np.testing.assert_allclose(arrays[f"{model}_{i}"], expected[kept], atol=1e-6)


@pytest.mark.usefixtures("no_plots")
def test_the_band_of_the_chosen_model_holds_what_was_measured(found: Identification, tmp_path: Path) -> None:
    write_identification(found, tmp_path)
    with np.load(tmp_path / "trajectories.npz") as arrays:
        for i in range(len(arrays["logs"])):
            low, high = arrays[f"{found.chosen}_low_{i}"], arrays[f"{found.chosen}_high_{i}"]
            assert np.all(low < high)
            assert np.mean((low <= arrays[f"measured_{i}"]) & (arrays[f"measured_{i}"] <= high)) > 0.9


def test_plots_show_the_numbers_of_the_summary(
    found: Identification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[Any, ...]] = []

    def draw(*given: object, **options: object) -> Figure:
        told.append((*given, options))
        return Figure()

    for name in ("fit.plot_fit", "mae.plot_mae", "parameters.plot_parameters"):
        monkeypatch.setattr(f"bam_core.plots.{name}", draw)
    uncertainty = found.fits[found.chosen].uncertainty
    assert uncertainty is not None
    write_identification(found, tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())["models"]
    (_, about_mae), (_, _, intervals, _), *fits = told
    assert about_mae["intervals"] == {model: entry["test_interval"] for model, entry in summary.items()}
    estimates = summary[found.chosen]["uncertainty"]["estimates"]
    assert intervals[found.chosen] == {
        name: tuple(estimate["interval"]) for name, estimate in estimates.items()
    }
    for log, _, errors, _ in fits:
        assert errors == {model: entry["per_log"][log.name] for model, entry in summary.items()}
    assert len(fits) == 3


def test_the_interval_is_that_of_the_mean_over_test_logs() -> None:
    logs = [record(mx106("m1"), script, 8.0) for script in ("sin_sin", "lift_and_drop", "up_and_down")]
    found = identify(logs, load_servo("mx106"), IdentifySettings(models=["m1"], trials=50, test=logs[1:]))
    first, second = (found.fits["m1"].per_log[log.name] for log in found.split.test)
    told = found.summary()["models"]["m1"]
    mean, reach = (first + second) / 2, 12.7062 * abs(first - second) / 2  # Student's t with one degree
    assert told["test_interval"] == pytest.approx((max(mean - reach, 0.0), mean + reach), rel=1e-5)


@pytest.mark.usefixtures("no_plots")
def test_a_written_servo_has_the_errors_that_the_summary_claims(
    found: Identification, tmp_path: Path
) -> None:
    write_identification(found, tmp_path / "results")
    for model, fit in found.fits.items():
        servo = load_servo(tmp_path / "results" / f"{model}.yaml")
        errors = Rollout.for_servo(found.split.train, servo).errors(parameter_vector(servo))
        assert errors.mean() == pytest.approx(fit.train_mae, rel=1e-9)


@pytest.mark.usefixtures("no_plots")
def test_an_existing_directory_keeps_what_is_not_replaced(found: Identification, tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "m1.yaml").write_text("old")
    (tmp_path / "summary.json").write_text("old")
    write_identification(found, tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert load_servo(tmp_path / "m1.yaml").friction_model == "m1"
    assert json.loads((tmp_path / "summary.json").read_text())["chosen"] == found.chosen


@pytest.mark.long
def test_models_of_an_earlier_identification_do_not_pass_for_this_ones(
    found: Identification, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert earlier_results(tmp_path) == ()
    write_identification(found, tmp_path)
    assert [there.models for there in earlier_results(tmp_path)] == [("m1", "m3")]
    caplog.clear()
    summary = json.loads((tmp_path / "summary.json").read_text())
    summary["models"] |= {"m2": {}, "m6": {}, "m4": {}, "../m5": {}}
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    (tmp_path / "m4.yaml").mkdir()
    for name in ("m2", "m5", "m6", "mine"):
        (tmp_path / f"{name}.yaml").write_text("old")
    (tmp_path.parent / "m5.yaml").write_text("not there")
    write_identification(found, tmp_path)
    assert {path.name for path in tmp_path.glob("*.yaml")} == {
        *("m1.yaml", "m3.yaml", "m4.yaml"),
        *("m5.yaml", "mine.yaml"),  # no summary lists them: they are the user's
    }
    assert (tmp_path.parent / "m5.yaml").read_text() == "not there"
    (replaced,) = logged(caplog)
    assert isinstance(replaced, Replaced)
    assert (replaced.directory, replaced.models) == (tmp_path, ("m1", "m2", "m3", "m4", "m6"))
    assert (replaced.files, replaced.plots) == (("m2.yaml", "m6.yaml"), 0)
    assert list(json.loads((tmp_path / "summary.json").read_text())["models"]) == ["m1", "m3"]


def test_models_of_an_earlier_identification_go_also_after_a_kill_while_it_was_replaced(
    found: Identification, tmp_path: Path, no_plots: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_identification(found, tmp_path)
    alone = replace(found, fits={"m1": found.fits["m1"]})
    unlink = Path.unlink

    def killed(path: Path, missing_ok: bool = False) -> None:
        if path == tmp_path / "m3.yaml":
            raise SystemExit
        unlink(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(SystemExit):
            write_identification(alone, tmp_path)
    assert not (tmp_path / "summary.json").exists()
    write_identification(alone, tmp_path)
    assert content(tmp_path) == {"m1.yaml", "summary.json", "trajectories.npz"}


@pytest.mark.long
def test_plots_of_logs_that_are_gone_and_the_old_report_do_not_pass_for_this_ones(
    found: Identification, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_identification(found, tmp_path)
    caplog.clear()
    summary = json.loads((tmp_path / "summary.json").read_text())
    summary["split"]["train"] += ["gone", "b/../../gone", "never drawn", "nul\0", "long" * 100]
    summary["split"]["test"] += ["gone too"]
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    plots = tmp_path / "plots"
    for file in ("fit_gone.png", "fit_b_.._.._gone.png", "fit_gone too.png", "fit_mine.png", "mine.png"):
        (plots / file).write_text("old")
    (tmp_path / "report.html").write_text("old")
    write_identification(found, tmp_path)
    logs = (*found.split.train, *found.split.test)
    fits = {f"fit_{log.name}.png" for log in logs}
    # No summary tells of a log "mine": that file is the user's.
    assert {file.name for file in plots.iterdir()} == {
        *("mae.png", "parameters.png", "fit_mine.png", "mine.png"),
        *fits,
    }
    assert not (tmp_path / "report.html").exists()
    (replaced,) = logged(caplog)
    assert isinstance(replaced, Replaced)
    assert (replaced.files, replaced.plots) == (("report.html",), 3)


def test_what_is_replaced_is_told(
    found: Identification, tmp_path: Path, no_plots: None, caplog: pytest.LogCaptureFixture
) -> None:
    write_identification(found, tmp_path)
    assert caplog.text == ""
    write_identification(found, tmp_path)
    date = found.fits["m1"].servo.provenance.date
    assert logged(caplog) == [Replaced(directory=tmp_path, models=("m1", "m3"), date=date)]


@pytest.mark.usefixtures("no_plots")
@pytest.mark.parametrize(
    "summary",
    [
        *("", "[]", "1", '{"models": 3}', '{"chosen": "m2"}', '{"models": [[1]]}', '{"models": {}}'),
        *('{"models": {"m2": 1}, "split": []}', '{"models": {"m2": 1}, "split": {"train": 1}}'),
    ],
)
def test_a_summary_that_is_not_ours_removes_nothing(
    found: Identification, tmp_path: Path, summary: str
) -> None:
    (tmp_path / "summary.json").write_text(summary)
    (tmp_path / "m2.yaml").write_text("mine")
    (tmp_path / "report.html").write_text("mine")
    write_identification(found, tmp_path)
    assert (tmp_path / "m2.yaml").read_text() == "mine"
    assert (tmp_path / "report.html").read_text() == "mine"


@pytest.mark.usefixtures("no_plots")
def test_nothing_is_written_beside_a_directory_that_exists(
    found: Identification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "mounted"
    output.mkdir()
    written: list[Path] = []
    mkdir = Path.mkdir

    def watch(path: Path, *arguments: Any, **options: Any) -> None:
        written.append(path)
        mkdir(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", watch)
    write_identification(found, output)
    assert written
    assert all(output in path.parents or path == output for path in written)
    assert not list(output.glob(".*"))


def test_a_failure_on_the_way_leaves_nothing(
    found: Identification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bam_core.identification.writing._plot", fail)
    with refused(NotWritable, path=str(tmp_path / "results")):
        write_identification(found, tmp_path / "results")
    assert list(tmp_path.iterdir()) == []
    old = tmp_path / "old"
    old.mkdir()
    (old / "summary.json").write_text("old")
    with pytest.raises(BamError):
        write_identification(found, old)
    assert content(tmp_path) == {"old/summary.json"}
    assert (old / "summary.json").read_text() == "old"


def test_a_place_that_cannot_be_written_is_found_before_the_work(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for output in (file, file / "below"):
        with refused(NotWritable, path=str(output)):
            require_output(output)
    require_output(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()
