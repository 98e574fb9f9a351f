# SPDX-License-Identifier: Apache-2.0
"""`make soak`: the cycle on emulated drives for minutes, with torque and mailbox traffic, accounted for."""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tqdm import tqdm

from bam_core.errors import BamError
from bam_core.text.table import format_table
from bam_ros.driver.servo_bus import BusTimeout, ServoGoal
from bam_ros.erob.bus import ErobBus
from bam_ros.erob.cycle_statistics import CycleStatistics
from bam_ros.erob.objects import Object
from bam_ros.erob.pacing import Pacer, prefer_this_process
from bam_ros.erob.settings import ErobSettings
from studies.emulated_drives import EMULATED_TIMEOUT, EMULATED_WATCHDOG

TOLERABLE_LOSS = 1e-5
"""Share of the cycles that may be lost."""
GOAL = 300.0
"""µs of p99.9 that a machine which is not overloaded keeps to."""
_EXCHANGE_PERIOD = 2e-3  # s
_READ_PERIOD = 0.05  # s between reads over the mailbox
_PACING_TIME = 5.0  # s


@dataclass(frozen=True, kw_only=True)
class SoakResult:
    """What a run of the cycle came to.

    Attributes:
        cycle: figures of the master; see `CycleStatistics.summary`.
        pacing: jitter of the bare pacing on this machine right before, µs by name: nobody can do better.
        reads: objects read over the mailbox meanwhile.
        failed: those of them that were not answered.
        torque_lost: samples in which a drive had no torque though it should.
    """

    cycle: Mapping[str, float]
    pacing: Mapping[str, float]
    reads: int
    failed: int
    torque_lost: int

    @property
    def jitter(self) -> dict[str, float]:
        """Deviation of the period, µs: p50, p99, p99.9 and max."""
        return {name: self.cycle[name] for name in ("p50", "p99", "p99.9", "max")}

    def complaints(self) -> tuple[str, ...]:
        """Return what is not as it must be, one line each."""
        cycle = self.cycle
        lines = []
        if cycle["sent"] != cycle["answered"] + cycle["lost"]:
            lines.append(
                f"{cycle['sent']:.0f} cycles sent, {cycle['answered']:.0f} answered, {cycle['lost']:.0f}"
                f" lost: not all accounted for"
            )
        if cycle["lost"] > TOLERABLE_LOSS * cycle["sent"]:
            lines.append(
                f"{cycle['lost']:.0f} of {cycle['sent']:.0f} cycles lost (expected at most {TOLERABLE_LOSS:g}"
                f" of them)"
            )
        if cycle["wrong"]:
            lines.append(f"{cycle['wrong']:.0f} answers with a wrong working counter (expected none)")
        if self.failed:
            lines.append(f"{self.failed} of {self.reads} mailbox reads failed (expected none)")
        if self.torque_lost:
            lines.append(f"torque was off in {self.torque_lost} samples (expected none)")
        return tuple(lines)


def soak(
    interface: str,
    slaves: int,
    seconds: float,
    *,
    rate: float = 1000.0,
    answer_timeout: float = 0.0,
    show: bool = False,
) -> SoakResult:
    """Hold drives on a slow sine for some time, reading their objects meanwhile; raises BamError.

    Args:
        interface: where the drives are.
        slaves: how many, at positions 1 to that.
        seconds: how long.
        rate: cycles per second.
        answer_timeout: see `ErobSettings`; from EMULATED_TIMEOUT on the drives' watchdog is patient, too.
        show: whether to draw a progress bar.
    """
    pacing = bare_pacing(min(_PACING_TIME, seconds))
    bus = ErobBus(
        ErobSettings(
            interface=interface,
            joints=tuple(f"joint{number}" for number in range(1, slaves + 1)),
            positions=tuple(range(1, slaves + 1)),
            rate=rate,
            answer_timeout=answer_timeout,
            watchdog=EMULATED_WATCHDOG if answer_timeout >= EMULATED_TIMEOUT else 0.05,
        )
    )
    reads = failed = torque_lost = 0
    try:
        bus.open()
        start = last = time.monotonic()
        next_read = start + 2.0
        enabled = False
        with tqdm(total=round(seconds), disable=not show, unit="s", desc="soaking") as progress:
            while (now := time.monotonic()) < start + seconds:
                position = 0.2 * math.sin(now - start)
                goal = ServoGoal(torque_enable=(True,) * slaves, position=(position,) * slaves)
                try:
                    sample = bus.exchange(goal)
                    torque_lost += enabled and not all(sample.torque_enabled)
                    enabled = enabled or all(sample.torque_enabled)
                except BusTimeout:
                    pass  # the master has counted it
                if now >= next_read:
                    next_read = now + _READ_PERIOD
                    item = (Object.RATED_TORQUE, Object.SOFTWARE_VERSION)[reads % 2]
                    try:
                        bus.read_object(bus.names[reads % slaves], item)
                    except BamError:
                        failed += 1
                    reads += 1
                if now - last >= 1.0:
                    progress.update(round(now - last))
                    last = now
                time.sleep(_EXCHANGE_PERIOD)
        return SoakResult(
            cycle=dict(bus.report), pacing=pacing, reads=reads, failed=failed, torque_lost=torque_lost
        )
    finally:
        bus.close()


def bare_pacing(seconds: float, period: int = 1_000_000) -> dict[str, float]:
    """Return how even periods are on this machine where nothing is done in them, µs by name."""
    code = f"from studies.soak.cycle import pace; pace({round(seconds * 1e9 / period)}, {period})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def pace(periods: int, period: int) -> None:
    """Count periods of so many ns in which nothing is done, and print how even they were."""
    prefer_this_process()
    statistics = CycleStatistics()
    pacer = Pacer(period, time.monotonic_ns())
    last, _ = pacer.wait()
    for _ in range(periods):
        began, _ = pacer.wait()
        statistics.period(began - last - period)
        last = began
    print(json.dumps(statistics.percentiles()))


def table(result: SoakResult) -> str:
    """Return the figures as tables."""
    counts = ("sent", "answered", "lost", "unanswered", "wrong", "stale", "late")
    names = ("p50", "p99", "p99.9", "max")
    rows = [
        ("cycle", *(f"{result.cycle[name]:.0f}" for name in names)),
        ("bare pacing", *(f"{result.pacing[name]:.0f}" for name in names)),
    ]
    return "\n".join(
        (
            f"Cycles, with {result.reads} mailbox reads meanwhile:",
            format_table(counts, [tuple(f"{result.cycle[name]:.0f}" for name in counts)]),
            "",
            f"Deviation of the period, µs (goal for p99.9: {GOAL:.0f}):",
            format_table(("", *names), rows),
        )
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run it, print the tables; status 1 where something is not as it must be."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long (default: %(default)g)")
    parser.add_argument("--slaves", type=int, default=1, help="how many drives (default: %(default)s)")
    parser.add_argument("--rate", type=float, default=1000.0, help="cycles per second (default: %(default)g)")
    parser.add_argument(
        "--answer-timeout",
        type=float,
        default=0.0,
        help="s after which a frame counts as lost (default: two periods; for emulated drives 0.1)",
    )
    parser.add_argument(
        "--interface", default="", help="real drives instead of emulated ones: they will move"
    )
    arguments = parser.parse_args(argv)
    emulated = not arguments.interface
    timeout = arguments.answer_timeout or (EMULATED_TIMEOUT if emulated else 0.0)
    options = {"rate": arguments.rate, "answer_timeout": timeout, "show": True}
    try:
        if not emulated:
            result = soak(arguments.interface, arguments.slaves, arguments.seconds, **options)
        else:
            from bam_ros.emulators.erob.process import VirtualSegmentProcess

            with VirtualSegmentProcess(arguments.slaves) as segment:
                result = soak(segment.interface, arguments.slaves, arguments.seconds, **options)
    except BamError as error:
        print(f"make soak: {error}", file=sys.stderr)
        return 2
    print(table(result))
    for line in result.complaints():
        print(line, file=sys.stderr)
    return 1 if result.complaints() else 0


if __name__ == "__main__":
    raise SystemExit(main())
