# SPDX-License-Identifier: Apache-2.0
"""Kikuuwe's gears: laws, lemmas and remarks, both examples of section 6, figures 5 to 9, 11 and 12."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bam_core.gears import Asymmetry, leadscrew, spur_gear, worm_gear
from bam_core.plots.save import save_figure
from papers.claim import Claim
from papers.kikuuwe.elastic_teeth import run_elastic_rod
from papers.kikuuwe.examples import ELBOW_OUT, WALL_STIFFNESS, run_rod
from papers.kikuuwe.exhibits import EXHIBITS
from papers.kikuuwe.figure_8 import edge_of, figure_8_problem, vertices_of
from papers.kikuuwe.internal_force_plots import plot_internal_force, plot_projection
from papers.kikuuwe.laws import COUNTS, LawCounts, energy_check, law_claims
from papers.kikuuwe.mechanisms import mechanism_claims
from papers.kikuuwe.motion_plots import plot_rod, plot_stiffness, plot_wall
from papers.kikuuwe.remarks import remark_claims
from papers.kikuuwe.rod import ROD_SIDES, coulomb_rod_claim, rod_claims, well_posed_claim
from papers.kikuuwe.statics_plots import plot_drivability, plot_static_sets
from papers.kikuuwe.wall import (
    EQUAL_SIDES,
    MIXED_SIDES,
    NEARER,
    STATEMENTS,
    STIFFNESSES,
    TABLE,
    Walls,
    all_walls,
    coulomb_wall_claim,
    stiffness_exhibit,
    wall_claims,
    well_posed_check,
)
from papers.redone import Redone, Task


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How often the claims that need no example are tried.

    Attributes:
        mechanisms: gears made of shafts and screws.
        laws: of equations and lemmas.
        remark_gears: gears of the remarks.
        projections: of axproj.
        problems: of several joints.
        enumerated: of these, whose solutions are all listed.
        fixed: of these, by steps of a fixed point.
    """

    mechanisms: int = 2000
    laws: LawCounts = COUNTS
    remark_gears: int = 2000
    projections: int = 400
    problems: int = 3000
    enumerated: int = 200
    fixed: int = 300


_COUNTS = Counts()


def run(task: Task, counts: Counts = _COUNTS) -> Redone:
    """Redo the paper; see `papers.paper`."""
    task.say("equations, lemmas, mechanisms")
    claims = mechanism_claims(counts.mechanisms) + law_claims(counts.laws)
    task.say(f"remarks, axproj on {counts.problems} problems")
    of_remarks, checks = remark_claims(
        gears=counts.remark_gears,
        projections=counts.projections,
        problems=counts.problems,
        enumerated=counts.enumerated,
        fixed=counts.fixed,
    )
    claims += of_remarks
    checks.append(energy_check(counts.laws.steps))
    task.say("figures 5 to 8")
    _draw_statics(task.output)
    _draw_solutions(task.output)
    task.say("section 6.1")
    rods = [run_rod(side) for side in ROD_SIDES]
    elastic = [run_elastic_rod(side) for side in ROD_SIDES]
    save_figure(plot_rod(rods), task.output / "figure_9.png")
    title = "The same rod behind gears with elastic teeth, backlash and presliding"
    save_figure(plot_rod(elastic, title), task.output / "figure_9_elastic_teeth.png")
    claims += [well_posed_claim(rods), *rod_claims(rods)]
    claims += rod_claims(elastic, ", elastic teeth", rigid=False)
    claims.append(coulomb_rod_claim(rods[-1]))
    walls = {stiffness: all_walls(stiffness, task.say) for stiffness in STIFFNESSES}
    _draw_walls(walls, task.output)
    elsewhere = all(claim.holds for claim in wall_claims(walls[WALL_STIFFNESS], ""))
    for stiffness, runs in walls.items():
        case = f", {stiffness / 1e3:g} kN/m"
        claims += [replace(claim, table=TABLE) for claim in wall_claims(runs, case, elsewhere=elsewhere)]
        checks.append(well_posed_check(runs, case))
    nearer = {stiffness: all_walls(stiffness, task.say) for stiffness in NEARER}
    out = all_walls(WALL_STIFFNESS, task.say, start=ELBOW_OUT)
    case = f", {WALL_STIFFNESS / 1e3:g} kN/m, elbow out"
    claims += [replace(claim, table=TABLE) for claim in wall_claims(out, case, elsewhere=elsewhere)]
    checks.append(well_posed_check(out, case))
    task.say("section 6.2, load-independent friction")
    claims.append(coulomb_wall_claim(walls[WALL_STIFFNESS][1.1, 1.1]))
    return Redone(
        claims=tuple(claims),
        exhibits=(*EXHIBITS, stiffness_exhibit(walls | nearer)),
        checks=tuple(checks),
        notes=(statements_note(claims),),
    )


class StatementCount(NamedTuple):
    """How many claims there are by construction, how many repeat a statement, and the distinct statements."""

    built: int
    repeated: int
    distinct: int


def count_statements(claims: Sequence[Claim]) -> StatementCount:
    """Count the statements behind claims by construction: one that is repeated counts once."""
    built = [claim for claim in claims if claim.kind == "construction"]
    repeated = sum(claim.table == TABLE for claim in built)
    return StatementCount(len(built), repeated, len(built) - repeated + STATEMENTS)


def statements_note(claims: Sequence[Claim]) -> str:
    """Return how many statements the claims are, in words."""
    built, repeated, distinct = count_statements(claims)
    return (
        f"*Statements*: {repeated} of the {built} claims by construction are {STATEMENTS}"
        f" statements of section 6.2, with {len(STIFFNESSES)} stiffnesses of the wall each, and once more"
        " with the elbow out, for the paper gives neither; distinct statements by construction:"
        f" {distinct}. The other {len(claims) - built} claims are of section 6.1, with elastic teeth,"
        " and of what friction without load cannot do"
    )


def _draw_statics(output: Path) -> None:
    def gear(input_side: float, output_side: float) -> Asymmetry:
        return Asymmetry(input_side=input_side, output_side=output_side)

    screw = leadscrew(lead_angle=np.radians(5.0), radius=4e-3, friction=0.12)
    worm = worm_gear(
        lead_angle=np.radians(11.0),
        pressure_angle=np.radians(20.0),
        worm_radius=0.01,
        gear_radius=0.04,
        friction=0.14,
    )
    spurs = spur_gear(
        input_radius=6e-3,
        output_radius=0.03,
        pressure_angle=np.radians(20.0),
        friction=0.1,
        contact=(-3e-3, 3e-3),
    )
    marked = [("leadscrew, 5°", screw), ("worm, 11°", worm), ("spur gears", spurs)]
    save_figure(
        plot_drivability([(name, geared.asymmetry) for name, geared in marked]), output / "figure_5.png"
    )
    sets = [gear(0.1, 0.3), gear(0.2, 0.95), gear(0.2, 1.05), gear(-0.2, 0.7), gear(1.3, 0.4), gear(1.3, 1.6)]
    save_figure(plot_static_sets(sets), output / "figure_6.png")


def _draw_solutions(output: Path) -> None:
    save_figure(plot_internal_force(), output / "figure_7.png")
    A, phi, P = figure_8_problem()
    along = np.linspace(-1.0, 1.0, 41)
    flat, back = np.ones_like(along), along[::-1]
    border = np.concatenate(
        [np.column_stack(pair) for pair in ((flat, back), (back, -flat), (-flat, along), (along, flat))]
    )
    figure = plot_projection((A, phi, P), edge_of(A, phi, P, border), vertices_of(A, phi, P))
    save_figure(figure, output / "figure_8.png")


def _draw_walls(walls: Mapping[float, Walls], output: Path) -> None:
    drawn = walls[WALL_STIFFNESS]
    title = "The wall and a robot push each other: the more asymmetry, the less the robot gives way"
    save_figure(plot_wall([drawn[sides] for sides in EQUAL_SIDES], title), output / "figure_11.png")
    title = "Of two joints only the one that does not lock itself gives way"
    save_figure(plot_wall([drawn[sides] for sides in MIXED_SIDES], title), output / "figure_12.png")
    locked = {stiffness: runs[1.1, 1.1] for stiffness, runs in walls.items()}
    save_figure(plot_stiffness(locked), output / "wall_stiffness.png")
