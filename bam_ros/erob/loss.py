# SPDX-License-Identifier: Apache-2.0
"""Why a segment is lost, in words: the interface, the line, or the slaves that are away."""

from __future__ import annotations

from collections.abc import Sequence

from bam_core.errors import BamError, Unavailable
from bam_ros.driver.servo_bus import BusGone
from bam_ros.erob.al_status import AlStatus
from bam_ros.erob.errors import OutsideOp
from bam_ros.erob.interface import is_up
from bam_ros.erob.segment import Outcome, Segment


def loss_error(
    segment: Segment, statuses: Sequence[AlStatus | None], outcome: Outcome, duration: float
) -> BamError:
    """Return why right answers stay away; `BusGone` where no slave is there any more.

    Args:
        segment: that is lost.
        statuses: EtherCAT state of each drive, asked after the loss; None: no answer.
        outcome: of the last cycle.
        duration: since the last right answer, s.
    """
    interface = f"interface {segment.interface}"
    all_away = all(status is None for status in statuses)
    kind = BusGone if all_away else Unavailable
    if not is_up(segment.interface):
        return kind(interface, "is down", expected="up", advice=f"ip link set {segment.interface} up")
    if all_away:
        return BusGone(
            interface,
            "no slave answers any more",
            expected=str(len(statuses)),
            advice="check cable and power",
        )
    errors: list[BamError] = []
    for index, status in enumerate(statuses):
        if status is None:
            errors.append(
                Unavailable(
                    segment.who(index), "does not answer", expected="OP", advice="check its cable and power"
                )
            )
        elif not status.operational:
            errors.append(OutsideOp(segment.who(index), status))
    if not errors:
        return Unavailable(
            interface,
            f"{outcome.value} for {duration * 1e3:.0f} ms (working counter"
            f" {segment.working_counter}, expected {segment.expected_counter})",
            advice="check the line",
        )
    return errors[0] if len(errors) == 1 else BamError("; ".join(map(str, errors)))
