# SPDX-License-Identifier: Apache-2.0
"""One emulated slave: the firmware between the slave controller and the drive. Time is an argument, in ns."""

from __future__ import annotations

import struct
from collections.abc import Callable

from bam_ros.emulators.erob import sii
from bam_ros.emulators.erob.bench import Bench
from bam_ros.emulators.erob.coe import RefusedRequest, emergency
from bam_ros.emulators.erob.controller import SlaveController
from bam_ros.emulators.erob.device_objects import SHORTEST_CYCLE, add_device_objects
from bam_ros.emulators.erob.distributed_clock import NEVER
from bam_ros.emulators.erob.drive import Drive
from bam_ros.emulators.erob.mailbox import Protocol
from bam_ros.emulators.erob.mailbox_server import MailboxServer
from bam_ros.emulators.erob.object_dictionary import Access, Entry, ObjectDictionary
from bam_ros.emulators.erob.process_data import ProcessData
from bam_ros.emulators.erob.registers import Register
from bam_ros.emulators.erob.state_machine import AlCode, AlState, AlStateMachine, Pending, Refusal
from bam_ros.erob.objects import Object

STATE_DELAY = 500_000
"""Time that it takes to change its state, ns."""
OP_TIMEOUT = 2_000_000_000
"""How long a request for OP waits for outputs and SYNC0, ns."""
_CYCLE_UNIT = 125_000
_IDLE_PERIOD = 20_000_000
_OUTPUTS, _INPUTS = 2, 3  # sync managers
_WATCHDOG_CLOCK = 40  # 25 MHz, ns


class VirtualSlave:
    """One slave on a segment.

    Args:
        servo: name in the library.
        bench: the physics behind the drive.
        identity: as in the EEPROM.
        drift: of its crystal, parts per billion.
        now: when it is switched on, ns.
    """

    def __init__(
        self,
        servo: str,
        bench: Bench,
        *,
        identity: sii.Identity | None = None,
        drift: int = 0,
        now: int = 0,
    ) -> None:
        self._identity = identity or sii.Identity()
        self._servo, self._drift = servo, drift
        self.bench = bench
        self.on_reconfigured: Callable[[], None] = lambda: None
        self.miscounts = False
        """Fault: its working counter is one too low in process data."""
        self.stuck_in_safe_op = False
        """Fault: it does not go to OP, and does not stay there."""
        self.mute = False
        """Fault: it does not answer SDO requests."""
        self.refused = RefusedRequest()
        """Fault: it aborts one SDO request."""
        self.due = NEVER
        """When `update` has to be called next, ns."""
        self.power_on(now)

    def power_on(self, now: int) -> None:
        """Start as after the supply came on: INIT, no station address, default mapping, torque off."""
        self.dictionary = ObjectDictionary()
        self.bench.commands[:] = 0.0
        self.drive = Drive(self.dictionary, self._servo, self.bench)
        self.drive.on_fault = self._report_fault
        add_device_objects(self.dictionary, self._identity, self._sync0_cycle)
        self.outputs = ProcessData(
            self.dictionary,
            Object.RECEIVE_PDO_ASSIGN,
            Object.RECEIVE_PDO,
            Access.RECEIVE,
            self.drive.objects.default_receive,
            self._may_map,
        )
        self.inputs = ProcessData(
            self.dictionary,
            Object.TRANSMIT_PDO_ASSIGN,
            Object.TRANSMIT_PDO,
            Access.TRANSMIT,
            self.drive.objects.default_transmit,
            self._may_map,
        )
        self._output_layout, self._input_layout = self.outputs.layout, self.inputs.layout
        eeprom = sii.build(self._identity, _sii_entries(self.drive.objects.default_receive),
                           _sii_entries(self.drive.objects.default_transmit))  # fmt: skip
        origin = now - self._identity.serial % 1000 * 1_000_000  # it has been on for a while
        self.controller = SlaveController(eeprom, drift=self._drift, origin=origin)
        self.controller.firmware = self
        self.states = AlStateMachine(self._enter)
        mailboxes = self.controller.sync_managers[:2]
        self._mailbox = MailboxServer(self.controller.memory, mailboxes, self.dictionary, self.refused)
        self._control: int | None = None
        self._control_due = NEVER
        self._pending_since = 0
        self._watchdog_at = NEVER
        self._watchdog_time = 0  # of the process data, ns; 0 where it is off
        self._watchdog_tripped = False
        self._outputs_seen = False
        self._latched = 0
        self._fresh_outputs = False
        self._idle_at = now + _IDLE_PERIOD
        self._now = now
        self._lock_managers()
        self._show_state()
        self._schedule()

    def _sync0_cycle(self) -> int:
        clock = self.controller.clock
        return clock.cycle if clock.active else 0

    def _may_map(self) -> bool:
        return self.states.state is AlState.PRE_OP

    # what the controller tells

    def reconfigured(self) -> None:
        """Note that FMMUs or sync managers are different now."""
        self.watchdog_written()
        self.on_reconfigured()

    def al_control_written(self, control: int, now: int) -> None:
        """Take a request for another state; it is acted upon a little later."""
        self._control = control
        self._control_due = now + STATE_DELAY
        self._schedule()

    def outputs_written(self, now: int) -> None:
        """Take new process data: they count at once, or with the next SYNC0."""
        if self._watchdog_at == NEVER:
            self.controller.memory[Register.WATCHDOG_STATUS] = 1
            self._outputs_seen = True
            self._watchdog_at = self.due = now  # both are put right below and by `update`
        self._watchdog_at = now + self._watchdog_time if self._watchdog_time else NEVER
        if self.states.pending is not None:
            self._control_due = min(self._control_due, now)
            self._schedule()
        if self.states.state is not AlState.OP:
            return
        layout = self._output_layout
        values = layout.packing.unpack_from(self.controller.memory, sii.OUTPUTS)
        for entry, value in zip(layout.entries, values, strict=True):
            entry.value = value
        if self.controller.clock.active:
            self._fresh_outputs = True
        else:
            self.bench.advance_to(now)
            self.drive.execute()

    def inputs_wanted(self, now: int) -> None:
        """Put the newest process data into the memory: those of the last SYNC0, or of this moment."""
        clock = self.controller.clock
        if clock.active:
            pulse = clock.last_sync0(now)
            if pulse is None or pulse <= self._latched:
                return
            self._pulse(pulse, clock.cycle)
        else:
            self.drive.sample(now)
        layout = self._input_layout
        layout.packing.pack_into(
            self.controller.memory, sii.INPUTS, *[entry.value for entry in layout.entries]
        )

    def _pulse(self, pulse: int, cycle: int) -> None:
        """Apply outputs at the first SYNC0 since the last look, and sample at the last one."""
        if self._fresh_outputs:
            self._fresh_outputs = False
            first = pulse - (pulse - self._latched - 1) // cycle * cycle if self._latched and cycle else pulse
            self.bench.advance_to(first)
            self.drive.execute()
        self.drive.sample(pulse)
        self._latched = pulse

    def mailbox_written(self, now: int) -> None:
        """Take a message; the answer comes a little later."""
        if not self.controller.clock.active:
            self.drive.sample(now)
        self._mailbox.take(now, mute=self.mute)
        self.drive.execute()
        self._schedule()

    def mailbox_read(self, now: int) -> None:
        """Put the next message into the mailbox."""
        self._mailbox.send(now)
        self._schedule()

    def repeat_requested(self, now: int) -> None:
        """Put the last message back into the mailbox."""
        self._mailbox.repeat()

    def _report_fault(self, code: int, register: int) -> None:
        if self.states.state is not AlState.INIT:
            self._mailbox.post(Protocol.COE, emergency(code, register), self._now)
            self._schedule()

    # time

    def update(self, now: int) -> None:
        """Do what is due."""
        self._now = now
        if now >= self._control_due:
            self._change_state(now)
        self._mailbox.send(now)
        if now >= self._watchdog_at:
            self._expire(now)
        if now >= self._idle_at:
            self._idle_at = now + _IDLE_PERIOD
            if now - self.bench.time > _IDLE_PERIOD:  # nobody looks at it
                self.drive.sample(now)
        self._schedule()

    def excuse(self, stall: int) -> None:
        """Forget a time in which the emulator itself did not run: no watchdog saw it."""
        if self._watchdog_at != NEVER:
            self._watchdog_at += stall
            self._schedule()

    def _schedule(self) -> None:
        self.due = min(self._control_due, self._watchdog_at, self._idle_at, self._mailbox.due)

    def watchdog_written(self) -> None:
        """Note that the watchdog has other times now."""
        memory = self.controller.memory
        divider, units = (
            struct.unpack_from("<H", memory, at)[0]
            for at in (Register.WATCHDOG_DIVIDER, Register.WATCHDOG_TIME_PROCESS_DATA)
        )
        watched = self.controller.sync_managers[_OUTPUTS].watchdog
        self._watchdog_time = units * (divider + 2) * _WATCHDOG_CLOCK if watched else 0

    def _expire(self, now: int) -> None:
        """The watchdog has run out: process data stayed away."""
        self._watchdog_at = NEVER
        self.bench.advance_to(now)
        memory = self.controller.memory
        memory[Register.WATCHDOG_STATUS] = 0
        counter = Register.WATCHDOG_COUNTER_PROCESS_DATA
        memory[counter] = min(memory[counter] + 1, 0xFF)
        self._outputs_seen = False
        if self.states.state is AlState.OP:
            self._watchdog_tripped = True
            self.states.fall(AlState.SAFE_OP, AlCode.WATCHDOG)
            self._show_state()

    # states

    def _change_state(self, now: int) -> None:
        self.bench.advance_to(now)
        control, self._control = self._control, None
        self._control_due = NEVER
        if control is not None:
            self.states.request(control)
            self._pending_since = now
        elif self.states.pending is not None:
            self.states.retry()
        if self.states.pending is not None:
            if now - self._pending_since > OP_TIMEOUT:
                self.states.give_up()
            else:
                self._control_due = now + _CYCLE_UNIT
        if self.stuck_in_safe_op and self.states.state is AlState.OP:
            self.states.fall(AlState.SAFE_OP, AlCode.SYNCHRONISATION_ERROR)
        self._show_state()

    def stick(self, stuck: bool) -> None:
        """Begin or end the fault that keeps it out of OP."""
        self.stuck_in_safe_op = stuck
        if stuck and self.states.state is AlState.OP:
            self.states.fall(AlState.SAFE_OP, AlCode.SYNCHRONISATION_ERROR)
            self._show_state()

    def _enter(self, before: AlState, after: AlState) -> None:
        """Check one step of the state machine and do what belongs to it; raises Refusal or Pending."""
        if after > before:
            match after:
                case AlState.PRE_OP:
                    self._check_mailbox()
                    self._mailbox.start()
                case AlState.SAFE_OP:
                    self._check_process_data()
                    self._check_clock()
                    self._outputs_seen = False
                case _:
                    self._check_clock()
                    self._check_op()
                    self.controller.memory[Register.WATCHDOG_STATUS] = 1
                    self.drive.enter_op()
        elif before is AlState.OP:
            tripped, self._watchdog_tripped = self._watchdog_tripped, False
            self.drive.leave_op(watchdog=tripped)
            self._fresh_outputs = False
        elif before is AlState.SAFE_OP:
            self._watchdog_at = NEVER
        self._lock_managers(after)

    def _lock_managers(self, state: AlState = AlState.INIT) -> None:
        """Open the sync managers that a state has in use."""
        managers = self.controller.sync_managers
        for manager in managers[:2]:
            manager.lock(state is AlState.INIT)
        for manager in managers[2:4]:
            manager.lock(state < AlState.SAFE_OP)
        self.on_reconfigured()

    def _show_state(self) -> None:
        memory = self.controller.memory
        struct.pack_into("<H", memory, Register.AL_STATUS, self.states.status)
        struct.pack_into("<H", memory, Register.AL_STATUS_CODE, self.states.code)

    def _check_mailbox(self) -> None:
        for number, manager in enumerate(self.controller.sync_managers[:2]):
            setup = sii.sync_managers(0, 0)[number]
            if not manager.activated or manager.start != setup.start or manager.length != setup.length:
                raise Refusal(AlCode.INVALID_MAILBOX)
            if manager.control != setup.control & 0x07:
                raise Refusal(AlCode.INVALID_MAILBOX)

    def _check_process_data(self) -> None:
        outputs, inputs = self.outputs.layout, self.inputs.layout
        setups = sii.sync_managers(outputs.size, inputs.size)
        codes = {_OUTPUTS: AlCode.INVALID_OUTPUTS, _INPUTS: AlCode.INVALID_INPUTS}
        for number, code in codes.items():
            manager, setup = self.controller.sync_managers[number], setups[number]
            expected = (setup.start, setup.length, setup.control & 0x07)
            if setup.length == 0 and not manager.activated:
                continue
            if not manager.activated or (manager.start, manager.length, manager.control) != expected:
                raise Refusal(code)
        self._output_layout, self._input_layout = outputs, inputs
        inputs.packing.pack_into(
            self.controller.memory, sii.INPUTS, *[entry.value for entry in inputs.entries]
        )

    def _check_clock(self) -> None:
        clock = self.controller.clock
        active = self.controller.memory[Register.DC_ACTIVATION]
        if not active:
            return
        if not clock.active:
            raise Refusal(AlCode.INVALID_DC_SYNC)
        if clock.cycle < SHORTEST_CYCLE or clock.cycle % _CYCLE_UNIT:
            raise Refusal(AlCode.INVALID_DC_CYCLE)

    def _check_op(self) -> None:
        if self.stuck_in_safe_op:
            raise Refusal(AlCode.SYNCHRONISATION_ERROR)
        if not self._outputs_seen and self._output_layout.size:
            raise Pending(AlCode.NO_VALID_OUTPUTS)
        clock = self.controller.clock
        if clock.active and clock.last_sync0(self._now) is None:
            raise Pending(AlCode.NO_SYNC)


def _sii_entries(entries: tuple[Entry, ...]) -> list[sii.PdoEntry]:
    return [
        sii.PdoEntry(index=e.index, subindex=e.subindex, bits=e.bits, name=e.name, data_type=e.data_type)
        for e in entries
    ]
