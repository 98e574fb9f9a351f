# SPDX-License-Identifier: Apache-2.0
"""The study of intervals: sessions that differ, a truth that can be found, a table that adds up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bam_core.identification.uncertainty.candidate_runs import liftable
from bam_core.servo.bench_effects_file import load_bench_effects
from bam_core.servo.model import load_servo, servo_names
from bam_core.simulation.rollout import Rollout
from studies.coverage import Case, case_for, drawn_case, main, record_session, session_runs
from test.core.refusals import require_one_line


def case_of(name: str) -> Case:
    return case_for(load_servo(name), load_bench_effects(name))


@pytest.mark.parametrize("name", servo_names())
def test_every_servo_s_truth_lies_in_its_search_and_its_session_can_be_recorded(name: str) -> None:
    case = case_of(name)
    np.testing.assert_allclose(case.space.vectors(case.space.point(case.truth)[None])[0], case.truth)
    for seed in range(3):
        runs = session_runs(case.servo, np.random.default_rng(seed))
        assert len(set(runs)) == 24
        assert liftable(case.servo, [run.bench for run in runs], runs[0].supply_voltage)[1] == ()


def test_a_link_is_searched_for_where_there_is_one() -> None:
    names = [{axis.name for axis in case_of(name).space.axes} for name in ("xl330", "xl330_bam")]
    link, others = {"arm_compliance", "arm_backlash"}, {"torque_saturation", "zero_offset"}
    assert names[0] >= link | others
    assert names[1] >= others
    assert not names[1] & link


def test_sessions_differ_and_the_truth_follows_each_to_the_noise() -> None:
    case = case_for(load_servo("mx106"))
    one, other = (record_session(case, np.random.default_rng(seed)) for seed in (0, 1))
    assert one[0].bench != other[0].bench
    assert one[0].position[0] != other[0].position[0]
    count = case.servo.firmware.resolution
    for session in (one, other):
        assert np.allclose(session[0].position / count, np.round(session[0].position / count))
        assert Rollout.for_servo(session, case.servo).errors(case.truth).mean() < 0.6 * count


@pytest.mark.long
def test_drawn_servos_move_their_session_and_lie_in_their_search() -> None:
    servo, bench_effects = load_servo("mx106"), load_bench_effects("mx106")
    cases = [drawn_case(servo, bench_effects, np.random.default_rng(seed)) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(cases[0].truth, cases[1].truth)
    assert not np.allclose(cases[0].truth, cases[2].truth)
    for case in cases:
        np.testing.assert_allclose(case.space.vectors(case.space.point(case.truth)[None])[0], case.truth)
        moved = [np.ptp(each.position) for each in record_session(case, np.random.default_rng(0))]
        assert np.median(moved) > 0.1


@pytest.mark.long
def test_the_study_prints_a_table_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "coverage.json"
    assert main(["--servos", "mx106", "--repeats", "2", "--trials", "150", "--json", str(file)]) == 0
    result = json.loads(file.read_text())
    assert result["overall"] == result["servos"]["mx106"]["coverage"]
    assert result["overall"] > 0.8
    assert result["servos"]["mx106"]["arrived"] <= len(result["servos"]["mx106"]["missed"]) == 2
    assert "mx106" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--servos", "mx1066"], "did you mean"),
        (["--repeats", "0"], "at least 1"),
        (["--trials", "49"], "at least 50"),
        (["--json", "/proc/x/c.json"], "/proc/x"),
    ],
)
def test_what_cannot_be_is_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    require_one_line(main, words, told, capsys)


@pytest.mark.long
def test_workers_of_a_cluster_find_what_this_machine_finds(tmp_path: Path) -> None:
    """As the program that is started by its name: what it sends has to be known to workers elsewhere."""
    words = ["--servos", "mx106", "--repeats", "1", "--trials", "50"]
    for name, more in (("here", []), ("there", ["--cluster", "local:1"])):
        command = [
            sys.executable,
            "-m",
            "studies.coverage",
            *words,
            "--json",
            str(tmp_path / name),
            *more,
        ]
        subprocess.run(command, check=True, timeout=600)
    assert (tmp_path / "here").read_text() == (tmp_path / "there").read_text()
