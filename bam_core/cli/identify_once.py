# SPDX-License-Identifier: Apache-2.0
"""One identification of ``bam identify``: progress bars, results, and what is written on an interrupt."""

from __future__ import annotations

import argparse
import contextlib
import logging
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.cli.cluster import executor_for
from bam_core.cli.ending import terminable
from bam_core.errors import BamError

if TYPE_CHECKING:
    from tqdm import tqdm

    from bam_core.identification.execution import Progress
    from bam_core.identification.result import Identification
    from bam_core.identification.settings import IdentifySettings
    from bam_core.recordings.load import Loaded
    from bam_core.servo.model import ServoModel

log = logging.getLogger(__name__)


def identify_once(
    loaded: Loaded, servo: ServoModel, settings: IdentifySettings, arguments: argparse.Namespace, output: str
) -> None:
    """Identify, print the table, write the results."""
    from bam_core.identification.execution import Execution
    from bam_core.identification.identify import identify
    from bam_core.identification.writing import write_identification

    start = time.monotonic()
    kept = _Kept(output)
    with (
        terminable(),
        _interruptible(kept, arguments.storage),
        executor_for(arguments.cluster) as executor,
        Bars() as bars,
    ):
        result = identify(
            loaded,
            servo,
            settings,
            execution=Execution(storage=arguments.storage, executor=executor, progress=bars.show),
            interrupted=kept.keep,
        )
    write_identification(result, output)
    _print_result(result, arguments.servo)
    print(
        f"{time.monotonic() - start:.0f} s in all, with selection, uncertainty and plots; "
        f"wrote {Path(output)}, see it with: bam report {output}"
    )
    print(*result.verdict.lines, sep="\n")  # again, where it stays in view


def _print_result(result: Identification, servo: str) -> None:
    """Print the verdict, errors, effects and the choice; warn about what not to rely on."""
    from bam_core.cli.identification_text import effects_table, models_table, small_parameters
    from bam_core.text.finding import log_findings
    from bam_core.text.fit_findings import WidenRange, in_short

    print(result.verdict.lines[0])
    print(result.test_error)
    if result.short_errors is not None:
        print(result.short_errors)
    print(models_table(result))
    print(f"chosen: {result.chosen} ({result.reason})")
    if table := effects_table(result):
        print(table)
    if small := small_parameters(result):
        print(f"shown to be near zero: {', '.join(small)}")
    warnings = result.warnings
    log_findings(log, in_short(warnings))
    if any(finding.kind == "at_bound" for finding in warnings):
        log_findings(log, [WidenRange(servo=servo)])
    fit = result.fits[result.chosen]
    if fit.diagnosis is not None and not fit.failed:
        print(f"{result.chosen}: {fit.diagnosis.sentence}")


class _Kept:
    """What is kept of an identification that was interrupted."""

    def __init__(self, output: str) -> None:
        from bam_core.text.output_findings import Unfinished

        self.finding = Unfinished(kind="interrupted", directory=Path(output))
        self._output = output

    def keep(self, finished: Identification) -> None:
        """Write the models that are finished."""
        from bam_core.identification.writing import write_identification

        try:
            write_identification(finished, self._output)
        except BamError as error:
            self.finding = replace(self.finding, error=str(error))
        else:
            self.finding = replace(self.finding, models=tuple(finished.fits), not_done=finished.not_done)


@contextlib.contextmanager
def _interruptible(kept: _Kept, storage: str | None) -> Iterator[None]:
    """On an interrupt, report what was written and how to resume."""
    try:
        yield
    except KeyboardInterrupt as stop:
        resume = "--storage sqlite:///study.db" if storage is None else ""
        raise type(stop)(replace(kept.finding, resume=resume)) from None


class Bars:
    """One progress bar per model, on standard error; one line where that is no terminal."""

    def __init__(self) -> None:
        self._bar: tqdm | None = None
        self._model = ""

    def __enter__(self) -> Bars:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, progress: Progress) -> None:
        """Move the bar of the model being fitted, or start the next one."""
        if self._bar is None or progress.model != self._model:
            self.__exit__()
            self._model = progress.model
            from tqdm import tqdm

            self._bar = tqdm(total=progress.evaluations, desc=progress.model, unit="trial", disable=None)
            if self._bar.disable:
                print(f"{progress.model}: {progress.evaluations} trials at most", file=sys.stderr, flush=True)
        if math.isfinite(progress.best_mae):  # of jobs that others are at, nothing is known yet
            self._bar.set_postfix_str(f"best {1e3 * progress.best_mae:.2f} mrad", refresh=False)
        self._bar.update(progress.evaluation - self._bar.n)
