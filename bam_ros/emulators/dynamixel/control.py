# SPDX-License-Identifier: Apache-2.0
"""Lines that break, repair and look at a running bus: what an operator beside the bench would do."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import replace

from bam_core.errors import BamError, OutOfRange, UnknownName
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.builder import BusSetup, build_servo
from bam_ros.emulators.dynamixel.line_faults import LineFaults, parse_faults
from bam_ros.emulators.dynamixel.pty_server import PtyServer
from bam_ros.emulators.dynamixel.servo import VirtualServo

COMMANDS = (
    "faults [WORD[@ID] ...]",
    "power_cycle [ID ...]",
    "unplug",
    "plug",
    "double ID",
    "single",
    "look",
)
"""What `Control.execute` understands; `double` puts a second servo with the same id on the line."""
_OTHER_SEED = 1000  # of the servo that shares an id: it shall not be the same one


class Control:
    """Executes lines.

    Args:
        server: of the bus, which serves it.
        setup: of the bus.
    """

    def __init__(self, server: PtyServer, setup: BusSetup) -> None:
        self._server, self._setup, self._bus = server, setup, server.bus
        self._plugged = True

    def execute(self, line: str) -> str:
        """Execute a line and return the answer, one line of JSON; a mistake is {"error": ...}."""
        try:
            return json.dumps(self._do(line.split()))
        except BamError as error:
            return json.dumps({"error": str(error)})

    def _do(self, words: list[str]) -> object:
        match words:
            case ["faults", *faults]:
                self._break(faults)
            case ["power_cycle", *which]:
                with self._server.lock:
                    for servo in self._chosen(which):
                        servo.power_on(servo.bench.time)
            case ["unplug"]:
                self._server.stop()
                self._plugged = False
            case ["plug"]:
                self._server.start()
                self._plugged = True
            case ["double", which]:
                (servo,) = self._chosen([which])
                index = self._bus.servos.index(servo)
                other = replace(self._setup, seed=self._setup.seed + _OTHER_SEED)
                with self._server.lock:
                    self._bus.double = build_servo(other, index, servo.bench.time)
            case ["single"]:
                self._bus.double = None
            case ["look"]:
                return self._states()
            case _:
                raise UnknownName("command", " ".join(words), COMMANDS)
        return {}

    def _break(self, words: Iterable[str]) -> None:
        """Repair everything, then break what the words name: the line, servos, or one servo with `@ID`."""
        line: list[str] = []
        wanted: list[tuple[VirtualServo, str]] = []
        for word in words:
            name, _, place = word.partition("@")
            chances, faults = parse_faults([name], self._bus.servos[0].faults)
            line += [name] if chances else []
            wanted += [(servo, fault) for fault in faults for servo in self._chosen([place] if place else [])]
        chances, _ = parse_faults(line, ())
        with self._server.lock:
            self._bus.faults = LineFaults(seed=self._setup.seed, **chances)
            for servo in self._bus.servos:
                servo.repair()
            for servo, fault in wanted:
                servo.inject(fault)

    def _chosen(self, which: list[str]) -> list[VirtualServo]:
        """Return the servos with these ids; all of them where no id is given."""
        ids = {str(servo.id): servo for servo in self._bus.servos}
        for word in which:
            if word not in ids:
                raise OutOfRange("id", word, f"one of {', '.join(ids)}")
        return [ids[word] for word in which or ids]

    def _states(self) -> dict[str, object]:
        """Return what each servo does at this moment; `driven`: whether its controller moves the motor."""
        with self._server.lock:
            if not self._plugged:  # nobody else lets time pass on it
                self._bus.update(time.monotonic())
            return {
                "servos": [
                    {
                        "id": servo.id,
                        "torque_enabled": servo.torque_enabled,
                        "driven": int(servo.bench.commands[k.MODE]) not in (k.RELEASED, k.BRAKE),
                        "position": servo.bench.count / k.COUNTS_PER_RAD,
                    }
                    for servo in self._bus.servos
                ]
            }
