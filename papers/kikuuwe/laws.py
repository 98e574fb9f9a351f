# SPDX-License-Identifier: Apache-2.0
"""The equations and lemmas of Kikuuwe that need no example: by how much they miss on many random gears."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.gears import (
    Asymmetry,
    Gear,
    GearedJoints,
    friction_torque,
    internal_forces,
    largest_gain,
)
from papers.claim import Claim, claim
from papers.kikuuwe.benchmark import random_problem

_ROUNDING = 1e-9
_DRIVE = 40.0  # N·m, of section 6.1


@dataclass(frozen=True, kw_only=True)
class LawCounts:
    """How often each law is tried.

    Attributes:
        gears: of the laws of one joint.
        coupled: sets of joints, for lemmas 3 and 4.
        steps: of joints, for their energy.
        rest_steps: of gears that stay at rest.
    """

    gears: int = 20_000
    coupled: int = 300
    steps: int = 2000
    rest_steps: int = 100_000


COUNTS = LawCounts()


def law_claims(counts: LawCounts = COUNTS) -> list[Claim]:
    """Check equations 24-38 and lemmas 1-4, and static friction."""
    random = np.random.default_rng(0)
    return [
        *_static_claims(random, counts.gears),
        *_dynamic_claims(random, counts.gears),
        *_joint_claims(random, counts.coupled),
        *_rest_claims(random, counts.rest_steps),
    ]


def _miss(name: str, miss: float, unit: str = "") -> Claim:
    """Claim that something holds but for rounding."""
    return claim(
        "construction", name, "0", miss, miss < _ROUNDING, f"an identity: below {_ROUNDING:g}, rounding", unit
    )


def _none(name: str, count: int, of: int) -> Claim:
    """Claim that something never happens."""
    return claim("construction", f"{name}, of {of}", 0, count, count == 0, "a theorem has no exceptions")


def _static_claims(random: np.random.Generator, gears: int) -> list[Claim]:
    worst, disagreements, locked, unequal = 0.0, 0, 0, 0
    for _ in range(gears):
        forward, backward = random.uniform(0.01, 0.99), random.uniform(-1.0, 0.99)
        gear = Asymmetry.from_efficiencies(forward=forward, backward=backward)
        back = (gear.forward_efficiency, gear.backward_efficiency)
        worst = max(worst, abs(back[0] - forward), abs(back[1] - backward))
        low, high = sorted(random.uniform(0.01, 0.99, 2))
        usual = Asymmetry.from_efficiencies(forward=high, backward=low)
        unequal += not abs(usual.input_side) < abs(usual.output_side) < 1.0
        other = random.uniform(-2.0, 2.0)
        gear = Asymmetry(input_side=max(random.uniform(-2.0, 2.0), -other), output_side=other)
        drive, load = random.normal(size=2)
        u, v = gear.input_side, gear.output_side
        product = ((1 + v) * load - (1 - u) * drive) * ((1 + u) * drive - (1 - v) * load)
        slopes = (load - gear.forward_efficiency * drive) * (drive - gear.backward_efficiency * load)
        holds = bool(gear.holds(drive, load))
        if abs(product) > _ROUNDING:
            disagreements += holds != (product > 0.0)
            disagreements += holds != ((1 + u) * (1 + v) * slopes > 0.0)
        locked += bool(gear.holds(0.0, load)) == gear.is_backdrivable
        locked += bool(gear.holds(drive, 0.0)) == gear.is_forward_drivable
    return [
        _miss("(26), (27): efficiencies there and back, largest miss", worst),
        _none("(23), (24), (25): gears and torques about which they disagree", disagreements, gears),
        _none("fig. 5: gears that a torque alone moves against their class", locked, gears),
        _none("4.2: gears with 0 < η_b < η_f < 1 and not |γ_u| < |γ_v| < 1", unequal, gears),
    ]


def _dynamic_claims(random: np.random.Generator, gears: int) -> list[Claim]:
    lemma_1, inclusion, apparent, falls = 0.0, 0.0, 0.0, 0
    for _ in range(gears):
        drive, feedback = random.normal(0.0, 10.0), random.uniform(-3.0, 3.0)
        forces = internal_forces(drive, feedback)
        if abs(feedback) < 1.0 and not len(forces):
            lemma_1 = math.inf  # there is one
        for force in forces:
            lemma_1 = max(lemma_1, abs(force - feedback * abs(force) - drive) / max(1.0, abs(force)))
        v = random.uniform(-0.9, 0.9)
        gear = Gear(
            asymmetry=Asymmetry(input_side=random.uniform(max(-v, -0.9), 0.9), output_side=v),
            input_inertia=math.exp(random.normal()),
            output_inertia=math.exp(random.normal()),
        )
        torque, load = random.normal(0.0, 10.0, 2)
        side = float(random.choice([-1.0, 1.0]))
        phi = gear.drive(torque, load)
        friction = friction_torque(side, phi, gear.feedback)
        acceleration = (torque - load - friction) / gear.inertia
        u = gear.asymmetry.input_side
        hidden = (u * gear.input_inertia - v * gear.output_inertia) * acceleration
        inclusion = max(inclusion, abs(abs(u * torque + v * load - hidden) * side - friction))
        apparent = max(apparent, abs(acceleration - _apparent(gear, torque, load, side * phi > 0.0)))
        sides = np.linspace(-1.0, 1.0, 9)
        row = [friction_torque(float(s), phi, gear.feedback) for s in sides]
        falls += any(after < before for before, after in itertools.pairwise(row)) or row[-1] <= row[0]
    return [
        _miss("lemma 1, (31): largest miss of λ - ρ|λ| = φ, |ρ| < 3", lemma_1),
        _miss("(14), (32)-(34): largest miss of the inclusion", inclusion, "N·m"),
        _miss("(38): largest miss of apparent inertias", apparent, "rad/s²"),
        _none("lemma 2: gears whose Φ falls somewhere, or does not rise from s = -1 to 1", falls, gears),
    ]


def _apparent(gear: Gear, drive: float, load: float, forwards: bool) -> float:
    """Return the acceleration by (38)."""
    m, M = gear.input_inertia, gear.output_inertia
    if forwards:
        share = gear.asymmetry.forward_efficiency
        return (share * drive - load) / (share * m + M)
    share = gear.asymmetry.backward_efficiency
    return (drive / share - load) / (m / share + M)


def _joint_claims(random: np.random.Generator, coupled: int) -> list[Claim]:
    difference, bound, jump, residual = 0.0, 0.0, 0.0, 0.0
    for _ in range(coupled):
        count = int(random.integers(1, 13))
        P = random.normal(size=(count, count))
        P *= random.uniform(0.1, 0.95) / np.linalg.norm(P, 2)
        phi, s = random.normal(0.0, 10.0, count), random.uniform(-1.0, 1.0, count)
        moved = np.clip(s + random.uniform(-1e-4, 1e-4, count), -1.0, 1.0)
        sigma, size = largest_gain(P), float(np.linalg.norm(phi))
        one, other = _internal(phi, P, s, phi), _internal(phi, P, s, random.normal(0.0, 100.0, count))
        difference = max(difference, float(np.max(np.abs(one - other))))
        residual = max(residual, float(np.max(np.abs(one - P @ (s * np.abs(one)) - phi))))
        bound = max(bound, float(np.linalg.norm(one)) * (1.0 - sigma) / size)
        limit = sigma * size / (1.0 - sigma) ** 2 * float(np.linalg.norm(moved - s))
        jump = max(jump, float(np.linalg.norm(_internal(phi, P, moved, phi) - one)) / limit)
    solved = f"of λ that miss {{}} by {residual:.1g} N·m, which is rounding: zeros would be in every bound"
    return [
        claim(
            "construction",
            "lemma 3: largest distance of two λ",
            "0",
            difference,
            max(difference, residual) < _ROUNDING,
            f"an identity: below {_ROUNDING:g}, rounding; {solved.format('λ = φ + P·(s|λ|)')}",
            "N·m",
        ),
        claim(
            "construction",
            "lemma 4: largest ‖λ‖ of its bound (81), largest change of its bound (85)",
            "<= 1, both",
            f"{bound:.4f}, {jump:.4f}",
            max(bound, jump) <= 1.0 and jump > 0.0 and residual < _ROUNDING,
            f"the lemma's bounds, {solved.format('the equation of lemma 3')}",
        ),
    ]


def energy_check(steps: int = COUNTS.steps) -> Claim:
    """Check that friction takes energy in (69), of which the paper does not speak."""
    random = np.random.default_rng(3)
    gained, moving = -math.inf, 0
    for index in range(steps):
        problem = random_problem(random, 1 + index % 12)
        made = problem.joints.step(problem.velocity, problem.drive, problem.load, problem.inertia, 1e-3)
        total = np.diag(problem.joints.input_inertia) + problem.inertia
        before = problem.velocity @ total @ problem.velocity
        work = 1e-3 * made.velocity @ (problem.drive - problem.load)
        gained = max(gained, float(0.5 * (made.velocity @ total @ made.velocity - before) - work))
        moving += bool(np.any(made.velocity != 0.0) and np.any(made.velocity != problem.velocity))
    return claim(
        "construction",
        f"(69): most energy that friction adds in a step, of {steps} steps",
        None,
        gained,
        gained <= 1e-12 and moving > 0.5 * steps,
        f"friction takes energy; 1e-12 J is rounding. In more than half of the steps, {moving}, some joint"
        " moves with a velocity that changes: at rest nothing is taken",
        "J",
    )


def _internal(phi: Array, P: Array, s: Array, start: Array) -> Array:
    """Return λ of a friction state, by remark 3."""
    for _ in range(1500):
        start = phi + P @ (s * np.abs(start))
    return start


def _rest_claims(random: np.random.Generator, steps: int) -> list[Claim]:
    """Loads alone leave gears that lock themselves at rest; drives move them."""
    gear = Gear(asymmetry=Asymmetry(input_side=0.2, output_side=1.05), input_inertia=1.0, output_inertia=1.0)
    speed = fastest = 0.0
    for load in random.normal(0.0, 400.0, steps):
        speed = gear.step(speed, 0.0, float(load), 1e-3).velocity
        fastest = max(fastest, abs(speed))
    driven = abs(gear.step(0.0, _DRIVE, 0.0, 1e-3).velocity)
    joints = GearedJoints([Asymmetry(input_side=0.1, output_side=1.1)] * 2, [1.0, 1.0])
    inertia = np.array([[5.0, 2.0], [2.0, 1.0]])
    none = np.zeros(2)
    velocity, friction, fastest_joint = none, none, 0.0
    for load in random.normal(0.0, 300.0, (steps, 2)):
        made = joints.step(velocity, none, load, inertia, 1e-3, start=friction)
        velocity, friction = made.velocity, made.friction
        fastest_joint = max(fastest_joint, float(np.max(np.abs(velocity))))
    moved = np.abs(joints.step(none, np.full(2, _DRIVE), none, inertia, 1e-3).velocity)
    return [
        _rest_claim(f"(45): largest speed by loads, {steps} steps, 1 joint", fastest, driven),
        _rest_claim("(69): the same, 2 joints", fastest_joint, float(moved.max())),
    ]


def _rest_claim(name: str, fastest: float, driven: float) -> Claim:
    return claim(
        "construction",
        f"{name}; speed that one step with a drive of {_DRIVE:g} N·m brings",
        "0; moves",
        f"{fastest:g}; {driven:.3g}",
        fastest == 0.0 < driven,
        "exactly zero, as the paper says of v_k in (45), of a gear that its drive moves",
        "rad/s",
    )
