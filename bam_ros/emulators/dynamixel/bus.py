# SPDX-License-Identifier: Apache-2.0
"""A bus with emulated servos: bytes in, replies out. No I/O, and time is an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from bam_core.errors import Conflict
from bam_ros.emulators.dynamixel import protocol1, protocol2
from bam_ros.emulators.dynamixel.line_faults import LineFaults
from bam_ros.emulators.dynamixel.packets import BROADCAST_ID, Instruction, Packet, Reply, Status, StreamParser
from bam_ros.emulators.dynamixel.servo import VirtualServo

SILENCE = 0.05
"""A packet that stays unfinished for longer is forgotten, s."""
_BAUD_TOLERANCE = 0.03


class VirtualBus:
    """Servos on one half-duplex line; protocols may be mixed.

    Args:
        servos: with different ids.
        faults: what happens to replies on the line.

    Raises:
        Conflict: two servos share an id.
    """

    def __init__(self, servos: Sequence[VirtualServo], faults: LineFaults | None = None) -> None:
        ids = [servo.id for servo in servos]
        for identifier in ids:
            if ids.count(identifier) > 1:
                raise Conflict(
                    "bus",
                    f"id {identifier} is there twice",
                    expected="different ids",
                    advice="choose other ids",
                )
        self.servos = tuple(servos)
        self.faults = faults or LineFaults()
        self.double: VirtualServo | None = None
        """Fault: one more servo, with the id of another; both answer at once."""
        self._last = 0.0
        self._listening: dict[int, list[VirtualServo]] = {}
        for servo in sorted(servos, key=lambda servo: servo.table.protocol):
            self._listening.setdefault(servo.table.protocol, []).append(servo)
        self._parsers: dict[int, StreamParser] = {number: _PARSERS[number]() for number in self._listening}

    def update(self, now: float) -> None:
        """Let time pass on every servo."""
        for servo in (*self.servos, *([self.double] if self.double is not None else ())):
            servo.update(now)

    def receive(self, data: bytes, now: float, baud_rate: int | None = None) -> list[Reply]:
        """Return what the servos answer to these bytes.

        Args:
            data: from the client.
            now: clock, s.
            baud_rate: of the client, bit/s; servos set to another one hear noise. None: not checked.
        """
        if now - self._last > SILENCE:
            for parser in self._parsers.values():
                parser.reset()
        self._last = now
        replies: list[Reply] = []
        for protocol, parser in self._parsers.items():
            for packet in parser.feed(data):
                listening = self._listening[protocol]
                servos = [s for s in listening if s.awake(now) and _same_baud(s, baud_rate)]
                for servo in servos:
                    servo.update(now)
                    servo.heard(now)
                answers = list(self._dispatch(packet, protocol, servos, now))
                if self.double is not None:
                    answers = self._collided(answers, packet, protocol, servos, now)
                replies.extend(answers)
        return [reply for reply in map(self.faults.strike, replies) if reply is not None]

    def _collided(
        self, answers: list[Reply], packet: Packet, protocol: int, servos: list[VirtualServo], now: float
    ) -> list[Reply]:
        """Return what is on the line where the double answers as well: a bit is 0 where either sends 0."""
        double = self.double
        assert double is not None
        double.update(now)
        double.heard(now)
        crowd = [double if servo.id == double.id else servo for servo in servos]
        others = list(self._dispatch(packet, protocol, crowd, now))
        heard = []
        for first, second in zip_longest(answers, others):
            if first is None or second is None:
                heard.append(first or second)
                continue
            pairs = zip_longest(first.data, second.data, fillvalue=0xFF)  # a line at rest is 1
            heard.append(first._replace(data=bytes(one & other for one, other in pairs)))
        return heard

    def _dispatch(
        self, packet: Packet, protocol: int, servos: list[VirtualServo], now: float
    ) -> Iterator[Reply]:
        group = _GROUPS[protocol].get(packet.instruction)
        if group is not None and packet.intact:
            if packet.id == BROADCAST_ID:
                yield from group(packet.parameters, {servo.id: servo for servo in servos}, now)
            return
        encode = protocol2.encode_status if protocol == 2 else protocol1.encode_status
        if packet.id == BROADCAST_ID and packet.instruction == Instruction.PING and protocol != 1:
            for servo in sorted(servos, key=lambda s: s.id):
                status = servo.answer(packet._replace(id=servo.id), now)
                if status is not None:
                    yield Reply(encode(status), servo.return_delay)
            return
        for servo in servos:
            if servo.listens_to(packet.id):
                delay = servo.return_delay
                status = servo.answer(packet, now)
                if status is not None:
                    yield Reply(encode(status), delay)


def _same_baud(servo: VirtualServo, baud_rate: int | None) -> bool:
    return baud_rate is None or abs(servo.baud_rate - baud_rate) <= _BAUD_TOLERANCE * baud_rate


def _word(data: bytes, at: int) -> int:
    return data[at] | data[at + 1] << 8


Members = dict[int, VirtualServo]
Block = tuple[int, int, int]
"""Id, address, length."""


def _read_blocks(blocks: Sequence[Block], servos: Members, now: float) -> Iterator[tuple[Status, float]]:
    """Let servos answer one after the other.

    Each waits for the status of the one before it, so a silent one silences those behind it.
    """
    seen: set[int] = set()
    for identifier, address, length in blocks:
        if identifier in seen:
            continue
        seen.add(identifier)
        servo = servos.get(identifier)
        status = servo.read_block(address, length, now) if servo else None
        if servo is None or status is None:
            return
        yield status, servo.return_delay


def _sync_blocks(p: bytes) -> list[Block]:
    return [(identifier, _word(p, 0), _word(p, 2)) for identifier in p[4:]] if len(p) > 4 else []


def _sync_blocks_feetech(p: bytes) -> list[Block]:
    return [(identifier, p[0], p[1]) for identifier in p[2:]]


def _bulk_blocks(p: bytes) -> list[Block]:
    return [(p[i], _word(p, i + 1), _word(p, i + 3)) for i in range(0, len(p) - 4, 5)]


def _bulk_blocks_1(p: bytes) -> list[Block]:
    return [(p[i + 1], p[i + 2], p[i]) for i in range(1, len(p) - 2, 3)]


def _reader(blocks: Callable[[bytes], list[Block]], encode: Callable[[Status], bytes]) -> Group:
    def read(parameters: bytes, servos: Members, now: float) -> Iterator[Reply]:
        for status, delay in _read_blocks(blocks(parameters), servos, now):
            yield Reply(encode(status), delay)

    return read


def _fast_reader(blocks: Callable[[bytes], list[Block]]) -> Group:
    def read(parameters: bytes, servos: Members, now: float) -> Iterator[Reply]:
        wanted = blocks(parameters)
        able = {identifier: servo for identifier, servo in servos.items() if servo.table.fast_read}
        answers = list(_read_blocks(wanted, able, now))
        # The packet announces its whole length at its start: without every part the client never accepts it.
        if answers and len(answers) == len(wanted):
            statuses = [status for status, _ in answers]
            yield Reply(protocol2.encode_fast_status(statuses), answers[0][1])

    return read


def _sync_write_1(parameters: bytes, servos: Members, now: float) -> Iterator[Reply]:
    if len(parameters) > 2:
        address, length = parameters[0], parameters[1]
        _write_each(parameters[2:], address, length, servos, now)
    return iter(())


def _sync_write_2(parameters: bytes, servos: Members, now: float) -> Iterator[Reply]:
    if len(parameters) > 4:
        _write_each(parameters[4:], _word(parameters, 0), _word(parameters, 2), servos, now)
    return iter(())


def _write_each(rest: bytes, address: int, length: int, servos: Members, now: float) -> None:
    for i in range(0, len(rest) - length, length + 1):
        if rest[i] in servos:
            servos[rest[i]].write_block(address, rest[i + 1 : i + 1 + length], now)


def _bulk_write(parameters: bytes, servos: Members, now: float) -> Iterator[Reply]:
    i = 0
    while i + 5 < len(parameters):
        identifier, address, length = parameters[i], _word(parameters, i + 1), _word(parameters, i + 3)
        data = parameters[i + 5 : i + 5 + length]
        if identifier in servos and len(data) == length:
            servos[identifier].write_block(address, data, now)
        i += 5 + length
    return iter(())


Group = Callable[[bytes, Members, float], Iterator[Reply]]
_PARSERS: dict[int, type[StreamParser]] = {0: protocol1.Parser, 1: protocol1.Parser, 2: protocol2.Parser}
"""Protocol -> what cuts its packets; 0 is Feetech's, whose packets are those of Protocol 1.0."""
_GROUPS: dict[int, dict[int, Group]] = {
    0: {
        Instruction.SYNC_READ: _reader(_sync_blocks_feetech, protocol1.encode_status),
        Instruction.SYNC_WRITE: _sync_write_1,
    },
    1: {
        Instruction.SYNC_WRITE: _sync_write_1,
        Instruction.BULK_READ: _reader(_bulk_blocks_1, protocol1.encode_status),
    },
    2: {
        Instruction.SYNC_READ: _reader(_sync_blocks, protocol2.encode_status),
        Instruction.SYNC_WRITE: _sync_write_2,
        Instruction.FAST_SYNC_READ: _fast_reader(_sync_blocks),
        Instruction.BULK_READ: _reader(_bulk_blocks, protocol2.encode_status),
        Instruction.BULK_WRITE: _bulk_write,
        Instruction.FAST_BULK_READ: _fast_reader(_bulk_blocks),
    },
}
