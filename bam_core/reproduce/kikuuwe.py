# SPDX-License-Identifier: Apache-2.0
"""Kikuuwe's gears: identities, lemmas and both examples of section 6, with figures 5, 6, 9, 11 and 12."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from bam_core.gears import Asymmetry, leadscrew, spur_gear, worm_gear
from bam_core.gears.benchmark import FIXED_STEP_LIMIT, MOST_JOINTS, measure_axproj, measure_fixed_steps
from bam_core.gears.examples import ELBOW_IN, ELBOW_OUT, RodRun, WallRun, run_rod, run_wall
from bam_core.gears.motion_plots import plot_rod, plot_wall
from bam_core.gears.statics_plots import plot_drivability, plot_static_sets
from bam_core.plots.save import save_figure
from bam_core.reproduce._kikuuwe_laws import law_claims
from bam_core.reproduce.claim import Claim

_ROD_SIDES = (0.2, 0.5, 0.95, 1.05)  # γ_v of fig. 9
_EQUAL_SIDES = ((0.1, 0.1), (0.6, 0.6), (1.1, 1.1))  # γ_v of fig. 11
_MIXED_SIDES = ((0.1, 1.1), (1.1, 0.1))  # γ_v of fig. 12
_JOINTS = ("shoulder", "elbow")
_PROBLEMS, _PROBLEMS_FOR_THE_PAPER = 10_000, 600
_DRIVE, _PUSH = 40.0, 500.0  # N·m and N, of sections 6.1 and 6.2


def run(output: Path, say: Callable[[str], None]) -> list[Claim]:
    """Redo the paper.

    Args:
        output: directory for the figures.
        say: told what is being done.
    """
    say("identities and lemmas")
    claims = law_claims()
    say("figures 5 and 6")
    _draw_statics(output)
    say("section 6.1")
    rods = [run_rod(side) for side in _ROD_SIDES]
    save_figure(plot_rod(rods), output / "figure_9.png")
    claims += _rod_claims(rods)
    walls: dict[tuple[float, float], WallRun] = {}
    for sides in (*_EQUAL_SIDES, *_MIXED_SIDES):
        say(f"section 6.2, γ_v = [{sides[0]:g}, {sides[1]:g}]")
        walls[sides] = run_wall(sides, start=ELBOW_IN)
    _draw_walls(walls, output)
    claims += _wall_claims(walls, "")
    say("section 6.2, elbow out")
    out = {sides: run_wall(sides, start=ELBOW_OUT) for sides in ((1.1, 1.1), *_MIXED_SIDES)}
    claims += _one_joint_claims(out, ", elbow out")
    say(f"axproj, {_PROBLEMS} problems")
    claims += _solver_claims()
    return claims


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
    save_figure(plot_drivability([(name, each.asymmetry) for name, each in marked]), output / "figure_5.png")
    sets = [gear(0.1, 0.3), gear(0.2, 0.95), gear(0.2, 1.05), gear(-0.2, 0.7), gear(1.3, 0.4), gear(1.3, 1.6)]
    save_figure(plot_static_sets(sets), output / "figure_6.png")


def _draw_walls(walls: dict[tuple[float, float], WallRun], output: Path) -> None:
    equal = [walls[sides] for sides in _EQUAL_SIDES]
    title = "The wall and a robot push each other: the more asymmetry, the less the robot gives way"
    save_figure(plot_wall(equal, title), output / "figure_11.png")
    mixed = [walls[sides] for sides in _MIXED_SIDES]
    title = "Of two joints only the one that does not lock itself gives way"
    save_figure(plot_wall(mixed, title), output / "figure_12.png")


def _at(time: float) -> int:
    return round(1000.0 * time) - 1


def _rod_claims(rods: list[RodRun]) -> list[Claim]:
    locking, nearly = rods[3], rods[2]
    largest = max(abs(rod.gear.feedback) for rod in rods)
    bounces = [_bounces(rod) for rod in rods]
    idle = slice(_at(0.9), _at(1.4) - 1)
    pushed_back = min(float(rod.position[_at(1.4)]) for rod in rods[:3])
    held = float(-locking.contact[_at(1.39)])
    creep = float(np.max(np.abs(locking.velocity[idle])))
    return [
        Claim(claim="6.1, largest |ρ̂|, well-posed", paper="< 1", ours=largest, holds=largest < 1.0),
        Claim(
            claim="6.1, bounces at γ_v = 0.2, 0.5, 0.95, 1.05",
            paper="with smaller γ_v",
            ours=", ".join(map(str, bounces)),
            holds=min(bounces[:2]) > 0 and max(bounces[2:]) == 0,
        ),
        Claim(
            claim="6.1, pushing with 40 N·m, f_v at γ_v = 0.95",
            paper="much larger than f_u",
            ours=float(-nearly.contact[_at(0.89)]),
            unit="N·m",
            holds=-nearly.contact[_at(0.89)] > 3.0 * _DRIVE,
        ),
        Claim(
            claim="6.1, the same at γ_v = 1.05",
            paper="much larger than f_u",
            ours=float(-locking.contact[_at(0.89)]),
            unit="N·m",
            holds=-locking.contact[_at(0.89)] > 3.0 * _DRIVE,
        ),
        Claim(
            claim="6.1, drive off, γ_v < 1: p at 1.4 s, least",
            paper="pushed back (> 0)",
            ours=pushed_back,
            unit="rad",
            holds=pushed_back > 0.0,
        ),
        Claim(
            claim="6.1, drive off, γ_v = 1.05: largest speed",
            paper="still stuck (0)",
            ours=creep,
            unit="rad/s",
            holds=creep == 0.0,
        ),
        Claim(
            claim="6.1, drive off, γ_v = 1.05: contact force",
            paper="still large",
            ours=held,
            unit="N·m",
            holds=held > 3.0 * _DRIVE,
        ),
        Claim(
            claim="6.1, pulled, γ_v = 1.05: p at 2 s",
            paper="detached (> 0)",
            ours=float(locking.position[-1]),
            unit="rad",
            holds=locking.position[-1] > 0.0,
        ),
    ]


def _bounces(rod: RodRun) -> int:
    """Count how often the rod leaves the spring while it is driven towards it."""
    touching = rod.position[: _at(0.9)] < 0.0
    return int(np.sum(touching[:-1] & ~touching[1:]))


def _wall_claims(walls: dict[tuple[float, float], WallRun], case: str) -> list[Claim]:
    forces = [float(-walls[sides].force[_at(1.0) : _at(2.0)].mean()) for sides in _EQUAL_SIDES]
    locked = walls[1.1, 1.1]
    held = float(-locked.force[_at(2.49)])
    gap = float(locked.wall[-1] - locked.hand[-1, 0])
    moved = float(np.max(np.ptp(locked.joints[_at(1.0) : _at(1.5)], axis=0)))
    gain = max(wall.gain for wall in walls.values())
    return [
        Claim(claim=f"6.2{case}, largest σ_max(P)", paper="< 1", ours=gain, holds=gain < 1.0),
        Claim(
            claim=f"6.2{case}, mean f_x for 1 to 2 s, γ_v = 0.1, 0.6, 1.1",
            paper="grows with γ_v",
            ours=", ".join(f"{force:.0f}" for force in forces),
            unit="N",
            holds=forces[0] < forces[1] < forces[2],
        ),
        Claim(
            claim=f"6.2{case}, γ_v = 1.1: joints moved by the wall",
            paper="not moved (0)",
            ours=moved,
            unit="rad",
            holds=moved == 0.0,
        ),
        Claim(
            claim=f"6.2{case}, γ_v = 1.1: f_x after the robot stops pushing",
            paper="high",
            ours=held,
            unit="N",
            holds=held > 2.0 * _PUSH,
        ),
        Claim(
            claim=f"6.2{case}, γ_v = 1.1: gap to the wall after pulling",
            paper="pulled apart (> 0)",
            ours=gap,
            unit="m",
            holds=gap > 0.0,
        ),
        *_one_joint_claims(walls, case),
    ]


def _one_joint_claims(walls: dict[tuple[float, float], WallRun], case: str) -> list[Claim]:
    claims = []
    for sides in _MIXED_SIDES:
        moved = np.ptp(walls[sides].joints[_at(1.0) : _at(1.5)], axis=0)
        for joint, name in enumerate(_JOINTS):
            locks = sides[joint] > 1.0
            claims.append(
                Claim(
                    claim=f"6.2{case}, γ_v = [{sides[0]:g}, {sides[1]:g}]: {name} moved by the wall",
                    paper="fixed (0)" if locks else "moved (> 0)",
                    ours=float(moved[joint]),
                    unit="rad",
                    holds=bool((moved[joint] == 0.0) == locks),
                )
            )
    return claims


def _solver_claims() -> list[Claim]:
    ours, fixed = measure_axproj(_PROBLEMS), measure_fixed_steps(_PROBLEMS_FOR_THE_PAPER)
    return [
        Claim(
            claim=f"5.3, axproj: {ours.problems} well-posed problems to {MOST_JOINTS} joints, solved",
            paper=None,
            ours=100.0 * ours.solved,
            unit="%",
            holds=ours.solved == 1.0,
        ),
        Claim(
            claim="5.3, axproj: largest residual",
            paper=None,
            ours=ours.residual,
            unit="rad/s",
            holds=ours.residual < 1e-10,
        ),
        Claim(
            claim="5.3, axproj: median iterations (paper: fixed steps)",
            paper=fixed.iterations,
            ours=ours.iterations,
            holds=ours.iterations < fixed.iterations,
        ),
        Claim(
            claim="5.3, axproj: most iterations (paper: fixed steps)",
            paper=fixed.most_iterations
            if fixed.solved == 1.0
            else f"{1.0 - fixed.solved:.1%} not in {FIXED_STEP_LIMIT}",
            ours=ours.most_iterations,
            holds=ours.most_iterations < fixed.most_iterations,
        ),
        Claim(
            claim="5.3, axproj: median time (paper: fixed steps)",
            paper=1e6 * fixed.seconds,
            ours=1e6 * ours.seconds,
            unit="µs",
            holds=ours.seconds < fixed.seconds,
        ),
    ]
