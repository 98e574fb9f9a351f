# SPDX-License-Identifier: Apache-2.0
"""The health of a servo node as `diagnostic_msgs`: one status for the bus, one per servo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from std_msgs.msg import Header

from bam_ros.driver.bus_statistics import BusStatistics
from bam_ros.driver.hardware_errors import FATAL, describe_hardware_errors
from bam_ros.driver.servo_bus import ServoBus, ServoSample
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.text.driver_notices import LostReads, NothingRead

TOLERABLE_LOSS = 0.01
"""Share of lost reads up to which a bus counts as healthy."""


def servo_diagnostics(
    node: str, bus: ServoBus | None, loop: ServoLoop | None, failure: str, joints: Sequence[str]
) -> DiagnosticArray:
    """Return the state of a node in figures and, where something is wrong, in words.

    Its stamp is that of the sample that it has; 0 without one.

    Args:
        node: name of the node, with its namespace.
        bus: None while the node is unconfigured.
        loop: None while it is not active.
        failure: why configuring failed, empty where it did not.
        joints: of the bus that was configured last; each always has a status, so that none keeps an old one.
    """
    if bus is None or loop is None:
        level, text = (DiagnosticStatus.ERROR, failure) if failure else (DiagnosticStatus.OK, "not active")
        bus_status = _status(f"{node}: bus", level, text, {}, bus.device if bus is not None else "")
        return DiagnosticArray(status=[bus_status, *_unknown(node, joints, "not_active")])
    bus_status = _bus_status(node, bus, loop, loop.report())
    sample = loop.sample
    if sample is None:
        kind = "bus_lost" if loop.bus_lost else "not_yet"
        return DiagnosticArray(status=[bus_status, *_unknown(node, bus.names, kind)])
    withheld = loop.withheld
    seconds, nanoseconds = divmod(sample.stamp, 1_000_000_000)
    return DiagnosticArray(
        header=Header(stamp=Time(sec=seconds, nanosec=nanoseconds)),
        status=[
            bus_status,
            *(
                _servo_status(node, bus, sample, index, str(withheld.get(name, "")))
                for index, name in enumerate(bus.names)
            ),
        ],
    )


def _unknown(node: str, joints: Sequence[str], kind: str) -> list[DiagnosticStatus]:
    reason = str(NothingRead(kind=kind))
    return [_status(f"{node}: {name}", DiagnosticStatus.STALE, reason, {}) for name in joints]


def _bus_status(node: str, bus: ServoBus, loop: ServoLoop, statistics: BusStatistics) -> DiagnosticStatus:
    values = {
        "rate [1/s]": f"{statistics.rate:.1f}",
        "period jitter p50 [us]": f"{statistics.jitter_p50 * 1e6:.0f}",
        "period jitter p99 [us]": f"{statistics.jitter_p99 * 1e6:.0f}",
        "period jitter max [us]": f"{statistics.jitter_max * 1e6:.0f}",
        "samples": str(statistics.samples),
        "lost reads [%]": f"{statistics.lost * 100.0:.1f}",
        "timeouts": str(statistics.timeouts),
        "CRC errors": str(statistics.corrupt),
        **bus.figures,
    }
    if loop.fault is not None:  # a joint alone is no fault of the bus: its own status says what is wrong
        level = DiagnosticStatus.ERROR if loop.latched else DiagnosticStatus.WARN
        return _status(f"{node}: bus", level, loop.fault, values, bus.device)
    if not loop.running:
        return _status(f"{node}: bus", DiagnosticStatus.ERROR, "loop stopped", values, bus.device)
    warnings = [str(warning) for warning in bus.warnings]
    if statistics.lost > TOLERABLE_LOSS:
        warnings.insert(0, str(LostReads(share=statistics.lost, most=TOLERABLE_LOSS)))
    if warnings:
        return _status(f"{node}: bus", DiagnosticStatus.WARN, "; ".join(warnings), values, bus.device)
    return _status(f"{node}: bus", DiagnosticStatus.OK, "running", values, bus.device)


def _servo_status(
    node: str, bus: ServoBus, sample: ServoSample, index: int, withheld: str
) -> DiagnosticStatus:
    name, bits = bus.names[index], sample.hardware_error[index]
    errors = bus.describe_errors(name, bits) or describe_hardware_errors(name, bits)
    if withheld:
        errors = (*errors, withheld)
    wrong = bits & FATAL or withheld
    level = DiagnosticStatus.ERROR if wrong else DiagnosticStatus.WARN if bits else DiagnosticStatus.OK
    torque = "on" if sample.torque_enabled[index] else "off"
    identity = bus.identities[index]
    values = {
        "torque": torque,
        "position [rad]": f"{sample.position[index]:.4f}",
        "current [A]": f"{sample.current[index]:.3f}",
        "effort [N.m]": f"{sample.effort[index]:.3f}",
        "temperature [degC]": f"{sample.temperature[index]:.0f}",
        "voltage [V]": f"{sample.voltage[index]:.1f}",
        "hardware error": f"{bits:#x}",
    }
    values = {key: value for key, value in values.items() if value != "nan"}  # it measures no such thing
    if identity.servo:
        values["model"] = identity.servo
    if identity.id >= 0:
        values["id"] = str(identity.id)
    if identity.firmware:
        values["firmware"] = identity.firmware
    device = f"{bus.device} id {identity.id}" if bus.device and identity.id >= 0 else bus.device
    return _status(f"{node}: {name}", level, "; ".join(errors) or f"torque {torque}", values, device)


def _status(
    name: str, level: bytes, message: str, values: Mapping[str, str], device: str = ""
) -> DiagnosticStatus:
    """Return a status; where the device has no name, its hardware id is the name of the status."""
    return DiagnosticStatus(
        name=name,
        level=level,
        message=message,
        hardware_id=device or name,
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )
