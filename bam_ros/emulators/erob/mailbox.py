# SPDX-License-Identifier: Apache-2.0
"""Messages in a mailbox: the header, the counter, and error replies."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

HEADER = struct.Struct("<HHBB")
_TYPE_MASK = 0x0F


class Protocol(IntEnum):
    """What a message carries."""

    ERROR = 0
    COE = 3
    FOE = 4


class MailboxError(IntEnum):
    """Details of an error reply."""

    UNSUPPORTED_PROTOCOL = 2
    TOO_SHORT = 6
    INVALID_SIZE = 8


class Message(NamedTuple):
    """One message: a Protocol (or another number), a counter of 1 to 7 (0: none), and its content."""

    protocol: int
    counter: int
    content: bytes


class MalformedMessageError(ValueError):
    """A mailbox whose header makes no sense; `detail` is the code of the reply."""

    def __init__(self, detail: MailboxError) -> None:
        super().__init__(detail.name)
        self.detail = detail


def decode(mailbox: bytes | bytearray) -> Message:
    """Return the message in a mailbox; raises MalformedMessageError."""
    if len(mailbox) < HEADER.size:
        raise MalformedMessageError(MailboxError.TOO_SHORT)
    length, _, _, kind = HEADER.unpack_from(mailbox)
    if length > len(mailbox) - HEADER.size:
        raise MalformedMessageError(MailboxError.INVALID_SIZE)
    content = bytes(mailbox[HEADER.size : HEADER.size + length])
    return Message(kind & _TYPE_MASK, kind >> 4 & 0x07, content)


def encode(message: Message, size: int) -> bytes:
    """Return a mailbox of `size` bytes with the message in it."""
    if HEADER.size + len(message.content) > size:
        raise ValueError(f"{len(message.content)} bytes do not fit into a mailbox of {size}")
    kind = message.protocol | message.counter << 4
    return (HEADER.pack(len(message.content), 0, 0, kind) + message.content).ljust(size, b"\0")


def error_reply(detail: MailboxError) -> bytes:
    """Return the content of an error reply."""
    return struct.pack("<HH", 1, detail)


def next_counter(counter: int) -> int:
    """Return the counter of the message after this one: 1 to 7, round and round."""
    return counter % 7 + 1
