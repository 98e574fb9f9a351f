# SPDX-License-Identifier: Apache-2.0
"""Folds of selection: by gain and by load, each leaving enough to fit to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bam_core.identification.data.folds import MOST, selection_folds
from bam_core.identification.data.split import Split
from bam_core.recordings.recording import Recording
from bam_core.servo.pendulum import PendulumBench
from test.core.identification_cases import mx106, record

BASE = record(mx106("m1"), "sin_sin", 8.0)
RELEASED = record(mx106("m1"), "lift_and_drop", 8.0)


def log(script: str, kp: float, mass: float = 1.0) -> Recording:
    base = RELEASED if script == "lift_and_drop" else BASE
    name = f"{script}_{kp:g}_{mass:g}"
    bench = PendulumBench(mass=mass, length=0.15)
    return replace(base, name=name, sha256=name, script=script, kp=kp, bench=bench)


def logs(*gains: float, masses: tuple[float, ...] = (1.0,)) -> list[Recording]:
    scripts = ("sin_sin", "up_and_down", "lift_and_drop")
    return [log(script, kp, mass) for script in scripts for kp in gains for mass in masses]


def rules(folds: list[Split]) -> list[str]:
    return [fold.rule for fold in folds]


def test_every_gain_and_every_load_is_left_out_in_turn() -> None:
    everything = logs(8.0, 16.0, 32.0, masses=(0.5, 1.0, 2.0))
    folds = selection_folds(everything[::-1])
    assert folds == selection_folds(everything)
    gains, loads = (f"kp={kp}" for kp in (8, 16, 32)), (f"{mass} kg at 0.15 m" for mass in (0.5, 1, 2))
    assert rules(folds) == [*gains, *loads]
    for fold in folds:
        assert sorted(each.name for each in fold.logs) == sorted(each.name for each in everything)
    assert {each.kp for each in folds[0].test} == {8.0}
    assert {each.bench.mass for each in folds[-1].test} == {2.0}


def test_many_values_are_left_out_several_at_a_time_neighbours_together() -> None:
    folds = selection_folds(logs(*range(1, 11)))
    assert rules(folds) == ["kp=1, kp=2", "kp=3, kp=4, kp=5", "kp=6, kp=7", "kp=8, kp=9, kp=10"]
    assert len(folds) == MOST


def test_of_two_gains_none_is_left_out_alone() -> None:
    folds = selection_folds(logs(8.0, 32.0, masses=(0.5, 2.0)))
    pairs = ((8, 0.5), (8, 2), (32, 0.5), (32, 2))
    assert rules(folds) == [f"kp={kp} with {mass} kg at 0.15 m" for kp, mass in pairs]
    for fold in folds:
        assert {each.kp for each in fold.train} == {8.0, 32.0}
        assert {each.bench.mass for each in fold.train} == {0.5, 2.0}


def test_where_there_are_no_three_set_ups_scripts_are_left_out_but_not_the_one_that_lets_go() -> None:
    for gains in ((8.0,), (8.0, 32.0)):
        assert rules(selection_folds(logs(*gains))) == ["script=sin_sin", "script=up_and_down"]


def test_a_fold_leaves_half_of_the_logs_and_torque_on_in_some() -> None:
    rare = [*logs(8.0, masses=(1.0, 2.0)), log("sin_sin", 16.0), log("sin_sin", 32.0)]
    assert rules(selection_folds(rare)) == ["kp=16", "kp=32"]
    limp = [replace(each, torque_enabled=np.zeros(len(each), bool)) for each in logs(8.0, 16.0)]
    assert rules(selection_folds([*limp, *logs(32.0)])) == ["kp=8", "kp=16"]


def test_few_logs_give_no_folds() -> None:
    assert selection_folds(logs(8.0)[:1]) == []
    assert selection_folds(logs(8.0)[:2]) == []


def test_a_named_key_is_left_out_value_by_value() -> None:
    assert rules(selection_folds(logs(8.0, 16.0, 32.0), "kp")) == ["kp=8", "kp=16", "kp=32"]
