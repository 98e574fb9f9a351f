# SPDX-License-Identifier: Apache-2.0
"""Whether the supply that a servo measures is the one that the session is written for."""

from __future__ import annotations

import math
import statistics
import time

from bam_core.errors import Conflict
from bam_core.recordings.recording import MEASURED_SUPPLY
from bam_ros.recorder.bench_link import BenchLink
from bam_ros.recorder.driver_client import TICK_PERIOD, Tick
from bam_ros.recorder.session import Session
from bam_ros.text.recorder_notices import OtherSupply

TOLERANCE = 0.05
"""Share of the nominal supply by which the measured one may differ without a warning.

Without torque there is no sag: what is left is the sensor (0.1 V steps, a few percent) and how the supply was
set. That of BAM's own recordings of an XL330 is off by 1.4 %.
"""
_SAMPLES = 15  # readings of some servos ripple; their median does not


def measured_supply(link: BenchLink, tick: Tick) -> float:
    """Return the median of some measured supply voltages, V; NaN where the servo measures none.

    Args:
        link: to the bench, torque off.
        tick: called about ten times a second; what it raises ends the measurement.
    """
    readings: dict[int, float] = {}
    deadline = time.monotonic() + link.waits.supply
    while len(readings) < _SAMPLES and time.monotonic() < deadline:
        states = link.newest
        if states is not None:
            readings[states.sequence] = float(states.voltage[list(states.name).index(link.joint)])
        tick()
        time.sleep(TICK_PERIOD / 10.0)
    known = [reading for reading in readings.values() if not math.isnan(reading)]
    return statistics.median(known) if known else math.nan


def supply_warning(session: Session, measured: float) -> OtherSupply | None:
    """Return a supply that is not the session's; None where it is, or nobody measures it.

    The measured supply is in every bag, and identification goes by it. A session that names another one is
    still a mistake, in the file or at the bench.

    Args:
        session: that is to be recorded.
        measured: V, without load.

    Raises:
        Conflict: they differ so much that no reader would take the bags.
    """
    nominal = session.supply_voltage
    low, high = (share * nominal for share in MEASURED_SUPPLY)
    difference = OtherSupply(session=session.name, nominal=nominal, measured=measured, tolerance=TOLERANCE)
    if math.isfinite(measured) and not low <= measured <= high:
        thing, expected = f"session {session.name}", f"{low:g} to {high:g} V"
        raise Conflict(thing, difference.problem, expected=expected, advice=difference.cure)
    if math.isnan(measured) or abs(measured - nominal) <= TOLERANCE * nominal:
        return None
    return difference
