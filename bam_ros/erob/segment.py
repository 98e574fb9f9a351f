# SPDX-License-Identifier: Apache-2.0
"""The drives on one interface, over unmodified pysoem: one frame per cycle, and others beside it.

SOEM's own wait sleeps for two ticks of the kernel (8 ms measured) whenever a frame is lost, and where its
socket does not block it spins, which at real-time priority keeps from the processor what it waits for: the
kernel's network thread, and emulated drives. So process data waits in `select`, on a socket from which late
answers to earlier cycles were taken first, and SOEM finds the answer at once. Frames beside process data wait
its way: one that is lost costs some periods, and nothing else. Nothing here uses a second thread, so pysoem
may keep the GIL; see `sdo.py` for mailbox traffic and `commissioning.py` for the way to OP.
"""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Sequence
from enum import Enum

import pysoem

from bam_core.errors import Unavailable
from bam_ros.erob import al_status
from bam_ros.erob.al_status import AlStatus, SlaveState
from bam_ros.erob.interface import (
    InterfaceClaim,
    no_permission,
    packet_sockets,
    require_interface,
    require_no_other_master,
)
from bam_ros.erob.pdo_layout import PdoLayout
from bam_ros.erob.sdo import Mailbox, SdoLost

_FRAME_TIMEOUT = 2000  # µs; of the frames beside process data
# While the segment is opened, µs: of frames, a full mailbox and objects. SOEM's own 2, 20 and 700 ms end all
# of it where the machine is busy.
_OPENING_FRAME, _MAILBOX_FULL, _OBJECT_TIMEOUT = 20_000, 500_000, 3_000_000
_LONGEST_SPIN = 200  # µs; where a late answer came in between after all


class Outcome(Enum):
    """What became of a cycle."""

    ANSWERED = "answered"
    UNANSWERED = "no answer"
    WRONG = "wrong working counter"
    STALE = "answer of an earlier cycle"


class Segment:
    """All slaves on one interface; those at `positions` are drives.

    Args:
        interface: name of the network interface.
        positions: of the drives on the segment, counted from 1.
        joints: names of their joints.
        layout: of the process data of every drive.
        period: of the cycle, ns.
        answer_timeout: after which a frame counts as lost, s.

    Attributes:
        slaves: the drives, in the order of `positions`, once they were found.
        warnings: what is not as it should be, one line each.
        working_counter: of the last exchange; negative where nothing came back.
        expected_counter: what it must be.
        dc_time: time of the first drive's clock in the last exchange, ns; 0 where there is none.
    """

    def __init__(
        self,
        interface: str,
        positions: Sequence[int],
        joints: Sequence[str],
        layout: PdoLayout,
        period: int,
        answer_timeout: float,
    ) -> None:
        self.interface = interface
        self.layout = layout
        self.period = period
        self.warnings: list[str] = []
        self.working_counter = 0
        self.expected_counter = 0
        self.dc_time = 0
        self.positions, self.joints = tuple(positions), tuple(joints)
        self._timeout = answer_timeout
        self._claim: InterfaceClaim | None = None
        self._master: pysoem.Master | None = None
        self.slaves: list[pysoem.CdefSlave] = []
        self._fd = -1
        self._twin: socket.socket | None = None  # the same socket as SOEM's
        self._late = bytearray(2048)
        self._gap = layout.receive.gap
        self._number = 0

    def open(self) -> None:
        """Take the interface; raises BamError."""
        self._claim = InterfaceClaim(self.interface)
        require_interface(self.interface)
        pysoem.settings.timeouts.ret = _OPENING_FRAME
        pysoem.settings.timeouts.tx_mailbox = _MAILBOX_FULL
        master = pysoem.Master()
        master.sdo_read_timeout = master.sdo_write_timeout = _OBJECT_TIMEOUT
        before = packet_sockets()
        try:
            master.open(self.interface)
        except ConnectionError:
            raise no_permission(self.interface) from None
        self._master = master
        self._fd = next(iter(packet_sockets() - before))
        self._twin = socket.socket(fileno=os.dup(self._fd))
        require_no_other_master(self.interface, self._fd)

    def exchange(self, outputs: Sequence[bytes]) -> Outcome:
        """Send process data and wait for the answer.

        The byte of a gap in the outputs carries the number of the cycle. It comes back with the frame, so
        that the late answer to an earlier one is not taken for this one. Distributed clocks show it, too.
        """
        slaves, master = self.slaves, self.soem
        for slave, data in zip(slaves, outputs, strict=True):
            slave.output = data
        if self._gap >= 0:
            self._number = (self._number + 1) & 0xFF
            marked = bytearray(outputs[0])
            marked[self._gap] = self._number
            first = bytes(marked)
            slaves[0].output = first
        else:
            first = outputs[0]
        self._forget_late_answers()
        master.send_processdata()
        answered = select.select((self._fd,), (), (), self._timeout)[0]
        os.set_blocking(self._fd, False)
        counter = master.receive_processdata(_LONGEST_SPIN if answered else 0)
        os.set_blocking(self._fd, True)
        self.working_counter = counter
        if counter < 0:
            return Outcome.UNANSWERED
        if slaves[0].output != first:
            return Outcome.STALE
        if counter != self.expected_counter:
            return Outcome.WRONG
        clock = master.dc_time
        if clock and clock <= self.dc_time:
            return Outcome.STALE
        self.dc_time = clock
        return Outcome.ANSWERED

    def inputs(self, index: int) -> bytes:
        """Return what a drive sent in the last exchange."""
        return bytes(self.slaves[index].input)

    def al_status(self, index: int) -> AlStatus | None:
        """Return the AL status of a drive, as `status`."""
        return self.status(self.slaves[index])

    def status(self, slave: pysoem.CdefSlave) -> AlStatus | None:
        """Return the AL status of a slave, None where it does not answer; costs one frame."""
        try:
            return AlStatus.decode(slave._fprd(al_status.REGISTER, al_status.LENGTH, _FRAME_TIMEOUT))
        except pysoem.WkcError:
            return None

    def mailbox(self, index: int) -> Mailbox:
        """Return the mailbox of a drive for traffic between cycles; costs one frame, raises SdoLost."""
        slave = self.slaves[index]

        def read(address: int, length: int) -> bytes:
            try:
                return bytes(slave._fprd(address, length, _FRAME_TIMEOUT))
            except pysoem.WkcError:
                raise SdoLost("no answer") from None

        def write(address: int, data: bytes) -> None:
            try:
                slave._fpwr(address, data, _FRAME_TIMEOUT)
            except pysoem.WkcError:
                raise SdoLost("not taken") from None

        return Mailbox.of(read, write)

    def who(self, index: int) -> str:
        """Return which slave that is, in words."""
        return f"slave at position {self.positions[index]} (joint {self.joints[index]!r})"

    def close(self) -> None:
        """Send every slave to INIT and give the interface back; never raises, idempotent."""
        master, self._master = self._master, None
        if master is not None:
            try:
                if self._twin is not None:
                    self._twin.close()
                if master.slaves:
                    master.state = int(SlaveState.INIT)
                    master.write_state()
            finally:
                master.close()
        self.slaves = []
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def _forget_late_answers(self) -> None:
        assert self._twin is not None
        try:
            while True:
                self._twin.recv_into(self._late, 0, socket.MSG_DONTWAIT)
        except OSError:  # there is none, or the interface is down
            return

    @property
    def soem(self) -> pysoem.Master:
        """The master underneath; raises Unavailable where the segment is not open."""
        if self._master is None:
            raise Unavailable(f"interface {self.interface}", "not open", advice="open it first")
        return self._master
