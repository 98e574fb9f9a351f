# SPDX-License-Identifier: Apache-2.0
"""The motion with the most information about a robot's servos per second, within limits.

Pieces of motion are drawn, simulated, and refused where they break a limit. Information is the Fisher
information, from the derivatives that a fit would use, beside the same priors and with the same errors. It is
worth the decrease of log det of the servos' covariance, whatever the other unknowns are (D_s-optimal design).
Pieces are chosen one after the other, each by what it adds to those before it per second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import BadData, OutOfRange
from bam_core.robot.fit import information
from bam_core.robot.motion import RobotMotion
from bam_core.robot.motion_candidates import RATE, SHRINKING, Piece, draw_pieces
from bam_core.robot.motion_check import MotionCheck, Peaks
from bam_core.robot.motion_limits import JointSpace, MotionLimits
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.robot.unknowns import Unknowns
from bam_core.servo.gains import Gain
from bam_core.simulation.threads import available_processors

DESIGN_STEP = 2e-3
"""s, of the simulations: information needs less accuracy than a fit."""

_SETTLING, _LEAD = 0.5, 0.5  # s in the start posture; s of known runs before the interval that counts
_LEAST_GAIN = 0.02  # bit/s; pieces that tell less are not worth their time


@dataclass(frozen=True, kw_only=True, eq=False)
class DesignTask:
    """For what a motion is wanted.

    Attributes:
        bench: that simulates.
        check: finds what breaks a limit.
        unknowns: of which the servos' are to be determined.
        space: where goals may lie.
        limits: to keep.
        kp: position gain of all servos, firmware units.
        supply_voltage: V; None: the servos' nominal one.
        seconds: that the motion may take.
        pieces: how many are drawn.
        seed: of these.
        known: runs that are recorded already.
    """

    bench: RobotBench
    check: MotionCheck
    unknowns: Unknowns
    space: JointSpace
    limits: MotionLimits
    kp: Gain
    supply_voltage: float | None = None
    seconds: float = 60.0
    pieces: int = 60
    seed: int = 0
    known: Sequence[RobotRun] = ()

    def motion(self, pieces: Sequence[Piece]) -> RobotMotion:
        """Return pieces one after the other."""
        goals = np.vstack([*(piece.goal_position for piece in pieces), self.space.start[None]])
        return RobotMotion(
            joints=self.space.joints, time=np.arange(len(goals)) / RATE, goal_position=goals, kp=self.kp
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class MotionDesign:
    """A motion and what is expected of it.

    Attributes:
        motion: to play.
        pieces: of which it is made, in this order.
        unknowns: that the covariances are about.
        before: (unknowns, unknowns) covariance before it, in squared standard deviations of the priors.
        after: (unknowns, unknowns) and after it.
        peaks: how far it goes, over all simulations.
        refused: pieces that break a limit at any size -> why, with how many of them.
    """

    motion: RobotMotion
    pieces: tuple[Piece, ...]
    unknowns: Unknowns
    before: Array
    after: Array
    peaks: Peaks
    refused: Mapping[str, int]

    @property
    def bits(self) -> float:
        """Information about the servos: one bit halves the volume of what is still possible."""
        wanted = servo_unknowns(self.unknowns)
        before, after = (
            np.linalg.slogdet(covariance[np.ix_(wanted, wanted)])[1]
            for covariance in (self.before, self.after)
        )
        return float(0.5 * (before - after) / math.log(2.0))


def servo_unknowns(unknowns: Unknowns) -> NDArray[np.intp]:
    """Return which unknowns are parameters of servos."""
    return np.array(
        [
            number
            for number, name in enumerate(unknowns.names)
            if any(name.startswith(f"{servo} ") for servo in unknowns.servos)
        ],
        dtype=np.intp,
    )


def design_motion(task: DesignTask, progress: Callable[[str], None] = lambda words: None) -> MotionDesign:
    """Draw pieces and choose the most informative.

    Args:
        task: robot, limits and time.
        progress: called for each piece with a line.

    Raises:
        BamError: no piece keeps to the limits, or fits into the time.
    """
    bench = task.bench.coarser(max(task.bench.step, DESIGN_STEP), settling=_SETTLING, lead=_LEAD)
    begin = np.eye(len(task.unknowns.names))
    refused: dict[str, int] = {}
    with ThreadPoolExecutor(available_processors(), thread_name_prefix="design") as pool:
        for run in task.known:
            progress(f"information of {run.name}")
            begin = begin + information(bench, run, run_joints(run, task.space.joints), task.unknowns, pool)
        candidates = []
        drawn_pieces = draw_pieces(
            task.space,
            task.limits.speed,
            task.pieces,
            task.seed,
            lambda goals: task.check.is_clear(task.space.joints, goals),
        )
        short = [piece for piece in drawn_pieces if piece.duration <= task.seconds]
        if not short:
            raise OutOfRange(
                "motion",
                task.seconds,
                f"at least {min(piece.duration for piece in drawn_pieces):.1f} s, the shortest piece",
                printed=f"{task.seconds:g} s",
                advice="give it more time",
            )
        for number, drawn in enumerate(short, 1):
            progress(f"piece {number} of {len(short)}")
            piece, reason = _within(task, drawn)
            if piece is None:
                refused[reason] = refused.get(reason, 0) + 1
                continue
            run = task.motion([piece]).as_run("piece", task.supply_voltage)
            candidates.append((piece, information(bench, run, task.space.joints, task.unknowns, pool)))
    if not candidates:
        most = max(refused, key=lambda reason: refused[reason])
        raise BadData(
            "motions",
            f"all of {len(short)} break a limit ({most})",
            advice="give more room, or other limits",
        )
    chosen, known = _chosen(task, begin, candidates)
    pieces, peaks = _checked(task, chosen)
    if len(pieces) < len(chosen):
        kept = [candidate for candidate in candidates if any(candidate[0] is piece for piece in pieces)]
        known = begin + np.sum([gained for _, gained in kept], axis=0)
    return MotionDesign(
        motion=task.motion(pieces),
        pieces=tuple(pieces),
        unknowns=task.unknowns,
        before=np.asarray(np.linalg.inv(begin)),
        after=np.asarray(np.linalg.inv(known)),
        peaks=peaks,
        refused=refused,
    )


def run_joints(run: RobotRun, joints: Sequence[str]) -> list[str]:
    """Return which joints a run has of some."""
    return [joint for joint in joints if joint in run.joints]


def _within(task: DesignTask, piece: Piece) -> tuple[Piece | None, str]:
    """Return the largest size of a piece that keeps to the limits; else None, and what broke them."""
    peaks = Peaks()
    for share in SHRINKING:
        smaller = piece.smaller(share)
        peaks = task.check.peaks(task.motion([smaller]))
        if not peaks.problem:
            return smaller, ""
    return None, peaks.problem


def _chosen(
    task: DesignTask, begin: Array, candidates: Sequence[tuple[Piece, Array]]
) -> tuple[list[Piece], Array]:
    """Return the most informative pieces per second, best first, and all that is known then."""
    wanted = servo_unknowns(task.unknowns)
    rest = np.setdiff1d(np.arange(len(task.unknowns.names)), wanted)
    left, chosen, known, seconds = list(candidates), [], begin, 0.0
    while fits := [candidate for candidate in left if seconds + candidate[0].duration <= task.seconds]:
        now = _information(known, rest)
        gains = [(_information(known + fit, rest) - now) / piece.duration for piece, fit in fits]
        best = int(np.argmax(gains))
        if gains[best] < _LEAST_GAIN:
            break
        piece, gained = fits[best]
        left = [candidate for candidate in left if candidate[0] is not piece]
        chosen.append(piece)
        known = known + gained
        seconds += piece.duration
    if not chosen:
        raise BadData("motions", "add no information", advice="give more room, or other limits")
    return chosen, known


def _information(known: Array, rest: NDArray[np.intp]) -> float:
    """Return minus log2 of the volume of what is possible for the servos: what the rest is, is left open."""
    whole = np.linalg.slogdet(known)[1]
    nuisance = np.linalg.slogdet(known[np.ix_(rest, rest)])[1] if len(rest) else 0.0
    return float(0.5 * (whole - nuisance) / math.log(2.0))


def _checked(task: DesignTask, pieces: Sequence[Piece]) -> tuple[list[Piece], Peaks]:
    """Simulate the whole motion; leave pieces out, the last first, while it breaks a limit."""
    left = list(pieces)
    while left:
        peaks = task.check.peaks(task.motion(left), share=1.0)
        if not peaks.problem:
            return left, peaks
        left.pop()
    raise BadData("motion", f"breaks a limit as a whole: {peaks.problem}", advice="try another --seed")
