# SPDX-License-Identifier: Apache-2.0
"""Finding Feetech servos: at which baud rate they answer, and which model each one is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from bam_core.errors import Conflict, Unavailable, Unsupported
from bam_ros.driver.servo_bus import BusCorrupt, BusGone, BusTimeout
from bam_ros.dynamixel.control_table import CONTROL_TABLES as DYNAMIXELS
from bam_ros.dynamixel.control_table import ControlTable
from bam_ros.dynamixel.discovery import BAUD_RATES as DYNAMIXEL_RATES
from bam_ros.dynamixel.discovery import FoundServos
from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.state_block import direct_block
from bam_ros.feetech.control_table import BAUD_RATES, CONTROL_TABLES, PROTOCOL, control_table, table_for_model
from bam_ros.feetech.link import FeetechLink

RATES = tuple(BAUD_RATES.values())
"""Tried in this order after the configured one."""
_SWEEPS = 2  # through all rates: a machine without time may lose both pings of the right one
_TRIES = 10  # pings of a servo that is missing beside others
_SCANNED_IDS = range(21)
_BIG_ENDIAN = 1  # in register byte_order
_DYNAMIXEL_MODEL = 0  # address of the model number of every Dynamixel
_HLS = 10  # first byte of the model number of all HLS servos
_STS = control_table("sts3215")  # whose first registers lie where those of all families do
_STATE = direct_block(
    control_table("scs0009")
)  # of all families: position, speed, load, voltage, temperature


class FoundFeetech(FoundServos):
    """Servos that answer, all at one baud rate."""

    def __str__(self) -> str:
        servos = ", ".join(f"id {servo}: {table.title}" for servo, table in self.tables.items())
        return f"{servos}; {self.baud_rate} baud"


def find_servos(
    port: SerialPort,
    ids: Sequence[int],
    *,
    baud_rate: int = 0,
    search: bool = True,
    stop: Callable[[], bool] = lambda: False,
    announce: Callable[[str], None] = lambda line: None,
) -> FoundServos:
    """Find servos with known ids.

    Args:
        port: open; keeps the baud rate that was found.
        ids: that must answer, all of them.
        baud_rate: tried first, bit/s; 0 where it is unknown.
        search: whether the other rates are tried, and other ids where nothing answers.
        stop: polled often; true ends the search.
        announce: called with a line on what is searched, once the first rate has brought nothing.

    Raises:
        BusGone: not all of them answer.
        Conflict: two servos have one id, or some answer at another rate.
        Unavailable: the search was stopped, or others answer.
        Unsupported: a model without a control table, or of a series that this driver does not have.
    """
    rates = list(dict.fromkeys([*([baud_rate] if baud_rate else []), *(RATES if search else ())])) or [*RATES]
    announced = not search
    for rate in rates * _SWEEPS:
        if stop():
            raise Unavailable(
                f"port {port.port_name}", "the search for servos was stopped", advice="start it again"
            )
        if rate != rates[0] and not announced:
            announced = True
            announce(f"port {port.port_name}: searching servos, baud rates {_list(rates)} x ids {_list(ids)}")
        link = _link(port, rate)
        present = [servo for servo in ids if _answers(link, servo, 2)]
        if not present:
            continue
        present += [servo for servo in ids if servo not in present and _answers(link, servo, _TRIES)]
        missing = [servo for servo in ids if servo not in present]
        if missing:
            raise _incomplete(port, rate, present, missing, rates if search else ())
        return FoundFeetech(baud_rate=rate, tables={servo: _identify(link, servo) for servo in ids})
    raise _nothing(port, ids, rates, search, stop)


def _link(port: SerialPort, rate: int) -> FeetechLink:
    port.setBaudRate(rate)
    return FeetechLink(port, PROTOCOL)


def _answers(link: FeetechLink, servo: int, tries: int) -> bool:
    return any(link.ping(servo) for _ in range(tries))


def _list(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _incomplete(
    port: SerialPort, rate: int, present: Sequence[int], missing: Sequence[int], rates: Sequence[int]
) -> BusGone | Conflict:
    """Return why some servos are missing beside others: another baud rate, or no answer."""
    elsewhere: Mapping[int, int] = {
        servo: candidate
        for candidate in rates
        if candidate != rate
        for servo in missing
        if _answers(_link(port, candidate), servo, 2)
    }
    silent = [servo for servo in missing if servo not in elsewhere]
    if elsewhere and not silent:
        who = ", ".join(f"id {servo} answers at {own} baud" for servo, own in elsewhere.items())
        return Conflict(
            f"port {port.port_name}",
            f"{who}, id {_list(present)} at {rate} baud",
            expected="one baud rate on a port",
            advice="write the same value into their registers 6 (baud rate)",
        )
    rates_elsewhere = "".join(f", id {servo} at {own} baud" for servo, own in elsewhere.items())
    return BusGone(
        f"port {port.port_name}",
        f"no answer from id {_list(silent)} (id {_list(present)} answered at {rate} baud{rates_elsewhere})",
        advice="check its cable, id and baud rate",
    )


def _nothing(
    port: SerialPort, ids: Sequence[int], rates: Sequence[int], search: bool, stop: Callable[[], bool]
) -> BusGone | Unavailable | Unsupported:
    """Look for servos with other ids, or of the other maker, and return which of these it is."""
    for rate in rates if search else ():
        link = _link(port, rate)
        others = [servo for servo in _SCANNED_IDS if not stop() and link.ping(servo)]
        if others:
            return Unavailable(
                f"port {port.port_name}",
                f"no servo with id {_list(ids)}, but id {_list(others)} answered at {rate} baud",
                advice="set the parameter ids to it, or change the servo's id",
            )
    dynamixel = _dynamixel(port, ids, dict.fromkeys((*rates, *DYNAMIXEL_RATES)) if search else (), stop)
    if dynamixel is not None:
        return dynamixel
    return BusGone(
        f"port {port.port_name}",
        f"no servo answers (tried id {_list(ids)}; baud rates {_list(rates)})",
        advice="check the servo's power and its data cable, and set ids and baud_rate if it has others",
    )


def _require_feetech(link: FeetechLink, servo: int) -> None:
    """Refuse a Dynamixel with Protocol 1.0, whose packets are the same; raises Unsupported."""
    data = link.read_one(servo, _DYNAMIXEL_MODEL, 2)
    dynamixel = DYNAMIXELS.of_model(int.from_bytes(data, "little"))
    if dynamixel is not None and dynamixel.protocol == 1:
        raise _is_dynamixel(servo, dynamixel.title)


def _is_dynamixel(servo: int, title: str) -> Unsupported:
    return Unsupported(
        f"id {servo}",
        f"is a Dynamixel {title}",
        expected="a Feetech servo",
        advice="start the node dynamixel instead",
    )


def _dynamixel(
    port: SerialPort, ids: Sequence[int], rates: Iterable[int], stop: Callable[[], bool]
) -> Unsupported | None:
    """Return the error of a bus with Dynamixels of Protocol 2.0, which pass over packets of Feetech."""
    for rate in rates:
        port.setBaudRate(rate)
        link = Link(port, 2)
        for servo in ids:
            if stop():
                return None
            number = link.pinged_model(servo)
            if number is not None:
                table = DYNAMIXELS.of_model(number)
                return _is_dynamixel(servo, table.title if table is not None else f"of model {number}")
    return None


def is_driven(table: ControlTable) -> bool:
    """Return whether the driver accepts servos with this control table: those of the STS and SMS series."""
    return not _is_scs(table) and not _is_hls(table.model_number)


def _is_scs(table: ControlTable) -> bool:
    return "torque_limit" not in table


def _is_hls(model_number: int) -> bool:
    return model_number & 0xFF == _HLS


def _identify(link: FeetechLink, servo: int) -> ControlTable:
    """Return the control table of a servo; raises BamError."""
    try:
        _require_feetech(link, servo)
        order = link.read(servo, _STS["byte_order"])
        data, _ = link.read_block((servo,), _STS["model_number"].address, 2)[servo]
        # Two servos of one id and one model have answered with the same bits so far. They measure another
        # position, voltage or temperature, and then their answers damage each other.
        link.read_block((servo,), _STATE.address, _STATE.length)
    except (BusTimeout, BusCorrupt) as error:
        raise Conflict(
            f"id {servo}",
            "answers pings, and damaged answers come where it is read",
            expected="one servo of this id",
            advice="give each servo an id of its own, connecting one at a time; else check the cable",
        ) from error
    number = int.from_bytes(data, "little")
    table = table_for_model(number)
    if order == _BIG_ENDIAN or (table is not None and _is_scs(table)):
        raise Unsupported(
            f"id {servo}",
            f"is of the SCS series (model {number}), which sends the high byte first",
            expected="an STS or SMS servo",
            advice="use one of these: no control law of SCS servos is known",
        )
    if _is_hls(number):
        raise Unsupported(
            f"id {servo}",
            f"is of the HLS series (model {number}), whose position law sets a current",
            expected="an STS or SMS servo",
            advice="use one of these: no measurement gives the scale of that current",
        )
    if table is None:
        known = ", ".join(f"{table.title} ({table.model_number})" for table in CONTROL_TABLES.values())
        raise Unsupported(
            f"id {servo}",
            f"model {number} is not supported",
            expected=known,
            advice="use one of these, or add it to bam_ros/feetech/control_tables.yaml",
        )
    return table
