# SPDX-License-Identifier: Apache-2.0
"""Finding servos: at which baud rate, with which protocol, and which model each one is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bam_core.errors import Unavailable, Unsupported
from bam_ros.driver.servo_bus import BusTimeout
from bam_ros.dynamixel.control_table import CONTROL_TABLES, ControlTable, table_for_model
from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.port import SerialPort

BAUD_RATES = (57600, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 115200)
"""Tried in this order after the configured one: factory settings first, then what people choose."""
_SCANNED_IDS = range(21)
_SWEEPS = 2  # through all rates for known ids: a machine without time may lose both pings of the right one
_TRIES = 10  # pings of a servo that is missing beside others: on a bad line, or a machine without time
_SECONDS_PER_RATE = 2.0  # of a search that finds nothing, both protocols
_MODEL = next(iter(CONTROL_TABLES.values()))["model_number"]  # at the same place in every table
ALL_ANSWERS = 2
"""Status return level at which a servo answers every packet; at 1 only pings and reads, at 0 only pings."""
_ANSWERING = {  # protocol -> registers, at the same place in every table of it
    table.protocol: (table["torque_enable"], table["status_return_level"])
    for table in CONTROL_TABLES.values()
}


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
    say: Callable[[str], None] = lambda line: None,
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
        say: told in one line what is searched, once the first baud rate has brought nothing.

    Raises:
        Unavailable: not all of them answer, or the search was stopped. The message tells a wrong id from a
            bus on which nothing answers.
        Unsupported: a model is none of those that this driver knows.
    """
    rates = list(dict.fromkeys([*([baud_rate] if baud_rate else []), *baud_rates]))
    protocols = (protocol,) if protocol else (2, 1)
    told = not search
    for rate, link in _links(port, rates * _SWEEPS, protocols, stop):
        if rate != rates[0] and not told:
            told = True
            say(_plan(port, ids, rates, protocols))
        present = [servo for servo in ids if _answers(link, servo, tries=2)]
        if present:  # rate and protocol are right: what is missing may be lost answers alone
            present = [servo for servo in ids if servo in present or _answers(link, servo, tries=_TRIES)]
        if len(present) == len(ids):
            tables = {servo: _identify(link, servo) for servo in ids}
            return FoundServos(baud_rate=rate, protocol=link.protocol, tables=tables)
        if present:
            missing = ", ".join(str(servo) for servo in ids if servo not in present)
            others = ", ".join(map(str, present))
            raise Unavailable(
                f"port {port.port_name}",
                f"no answer from id {missing} (id {others} answered with protocol {link.protocol}.0 at {rate}"
                " baud)",
                advice="check its cable, id and baud rate",
            )
    if not told:
        say(_plan(port, ids, rates, protocols))
    raise _nothing(port, ids, rates, protocols, stop, search)


def _answers(link: Link, servo: int, *, tries: int) -> bool:
    return any(link.ping(servo) for _ in range(tries))


def _plan(port: SerialPort, ids: Sequence[int], rates: Sequence[int], protocols: Sequence[int]) -> str:
    numbers = " and ".join(f"{number}.0" for number in sorted(protocols))
    return (
        f"port {port.port_name}: searching servos, baud rates {_list(rates)} x ids {_list(ids)} x"
        f" protocol {numbers}, then other ids; takes up to {_SECONDS_PER_RATE * len(rates):.0f} s"
    )


def _list(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _links(
    port: SerialPort, rates: Sequence[int], protocols: Sequence[int], stop: Callable[[], bool]
) -> Iterator[tuple[int, Link]]:
    for rate in rates:
        port.setBaudRate(rate)
        for protocol in protocols:
            if stop():
                raise Unavailable(
                    f"port {port.port_name}", "the search for servos was stopped", advice="start it again"
                )
            yield rate, Link(port, protocol)


def _nothing(
    port: SerialPort,
    ids: Sequence[int],
    rates: Sequence[int],
    protocols: Sequence[int],
    stop: Callable[[], bool],
    search: bool,
) -> Unavailable:
    """Look for servos with other ids, and say which of the two it is."""
    for rate, link in _links(port, rates if search else (), protocols, stop):
        if link.protocol == 2:
            others = link.broadcast_ping()
        else:
            others = tuple(servo for servo in _SCANNED_IDS if not stop() and link.ping(servo))
        if others:
            return Unavailable(
                f"port {port.port_name}",
                f"no servo with id {_list(ids)}, but id {_list(others)} answered (protocol {link.protocol}.0"
                f" at {rate} baud)",
                advice="set the parameter ids to it, or change the servo's id",
            )
    tried = f"id {_list(ids)}"
    if search and 2 in protocols:
        tried += ", every other id with protocol 2.0"
    if search and 1 in protocols:
        tried += f", ids {_SCANNED_IDS[0]} to {_SCANNED_IDS[-1]} with protocol 1.0"
    return Unavailable(
        f"port {port.port_name}",
        f"no servo answers (tried {tried}; baud rates {_list(rates)};"
        f" protocol {' and '.join(f'{number}.0' for number in protocols)})",
        advice="check the servo's power and its data cable, that it is on this port, and set baud_rate and"
        " ids if it has others",
    )


def _identify(link: Link, servo: int) -> ControlTable:
    try:
        number = link.read(servo, _MODEL)
    except BusTimeout:
        number = _first_answer(link, servo)
    table = table_for_model(number)
    if table is None or table.protocol != link.protocol:
        known = ", ".join(f"{table.title} ({table.model_number})" for table in CONTROL_TABLES.values())
        raise Unsupported(
            f"id {servo}", f"model {number} is not supported", expected=known, advice="use one of these"
        )
    return table


def _first_answer(link: Link, servo: int) -> int:
    """Return the model number of a servo that answers pings only: its status return level is 0.

    Its torque goes off, as that of every servo that is opened. Protocol 1.0 keeps the level in the EEPROM,
    which takes no writes before.
    """
    torque, level = _ANSWERING[link.protocol]
    link.write_unconfirmed(servo, torque, 0)
    link.write_unconfirmed(servo, level, ALL_ANSWERS)
    try:
        return link.read(servo, _MODEL)
    except BusTimeout as error:
        if not link.ping(servo):
            raise
        raise Unavailable(
            f"id {servo}",
            "answers pings but neither reads nor writes",
            expected=f"status return level {ALL_ANSWERS}",
            advice=f"write {ALL_ANSWERS} to its register {level.address}, or restart it",
        ) from error
