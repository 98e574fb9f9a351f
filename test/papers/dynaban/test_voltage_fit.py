# SPDX-License-Identifier: Apache-2.0
"""Open-loop voltage logs and the seven parameters from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.errors import BadData, Conflict, WrongShape
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import load_servo
from papers.dynaban.voltage_fit import (
    _row,
    extended,
    identify_voltage_model,
    log_errors,
    replay_log,
    split_logs,
    tune_by_hand,
)
from papers.dynaban.voltage_kernel import simulate
from papers.dynaban.voltage_logs import (
    BARE,
    LOADED,
    PERIOD,
    SAMPLES,
    VoltageLog,
    record_virtual,
    voltage_commands,
)
from test.core.feedforward_cases import MODEL
from test.core.physics_cases import BENCH, law, servo
from test.core.refusals import refused

SUPPLY = 12.0


@pytest.fixture(scope="module")
def logs() -> list[VoltageLog]:
    return record_virtual(MODEL, SUPPLY)


def test_there_are_226_logs_of_one_second_in_three_kinds(logs) -> None:
    assert len(logs) == 226
    assert len({log.name for log in logs}) == 226
    assert {len(log.voltage) for log in logs} == {SAMPLES}
    assert {log.bench for log in logs} == {BARE, LOADED}
    assert (LOADED.mass, LOADED.length) == (0.28, 0.12)
    commands = voltage_commands(SUPPLY)
    assert {name.split()[0] for name in commands} == {"step", "saw-tooth", "abrupt"}
    assert max(np.max(np.abs(command)) for command in commands.values()) <= SUPPLY


def test_the_true_parameters_replay_the_logs_to_the_encoders_resolution(logs) -> None:
    assert np.max(log_errors((MODEL,), logs)) < 1.5e-3
    place = replay_log(MODEL, logs[7])
    assert np.sqrt(np.mean((place - logs[7].position) ** 2)) == pytest.approx(
        float(log_errors((MODEL,), [logs[7]])[0, 0])
    )


def test_the_simulator_is_of_second_order_away_from_rest() -> None:
    ends = []
    for dt in (4e-3, 2e-3, 1e-3, 1.25e-4):
        position = np.empty(round(0.4 / dt) + 1)
        smooth = _row(replace(MODEL, static=0.1, coulomb=0.1))
        simulate(
            smooth, BENCH.inertia, BENCH.gravity_torque, np.full(len(position), 6.0), 0.3, 0.0, dt, position
        )
        ends.append(position[-1])
    coarse, middle, fine = (abs(end - ends[-1]) for end in ends[:3])
    assert coarse / middle > 3.0
    assert middle / fine > 3.0


def test_a_run_may_begin_in_motion(logs) -> None:
    whole = next(log for log in logs if log.name.startswith("step 20"))
    speed = float(np.gradient(whole.position, PERIOD)[480:520].mean())
    rest = replace(whole, voltage=whole.voltage[500:], position=whole.position[500:])
    error, error_from_rest = (
        log_errors((MODEL,), [replace(rest, start_velocity=speed)]),
        log_errors((MODEL,), [rest]),
    )
    assert error[0, 0] < 2e-3 < 10e-3 < error_from_rest[0, 0]


def test_a_shaft_below_its_static_friction_stays_put(logs) -> None:
    volts = 0.9 * MODEL.static * MODEL.resistance / MODEL.torque_constant
    still = VoltageLog(name="still", bench=BARE, voltage=np.full(SAMPLES, volts), position=np.zeros(SAMPLES))
    assert np.all(replay_log(MODEL, still) == 0.0)


@pytest.mark.long
def test_the_fit_beats_the_hand_56_times_also_on_logs_that_were_held_out(logs) -> None:
    train, held_out = split_logs(logs[::8])
    assert not {log.name for log in train} & {log.name for log in held_out}
    fit = identify_voltage_model(train, held_out, tune_by_hand(logs))
    assert fit.start_train_error / fit.train_error > 56.0
    assert fit.start_held_out_error / fit.held_out_error > 56.0
    found, true = fit.model, MODEL
    assert found.torque_constant / found.resistance == pytest.approx(
        true.torque_constant / true.resistance, rel=0.05
    )
    assert found.armature == pytest.approx(true.armature, rel=0.05)
    assert found.static == pytest.approx(true.static, rel=0.05)


@pytest.mark.long
def test_friction_that_knows_the_load_explains_a_servo_that_the_paper_s_law_does_not() -> None:
    truth = load_servo("mx64")
    train, held_out = split_logs(record_virtual(truth, SUPPLY)[::9])
    plain = identify_voltage_model(train, held_out, MODEL, restarts=0)
    begin = extended(plain.model, truth, "m5")
    assert begin.motor == plain.model.motor
    assert begin.friction.load_external == 0.1
    # With a restart: a single descent of ten points ends in a poor optimum for three seeds of four.
    better = identify_voltage_model(train, held_out, begin, restarts=1, generations=100)
    assert better.held_out_error < 0.5 * plain.held_out_error
    assert better.model.friction_model == "m5"


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(name, marks=[] if name in ("m1", "m6") else [pytest.mark.long])
        for name in sorted(FRICTION_MODELS)
    ],
)
def test_the_compiled_simulator_follows_the_law_of_every_friction_model(model) -> None:
    """The logs come from BAM's law as it is written in `friction`, with steps ten times as fine."""
    actuator = servo(law(model), model=model)
    some = record_virtual(actuator, SUPPLY, counts_per_turn=1e9)[5::16]
    assert np.mean(log_errors((actuator,), some)) < 3e-3


def test_the_same_seed_finds_the_same(logs) -> None:
    some = logs[::16]
    fits = [
        identify_voltage_model(some, some, tune_by_hand(logs), restarts=1, generations=4) for _ in range(2)
    ]
    assert fits[0] == fits[1]
    assert fits[0].evaluations == 4 * 10 + 4 * 20


def test_logs_that_cannot_be_used_are_named(logs) -> None:
    with refused(BadData, thing="voltage logs"):
        identify_voltage_model([], logs, MODEL)
    short = replace(logs[0], voltage=logs[0].voltage[:10], position=logs[0].position[:10])
    with refused(Conflict, thing="voltage logs"):
        log_errors((MODEL,), [logs[0], short])
    with refused(WrongShape, thing="log 'odd', shapes"):
        VoltageLog(name="odd", bench=BARE, voltage=np.zeros(5), position=np.zeros(4))
    with refused(BadData, thing="log 'odd'"):
        VoltageLog(name="odd", bench=BARE, voltage=np.zeros(2), position=np.array([0.0, np.nan]))
    with refused(BadData, thing="voltage logs"):
        tune_by_hand([log for log in logs if log.bench.mass > 0.0])
