# SPDX-License-Identifier: Apache-2.0
"""The node's handle on its master process: starts it, speaks with it, and ends it in whatever state it is."""

from __future__ import annotations

import contextlib
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from bam_core.errors import BamError, Unavailable
from bam_ros.erob.errors import MasterExited
from bam_ros.erob.master_settings import MasterSettings
from bam_ros.erob.messages import Goals, Message, Note, Samples, failure, receive, send

_CODE = "import sys; from bam_ros.erob.master import main; sys.exit(main(sys.argv[1:]))"
_OPENING = 30.0  # s; six drives take two, on a busy machine more than fifteen
_ENDING = 1.0  # s
_POLL = 0.1  # s


class MasterProcess:
    """A running master, with its segment in OP and torque off.

    Args:
        settings: what it shall do.
        stop: polled while it brings the segment up; true ends that.

    Attributes:
        warnings: what is not as it should be, one line each.
        ratings: of each drive, rated current, A, and torque, N·m; NaN where it has none.
        serials: number of each drive; 0 where it has none.
        report: newest figures of the cycle, by name.
        lost_share: of the cycles between the last two reports, 0..1.

    Raises:
        BusGone: the interface is not there or down, or nobody answers on it.
        BamError: it cannot work as it is; one line with the reason.
    """

    def __init__(self, settings: MasterSettings, stop: Callable[[], bool] = lambda: False) -> None:
        self.report: Mapping[str, Any] = {}
        self.lost_share = 0.0
        self._trip: BamError | None = None
        self._answers: dict[int, Mapping[str, Any]] = {}
        self._fresh: Samples | None = None
        self._requests = 0
        self._link, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _CODE, str(other.fileno())],
                pass_fds=(other.fileno(),),
                start_new_session=True,
                stdin=subprocess.DEVNULL,
            )
        except OSError as error:
            self._link.close()
            raise Unavailable(
                "master process",
                f"cannot be started ({error.strerror})",
                advice="raise the process limit",
            ) from None
        finally:
            other.close()
        try:
            opened = self._open(settings, stop)
        except BaseException:
            self.close()
            raise
        self.warnings = tuple(opened["warnings"])
        self.ratings = tuple((current, torque) for current, torque in opened["ratings"])
        self.serials: tuple[int, ...] = tuple(opened["serials"])

    @property
    def pid(self) -> int:
        """Process id of the master."""
        return self._process.pid

    def send_goals(self, goals: Goals) -> None:
        """Send the goals of the drives to the master; raises BamError where it is gone."""
        try:
            send(self._link, goals)
        except OSError:
            raise self._gone() from None

    def fresh(self, timeout: float, *, number: int = 0, tripped: bool = False) -> Samples | None:
        """Return samples that were not returned yet, waiting for them if need be.

        They are the first ones with the newest goals: what they report of these counts from their time on.

        Args:
            timeout: s.
            number: least number of the goals.
            tripped: also where the master has given up; it goes on asking the drives for torque off.

        Raises:
            BamError: the master gave the segment up, or is gone.
        """
        deadline = time.monotonic() + timeout
        while True:
            self._drain(keep_trip=tripped)
            samples, self._fresh = self._fresh, None
            if samples is not None and samples.number >= number:
                return samples
            rest = deadline - time.monotonic()
            if rest <= 0.0 or not select.select((self._link,), (), (), rest)[0]:
                return None

    def ask(self, kind: str, timeout: float, beat: Callable[[], None], **content: Any) -> Mapping[str, Any]:
        """Send a request and return its answer.

        Args:
            kind: of the request.
            timeout: s.
            beat: called every now and then while waiting.
            content: of the request.

        Raises:
            BamError: no answer in time, or the master is gone.
        """
        self._requests += 1
        number = self._requests
        try:
            send(self._link, Note(kind, {"id": number, **content}))
        except OSError:
            raise self._gone() from None
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            self._drain(keep_trip=True)
            if (answer := self._answers.pop(number, None)) is not None:
                return answer
            beat()
            select.select((self._link,), (), (), _POLL)
        raise Unavailable(
            f"master process {self.pid}",
            f"no answer within {timeout:g} s",
            advice="see /diagnostics for its state",
        )

    def close(self) -> None:
        """Let the master release the drives and end; kill it where it does not. Never raises, idempotent."""
        with contextlib.suppress(OSError):
            send(self._link, Note("stop", {}))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING)
        if self._process.poll() is None:
            self._process.kill()  # it hangs or is stopped: the drives' watchdogs take over
            self._process.wait()
        self._link.close()

    def _open(self, settings: MasterSettings, stop: Callable[[], bool]) -> Mapping[str, Any]:
        send(self._link, Note("start", {"settings": settings.plain()}))
        deadline = time.monotonic() + _OPENING
        while time.monotonic() < deadline and not stop():
            if not select.select((self._link,), (), (), _POLL)[0]:
                continue
            try:
                message = receive(self._link)
            except EOFError:
                raise self._gone() from None
            if isinstance(message, Note) and message.kind == "opened":
                return message.content
            if isinstance(message, Note) and message.kind == "failed":
                raise failure(message)
        raise Unavailable(
            f"interface {settings.interface}",
            "stopped" if stop() else f"not ready within {_OPENING:g} s",
            advice="check the drives' power and cables",
        )

    def _drain(self, *, keep_trip: bool = False) -> None:
        """Take everything that the master has sent; keep the first samples with the newest goals."""
        while True:
            try:
                message: Message | None = receive(self._link)
            except EOFError:
                if self._trip is not None:
                    raise self._trip from None
                raise self._gone() from None
            if message is None:
                break
            if isinstance(message, Samples):
                if self._fresh is None or message.number > self._fresh.number:
                    self._fresh = message
            elif isinstance(message, Note):
                self._note(message)
        if self._trip is not None and not keep_trip:
            raise self._trip

    def _note(self, note: Note) -> None:
        if note.kind == "report":
            sent, lost = (note.content[key] - self.report.get(key, 0.0) for key in ("sent", "lost"))
            self.lost_share = lost / sent if sent else 0.0
            self.report = note.content
        elif note.kind == "answer":
            self._answers[note.content["id"]] = note.content
        elif note.kind == "failed":
            self._trip = failure(note)

    def _gone(self) -> BamError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING)
        return MasterExited(self.pid, self._process.returncode)
