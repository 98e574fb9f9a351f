# SPDX-License-Identifier: Apache-2.0
"""Finding servos: at which baud rate, with which protocol, and which model each one is."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bam_core.errors import Conflict, Unavailable, Unsupported
from bam_ros.driver.servo_bus import BusCorrupt, BusGone, BusTimeout
from bam_ros.dynamixel.control_table import CONTROL_TABLES, ControlTable, ControlTables
from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.register import Register
from bam_ros.dynamixel.state_block import direct_block
from bam_ros.text.dynamixel_notices import SearchBegun, numbers_list

BAUD_RATES = (57600, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 115200)
"""Tried in this order after the configured one: factory settings first, then what people choose."""
RARE_BAUD_RATES = (500_000, 200_000, 250_000, 400_000, 9600, 19200, 4_500_000, 6_000_000, 10_500_000)
"""Tried last, for known ids alone: what else control tables have. An adapter may not have all of them."""
_SCANNED_IDS = range(21)
_PROTOCOLS = (2, 1)  # in the order in which they are tried
_SWEEPS = 2  # through all rates for known ids: a machine without time may lose both pings of the right one
_TRIES = 10  # pings of a servo that is missing beside others: on a bad line, or a machine without time
_PINGS = 2  # of each id; an answer may be lost
_PING = 0.035  # s, without an answer
_BROADCAST = 0.8  # s, in which all ids may answer
_MODEL = Register(  # of every servo
    name="model_number", address=0, size=2, writable=False, initial=None, low=0, high=0xFFFF, signed=False
)
_FEETECH_MODEL, _FEETECH_SERIES = 3, (5, 8, 9, 10)  # address; SCS, SMS, STS, HLS
ALL_ANSWERS = 2
"""Status return level at which a servo answers every packet; at 1 only pings and reads, at 0 only pings."""


@dataclass(frozen=True, kw_only=True)
class FoundServos:
    """Servos that answer, all at one baud rate.

    Attributes:
        baud_rate: bit/s.
        tables: control table per id, in the order of the ids that were searched.
    """

    baud_rate: int
    tables: Mapping[int, ControlTable]

    @property
    def protocol(self) -> int:
        """Protocol of all servos, 1 or 2; 0 where both are on the line."""
        protocols = {table.protocol for table in self.tables.values()}
        return protocols.pop() if len(protocols) == 1 else 0

    def __str__(self) -> str:
        servos = ", ".join(
            f"id {servo}: {table.title}" + ("" if self.protocol else f" (protocol {table.protocol}.0)")
            for servo, table in self.tables.items()
        )
        protocol = f"protocol {self.protocol}.0" if self.protocol else "both protocols"
        return f"{servos}; {protocol} at {self.baud_rate} baud"


class NoServoAnswers(BusGone):
    """A port on which nobody answers.

    Attributes:
        ids: that were asked at every rate.
        baud_rates: at which every id was asked, bit/s.
        rare_baud_rates: at which `ids` were asked, too; may be empty.
        scanned: ids of Protocol 1.0 that were asked beside them; with Protocol 2.0 all are. Empty: none were.
    """

    def __init__(
        self,
        port: str,
        ids: Sequence[int],
        baud_rates: Sequence[int],
        *,
        rare_baud_rates: Sequence[int] = (),
        scanned: Sequence[int] = (),
    ) -> None:
        """Compose the line; `port` is the path, the rest see above."""
        self.ids, self.baud_rates = tuple(ids), tuple(baud_rates)
        self.rare_baud_rates, self.scanned = tuple(rare_baud_rates), tuple(scanned)
        named = numbers_list(ids)
        tried = f"id {named}"
        if scanned:
            tried += (
                f", every other id with protocol 2.0, ids {scanned[0]} to {scanned[-1]} with protocol 1.0"
            )
        rates = f"baud rates {numbers_list(baud_rates)}"
        if rare_baud_rates:
            rates += f", and for id {named} {numbers_list(rare_baud_rates)}"
        super().__init__(
            f"port {port}",
            f"no servo answers (tried {tried}; {rates})",
            advice="check the servo's power and its data cable, that it is on this port, and set baud_rate"
            " and ids if it has others",
        )


def find_servos(
    port: SerialPort,
    ids: Sequence[int],
    *,
    baud_rate: int = 0,
    protocol: int = 0,
    baud_rates: Sequence[int] = BAUD_RATES,
    search: bool = True,
    tables: ControlTables = CONTROL_TABLES,
    stop: Callable[[], bool] = lambda: False,
    report: Callable[[str], None] = lambda line: None,
) -> FoundServos:
    """Find servos with known ids; servos of both protocols may share the line.

    Args:
        port: open; keeps the baud rate that was found.
        ids: that must answer, all of them.
        baud_rate: tried before the others, bit/s; 0 where it is unknown.
        protocol: 1 or 2; 0 where it is unknown, or where both are on the line.
        baud_rates: the others.
        search: where servos are missing, look for other ids, protocols and rates that explain it; takes some
            seconds per rate.
        tables: of the models that may be there.
        stop: polled often; true ends the search.
        report: called with one line on what is searched, once the first baud rate has brought nothing.

    Raises:
        BusGone: not all of them answer; they may not have power yet. The message distinguishes a wrong id
            from a bus on which nothing answers.
        Conflict: they answer, but not all at one baud rate, or not with `protocol`.
        Unavailable: the search was stopped.
        Unsupported: a model is none of those that this driver knows.
    """
    rates = list(dict.fromkeys([*([baud_rate] if baud_rate else []), *baud_rates]))
    protocols = (protocol,) if protocol else _PROTOCOLS
    reported = not search
    damaged: dict[int, int] = {}  # id -> baud rate
    rare = [rate for rate in RARE_BAUD_RATES if rate not in rates] if search else []
    for rate in (*rates * _SWEEPS, *rare):
        if rate != rates[0] and not reported:
            reported = True
            report(str(_plan(port, ids, rates, protocols, len(rare))))
        links = [link for _, link in _links(port, [rate], protocols, stop, rare)]
        present = _answering(links, ids, tries=_PINGS)
        if present:  # the rate is right: what is missing may be lost answers alone
            present |= _answering(links, [servo for servo in ids if servo not in present], tries=_TRIES)
        damaged |= {servo: rate for link in links for servo in link.damaged if servo not in damaged}
        if len(present) == len(ids):
            models = {servo: _identify(present[servo], servo, tables) for servo in ids}
            for servo, table in models.items():
                _require_alone(present[servo], servo, table)
            return FoundServos(baud_rate=rate, tables=models)
        if present:
            missing = [servo for servo in ids if servo not in present]
            _require_undamaged({servo: damaged[servo] for servo in missing if damaged.get(servo) == rate})
            elsewhere = _search_elsewhere(port, missing, [rate, *rates], stop) if search else {}
            raise _incomplete(port, rate, present, missing, elsewhere)
    if not reported:
        report(str(_plan(port, ids, rates, protocols, len(rare))))
    _require_undamaged(damaged)
    if search and protocol:
        _require_protocol(port, protocol, _search_elsewhere(port, ids, rates, stop))
    raise _nothing(port, ids, rates, stop, search)


def _require_undamaged(damaged: Mapping[int, int]) -> None:
    """Refuse ids of which only damaged answers come, each with the baud rate at which they do."""
    for servo, rate in damaged.items():
        raise Conflict(
            f"id {servo}",
            f"answers at {rate} baud, and its answers are damaged",
            expected="one servo of this id",
            advice="give each servo an id of its own, connecting one at a time; else check the cable",
        )


def _require_alone(link: Link, servo: int, table: ControlTable) -> None:
    """Refuse two servos of one id and one model; raises Conflict.

    So far they have answered with the same bits. They measure another position, voltage or temperature, and
    then their answers damage each other.
    """
    block = direct_block(table)
    try:
        link.read_block((servo,), block.address, block.length)
    except BusTimeout:
        return  # a slow or lossy line, of which the first exchange tells more
    except BusCorrupt as error:
        raise Conflict(
            f"id {servo}",
            "answers pings, and damaged answers come where it is read",
            expected="one servo of this id",
            advice="give each servo an id of its own, connecting one at a time; else check the cable",
        ) from error


def _require_protocol(port: SerialPort, protocol: int, elsewhere: Mapping[int, tuple[int, int]]) -> None:
    """Refuse servos that answer with another protocol than the one that was set."""
    if elsewhere:
        who = ", ".join(
            f"id {servo} answers with protocol {number}.0 at {rate} baud"
            for servo, (rate, number) in elsewhere.items()
        )
        raise Conflict(
            f"port {port.port_name}",
            who,
            expected=f"protocol {protocol}.0, as set",
            advice="set the parameter protocol to 0",
        )


def _answering(links: Sequence[Link], ids: Iterable[int], *, tries: int) -> dict[int, Link]:
    """Return the servos that answer a ping, each with the link of its protocol.

    A servo that has answered is not asked with the next protocol: that would cost the time of an answer.
    """
    asked = ((servo, link) for servo in ids for _ in range(tries) for link in links)
    present: dict[int, Link] = {}
    for servo, link in asked:
        if servo not in present and link.ping(servo):
            present[servo] = link
    return present


def _search_elsewhere(
    port: SerialPort, ids: Sequence[int], rates: Sequence[int], stop: Callable[[], bool]
) -> dict[int, tuple[int, int]]:
    """Return the baud rate and the protocol of missing servos that answer with others than the rest."""
    settings: dict[int, tuple[int, int]] = {}
    every = list(dict.fromkeys([*rates, *BAUD_RATES, *RARE_BAUD_RATES]))
    for rate, link in _links(port, every, _PROTOCOLS, stop, RARE_BAUD_RATES):
        waiting = [servo for servo in ids if servo not in settings]
        settings |= dict.fromkeys(_answering([link], waiting, tries=2), (rate, link.protocol))
        if len(settings) == len(ids):
            break
    return settings


def _incomplete(
    port: SerialPort,
    rate: int,
    present: Mapping[int, Link],
    missing: Sequence[int],
    elsewhere: Mapping[int, tuple[int, int]],
) -> BusGone | Conflict:
    """Return why some servos are missing beside others: no answer, another baud rate, another protocol."""
    others = f"id {numbers_list(sorted(present))}"
    protocols = " and ".join(sorted({f"{link.protocol}.0" for link in present.values()}))
    silent = [servo for servo in missing if servo not in elsewhere]
    if silent:
        rates_elsewhere = "".join(
            f", id {servo} at {answering} baud" for servo, (answering, _) in elsewhere.items()
        )
        return BusGone(
            f"port {port.port_name}",
            f"no answer from id {numbers_list(silent)} ({others} answered with protocol {protocols} at {rate}"
            f" baud{rates_elsewhere})",
            advice="check its cable, id and baud rate",
        )
    if all(answering == rate for answering, _ in elsewhere.values()):
        who = ", ".join(f"id {servo} with protocol {number}.0" for servo, (_, number) in elsewhere.items())
        return Conflict(
            f"port {port.port_name}",
            f"{who} and {others} with protocol {protocols} answer",
            expected=f"protocol {protocols}, as set",
            advice="set the parameter protocol to 0: both protocols may share a line",
        )
    who = ", ".join(
        f"id {servo} answers at {answering} baud (protocol {number}.0)"
        for servo, (answering, number) in elsewhere.items()
    )
    return Conflict(
        f"port {port.port_name}",
        f"{who}, {others} at {rate} baud (protocol {protocols})",
        expected="one baud rate on a port",
        advice="write the same baud rate to the servos, or use a port for each",
    )


def _plan(
    port: SerialPort, ids: Sequence[int], rates: Sequence[int], protocols: Sequence[int], rare: int
) -> SearchBegun:
    known = _PINGS * len(ids) * len(protocols) * (_SWEEPS * len(rates) + rare) * _PING
    others = _PINGS * len(rates) * (_BROADCAST + len(_SCANNED_IDS) * _PING)
    return SearchBegun(
        port=port.port_name,
        baud_rates=tuple(rates),
        ids=tuple(ids),
        protocols=tuple(protocols),
        longest=float(math.ceil(known + others)),
    )


def _links(
    port: SerialPort,
    rates: Sequence[int],
    protocols: Sequence[int],
    stop: Callable[[], bool],
    optional: Collection[int] = (),
) -> Iterator[tuple[int, Link]]:
    """Yield a link per baud rate and protocol; optional rates that the adapter does not have are left out."""
    for rate in rates:
        try:
            port.setBaudRate(rate)
        except Unsupported:
            if rate in optional:
                continue
            raise
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
    stop: Callable[[], bool],
    search: bool,
) -> BusGone | Unavailable:
    """Look for servos with other ids, and return which of the two it is."""
    for rate, link in _links(port, rates if search else (), _PROTOCOLS, stop):
        others = next(filter(None, (_others(link, stop) for _ in range(_PINGS))), ())
        if others:
            return Unavailable(
                f"port {port.port_name}",
                f"no servo with id {numbers_list(ids)}, but id {numbers_list(others)} answered (protocol"
                f" {link.protocol}.0 at {rate} baud)",
                advice="set the parameter ids to it, or change the servo's id",
            )
    return NoServoAnswers(
        port.port_name,
        ids,
        rates,
        rare_baud_rates=RARE_BAUD_RATES if search else (),
        scanned=_SCANNED_IDS if search else (),
    )


def _others(link: Link, stop: Callable[[], bool]) -> tuple[int, ...]:
    """Return the ids that answer a ping: all with Protocol 2.0, _SCANNED_IDS with Protocol 1.0."""
    if link.protocol == 2:
        return link.broadcast_ping()
    return tuple(servo for servo in _SCANNED_IDS if not stop() and link.ping(servo))


def _identify(link: Link, servo: int, tables: ControlTables) -> ControlTable:
    try:
        number = link.read(servo, _MODEL)
    except BusTimeout:
        number = _first_answer(link, servo, tables)
    return _table(link, servo, number, tables)


def _table(link: Link, servo: int, number: int, tables: ControlTables) -> ControlTable:
    """Return the table of a model number; raises BamError where there is none, or of the other protocol."""
    table = tables.of_model(number)
    if table is None and is_feetech(link, servo):
        raise Unsupported(
            f"id {servo}",
            "is a Feetech servo, or answers as one",
            expected="a Dynamixel",
            advice="start the node feetech instead",
        )
    if table is None:
        raise Unsupported(
            f"id {servo}",
            f"model {number} is not supported",
            expected=f"one of the {len(tables)} that `bam servos --models` lists",
            advice="describe it in a YAML file (docs/reference/control_tables.md) and set the parameter"
            " models to that",
        )
    if table.protocol != link.protocol:
        raise Unsupported(
            f"id {servo}",
            f"{table.title} answers with protocol {link.protocol}.0",
            expected=f"protocol {table.protocol}.0, whose control table it has",
            advice=f"write {table.protocol} to its register protocol_type",
        )
    return table


def is_feetech(link: Link, servo: int) -> bool:
    """Return whether a servo of an unknown model is Feetech's: they answer packets of Protocol 1.0."""
    if link.protocol != 1:
        return False
    try:
        series, _ = link.read_one(servo, _FEETECH_MODEL, 2)
    except (BusTimeout, BusCorrupt):
        return False
    return series in _FEETECH_SERIES


def _first_answer(link: Link, servo: int, tables: ControlTables) -> int:
    """Return the model number of a servo that answers pings only: its status return level is 0.

    Its torque goes off, as that of every servo that is opened. Protocol 1.0 keeps the level in the EEPROM,
    which takes no writes before. With that protocol all tables have both registers at the same place; with
    Protocol 2.0 the answer to a ping has the model number.
    """
    if link.protocol == 1:
        table = next(table for table in tables.values() if table.protocol == 1)
    else:
        number = link.pinged_model(servo)
        if number is None:
            raise BusTimeout(f"id {servo}", "no answer", advice="check its power and cable")
        table = _table(link, servo, number, tables)
    level = table["status_return_level"]
    link.write_unconfirmed(servo, table["torque_enable"], 0)
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
