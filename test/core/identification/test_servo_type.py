# SPDX-License-Identifier: Apache-2.0
"""The file of a servo type: the typical unit, draws that scatter as units do, the prior of an unseen one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import Conflict, Missing
from bam_core.identification.fleet import unit_files
from bam_core.identification.search.sensitivity import normalised
from bam_core.identification.search.space import search_space
from bam_core.identification.servo_type import servo_type
from bam_core.identification.uncertainty.prediction_file import (
    load_prediction,
    prediction_path,
    save_prediction,
)
from bam_core.identification.uncertainty.unit_prior import load_unit_prior
from bam_core.identification.variation.few_units import (
    FRICTION_SPREAD,
    MOTOR_SPREAD,
    PRIOR_FREEDOM,
)
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import load_servo, servo_path
from bam_core.simulation.rollout import PARAMETERS, parameter_vector
from test.core.identification.test_fleet import BASE, unit
from test.core.identification_cases import mx106, record

SPREAD = 0.18
STRENGTH, COULOMB = (PARAMETERS.index(name) for name in ("torque_constant", "coulomb"))


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve units whose strength and friction differ together."""
    directory = tmp_path_factory.mktemp("units")
    for name, factor in zip("abcdefghijkl", np.exp(SPREAD * np.linspace(-1.6, 1.6, 12)), strict=True):
        unit(directory, name, coulomb=float(factor), torque_constant=float(factor))
    return directory


def test_the_typical_unit_is_between_the_others_and_draws_scatter_as_they_do(units: Path) -> None:
    typical = servo_type(unit_files([units]))
    assert typical.servo.motor.torque_constant == pytest.approx(BASE.motor.torque_constant, rel=0.05)
    assert typical.servo.friction.coulomb == pytest.approx(BASE.friction.coulomb, rel=0.1)
    assert typical.prediction.units == 12
    draws = typical.prediction.draw(typical.servo, count=2000, seed=1)
    strength = np.log(draws[:, STRENGTH])
    assert np.std(strength) == pytest.approx(SPREAD * 1.15, rel=0.2)  # t of twelve units: 2.23 for 1.96
    assert np.corrcoef(strength, draws[:, COULOMB])[0, 1] > 0.5


def test_it_is_written_read_and_used_as_prior(units: Path, tmp_path: Path) -> None:
    typical = servo_type(unit_files([units]))
    path = tmp_path / "typical_m4.yaml"
    typical.servo.save(path)
    save_prediction(path, typical.prediction)
    read = load_unit_prior(path)
    assert read.prediction.units == 12
    logs = [record(mx106("m4"), "sin_sin", 8.0)]
    known = {**BASE.search.ranges, **read.ranges}
    space = read.over(search_space(FRICTION_MODELS["m4"], logs, known))
    assert space.prior is not None
    np.testing.assert_allclose(space.prior.mean, normalised(space, read.start(space)))
    names = [axis.name for axis in space.axes]
    unknown = [i for i, name in enumerate(names) if name not in read.ranges]
    assert not space.prior.precision[unknown].any()
    known_rows = [i for i, name in enumerate(names) if name in read.ranges]
    covariance = np.linalg.inv(space.prior.precision[np.ix_(known_rows, known_rows)])
    order = [list(read.ranges).index(names[i]) for i in known_rows]
    expected = (read.prediction.factor @ read.prediction.factor.T)[np.ix_(order, order)]
    np.testing.assert_allclose(np.diag(covariance), np.diag(expected), rtol=1e-2)


def test_ranges_that_differ_count_in_the_same_unit(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        unit(tmp_path, name)
    path = tmp_path / "b" / "m4.yaml"
    own = load_prediction(path)
    assert own is not None
    halves = {"torque_constant": (0.1, 1.0), "coulomb": (0.0, 0.025), "load": (0.0, 1.0)}
    same = replace(own, ranges=halves, factor=np.diag([1.0, 2.0, 1.0]) @ own.factor)
    before = servo_type(unit_files([tmp_path]))
    save_prediction(path, same)
    after = servo_type(unit_files([tmp_path]))
    np.testing.assert_allclose(after.prediction.factor, before.prediction.factor, rtol=1e-6, atol=1e-9)
    assert after.prediction.ranges["coulomb"] == (0.0, 0.05)
    save_prediction(path, replace(own, ranges={**own.ranges, "coulomb": (0.001, 0.05)}))
    with pytest.raises(Conflict):
        servo_type(unit_files([tmp_path]))


def test_what_the_bench_of_a_unit_is_like_is_none_of_its_type(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        unit(tmp_path, name)
        path = tmp_path / name / "m4.yaml"
        own = load_prediction(path)
        assert own is not None
        ranges = {**own.ranges, "zero_offset": (-0.1, 0.1)}
        save_prediction(path, replace(own, ranges=ranges, factor=0.01 * np.eye(4)))
    assert list(servo_type(unit_files([tmp_path])).ranges) == ["torque_constant", "coulomb", "load"]


@pytest.mark.parametrize("names", ["a", "ab"])
def test_one_or_two_units_scatter_at_least_as_servos_in_general(names: str, tmp_path: Path) -> None:
    for name in names:
        unit(tmp_path, name)
    files = {name: tmp_path / name / "m4.yaml" for name in names}
    typical = servo_type(files)
    assert typical.prediction.units == len(names)
    draws = typical.prediction.draw(typical.servo, count=2000, seed=1)
    share = np.sqrt(PRIOR_FREEDOM / (PRIOR_FREEDOM + len(names) - 1))
    for column, spread in ((STRENGTH, MOTOR_SPREAD), (COULOMB, FRICTION_SPREAD)):
        relative = np.std(draws[:, column]) / np.mean(draws[:, column])
        assert share * spread < relative < 2.6 * spread  # t of 3 degrees of freedom, two units differ


def test_units_that_are_equal_scatter_less_than_two_that_differ(tmp_path: Path) -> None:
    for name, factor in (("a", 1.0), ("b", 1.0), ("c", 2.0)):
        unit(tmp_path, name, coulomb=factor)
    files = {name: tmp_path / name / "m4.yaml" for name in "abc"}
    errors = [
        servo_type({name: files[name] for name in names}).servo.uncertainty["coulomb"]
        for names in ("ab", "ac")
    ]
    assert errors[1] > 1.5 * errors[0]


def test_files_without_covariance_are_refused(tmp_path: Path) -> None:
    unit(tmp_path, "a")
    path = tmp_path / "a" / "m4.yaml"
    prediction_path(path).unlink()
    with pytest.raises(Missing):
        load_unit_prior(path)


def test_parameters_of_the_typical_unit_are_those_of_a_servo(units: Path) -> None:
    typical = servo_type(unit_files([units]))
    assert np.all(np.isfinite(parameter_vector(typical.servo)))
    assert set(typical.servo.uncertainty) == set(typical.ranges)


def test_the_library_s_type_of_two_units_has_the_covariance_that_its_file_states() -> None:
    path = servo_path("mx106_current")
    servo, prediction = load_servo(path), load_prediction(path)
    assert prediction is not None
    assert (prediction.units, prediction.inflation) == (2, 1.0)
    assert set(prediction.ranges) == set(servo.uncertainty)
    origin = servo.provenance
    assert (len(origin.train_data), len(origin.test_data)) == (12, 6)
    assert not set(origin.train_data.values()) & set(origin.test_data.values())
    draws = prediction.draw(servo, count=4000, seed=1)
    for name in ("torque_constant", "armature", "viscous"):
        scatter = np.std(draws[:, PARAMETERS.index(name)])
        assert scatter == pytest.approx(servo.uncertainty[name], rel=0.1)
