# SPDX-License-Identifier: Apache-2.0
"""Mailbox traffic (CoE SDO) while process data runs: one frame at a time, between two cycles, in one thread.

SOEM's own transfers wait for the answer. In the cycle's thread they would stop it for milliseconds. In a
second thread both read the same socket, and a reader that finds the answer of the other one leaves that one
asleep in `recv`, which lasts two ticks of the kernel (8 ms measured) instead of the microsecond that SOEM
asks for. With the GIL released the two also share SOEM's list of errors, which is not made for that, and
pysoem up to 1.1.12 gave back wrong lengths (pysoem#181). So transfers are generators here: every step sends
one frame and is resumed after a later cycle. SOEM's functions are used only while no process data runs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator
from dataclasses import dataclass

SYNC_MANAGERS = 0x0800
"""Registers of sync managers 0 (mailbox out) and 1 (mailbox in), 16 bytes."""
_IN_STATUS = 0x080D
_FULL = 0x08
_COE = 3
_EMERGENCY, _REQUEST, _RESPONSE = 1, 2, 3
_HEADER = struct.Struct("<HHBBH")  # length, address, channel, type and count, CoE header
_UPLOAD, _UPLOAD_SEGMENT, _DOWNLOAD_EXPEDITED, _DOWNLOAD = 0x40, 0x60, 0x23, 0x21
_ABORT = 0x80
_LARGEST = 1 << 16

Steps = Generator[None, None, bytes]
"""A transfer: every step costs one frame; it returns the object's bytes (none for a write)."""

_ABORTS = {
    0x05030000: "toggle bit not changed",
    0x05040000: "timeout inside the drive",
    0x05040001: "command not known",
    0x05040005: "out of memory",
    0x06010000: "access not supported",
    0x06010001: "write only",
    0x06010002: "read only",
    0x06020000: "no such object",
    0x06040041: "cannot be mapped",
    0x06040042: "mapping too long",
    0x06040043: "parameters do not fit",
    0x06040047: "incompatible inside the drive",
    0x06060000: "hardware error",
    0x06070010: "wrong length",
    0x06070012: "too long",
    0x06070013: "too short",
    0x06090011: "no such subindex",
    0x06090030: "value out of range",
    0x06090031: "value too high",
    0x06090032: "value too low",
    0x08000000: "general error",
    0x08000020: "cannot be stored",
    0x08000021: "local control",
    0x08000022: "not in this state",
}


class SdoAbort(Exception):  # noqa: N818
    """The drive refused a transfer. The message has the reason."""

    def __init__(self, code: int) -> None:
        super().__init__(f"{abort_name(code)} (abort code 0x{code:08X})")
        self.code = code


class SdoLost(Exception):  # noqa: N818
    """A frame or an answer of the transfer was lost or made no sense; the transfer may be tried again."""


def abort_name(code: int) -> str:
    """Return an SDO abort code in words."""
    return _ABORTS.get(code, "refused")


@dataclass(frozen=True)
class Mailbox:
    """Where the mailboxes of a slave are, and how to reach its memory with one frame.

    Attributes:
        read: (address, length) -> bytes; raises SdoLost where no answer came.
        write: (address, bytes); raises SdoLost where it was not taken.
        out_address, out_length: mailbox that the master writes.
        in_address, in_length: mailbox that the master reads.
        emergency: called with the error code of an emergency message found in between.
    """

    read: Callable[[int, int], bytes]
    write: Callable[[int, bytes], None]
    out_address: int
    out_length: int
    in_address: int
    in_length: int
    emergency: Callable[[int], None] = lambda code: None

    @classmethod
    def of(
        cls,
        read: Callable[[int, int], bytes],
        write: Callable[[int, bytes], None],
        emergency: Callable[[int], None] = lambda code: None,
    ) -> Mailbox:
        """Ask a slave's sync managers where its mailboxes are."""
        registers = read(SYNC_MANAGERS, 16)
        out_address, out_length = struct.unpack_from("<HH", registers, 0)
        in_address, in_length = struct.unpack_from("<HH", registers, 8)
        return cls(read, write, out_address, out_length, in_address, in_length, emergency)

    def upload(self, index: int, subindex: int) -> Steps:
        """Read an object.

        Raises:
            SdoAbort: the drive refused.
            SdoLost: an answer was lost or made no sense.
        """
        answer = yield from self._ask(struct.pack("<BHB4x", _UPLOAD, index, subindex))
        command = answer[0]
        if command & 0xE0 != _UPLOAD or struct.unpack_from("<HB", answer, 1) != (index, subindex):
            raise SdoLost("an answer to another request")
        if command & 0x02:
            return answer[4 : 8 - ((command >> 2) & 3 if command & 0x01 else 0)]
        size = int.from_bytes(answer[4:8], "little")
        data = answer[8:]
        if size > _LARGEST:
            raise SdoLost(f"an object of {size} bytes")
        toggle = 0
        while len(data) < size:
            segment = yield from self._ask(struct.pack("<B7x", _UPLOAD_SEGMENT | toggle))
            command = segment[0]
            if command & 0xE0 or command & 0x10 != toggle:
                raise SdoLost("a segment out of turn")
            end = len(segment) if len(segment) > 8 else 8 - ((command >> 1) & 7)
            data += segment[1:end]
            toggle ^= 0x10
            if command & 0x01:
                break
        if len(data) < size:
            raise SdoLost(f"{len(data)} of {size} bytes")
        return data[:size]

    def download(self, index: int, subindex: int, data: bytes) -> Steps:
        """Write an object that fits into one mail; raises as `upload`."""
        if len(data) <= 4:
            command = _DOWNLOAD_EXPEDITED | (4 - len(data)) << 2
            request = struct.pack("<BHB", command, index, subindex) + data.ljust(4, b"\0")
        else:
            request = struct.pack("<BHBI", _DOWNLOAD, index, subindex, len(data)) + data
        if len(request) + _HEADER.size > self.out_length:
            raise SdoLost(f"{len(data)} bytes do not fit into the mailbox of {self.out_length}")
        answer = yield from self._ask(request)
        if answer[0] & 0xE0 != 0x60 or struct.unpack_from("<HB", answer, 1) != (index, subindex):
            raise SdoLost("an answer to another request")
        return b""

    def _ask(self, request: bytes) -> Steps:
        """Empty the mailbox in, write a request, wait for the answer; returns it without its headers."""
        yield
        while self.read(_IN_STATUS, 1)[0] & _FULL:
            yield
            self._mail(self.read(self.in_address, self.in_length))
            yield
        # Counter 0: the drive does not take it for a repetition of what SOEM sent last.
        mail = _HEADER.pack(len(request) + 2, 0, 0, _COE, _REQUEST << 12) + request
        yield
        self.write(self.out_address, mail.ljust(self.out_length, b"\0"))
        while True:
            yield
            if not self.read(_IN_STATUS, 1)[0] & _FULL:
                continue
            yield
            answer = self._mail(self.read(self.in_address, self.in_length))
            if answer is not None:
                if answer[0] == _ABORT:
                    raise SdoAbort(int.from_bytes(answer[4:8], "little"))
                return answer

    def _mail(self, mail: bytes) -> bytes | None:
        """Return the SDO response or abort in a mail; None where it is something else."""
        if len(mail) < _HEADER.size + 8:
            return None
        length, _, _, kind, coe = _HEADER.unpack_from(mail)
        body = mail[_HEADER.size : 6 + length]
        if kind & 0x0F != _COE or len(body) < 8:
            return None
        if coe >> 12 == _EMERGENCY:
            self.emergency(int.from_bytes(body[:2], "little"))
            return None
        # A drive aborts with a message of the kind that otherwise only masters send.
        aborted = coe >> 12 == _REQUEST and body[0] == _ABORT
        return body if aborted or coe >> 12 == _RESPONSE else None
