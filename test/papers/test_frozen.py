# SPDX-License-Identifier: Apache-2.0
"""Simulations that never move bear out no claim that counts, of BAM, Dynaban and Egle.

Kikuuwe's are in `kikuuwe/test_redo.py`, with those of programs that return zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bam_core.errors import BadData
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.simulation.rollout import Rollout
from papers.bam import squats
from papers.bam.arm_errors import arm_claims, arm_runs
from papers.bam.arm_tracking import ArmTrack, track
from papers.bam.synthetic import Campaign, agreement_claims, identified, model_claims, true_servo
from papers.bam.two_link import ARMS, TwoLinkArm
from papers.claim import Claim
from papers.dynaban import voltage_fit as identification
from papers.dynaban.claims import kick_claims, own_parameters_claims
from papers.dynaban.kicks import Experiment
from papers.dynaban.motor_model import DynabanModel
from papers.dynaban.performance import Performance
from papers.dynaban.plots import LAW_4, OWN, POSITION
from papers.dynaban.redo import perform_kicks
from papers.dynaban.repeatability import Split, split_claim
from papers.egle.differences import differences
from papers.egle.filters import filters
from papers.egle.gait import plan_gait, straight
from papers.egle.sensors import Sensors
from papers.egle.stance import stance
from papers.egle.supports import supports
from papers.egle.walking import Walk, simulate_walk
from papers.egle.walks import KNEE, KNEE_FRICTION, Walks
from papers.redone import Task
from test.core.whole_body_cases import robot

pytestmark = pytest.mark.long

LAW = DynabanModel(
    torque_constant=1.62,
    resistance=3.1,
    viscous=0.02,
    static=0.16,
    coulomb=0.1,
    stribeck_velocity=1.0,
    armature=0.0105,
)


def held(claims: list[Claim]) -> list[str]:
    return [each.claim for each in claims if each.holds]


def quiet(words: str) -> None:
    pass


def at_rest(values: np.ndarray) -> np.ndarray:
    """The first row again and again."""
    return np.broadcast_to(values[0], values.shape).copy()


@pytest.fixture
def frozen_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated arms on benches stay where recordings begin."""

    def errors(self: Rollout, candidates: np.ndarray, task: Any, trace: np.ndarray) -> np.ndarray:
        of_logs = [float(np.mean(np.abs(log.position - log.position[0]))) for log in self.recordings]
        if trace.size:
            starts = np.array([log.position[0] for log in self.recordings])[task.logs]
            trace[0] = np.resize(starts, trace.shape[2])
            trace[1] = 0.0
        return np.resize(np.array(of_logs)[task.logs], task.lanes)

    monkeypatch.setattr(Rollout, "_simulate", errors)


@pytest.mark.usefixtures("frozen_bench")
@pytest.mark.parametrize("name", ["mx64", "mx106", "erob80_100", "erob80_50"])
def test_no_claim_of_bam_holds_of_servos_that_never_move(name: str) -> None:
    campaign = Campaign(repeats=2, trials=60, every=4, fresh=40)
    found = identified(name, true_servo(name), quiet, campaign)
    assert held([*model_claims(name, found), *agreement_claims(name, found)]) == []


@pytest.mark.usefixtures("frozen_bench")
@pytest.mark.parametrize(("name", "best"), [("dynamixel_2r", "m4"), ("erob_2r", "m6")])
def test_no_claim_of_bam_holds_of_arms_that_never_move(
    name: str, best: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def frozen(arm: TwoLinkArm, *arguments: Any, **options: Any) -> ArmTrack:
        made = track(arm, *arguments, **options)
        return replace(made, position=at_rest(made.position))

    monkeypatch.setattr("papers.bam.arm_errors.track", frozen)
    arm = ARMS[name]
    first, second = (true_servo(servo) for servo in arm.servos)
    campaign = Campaign(repeats=1, trials=30, every=4, fresh=4)
    found = [identified(truth.servo.name, truth, quiet, campaign) for truth in (first, second)]
    runs = arm_runs(arm, (first, second), found, ["triangular_wave"])
    for errors in (runs.as_benched, runs.errors):
        assert held(list(arm_claims(arm, best, errors))) == []


def test_no_claim_of_bam_holds_of_a_humanoid_that_never_moves(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def frozen(self: RobotBench, run: RobotRun, *arguments: Any) -> np.ndarray:
        return at_rest(run.position)

    monkeypatch.setattr(RobotBench, "simulate", frozen)
    assert held(squats.squat_claims(squats.simulated_squats(folder, quiet))) == []


@pytest.mark.filterwarnings("ignore:Inertia matrix", "ignore:invalid value", "ignore:divide by zero")
def test_no_claim_of_dynaban_holds_of_robots_that_never_move(monkeypatch: pytest.MonkeyPatch) -> None:
    kicks = "papers.dynaban.kicks"
    for name in ("perform_by_position", "perform_by_feed_forward"):
        perform = getattr(__import__(kicks, fromlist=[name]), name)

        def frozen(*arguments: Any, right: Callable[..., Performance] = perform, **options: Any) -> Any:
            made = right(*arguments, **options)
            places = {each: at_rest(getattr(made, each)) for each in ("position", "place", "tilt")}
            return replace(made, **places)

        monkeypatch.setattr(f"{kicks}.{name}", frozen)
    _, found = perform_kicks(Task(output=Path()), Experiment(robots=2, repeats=2, seed=2016), LAW)
    before, after = found[POSITION], found[LAW_4]
    claims = [*kick_claims(before, after, {}), *own_parameters_claims(after, found[OWN])]
    assert held([*claims, split_claim({1.0: Split.make(before, after)})]) == []


def test_no_claim_of_dynaban_about_recordings_counts_of_a_servo_that_never_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from papers.dynaban.recordings import Settings, redo_recordings

    folder = Path(__file__).parents[2].parent / "shared" / "data" / "dynaban_mx64"
    if not folder.is_dir():
        pytest.skip(f"no recordings of Dynaban in {folder}")

    def errors(candidates: np.ndarray, *packed: Any) -> np.ndarray:
        measured = packed[4]
        off = np.sqrt(np.mean((measured - measured[:, :1]) ** 2, axis=1))
        return np.tile(off, (len(candidates), 1))

    monkeypatch.setattr(identification, "errors", errors)
    claims, _ = redo_recordings(Task(output=tmp_path), folder, Settings(generations=2, models=()))
    assert [each.claim for each in claims if each.counts] == []


@pytest.fixture(scope="module")
def knee_walk() -> Walk:
    return simulate_walk(robot(), plan_gait(robot(), straight(4)), {KNEE: KNEE_FRICTION})


def walks_of(made: Walk) -> Walks:
    return Walks(
        robot=robot(),
        knee=made,
        legs=made,
        short=made,
        cornered=robot(),
        unseen=made,
        turn=np.inf,
        swings={},
    )


RANKS = ("section 5.3, single support, rank", "section 5.3, double support, rank")
"""Of matrices in whatever posture: nothing is said of motion."""


def test_no_claim_of_egle_that_speaks_of_motion_holds_of_a_humanoid_that_never_moves(
    knee_walk: Walk, tmp_path: Path
) -> None:
    log = knee_walk.log
    log = replace(log, position=at_rest(log.position), effort=at_rest(log.effort))
    still = replace(
        knee_walk,
        log=log,
        velocity=0.0 * knee_walk.velocity,
        acceleration=0.0 * knee_walk.acceleration,
        friction=0.0 * knee_walk.friction,
    )
    walks = walks_of(still)
    claims = [part(tmp_path, walks, quiet) for part in (supports, differences, filters)]
    found = [name for each in claims for name in held(each) if not name.startswith(RANKS)]
    assert found == []
    noisy = Sensors().measure(log).arranged(robot())
    with pytest.raises(BadData, match="contacts contradict it throughout"):  # refused, so that nothing is
        stance(tmp_path, walks, noisy, quiet)
