# SPDX-License-Identifier: Apache-2.0
"""BAM (Duclusaud et al.) redone.

On real data: an XL330 and an STS3215 on pendulum benches (section V-B, fig. 5) and a humanoid's squats with
parameters as published (the counterpart of fig. 7).

On synthetic data, because the recordings of the paper's own servos are not published: they move as servos
outside of M1 to M6 (`papers.bam.truth`), and are recorded with table I (figs. 3, 4, 5) and in 2R arms (figs.
1, 7).
"""

from __future__ import annotations

from dataclasses import replace

from matplotlib.figure import Figure

from bam_core.plots.diagram import plot_diagram
from bam_core.plots.save import save_figure
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import load_servo
from papers.bam.arm_errors import DIFFER_WORDS, ArmErrors, arm_claims, arm_runs
from papers.bam.arm_paths import PATHS
from papers.bam.arm_plots import plot_arm_errors, plot_arm_run, plot_paths
from papers.bam.claims import FACTORS
from papers.bam.diagrams import diagram_claims, measured_borders, plot_measured
from papers.bam.exhibits import synthetic_exhibits
from papers.bam.fits import Repeats, best_repeats, error_table
from papers.bam.identified import identified_mx64
from papers.bam.measured import plot_motion_points
from papers.bam.model_plots import plot_model_errors
from papers.bam.real import real_claims, real_exhibits, sts3215_found, xl330_found
from papers.bam.relations import STEP_NOTE, means
from papers.bam.spread import held_with_either, spread_exhibit, with_more_spread
from papers.bam.squats import plot_squats, simulated_squats, squat_claims, squat_exhibit
from papers.bam.synthetic import (
    WHOLE,
    Campaign,
    agreement_claims,
    delay_check,
    error_rows,
    errors_of,
    identified,
    identified_delay,
    inertia_check,
    model_claims,
    true_servo,
)
from papers.bam.two_link import ARMS
from papers.claim import Claim
from papers.redone import Exhibit, Redone, Task

_ARMS = (("dynamixel_2r", "m4"), ("erob_2r", "m6"))
"""Arm, and the model that the paper finds best on it."""

AUTHORS_NOTE = (
    "*The authors*: claims on real data that name the authors or their program compare with errors that their"
    " program has on the same recordings, which were published with them. The paper does not speak of these"
    " devices"
)

_MEASURED = ("mx106", "erob80_100")
"""Servos of fig. 3."""

_FIGURE_2 = 5.0
"""Times K_c, to which the axes of fig. 2 go: the area of rest, ±K_c, is then two fifths of them wide."""


def run(task: Task) -> Redone:
    """Redo the paper; see `reproduce`."""
    squats = _squats(task)
    real = _real(task)
    synthetic = _synthetic(task, WHOLE)
    parts = (synthetic, real, squats)
    return Redone(
        claims=tuple(claim for part in parts for claim in part.claims),
        exhibits=tuple(exhibit for part in parts for exhibit in part.exhibits),
        checks=synthetic.checks,
        notes=(STEP_NOTE, *((AUTHORS_NOTE,) if real.claims or squats.claims else ())),
    )


def _squats(task: Task) -> Redone:
    """Redo the humanoid's squats, where there are recordings of it."""
    folder = task.recordings("sigmaban")
    if folder is None:
        return Redone(claims=(), exhibits=(squat_exhibit(None),))
    open_loop = task.recordings("dynaban_mx64")
    identified = identified_mx64(open_loop, task.say) if open_loop is not None else None
    squats = simulated_squats(folder, task.say, identified=identified)
    _save(task, plot_squats(squats), "humanoid_squats.png")
    return Redone(claims=tuple(squat_claims(squats)), exhibits=(squat_exhibit(squats),))


def _real(task: Task) -> Redone:
    """Redo sections V-B and VI-A with real servos, where there are recordings of them."""
    claims: list[Claim] = []
    exhibits: list[Exhibit] = []
    for name, find in (("xl330", xl330_found), ("sts3215", sts3215_found)):
        servo = find(task)
        exhibits += real_exhibits(name, servo)
        if servo is not None:
            claims += real_claims(servo)
            figure = plot_model_errors({name: means(servo.test)}, {name: servo.title})
            _save(task, figure, f"fig5_{name}.png")
            _save(task, plot_motion_points({load_servo(name).title: servo.motion}), f"fig3_{name}.png")
    return Redone(claims=tuple(claims), exhibits=tuple(exhibits))


def _synthetic(task: Task, campaign: Campaign) -> Redone:
    """Redo figs. 1 to 7 and table I with synthetic servos."""
    truths = {name: true_servo(name) for name in FACTORS}
    titles = {name: load_servo(name).title for name in truths}
    usual: dict[str, Repeats] = {}
    spread: dict[str, Repeats] = {}
    claims: list[Claim] = []
    checks: list[Claim] = []
    lost: list[str] = []
    for name, truth in truths.items():
        usual[name] = identified(name, truth, task.say, campaign)
        spread[name] = identified(name, with_more_spread(truth), task.say, replace(campaign, repeats=1))
        ours, others = (list(model_claims(name, fits[name])) for fits in (usual, spread))
        lost += [one.claim for one, other in zip(ours, others, strict=True) if one.holds and not other.holds]
        claims += [*held_with_either(ours, others), *agreement_claims(name, usual[name])]
        checks += [
            inertia_check(name, usual[name]),
            delay_check(name, identified_delay(truth, task.say, campaign)),
        ]
    averages = {name: means(errors_of(repeats)) for name, repeats in usual.items()}
    _save(task, plot_model_errors(averages, titles), "fig5.png")

    task.say("measuring drive and backdrive torques")
    fitted = {
        name: {model: one.servo for model, one in best_repeats(repeats).items()}
        for name, repeats in usual.items()
    }
    measured = {name: measured_borders(truths[name]) for name in _MEASURED}
    claims += diagram_claims(truths, measured, fitted)
    coulomb = fitted["erob80_100"]["m1"]
    near = _FIGURE_2 * coulomb.friction.coulomb
    _save(task, plot_diagram([(titles["erob80_100"], coulomb)], max_torque=near), "fig2.png")
    _save(task, plot_measured(measured, fitted, titles), "fig3.png")
    drawn = [(titles["erob80_100"], fitted["erob80_100"][model]) for model in FRICTION_MODELS]
    _save(task, plot_diagram(drawn), "fig4.png")

    _save(task, plot_paths([ARMS[name] for name, _ in _ARMS], tuple(PATHS)), "fig6.png")
    moved: dict[str, ArmErrors] = {}
    for name, best in _ARMS:
        arm = ARMS[name]
        task.say(f"moving {arm.title}")
        first, second = (truths[servo] for servo in arm.servos)
        runs = arm_runs(arm, (first, second), [usual[servo] for servo in arm.servos])
        claims += [*arm_claims(arm, best, runs.as_benched), *arm_claims(arm, best, runs.errors, differ=True)]
        moved[f"{arm.title}, joints as on the bench"] = runs.as_benched
        moved[f"{arm.title}, joints with {DIFFER_WORDS}"] = runs.errors
        if name == "dynamixel_2r":
            shown = {model: runs.simulated[model] for model in ("m1", "m4")}
            _save(task, plot_arm_run(arm, runs.true, shown), "fig1.png")
    _save(task, plot_arm_errors(moved), "fig7.png")
    exhibits = [*synthetic_exhibits(error_table(error_rows(usual))), spread_exhibit(usual, spread, lost)]
    return Redone(claims=tuple(claims), exhibits=tuple(exhibits), checks=tuple(checks))


def _save(task: Task, figure: Figure, name: str) -> None:
    save_figure(figure, task.output / name)
