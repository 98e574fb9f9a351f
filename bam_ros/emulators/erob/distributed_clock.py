# SPDX-License-Identifier: Apache-2.0
"""The distributed clock of a slave: its own crystal, receive times, system time and SYNC0."""

from __future__ import annotations

import struct

from bam_ros.emulators.erob.registers import Register

HOP = 700
"""Time that a frame takes from one slave to the next, ns."""
NEVER = 1 << 62

_ACTIVE, _SYNC0 = 0x01, 0x02
_U32, _U64 = struct.Struct("<I"), struct.Struct("<Q")
_LARGEST_STEP = 2000  # that one frame corrects, ns
_RATE_SHARE = 64
_RATE_UNIT = 10**12


class DistributedClock:
    """Keeps the DC registers. Times without a name are those of the machine that emulates, ns.

    Args:
        memory: of the controller.
        drift: of the crystal, parts per billion.
        origin: what its local time was 0 at; slaves are switched on at different moments.
    """

    def __init__(self, memory: bytearray, *, drift: int = 0, origin: int = 0) -> None:
        self._memory = memory
        self._drift = drift
        self._origin = origin
        self.entry = 0
        """Delay of a frame from the master to this slave."""
        self.turn = 0
        """Time from there to the end of the segment and back."""
        self.load()
        self.start_filter()
        self._phase = 0
        self._corrected_at = origin
        self.active = False
        """Whether SYNC0 is generated."""
        self._cycle = 1
        self.pulses = 0
        """SYNC0 pulses that have been looked at."""

    def load(self) -> None:
        """Read offset and delay; to be called when they were written."""
        self._offset = _U64.unpack_from(self._memory, Register.DC_SYSTEM_OFFSET)[0]
        self._delay = _U32.unpack_from(self._memory, Register.DC_SYSTEM_DELAY)[0]

    def start_filter(self) -> None:
        """Forget the drift that the control loop has found."""
        self._rate = 0  # 1/_RATE_UNIT, added to the local time
        self._mean = 0

    def local(self, now: int) -> int:
        """Return the local time, ns."""
        since = now - self._origin
        return since + since * self._drift // 10**9

    def system(self, now: int) -> int:
        """Return the slave's copy of the system time, ns."""
        since = now - self._origin
        corrected = self._phase + (now - self._corrected_at) * self._rate // _RATE_UNIT
        return (since + since * self._drift // 10**9 + self._offset + corrected) & 0xFFFFFFFFFFFFFFFF

    def latch(self, now: int) -> None:
        """Latch when a frame passed the ports: a write to the receive times was in it."""
        there = self.local(now + self.entry)
        back = self.local(now + self.entry + self.turn)
        memory = self._memory
        _U32.pack_into(memory, Register.DC_RECEIVE_TIME, there & 0xFFFFFFFF)
        _U32.pack_into(memory, Register.DC_RECEIVE_TIME + 4, back & 0xFFFFFFFF if self.turn else 0)
        _U64.pack_into(memory, Register.DC_PROCESSING_TIME, there & 0xFFFFFFFFFFFFFFFF)

    def read_system_time(self, now: int) -> bytes:
        """Return the register of the system time while a frame passes."""
        return _U64.pack(self.system(now + self.entry))

    def receive_system_time(self, written: int, now: int) -> None:
        """Steer the clock towards the low 32 bits of the reference's time, which a frame has brought."""
        here = now + self.entry
        difference = (self.system(here) - self._delay - written) & 0xFFFFFFFF
        if difference & 0x80000000:
            difference -= 1 << 32
        self._phase += (here - self._corrected_at) * self._rate // _RATE_UNIT
        elapsed = max(here - self._corrected_at, 1)
        self._corrected_at = here
        step = min(max(-difference, -_LARGEST_STEP), _LARGEST_STEP)
        if abs(difference) <= _LARGEST_STEP and elapsed < 10**9:
            self._rate += step * _RATE_UNIT // (elapsed * _RATE_SHARE)
        self._phase += step // 4 if abs(step) > 3 else step
        self._mean += (difference - self._mean) // 8 if abs(difference - self._mean) > 7 else 0
        sign = 0x80000000 if self._mean < 0 else 0
        _U32.pack_into(self._memory, Register.DC_SYSTEM_DIFFERENCE, sign | min(abs(self._mean), 0x7FFFFFFF))

    def activate(self, now: int) -> None:
        """React to a write to the activation register."""
        bits = self._memory[Register.DC_ACTIVATION]
        wanted = bits & (_ACTIVE | _SYNC0) == _ACTIVE | _SYNC0
        if wanted and not self.active:
            self.pulses = 0
            self._cycle = max(self.cycle, 1)
            self._start = _U64.unpack_from(self._memory, Register.DC_START_TIME)[0]
            self._missed = self._start <= self.system(now)  # it would come when the counter wraps
        self.active = wanted
        self._memory[Register.DC_ACTIVATION_STATUS] = 1 if wanted else 0

    @property
    def cycle(self) -> int:
        """Period of SYNC0, ns, as in the register until it is activated."""
        return self._cycle if self.active else int(_U32.unpack_from(self._memory, Register.DC_SYNC0_CYCLE)[0])

    def last_sync0(self, now: int) -> int | None:
        """Return when the last pulse was, not later than `now`; None before the first."""
        if not self.active or self._missed:
            return None
        since = self.system(now) - self._start
        if since < 0:
            return None
        self.pulses = since // self._cycle + 1
        return now - since % self._cycle

    def next_start(self, now: int) -> int:
        """Return the system time of the next pulse, as the start time register shows it."""
        last = self.last_sync0(now)
        if last is None:
            return int(_U64.unpack_from(self._memory, Register.DC_START_TIME)[0])
        return self._start + self.pulses * self._cycle
