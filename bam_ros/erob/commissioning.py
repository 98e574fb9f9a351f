# SPDX-License-Identifier: Apache-2.0
"""From a cable to drives in OP: scan, process data, clocks, states, each with its own way to fail."""

from __future__ import annotations

import contextlib
import struct
import time
import warnings
from collections.abc import Callable, Sequence
from typing import TypeVar

import pysoem

from bam_core.errors import BamError, Conflict, OutOfRange, Unavailable, Unsupported
from bam_ros.driver.servo_bus import BusGone
from bam_ros.erob.al_status import AlStatus, SlaveState
from bam_ros.erob.cia402 import Mode
from bam_ros.erob.objects import PRODUCT_CODE, VENDOR_ID, Object
from bam_ros.erob.pdo_layout import Pdo
from bam_ros.erob.sdo import abort_name
from bam_ros.erob.segment import Segment
from bam_ros.text.al_status_words import al_status_cure

_T = TypeVar("_T")
_STATE_TIME = 3.0  # s; what a slave gets for one change of its EtherCAT state
_FRAME_TIMEOUT = 2000  # µs
_REPEATING = 0.5  # s; a busy machine may stand still for tens of ms, and a register may be written twice
_OUTPUT_SYNC_MANAGER_CONTROL = 0x0814
_WATCHDOG_ON = 0x40
_CYCLE_TIME_CODES = (0x002E, 0x0035, 0x0036)  # AL status
_SDO_ERRORS = (pysoem.SdoError, pysoem.MailboxError, pysoem.PacketError, pysoem.WkcError)


class Commissioning:
    """The steps that lead to OP, in the order of the methods. No process data runs before the last one.

    They raise Unavailable where lost frames may be the reason, so that the same again may work.

    Args:
        segment: open.
    """

    def __init__(self, segment: Segment) -> None:
        self._segment = segment

    def scan(self) -> None:
        """Scan the bus; verify vendor and product of each drive; raises BamError."""
        segment = self._segment
        drives = f"{_some('an eRob', 'eRobs', segment.positions)} at {_places(segment.positions)}"
        expected = f"{_count(max(segment.positions))}, {drives}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            count = segment.soem.config_init()
        if count <= 0:
            raise BusGone(
                f"interface {segment.interface}",
                "no EtherCAT slave answers",
                expected=expected,
                advice="check power, and that the cable is in the slave's input",
            )
        slaves = segment.soem.slaves
        names = ", ".join(f"{number}: {slave.name}" for number, slave in enumerate(slaves, 1))
        for position, joint in zip(segment.positions, segment.joints, strict=True):
            if position > count:
                raise BusGone(
                    f"slave at position {position} (joint {joint!r})",
                    "is missing",
                    expected=f"{expected}; found {_count(count)}, {names}",
                    advice=f"check the cable behind position {count} and power",
                )
            slave = slaves[position - 1]
            if (slave.man, slave.id) != (VENDOR_ID, PRODUCT_CODE):
                raise Conflict(
                    f"slave at position {position} (joint {joint!r})",
                    f"is {slave.name!r}, vendor 0x{slave.man:08X}, product 0x{slave.id:08X}",
                    expected=f"an eRob, vendor 0x{VENDOR_ID:08X}, product 0x{PRODUCT_CODE:08X}; found"
                    f" {names}",
                    advice="correct positions or the wiring",
                )
        segment.slaves = [slaves[position - 1] for position in segment.positions]
        others = [number for number in range(1, count + 1) if number not in segment.positions]
        if others:
            segment.warnings.append(
                f"{_some('slave', 'slaves', others)} at {_places(others)}: not used; leave"
                f" {_some('it', 'them', others)} out of the line"
            )
        for slave in slaves:
            slave.add_emergency_callback(lambda emergency: None)
        self._wait_state(SlaveState.PRE_OP, lambda: time.sleep(1e-3))

    def prepare(self, index: int) -> None:
        """Map the layout into one drive and choose its mode; only in PRE-OP. Raises BamError."""
        for assign, mapping, pdo in (
            (Object.RECEIVE_PDO_ASSIGN, Object.RECEIVE_PDO, self._segment.layout.receive),
            (Object.TRANSMIT_PDO_ASSIGN, Object.TRANSMIT_PDO, self._segment.layout.transmit),
        ):
            self._map(index, assign, mapping, pdo)
        modes = self.read_number(index, Object.SUPPORTED_MODES, default=0xFFFF)
        if not modes & Mode.CYCLIC_TORQUE.supported_bit:
            raise Unsupported(
                self._segment.who(index),
                f"knows no cyclic torque mode (supported modes 0x{modes:X})",
                advice="update its firmware",
            )
        self.write_object(index, Object.MODE_OF_OPERATION, 0, bytes([Mode.CYCLIC_TORQUE]))
        with contextlib.suppress(BamError):  # not every drive lets itself be told
            for subindex, number in enumerate(interpolation_period(self._segment.period), 1):
                self.write_object(
                    index,
                    Object.INTERPOLATION_PERIOD,
                    subindex,
                    bytes([number & 0xFF]),
                )

    def map(self, watchdog: float) -> None:
        """Go to SAFE-OP with everything mapped.

        Args:
            watchdog: time without process data after which a drive stops by itself, s.

        Raises:
            BamError: a drive has other process data than the layout, or refuses.
        """
        segment = self._segment
        for index in range(len(segment.slaves)):
            self._set_watchdog(index, watchdog)
        try:
            segment.soem.config_map()
        except pysoem.ConfigMapError as error:
            raise Unavailable(
                f"interface {segment.interface}",
                f"mapping failed ({'; '.join(_reason(e) for e in error.error_list)})",
                advice="switch the drives off and on",
            ) from None
        for index, slave in enumerate(segment.slaves):
            mapped = (len(slave.output), len(slave.input))
            wanted = (segment.layout.receive.size, segment.layout.transmit.size)
            if mapped != wanted:
                raise Conflict(
                    segment.who(index),
                    f"exchanges {mapped[0]} bytes out and {mapped[1]} in",
                    expected=f"{wanted[0]} and {wanted[1]}, layout {segment.layout.name}",
                    advice="does its firmware allow this mapping?",
                )
            if not self._control_of_outputs(slave) & _WATCHDOG_ON:
                segment.warnings.append(
                    f"{segment.who(index)}: watchdog is off (expected on); it will not stop by itself when"
                    f" the cable is cut: have an emergency stop in its supply"
                )
        segment.expected_counter = segment.soem.expected_wkc

    def start_clock(self) -> bool:
        """Let the first slave's clock lead the others', and the drives act in step with it; before OP.

        Returns:
            whether there are such clocks.
        """
        if not self._segment.soem.config_dc():
            self._segment.warnings.append(
                f"interface {self._segment.interface}: no slave has a distributed clock; cycles are free"
            )
            return False
        for slave in self._segment.slaves:
            slave.dc_sync(True, self._segment.period, self._segment.period // 2)
        return True

    def go_operational(self, cycle: Callable[[], object]) -> None:
        """Ask for OP, exchanging meanwhile.

        Args:
            cycle: one period with process data.

        Raises:
            BamError: a slave does not get there; names its state.
        """
        self._wait_state(SlaveState.SAFE_OP, cycle)
        self._segment.soem.state = int(SlaveState.OP)
        self._segment.soem.write_state()
        self._wait_state(SlaveState.OP, cycle)

    def read_number(self, index: int, item: Object, default: int | None = None, *, subindex: int = 0) -> int:
        """Read an unsigned object while no process data runs.

        Args:
            index: of the drive.
            item: the object.
            default: what to return where the drive does not have it; None: that is an error.
            subindex: of the object.

        Raises:
            BamError: it cannot be read.
        """
        slave = self._segment.slaves[index]
        try:
            return int.from_bytes(slave.sdo_read(item, subindex), "little")
        except _SDO_ERRORS as error:
            if default is not None and isinstance(error, pysoem.SdoError):
                return default
            raise self._refused(index, "read", item, 0, error) from None

    def write_object(self, index: int, item: int, subindex: int, data: bytes) -> None:
        """Write an object while no process data runs; raises BamError."""
        try:
            self._segment.slaves[index].sdo_write(item, subindex, data)
        except _SDO_ERRORS as error:
            raise self._refused(index, "write", item, subindex, error) from None

    def _set_watchdog(self, index: int, watchdog: float) -> None:
        """Set in a slave's controller how long to wait for process data, s."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that the time is rounded
                slave = self._segment.slaves[index]
                _repeated(lambda: slave.set_watchdog("processdata", watchdog * 1e3))
        except (AttributeError, pysoem.WkcError) as error:  # the first: longer than its divider allows
            kind = Unsupported if isinstance(error, AttributeError) else Unavailable
            raise kind(
                self._segment.who(index),
                f"does not take a watchdog of {watchdog * 1e3:g} ms ({str(error) or 'no answer'})",
                advice="switch it off and on, or set the parameter watchdog",
            ) from None

    def _map(self, index: int, assign: int, mapping: int, pdo: Pdo) -> None:
        self.write_object(index, assign, 0, b"\0")
        self.write_object(index, mapping, 0, b"\0")
        for number, entry in enumerate(pdo.entries, 1):
            try:
                self._segment.slaves[index].sdo_write(mapping, number, struct.pack("<I", entry.mapping))
            except pysoem.SdoError as error:
                way = "receives" if mapping == Object.RECEIVE_PDO else "sends"
                raise Unsupported(
                    self._segment.who(index),
                    f"object 0x{entry.index:04X} cannot be mapped as entry {number} of what it {way}"
                    f" ({_reason(error)}; expected by layout {self._segment.layout.name})",
                    advice="choose another layout",
                ) from None
            except _SDO_ERRORS as error:
                raise self._refused(index, "write", mapping, number, error) from None
        self.write_object(index, mapping, 0, bytes([len(pdo.entries)]))
        self.write_object(index, assign, 1, struct.pack("<H", mapping))
        self.write_object(index, assign, 0, b"\1")

    def _wait_state(self, state: SlaveState, meanwhile: Callable[[], object]) -> None:
        """Wait until every slave is in a state; raises BamError that names the first one that is not."""
        deadline = time.monotonic() + _STATE_TIME
        while True:
            statuses = [self._segment.status(slave) for slave in self._segment.slaves]
            if all(status and status.state is state and not status.error for status in statuses):
                return
            refused = any(status and status.error for status in statuses)
            if refused or time.monotonic() > deadline:
                for index, status in enumerate(statuses):
                    if status is None or status.state is not state or status.error:
                        raise self._kind(status)(
                            self._segment.who(index),
                            f"does not reach {state}, is in {status or 'no state, it does not answer'}",
                            expected=f"{state} within {_STATE_TIME:g} s",
                            advice=self._cure(status),
                        )
            for _ in range(10):
                meanwhile()

    @staticmethod
    def _kind(status: AlStatus | None) -> type[Unavailable | Unsupported]:
        return Unsupported if status is not None and status.code in _CYCLE_TIME_CODES else Unavailable

    def _cure(self, status: AlStatus | None) -> str:
        if status is not None and status.code in _CYCLE_TIME_CODES:
            period = self._segment.period * 1e-3
            return f"the drive rejects a cycle time of {period:g} µs: set the parameter cycle_rate"
        return al_status_cure(status.code if status is not None and status.error else 0)

    def _control_of_outputs(self, slave: pysoem.CdefSlave) -> int:
        try:
            return int(_repeated(lambda: slave._fprd(_OUTPUT_SYNC_MANAGER_CONTROL, 1, _FRAME_TIMEOUT))[0])
        except pysoem.WkcError:
            return 0

    def _refused(self, index: int, verb: str, item: int, subindex: int, error: Exception) -> BamError:
        who = self._segment.who(index)
        problem = f"cannot {verb} object 0x{item:04X}:{subindex} ({_reason(error)})"
        cure = "switch it off and on"
        if isinstance(error, pysoem.SdoError):
            return Unsupported(who, problem, advice=f"{cure}, and check that its firmware has this object")
        return Unavailable(who, problem, advice=cure)


def _repeated(ask: Callable[[], _T]) -> _T:
    """Ask until there is an answer, for a while: SOEM waits for milliseconds only. Raises WkcError."""
    deadline = time.monotonic() + _REPEATING
    while True:
        try:
            return ask()
        except pysoem.WkcError:
            if time.monotonic() > deadline:
                raise
            time.sleep(1e-3)


def interpolation_period(period: int) -> tuple[int, int]:
    """Return a period in ns as object 0x60C2 has it: count and power of ten of a second, both in a byte.

    Raises:
        OutOfRange: it has too many digits.
    """
    for power in range(-3, -10, -1):
        count, rest = divmod(period, 10 ** (9 + power))
        if not rest and count < 256:
            return count, power
    raise OutOfRange(
        "period", period, "few digits, such as 500000 ns", printed=f"{period} ns", advice="choose another"
    )


def _reason(error: Exception) -> str:
    """Return why a transfer of SOEM failed."""
    if isinstance(error, pysoem.SdoError):
        return f"{abort_name(error.abort_code)}, abort code 0x{error.abort_code & 0xFFFFFFFF:08X}"
    if isinstance(error, (pysoem.MailboxError, pysoem.PacketError)):
        return str(error.desc)
    return "no answer"


def _count(slaves: int) -> str:
    return f"{slaves} slave{'s' if slaves != 1 else ''}"


def _places(positions: Sequence[int]) -> str:
    return f"{_some('position', 'positions', positions)} {', '.join(map(str, positions))}"


def _some(one: str, many: str, of: Sequence[int]) -> str:
    return one if len(of) == 1 else many
