# SPDX-License-Identifier: Apache-2.0
"""Whether the servo on the bench is the one that the session is written for, and can hold its gains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from bam_bench.msg import ServoConfiguration

from bam_core.errors import BamError, Conflict, OutOfRange
from bam_core.servo.model import load_servo, servo_names
from bam_ros.dynamixel.control_table import CONTROL_TABLES
from bam_ros.recorder.session import Session

T = TypeVar("T")


def require_same_servo(session: Session, configuration: ServoConfiguration) -> None:
    """Compare the session's servo and id with what the driver has found.

    A servo that is no library name, such as a YAML file of one's own, is compared by its firmware. What the
    driver does not know is not compared.

    Raises:
        Conflict: they differ; a bag would be wrong about its servo.
    """
    joint = session.joint
    index = list(configuration.name).index(joint)
    servo, number = configuration.servo[index], int(configuration.id[index])
    if number >= 0 and number != session.id:
        raise Conflict(
            f"session {session.name}",
            f"id is {session.id}, but joint {joint!r} of the driver has id {number}",
            advice="correct id in the session file, or the driver's parameter ids",
        )
    wanted = session.servo.name
    if _differ(session, servo):
        raise Conflict(
            f"session {session.name}",
            f"servo is {wanted}, but the driver found {servo} as joint {joint!r}",
            advice=f"correct servo in the session file, or connect the {wanted}",
        )


def require_gains(session: Session, configuration: ServoConfiguration) -> None:
    """Compare every gain of the session with what the servo's register holds, before the first run.

    Servos without a bus or a known control table are not compared: their drivers know better.

    Raises:
        OutOfRange: a gain is out of range or no whole number; its run could never be recorded.
    """
    index = list(configuration.name).index(session.joint)
    bad, expected = refused_gains(configuration, index, session.gains, otherwise=session.servo.name)
    if bad:
        raise OutOfRange(
            f"session {session.name}: gains",
            bad,
            expected,
            printed=", ".join(f"{kp:g}" for kp in bad),
            advice="correct gains in the session file",
        )


def refused_gains(
    configuration: ServoConfiguration,
    index: int,
    gains: Sequence[float],
    *,
    register: str = "position_p_gain",
    otherwise: str = "",
) -> tuple[list[float], str]:
    """Return the gains that a servo's register does not hold, and what it holds, in words.

    Args:
        found: by the driver.
        index: of the servo in it.
        gains: firmware units.
        register: of the control table that holds them.
        otherwise: name of the servo where the driver does not know it.
    """
    names = (configuration.servo[index], otherwise)
    table = next((CONTROL_TABLES[name] for name in names if name in CONTROL_TABLES), None)
    if table is None or register not in table or configuration.id[index] < 0:
        return [], ""
    row = table[register]
    bad = [gain for gain in gains if not (row.low <= gain <= row.high and gain == round(gain))]
    return bad, f"whole numbers, {row.low} to {row.high} for {table.title}"


def require_modelled_law(session: Session, configuration: ServoConfiguration) -> None:
    """Refuse a servo whose settings change its control law in a way that no model here has.

    Raises:
        BamError: what would be identified from its bags is another law.
    """
    unmodelled = unmodelled_law(configuration, session.joint)
    if unmodelled:
        raise BamError(f"{unmodelled}, then record").within(f"session {session.name}")


def unmodelled_law(configuration: ServoConfiguration, joint: str) -> str:
    """Return which settings of a joint's servo change its control law beyond any model; empty: none."""
    return _entry(configuration.unmodelled, configuration, joint) or ""


def demand_limit(configuration: ServoConfiguration | None, joint: str) -> float:
    """Return the largest duty, or current in A, that a joint's servo may apply; infinite: nobody knows."""
    limit = None if configuration is None else _entry(configuration.demand_limit, configuration, joint)
    return math.inf if limit is None else float(limit)


def _entry(values: Sequence[T], configuration: ServoConfiguration, joint: str) -> T | None:
    """Return a joint's value; None where a driver of an older version does not have it."""
    index = list(configuration.name).index(joint)
    return values[index] if index < len(values) else None


def _differ(session: Session, reported: str) -> bool:
    library = servo_names()
    if reported not in library or reported == session.servo.name:
        return False
    if session.servo.name in library:
        return True
    return load_servo(reported).firmware.name != session.servo.firmware.name
