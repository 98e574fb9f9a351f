# SPDX-License-Identifier: Apache-2.0
"""Dynaban's feed-forward: the identification of section 4 and the kick of sections 5 and 6."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np

from bam_core.feedforward import (
    DynabanModel,
    FeedForwardController,
    FeedForwardLaw,
    HandOver,
    Limits,
    PieceBuffer,
    VoltageFit,
    VoltageLog,
    extended,
    identify_voltage_model,
    record_virtual,
    split_logs,
    tune_by_hand,
)
from bam_core.feedforward.performance import Performance, perform_by_feed_forward
from bam_core.feedforward.plots import (
    LAW_4,
    LAW_M5,
    LAW_M6,
    POSITION,
    plot_cuts,
    plot_delays,
    plot_motions,
    plot_voltage_fit,
)
from bam_core.plots.save import save_figure
from bam_core.reproduce._dynaban_kicks import (
    SUPPLY,
    Figures,
    Robot,
    arm,
    by_feed_forward,
    by_position,
    figures,
    leg,
    stages,
)
from bam_core.reproduce.claim import Claim
from bam_core.servo.firmware import VoltageFirmware
from bam_core.servo.model import ServoModel, load_servo

_ROBOTS, _REPEATS = 2, 10
_GENERATIONS = 200
_EVERY, _FEWER = 1, 6  # which logs are used, and which of those for M5
_CYCLES = 2000
_CUT_EVERY = 1
_PAPERS_STEP = 5e-3  # s; the step in which the paper tells delays
_KNEE, _HIP_PITCH = 3, 2

# An MX-64 whose friction is just what eq. (4) says; of the size of the library's.
LIKE_THE_PAPER = DynabanModel(
    torque_constant=1.6,
    resistance=2.3,
    viscous=0.03,
    static=0.22,
    coulomb=0.12,
    stribeck_velocity=0.6,
    armature=0.0123,
)


def run(output: Path, say: Callable[[str], None]) -> list[Claim]:
    """Redo the paper.

    Args:
        output: directory for the figures.
        say: told what is being done.
    """
    say("226 voltage logs of a servo of law (4)")
    _, claims, _, _ = _identification_claims(
        LIKE_THE_PAPER, "servo of law (4)", output / "identification.png"
    )
    say("226 voltage logs of an MX-64")
    servo = load_servo("mx64")
    fit, found, train, held_out = _identification_claims(
        servo, "MX-64 of M6 with (4)", output / "identification_mx64.png"
    )
    claims += found
    say("the same with M5")
    better, found = _load_dependent(fit, servo, train, held_out)
    claims += found
    robot = leg()
    law = FeedForwardLaw.from_dynaban(cast("DynabanModel", fit.model))
    claims += _kick_claims(robot, law, FeedForwardLaw.from_servo(better), output, say)
    say("streams that end")
    claims += _cut_claims(robot, law, output)
    say("2R arm")
    claims += _arm_claims(arm(), output)
    return [*claims, _speed_claim(robot, law)]


def _identification_claims(
    truth: ServoModel | DynabanModel, name: str, picture: Path
) -> tuple[VoltageFit, list[Claim], list[VoltageLog], list[VoltageLog]]:
    logs = record_virtual(truth, SUPPLY)
    train, held_out = split_logs(logs[::_EVERY])
    fit = identify_voltage_model(train, held_out, tune_by_hand(logs), generations=_GENERATIONS)
    save_figure(
        plot_voltage_fit(fit, held_out, f"Open-loop voltage logs, {name}: {len(held_out)} held out"), picture
    )
    has_papers_law = isinstance(truth, DynabanModel)
    least = 56.0 if has_papers_law else 1.0
    ratios = (
        ("logs of the fit", fit.start_train_error / fit.train_error),
        ("held-out logs", fit.start_held_out_error / fit.held_out_error),
    )
    claims = [
        Claim(
            claim=f"4, {name}: error by hand / CMA-ES, {where}",
            paper=56.0 if has_papers_law else None,
            ours=ratio,
            holds=ratio >= least,
        )
        for where, ratio in ratios
    ]
    claims.append(
        Claim(
            claim=f"4, {name}: RMS position error, held-out logs",
            paper=None,
            ours=1e3 * fit.held_out_error,
            unit="mrad",
            holds=fit.held_out_error < fit.start_held_out_error,
        )
    )
    return fit, claims, train, held_out


def _load_dependent(
    fit: VoltageFit, servo: ServoModel, train: list[VoltageLog], held_out: list[VoltageLog]
) -> tuple[ServoModel, list[Claim]]:
    """Fit M5, from the result with (4) on, to some of the same logs."""
    begin = extended(cast("DynabanModel", fit.model), servo, "m5")
    better = identify_voltage_model(train[::_FEWER], held_out, begin, restarts=2, generations=_GENERATIONS)
    ratio = fit.start_held_out_error / better.held_out_error
    claim = Claim(
        claim="4, MX-64 with M5 in place of (4): error by hand / CMA-ES, held-out logs",
        paper=56.0,
        ours=ratio,
        holds=ratio >= 56.0,
    )
    return cast("ServoModel", better.model), [claim]


def _kick_claims(
    robot: Robot, law: FeedForwardLaw, better: FeedForwardLaw, output: Path, say: Callable[[str], None]
) -> list[Claim]:
    sets = stages(robot, _ROBOTS, _REPEATS)
    count = len(robot.joints)
    say(f"{len(sets)} kicks, PID only")
    runs = {POSITION: by_position(robot, sets)}
    say(f"{len(sets)} kicks, feed-forward with law (4)")
    runs[LAW_4] = by_feed_forward(robot, sets, [law] * count)
    say(f"{_REPEATS} kicks, feed-forward with M5")
    runs[LAW_M5] = by_feed_forward(robot, sets[:_REPEATS], [better] * count)
    found = {way: figures(performed, _REPEATS) for way, performed in runs.items()}
    title = f"Kicks of {_ROBOTS} legs with motor constants off by up to 10 %, {_REPEATS} each"
    save_figure(
        plot_delays(
            robot.joints,
            {way: each.delay for way, each in found.items()},
            {way: each.deformation for way, each in found.items()},
            {way: each.error for way, each in found.items()},
            title,
        ),
        output / "figures_3_and_4.png",
    )
    shown = {way: performed[:_REPEATS] for way, performed in runs.items()}
    joints = [(j, robot.joints[j]) for j in (_HIP_PITCH, _KNEE)]
    save_figure(plot_motions(shown, joints, f"One leg, {_REPEATS} kicks"), output / "figures_2_and_5.png")
    return [
        *_table(found[POSITION], found[LAW_4]),
        *_better_law_claims(found[LAW_4], found[LAW_M5]),
    ]


def _table(before: Figures, after: Figures) -> list[Claim]:
    """Return the figures of section 6; ours hold where they are at least as good with feed-forward."""

    def row(
        what: str, unit: str, scale: float, old: tuple[float, float], new: tuple[float, float]
    ) -> list[Claim]:
        return [
            Claim(
                claim=f"6, {what}, PID only",
                paper=old[0],
                ours=scale * old[1],
                unit=unit,
                holds=abs(old[1]) > abs(new[1]),
            ),
            Claim(
                claim=f"6, {what}, feed-forward",
                paper=new[0],
                ours=scale * new[1],
                unit=unit,
                holds=round(abs(scale * new[1])) <= abs(new[0]) if unit == "ms" else scale * new[1] <= new[0],
            ),
        ]

    def mean(values: Figures) -> tuple[float, float, float, float]:
        return (
            float(values.delay.mean()),
            float(values.delay[:, _KNEE].mean()),
            float(values.place_delay.mean()),
            float(values.deformation.mean()),
        )

    old, new = mean(before), mean(after)
    ratio = float(before.place_deformation.mean() / after.place_deformation.mean())
    worst = float(np.max(np.abs(after.delay)))
    return [
        *row("mean delay", "ms", 1e3, (91.0, old[0]), (23.0, new[0])),
        *row("delay of the knee", "ms", 1e3, (86.0, old[1]), (-8.0, new[1])),
        Claim(
            claim="6, delay of the foot, PID only",
            paper=80.0,
            ours=1e3 * old[2],
            unit="ms",
            holds=old[2] > new[2],
        ),
        Claim(
            claim="6, delay of the foot, feed-forward (paper: in steps of 5 ms)",
            paper=0.0,
            ours=1e3 * new[2],
            unit="ms",
            holds=abs(new[2]) <= _PAPERS_STEP,
        ),
        *row("mean deformation", "°", np.degrees(1.0), (0.95, old[3]), (0.74, new[3])),
        Claim(
            claim="6, deformation of the foot's way, PID only / feed-forward",
            paper=0.57 / 0.39,
            ours=ratio,
            holds=ratio > 1.0,
        ),
        Claim(
            claim="6, largest delay of any joint in any kick, feed-forward",
            paper=None,
            ours=1e3 * worst,
            unit="ms",
            holds=worst < float(np.min(before.delay)),
        ),
        Claim(
            claim=f"6, spread of the delay over {_REPEATS} kicks, feed-forward"
            f" (PID only: {1e3 * before.spread(before.delay):.1f} ms)",
            paper=None,
            ours=1e3 * after.spread(after.delay),
            unit="ms",
            holds=after.spread(after.delay) < _PAPERS_STEP,
        ),
        Claim(
            claim=f"6, spread of the deformation over {_REPEATS} kicks, PID only / feed-forward",
            paper="1 (leg that swings) to 3 (that stands)",
            ours=before.spread(before.deformation) / after.spread(after.deformation),
            holds=before.spread(before.deformation) > after.spread(after.deformation),
        ),
    ]


def _better_law_claims(law_4: Figures, m5: Figures) -> list[Claim]:
    same = slice(0, len(m5.delay))
    before, after = float(law_4.deformation[same].mean()), float(m5.deformation.mean())
    return [
        Claim(
            claim="M5 in place of (4): mean delay",
            paper=None,
            ours=1e3 * float(m5.delay.mean()),
            unit="ms",
            holds=abs(float(m5.delay.mean())) <= 5e-3,
        ),
        Claim(
            claim=f"M5 in place of (4): mean deformation ({np.degrees(before):.2f}° with (4))",
            paper=None,
            ours=np.degrees(after),
            unit="°",
            holds=after < before,
        ),
    ]


def _cut_claims(robot: Robot, law: FeedForwardLaw, output: Path) -> list[Claim]:
    """End the stream after every piece of the kick."""
    stage, timing = stages(robot, 1, 1)[0]
    count = int(np.ceil(robot.duration / 0.15))
    span = robot.duration / count
    runs: dict[float, Performance] = {}
    for index in range(1, count, _CUT_EVERY):
        end = index * span
        runs[end] = perform_by_feed_forward(
            stage,
            robot.motion,
            robot.duration,
            [law] * len(robot.joints),
            timing=timing,
            nominal_supply=SUPPLY,
            cut=end - 0.5 * span,
        )
    save_figure(plot_cuts(runs, _KNEE, robot.joints[_KNEE]), output / "stream_ends.png")
    beyond, speed = 0.0, 0.0
    for each in runs.values():
        low, high = each.goal.min(axis=0), each.goal.max(axis=0)
        beyond = max(beyond, float(np.max(np.maximum(each.position - high, low - each.position))))
        last = each.position[-100:]
        speed = max(speed, float(np.max(np.ptp(last, axis=0))))
    return [
        Claim(
            claim=f"stream cut after each of {len(runs)} pieces: farthest beyond the kick's range",
            paper=None,
            ours=np.degrees(beyond),
            unit="°",
            holds=beyond < np.radians(15.0),
        ),
        Claim(
            claim="stream cut: largest motion in the last 0.1 s",
            paper=None,
            ours=np.degrees(speed),
            unit="°",
            holds=speed < np.radians(1.0),
        ),
    ]


def _arm_claims(robot: Robot, output: Path) -> list[Claim]:
    sets = stages(robot, 1, _REPEATS)
    runs = {
        POSITION: by_position(robot, sets),
        LAW_M6: by_feed_forward(robot, sets, [FeedForwardLaw.from_servo(servo) for servo in robot.servos]),
    }
    joints = list(enumerate(robot.joints))
    save_figure(plot_motions(runs, joints, f"2R arm, {_REPEATS} throws"), output / "arm.png")
    before, after = (figures(runs[way], _REPEATS) for way in (POSITION, LAW_M6))
    return [
        Claim(
            claim="2R arm: mean delay, PID only",
            paper=None,
            ours=1e3 * float(before.delay.mean()),
            unit="ms",
            holds=bool(before.delay.mean() > 0.0),
        ),
        Claim(
            claim="2R arm: mean delay, feed-forward with M6",
            paper=None,
            ours=1e3 * float(after.delay.mean()),
            unit="ms",
            holds=abs(float(after.delay.mean())) <= 23e-3,
        ),
        Claim(
            claim="2R arm: deformation of the tip's way, PID only / feed-forward",
            paper=None,
            ours=float(before.place_deformation.mean() / after.place_deformation.mean()),
            holds=bool(before.place_deformation.mean() > after.place_deformation.mean()),
        ),
    ]


def _speed_claim(robot: Robot, law: FeedForwardLaw) -> Claim:
    """Time what the host computes per cycle; the least of several stretches, since others compute too."""
    joints = len(robot.joints)
    wide = np.full(joints, np.pi)
    firmware = cast("VoltageFirmware", robot.servos[0].firmware)
    limits = Limits(low=-wide, high=wide, speed=3.0 * wide, torque=2.0 * wide)
    controller = FeedForwardController(
        PieceBuffer(np.zeros(joints), limits, HandOver()), [law] * joints, firmware
    )
    seconds = []
    for _ in range(4):
        start = time.perf_counter()
        for cycle in range(_CYCLES // 4):
            controller.duty(2.5e-3 * cycle, np.zeros(joints), SUPPLY, 2.5e-3)
        seconds.append((time.perf_counter() - start) / (_CYCLES // 4))
    return Claim(
        claim="host's computation per cycle, 6 joints (400 Hz leaves 2500 µs, bus included)",
        paper=None,
        ours=1e6 * min(seconds),
        unit="µs",
        holds=min(seconds) < 1e-3,
    )
