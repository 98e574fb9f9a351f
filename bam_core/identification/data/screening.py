# SPDX-License-Identifier: Apache-2.0
"""What logs must show before anything can be identified from them: a driven arm that follows its goal.

Sound numbers of a broken bench (torque off, a stuck servo, the encoder of another one) would be fitted
without complaint. Reading, validating and simulating do not ask for this.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence

import numpy as np

from bam_core.errors import BadData, BamError
from bam_core.identification.data.gravity_direction import gravity_direction
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.effects import EFFECTS
from bam_core.servo.model import ServoModel
from bam_core.text.data_findings import GravityOffZero, OffGoals, OffHoldingPosition
from bam_core.text.finding import log_findings

log = logging.getLogger(__name__)

_LIFTABLE = 20.0  # stall torques of the servo as it is known before; its arm would not leave the ground
_DRIVEN = 0.2  # rad; a goal that moves less need not move an arm with friction
_STUCK = 0.02  # of the goal's range; encoder noise is below, the weakest arm that moves at all far above
_STEP = 0.01  # s between samples that are compared with the goal
_LATEST = 0.5  # s that an arm may be late; a pendulum on a weak servo is up to half a period
_WRITTEN = 0.05  # rad; nearer to its script, a position was written and not measured,
_SCRIPTED = 5.0  # if it is so many times nearer than the goal
_TIME_FACTORS = (0.1, 10.0, 0.01, 100.0)  # s for what is not
_GOAL_MATCHES_SCRIPT = 0.01  # rad; a goal nearer to its script than this is the script
_MAX_GRAVITY_ANGLE = 0.13  # rad; beyond the zero offsets that a fit looks for
_SURE = 6.0  # standard errors; friction of one direction feigns up to 5
_GOAL_GAP = 0.1  # rad; of sound real logs 0.03 at most
_MAX_GOAL_GAP = 1.0  # rad; a weak servo with a heavy load sags by less
_OFF_GOAL = 0.03  # rad; of sound real logs 0.02 at most
_DECIDED = 0.15  # rad of standard error, below which gravity's direction is taken as known
_TURNED = 0.1  # rad; of less, friction and counts of the encoder are most
_AGAINST = 0.3  # of the motion, weighted with the duty; real runs in open loop go with it by 0.9 and more
_FOLLOWS = 0.3  # correlation at the best delay; 0.8 and more on every working bench, 0.2 for a free swing


def require_informative(servo: ServoModel, recordings: Sequence[Recording]) -> None:
    """Refuse a log from which no servo can be identified, or of another set-up than its header has.

    Args:
        servo: that is on the bench, roughly.
        recordings: each is checked for itself; those in open loop have no goal, and may rest.

    Raises:
        BadData: a load is far beyond the servo; a goal spans more than a turn; an arm never moves or does
            not follow its goal; goal and position are swapped, or gravity pulls upwards. The line begins with
            the source.
    """
    for recording in recordings:
        try:
            if recording.open_loop:
                _require_driven(recording)
                continue
            _require_liftable(servo, recording)
            _require_motion(recording)
            _require_one_turn(recording)
            _require_times(recording)
            _require_order(recording)
            _require_following(recording)
            if _require_near_goals(recording):
                _require_vertical_gravity(servo, recording)
        except BamError as error:
            raise error.within(recording.source) from None


def warn_unsuitable(servo: ServoModel, recordings: Sequence[Recording]) -> None:
    """Log a warning for each recording that `require_informative` refuses, where it is only compared with."""
    for recording in recordings:
        try:
            require_informative(servo, [recording])
        except BamError as error:
            log.warning("%s", error)


def require_torque(train: Sequence[Recording]) -> None:
    """Refuse training logs, at least one, that do not determine the motor.

    Raises:
        BadData: torque is off throughout all of them.
    """
    if not any(recording.torque_enabled.any() for recording in train):
        logs = f"{train[0].source}" if len(train) == 1 else f"{train[0].source} and {len(train) - 1} more"
        raise BadData(
            "torque_enabled",
            "torque is off throughout all training logs",
            expected="a driven motor in some",
            advice="give logs with torque on, too",
        ).within(logs)


def require_inertia(train: Sequence[Recording]) -> None:
    """Refuse training logs, at least one, that determine torques only in proportion to an unknown inertia.

    Raises:
        BadData: all are runs in open loop with nothing on the shaft.
    """
    if all(recording.open_loop and recording.bench.inertia == 0.0 for recording in train):
        raise BadData(
            "inertia",
            "is 0 in all training logs, which are runs in open loop",
            expected="a load of known inertia in some: torques follow from what they accelerate",
            advice="give such logs, too, or set inertia",
        ).within(train[0].source)


def _require_liftable(servo: ServoModel, recording: Recording) -> None:
    bench = recording.bench
    pull, stall = bench.gravity_torque, servo.stall_torque(recording.supply_voltage)
    if pull > _LIFTABLE * stall:
        raise BadData(
            "mass, length",
            f"{bench.mass:g} kg at {bench.length:g} m pull with {pull:.3g} N·m",
            expected=f"at most {_LIFTABLE:g} times the {stall:.2g} N·m at which {servo.name} stalls",
            advice="correct mass, arm_mass and length",
        )


def _require_motion(recording: Recording) -> None:
    on = recording.torque_enabled
    moved = float(np.ptp(recording.position))
    wanted = float(np.ptp(recording.goal_position[on])) if on.any() else 0.0
    if moved == 0.0:
        what = f"is {recording.position[0]:g} rad throughout"
    elif wanted > _DRIVEN and moved < _STUCK * wanted:
        what = f"moves by {moved:.2g} rad where goal_position moves by {wanted:.2g} rad"
    else:
        return
    cure = "check torque, power and encoder, and that the servo is free and the one on the bench"
    raise BadData("position", what, expected="an arm that moves", advice=f"{cure}, or leave the log out")


def _require_one_turn(recording: Recording) -> None:
    wanted = recording.goal_position[recording.torque_enabled]
    spanned = float(np.ptp(wanted)) if wanted.size else 0.0
    if spanned > 2.0 * math.pi:
        raise BadData(
            "goal_position",
            f"spans {spanned:.3g} rad",
            expected="at most a turn, 6.28, on a pendulum bench",
            advice="give radians, not degrees, or leave the log out",
        )


def _require_times(recording: Recording) -> None:
    """Compare with the script, where it is a known one: at which times did it have these goals?"""
    if recording.script not in SCRIPTS:
        return
    script = SCRIPTS[recording.script].goal_position

    def off(factor: float) -> float:
        return float(np.sqrt(np.mean((recording.goal_position - script(factor * recording.time)) ** 2)))

    given = off(1.0)
    for factor in _TIME_FACTORS:
        if given > _GOAL_MATCHES_SCRIPT and off(factor) < min(_GOAL_MATCHES_SCRIPT, 0.5 * given):
            times = f"{max(factor, 1.0 / factor):g} times too {'short' if factor > 1.0 else 'long'}"
            raise BadData(
                "timestamp",
                f"is {times} for goal_position, off {recording.script} by {given:.2g} rad",
                expected=f"seconds, at which it is off by {off(factor):.2g}",
                advice="correct the times, as with time_unit in a map",
            )


def _require_order(recording: Recording) -> None:
    """Compare with the script, where it is a known one."""
    if recording.script not in SCRIPTS:
        return
    script = SCRIPTS[recording.script].goal_position(recording.time)
    goal, position = (
        float(np.sqrt(np.mean((values - script) ** 2)))
        for values in (recording.goal_position, recording.position)
    )
    if position < _WRITTEN and goal > max(_GOAL_MATCHES_SCRIPT, _SCRIPTED * position):
        raise BadData(
            "position",
            f"is its script {recording.script} within {position:.2g} rad where goal_position is off by "
            f"{goal:.2g}",
            expected="it the other way round",
            advice="swap the two",
        )


def _require_near_goals(recording: Recording) -> bool:
    """Refuse positions that are a radian and more on one side of their goals; return whether they are not."""
    on = recording.torque_enabled
    if not on.any():
        return True
    low, high = np.percentile((recording.position - recording.goal_position)[on], [2.0, 98.0])
    gap = low if low > 0.0 else min(high, 0.0)
    if abs(gap) < _GOAL_GAP:
        return True
    where = f"is {abs(gap):.2f} rad or more {'above' if gap > 0.0 else 'below'} its goals while torque is on"
    advice = "correct the encoder's zero, or a lost turn of 2π, or leave the log out"
    if abs(gap) > _MAX_GOAL_GAP:
        raise BadData("position", where, expected="to meet them now and then", advice=advice)
    log_findings(log, [OffGoals(source=recording.source, gap=float(gap))])
    return False


def _require_vertical_gravity(servo: ServoModel, recording: Recording) -> None:
    if recording.bench.gravity_torque == 0.0:
        return
    direction = gravity_direction(servo, recording)
    if direction is None:
        return
    if direction.off_goal is not None and abs(direction.off_goal) > _OFF_GOAL:
        log_findings(log, [OffHoldingPosition(source=recording.source, offset=direction.off_goal)])
        return
    where = f"gravity pulls the arm towards {direction.angle:.2f} rad"
    if abs(direction.angle) > 0.5 * math.pi and direction.standard_error < _DECIDED:
        raise BadData(
            "position",
            where,
            expected="0, straight down",
            advice="correct the encoder's zero or the sign of both positions, or swap goal_position and "
            "position where they were mixed up",
        )
    if direction.both_ways and abs(direction.angle) > max(
        _MAX_GRAVITY_ANGLE, _SURE * direction.standard_error
    ):
        offset = EFFECTS["zero_offset"]
        finding = GravityOffZero(
            source=recording.source, angle=direction.angle, low=offset.low, high=offset.high
        )
        log_findings(log, [finding])


def _require_driven(recording: Recording) -> None:
    """Refuse an arm without gravity that moves against what drives it."""
    if recording.bench.gravity_torque != 0.0 or np.ptp(recording.position) < _TURNED:
        return
    product = recording.duty * np.gradient(recording.position, recording.time)
    share = float(np.sum(product) / np.sum(np.abs(product))) if product.any() else 0.0
    if share < -_AGAINST:
        raise BadData(
            "duty",
            f"drives against the motion ({abs(share):.0%} of it)",
            expected="with it, as nothing else drives a shaft that carries a flywheel or nothing",
            advice="correct the sign of duty or position",
        )


def _require_following(recording: Recording) -> None:
    count = int(recording.duration / _STEP) + 1
    time = recording.time[0] + _STEP * np.arange(count)
    on = np.interp(time, recording.time, recording.torque_enabled) > 0.5
    goal = np.interp(time, recording.time, recording.goal_position)
    position = np.interp(time, recording.time, recording.position)
    if on.sum() * _STEP < 2.0 * _LATEST or np.ptp(goal[on]) < _DRIVEN:
        return
    best = -1.0
    for late in range(int(_LATEST / _STEP) + 1):
        both = on[late:]
        x, y = goal[: count - late][both], position[late:][both]
        spread = float(np.std(x) * np.std(y))
        if spread > 0.0:
            best = max(best, float(np.mean((x - x.mean()) * (y - y.mean()))) / spread)
    if best < _FOLLOWS:
        raise BadData(
            "position",
            f"does not follow goal_position while torque is on (correlation {best:.2f})",
            expected=f"{_FOLLOWS:g} or more",
            advice="check power, torque, the sign of both and that the servo is the one on the bench, or "
            "leave the log out",
        )
