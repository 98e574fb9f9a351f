# SPDX-License-Identifier: Apache-2.0
"""The master process: brings the segment up, runs the cycle, and leaves with torque off whatever ends it."""

from __future__ import annotations

import math
import signal
import socket
import sys
from collections.abc import Sequence

from bam_core.errors import BamError, OutOfRange, Unavailable
from bam_ros.erob.axis import Axis, Ratings
from bam_ros.erob.commissioning import Commissioning
from bam_ros.erob.cycle import Cycle
from bam_ros.erob.master_settings import MasterSettings
from bam_ros.erob.messages import Note, failure_note, receive, send
from bam_ros.erob.objects import Object
from bam_ros.erob.pacing import prefer_this_process
from bam_ros.erob.pdo_layout import load_layout
from bam_ros.erob.segment import Segment

_ALIGNING = 200  # cycles before OP


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
            _say(link, failure_note(error))
            return 2
        except Exception as error:
            _say(link, failure_note(_crash(error)))
            raise
    return 0


def serve(link: socket.socket, settings: MasterSettings) -> None:
    """Bring the segment up, tell the node what is there, exchange until it has enough; raises BamError."""
    layout = load_layout(settings.layout)
    segment = Segment(
        settings.interface,
        [axis.position for axis in settings.axes],
        [axis.joint for axis in settings.axes],
        layout,
        settings.period,
        settings.answer_timeout,
    )
    try:
        segment.open()
        commissioning = Commissioning(segment)
        commissioning.scan()
        axes = []
        for index, axis in enumerate(settings.axes):
            commissioning.prepare(index)
            ratings = _ratings(commissioning, segment.who(index), index)
            axes.append(
                Axis(
                    name=axis.joint,
                    layout=layout,
                    encoder=axis.encoder,
                    limits=axis.limits,
                    ratings=ratings,
                    goals=axis.goals,
                    dead_time=settings.dead_time * 1e-9,
                    period=settings.period * 1e-9,
                )
            )
        commissioning.map(settings.watchdog)
        if settings.clock:
            commissioning.start_clock()
        refused = prefer_this_process()
        cycle = Cycle(link, segment, axes, settings)
        signal.signal(signal.SIGTERM, lambda number, frame: cycle.stop())
        cycle.align(_ALIGNING)
        commissioning.go_operational(cycle.warm_up)
        cycle.require_answers()
        cycle.reset_line_faults()
        opened = {
            "warnings": [*segment.warnings, *refused],
            "ratings": [[a.ratings.current, a.ratings.torque] for a in axes],
        }
        _say(link, Note("opened", opened))
        cycle.run()
    finally:
        segment.close()


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
    """Wait for what to do; None where the node has gone before it said so."""
    link.setblocking(True)
    try:
        link.recv(1, socket.MSG_PEEK)
        message = receive(link)
    except EOFError:
        return None
    assert isinstance(message, Note)
    return MasterSettings.of(message.content["settings"])


def _say(link: socket.socket, note: Note) -> None:
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
