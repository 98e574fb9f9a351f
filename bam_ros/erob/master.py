# SPDX-License-Identifier: Apache-2.0
"""The master process: brings the segment up, runs the cycle, and leaves with torque off whatever ends it."""

from __future__ import annotations

import math
import signal
import socket
import sys
import time
from collections.abc import Sequence

from bam_core.errors import BamError, OutOfRange, Unavailable
from bam_ros.driver.servo_bus import BusGone
from bam_ros.erob.axis import Axis, Ratings
from bam_ros.erob.commissioning import Commissioning
from bam_ros.erob.cycle import Cycle
from bam_ros.erob.master_settings import MasterSettings
from bam_ros.erob.messages import Note, failure_note, receive, send
from bam_ros.erob.objects import SERIAL_NUMBER, Object
from bam_ros.erob.pacing import prefer_this_process
from bam_ros.erob.pdo_layout import load_layout
from bam_ros.erob.segment import Segment
from bam_ros.text.erob_notices import CameUpLater

_ALIGNING = 200  # cycles before OP
_AGAIN = 4.0  # s during which drives that do not come up are asked anew; one lost frame is enough for that


def main(arguments: Sequence[str]) -> int:
    """Serve the node at the other end of a socket, whose file descriptor is the only argument."""
    for number in (signal.SIGINT, signal.SIGHUP):  # the node decides when to end
        signal.signal(number, signal.SIG_IGN)
    with socket.socket(fileno=int(arguments[0])) as link:
        settings = _settings(link)
        if settings is None:
            return 0
        try:
            serve(link, settings)
        except BamError as error:
            _send(link, failure_note(error))
            return 2
        except Exception as error:
            _send(link, failure_note(_crash(error)))
            raise
    return 0


def serve(link: socket.socket, settings: MasterSettings) -> None:
    """Bring the segment up, report it to the node, exchange until it has enough; raises BamError."""
    trouble: list[str] = []
    until = time.monotonic() + _AGAIN
    while True:
        segment = _segment(settings)
        try:
            segment.open()
            try:
                cycle, opened = _bring_up(link, segment, settings)
            except Unavailable as error:
                if isinstance(error, BusGone) or time.monotonic() > until:
                    raise
                signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the cycle that it would stop is no more
                trouble = [str(CameUpLater(failure=error))]
                continue
            warnings = [*trouble, *segment.warnings]
            _send(link, Note("opened", {**opened, "warnings": warnings}))
            cycle.run()
            return
        finally:
            segment.close()


def _segment(settings: MasterSettings) -> Segment:
    return Segment(
        settings.interface,
        [axis.position for axis in settings.axes],
        [axis.joint for axis in settings.axes],
        load_layout(settings.layout),
        settings.period,
        settings.answer_timeout,
    )


def _bring_up(
    link: socket.socket, segment: Segment, settings: MasterSettings
) -> tuple[Cycle, dict[str, list[object]]]:
    """Bring drives to OP with torque off; return their cycle and what the node wants to know of each.

    That is rated current, A, and torque, N·m, and the serial number, 0 where a drive has none.

    Raises:
        BamError: a step failed; Unavailable where the same again may work, for SOEM does not repeat every
            frame that is lost.
    """
    commissioning = Commissioning(segment)
    commissioning.scan()
    axes: list[Axis] = []
    serials: list[object] = []
    for index, axis in enumerate(settings.axes):
        commissioning.prepare(index)
        serials.append(commissioning.read_number(index, Object.IDENTITY, default=0, subindex=SERIAL_NUMBER))
        axes.append(
            Axis(
                name=axis.joint,
                layout=segment.layout,
                encoder=axis.encoder,
                limits=axis.limits,
                ratings=_ratings(commissioning, segment.who(index), index),
                goals=axis.goals,
                dead_time=settings.dead_time * 1e-9,
                period=settings.period * 1e-9,
            )
        )
    commissioning.map(settings.watchdog)
    if settings.clock:
        commissioning.start_clock()
    segment.warnings.extend(prefer_this_process())
    cycle = Cycle(link, segment, axes, settings)
    signal.signal(signal.SIGTERM, lambda number, frame: cycle.stop())
    cycle.align(_ALIGNING)
    commissioning.go_operational(cycle.warm_up)
    cycle.require_answers()
    cycle.reset_line_faults()
    ratings: list[object] = [(axis.ratings.current, axis.ratings.torque) for axis in axes]
    return cycle, {"ratings": ratings, "serials": serials}


def _ratings(commissioning: Commissioning, who: str, index: int) -> Ratings:
    """Ask a drive for its scale of torque; raises BamError."""
    current = commissioning.read_number(index, Object.RATED_CURRENT)
    if not current:
        raise OutOfRange(
            f"rated current (0x6075) of {who}",
            current,
            "that of the motor, mA",
            advice="set it with the vendor's tool",
        )
    torque = commissioning.read_number(index, Object.RATED_TORQUE, default=0)
    largest = commissioning.read_number(index, Object.MAXIMUM_TORQUE, default=0)
    return Ratings(
        current=current * 1e-3,
        torque=torque * 1e-3 if torque else math.nan,
        largest_torque=min(largest, 32767) or 32767,
    )


def _settings(link: socket.socket) -> MasterSettings | None:
    """Wait for what to do; None where the node has gone before it asked."""
    link.setblocking(True)
    try:
        link.recv(1, socket.MSG_PEEK)
        message = receive(link)
    except EOFError:
        return None
    assert isinstance(message, Note)
    return MasterSettings.of(message.content["settings"])


def _send(link: socket.socket, note: Note) -> None:
    try:
        send(link, note)
    except OSError:
        return


def _crash(error: Exception) -> BamError:
    return Unavailable(
        "master process",
        f"stopped by {type(error).__name__}: {error}",
        advice="its traceback is in the node's output",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
