# SPDX-License-Identifier: Apache-2.0
"""Finding servos: at which baud rate, with which protocol, and which model each one is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bam_ros.dynamixel.control_table import CONTROL_TABLES, ControlTable, table_for_model
from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.port import SerialPort
from bam_ros.servo_bus import BusError

BAUD_RATES = (57600, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 115200)
"""Tried in this order after the configured one: factory settings first, then what people choose."""
_SCANNED_IDS = range(21)
_MODEL = next(iter(CONTROL_TABLES.values()))["model_number"]  # at the same place in every table


@dataclass(frozen=True, kw_only=True)
class FoundServos:
    """Servos that answer, all at one baud rate and with one protocol.

    Attributes:
        baud_rate: bit/s.
        protocol: 1 or 2.
        tables: control table per id.
    """

    baud_rate: int
    protocol: int
    tables: Mapping[int, ControlTable]

    def __str__(self) -> str:
        servos = ", ".join(f"id {servo}: {table.title}" for servo, table in self.tables.items())
        return f"{servos}; protocol {self.protocol}.0 at {self.baud_rate} baud"


def find_servos(
    port: SerialPort,
    ids: Sequence[int],
    *,
    baud_rate: int = 0,
    protocol: int = 0,
    baud_rates: Sequence[int] = BAUD_RATES,
    search: bool = True,
    stop: Callable[[], bool] = lambda: False,
) -> FoundServos:
    """Find servos with known ids.

    Args:
        port: open; keeps the baud rate that was found.
        ids: that must answer, all of them.
        baud_rate: tried before the others, bit/s; 0 where it is unknown.
        protocol: 1 or 2; 0 where it is unknown.
        baud_rates: the others.
        search: where nothing answers, look for servos with other ids; takes about a second per rate.
        stop: polled often; true ends the search.

    Raises:
        BusError: not all of them answer, a model is not supported, or the search was stopped. The message
            tells a wrong id from a bus on which nothing answers.
    """
    rates = list(dict.fromkeys([*([baud_rate] if baud_rate else []), *baud_rates]))
    protocols = (protocol,) if protocol else (2, 1)
    for rate, link in _links(port, rates, protocols, stop):
        present = [servo for servo in ids if link.ping(servo) or link.ping(servo)]
        if len(present) == len(ids):
            tables = {servo: _identify(link, servo) for servo in ids}
            return FoundServos(baud_rate=rate, protocol=link.protocol, tables=tables)
        if present:
            missing = ", ".join(str(servo) for servo in ids if servo not in present)
            others = ", ".join(map(str, present))
            raise BusError(
                f"port {port.port_name}: no answer from id {missing} (id {others} answered with protocol"
                f" {link.protocol}.0 at {rate} baud); check its cable, id and baud rate"
            )
    raise _nothing(port, ids, rates, protocols, stop, search)


def _links(
    port: SerialPort, rates: Sequence[int], protocols: Sequence[int], stop: Callable[[], bool]
) -> Iterator[tuple[int, Link]]:
    for rate in rates:
        port.setBaudRate(rate)
        for protocol in protocols:
            if stop():
                raise BusError(f"port {port.port_name}: the search for servos was stopped; start it again")
            yield rate, Link(port, protocol)


def _nothing(
    port: SerialPort,
    ids: Sequence[int],
    rates: Sequence[int],
    protocols: Sequence[int],
    stop: Callable[[], bool],
    search: bool,
) -> BusError:
    """Look for servos with other ids, and say which of the two it is."""
    for rate, link in _links(port, rates if search else (), protocols, stop):
        if link.protocol == 2:
            others = link.broadcast_ping()
        else:
            others = tuple(servo for servo in _SCANNED_IDS if not stop() and link.ping(servo))
        if others:
            return BusError(
                f"port {port.port_name}: no servo with id {', '.join(map(str, ids))}, but id"
                f" {', '.join(map(str, others))} answered (protocol {link.protocol}.0 at {rate} baud);"
                " set the parameter ids to it, or change the servo's id"
            )
    tried = ", ".join(map(str, ids)) + (" and others" if search else "")
    return BusError(
        f"port {port.port_name}: no servo answers (tried id {tried}; baud rates {', '.join(map(str, rates))};"
        f" protocol {' and '.join(f'{number}.0' for number in protocols)}); check the servo's power and its"
        " data cable, that it is on this port, and set baud_rate if it has another"
    )


def _identify(link: Link, servo: int) -> ControlTable:
    number = link.read(servo, _MODEL)
    table = table_for_model(number)
    if table is None or table.protocol != link.protocol:
        known = ", ".join(f"{table.title} ({table.model_number})" for table in CONTROL_TABLES.values())
        raise BusError(f"id {servo}: model {number} is not supported (supported: {known}); use one of these")
    return table
