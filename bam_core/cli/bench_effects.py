# SPDX-License-Identifier: Apache-2.0
"""Which bench effects apply where a command simulates recordings."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bam_core.recordings.recording import Recording
    from bam_core.servo.effects import BenchEffects

NONE = "none"

log = logging.getLogger(__name__)


def add_bench_effects(parser: argparse._ActionsContainer, more: str = "") -> None:
    """Declare ``--bench-effects``; `more` is what else happens without it."""
    parser.add_argument(
        "--bench-effects",
        metavar="FILE|NAME|none",
        help="zero offset, delay and arm of the bench that recorded: a file that 'bam identify' wrote into "
        "bench_effects/, or a servo for the bench on which it was identified (default: that of the servo "
        "where it is given as a file; none for a name from 'bam servos'" + more + ")",
    )


def bench_effects_for(option: str | None, servo: str) -> BenchEffects:
    """Return the bench effects that apply to recordings.

    Args:
        option: ``--bench-effects``; None where it was not given.
        servo: file or library name, as it was given.

    Raises:
        BamError: a file cannot be read or is no such file.
    """
    from bam_core.servo.added import added_names
    from bam_core.servo.bench_effects_file import load_bench_effects
    from bam_core.servo.effects import IDEAL_BENCH
    from bam_core.servo.model import servo_names

    if option == NONE:
        return IDEAL_BENCH
    if option is not None:
        return load_bench_effects(option)
    return IDEAL_BENCH if servo in (*servo_names(), *added_names()) else load_bench_effects(servo)


def warn_of_bench(option: str | None, servo: str, recordings: Sequence[Recording]) -> None:
    """Warn where `bench_effects_for` leaves out known ones; after the errors, where it stays in view."""
    from bam_core.servo.added import added_names
    from bam_core.servo.bench_effects_file import load_bench_effects
    from bam_core.servo.effects import IDEAL_BENCH
    from bam_core.servo.model import load_servo, servo_names
    from bam_core.text.finding import log_findings
    from bam_core.text.model_findings import BenchLeftOut

    named = servo in (*servo_names(), *added_names())
    if option is not None or not named or load_bench_effects(servo) == IDEAL_BENCH:
        return
    origin = load_servo(servo).provenance
    known = {*origin.train_data.values(), *origin.test_data.values()}
    own = any(recording.sha256 in known for recording in recordings)
    log_findings(log, [BenchLeftOut(kind="own_recordings" if own else "other_bench", servo=servo)])
