# SPDX-License-Identifier: Apache-2.0
"""Why a run does not count and has to be recorded again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from bam_ros.text.notice import Notice


@dataclass(frozen=True, kw_only=True)
class SpoiledRun(Notice):
    """Base of these reasons.

    Attributes:
        suffix: of the bag once it is set aside; one that `run_end.is_set_aside` knows.
        cure: what to do where that happens again and again.
    """

    suffix: ClassVar[str]
    cure: ClassVar[str]


@dataclass(frozen=True, kw_only=True)
class Stall(SpoiledRun):
    """States or commands are missing.

    Attributes:
        kind: "driver" (a pause between states), "lost_states" (on the way from the driver), or "recorder"
            (a pause between commands).
        amount: length of the pause, s, or number of states.
        limit: largest amount.
        at: time of the pause in the script, s; NaN where that does not count.
    """

    suffix: ClassVar[str] = "stalled"
    cure: ClassVar[str] = (
        "end other programs on this machine or use a faster one, or raise pause_limit in the session, then"
        " record again"
    )
    kind: Literal["driver", "lost_states", "recorder"]
    amount: float
    limit: float
    at: float = math.nan

    def __str__(self) -> str:
        if self.kind == "lost_states":
            lost = f"{self.amount:g} states were lost on the way from the driver"
            return f"{lost} (expected at most {self.limit:g})"
        what = "state" if self.kind == "driver" else "command"
        place = "" if math.isnan(self.at) else f" at {self.at:.2f} s of the script"
        return (
            f"the {self.kind} stalled, no {what} for {self.amount:.3f} s{place} (expected at most"
            f" {self.limit:.3g} s)"
        )


@dataclass(frozen=True, kw_only=True)
class GainsChanged(SpoiledRun):
    """A servo does not have its gains any more.

    Attributes:
        answer: of the driver, with those that it has.
        what: was recorded, "run" or "motion".
    """

    suffix: ClassVar[str] = "changed"
    cure: ClassVar[str] = (
        "end the client that sets gains, check the servo's supply for dips, then record again"
    )
    answer: str
    what: Literal["run", "motion"] = "run"

    def __str__(self) -> str:
        return f"the gains changed during the {self.what} ({self.answer})"


@dataclass(frozen=True, kw_only=True)
class DriverReleased(SpoiledRun):
    """The driver released the servo before the end of the script.

    Attributes:
        phase: of the motion, such as "moving to the start".
        elapsed: time in the script, s; NaN before it.
        pause: before that, without a state, s; 0 where it was none that counts.
    """

    suffix: ClassVar[str] = "released"
    cure: ClassVar[str] = "see the driver's log and /diagnostics for the reason, then record again"
    phase: str
    elapsed: float = math.nan
    pause: float = 0.0

    def __str__(self) -> str:
        in_script = not math.isnan(self.elapsed)
        place = f"{self.elapsed:.2f} s into the script" if in_script else f"while {self.phase}"
        pause = f", after {self.pause:.3f} s without a state" if self.pause else ""
        return f"the driver released the servo {place}{pause}"
