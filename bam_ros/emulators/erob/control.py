# SPDX-License-Identifier: Apache-2.0
"""Lines that break, repair and look at a running segment: what an operator beside the bench would do."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from bam_core.errors import BamError, Conflict, OutOfRange, UnknownName, WrongType
from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.erob.faults import parse_faults
from bam_ros.emulators.erob.server import SegmentServer
from bam_ros.emulators.erob.slave import VirtualSlave

COMMANDS = (
    "faults [WORD ...]",
    "load MASS LENGTH [ARM_MASS]",
    "place SLAVE POSITION",
    "abort SLAVE NUMBER",
    "swap",
    "look",
    "reveal",
)
"""What `execute` understands.

`abort` refuses the SDO request with this NUMBER, counted from now on (0: none). `swap` plugs the drives in
the reverse order, and switches them off and on.
"""


def set_load(server: SegmentServer, pendulum: PendulumBench) -> None:
    """Hang another load on every drive.

    Raises:
        Conflict: torque is on somewhere.
    """
    with server.lock:
        slaves = server.segment.slaves
        if any(slave.drive.torque_enabled for slave in slaves):
            raise Conflict("load", "torque is on (it moves while hands are near)", advice="turn it off first")
        now = time.monotonic_ns()
        for slave in slaves:
            slave.bench.advance_to(now)
            slave.bench.set_load(pendulum)


def execute(server: SegmentServer, line: str) -> str:
    """Execute a line and return the answer, one line of JSON; a mistake is {"error": ...}."""
    try:
        return json.dumps(_do(server, line.split()))
    except BamError as error:
        return json.dumps({"error": str(error)})


def _do(server: SegmentServer, words: list[str]) -> object:
    slaves = server.segment.slaves
    match words:
        case ["faults", *faults]:
            server.set_faults(parse_faults(faults, len(slaves)))
            return {}
        case ["load", mass, length, *rest] if len(rest) <= 1:
            arm_mass = _number(rest[0]) if rest else 0.0
            set_load(server, PendulumBench(mass=_number(mass), length=_number(length), arm_mass=arm_mass))
            return {}
        case ["place", which, position]:
            with server.lock:
                _slave(slaves, which).bench.place(_number(position))
            return {}
        case ["abort", which, number] if number.isdecimal():
            refused = _slave(slaves, which).refused
            refused.count, refused.number = 0, int(number)
            return {}
        case ["swap"]:
            with server.lock:
                server.segment.reverse(time.monotonic_ns())
            return {}
        case ["look"]:
            return look(server)
        case ["reveal"]:
            return [slave.bench.hidden.to_yaml() for slave in slaves]
        case _:
            raise UnknownName("command", " ".join(words), COMMANDS)


def _slave(slaves: Sequence[VirtualSlave], which: str) -> VirtualSlave:
    if not which.isdecimal() or not 1 <= int(which) <= len(slaves):
        raise OutOfRange("slave", which, f"1 to {len(slaves)}")
    return slaves[int(which) - 1]


def look(server: SegmentServer) -> dict[str, object]:
    """Return what the slaves do at this moment, and how fast the server is."""
    with server.lock:
        now = time.monotonic_ns()
        slaves = [_state_of(slave, now) for slave in server.segment.slaves]
        times = server.process_times()
        result: dict[str, object] = {
            "received": server.received,
            "answered": server.answered,
            "lost": server.lost,
            "slaves": slaves,
        }
    if times:
        times.sort()
        shares = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
        last = len(times) - 1
        result["process_us"] = {name: times[round(share * last)] / 1e3 for name, share in shares.items()}
    return result


def _state_of(slave: VirtualSlave, now: int) -> dict[str, object]:
    drive, state = slave.drive, slave.bench.state
    slave.bench.advance_to(now if not slave.controller.clock.active else slave.bench.time)
    return {
        "al_state": slave.states.state.name,
        "al_error": slave.states.error,
        "al_code": int(slave.states.code),
        "power_state": drive.state.name,
        "torque_enabled": drive.torque_enabled,
        "error_code": drive.error_code.value,
        "position": float(state[physics.POSITION]),
        "velocity": float(state[physics.VELOCITY]),
        "current": float(state[physics.CURRENT]),
        "supply": float(state[physics.SUPPLY]),
        "temperature": slave.bench.temperature,
        "sdo_requests": slave.refused.count,
    }


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise WrongType("word", word, "a number") from None
