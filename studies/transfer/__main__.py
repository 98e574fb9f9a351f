# SPDX-License-Identifier: Apache-2.0
"""Tune, try and replay: ``python -m studies.transfer --output DIR``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bam_core.errors import BamError
from bam_core.files.atomic_file import require_directory, write_text
from bam_core.text.comma_list import comma_list
from studies.transfer.identified import identified
from studies.transfer.replay import replayed
from studies.transfer.table import replay_table, transfer_table, verdicts
from studies.transfer.tasks import TASKS
from studies.transfer.trial import Tried, tried_in_all
from studies.transfer.tuning import Budget

DEVELOPMENT, TEST = 101, 202
"""Seeds of hidden robots: those on which the study was decided, and those of the test."""


def main(words: Sequence[str] | None = None) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m studies.transfer", description=__doc__)
    parser.add_argument(
        "--output", type=Path, required=True, help="servo files and results; files are reused"
    )
    parser.add_argument("--tasks", default=",".join(TASKS), help="(default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=4, help="tunings of each simulation (default: 4)")
    parser.add_argument("--robots", type=int, default=36, help="hidden ones (default: 36)")
    parser.add_argument("--generations", type=int, default=60, help="of a tuning (default: 60)")
    parser.add_argument("--units", type=int, default=6, help="recorded units of a servo (default: 6)")
    parser.add_argument("--recordings", type=Path, help="folder with so101.xml and runs/, to replay")
    parser.add_argument(
        "--development", action="store_true", help="try on other robots than those of the test"
    )
    arguments = parser.parse_args(words)
    budget = Budget(generations=arguments.generations)
    hidden = DEVELOPMENT if arguments.development else TEST
    try:
        require_directory(arguments.output)
        content: dict[str, object] = {"budget": asdict(budget), "hidden_seed": hidden}
        for name in comma_list(arguments.tasks):
            task = TASKS[name]
            _progress(f"{task.title}: identify {task.servo}")
            known = identified(task.servo, arguments.output / task.servo, units=arguments.units)
            results = tried_in_all(
                task,
                known,
                budget,
                seeds=range(arguments.seeds),
                robots=arguments.robots,
                hidden=hidden,
                report=_progress,
            )
            print(f"\n{task.title}\n\n{transfer_table(results)}\n")
            print("\n".join(verdicts(results)), flush=True)
            content[name] = {simulation: _plain(tried) for simulation, tried in results.items()}
        if arguments.recordings is not None:
            rows = replayed(arguments.recordings)
            print(f"\nReplay on the SO-101\n\n{replay_table(rows)}")
            content["replay"] = {simulation: asdict(row) for simulation, row in rows.items()}
    except BamError as error:
        print(f"transfer: {error}", file=sys.stderr)
        return 2
    write_text(arguments.output / "transfer.json", json.dumps(content, indent=1) + "\n")
    return 0


def _plain(tried: Tried) -> Mapping[str, object]:
    return {
        "policies": tried.policies.tolist(),
        "promised": tried.promised.tolist(),
        "error": tried.error.tolist(),
        "success": tried.success.tolist(),
    }


def _progress(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
