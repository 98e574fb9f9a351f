# SPDX-License-Identifier: Apache-2.0
"""How long a recording waits for drivers, and how often it tries again; no user has to choose it."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_ros.driver.gains_hold import HOLD_TIME
from bam_ros.recorder.motion import MotionTimes


@dataclass(frozen=True, kw_only=True)
class Waits:
    """Times in s.

    Attributes:
        discovery: a driver that is not heard after this is not there. Discovery takes up to 4 s.
        startup: the same for a driver that is started together with the recorder. A busy machine takes long
            to load it, and a virtual bench before it.
        announced: a driver that is not heard after this is named as awaited.
        listed: the drivers that are there are listed after this. Most of a bench are discovered by then.
        stale: a second publisher that is listed for longer is a real one: ROS 2 lists a killed one for up to
            20 s.
        silence: a driver that publishes nothing for this long has failed.
        supply: for readings of the supply; the driver was heard a moment ago.
        renewal: between two renewals of held gains; a fifth of the time after which a driver ends a hold.
        free: until gains that somebody else holds are free; then the holder lives, for it has renewed.
        ask_again: without an answer of a service. An answer is lost where the server has not found this
            client yet, which it has by then.
        attempts: for a run in which driver or recorder stalls, or the driver releases the servo.
        motion: before and after a script.
    """

    discovery: float = 10.0
    startup: float = 60.0
    announced: float = 0.5
    listed: float = 2.0
    stale: float = 30.0
    silence: float = 1.0
    supply: float = 2.0
    renewal: float = 1.0
    free: float = HOLD_TIME + 2.0
    ask_again: float = 3.0
    attempts: int = 5
    motion: MotionTimes = field(default_factory=MotionTimes)


DEFAULT_WAITS = Waits()
