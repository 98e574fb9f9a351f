# SPDX-License-Identifier: Apache-2.0
"""A directory of results becomes values, or one line that says what is wrong with it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_cases import edit_summary

from bam_core.errors import BamError
from bam_core.report import load_results


def summary_of(directory: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((directory / "summary.json").read_text())
    return content


def test_values_are_those_of_the_summary_and_the_servo_files(results: Path) -> None:
    summary, loaded = summary_of(results), load_results(results)
    assert list(loaded.models) == list(summary["models"]) == ["m1", "m4", "m6"]
    assert loaded.chosen == summary["chosen"]
    assert loaded.rule == "kp=16"
    assert loaded.date == summary["date"]
    for name, model in loaded.models.items():
        entry = summary["models"][name]
        assert model.train_mae == entry["train_mae"]
        assert model.per_log == entry["per_log"]
        assert model.parameters == pytest.approx(entry["parameters"])
    for name, log in loaded.logs.items():
        entry = summary["logs"][name]
        assert (log.kp, log.length, log.sha256) == (entry["kp"], entry["length"], entry["sha256"])
        assert log.held_out == (name in summary["split"]["validation"])


def test_uncertainties_effects_and_verdicts_are_read_where_there_are_some(
    results: Path, complete_results: Path
) -> None:
    loaded = load_results(complete_results)
    uncertainty = loaded.best.uncertainty
    assert uncertainty is not None
    assert set(uncertainty.estimates) == set(loaded.best.parameters)
    assert uncertainty.correlation.shape == (len(uncertainty.names),) * 2
    unknown = [name for name, each in uncertainty.estimates.items() if not each.identifiable]
    assert len(unknown) == 1
    assert np.isnan(uncertainty.estimates[unknown[0]].low)
    assert [effect.kept for effect in loaded.effects or ()] == [True, True, False]
    assert loaded.best.verdict == "chosen"


def test_an_older_directory_is_read_without_what_it_lacks(results: Path) -> None:
    (results / "trajectories.npz").unlink()
    models = summary_of(results)["models"]
    for entry in models.values():
        for key in ("validation_standard_error", "converged", "limited", "at_bound", "per_log"):
            del entry[key]
    edit_summary(results, {"models": models, "logs": None, "date": None, "reason": None, "seed": None})
    loaded = load_results(results)
    assert loaded.trajectories == {}
    assert loaded.effects is None
    assert loaded.best.uncertainty is None
    assert not loaded.best.ended_early
    assert np.isnan(loaded.best.standard_error)
    # The servo files have told these all along.
    assert loaded.date == loaded.best.servo.provenance.date != ""
    assert all(len(log.sha256) == 64 for log in loaded.logs.values())


def test_trajectories_of_another_identification_are_left_alone(results: Path) -> None:
    assert load_results(results).trajectories
    split = summary_of(results)["split"]
    split["train"] = split["train"][1:]
    edit_summary(results, {"split": split})
    loaded = load_results(results)
    assert loaded.trajectories == {}
    assert loaded.without_trajectories.startswith("trajectories.npz is of other logs or models: ")


def test_lost_trajectories_are_named_with_the_way_to_get_them_back(results: Path) -> None:
    assert load_results(results).without_trajectories == ""
    (results / "trajectories.npz").unlink()
    loaded = load_results(results)
    assert loaded.trajectories == {}
    assert "trajectories.npz is not there" in loaded.without_trajectories
    assert "put it back, or run 'bam identify' again" in loaded.without_trajectories


def test_trajectories_of_another_search_on_the_same_logs_are_refused(results: Path) -> None:
    path = results / "trajectories.npz"
    with np.load(path) as file:
        arrays = dict(file)
    arrays["m4_0"] += np.float32(1e-6)
    np.savez_compressed(path, **arrays)
    with pytest.raises(BamError, match=r"trajectories\.npz: is of another identification .+; put back"):
        load_results(results)
    edit_summary(results, {"trajectories_sha256": None})  # as earlier versions wrote it
    assert load_results(results).trajectories


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"resistance": 2.5}, r"resistance is [\d.]+, in summary\.json 2\.5; put back the m4\.yaml of this"),
        ({"sensor_delay": 0.1}, r"sensor_delay is missing, in summary\.json 0\.1; put back"),
        ({"zero_offset": 0.5}, r"zero_offset is [\d.e-]+, in summary\.json 0\.5; put back .*bench_effects/"),
        ({"viscous": None}, r"viscous is [\d.e-]+, in summary\.json missing; put back"),
    ],
)
def test_a_servo_file_of_another_identification_is_refused(
    results: Path, change: dict[str, float | None], said: str
) -> None:
    models = summary_of(results)["models"]
    models["m4"]["parameters"] |= change
    edit_summary(results, {"models": models})
    with pytest.raises(BamError, match=r"m4\.yaml: " + said) as caught:
        load_results(results)
    assert "\n" not in str(caught.value)


def test_a_servo_file_that_differs_by_its_last_digits_is_the_same(results: Path) -> None:
    models = summary_of(results)["models"]
    models["m4"]["parameters"]["resistance"] *= 1 + 1e-12
    edit_summary(results, {"models": models})
    load_results(results)
    models["m4"]["parameters"]["resistance"] *= 1 + 1e-8
    edit_summary(results, {"models": models})
    with pytest.raises(BamError, match="resistance"):
        load_results(results)


def test_a_servo_file_with_another_friction_model_is_refused(results: Path) -> None:
    (results / "m4.yaml").write_text((results / "m6.yaml").read_text())
    with pytest.raises(BamError, match=r"m4\.yaml: friction model is m6 \(expected m4\); put back"):
        load_results(results)


def test_a_directory_without_an_identification_is_named(tmp_path: Path) -> None:
    for path, what in (
        (tmp_path / "nowhere", "is not there"),
        (tmp_path, "is no identification, it has no summary.json"),
    ):
        with pytest.raises(BamError, match=f"{re.escape(str(path))}: {what}"):
            load_results(path)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(BamError, match="is a file"):
        load_results(file)


def test_a_missing_servo_file_is_named(results: Path) -> None:
    (results / "m4.yaml").unlink()
    with pytest.raises(BamError, match=r"m4\.yaml: is not there, though summary\.json lists m4"):
        load_results(results)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON at line 1, column 1"),
        ('{"models": {', "is not JSON at line 1"),
        ("[]", "holds [] (expected an object)"),
        ("{}", "models is missing"),
        ('{"models": 3, "chosen": "m1"}', "models is 3 (expected an object)"),
        ('{"models": {"m1": []}, "chosen": "m1"}', "models.m1 is []"),
        ('{"models": {"m9": {}}, "chosen": "m9"}', "friction model 'm9': unknown"),
        ('{"models": {"../m1": {}}, "chosen": "m1"}', "friction model '../m1': unknown"),
        ('{"models": {"m1": {"train_mae": "low"}}, "chosen": "m1"}', 'models.m1.train_mae is "low"'),
        ('{"models": {"m1": {"train_mae": NaN}}, "chosen": "m1"}', "models.m1.train_mae is NaN"),
        ('{"models": {"m1": {"at_bound": [1]}}, "chosen": "m1"}', "models.m1.at_bound is [1]"),
        ('{"models": {"m1": {}}, "chosen": "m4"}', "chosen: model 'm4': unknown (valid: m1)"),
        ('{"models": {"m1": {}}, "chosen": "m1", "effects": [{}]}', "effects[0].name is missing"),
        ('{"models": {"m1": {}}, "chosen": "m1", "split": {"train": 1}}', "split.train is 1"),
        (
            '{"models": {"m1": {"uncertainty": {"correlation": {"parameters": ["a"], "matrix": [[1, 2]]}}}},'
            ' "chosen": "m1"}',
            "correlation.matrix is [1, 2] (expected 1 rows of 1 numbers)",
        ),
        (
            '{"models": {"m1": {"uncertainty": {"estimates": {"a": {"interval": [1]}}}}}, "chosen": "m1"}',
            "estimates.a.interval is [1] (expected 2 numbers)",
        ),
        ("\x00\xff", "is not"),
    ],
)
def test_a_summary_that_is_not_as_expected_is_told_in_one_line(results: Path, text: str, said: str) -> None:
    (results / "summary.json").write_text(text)
    with pytest.raises(BamError) as caught:
        load_results(results)
    assert said in str(caught.value)
    assert str(results / "summary.json") in str(caught.value) or "friction model" in said
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("damage", ["empty", "cut", "text", "array", "reversed", "short", "nan"])
def test_damaged_trajectories_are_told_in_one_line(results: Path, damage: str) -> None:
    path = results / "trajectories.npz"
    whole = path.read_bytes()
    with np.load(path) as file:
        arrays = dict(file)
    if damage == "array":
        del arrays["goal_0"]
    elif damage == "reversed":
        arrays["time_1"] = arrays["time_1"][::-1]
    elif damage == "short":
        arrays["m4_2"] = arrays["m4_2"][:-1]
    elif damage == "nan":
        arrays["measured_0"][3] = np.nan
    if damage in ("array", "reversed", "short", "nan"):
        np.savez_compressed(path, **arrays)
    else:
        path.write_bytes({"empty": b"", "cut": whole[: len(whole) // 2], "text": b"not a zip"}[damage])
    with pytest.raises(
        BamError, match=r"trajectories\.npz: is damaged \(.+\); run 'bam identify' again"
    ) as caught:
        load_results(results)
    assert "\n" not in str(caught.value)
