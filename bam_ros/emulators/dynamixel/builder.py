# SPDX-License-Identifier: Apache-2.0
"""Builds a virtual bus from settings of a user: servo names, ids, baud rate, load or robot, seed, faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bam_core.errors import Conflict, OutOfRange
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.comma_list import comma_list
from bam_ros.emulators.dynamixel.bench import Bench
from bam_ros.emulators.dynamixel.bus import VirtualBus
from bam_ros.emulators.dynamixel.catalog import DYNAMIXEL, Catalog
from bam_ros.emulators.dynamixel.line_faults import LineFaults, parse_faults
from bam_ros.emulators.dynamixel.servo import VirtualServo

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True, kw_only=True)
class BusSetup:
    """What is on the bus.

    Attributes:
        catalog: the servos that the bus can have.
        servo: key in the catalog, or one for each id, separated by commas; of an arm: not used.
        ids: bus id of each servo.
        baud_rate: bit/s.
        pendulum: the load of each servo; of an arm: not used.
        seed: of the hidden parameters; servo i is drawn with seed + i.
        faults: `drop=p`, `corrupt=p` for the line; names from VirtualServo.faults for every servo.
    """

    catalog: Catalog = DYNAMIXEL
    servo: str = "mx106"
    ids: Sequence[int] = (1,)
    baud_rate: int = 1_000_000
    pendulum: PendulumBench = field(
        default_factory=lambda: PendulumBench(mass=1.0, arm_mass=0.05, length=0.15)
    )
    seed: int = 0
    faults: Sequence[str] = ()

    @property
    def servos(self) -> list[str]:
        """Servo of each id; raises Conflict where there is neither one for each nor one for all."""
        names = comma_list(self.servo)
        if len(names) not in (1, len(self.ids)):
            raise Conflict(
                "servo",
                f"names {len(names)} servos for {len(self.ids)} ids",
                expected="one for all, or one for each id",
                advice="correct them",
            )
        return names * (len(self.ids) if len(names) == 1 else 1)


def build_servo(setup: BusSetup, index: int, now: float) -> VirtualServo:
    """Return one servo of the setup, switched on at `now`.

    Raises:
        BamError: unknown servo, or an id or baud rate that it cannot have.
    """
    name = setup.servos[index]
    hidden = setup.catalog.draw(name, setup.seed + index)
    return _servo(setup, index, name, Bench(hidden, setup.pendulum, now), now)


def build_bus(setup: BusSetup, now: float) -> VirtualBus:
    """Return the bus of a setup, switched on at `now`.

    Raises:
        BamError: as build_servo, or unknown faults, or ids given twice.
    """
    return _bus(setup, [build_servo(setup, index, now) for index in range(len(setup.ids))])


def build_arm_bus(setup: BusSetup, spec: mujoco.MjSpec, servos: Mapping[str, str], now: float) -> VirtualBus:
    """Return a bus with all servos of an arm, switched on at `now`.

    Args:
        setup: ids in the order of the joints, baud rate, seed and faults.
        spec: the arm.
        servos: joint -> servo, a key in the catalog.
        now: clock, s.

    Raises:
        BamError: as build_bus, or a robot that cannot be emulated.
    """
    # Not before it is needed: MuJoCo takes long to load, and starts a process meanwhile, which prints errors
    # where a signal ends this one.
    from bam_ros.emulators.dynamixel.arm import ArmJoint, draw_arm

    if len(setup.ids) != len(servos):
        raise Conflict(
            "ids",
            f"are {len(setup.ids)}, of {len(servos)} joints",
            expected=f"one for each of {', '.join(servos)}",
            advice="correct them",
        )
    arm = draw_arm(spec, servos, setup.seed, now, setup.catalog.draw)
    servos_on_arm = [
        _servo(setup, index, name, ArmJoint(arm, joint), now)
        for index, (joint, name) in enumerate(servos.items())
    ]
    return _bus(setup, servos_on_arm)


def _servo(setup: BusSetup, index: int, name: str, bench: Bench, now: float) -> VirtualServo:
    table = setup.catalog.table(name)
    identifier, highest = setup.ids[index], table["id"].high
    if not 0 <= identifier <= highest:
        raise OutOfRange(f"id of {table.title}", identifier, f"0 to {highest}", advice="choose another id")
    kind = setup.catalog.kinds[table.protocol]
    return kind(table, bench, identifier=identifier, baud_rate=setup.baud_rate, now=now)


def _bus(setup: BusSetup, servos: Sequence[VirtualServo]) -> VirtualBus:
    known = [fault for fault in servos[0].faults if all(fault in servo.faults for servo in servos)]
    line, broken = parse_faults(setup.faults, known)
    for servo in servos:
        for fault in broken:
            servo.inject(fault)
    return VirtualBus(servos, LineFaults(seed=setup.seed, **line))
