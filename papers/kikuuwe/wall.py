# SPDX-License-Identifier: Apache-2.0
"""Kikuuwe's section 6.2: a robot pushes a wall and is pushed by it, for several stiffnesses of the wall."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from papers.claim import UNEXPECTED, Claim, Kind, claim
from papers.kikuuwe.examples import ELBOW_IN, TIMESTEP, WALL_STIFFNESS, WallRun, run_wall
from papers.redone import Exhibit

EQUAL_SIDES = ((0.1, 0.1), (0.6, 0.6), (1.1, 1.1))
"""γ_v of fig. 11."""
MIXED_SIDES = ((0.1, 1.1), (1.1, 0.1))
"""γ_v of fig. 12."""
STIFFNESSES = (3e3, WALL_STIFFNESS, 3e4, 1e5)
"""N/m; the paper does not give the wall's."""
NEARER = (4e3, 5e3, 7e3, 1.5e4, 2e4)
"""N/m; between those of STIFFNESSES, to tell from where to where the paper's statements hold together."""

STATEMENTS = 6
"""Of `wall_claims`, with one wall."""

Walls = Mapping[tuple[float, float], WallRun]

_JOINTS = ("shoulder", "elbow")
_PUSH = 500.0  # N, of section 6.2
_MOVED = 0.01  # rad; the wall advances by 0.25 m against a hand 1.4 m away, 0.2 rad of one joint
_ADVANCED = 1e-3  # rad; 500 N press the hand 5 mm into the stiffest wall, 4 mrad of one joint
_STUCK_REASON = "the implicit step (69) holds a joint at rest exactly"
TABLE = "section 6.2 by the wall's stiffness"
_OPEN = (
    "The paper does not give the wall's stiffness; with the elbow in and 10 kN/m all of these statements"
    " hold: not decided"
)


def all_walls(
    stiffness: float, say: Callable[[str], None], *, start: tuple[float, float] = ELBOW_IN
) -> dict[tuple[float, float], WallRun]:
    """Simulate section 6.2 with all five γ_v, by γ_v.

    Args:
        stiffness: of the wall, N/m.
        say: told what is simulated.
        start: ELBOW_IN or ELBOW_OUT.
    """
    walls = {}
    side = "elbow in" if start == ELBOW_IN else "elbow out"
    for sides in (*EQUAL_SIDES, *MIXED_SIDES):
        say(f"section 6.2, {stiffness / 1e3:g} kN/m, {side}, γ_v = [{sides[0]:g}, {sides[1]:g}]")
        walls[sides] = run_wall(sides, stiffness=stiffness, start=start)
    return walls


def wall_claims(walls: Walls, case: str, *, elsewhere: bool = False) -> list[Claim]:
    """Return the six statements of section 6.2.

    Args:
        walls: by γ_v.
        case: setting of the wall, in words.
        elsewhere: whether they hold with another setting, so that what does not hold here is not decided.
    """
    also = f". {_OPEN}" if elsewhere else ""
    alone = _OPEN if elsewhere else UNEXPECTED
    forces = [float(-walls[sides].force[_at(1.0) : _at(2.0)].mean()) for sides in EQUAL_SIDES]
    locked = walls[1.1, 1.1]
    held = float(-locked.force[_at(2.49)])
    gap = float(locked.wall[-1] - locked.hand[-1, 0])
    advanced = float(np.ptp(locked.joints[_at(0.5) : _at(1.0)], axis=0).max())
    depths = [_depth(walls[sides]) for sides in EQUAL_SIDES]
    turned = [float(_moved(walls[sides]).max()) for sides in EQUAL_SIDES]
    kind: Kind = "construction"
    return [
        claim(
            kind,
            f"6.2{case}, mean f_x for 1 to 2 s, γ_v = 0.1, 0.6, 1.1",
            "larger with larger γ_v",
            ", ".join(f"{force:.0f}" for force in forces),
            forces[0] < forces[1] < forces[2],
            "the paper's words: each larger than the one before",
            "N",
            undecided=elsewhere,
            reason=f"when the wall sets out, the hands are {_list(depths)} m in it, and then it turns joints"
            f" by {_list(turned)} rad at most: so soft a wall does not move the robot with γ_v = 0.6 either,"
            f" which is deeper in it than that with 1.1{also}",
        ),
        claim(
            kind,
            f"6.2{case}, γ_v = 1.1: joints moved by the wall",
            "not moved (0)",
            turned[2],
            turned[2] == 0.0 < held and advanced > _ADVANCED,
            f"{_STUCK_REASON}; before, its drive moves it, by more than {_ADVANCED:g} rad ({advanced:.2g}),"
            " and it is pressed on",
            "rad",
            undecided=elsewhere,
            reason=alone,
        ),
        claim(
            kind,
            f"6.2{case}, γ_v = 1.1: f_x after the robot stops pushing",
            "high",
            held,
            held > 2.0 * _PUSH and advanced > _ADVANCED,
            "a robot without friction presses with the 500 N of its drive, and with none once that is off;"
            " 'high' is read as twice the drive, of a robot that its drive has moved, for into one that never"
            " moves the wall is driven",
            "N",
            undecided=elsewhere,
            reason=alone,
        ),
        claim(
            kind,
            f"6.2{case}, γ_v = 1.1: gap to the wall after pulling",
            "pulled apart (> 0)",
            gap,
            gap > 0.0 and held > 0.0,
            "the hand has left the wall, on which it pressed until it was pulled",
            "m",
            undecided=elsewhere,
            reason=f"the wall presses on the locked robot with {held / 1e3:.1f} kN, and a pull of 500 N does"
            f" not overcome what friction that grows with this load holds{also}",
        ),
        *_mixed_claims(walls, case, elsewhere=elsewhere),
    ]


def well_posed_check(walls: Walls, case: str) -> Claim:
    """Check the condition (57) along the motions, of which section 6.2 does not speak; see `wall_claims`."""
    gain = max(wall.gain for wall in walls.values())
    swept = max(float(np.ptp(wall.joints, axis=0).max()) for wall in walls.values())
    return claim(
        "construction",
        f"6.2{case}, largest σ_max(P)",
        None,
        gain,
        0.0 < gain < 1.0 and swept > _MOVED,
        f"below 1, the paper's condition (57), in all postures of the motions, which turn a joint by"
        f" {swept:.2g} rad",
    )


def stiffness_exhibit(walls: Mapping[float, Walls]) -> Exhibit:
    """Return which of the six statements hold by the wall's stiffness in N/m; the elbow in."""
    rows, borne_out = [], []
    for stiffness in sorted(walls):
        claims = wall_claims(walls[stiffness], "")
        failed = [claim.claim.removeprefix("6.2, ") for claim in claims if not claim.holds]
        rows.append((f"{stiffness / 1e3:g}", f"{len(claims) - len(failed)}", "; ".join(failed) or "-"))
        if not failed:
            borne_out.append(stiffness / 1e3)
    range_words = f"{min(borne_out):g} to {max(borne_out):g} kN/m" if borne_out else "none"
    return Exhibit(
        name="section 6.2, stiffness of the wall",
        subject="which of the paper's statements hold with which wall",
        remark="not given by the paper, and not to be read off: the text that this was made from has figs. 11"
        " and 12 as captions alone, without a curve or an axis. The paper's statements hold together with a"
        f" wall of, among those tried: {range_words}; the elbow in",
        table=(("stiffness [kN/m]", f"statements that hold, of {STATEMENTS}", "which do not"), *rows),
    )


def _mixed_claims(walls: Walls, case: str, *, elsewhere: bool = False) -> list[Claim]:
    """Return what is said of robots of which one joint locks itself; arguments as of `wall_claims`.

    Both joints are one statement: what never moves would bear out one half of it.
    """
    also = f". {_OPEN}" if elsewhere else ""
    claims = []
    for sides in MIXED_SIDES:
        moved, pace = _moved(walls[sides]), _acceleration(walls[sides])
        locks = int(sides[1] > 1.0)
        free = 1 - locks
        claims.append(
            claim(
                "construction",
                f"6.2{case}, γ_v = [{sides[0]:g}, {sides[1]:g}]: {_JOINTS[free]} and {_JOINTS[locks]} moved"
                " by the wall",
                "moved, fixed (0)",
                f"{moved[free]:.3g}, {moved[locks]:.3g}",
                bool(moved[locks] == 0.0 and moved[free] > _MOVED),
                f"{_STUCK_REASON}; moved is more than {_MOVED:g} rad: the wall's advance turns one joint by"
                " about 0.2 rad",
                "rad",
                undecided=elsewhere,
                reason=f"the {_JOINTS[free]} gives way by {moved[free]:.2f} rad and is accelerated by up to"
                f" {pace[free]:.0f} rad/s², which turns the {_JOINTS[locks]} by {moved[locks]:.3f} rad once"
                f" the wall's force has little leverage on it{also}",
            )
        )
    return claims


def coulomb_wall_claim(locked: WallRun) -> Claim:
    """Look for a load-independent friction with which the robot does what it does at γ_v = 1.1.

    Args:
        locked: that robot; without its features it would be nothing that another one has not all of them.
    """
    best, most = 0.0, -1
    for coulomb in (0.0, 200.0, 400.0, 600.0, 800.0, 1000.0, 1500.0, 2000.0, 3000.0):
        done = _features(run_wall((0.0, 0.0), friction=coulomb))
        if done > most:
            best, most = coulomb, done
    asymmetric = _features(locked)
    return claim(
        "synthetic",
        "6.2, of three features, those of the robot with γ_v = 1.1, and most of load-independent friction to"
        f" 3000 N·m per joint (at {best:g} N·m)",
        "3, not all: cannot be produced",
        f"{asymmetric}, {most}",
        asymmetric == 3 and most < 3,
        "the features are: moved by the drive of 500 N, not moved by the wall and pressed on it with more"
        " than twice that as the drive is off, pulled off by 500 N",
        contradicts=most == 3,
    )


def _features(run: WallRun) -> int:
    """Count what a robot has of the three features of γ_v = 1.1."""
    return sum(
        (
            bool(np.max(np.ptp(run.joints[_at(0.5) : _at(1.0)], axis=0)) > _MOVED),
            bool(_moved(run).max() == 0.0 and -run.force[_at(2.49)] > 2.0 * _PUSH),
            bool(run.hand[-1, 0] < run.wall[-1]),
        )
    )


def _moved(run: WallRun) -> np.ndarray:
    """Return by how much the advancing wall turns each joint, (2,) rad."""
    return np.asarray(np.ptp(run.joints[_at(1.0) : _at(1.5)], axis=0))


def _acceleration(run: WallRun) -> np.ndarray:
    """Return the largest accelerations meanwhile, (2,) rad/s²."""
    twice = np.diff(run.joints[_at(1.0) : _at(1.5)], n=2, axis=0)
    return np.asarray(np.max(np.abs(twice), axis=0) / TIMESTEP**2)


def _depth(run: WallRun) -> float:
    """Return how far the hand is in the wall when that sets out, m."""
    return float(run.hand[_at(1.0), 0] - run.wall[_at(1.0)])


def _list(values: list[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def _at(time: float) -> int:
    return round(1000.0 * time) - 1
