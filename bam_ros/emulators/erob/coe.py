# SPDX-License-Identifier: Apache-2.0
"""CANopen over EtherCAT, the drive's end: SDO transfers and information about objects."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from bam_ros.emulators.erob.object_dictionary import Abort, DataType, ObjectDictionary, SdoAbort

_COE_HEADER = struct.Struct("<H")
_SDO = struct.Struct("<BHB")
_INFORMATION = struct.Struct("<BBH")
_EXPEDITED = 4
_INITIATE = 10  # bytes of an initiating message without data behind its 4 bytes: 2 + 8
_COMPLETE = 0x10
_ABORT = 0x80
_TOGGLE = 0x10
_LARGEST = 4096  # that a master may download, bytes


class Service(IntEnum):
    """What a CoE message is."""

    EMERGENCY = 1
    SDO_REQUEST = 2
    SDO_RESPONSE = 3
    SDO_INFORMATION = 8


class Information(IntEnum):
    """Operation codes of the SDO information service."""

    LIST_REQUEST = 1
    LIST_RESPONSE = 2
    OBJECT_REQUEST = 3
    OBJECT_RESPONSE = 4
    ENTRY_REQUEST = 5
    ENTRY_RESPONSE = 6
    ERROR = 7


def emergency(code: int, register: int, detail: bytes = b"") -> bytes:
    """Return the message that reports a fault to a master; `detail` is up to 5 bytes of the vendor's."""
    return (
        _COE_HEADER.pack(Service.EMERGENCY << 12)
        + struct.pack("<HB", code, register)
        + detail.ljust(5, b"\0")
    )


@dataclass
class RefusedRequest:
    """Fault: one SDO request is aborted.

    Attributes:
        count: requests so far.
        number: which one is aborted, counted from 1; 0: none.
    """

    count: int = 0
    number: int = 0

    def hits(self) -> bool:
        """Count a request; return whether it is the one."""
        self.count += 1
        return self.count == self.number


class SdoServer:
    """Answers one master's requests.

    Args:
        dictionary: what is read and written.
        size: of a message's content at most, bytes.
        refused: which request is aborted.
    """

    def __init__(
        self, dictionary: ObjectDictionary, size: int, refused: RefusedRequest | None = None
    ) -> None:
        self._dictionary = dictionary
        self._size = size
        self._refused = refused or RefusedRequest()
        self.reset()

    def reset(self) -> None:
        """Forget a transfer that is under way."""
        self._upload = b""
        self._download: bytearray | None = None
        self._expected = 0
        self._target = (0, 0, False)
        self._toggle = 0

    def answer(self, content: bytes) -> list[bytes]:
        """Return the replies to one CoE message; none to what is no request."""
        if len(content) < _COE_HEADER.size:
            return []
        service = _COE_HEADER.unpack_from(content)[0] >> 12
        body = content[_COE_HEADER.size :]
        if service == Service.SDO_REQUEST:
            answer = self._sdo(body)
            kind = Service.SDO_REQUEST if answer[0] == _ABORT else Service.SDO_RESPONSE  # so ETG.1000.6
            return [_COE_HEADER.pack(kind << 12) + answer]
        if service == Service.SDO_INFORMATION:
            header = _COE_HEADER.pack(Service.SDO_INFORMATION << 12)
            return [header + part for part in self._information(body)]
        return []

    # transfers

    def _sdo(self, body: bytes) -> bytes:
        command, index, subindex = _SDO.unpack_from(body.ljust(8, b"\0"))
        specifier = command >> 5
        try:
            if self._refused.hits():
                raise SdoAbort(Abort.GENERAL)
            if len(body) < 8 and specifier != 0:
                raise SdoAbort(Abort.UNKNOWN_COMMAND)
            match specifier:
                case 0:
                    return self._download_segment(command, body)
                case 1:
                    return self._start_download(command, index, subindex, body)
                case 2:
                    return self._start_upload(command, index, subindex)
                case 3:
                    return self._upload_segment(command)
                case 4:
                    self.reset()
                    raise SdoAbort(Abort.GENERAL)
                case _:
                    raise SdoAbort(Abort.UNKNOWN_COMMAND)
        except SdoAbort as abort:
            if specifier in (0, 3):
                index, subindex = self._target[:2]
            self.reset()
            return _SDO.pack(_ABORT, index, subindex) + struct.pack("<I", abort.code)

    def _start_upload(self, command: int, index: int, subindex: int) -> bytes:
        self.reset()
        complete = bool(command & _COMPLETE)
        if complete and subindex > 1:
            raise SdoAbort(Abort.UNSUPPORTED_ACCESS)
        if complete:
            data = self._dictionary.read_complete(index, subindex)
        else:
            data = self._dictionary.read(index, subindex)
        self._target = (index, subindex, complete)
        flags = 0x40 | command & _COMPLETE
        if 0 < len(data) <= _EXPEDITED:
            unused = _EXPEDITED - len(data)
            return _SDO.pack(flags | 0x03 | unused << 2, index, subindex) + data.ljust(4, b"\0")
        first = self._size - _INITIATE
        self._upload = data[first:]
        return _SDO.pack(flags | 0x01, index, subindex) + struct.pack("<I", len(data)) + data[:first]

    def _upload_segment(self, command: int) -> bytes:
        if not self._upload:
            raise SdoAbort(Abort.UNKNOWN_COMMAND)
        if command & _TOGGLE != self._toggle:
            raise SdoAbort(Abort.TOGGLE)
        room = self._size - 3
        part, self._upload = self._upload[:room], self._upload[room:]
        unused = max(7 - len(part), 0)
        answer = bytes((self._toggle | unused << 1 | (0 if self._upload else 1),)) + part.ljust(7, b"\0")
        self._toggle ^= _TOGGLE
        return answer

    def _start_download(self, command: int, index: int, subindex: int, body: bytes) -> bytes:
        self.reset()
        complete = bool(command & _COMPLETE)
        if complete and subindex > 1:
            raise SdoAbort(Abort.UNSUPPORTED_ACCESS)
        self._target = (index, subindex, complete)
        if command & 0x02:
            unused = command >> 2 & 3 if command & 0x01 else 0
            self._store(body[4 : 8 - unused])
        else:
            size = struct.unpack_from("<I", body, 4)[0]
            data = body[8:]
            if size > _LARGEST:
                raise SdoAbort(Abort.TOO_LONG)
            if len(data) >= size:
                self._store(data[:size])
            else:
                self._dictionary.subentries(index)
                self._download, self._expected = bytearray(data), size
        return _SDO.pack(0x60 | command & _COMPLETE, index, subindex) + bytes(4)

    def _download_segment(self, command: int, body: bytes) -> bytes:
        if self._download is None:
            raise SdoAbort(Abort.UNKNOWN_COMMAND)
        if command & _TOGGLE != self._toggle:
            raise SdoAbort(Abort.TOGGLE)
        data = body[1:]
        if len(data) <= 7:
            data = data[: 7 - (command >> 1 & 7)]
        self._download += data
        if len(self._download) > self._expected:
            raise SdoAbort(Abort.TOO_LONG)
        if command & 0x01:
            data = bytes(self._download)
            if len(data) < self._expected:
                raise SdoAbort(Abort.TOO_SHORT)
            self._download = None
            self._store(data)
        answer = bytes((0x20 | self._toggle,)) + bytes(7)
        self._toggle ^= _TOGGLE
        return answer

    def _store(self, data: bytes) -> None:
        index, subindex, complete = self._target
        if complete:
            self._dictionary.write_complete(index, subindex, data)
        else:
            self._dictionary.write(index, subindex, data)

    # information about objects

    def _information(self, body: bytes) -> list[bytes]:
        if len(body) < _INFORMATION.size:
            return []
        operation = body[0] & 0x7F
        argument = body[_INFORMATION.size :].ljust(4, b"\0")
        index, subindex = struct.unpack_from("<HB", argument)
        try:
            match operation:
                case Information.LIST_REQUEST:
                    return self._list(index)
                case Information.OBJECT_REQUEST:
                    return [_answer(Information.OBJECT_RESPONSE, self._describe(index))]
                case Information.ENTRY_REQUEST:
                    return [_answer(Information.ENTRY_RESPONSE, self._describe_entry(index, subindex))]
                case _:
                    raise SdoAbort(Abort.UNKNOWN_COMMAND)
        except SdoAbort as abort:
            return [_answer(Information.ERROR, struct.pack("<I", abort.code))]

    def _list(self, kind: int) -> list[bytes]:
        indices = list(self._dictionary)
        if kind == 0:  # how many there are in each of the lists 1 to 5
            data = struct.pack("<HHHHHH", 0, len(indices), 0, 0, 0, 0)
        elif kind == 1:
            data = struct.pack(f"<H{len(indices)}H", 1, *indices)
        else:
            data = struct.pack("<H", kind)
        room = self._size - _COE_HEADER.size - _INFORMATION.size
        parts = [data[at : at + room] for at in range(0, len(data), room)]
        return [
            _answer(Information.LIST_RESPONSE, part, left=len(parts) - 1 - i) for i, part in enumerate(parts)
        ]

    def _describe(self, index: int) -> bytes:
        entries = self._dictionary.subentries(index)
        single = len(entries) == 1
        kind = entries[0].data_type if single else DataType.UNSIGNED8
        shape = 7 if single else 9  # a variable, a record
        name = self._dictionary.name(index).encode("latin-1")
        return struct.pack("<HHBB", index, kind, max(entries), shape) + name

    def _describe_entry(self, index: int, subindex: int) -> bytes:
        entry = self._dictionary.entry(index, subindex)
        access = 0x0007 * bool(entry.access & 1) | 0x0038 * bool(entry.access & 2)
        access |= 0x0040 * bool(entry.access & 4) | 0x0080 * bool(entry.access & 8)
        head = struct.pack("<HBBHHH", index, subindex, 0, entry.data_type, entry.bits, access)
        return head + entry.name.encode("latin-1")


def _answer(operation: Information, data: bytes, left: int = 0) -> bytes:
    return _INFORMATION.pack(operation | (0x80 if left else 0), 0, left) + data
