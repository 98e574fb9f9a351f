# SPDX-License-Identifier: Apache-2.0
"""Terms of a randomisation are applied one at a time, and what does nothing is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bam_core.cli import main
from bam_core.errors import BadData, BamError, Conflict, Malformed, Missing, OutOfRange, Unreadable
from bam_core.exchange.training.drive_fit import PricedDrive, fit_drive
from bam_core.exchange.training.linear_drive import DriveGains
from bam_core.exchange.training.randomisation import NOISE, check_randomisation
from bam_core.exchange.training.servo_draws import drawn_numbers, servo_draws
from bam_core.exchange.training.targets import DRAWN, PLAYGROUND_COLUMNS, TARGETS
from bam_core.servo.model import load_servo, servo_path
from test.core.refusals import refused

GAINS = DriveGains(kp=16, kd=32)
SERVO = "sts3215"


@pytest.fixture(scope="module")
def priced() -> PricedDrive:
    """Return the STS3215's drive as it is before a fit."""
    return fit_drive(load_servo(SERVO), GAINS, evaluations=1)


@pytest.fixture
def export(tmp_path: Path, priced: PricedDrive) -> Callable[..., Path]:
    """Write a training program's file, each term of which has a range of 5 % to either side, and edit it."""

    def write(target: str, *edits: tuple[str, str]) -> Path:
        draws = {
            name: [factor * getattr(priced.drive, name) for factor in (0.95, 1.0, 1.05)] for name in DRAWN
        }
        text = TARGETS[target][1](load_servo(SERVO), GAINS, priced, draws)
        for old, new in edits:
            assert old in text
            text = text.replace(old, new, 1)
        path = tmp_path / f"{target}.py"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def npz(path: Path, **changes: Any) -> Path:
    """Write draws of the servo, with other arrays or without those that are None."""
    draws = servo_draws(SERVO, 8)
    arrays = {**draws.parameters, "servo": np.array(SERVO), "servo_sha256": np.array(draws.servo_sha256)}
    arrays.update(changes)
    np.savez(path, **{name: values for name, values in arrays.items() if values is not None})
    return path


def causes(path: Path, **options: Any) -> dict[str, str | None]:
    """Return why each term of a file does nothing, None where it acts; a term acts or changes nothing."""
    terms = check_randomisation(path, **options)
    for term in terms:
        assert (term.no_op is None) == (term.change > NOISE), term
    return {term.name: None if term.no_op is None else term.no_op.cause for term in terms}


def test_all_draws_of_a_servo_act(tmp_path: Path) -> None:
    found = causes(npz(tmp_path / "draws.npz"))
    assert found == dict.fromkeys(load_servo(SERVO).parameters)


def test_draws_that_do_nothing_are_named(tmp_path: Path) -> None:
    values = np.linspace(0.1, 0.2, 8)
    changed = {"frictionloss": values, "winding_heating": values, "coulomb": 0.0 * values + 0.1}
    path = npz(tmp_path / "draws.npz", **changed, viscous=None)
    found = causes(path)
    assert found["frictionloss"] == "unknown_name"
    assert found["winding_heating"] == "no_parameter"
    assert found["coulomb"] == "zero_width"
    assert "viscous" not in found
    assert causes(path, target="mjlab")["armature"] == "ignored"


def test_mjlab_draws_the_shared_load_of_m4_as_two_numbers() -> None:
    values = np.ones(3)
    drawn = drawn_numbers({"load": values, "resistance": values, "armature": values, "seed_of_mine": values})
    assert set(drawn) == {"load_motor", "load_external", "resistance"}


def test_all_terms_of_isaac_lab_act(export: Callable[..., Path]) -> None:
    found = causes(export("isaaclab"))
    assert found == dict.fromkeys(("stiffness", "damping", "friction", "armature"))


@pytest.mark.parametrize(
    ("edit", "term", "cause"),
    [
        (
            ('"friction_distribution_params"', '"frictionloss_distribution_params"'),
            "frictionloss",
            "unknown_name",
        ),
        (("mdp.randomize_joint_parameters", "mdp.randomize_joints"), "friction", "unknown_name"),
        (
            ('"armature_distribution_params": (0.95, 1.05)', '"armature_distribution_params": (1.05, 1.05)'),
            "armature",
            "zero_width",
        ),
    ],
)
def test_terms_of_isaac_lab_that_do_nothing_are_named(
    export: Callable[..., Path], edit: tuple[str, str], term: str, cause: str
) -> None:
    found = causes(export("isaaclab", edit))
    assert found[term] == cause
    assert found["stiffness"] is None


def test_a_factor_of_a_value_that_is_zero_does_nothing(
    export: Callable[..., Path], priced: PricedDrive
) -> None:
    path = export("isaaclab")
    text = path.read_text(encoding="utf-8")
    friction = f" friction={priced.drive.frictionloss:.7g},"
    assert friction in text
    path.write_text(text.replace(friction, " friction=0.0,"), encoding="utf-8")
    assert causes(path)["friction"] == "zero_value"


def test_all_draws_of_playground_act(export: Callable[..., Path]) -> None:
    assert causes(export("playground")) == dict.fromkeys(PLAYGROUND_COLUMNS)


def test_a_column_that_playground_does_not_apply_is_named(export: Callable[..., Path]) -> None:
    path = export("playground", (".at[dofs].set(frictionloss)", ".at[dofs].set(0.1)"))
    found = causes(path)
    assert found["frictionloss"] == "no_motion"
    assert found["armature"] is None


def test_the_command_ends_with_1_where_a_term_does_nothing(tmp_path: Path) -> None:
    good, bad = npz(tmp_path / "a.npz"), npz(tmp_path / "b.npz", coulomb=np.ones(8))
    file = tmp_path / "check.json"
    assert main(["check-randomisation", str(good), "--json", str(file)]) == 0
    assert json.loads(file.read_text(encoding="utf-8"))["acts"]
    assert main(["check-randomisation", str(bad), "--json", str(file)]) == 1
    written = json.loads(file.read_text(encoding="utf-8"))
    named = {term["name"]: term["no_op"]["cause"] for term in written["terms"] if term["no_op"]}
    assert named == {"coulomb": "zero_width"}
    assert main(["check-randomisation", str(tmp_path / "none.npz")]) == 2


@pytest.mark.parametrize("target", ["mjlab", "newton", "genesis"])
def test_files_that_randomise_nothing_are_refused(export: Callable[..., Path], target: str) -> None:
    with refused(Malformed):
        check_randomisation(export(target))


def test_a_function_that_fails_is_one_line(export: Callable[..., Path]) -> None:
    with refused(BadData):
        check_randomisation(export("playground", ("model.dof_frictionloss.at", "model.dof_friction.at")))


@pytest.mark.parametrize(
    ("changes", "options", "error"),
    [
        ({"servo_sha256": np.array("0")}, {}, Conflict),
        ({"servo": np.array("no_servo")}, {}, Missing),
        ({"servo_sha256": None}, {}, Malformed),
        ({"coulomb": np.full(8, np.nan)}, {}, OutOfRange),
        ({"resistance": np.linspace(-1.0, 1.0, 8)}, {}, BadData),
        ({}, {"servo": "mx106"}, Conflict),
    ],
)
def test_bad_draws_are_refused(
    tmp_path: Path, changes: dict[str, Any], options: dict[str, str], error: type[BamError]
) -> None:
    path = npz(tmp_path / "draws.npz", **changes)
    with refused(error):
        check_randomisation(path, **options)


def test_draws_of_a_servo_file_name_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_bytes(servo_path(SERVO).read_bytes())
    assert check_randomisation(npz(tmp_path / "draws.npz"), str(file))
    with refused(Unreadable):
        check_randomisation(tmp_path / "none.npz")
    with refused(Conflict):
        check_randomisation(tmp_path / "a.py", servo=str(file))
