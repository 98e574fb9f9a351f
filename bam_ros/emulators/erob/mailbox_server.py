# SPDX-License-Identifier: Apache-2.0
"""The drive's end of the mailbox: messages in, answers a little later, one at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from bam_ros.emulators.erob import mailbox, sii
from bam_ros.emulators.erob.coe import RefusedRequest, SdoServer
from bam_ros.emulators.erob.distributed_clock import NEVER
from bam_ros.emulators.erob.mailbox import MailboxError, MalformedMessageError, Message, Protocol
from bam_ros.emulators.erob.object_dictionary import ObjectDictionary
from bam_ros.emulators.erob.sync_manager import SyncManager

DELAY = 300_000
"""Time that the firmware takes to answer a message, ns."""
_MOST_WAITING = 16  # messages to the master


class MailboxServer:
    """Takes messages from one sync manager's memory and puts answers into that of another.

    Args:
        memory: of the controller.
        managers: the one that the master writes to, the one that it reads from.
        dictionary: what SDO transfers read and write.
        refused: which SDO request is aborted.
    """

    def __init__(
        self,
        memory: bytearray,
        managers: Sequence[SyncManager],
        dictionary: ObjectDictionary,
        refused: RefusedRequest | None = None,
    ) -> None:
        self._memory = memory
        self._out, self._in = managers
        self._sdo = SdoServer(dictionary, sii.MAILBOX_SIZE - mailbox.HEADER.size, refused)
        self._waiting: deque[tuple[int, Message]] = deque()
        self._last_sent = b""
        self._heard_counter = 0
        self._sent_counter = 0

    def start(self) -> None:
        """Forget transfers and counters, as on the way to PRE-OP."""
        self._sdo.reset()
        self._heard_counter = 0
        self._waiting.clear()

    @property
    def due(self) -> int:
        """When `send` has something to do next, ns."""
        if not self._waiting or not self._in.enabled or self._in.full:
            return NEVER
        return self._waiting[0][0]

    def take(self, now: int, *, mute: bool = False) -> None:
        """Take the message that the master has written; a mute firmware answers no CoE."""
        content = self._memory[self._out.start : self._out.end]
        self._out.empty()
        try:
            message = mailbox.decode(content)
        except MalformedMessageError as malformed:
            self.post(Protocol.ERROR, mailbox.error_reply(malformed.detail), now)
            return
        if message.counter and message.counter == self._heard_counter:
            return  # a repetition of what has been heard
        self._heard_counter = message.counter
        if message.protocol != Protocol.COE:
            self.post(Protocol.ERROR, mailbox.error_reply(MailboxError.UNSUPPORTED_PROTOCOL), now)
        elif not mute:
            for answer in self._sdo.answer(message.content):
                self.post(Protocol.COE, answer, now)

    def post(self, protocol: Protocol, content: bytes, now: int) -> None:
        """Line a message up for the master; beyond what the firmware can keep it is lost."""
        if len(self._waiting) < _MOST_WAITING:
            self._sent_counter = mailbox.next_counter(self._sent_counter)
            self._waiting.append((now + DELAY, Message(protocol, self._sent_counter, content)))

    def send(self, now: int) -> None:
        """Put the next message into the mailbox where it is empty and the message is due."""
        if now < self.due:
            return
        self._put(mailbox.encode(self._waiting.popleft()[1], self._in.length))

    def repeat(self) -> None:
        """Put the last message back into the mailbox: the master has lost it.

        A master that clears the sync manager flips the same bit; there is no mailbox then.
        """
        if self._in.enabled and len(self._last_sent) == self._in.length:
            self._put(self._last_sent)
        self._in.acknowledge_repeat()

    def _put(self, message: bytes) -> None:
        self._last_sent = message
        self._memory[self._in.start : self._in.end] = message
        self._in.fill()
