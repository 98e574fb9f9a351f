# SPDX-License-Identifier: Apache-2.0
"""``bam servos check``: whether a servo file is fit to be contributed."""

from __future__ import annotations

import argparse
import json
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bam_core.cli.bench_effects import add_bench_effects
from bam_core.cli.logs import add_logs, add_strict
from bam_core.cli.map_words import add_map, map_words
from bam_core.cli.set_fields import add_set
from bam_core.files.atomic_file import require_file, write_text

EXAMPLE = "bam servos check my_servo.zip test_recordings/ --json check.json"

FIRST_SCREEN = ("--bench-effects", "--set", "--json")

_REFUSED = 1  # exit status of a servo that misses a criterion; 2 is for bad input


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "file", metavar="FILE", help="servo file with predictions/ beside it, or a bundle of both"
    )
    add_logs(parser)
    add_bench_effects(parser)
    add_set(parser)
    add_map(parser)
    add_strict(parser)
    parser.add_argument("--json", metavar="FILE", help="write criteria, errors [rad] and hashes to this file")


def run(arguments: argparse.Namespace) -> int:
    """Check and print."""
    from bam_core.cli.bench_effects import bench_effects_for
    from bam_core.exchange.bundle import read_bundle, require_understood
    from bam_core.exchange.contribution import check_contribution
    from bam_core.recordings import load_usable
    from bam_core.servo.model import servo_path

    if arguments.json:
        require_file(arguments.json)
    with ExitStack() as stack:
        given = Path(arguments.file)
        if given.is_dir() or given.suffix == ".zip":
            bundle = read_bundle(given)
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            file = bundle.write(Path(folder))
            require_understood(bundle, file, given)
        else:
            file = servo_path(arguments.file)
        loaded = load_usable(
            arguments.logs, set_fields=arguments.set, strict=arguments.strict, map=map_words(arguments)
        )
        bench = bench_effects_for(arguments.bench_effects, str(file))
        result = check_contribution(file, loaded.recordings, bench)
    if arguments.json:
        content = result.summary()
        if loaded.excluded:
            content["excluded"] = [excluded.summary() for excluded in loaded.excluded]
        write_text(arguments.json, json.dumps(content, indent=2) + "\n")
    for criterion in result.criteria:
        print(f"{'met   ' if criterion.passed else 'MISSED'}  {criterion}")
    verdict = result.verdict
    print(f"{verdict.kind.upper()}: {verdict}")
    return _REFUSED if verdict.missed else 0
