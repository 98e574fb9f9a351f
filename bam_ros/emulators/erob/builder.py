# SPDX-License-Identifier: Apache-2.0
"""Builds a virtual segment from settings of a user: servo, how many, load, seed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bam_core.errors import OutOfRange
from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators.erob.bench import Bench
from bam_ros.emulators.erob.hidden_drive import draw_hidden_drive
from bam_ros.emulators.erob.segment import Segment
from bam_ros.emulators.erob.sii import Identity
from bam_ros.emulators.erob.slave import VirtualSlave
from bam_ros.erob.objects import PRODUCT_CODE, VENDOR_ID

MOST_SLAVES = 32
_DRIFT = 20_000  # of a crystal at most, parts per billion


@dataclass(frozen=True, kw_only=True)
class SegmentSetup:
    """What is on the segment.

    Attributes:
        servo: name of an eRob in the library.
        slaves: count.
        pendulum: the load of each drive.
        seed: of the hidden parameters; slave i is drawn with seed + i, from 0.
        vendor: that the slaves report.
        product: that they report.
    """

    servo: str = "erob80_100"
    slaves: int = 1
    pendulum: PendulumBench = field(default_factory=lambda: PendulumBench(mass=8.2, arm_mass=1.0, length=0.5))
    seed: int = 0
    vendor: int = VENDOR_ID
    product: int = PRODUCT_CODE


def build_segment(setup: SegmentSetup, now: int) -> Segment:
    """Return the segment of a setup, switched on at `now`, ns.

    Raises:
        UnknownName: no such servo.
        OutOfRange: a number of slaves that is none.
    """
    if not 1 <= setup.slaves <= MOST_SLAVES:
        raise OutOfRange("slaves", setup.slaves, f"1 to {MOST_SLAVES}", advice="choose another number")
    slaves = []
    for i in range(setup.slaves):
        seed = setup.seed + i
        bench = Bench(draw_hidden_drive(setup.servo, seed), setup.pendulum, now)
        random = np.random.default_rng((seed, 1))
        identity = Identity(
            vendor=setup.vendor, product=setup.product, serial=int(random.integers(1, 1 << 31))
        )
        drift = int(random.integers(-_DRIFT, _DRIFT))
        slaves.append(VirtualSlave(setup.servo, bench, identity=identity, drift=drift, now=now))
    return Segment(slaves)
