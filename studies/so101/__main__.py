# SPDX-License-Identifier: Apache-2.0
"""Print the table: ``python -m studies.so101 FOLDER [--identified DIR --models m4,m6 --horizon 1]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bam_core.errors import BamError
from bam_core.text.comma_list import comma_list
from studies.so101.table import Arm, text, validated, ways


def main(words: list[str] | None = None) -> int:
    """Simulate the test runs in every way."""
    parser = argparse.ArgumentParser(prog="python -m studies.so101", description=__doc__)
    parser.add_argument("folder", type=Path, help="with so101.xml and runs/")
    parser.add_argument("--identified", type=Path, help="what 'bam robot identify' wrote")
    parser.add_argument("--models", default="m4", help="friction models in it (default: %(default)s)")
    parser.add_argument(
        "--horizon",
        type=float,
        help="s, after which simulations start anew (default: never)",
    )
    arguments = parser.parse_args(words)
    try:
        arm = Arm.load(arguments.folder)
        rows = {}
        models = comma_list(arguments.models)
        for name, simulate in ways(arm, arguments.identified, models, arguments.horizon):
            print(name, file=sys.stderr, flush=True)
            rows[name] = validated(simulate, arm.test)
    except BamError as error:
        print(f"so101: {error}", file=sys.stderr)
        return 2
    print(text(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
