# SPDX-License-Identifier: Apache-2.0
"""Errors on runs that no fit has seen: servos found by `bam robot identify` beside `mujoco.sysid`.

Both see the same recordings of the same hidden arm, and both begin at the library's servos.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bam_core.errors import BamError, OutOfRange
from bam_core.files.atomic_file import require_file, write_text
from bam_core.robot.result import RobotIdentification
from bam_core.text.table import format_table
from studies.robot_arm.hidden import draw_arm, draw_session
from studies.robot_arm.ours import MODEL, identify_arm
from studies.robot_arm.peer import best_fit, require_peer

DURATION = 8.0  # s of each run


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One arm at one rate; errors are means of absolute values, rad.

    Attributes:
        seed: of the arm.
        rate: of the recording, Hz.
        library: error on test runs of the servos that both fits began at.
        fitted: ours, on the runs that were fitted.
        test: ours, on those that were not.
        seconds: that ours took.
        sysid_fitted: that of `mujoco.sysid`, on the runs that were fitted.
        sysid_test: on those that were not.
        sysid_seconds: that it took, with all of its settings.
        sysid_settings: that it was best with.
    """

    seed: int
    rate: float
    library: float
    fitted: float
    test: float
    seconds: float
    sysid_fitted: float
    sysid_test: float
    sysid_seconds: float
    sysid_settings: dict[str, Any]


def main(argv: Sequence[str] | None = None) -> int:
    """Record, fit twice, print a table and write JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.robot_arm.compare", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--rates", nargs="+", type=float, default=(100.0, 500.0), metavar="HZ")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="arms, drawn with seeds from 0 on")
    parser.add_argument("--json", default="robot_arm_results.json", metavar="FILE")
    arguments = parser.parse_args(argv)
    try:
        return _study(arguments)
    except BamError as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2


def _study(arguments: argparse.Namespace) -> int:
    if arguments.seeds < 1:
        raise OutOfRange("--seeds", arguments.seeds, "at least 1")
    require_file(arguments.json)
    require_peer()

    def say(words: str) -> None:
        print(words, file=sys.stderr, flush=True)

    results: list[Comparison] = []
    for seed in range(arguments.seeds):
        for rate in arguments.rates:
            random = np.random.default_rng(seed)
            arm = draw_arm(random)
            fitted, test = draw_session(arm, random, rate=rate, duration=DURATION)
            begin = time.monotonic()
            identified = identify_arm(fitted, test, say)
            ours = time.monotonic() - begin
            begin = time.monotonic()
            other = best_fit(fitted, say)
            theirs = time.monotonic() - begin
            results.append(
                Comparison(
                    seed=seed,
                    rate=rate,
                    library=_mae(identified, identified.test, before=True),
                    fitted=_mae(identified, identified.train),
                    test=_mae(identified, identified.test),
                    seconds=ours,
                    sysid_fitted=other.error(fitted),
                    sysid_test=other.error(test),
                    sysid_seconds=theirs,
                    sysid_settings=vars(other.settings),
                )
            )
            write_text(arguments.json, json.dumps([asdict(result) for result in results], indent=1) + "\n")
    print(_table(results))
    print(f"wrote {arguments.json}")
    return 0


def _mae(result: RobotIdentification, runs: Sequence[str], *, before: bool = False) -> float:
    error = result.mae(MODEL, runs, before=before)
    assert error is not None, "there are runs"
    return error


def _table(results: Sequence[Comparison]) -> str:
    rows = [
        (
            f"{result.seed}",
            f"{result.rate:g}",
            *(
                f"{1e3 * error:.2f}"
                for error in (
                    result.library,
                    result.fitted,
                    result.test,
                    result.sysid_fitted,
                    result.sysid_test,
                )
            ),
            f"{result.test / result.sysid_test:.2f}",
            f"{result.seconds:.0f}, {result.sysid_seconds:.0f}",
        )
        for result in results
    ]
    header = ("arm", "Hz", "library", "fitted", "test", "sysid fitted", "sysid test", "test, ours/sysid", "s")
    return "Mean absolute errors, mrad\n\n" + format_table(header, rows)


if __name__ == "__main__":
    sys.exit(main())
