# SPDX-License-Identifier: Apache-2.0
"""A directory of results becomes values, or one line that says what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bam_core.errors import BamError, Malformed, Missing, UnknownName, Unreadable, WrongType
from bam_core.report import load_results
from bam_core.text.report_findings import NoTrajectories
from test.core.refusals import refused
from test.core.report_cases import edit_summary


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
        assert model.test_mae == entry["test_mae"]
        assert list(model.test_interval) == entry["test_interval"]
        assert model.per_log == entry["per_log"]
        assert model.parameters == pytest.approx(entry["parameters"])
    for name, log in loaded.logs.items():
        entry = summary["logs"][name]
        assert (log.kp, log.length, log.sha256) == (entry["kp"], entry["length"], entry["sha256"])
        assert log.set == ("test" if name in summary["split"]["test"] else "training")


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


def test_a_summary_is_read_without_what_it_lacks(results: Path) -> None:
    (results / "trajectories.npz").unlink()
    models = summary_of(results)["models"]
    for entry in models.values():
        for key in (
            "converged",
            "ended_early",
            "limited",
            "at_bound",
            "per_log",
            "test_mae",
            "test_interval",
        ):
            del entry[key]
    edit_summary(results, {"models": models, "logs": None, "date": None, "reason": None, "seed": None})
    loaded = load_results(results)
    assert loaded.trajectories == {}
    assert loaded.effects is None
    assert loaded.best.uncertainty is None
    assert not loaded.best.ended_early
    assert np.isnan([loaded.best.test_mae, *loaded.best.test_interval]).all()
    # The servo files have these as well.
    assert loaded.date == loaded.best.servo.provenance.date != ""
    assert all(len(log.sha256) == 64 for log in loaded.logs.values())


def test_a_search_of_an_older_summary_has_ended_early_where_it_did_not_converge(results: Path) -> None:
    models = summary_of(results)["models"]
    for entry in models.values():
        del entry["ended_early"]
        entry["converged"] = False
    edit_summary(results, {"models": models})
    assert load_results(results).best.ended_early


def test_the_verdict_is_that_of_the_summary(results: Path) -> None:
    entry, loaded = summary_of(results)["verdict"], load_results(results).verdict
    assert loaded is not None
    assert (loaded.kind, loaded.sentence, loaded.rule) == (entry["kind"], entry["sentence"], entry["rule"])
    assert list(loaded.reasons) == [reason["sentence"] for reason in entry["reasons"]]
    edit_summary(results, {"verdict": None})
    assert load_results(results).verdict is None


def test_trajectories_of_another_identification_are_left_alone(results: Path) -> None:
    assert load_results(results).trajectories
    split = summary_of(results)["split"]
    split["train"] = split["train"][1:]
    edit_summary(results, {"split": split})
    loaded = load_results(results)
    assert loaded.trajectories == {}
    assert loaded.without_trajectories == NoTrajectories(kind="other_trajectories", file="trajectories.npz")


def test_lost_trajectories_are_named_with_the_way_to_get_them_back(results: Path) -> None:
    assert load_results(results).without_trajectories is None
    (results / "trajectories.npz").unlink()
    loaded = load_results(results)
    assert loaded.trajectories == {}
    assert loaded.without_trajectories == NoTrajectories(kind="missing_trajectories", file="trajectories.npz")


def test_trajectories_of_another_search_on_the_same_logs_are_refused(results: Path) -> None:
    path = results / "trajectories.npz"
    with np.load(path) as file:
        arrays = dict(file)
    arrays["m4_0"] += np.float32(1e-6)
    np.savez_compressed(path, **arrays)
    with refused(Malformed, path=str(path)):
        load_results(results)


@pytest.mark.parametrize(
    "change", [{"resistance": 2.5}, {"sensor_delay": 0.1}, {"zero_offset": 0.5}, {"viscous": None}]
)
def test_a_servo_file_of_another_identification_is_refused(
    results: Path, change: dict[str, float | None]
) -> None:
    models = summary_of(results)["models"]
    models["m4"]["parameters"] |= change
    edit_summary(results, {"models": models})
    with refused(Malformed, path=str(results / "m4.yaml")) as caught:
        load_results(results)
    (key,) = change
    assert caught.value.problem.startswith(f"{key} is ")


def test_a_servo_file_that_differs_by_its_last_digits_is_the_same(results: Path) -> None:
    models = summary_of(results)["models"]
    models["m4"]["parameters"]["resistance"] *= 1 + 1e-12
    edit_summary(results, {"models": models})
    load_results(results)
    models["m4"]["parameters"]["resistance"] *= 1 + 1e-8
    edit_summary(results, {"models": models})
    with refused(Malformed, path=str(results / "m4.yaml")):
        load_results(results)


def test_a_servo_file_with_another_friction_model_is_refused(results: Path) -> None:
    (results / "m4.yaml").write_text((results / "m6.yaml").read_text())
    with refused(Malformed, path=str(results / "m4.yaml")):
        load_results(results)


def test_a_directory_without_an_identification_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for path, kind in ((tmp_path / "nowhere", Unreadable), (tmp_path, Malformed), (file, Unreadable)):
        with refused(kind, path=str(path)):
            load_results(path)


def test_a_missing_servo_file_is_named(results: Path) -> None:
    (results / "m4.yaml").unlink()
    with refused(Unreadable, path=str(results / "m4.yaml")):
        load_results(results)


@pytest.mark.parametrize(
    ("text", "kind", "about"),
    [
        ("", Malformed, {}),
        ('{"models": {', Malformed, {}),
        ("[]", WrongType, {"thing": "content", "value": []}),
        ("{}", Missing, {"thing": "models"}),
        ('{"models": 3, "chosen": "m1"}', WrongType, {"thing": "models", "value": 3}),
        ('{"models": {"m1": []}, "chosen": "m1"}', WrongType, {"thing": "models.m1"}),
        ('{"models": {"m9": {}}, "chosen": "m9"}', UnknownName, {"kind": "friction model", "name": "m9"}),
        ('{"models": {"../m1": {}}, "chosen": "m1"}', UnknownName, {"name": "../m1"}),
        (
            '{"models": {"m1": {"train_mae": "low"}}, "chosen": "m1"}',
            WrongType,
            {"thing": "models.m1.train_mae", "value": "low"},
        ),
        (
            '{"models": {"m1": {"train_mae": NaN}}, "chosen": "m1"}',
            WrongType,
            {"thing": "models.m1.train_mae"},
        ),
        (
            '{"models": {"m1": {"at_bound": [1]}}, "chosen": "m1"}',
            WrongType,
            {"thing": "models.m1.at_bound", "value": [1]},
        ),
        ('{"models": {"m1": {}}, "chosen": "m4"}', UnknownName, {"kind": "model", "valid": ("m1",)}),
        (
            '{"models": {"m1": {}}, "chosen": "m1", "effects": [{}]}',
            Missing,
            {"thing": "effects[0].name"},
        ),
        (
            '{"models": {"m1": {}}, "chosen": "m1", "split": {"train": 1}}',
            WrongType,
            {"thing": "split.train"},
        ),
        (
            '{"models": {"m1": {"uncertainty": {"correlation": {"parameters": ["a"], "matrix": [[1, 2]]}}}},'
            ' "chosen": "m1"}',
            WrongType,
            {"thing": "models.m1.uncertainty.correlation.matrix", "value": [1, 2]},
        ),
        (
            '{"models": {"m1": {"uncertainty": {"estimates": {"a": {"interval": [1]}}}}}, "chosen": "m1"}',
            WrongType,
            {"thing": "models.m1.uncertainty.estimates.a.interval", "value": [1]},
        ),
        ("\x00\xff", Malformed, {}),
    ],
)
def test_a_summary_that_is_not_as_expected_is_told_in_one_line(
    results: Path, text: str, kind: type[BamError], about: dict[str, object]
) -> None:
    (results / "summary.json").write_text(text)
    with refused(kind, **about) as caught:
        load_results(results)
    assert str(caught.value).startswith(f"{results / 'summary.json'}: ")


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
    with refused(Malformed, path=str(path)):
        load_results(results)
