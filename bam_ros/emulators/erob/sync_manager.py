# SPDX-License-Identifier: Apache-2.0
"""One sync manager of a slave controller: who may touch a piece of memory, and when."""

from __future__ import annotations

from bam_ros.emulators.erob.registers import SYNC_MANAGER_SIZE, Register

_MODE_MASK, _BUFFERED, _MAILBOX = 0x03, 0x00, 0x02
_MASTER_WRITES = 0x04
_WATCHDOG = 0x40
_FULL = 0x08
_WRITTEN, _READ = 0x01, 0x02
_ENABLED, _REPEAT = 0x01, 0x02
_LOCKED, _REPEATED = 0x01, 0x02


class SyncManager:
    """A view of eight registers; `load` refreshes what it remembers of them.

    Args:
        memory: of the controller.
        number: 0 to 7.
    """

    def __init__(self, memory: bytearray, number: int) -> None:
        self._memory = memory
        self._at = Register.SYNC_MANAGER + SYNC_MANAGER_SIZE * number
        self.load()

    def load(self) -> None:
        """Read the registers; a manager that is switched off forgets what was in its memory."""
        memory, at = self._memory, self._at
        self.start = memory[at] | memory[at + 1] << 8
        self.length = memory[at + 2] | memory[at + 3] << 8
        self.end = self.start + self.length
        control = memory[at + 4]
        self.activated = bool(memory[at + 6] & _ENABLED) and self.length > 0
        self.enabled = self.activated and not memory[at + 7] & _LOCKED
        self.mailbox = control & _MODE_MASK == _MAILBOX
        self.buffered = control & _MODE_MASK == _BUFFERED
        self.master_writes = bool(control & _MASTER_WRITES)
        self.watchdog = bool(control & _WATCHDOG)
        if not self.enabled:
            memory[at + 5] = 0

    @property
    def control(self) -> int:
        """Control register, without bits that do not matter for its purpose."""
        return self._memory[self._at + 4] & (_MODE_MASK | _MASTER_WRITES)

    def overlaps(self, address: int, length: int) -> bool:
        """Return whether a piece of memory is this manager's."""
        return self.activated and address < self.end and address + length > self.start

    def lock(self, locked: bool) -> None:
        """Close or open the memory from the drive's side."""
        value = self._memory[self._at + 7]
        self._memory[self._at + 7] = value & ~_LOCKED | (_LOCKED if locked else 0)
        self.load()

    @property
    def full(self) -> bool:
        """Return whether a mailbox holds a message."""
        return bool(self._memory[self._at + 5] & _FULL)

    def fill(self) -> None:
        """Note that a message was written to the mailbox."""
        self._memory[self._at + 5] = _FULL | _WRITTEN

    def empty(self) -> None:
        """Note that the message was read."""
        self._memory[self._at + 5] = _READ

    @property
    def repeat_requested(self) -> bool:
        """Return whether the master wants the last message again."""
        return bool((self._memory[self._at + 6] ^ self._memory[self._at + 7]) & _REPEAT)

    def acknowledge_repeat(self) -> None:
        """Show that the message has been put back."""
        wanted = self._memory[self._at + 6] & _REPEAT
        self._memory[self._at + 7] = self._memory[self._at + 7] & ~_REPEATED | wanted

    def permits(self, address: int, length: int, *, write: bool) -> bool:
        """Return whether the master may read or write this piece now."""
        if (
            not self.enabled
            or write != self.master_writes
            or address < self.start
            or address + length > self.end
        ):
            return False
        return not self.mailbox or self.full != write
