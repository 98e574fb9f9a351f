# SPDX-License-Identifier: Apache-2.0
"""``bam import``: parameter and log JSON of BAM's own program, and bags to be repaired."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.errors import BadData, Conflict, NotWritable, WrongType
from bam_core.files.atomic_file import require_directory, require_file, scratch

if TYPE_CHECKING:
    from bam_core.recordings.recording import Recording

log = logging.getLogger(__name__)

EXAMPLE = "bam import recordings/ --output bags"

_NANOSECONDS = 10**9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Turn JSON of BAM's program into ours: a file of parameters (kt, R, ..., model, actuator) into a\n"
        "servo's YAML file, logs (mass, kp, ..., entries) into rosbag2 directories. What it holds decides.\n"
        "With --repair, turn bags whose recorder was interrupted into whole ones."
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="one file of parameters; or logs (with --repair: bags), or directories that are searched for "
        "them recursively",
    )
    parser.add_argument(
        "--output",
        required=True,
        metavar="PATH",
        help="the YAML file (a zero offset goes into bench_effects/ beside it); or the directory in which "
        "every log becomes a bag of its name; nothing is overwritten",
    )
    parser.add_argument(
        "--repair",
        action="store_true",
        help="copy every message that can be read of bags without metadata.yaml, cut off or damaged; of bags "
        "that are whole nothing is copied",
    )
    parser.add_argument(
        "--servo",
        metavar="NAME|FILE",
        help="servo whose firmware, name and search bounds the parameters get (default: the library's of the "
        "name that the file has as its actuator)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Import what is there, all of it or nothing."""
    paths = [Path(path) for path in arguments.files]
    if arguments.repair:
        if arguments.servo is not None:
            raise Conflict("--servo", "is for parameters, but --repair is given", advice="leave one out")
        _repair(paths, Path(arguments.output))
        return 0
    if any(_holds_parameters(path) for path in paths):
        if len(paths) > 1:
            raise Conflict(
                str(paths[1]),
                "is given beside parameters",
                expected="one file of them",
                advice="import one at a time",
            )
        _import_parameters(paths[0], Path(arguments.output), arguments.servo)
    elif arguments.servo is not None:
        raise Conflict(
            "--servo", f"is for parameters, but {paths[0]} is none of BAM's", advice="leave it out"
        )
    else:
        _import_logs(paths, Path(arguments.output))
    return 0


def _holds_parameters(path: Path) -> bool:
    """Return whether a file is a parameter file; the log reader refuses what cannot be read."""
    from bam_core.exchange import is_bam_parameters

    try:
        return path.is_file() and is_bam_parameters(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return False


def _import_parameters(path: Path, output: Path, servo: str | None) -> None:
    from bam_core.exchange import read_bam_parameters
    from bam_core.servo.bench_effects_file import save_bench_effects
    from bam_core.servo.model import load_servo

    require_file(output)
    if output.exists():
        raise _exists(output)
    if output.suffix not in (".yaml", ".yml"):
        raise WrongType("--output", output.name, "FILE.yaml, a servo file", advice="rename it")
    parameters = read_bam_parameters(path, None if servo is None else load_servo(servo))
    imported = parameters.servo
    imported.save(output)
    save_bench_effects(output, parameters.bench_effects)
    for remark in parameters.remarks:
        log.warning("%s", remark)
    print(f"wrote {output}: {imported.title}, {imported.friction_model}, fitted with {imported.integrator}")


def _import_logs(paths: Sequence[Path], output: Path) -> None:
    from bam_core.recordings import load_recordings

    recordings = [recording for recording in load_recordings(paths) if recording.source.suffix == ".json"]
    if not recordings:
        raise BadData(
            str(paths[0]),
            "holds bags, no JSON logs",
            expected="logs of BAM's recorder",
            advice="bags need no import",
        )
    _write_bags({recording.name: partial(_write_bag, recording) for recording in recordings}, output)
    for recording in recordings:
        print(f"wrote {output / recording.name}: {recording.script}, {len(recording)} samples")


def _write_bag(recording: Recording, place: Path) -> None:
    from bam_core.exchange import write_bag

    # A log has no date of its own.
    start = int(recording.source.stat().st_mtime) * _NANOSECONDS
    write_bag(recording, place, start_ns=start)


def _repair(paths: Sequence[Path], output: Path) -> None:
    from bam_core.recordings.bag_repair import damage, find_bags, repair_bag
    from bam_core.recordings.discovery import unique_names

    bags = find_bags(paths)
    whole = [bag for bag in bags if not damage(bag)]
    for bag in whole:
        log.info("%s: is whole, not copied", bag)
    damaged = [bag for bag in bags if bag not in whole]
    if not damaged:
        raise BadData(str(paths[0]), "nothing to repair, every bag is whole", advice="use them as they are")
    lines: list[str] = []

    def write(bag: Path, place: Path) -> None:
        repaired = repair_bag(bag, place)
        lines.append(
            f"{repaired.messages} messages on {repaired.topics} topics, {repaired.duration:.1f} s (of {bag}:"
            f" {repaired.problem})"
        )

    names = unique_names(damaged)
    _write_bags({name: partial(write, bag) for name, bag in zip(names, damaged, strict=True)}, output)
    for name, line in zip(names, lines, strict=True):
        print(f"wrote {output / name}: {line}")


def _write_bags(bags: Mapping[str, Callable[[Path], None]], output: Path) -> None:
    """Write all bags under a hidden name first.

    Args:
        bags: name -> writes it into a directory that does not exist.
        output: directory of all.
    """
    require_directory(output)
    for name in bags:
        if (output / name).exists():
            raise _exists(output / name)
    try:
        with scratch(output, output) as hidden:
            for name, write in bags.items():
                write(hidden / name)
            for name in bags:
                place = output / name
                place.parent.mkdir(parents=True, exist_ok=True)
                (hidden / name).rename(place)
    except OSError as error:
        raise NotWritable(output, error) from None


def _exists(path: Path) -> NotWritable:
    return NotWritable(
        path,
        "exists already, and imports overwrite nothing",
        advice="remove it or choose another name",
    )
