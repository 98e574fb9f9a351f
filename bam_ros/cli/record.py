# SPDX-License-Identifier: Apache-2.0
"""``bam record``: a recording session at the terminal, with a progress bar and prompts for the loads."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from tqdm import tqdm

from bam_core.errors import Missing, Unavailable
from bam_ros.cli.spinning_node import spinning_node
from bam_ros.cli.stop_signals import stop_signals

if TYPE_CHECKING:
    from bam_ros.recorder.session import Session
    from bam_ros.recorder.session_recorder import Progress, SessionReport
    from bam_ros.text.notice import Notice
    from bam_ros.text.recorder_notices import SessionStopped

EXAMPLE = "bam record --session config/sessions/quick.yaml --output recordings/quick"

_INTERRUPTED = 130
_BAR = "{percentage:3.0f}%|{bar:20}| {n:.1f}/{total:.0f} runs [{elapsed}<{remaining}] {desc}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--session",
        metavar="FILE",
        help="session file (YAML), or the name of one of this package, such as mx106",
    )
    parser.add_argument(
        "--output", required=True, metavar="DIR", help="directory for the bags; runs complete in it are kept"
    )
    parser.add_argument(
        "--driver",
        default="dynamixel",
        metavar="NAME",
        help="driver node, as in left/dynamixel; its topics are in the same namespace (default: %(default)s)",
    )
    parser.add_argument("--yes", action="store_true", help="take every load as mounted")
    parser.add_argument(
        "--virtual-bench",
        default="",
        metavar="NAME",
        help="node of a virtual bench, as in left/virtual_dynamixel, that mounts the loads itself",
    )


def run(arguments: argparse.Namespace) -> int:
    """Record the session; complete runs in the output directory are kept."""
    if arguments.session is None:
        raise Missing("--session", "a session file, such as config/sessions/quick.yaml")
    from bam_ros.recorder.errors import RecordingStopped
    from bam_ros.recorder.node import session_recorded
    from bam_ros.recorder.session_file import find_session, load_session
    from bam_ros.recorder.session_recorder import SessionRecorder

    session = load_session(find_session(arguments.session, Path()))
    output = Path(arguments.output).absolute()
    operator = TerminalOperator(ask=not arguments.yes)
    with stop_signals(operator.on_signal), spinning_node() as node, operator:
        recorder = SessionRecorder(node, driver=arguments.driver, virtual_bench=arguments.virtual_bench)
        try:
            report = recorder.record(session, output, operator)
        except RecordingStopped:
            stopped = session_stopped(recorder.report, session, output)
            print(f"bam record: {stopped}", file=sys.stderr)
            return _INTERRUPTED
    print(session_recorded(report, output))
    return 0


def session_stopped(report: SessionReport, session: Session, output: Path) -> SessionStopped:
    """Return what is kept of a session that was stopped."""
    from bam_ros.text.recorder_notices import SessionStopped

    return SessionStopped(output=output, complete=len(report.bags), runs=len(session.runs()))


class TerminalOperator:
    """Shows progress on standard error and asks for loads on standard input.

    Args:
        ask: False takes every load as mounted.
    """

    def __init__(self, *, ask: bool) -> None:
        self._ask = ask
        self._stop = False
        self._asking = False
        self._bar: tqdm | None = None

    def show(self, notice: Notice, *, warning: bool = False) -> None:
        """Print it above the bar."""
        tqdm.write(f"bam record: {notice}" if warning else str(notice), file=sys.stderr)

    def progress(self, progress: Progress) -> None:
        """Move the bar; raises RecordingStopped after Ctrl-C."""
        from bam_ros.recorder.errors import RecordingStopped

        if self._stop:
            raise RecordingStopped("interrupted")
        if self._bar is None:
            # disable=None: no bar where standard error is no terminal, the lines are enough.
            self._bar = tqdm(total=progress.runs, bar_format=_BAR, dynamic_ncols=True, disable=None)
            self._bar.initial = progress.run.index - 1
        share = min(progress.elapsed / progress.run.script.duration, 1.0)
        self._bar.n = progress.run.index - 1 + share
        lost = f", {progress.dropped} states lost" if progress.dropped else ""
        self._bar.set_description_str(f"{progress.run.label}: {progress.activity}{lost}", refresh=True)

    def mount_load(self, progress: Progress) -> None:
        """Ask for the load and wait for Enter; raises RecordingStopped after Ctrl-C."""
        from bam_ros.recorder.errors import RecordingStopped
        from bam_ros.recorder.session import describe_load

        if not self._ask:
            return
        if self._bar is not None:
            self._bar.clear()
        self._asking = True
        try:
            print(
                f"Hang {describe_load(progress.run.load)}, arm down and at rest, then press Enter.",
                file=sys.stderr,
            )
            if not sys.stdin.readline():
                raise Unavailable(
                    "standard input",
                    "is closed",
                    expected="Enter once the load hangs",
                    advice="run it in a terminal, or use --yes where the load hangs already",
                )
        except KeyboardInterrupt:
            raise RecordingStopped("interrupted") from None
        finally:
            self._asking = False

    def __enter__(self) -> TerminalOperator:
        """Give the operator."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the bar's line."""
        if self._bar is not None:
            self._bar.close()

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Note the wish to end; a question ends at once."""
        self._stop = True
        if self._asking:
            raise KeyboardInterrupt
