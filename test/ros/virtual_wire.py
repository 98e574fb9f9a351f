# SPDX-License-Identifier: Apache-2.0
"""A master of a few lines on an explicit clock, for tests of the virtual segment without a network."""

from __future__ import annotations

import struct

from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators.erob import mailbox, sii
from bam_ros.emulators.erob.builder import SegmentSetup, build_segment
from bam_ros.emulators.erob.frames import Command, Datagram, decode, encode, physical
from bam_ros.emulators.erob.mailbox import Message, Protocol
from bam_ros.emulators.erob.registers import Register
from bam_ros.emulators.erob.slave import VirtualSlave

MS = 1_000_000
FIRST_STATION = 0x1001
INIT, PRE_OP, SAFE_OP, OP = 1, 2, 4, 8
ACKNOWLEDGE = 0x10


class Wire:
    """A segment, its clock and a master's datagrams; slaves are numbered from 1."""

    def __init__(self, slaves: int = 1, **setup: object) -> None:
        self.now = 0
        self.segment = build_segment(SegmentSetup(slaves=slaves, **setup), self.now)
        self.count = slaves
        self._counter = 0
        self.wait(1 * MS)

    @property
    def slave(self) -> VirtualSlave:
        return self.segment.slaves[0]

    def wait(self, ns: int) -> None:
        end = self.now + ns
        while self.now < end:
            self.now = min(self.now + MS // 4, end)
            self.segment.update(self.now)

    def send(self, *datagrams: Datagram) -> tuple[Datagram, ...]:
        frame = encode(datagrams)
        assert self.segment.process(frame, len(frame), self.now)
        return decode(frame)

    def address_all(self) -> None:
        for i in range(self.count):
            address = physical(-i, Register.STATION_ADDRESS)
            self.send(Datagram(Command.APWR, 0, address, struct.pack("<H", FIRST_STATION + i)))

    def read(self, register: int, size: int, slave: int = 1) -> bytes:
        (answer,) = self.send(
            Datagram(Command.FPRD, 0, physical(FIRST_STATION + slave - 1, register), bytes(size))
        )
        assert answer.working_counter == 1
        return answer.data

    def word(self, register: int, slave: int = 1) -> int:
        return int.from_bytes(self.read(register, 2, slave), "little")

    def write(self, register: int, data: bytes, slave: int = 1) -> int:
        address = physical(FIRST_STATION + slave - 1, register)
        return self.send(Datagram(Command.FPWR, 0, address, data))[0].working_counter

    # states

    def request(self, state: int, slave: int = 1, wait: int = 2 * MS) -> None:
        assert self.write(Register.AL_CONTROL, struct.pack("<H", state), slave) == 1
        self.wait(wait)

    def state(self, slave: int = 1) -> tuple[int, int]:
        """AL status and AL status code."""
        return self.word(Register.AL_STATUS, slave), self.word(Register.AL_STATUS_CODE, slave)

    def set_managers(self, outputs: int = 10, inputs: int = 10, slave: int = 1) -> None:
        for number, setup in enumerate(sii.sync_managers(outputs, inputs)):
            self.set_manager(number, setup.start, setup.length, setup.control, slave)

    def set_manager(self, number: int, start: int, length: int, control: int, slave: int = 1) -> None:
        data = struct.pack("<HHBBBB", start, length, control, 0, 1, 0)
        assert self.write(Register.SYNC_MANAGER + 8 * number, data, slave) == 1

    def set_fmmus(self, outputs: int = 10, inputs: int = 10) -> None:
        for i in range(self.count):
            for number, (logical, size, memory, kind) in enumerate(
                (
                    (outputs * i, outputs, sii.OUTPUTS, 2),
                    (outputs * self.count + inputs * i, inputs, sii.INPUTS, 1),
                )
            ):
                data = struct.pack("<IHBBHBBB", logical, size, 0, 7, memory, 0, kind, 1)
                assert self.write(Register.FMMU + 16 * number, data, i + 1) == 1
        self.outputs, self.inputs = outputs, inputs

    def pre_op(self) -> None:
        self.address_all()
        for i in range(self.count):
            self.set_managers(slave=i + 1)
            self.request(PRE_OP, i + 1)
            assert self.state(i + 1) == (PRE_OP, 0)

    def safe_op(self, outputs: int = 10, inputs: int = 10) -> None:
        if self.slave.states.state != PRE_OP:
            self.pre_op()
        for i in range(self.count):
            self.set_managers(outputs, inputs, i + 1)
        self.set_fmmus(outputs, inputs)
        for i in range(self.count):
            self.request(SAFE_OP, i + 1)
            assert self.state(i + 1) == (SAFE_OP, 0)

    def op(self, outputs: int = 10, inputs: int = 10) -> None:
        self.safe_op(outputs, inputs)
        self.exchange(bytes(outputs))
        for i in range(self.count):
            self.request(OP, i + 1)
            self.exchange(bytes(outputs))
            assert self.state(i + 1) == (OP, 0)

    def exchange(self, outputs: bytes, wait: int = 1 * MS) -> tuple[list[bytes], int]:
        """Send the same outputs to every slave; return every slave's inputs, and the working counter."""
        self.wait(wait)
        size = self.count * self.inputs
        (answer,) = self.send(Datagram(Command.LRW, 0, 0, outputs * self.count + bytes(size)))
        inputs = answer.data[self.count * self.outputs :]
        return [inputs[i : i + self.inputs] for i in range(0, size, self.inputs)], answer.working_counter

    # mailbox

    def post(self, content: bytes, protocol: int = Protocol.COE, counter: int | None = None) -> int:
        """Put a message into the first slave's mailbox."""
        if counter is None:
            self._counter = counter = mailbox.next_counter(self._counter)
        data = mailbox.encode(Message(protocol, counter, content), sii.MAILBOX_SIZE)
        return self.write(sii.MAILBOX_OUT, data)

    def collect(self) -> Message | None:
        """Take the message from the first slave's mailbox, None where there is none."""
        self.wait(1 * MS)
        address = physical(FIRST_STATION, sii.MAILBOX_IN)
        (answer,) = self.send(Datagram(Command.FPRD, 0, address, bytes(sii.MAILBOX_SIZE)))
        return mailbox.decode(answer.data) if answer.working_counter else None

    def sdo(self, body: bytes) -> bytes:
        """Send an SDO request and return the response, without the CoE header."""
        assert self.post(struct.pack("<H", 2 << 12) + body) == 1
        answer = self.collect()
        assert answer is not None
        assert answer.protocol == Protocol.COE
        service = 2 if answer.content[2] == 0x80 else 3  # aborts are requests
        assert answer.content[:2] == struct.pack("<H", service << 12)
        return answer.content[2:]

    def upload(self, index: int, subindex: int = 0) -> int:
        answer = self.sdo(struct.pack("<BHBI", 0x40, index, subindex, 0))
        assert answer[0] & 0xE3 == 0x43, answer.hex()
        return int.from_bytes(answer[4 : 8 - (answer[0] >> 2 & 3)], "little", signed=False)

    def download(self, index: int, subindex: int, value: int, size: int) -> int:
        """Write a value; return the abort code, 0 where it was taken."""
        command = 0x23 | (4 - size) << 2
        data = (value & (1 << 8 * size) - 1).to_bytes(4, "little")
        answer = self.sdo(struct.pack("<BHB", command, index, subindex) + data)
        return 0 if answer[0] == 0x60 else int.from_bytes(answer[4:8], "little")

    def map_pdo(self, index: int, *words: int) -> None:
        assert self.download(index, 0, 0, 1) == 0
        for i, word in enumerate(words, 1):
            assert self.download(index, i, word, 4) == 0
        assert self.download(index, 0, len(words), 1) == 0


HEAVY = PendulumBench(mass=19.6, length=0.5)
