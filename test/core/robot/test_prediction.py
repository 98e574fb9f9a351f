# SPDX-License-Identifier: Apache-2.0
"""What a fit expects of other runs, and the file of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import Missing
from bam_core.robot import prediction
from bam_core.robot.fit import RobotFit
from bam_core.robot.noise import assumed_noise
from bam_core.robot.prediction import MOST_DRAWS, RobotPrediction, robot_prediction
from bam_core.robot.prediction_file import load_prediction, save_prediction
from bam_core.robot.tolerances import RobotTolerances
from bam_core.robot.unknowns import Unknowns, with_friction_model
from bam_core.servo.model import load_servo
from test.core.refusals import refused
from test.core.whole_robot_cases import JOINTS, bench, recorded, servos

_TYPES = dict(zip(JOINTS, ("mx106", "mx64"), strict=True))
_RUN = recorded(servos("m1"), seed=1, duration=1.0)


def _prediction(spread: float) -> RobotPrediction:
    """Of a fit that ended where it began, with this standard deviation of every unknown."""
    unknowns = Unknowns(
        servos={name: with_friction_model(load_servo(name), "m1") for name in _TYPES.values()},
        joints=_TYPES,
        tolerances=RobotTolerances(),
        bodies=(),
    )
    size = len(unknowns.names)
    fit = RobotFit(
        unknowns=unknowns,
        point=np.zeros(size),
        covariance=spread**2 * np.eye(size),
        standard_errors=np.full(size, spread),
        noise=assumed_noise(len(JOINTS)),
    )
    return robot_prediction(fit, [_RUN], JOINTS, {_RUN.name: _RUN.position})


def _width(made: RobotPrediction) -> float:
    found = made.half_widths(bench(4e-3), _RUN, JOINTS, servos("m1"), _RUN.position, draws=10)
    assert found is not None
    assert found.shape == (len(_RUN.time), len(JOINTS))
    return float(found.mean())


def test_a_band_has_the_errors_of_fitted_runs_and_the_spread_of_the_draws() -> None:
    """3 mrad of error give ±4.9 mrad where the fit leaves nothing open."""
    sure, unsure = (_width(_prediction(spread)) for spread in (1e-4, 0.5))
    assert sure == pytest.approx(1.645 * 3e-3, rel=0.01)
    assert unsure > 1.5 * sure


def test_draws_one_joint_at_a_time_spread_as_whole_robots_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """That takes a thirtieth of the time; where the robot moves otherwise, the whole one is simulated."""
    unsure, whole = _prediction(0.3), prediction._paths
    with monkeypatch.context() as patch:
        patch.setattr(prediction, "_paths", lambda *_: pytest.fail("simulated the whole robot"))
        quick = _width(unsure)
    monkeypatch.setattr(prediction, "_paths_alone", lambda *_: None)
    assert quick == pytest.approx(_width(unsure), rel=0.15)
    monkeypatch.undo()
    asked = []
    monkeypatch.setattr(prediction, "_paths", lambda *words: asked.append(words) or whole(*words))
    elsewhere = _RUN.position + 0.05
    unsure.half_widths(bench(4e-3), _RUN, JOINTS, servos("m1"), elsewhere, draws=10)
    assert len(asked) == 1


def test_the_file_keeps_all_draws(tmp_path: Path) -> None:
    made = _prediction(0.3)
    save_prediction(made, tmp_path / "m1.json")
    again = load_prediction(tmp_path / "m1.json")
    assert again == made
    assert len(again.draws) == MOST_DRAWS
    assert len({draw.deviations.delay for draw in again.draws}) > MOST_DRAWS / 2


def test_a_damaged_file_names_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "m1.json"
    path.write_text('{"scale": {}, "goal_distance": {}}')
    with refused(Missing):
        load_prediction(path)


def test_a_prediction_of_other_joints_or_servos_is_refused() -> None:
    made = _prediction(0.1)
    run, others = _RUN, servos("m4")
    with refused(Missing, thing="prediction of mx106"):
        made.half_widths(bench(4e-3), run, JOINTS, others, run.position, draws=10)
    with refused(Missing, thing="prediction"):
        made.half_widths(bench(4e-3), run, ("wrist",), servos("m1"), run.position, draws=10)
