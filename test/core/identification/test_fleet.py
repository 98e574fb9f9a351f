# SPDX-License-Identifier: Apache-2.0
"""Units side by side: equal ones agree, an odd one is named, and what is no fleet is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import BadData, Conflict, Missing, Unreadable
from bam_core.identification.fleet import compare_units, unit_files
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.uncertainty.prediction_file import save_prediction
from bam_core.identification.variation.compared import SPEED, compared
from bam_core.servo.friction import friction_model
from bam_core.servo.model import ServoModel, load_servo

BASE = load_servo("xl330")
RANGES = {"torque_constant": (0.1, 1.0), "coulomb": (0.0, 0.05), "load": (0.0, 1.0)}
ERROR = 0.01  # share of the range


def as_model(name: str) -> ServoModel:
    model = friction_model(name)
    return replace(BASE, friction_model=name, friction=model.friction(model.values(BASE.friction)))


def unit(directory: Path, name: str, *, servo: ServoModel = BASE, **factors: float) -> None:
    """Write the results of one unit, its parameters multiplied."""
    friction = {of: getattr(servo.friction, of) * factors.get(of, 1.0) for of in ("coulomb", "load_motor")}
    friction["load_external"] = friction["load_motor"]
    motor = replace(
        servo.motor, torque_constant=servo.motor.torque_constant * factors.get("torque_constant", 1.0)
    )
    own = replace(servo, motor=motor, friction=replace(servo.friction, **friction))
    path = directory / name / f"{servo.friction_model}.yaml"
    path.parent.mkdir(parents=True)
    own.save(path)
    names = [of for of in RANGES if of != "load" or servo.friction_model == "m4"]
    prediction = Prediction(
        ranges={of: RANGES[of] for of in names},
        factor=ERROR * np.eye(len(names)),
        inflation=1.0,
        residual=0.0,
        residual_alone=0.0,
    )
    save_prediction(path, prediction)


def test_equal_units_agree(tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d"):
        unit(tmp_path, name)
    fleet = compare_units(unit_files([tmp_path]))
    assert (fleet.friction_model, list(fleet.units)) == ("m4", ["a", "b", "c", "d"])
    assert fleet.differing == fleet.outliers == ()
    assert fleet.populations["torque_constant"].spread == 0.0
    strength = fleet.units["a"]["torque_constant"]
    assert strength.value == pytest.approx(BASE.motor.torque_constant, rel=0.01)
    assert strength.log_error == pytest.approx(ERROR * np.log(10.0), rel=0.1)


def test_the_odd_unit_is_named_with_what_is_odd(tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d", "e", "f"):
        unit(tmp_path, name)
    unit(tmp_path, "worn", coulomb=3.0)
    fleet = compare_units(unit_files([tmp_path]))
    assert {outlier.unit for outlier in fleet.outliers} == {"worn"}
    assert "friction_at_rest" in {outlier.quantity for outlier in fleet.outliers}
    assert "torque_constant" not in fleet.differing


def test_quantities_are_sums_that_trades_between_parameters_leave(tmp_path: Path) -> None:
    """Viscous friction traded for Coulomb friction moves as much at the speed of the comparison."""
    friction = BASE.friction
    traded = replace(friction, coulomb=friction.coulomb + 0.01, viscous=friction.viscous - 0.01 / SPEED)
    before, after = (compared(replace(BASE, friction=law), 1.0) for law in (friction, traded))
    assert after["friction_moving"] == pytest.approx(before["friction_moving"])
    assert after["friction_at_rest"] == pytest.approx(before["friction_at_rest"] + 0.01)
    load = friction.load_motor + friction.load_motor_stribeck
    assert before["friction_under_load"] == pytest.approx(2.0 * load)  # |τ_m - τ_e| of a held load


def test_friction_under_load_is_not_known_of_a_model_that_has_none(tmp_path: Path) -> None:
    for name in ("a", "b"):
        unit(tmp_path, name, servo=as_model("m1"))
    fleet = compare_units(unit_files([tmp_path]))
    assert fleet.units["a"]["friction_under_load"].log_error is None
    assert "friction_under_load" not in fleet.populations
    assert fleet.populations["torque_constant"].unseen is None  # of two


def test_the_model_that_all_units_have_is_compared(tmp_path: Path) -> None:
    for name in ("a", "b"):
        unit(tmp_path, name)
    unit(tmp_path / "more", "c")
    as_model("m6").save(tmp_path / "a" / "m6.yaml")
    files = unit_files([tmp_path / "a", tmp_path / "b", tmp_path / "more"])
    assert [path.name for path in files.values()] == ["m4.yaml"] * 3
    with pytest.raises(Missing):
        unit_files([tmp_path / "a", tmp_path / "b"], "m6")


def test_what_is_no_fleet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        unit_files([tmp_path / "none"])
    with pytest.raises(Missing):
        unit_files([tmp_path])
    unit(tmp_path, "a")
    with pytest.raises(BadData):
        unit_files([tmp_path])
    unit(tmp_path / "again", "a")
    with pytest.raises(Conflict):
        unit_files([tmp_path, tmp_path / "again"])
    unit(tmp_path, "other", servo=replace(BASE, name="other"))
    with pytest.raises(Conflict):
        compare_units(unit_files([tmp_path / "a", tmp_path / "other"]))
