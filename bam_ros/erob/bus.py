# SPDX-License-Identifier: Apache-2.0
"""eRob servos on one EtherCAT segment as a `ServoBus`; the cycle runs in a process of its own."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from bam_core.errors import BamError, MissingSoftware, Unavailable, UnknownName, Unsupported
from bam_ros.driver.servo_bus import (
    BusTimeout,
    Gains,
    LawSettings,
    OtherServos,
    ServoBus,
    ServoGoal,
    ServoIdentity,
    ServoSample,
)
from bam_ros.erob.cia402 import decode_status
from bam_ros.erob.faults import drive_fault, fault_bits
from bam_ros.erob.master_process import MasterProcess
from bam_ros.erob.messages import AxisGoal, AxisSample, Goals, Samples
from bam_ros.erob.settings import ErobSettings, require_gain
from bam_ros.text.erob_notices import CycleLoss, OtherRatings
from bam_ros.text.notice import Notice

_FRESH_TIME, _FRESH_CYCLES = 0.02, 4  # s, or cycles, without an answered one: then a read counts as lost
_TOLERABLE_LOSS = 2.0  # cycles per second: one between two reports of the master
_RELEASE_TIME = 0.3  # s
_REQUEST_TIME = 4.0  # s; three attempts of the master, and its own timeout


class ErobBus(ServoBus):
    """Drives on one interface.

    Args:
        settings: which drives, and where.
        stop: polled while the segment is brought up; true ends that.
    """

    def __init__(self, settings: ErobSettings, stop: Callable[[], bool] = lambda: False) -> None:
        self._settings = settings
        self._models = settings.models()
        self._master_settings = settings.master()
        self._fresh_time = max(_FRESH_TIME, _FRESH_CYCLES / settings.rate)
        self._stop = stop
        self._master: MasterProcess | None = None
        self._kp = [settings.kp] * len(settings.joints)
        self._goals = self._released(0)
        self._codes: dict[str, int] = {}
        self._settings_warnings: tuple[OtherRatings, ...] = ()
        self._serials: tuple[int, ...] = ()  # of the drives that were there first

    @property
    def names(self) -> tuple[str, ...]:
        """Joint names."""
        return tuple(self._settings.joints)

    @property
    def identities(self) -> tuple[ServoIdentity, ...]:
        """The servo of each joint, as it was set, and its position on the segment."""
        return tuple(
            ServoIdentity(servo=servo.name, id=position)
            for servo, position in zip(self._models, self._settings.positions, strict=True)
        )

    @property
    def device(self) -> str:
        """Name of the network interface."""
        return self._settings.interface

    @property
    def law_settings(self) -> tuple[LawSettings, ...]:
        """What the law in the master may ask of each drive."""
        axes = self._master_settings.axes
        return tuple(LawSettings(demand_limit=axis.limits.heat_limit) for axis in axes)

    @property
    def position_limits(self) -> tuple[tuple[float, float], ...]:
        """Range of the counts of each drive, within the limits that were set, rad."""
        ranges = ((axis.encoder.limits(), axis.goals) for axis in self._master_settings.axes)
        return tuple((max(low, goals.low), min(high, goals.high)) for (low, high), goals in ranges)

    @property
    def warnings(self) -> tuple[Notice | str, ...]:
        """What drives and master are not as they should be, and cycles that go missing."""
        master = self._master
        if master is None:
            return ()
        lasting = (*self._settings_warnings, *master.warnings)
        if master.lost_share * self._settings.rate <= _TOLERABLE_LOSS:
            return lasting
        return (
            *lasting,
            CycleLoss(interface=self._settings.interface, share=master.lost_share),
        )

    @property
    def figures(self) -> Mapping[str, str]:
        """What the master counts: cycles, jitter, clock, states of the slaves."""
        report = self._master.report if self._master is not None else {}
        if not report:
            return {}
        counts = {
            "cycles sent": "sent",
            "cycles answered": "answered",
            "cycles lost": "lost",
            "cycles without answer": "unanswered",
            "cycles with wrong working counter": "wrong",
            "cycles with a late answer": "stale",
            "periods missed": "late",
        }
        offset = f"{report['offset'] / 1e3:.1f}" if report["clock"] else "no distributed clock"
        values = {label: f"{report[key]:.0f}" for label, key in counts.items()}
        values["working counter"] = f"{report['working_counter']} of {report['expected_counter']}"
        for name in ("p50", "p99", "p99.9", "max"):
            values[f"cycle jitter {name} [us]"] = f"{report[name]:.0f}"
        values["DC offset [us]"] = offset
        for axis, state, drive in zip(
            self._master_settings.axes, report["states"], report["drives"], strict=True
        ):
            values[f"slave {axis.position} ({axis.joint})"] = f"{state}, {drive}"
        return values

    @property
    def master_pid(self) -> int:
        """Process id of the master; 0 where none runs."""
        return self._master.pid if self._master is not None else 0

    @property
    def report(self) -> Mapping[str, float]:
        """Newest figures of the cycle as numbers; empty before the first."""
        return self._master.report if self._master is not None else {}

    def describe_errors(self, name: str, bits: int) -> tuple[str, ...]:
        """Return the drive's fault by its name and with its cure."""
        code = self._codes.get(name)
        return (str(drive_fault(name, code)),) if bits and code is not None else ()

    def open(self) -> str:
        """Start the master, which brings every drive to OP with torque off.

        Raises:
            OtherServos: drives are not where they were before; none was given torque.
            BamError: one line that names which of these failed, and what to do.
        """
        self.close()
        if importlib.util.find_spec("pysoem") is None:
            raise MissingSoftware(
                "EtherCAT", "pysoem", problem="pysoem is not installed", advice="pip install pysoem"
            )
        settings = self._settings
        self._goals = self._released(0)
        self._master = MasterProcess(self._master_settings, self._stop)
        self._require_same_drives(self._master.serials)
        self._settings_warnings = settings.warnings(self._master.ratings)
        drives = ", ".join(
            f"{joint}: {servo.title} at position {position}, serial number {serial}"
            for joint, servo, position, serial in zip(
                settings.joints, self._models, settings.positions, self._serials, strict=True
            )
        )
        return (
            f"interface {settings.interface}: {drives}; {settings.rate:g} cycles per second,"
            f" layout {settings.layout}"
        )

    def exchange(self, goal: ServoGoal) -> ServoSample:
        """Send goals to the master; take the first answered cycle that took them to the drives.

        Raises:
            BusTimeout: no cycle was answered meanwhile.
            BusGone: interface or slaves have vanished.
            BamError: the master gave up: torque is off, and the message has the reason.
        """
        master = self._opened()
        self._goals = Goals(
            self._goals.number + 1,
            tuple(
                self._axis_goal(index, torque, position)
                for index, (torque, position) in enumerate(
                    zip(goal.torque_enable, goal.position, strict=True)
                )
            ),
        )
        master.send_goals(self._goals)
        return self._sample(self._answer(master))

    def release(self) -> None:
        """Turn torque off on every drive and wait until all have confirmed; never raises."""
        master = self._master
        if master is None:
            return
        with contextlib.suppress(BamError):
            self._goals = self._released(self._goals.number + 1)
            master.send_goals(self._goals)
            deadline = time.monotonic() + _RELEASE_TIME
            while time.monotonic() < deadline:
                samples = master.fresh(self._fresh_time, tripped=True)
                if samples is None or samples.number < self._goals.number:
                    continue
                if not any(axis.enabled for axis in samples.axes):
                    return

    def set_gains(self, name: str, gains: Gains) -> Gains:
        """Set the gain of one drive's law, in force from the next cycle; its damping follows from kp.

        Raises:
            BamError: no such joint, a gain out of range, or one that the law does not have.
        """
        index = self._index(name)
        require_gain(f"kp of {name}", gains.kp)
        if gains.ki != 0.0 or gains.kd != 0.0:
            raise Unsupported(
                name,
                f"ki {gains.ki:g} and kd {gains.kd:g} are no part of its law",
                expected="0 for both",
                advice="set them to 0",
            )
        self._kp[index] = gains.kp
        return Gains(kp=gains.kp, ki=0.0, kd=0.0)

    def read_gains(self, name: str) -> Gains:
        """Return the gains of one drive's law, which the master runs; raises UnknownName."""
        return Gains(kp=self._kp[self._index(name)], ki=0.0, kd=0.0)

    def reboot(self, name: str) -> None:
        """Reset the fault of one drive, torque off on all.

        Raises:
            BamError: no such joint, or the fault stays.
        """
        index = self._index(name)
        self.release()
        answer = self._ask("reset", axis=index)
        if answer["error"]:
            fault = drive_fault(name, answer["code"])
            raise Unavailable(name, f"{answer['error']} 0x{answer['code']:04X}", advice=str(fault))

    def read_object(self, name: str, index: int, subindex: int = 0) -> bytes:
        """Read an object of a drive while process data runs, undisturbed.

        Raises:
            BamError: no such joint, the drive refused, or no answer.
        """
        return bytes.fromhex(self._object("read", name, index, subindex, b""))

    def write_object(self, name: str, index: int, subindex: int, data: bytes) -> None:
        """Write an object of a drive while process data runs; raises as `read_object`."""
        self._object("write", name, index, subindex, data)

    def close(self) -> None:
        """Release the drives, send them to INIT, end the master. Never raises; idempotent."""
        self.release()
        if self._master is not None:
            self._master.close()
            self._master = None

    def _require_same_drives(self, serials: tuple[int, ...]) -> None:
        """Refuse drives that were replugged in another order: goals of one joint would move another one."""
        changed = [
            f"{name}: serial number {now}, before {before}"
            for name, now, before in zip(self.names, serials, self._serials, strict=False)
            if now != before
        ]
        if changed:
            self.close()
            raise OtherServos(
                f"interface {self._settings.interface}",
                f"came back with drives in other places ({'; '.join(changed)}), torque stays off",
                advice="plug them as they were, or clean the node up and configure it anew",
            )
        self._serials = serials

    def _object(self, verb: str, name: str, index: int, subindex: int, data: bytes) -> str:
        answer = self._ask(verb, axis=self._index(name), index=index, subindex=subindex, data=data.hex())
        if answer["error"]:
            raise Unavailable(
                name,
                f"cannot {verb} object 0x{index:04X}:{subindex} ({answer['error']})",
                advice="check that the drive has it",
            )
        return str(answer["data"])

    def _ask(self, kind: str, **content: Any) -> Mapping[str, Any]:
        master = self._opened()

        def beat() -> None:
            master.send_goals(self._goals)

        return master.ask(kind, _REQUEST_TIME, beat, **content)

    def _answer(self, master: MasterProcess) -> Samples:
        deadline = time.monotonic() + self._fresh_time
        while (rest := deadline - time.monotonic()) > 0.0:
            samples = master.fresh(rest, number=self._goals.number)
            if samples is None:
                break
            # The queue may hold old ones where this process slept and the master could add no more.
            if time.monotonic_ns() - samples.taken < self._fresh_time * 1e9:
                return samples
        raise BusTimeout(
            f"interface {self._settings.interface}",
            f"no answered cycle for {self._fresh_time * 1e3:g} ms",
            advice=f"check cable and power, and that master process {master.pid} gets a processor",
        )

    def _sample(self, samples: Samples) -> ServoSample:
        axes = samples.axes
        return ServoSample(
            stamp=samples.stamp,
            position=tuple(axis.position for axis in axes),
            velocity=tuple(axis.velocity for axis in axes),
            current=tuple(axis.current for axis in axes),
            duty=(math.nan,) * len(axes),
            effort=tuple(axis.effort for axis in axes),
            voltage=tuple(axis.voltage for axis in axes),
            temperature=(math.nan,) * len(axes),
            goal_position=tuple(axis.goal if axis.driven else math.nan for axis in axes),
            torque_enabled=tuple(axis.driven for axis in axes),
            hardware_error=tuple(
                self._errors(name, axis) for name, axis in zip(self.names, axes, strict=True)
            ),
        )

    def _errors(self, name: str, axis: AxisSample) -> int:
        if not decode_status(axis.statusword).is_fault:
            return 0
        self._codes[name] = axis.error_code
        return int(fault_bits(axis.error_code))

    def _axis_goal(self, index: int, torque: bool, position: float) -> AxisGoal:
        stiffness, damping = self._models[index].firmware.gains(self._kp[index])
        return AxisGoal(torque, position, float(stiffness), float(damping))

    def _released(self, number: int) -> Goals:
        return Goals(number, tuple(AxisGoal(False, math.nan, 0.0, 0.0) for _ in self._models))

    def _opened(self) -> MasterProcess:
        if self._master is None:
            raise Unavailable(f"interface {self._settings.interface}", "not open", advice="open it first")
        return self._master

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise UnknownName("joint", name, self.names)
        return self.names.index(name)
