# SPDX-License-Identifier: Apache-2.0
"""What the master does in spare time of its cycle: objects over the mailbox, fault resets; frame by frame."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

from bam_ros.erob.axis import Axis
from bam_ros.erob.messages import Note
from bam_ros.erob.sdo import Mailbox, SdoAbort, SdoLost
from bam_ros.erob.segment import Segment

_TRANSFER_TIME = 1.0  # s
_ATTEMPTS = 3

Job = Generator[None, None, None]


class MailboxTasks:
    """Requests of the node, one after the other.

    Args:
        segment: exchanging.
        axes: one per drive.
        answer: called with the result of a request.
    """

    def __init__(self, segment: Segment, axes: Sequence[Axis], answer: Callable[[Note], None]) -> None:
        self._segment, self._axes, self._answer = segment, axes, answer
        self._jobs: deque[Job] = deque()
        self._mailboxes: dict[int, Mailbox] = {}

    def take(self, request: Note) -> None:
        """Take a request on: `read`, `write` or `reset`."""
        content = request.content
        if request.kind == "reset":
            self._jobs.append(self._reset(content["id"], content["axis"]))
        elif request.kind in ("read", "write"):
            self._jobs.append(self._transfer(request.kind, content))

    def step(self) -> bool:
        """Send at most one frame for the oldest request; false where there is none."""
        if not self._jobs:
            return False
        try:
            next(self._jobs[0])
        except StopIteration:
            self._jobs.popleft()
        return True

    def _transfer(self, kind: str, content: Any) -> Job:
        """Read or write one object of a drive, one frame per step, and report the result to the node."""
        axis, index, subindex = content["axis"], content["index"], content["subindex"]
        answer = {"id": content["id"], "data": "", "error": ""}
        for _ in range(_ATTEMPTS):
            answer["error"] = ""
            deadline = time.monotonic() + _TRANSFER_TIME
            try:
                if axis not in self._mailboxes:
                    self._mailboxes[axis] = self._segment.mailbox(axis)
                    yield
                mailbox = self._mailboxes[axis]
                if kind == "read":
                    steps = mailbox.upload(index, subindex)
                else:
                    steps = mailbox.download(index, subindex, bytes.fromhex(content["data"]))
                while True:
                    try:
                        next(steps)
                    except StopIteration as end:
                        answer["data"] = end.value.hex()
                        break
                    if time.monotonic() > deadline:
                        raise SdoLost(f"no answer within {_TRANSFER_TIME:g} s")
                    yield
                break
            except SdoAbort as abort:
                answer["error"] = str(abort)
                break
            except SdoLost as error:
                answer["error"] = str(error)
                yield
        self._answer(Note("answer", answer))

    def _reset(self, number: int, index: int) -> Job:
        """Reset the fault of a drive and report the result to the node."""
        axis = self._axes[index]
        deadline = time.monotonic() + _TRANSFER_TIME
        axis.switch.reset_fault()
        yield
        while axis.state.is_fault and time.monotonic() < deadline:
            yield
        axis.switch.give_up()
        error = ""
        if axis.state.is_fault:
            error = "still in fault"
        self._answer(
            Note("answer", {"id": number, "data": "", "error": error, "code": axis.sample().error_code})
        )
