# SPDX-License-Identifier: Apache-2.0
"""What `bam` writes of recordings, for storage_trials: `-m test.core.storage_result_cases CASE PLACE`."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from bam_core.cli import main as bam
from bam_core.errors import BamError
from bam_core.identification import writing
from bam_core.identification.choice.model_fit import ModelFit
from bam_core.identification.data.split import Split
from bam_core.identification.result import Identification
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.space import search_space
from bam_core.identification.search.study import open_study
from bam_core.identification.writing import write_identification
from bam_core.plots.save import save_figure
from bam_core.recordings import load_recordings
from bam_core.recordings.recording import Recording
from bam_core.report import load_results
from bam_core.servo.effects import IDEAL_BENCH
from bam_core.servo.friction import FRICTION_MODELS
from test.core.identification_cases import mx106, record, write_log
from test.core.storage_trials import Case, main

SAMPLES = 100


class Bags(Case):
    """Logs that become bags."""

    def __init__(self, beside: Path) -> None:
        super().__init__(beside)
        self._logs = beside / "logs"
        self._logs.mkdir()
        for script in ("sin_sin", "up_and_down"):
            write_log(short(script), self._logs / f"{script}.json")
        self._samples = {log.name: len(log) for log in load_recordings([self._logs])}

    def prepare(self, place: Path) -> None:
        pass

    def work(self, place: Path) -> int:
        return bam(["import", str(self._logs), "--output", str(place / "bags")])

    def clear(self, place: Path) -> None:
        for bag in (place / "bags").glob("[!.]*"):
            shutil.rmtree(bag)

    def state(self, place: Path) -> str:
        bags = [bag for bag in (place / "bags").glob("*") if not bag.name.startswith(".")]
        for bag in bags:
            (found,) = load_recordings([bag])
            assert len(found) == self._samples[bag.name]
        return {0: "none", len(self._samples): "new"}.get(len(bags), "some")


class Report(Case):
    """A report that replaces another one."""

    def __init__(self, beside: Path) -> None:
        super().__init__(beside)
        self._results = beside / "results"
        write_identification(identified("m1"), self._results)
        assert bam(["report", str(self._results), "--output", str(beside / "page.html")]) == 0
        self._page = (beside / "page.html").read_text()

    def prepare(self, place: Path) -> None:
        (place / "report.html").write_text("old")

    def work(self, place: Path) -> int:
        return bam(["report", str(self._results), "--output", str(place / "report.html")])

    def state(self, place: Path) -> str:
        return {"old": "old", self._page: "new"}[(place / "report.html").read_text()]


class Results(Case):
    """Results of an identification in a new directory."""

    def __init__(self, beside: Path) -> None:
        super().__init__(beside)
        self._new = identified("m1")
        write_identification(self._new, beside / "new")
        self._states = {"new": files_of(beside / "new")}

    def prepare(self, place: Path) -> None:
        pass

    def work(self, place: Path) -> int:
        write_identification(self._new, place / "results")
        return 0

    def state(self, place: Path) -> str:
        results = place / "results"
        if not results.exists():
            return "none"
        there = files_of(results)
        for name, files in self._states.items():
            if there == files:
                return name
        try:
            load_results(results)
        except BamError:
            return "refused"
        raise AssertionError(f"read as results, though it holds {sorted(there)}")


class ReplacedResults(Results):
    """Results of an identification that replace others, of another model."""

    def __init__(self, beside: Path) -> None:
        super().__init__(beside)
        self._old = beside / "old"
        write_identification(identified("m3"), self._old)
        self._states["old"] = files_of(self._old)

    def prepare(self, place: Path) -> None:
        shutil.copytree(self._old, place / "results")


class NewStudy(Case):
    """A search whose jobs are kept in SQLite, from its first one on."""

    JOBS = 1

    def __init__(self, beside: Path) -> None:
        super().__init__(beside)
        self._space = search_space(FRICTION_MODELS["m1"], [short("sin_sin")])
        self._begun = beside / "begun.db"
        self.acknowledge(0)
        self._fill(self._begun, 1)  # imports what a child then need not import

    def _fill(self, path: Path, jobs: int) -> None:
        study = open_study("s", f"sqlite:///{path}")
        for job in range(jobs):
            if f"job {job}" not in study.outcomes:
                outcome = Outcome(vector=self._space.base, error=0.1 * job, evaluations=7)
                study.add(f"job {job}", outcome, self._space)
            self.acknowledge(max(job + 1, self.count()))

    def prepare(self, place: Path) -> None:
        self.acknowledge(0)

    def work(self, place: Path) -> int:
        self._fill(place / "study.db", self.JOBS)
        return 0

    def state(self, place: Path) -> str:
        path = place / "study.db"
        if not path.exists():
            assert not self.count()
            return "none"
        with closing(sqlite3.connect(path)) as database:  # undoes what a killed process was about to write
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master")]
            jobs = []
            if "trial_user_attributes" in tables:
                jobs = [value for (value,) in database.execute(_JOBS)]
        assert jobs == [f'"job {number}"' for number in range(len(jobs))], jobs
        assert len(jobs) >= self.count(), f"{self.count()} jobs acknowledged, {len(jobs)} there"
        return "new" if len(jobs) == self.JOBS else "interrupted"


class Study(NewStudy):
    """A search that goes on, with one more job."""

    JOBS = 2

    def prepare(self, place: Path) -> None:
        shutil.copy(self._begun, place / "study.db")
        self.acknowledge(1)


_JOBS = """
SELECT value_json FROM trial_user_attributes JOIN trials USING (trial_id)
WHERE key = 'job' AND state = 'COMPLETE' ORDER BY number
"""


def short(script: str) -> Recording:
    """Return the first half second of a run of an MX-106."""
    log = record(mx106("m1"), script, 8.0)
    arrays = [field.name for field in fields(log) if isinstance(getattr(log, field.name), np.ndarray)]
    return replace(log, **{name: getattr(log, name)[:SAMPLES] for name in arrays})


def identified(model: str) -> Identification:
    """Return what an identification by this model would have found."""
    logs = tuple(short(script) for script in ("sin_sin", "lift_and_drop"))
    fit = ModelFit(
        servo=mx106(model),
        bench_effects=IDEAL_BENCH,
        space=search_space(FRICTION_MODELS[model], logs),
        train_mae=0.01,
        per_log={log.name: 0.01 for log in logs},
        selection={},
        test={logs[1].name: 0.01},
        at_bound=(),
        trials=100,
        budget=100,
        method="gauss-newton",
        converged=True,
        limited=False,
        seconds=1.0,
    )
    split = Split(train=logs[:1], test=logs[1:], rule="script=lift_and_drop")
    return Identification(servo=fit.servo, fits={model: fit}, split=split, seed=0)


def _plot_one(found: Identification, simulated: object, bands: object, directory: Path) -> None:
    """Write one plot instead of all: the others are written likewise, and drawing takes most of the time."""
    save_figure(Figure(), directory / "mae.png")


def files_of(directory: Path) -> dict[str, bytes]:
    """Return the files in a directory that are not hidden."""
    names = {path: path.relative_to(directory) for path in directory.rglob("*") if path.is_file()}
    return {
        str(name): path.read_bytes()
        for path, name in names.items()
        if not any(part.startswith(".") for part in name.parts)
    }


if __name__ == "__main__":
    writing._plot = _plot_one
    main(
        {
            "bam import": Bags,
            "bam report": Report,
            "bam identify": Results,
            "bam identify, replaced": ReplacedResults,
            "new study": NewStudy,
            "study": Study,
        }
    )
