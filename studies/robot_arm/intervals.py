# SPDX-License-Identifier: Apache-2.0
"""How often a robot's intervals (95 %) and bands (90 %) hold the truth, over arms that are drawn anew."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from bam_core.cli.cluster import add_cluster
from bam_core.errors import BamError, Conflict, Malformed, OutOfRange
from bam_core.files.atomic_file import require_file, write_text
from bam_core.identification.executors import Call, Shared, open_cluster, run_jobs, this_machine
from bam_core.text.table import format_table
from studies.robot_arm.hidden import draw_arm, draw_session
from studies.robot_arm.ours import MODEL, identify_arm

REPEATS = 50


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of one arm.

    Attributes:
        name: servo and parameter.
        truth: SI.
        value: found.
        low: end of the interval.
        high: likewise.
        told: by the runs.
    """

    name: str
    truth: float
    value: float
    low: float
    high: float
    told: bool

    @property
    def held(self) -> bool:
        """Whether the interval holds the truth."""
        return self.low <= self.truth <= self.high


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One arm, identified.

    Attributes:
        seed: that it was drawn with.
        rate: of the recording, Hz.
        duration: of a run, s.
        cpu_seconds: that its identification took, of one processor.
        parameters: of both servos.
        test_mae: on four runs that no fit has seen, of another kind and with other gains, rad.
        coverage: share of their samples within 90 % bands.
    """

    seed: int
    rate: float
    duration: float
    cpu_seconds: float
    parameters: list[Parameter]
    test_mae: float
    coverage: float


def one_arm(settings: tuple[float, float], seed: int) -> Arm:
    """Draw, record and identify one arm; settings are rate, Hz, and duration of a run, s."""
    rate, duration = settings
    random = np.random.default_rng((seed, 7))
    arm = draw_arm(random)
    fitted, test = draw_session(arm, random, rate=rate, duration=duration)
    begin = time.process_time()
    identification = identify_arm(fitted, test)
    fit = identification.fits[MODEL]
    seconds = time.process_time() - begin
    parameters = [
        Parameter(
            name=f"{servo} {name}",
            truth=arm.types[servo].parameters[name],
            value=estimate.value,
            low=estimate.low,
            high=estimate.high,
            told=estimate.told,
        )
        for servo, estimates in fit.estimates.items()
        for name, estimate in estimates.items()
    ]
    return Arm(
        seed=seed,
        rate=rate,
        duration=duration,
        cpu_seconds=seconds,
        parameters=parameters,
        test_mae=fit.after.mean_of(identification.test),
        coverage=float(np.mean(list(fit.coverage.values()))),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Count, print a table and write JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.robot_arm.intervals", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--repeats", type=int, default=REPEATS, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="seed of the first arm")
    parser.add_argument("--rate", type=float, default=100.0, metavar="HZ")
    parser.add_argument("--duration", type=float, default=8.0, metavar="S", help="of each of four runs")
    parser.add_argument(
        "--json",
        default="robot_arm_intervals.json",
        metavar="FILE",
        help="results; arms that are in it already are kept",
    )
    add_cluster(parser)
    arguments = parser.parse_args(argv)
    try:
        return _study(arguments)
    except BamError as error:
        print(f"intervals: {error}", file=sys.stderr)
        return 2


def _study(arguments: argparse.Namespace) -> int:
    if arguments.repeats < 1:
        raise OutOfRange("--repeats", arguments.repeats, "at least 1")
    require_file(arguments.json)
    settings = (arguments.rate, arguments.duration)
    done = {arm.seed: arm for arm in _read(Path(arguments.json))}
    if any((arm.rate, arm.duration) != settings for arm in done.values()):
        raise Conflict(
            f"--json {arguments.json}", "holds arms of another rate or duration", advice="name another file"
        )
    left = [seed for seed in range(arguments.first, arguments.first + arguments.repeats) if seed not in done]
    shared = Shared(settings)
    with (
        this_machine() if arguments.cluster is None else open_cluster(arguments.cluster) as executor,
        tqdm(total=len(left), desc="intervals", unit="arm", disable=None) as bar,
    ):
        for _, arm in run_jobs(executor, [Call(one_arm, shared, (seed,)) for seed in left]):
            done[arm.seed] = arm
            bar.update()
            entries = [asdict(done[seed]) for seed in sorted(done)]
            write_text(
                arguments.json, json.dumps(entries, indent=1) + "\n"
            )  # an ended study goes on from here
    arms = [done[seed] for seed in sorted(done)]
    print(_table([parameter for arm in arms for parameter in arm.parameters]))
    seconds = [arm.cpu_seconds for arm in arms]
    print(
        f"runs that no fit has seen: {1e3 * np.mean([arm.test_mae for arm in arms]):.2f} mrad, "
        f"{100 * np.mean([arm.coverage for arm in arms]):.1f} % of samples within 90 % bands"
    )
    print(f"{len(arms)} arms, {np.mean(seconds):.0f} s of one processor each ({max(seconds):.0f} at most)")
    print(f"wrote {arguments.json}")
    return 0


def _read(path: Path) -> list[Arm]:
    """Return the arms of an earlier study; raises Malformed where a file holds something else."""
    if not path.exists():
        return []
    try:
        return [
            Arm(**(entry | {"parameters": [Parameter(**fields) for fields in entry["parameters"]]}))
            for entry in json.loads(path.read_text(encoding="utf-8"))
        ]
    except (ValueError, TypeError, KeyError):
        raise Malformed(path, "is no file of this study", advice="name another or remove it") from None


def _table(parameters: Sequence[Parameter]) -> str:
    rows = []
    for name in dict.fromkeys(parameter.name for parameter in parameters):
        own = [parameter for parameter in parameters if parameter.name == name]
        rows.append((name, *_shares(own)))
    rows.append(("all", *_shares(parameters)))
    return format_table(("parameter", "held [%]", "told by the runs [%]", "of these held [%]"), rows)


def _shares(parameters: Sequence[Parameter]) -> tuple[str, str, str]:
    told = [parameter for parameter in parameters if parameter.told]
    return (
        f"{100.0 * np.mean([parameter.held for parameter in parameters]):.0f}",
        f"{100.0 * len(told) / len(parameters):.0f}",
        f"{100.0 * np.mean([parameter.held for parameter in told]):.0f}" if told else "-",
    )


if __name__ == "__main__":
    # Under this name: workers elsewhere could not load what is pickled as a part of `__main__`.
    from studies.robot_arm import intervals

    sys.exit(intervals.main())
