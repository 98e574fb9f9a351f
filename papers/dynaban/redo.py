# SPDX-License-Identifier: Apache-2.0
"""Dynaban's feed-forward: the identification of section 4 and the kick of sections 5 and 6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from bam_core.feedforward import FeedForwardLaw
from bam_core.plots.save import save_figure
from bam_core.servo.model import ServoModel, load_servo
from papers.claim import Claim, Kind, claim
from papers.dynaban import recordings
from papers.dynaban.causes import causes_exhibit, find_causes
from papers.dynaban.claims import kick_claims, own_parameters_claims
from papers.dynaban.kicks import (
    REACH,
    SUPPLY,
    Experiment,
    Figures,
    Reality,
    by_feed_forward,
    by_position,
    figures,
)
from papers.dynaban.motor_model import DynabanModel
from papers.dynaban.performance import Performance
from papers.dynaban.plots import (
    LAW_4,
    OWN,
    POSITION,
    plot_cartesian,
    plot_deformations,
    plot_delays,
    plot_friction,
    plot_joint,
    plot_voltage_fit,
)
from papers.dynaban.repeatability import find_splits, split_claim, splits_exhibit
from papers.dynaban.stand import FLAT, JOINTS, RIGHT_KNEE
from papers.dynaban.sticking import LEFT_OUT, limit_words, sticking_words, told_joints, undecided_joints
from papers.dynaban.verdicts import ROBOTS_NOTE
from papers.dynaban.voltage_fit import VoltageFit, identify_voltage_model, split_logs, tune_by_hand
from papers.dynaban.voltage_logs import record_virtual
from papers.redone import Exhibit, Redone, Task

LIKE_THE_PAPER = DynabanModel(
    torque_constant=1.6,
    resistance=2.3,
    viscous=0.03,
    static=0.22,
    coulomb=0.12,
    stribeck_velocity=0.6,
    armature=0.0123,
)
"""An MX-64 whose friction is just what eq. (4) says; of the size of the library's."""

_OWN_EVERY, _OWN_GENERATIONS = 7, 80  # logs and generations that tell a servo from another of its kind
_FOUND_AGAIN = 0.05  # relative; what a fit to rounded positions may err by
_PROMPT = 2e-3  # s; see its claim
_EXACT = float(np.radians(0.2))


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much is computed; less in tests.

    Attributes:
        experiment: the kicks.
        generations: of each descent of CMA-ES on simulated logs.
        every: which of the 226 simulated logs are used: each, every second one, ...
        recordings: of the recordings.
    """

    experiment: Experiment = field(default_factory=Experiment)
    generations: int = 120
    every: int = 2
    recordings: recordings.Settings = field(default_factory=recordings.Settings)


def run(task: Task) -> Redone:
    """Redo the paper."""
    return redo(task, Effort())


def redo(task: Task, effort: Effort) -> Redone:
    """Redo the paper with a given effort."""
    checks = _checks(task, effort)
    claims: list[Claim] = []
    task.say("voltage logs of a simulated MX-64")
    fit = bench_fit(load_servo("mx64"), effort)
    law = cast("DynabanModel", fit.model)
    exhibits = [_friction_law(task, fit), _simulated_bench(task, fit, effort)]
    folder = task.recordings(recordings.DEVICE)
    if folder is None:
        exhibits += recordings.missing_exhibits()
    else:
        of_recordings, pages = recordings.redo_recordings(task, folder, effort.recordings)
        claims += of_recordings
        exhibits += pages
    runs, compared = perform_kicks(task, effort.experiment, law)
    told = told_joints(compared[POSITION], compared[LAW_4])
    causes = find_causes(task, effort.experiment, law, told)
    claims += kick_claims(compared[POSITION], compared[LAW_4], causes)
    splits = find_splits(task, effort.experiment, law, (compared[POSITION], compared[LAW_4]))
    claims.append(split_claim(splits))
    claims += own_parameters_claims(compared[LAW_4], compared[OWN])
    exhibits += _kick_exhibits(task, effort.experiment, runs, compared)
    exhibits += [causes_exhibit(task, effort.experiment, causes), splits_exhibit(splits)]
    return Redone(
        claims=tuple(claims),
        exhibits=(*exhibits, *_not_redone()),
        checks=tuple(checks),
        notes=(ROBOTS_NOTE,),
    )


def bench_fit(servo: ServoModel | DynabanModel, effort: Effort) -> VoltageFit:
    """Return law (4) as it is found from simulated logs of a servo; a quarter of them is held out."""
    logs = record_virtual(servo, SUPPLY)
    train, held_out = split_logs(logs[:: effort.every])
    return identify_voltage_model(train, held_out, tune_by_hand(logs), generations=effort.generations)


def perform_kicks(
    task: Task, experiment: Experiment, law: DynabanModel, ways: Sequence[str] = (POSITION, LAW_4, OWN)
) -> tuple[dict[str, list[Performance]], dict[str, Figures]]:
    """Return the runs of the kick by way of control, and what they came to.

    Each servo's own parameters are found for the first robot alone.
    """
    kicks = experiment.kicks()
    runs: dict[str, list[Performance]] = {}
    for way in ways:
        task.say(f"kicks, {way}")
        if way == POSITION:
            runs[way] = by_position(kicks, experiment.reality)
        elif way == LAW_4:
            laws = [law.law] * len(JOINTS)
            runs[way] = by_feed_forward(kicks, experiment.reality, [laws] * len(kicks))
        else:
            some = kicks[: experiment.repeats]
            laws = [_own_law(servo, law) for servo in some[0].servos]
            runs[way] = by_feed_forward(some, experiment.reality, [laws] * len(some))
    return runs, {way: figures(performed, experiment.repeats) for way, performed in runs.items()}


def _own_law(servo: ServoModel, begin: DynabanModel) -> FeedForwardLaw:
    """Return law (4) as it is found on the bench from logs of this servo."""
    logs = record_virtual(servo, SUPPLY)[::_OWN_EVERY]
    fit = identify_voltage_model(logs, logs, begin, generations=_OWN_GENERATIONS, restarts=0)
    return cast("DynabanModel", fit.model).law


def _checks(task: Task, effort: Effort) -> list[Claim]:
    """Check the code on servos that are just as the host believes, of which the paper has no figures."""
    task.say("voltage logs of a servo of law (4)")
    model = cast("DynabanModel", bench_fit(LIKE_THE_PAPER, replace(effort, every=2 * effort.every)).model)
    true = LIKE_THE_PAPER
    off = max(
        abs(model.torque_constant / model.resistance / (true.torque_constant / true.resistance) - 1.0),
        abs(model.armature / true.armature - 1.0),
        abs(model.static / true.static - 1.0),
    )
    task.say("a kick of servos of law (4)")
    worst, bent = _exact_kick()
    kind: Kind = "construction"
    return [
        claim(
            kind,
            "4, servo of law (4): largest error of k_e/r, I_0 and τ_s from its own logs",
            None,
            off,
            off <= _FOUND_AGAIN,
            "5 %: positions are rounded to encoder counts; data come from the fitted family",
        ),
        claim(
            kind,
            "(1, 2), servos of law (4), all known: largest delay of any joint, feed-forward",
            None,
            1e3 * worst,
            worst <= _PROMPT,
            "a period of the firmware's loop and a step of the search for delays, 1 ms each: the law inverts"
            " what it drives",
            "ms",
        ),
        claim(
            kind,
            "(1, 2), servos of law (4), all known: largest deformation of any joint, feed-forward",
            None,
            np.degrees(bent),
            bent <= _EXACT,
            "0.2°, about two counts of the encoder: the law inverts what it drives",
            "°",
        ),
    ]


def _exact_kick() -> tuple[float, float]:
    """Return the largest delay, s, and deformation, rad, where nothing differs from what the host knows."""
    servo = replace(
        load_servo("mx64"), motor=LIKE_THE_PAPER.motor, friction_model="m2", friction=LIKE_THE_PAPER.friction
    )
    reality = Reality(
        friction=1.0,
        resistance=1.0,
        spread=0.0,
        mass=0.0,
        play=0.0,
        supply=0.0,
        warmth=0.0,
        start=0.0,
        transport=0.0,
    )
    kicks = Experiment(reality=reality, robots=1, repeats=1, servo=servo).kicks()
    kicks = [replace(kick, holding=kick.ideal_holding()) for kick in kicks]
    law = LIKE_THE_PAPER.law
    exact = figures(by_feed_forward(kicks, reality, [[law] * len(JOINTS)]), 1)
    moving = [j for j in range(len(JOINTS)) if j not in FLAT]
    return float(np.max(np.abs(exact.delay[:, moving]))), float(np.max(exact.deformation))


def _friction_law(task: Task, fit: VoltageFit) -> Exhibit:
    """Draw fig. 1 with the simulated servo's parameters; with recordings it is drawn anew with theirs."""
    start, law = (cast("DynabanModel", model) for model in (fit.start, fit.model))
    save_figure(
        plot_friction(
            {"tuned by hand (datasheet)": start, "CMA-ES": law},
            {},
            "Friction of law (4) with δ = 1, of a simulated MX-64",
        ),
        task.output / "figure_1.png",
    )
    return Exhibit(
        name="fig. 1",
        subject="classic friction model",
        remark="with the parameters that section 4 finds; the paper's is a sketch without numbers. Where"
        " there are recordings, with the parameters of these, beside the friction of steady motion. Motion"
        " does not tell viscous friction from back-EMF: the fit shares the slope over speed between k_vis"
        " and k_e",
        pictures=("figure_1.png",),
    )


def _simulated_bench(task: Task, fit: VoltageFit, effort: Effort) -> Exhibit:
    """Draw logs of the servo that the law of the kicks is found from."""
    _, held_out = split_logs(record_virtual(load_servo("mx64"), SUPPLY)[:: effort.every])
    shown = [next(log for log in held_out if log.name.startswith(kind)) for kind in ("step", "saw", "abrupt")]
    title = f"Simulated MX-64 in open loop, {len(held_out)} logs held out"
    save_figure(plot_voltage_fit(fit, shown, held_out, title), task.output / "section_4_simulated.png")
    fitted, start = 1e3 * fit.held_out_error, 1e3 * fit.start_held_out_error
    return Exhibit(
        name="section 4, simulated",
        subject="law (4) of a simulated MX-64, which the kicks are fed forward with",
        remark="the servo has M6, which law (4) cannot say: mean RMS error over 1 s of held-out logs"
        f" {fitted:.1f} mrad, of the datasheet's motor {start:.0f} mrad",
        pictures=("section_4_simulated.png",),
    )


def _kick_exhibits(
    task: Task,
    experiment: Experiment,
    runs: Mapping[str, Sequence[Performance]],
    compared: Mapping[str, Figures],
) -> list[Exhibit]:
    robots, repeats = experiment.robots, experiment.repeats
    flat = dict.fromkeys(FLAT, "flat")
    undecided = undecided_joints(compared[POSITION], compared[LAW_4])
    first = {way: runs[way][:repeats] for way in (POSITION, LAW_4)}  # the paper draws these two
    all_kicks = f"{robots} simulated robots, {repeats} kicks each"
    pictures = {
        "figure_2.png": plot_joint(first, RIGHT_KNEE, f"Right knee, {repeats} kicks of a simulated robot"),
        "figure_3.png": plot_delays(
            JOINTS,
            {way: of_way.delay for way, of_way in compared.items()},
            flat | dict.fromkeys(undecided, "not\ndecided"),
            REACH,
            f"Delay, {all_kicks}; pale joints count in no mean",
        ),
        "figure_4.png": plot_deformations(
            JOINTS,
            {way: of_way.error for way, of_way in compared.items()},
            {way: of_way.deformation for way, of_way in compared.items()},
            flat,
            f"RMS error, {all_kicks}; pale joints count in no mean",
        ),
        "figure_5.png": plot_cartesian(
            first, f"Kicking foot and trunk in space, {repeats} kicks of a simulated robot"
        ),
    }
    for name, figure in pictures.items():
        save_figure(figure, task.output / name)
    setting = (
        "on simulated humanoids of MX-64 (M6) that differ from the host's model: friction ×1.5 and resistance"
        " ×1.1 in all servos, 10 % in each, masses 5 %, play of 20', supply, stiction; the supporting foot is"
        " fixed to the ground, the trunk moves. The authors' motion is not published; this one is of its kind"
    )
    late = [f"{way}: {limit_words(compared[way], undecided)}" for way in (POSITION, LAW_4)]
    why = [sticking_words(joint, experiment) for joint in undecided]
    rolled = ", ".join(_rolled(way, runs[way]) for way in (POSITION, LAW_4))
    remarks = {
        2: setting,
        3: ". ".join(("as fig. 2", *((LEFT_OUT, *late) if undecided else ()), *why)),
        5: f"as fig. 2. The trunk's roll ends off its goal, for the supporting leg's hip roll sticks, see"
        f" fig. 3: {rolled}, 16th to 84th percentile of all kicks",
    }
    subjects = (
        "average trajectory of the right knee",
        "delay of each joint and way of control",
        "RMS error of each joint and way of control, with and without shift",
        "average trajectories of trunk orientation and kicking foot",
    )
    return [
        Exhibit(
            name=f"fig. {number}",
            subject=subject,
            remark=remarks.get(number, "as fig. 2"),
            missing="kicks of the real robot: neither its recordings nor the motion are published",
            pictures=(f"figure_{number}.png",),
        )
        for number, subject in enumerate(subjects, 2)
    ]


def _rolled(way: str, performed: Sequence[Performance]) -> str:
    """Say how far the trunk is rolled at the end."""
    low, high = np.percentile(np.degrees([run.tilt[-1, 0] for run in performed]), (16, 84))
    return f"{way} {low:.1f} to {high:.1f}°"


def _not_redone() -> list[Exhibit]:
    return [
        Exhibit(
            name="section 2, current sensing",
            subject="noise and asymmetry of the measured current",
            redone=False,
            remark="needs an opened MX-64 with its shunt and an external meter; no recording is published",
        ),
        Exhibit(
            name="section 6, kicks of Sigmaban",
            subject="recorded kicks, 10 of each way of control",
            redone=False,
            remark="needs the robot, or its recordings and kick, which are not published; simulated instead",
        ),
        Exhibit(
            name="section 6, differences between servos",
            subject="motor characteristics that differ by up to 10 %",
            redone=False,
            remark="needs several servos; the published recordings are of one",
        ),
    ]
