# SPDX-License-Identifier: Apache-2.0
"""``bam identify``: a servo's parameters from recordings."""

from __future__ import annotations

import argparse
import contextlib
import logging
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.cli.cluster import add_cluster, executor_for
from bam_core.cli.ending import terminable
from bam_core.cli.logs import add_logs, add_strict, add_test
from bam_core.cli.map_words import add_map, map_words
from bam_core.cli.set_fields import add_set
from bam_core.errors import BadData, BamError, Conflict, Missing, WrongType
from bam_core.identification.search.methods import DEFAULT_METHOD, METHODS
from bam_core.text.comma_list import comma_list

if TYPE_CHECKING:
    from tqdm import tqdm

    from bam_core.identification.execution import Progress
    from bam_core.identification.result import Identification
    from bam_core.identification.settings import IdentifySettings
    from bam_core.identification.uncertainty.unit_prior import UnitPrior
    from bam_core.recordings.load import Loaded
    from bam_core.recordings.recording import Recording
    from bam_core.servo.model import ServoModel

EXAMPLE = "bam identify recordings/ --servo xl330 --models m1,m4,m6 --test kp=800 --output out/xl330"

FIRST_SCREEN = ("--servo", "--models", "--test", "--effects", "--set", "--output")

_REQUIRED = {
    "servo": "a name from 'bam servos', as in --servo xl330, or a servo YAML file",
    "models": "friction models, as in --models m1,m4,m6, or all",
    "output": "a directory for the results, as in --output identified",
}

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_logs(parser)
    parser.add_argument(
        "--servo",
        metavar="NAME|FILE",
        help="a name from 'bam servos' or a servo YAML file; required",
    )
    parser.add_argument(
        "--models",
        metavar="M1,M4,...|all",
        help="friction models to fit, separated by commas; required",
    )
    parser.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help="at most this many simulations of all training logs per search, at least 50: one search per "
        "model, and further ones of the model that is chosen without each of its effects, whose trials are "
        "added where it loses some (default: 400 per free parameter, 800 for a model with no simpler one to "
        "start from, 1200 for M4 after M1, M2 or M3; fewer may leave all models equally bad)",
    )
    parser.add_argument(
        "--search",
        metavar="|".join(METHODS),
        help="gauss-newton: descents over growing horizons, with restarts; cma-es: CMA-ES with restarts, the "
        "method of BAM's authors, on the same objective with the same number of trials (default: "
        f"{DEFAULT_METHOD})",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of search and split (default: 0)")
    parser.add_argument(
        "--seeds",
        type=int,
        default=1,
        metavar="N",
        help="search and choose N times, with seeds from --seed on and the same test logs, and print by how "
        "much results differ; the first one is written (default: 1; each takes as long)",
    )
    add_test(
        parser,
        "logs held out for the test error, as a rule such as kp=800 or as files: no fit and no choice "
        "sees them; files, which are then not trained on, or one rule: fraction=0.25 (a random share, "
        "the default from 8 logs on), kp=400 (all "
        "logs with that value; also mass, arm_mass, length, script, supply_voltage, servo, name), none (all "
        "logs are fitted: there is no test error), leave-one-out=kp (the same, and selection leaves out "
        "every kp in turn)",
        ("RULE|FILE", "FILE"),
    )
    parser.add_argument(
        "--effects",
        metavar="NAME,...|none",
        help="what to fit besides motor and friction: torque_saturation, winding_heating, "
        "friction_temperature, bridge_coasting, firmware_gain, limit_shortfall, sensor_delay, "
        "encoder_quantisation, load_inertia, friction_direction, goal_slew_time (of the servo), zero_offset, "
        "command_delay, arm_compliance, arm_backlash, arm_mass, supply_ripple, load_gyration (of the bench) "
        "(default: those that the servo's file names; an effect is removed if the fit is not clearly worse "
        "without it)",
    )
    parser.add_argument(
        "--uncertainty",
        default="",
        metavar="M1,M4,...|all|none",
        help="models whose parameters get standard errors and intervals besides those of the chosen one, "
        "which always does (default: none; it takes time)",
    )
    parser.add_argument(
        "--tolerance",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="assumed error, one standard deviation, of what the logs state about the bench; it widens the "
        "intervals. mass, arm_mass, inertia and supply are relative (0.03 is 3 %%), length in m, zero in "
        "rad, delay in s, as in --tolerance mass=0.03; may be repeated (default: mass 0.01, arm_mass 0.05, "
        "supply 0.01, length 0.001, zero 0.002, delay 0.0005, inertia 0.03)",
    )
    parser.add_argument(
        "--prior",
        metavar="FILE",
        help="servo file of the type, as 'bam fleet' writes it: a new unit of this type is identified from "
        "few runs, two at least; parameters that these do not determine stay as the type has them (then "
        "--servo and --models are those of FILE)",
    )
    parser.add_argument(
        "--storage",
        metavar="URL",
        help="database that keeps what the search has found, as Optuna studies: after an interruption the "
        "same command goes on where it was. sqlite:///study.db is a file, "
        "postgresql://user:password@host/database a server that several machines see (default: none; an "
        "interrupted search is lost)",
    )
    parser.add_argument(
        "--by",
        choices=("unit", "session"),
        help="identify every unit, or every session, on its own into DIR/NAME: as recordings or a bench.yaml "
        "name it, else by the directories below LOGS; compare them with 'bam fleet DIR' (default: all "
        "recordings are of one servo, and the spread of units that are named is found with it)",
    )
    add_cluster(parser)
    add_set(parser)
    add_map(parser)
    add_strict(parser)
    parser.add_argument("--output", metavar="DIR", help="directory for results; required")


def run(arguments: argparse.Namespace) -> int:
    """Identify all recordings as one servo, or each unit on its own."""
    from bam_core.identification.settings import IdentifySettings, resolve_models
    from bam_core.identification.uncertainty.tolerances import DEFAULT
    from bam_core.identification.writing import earlier_results, require_output
    from bam_core.recordings import load_usable
    from bam_core.servo.friction import FRICTION_MODELS
    from bam_core.servo.model import load_servo
    from bam_core.text.finding import log_findings
    from bam_core.text.tolerance_words import tolerances_from

    prior = None if arguments.prior is None else _prior(arguments)
    missing = [name for name in _REQUIRED if not getattr(arguments, name)]
    if missing:
        others = "".join(f", and --{name}" for name in missing[1:])
        raise Missing(f"--{missing[0]}", _REQUIRED[missing[0]], advice=f"add it{others}")
    for word in arguments.logs:
        if word in FRICTION_MODELS and not Path(word).exists():
            together = f"separate models by commas: --models {arguments.models},{word}"
            raise WrongType("LOGS", word, "paths of recordings", advice=together)
    models = resolve_models(comma_list(arguments.models))
    tolerances = tolerances_from(arguments.tolerance, DEFAULT)
    servo = load_servo(arguments.servo)
    require_output(arguments.output)
    log_findings(log, earlier_results(arguments.output))
    file = Path(arguments.servo)
    if file.is_file() and file.resolve().parent == Path(arguments.output).resolve():
        raise Conflict(
            "--output",
            f"{arguments.output} holds the servo file {file.name}, which results may replace",
            advice="name another directory",
        )
    loaded = load_usable(
        arguments.logs, set_fields=arguments.set, strict=arguments.strict, map=map_words(arguments)
    )
    test = None
    if words := (arguments.test or ()):
        loaded, test = _test(words, loaded, arguments)
    settings = IdentifySettings(
        models=[model.name for model in models],
        search=arguments.search or DEFAULT_METHOD,
        trials=arguments.trials,
        seed=arguments.seed,
        seeds=arguments.seeds,
        test=test,
        effects=None if arguments.effects is None else _listed(arguments.effects),
        uncertainty=_listed(arguments.uncertainty),
        tolerances=tolerances,
        prior=prior,
        strict=arguments.strict,
    )
    if arguments.by is None:
        _identify(loaded, servo, settings, arguments, arguments.output)
        return 0
    return _identify_each(loaded, servo, settings, arguments)


def _prior(arguments: argparse.Namespace) -> UnitPrior:
    """Return the prior; it names the servo and the friction model that the command line leaves out."""
    from bam_core.identification.uncertainty.unit_prior import load_unit_prior
    from bam_core.text.finding import log_findings
    from bam_core.text.model_findings import PriorOfOneUnit

    prior = load_unit_prior(arguments.prior)
    if prior.prediction.units is None:
        log_findings(log, [PriorOfOneUnit(file=Path(arguments.prior))])
    arguments.servo = arguments.servo or arguments.prior
    arguments.models = arguments.models or prior.servo.friction_model
    return prior


def _identify_each(
    loaded: Loaded, servo: ServoModel, settings: IdentifySettings, arguments: argparse.Namespace
) -> int:
    """Identify every unit or session on its own; what one lacks does not stop the others."""
    from bam_core.recordings.labels import by_label

    groups = by_label(loaded, arguments.by, arguments.logs)
    own = _own_settings(groups, settings, arguments)
    failed = []
    for name, group in groups.items():
        print(f"{arguments.by} {name}: {len(group.recordings)} recordings", flush=True)
        try:
            _identify(group, servo, own[name], arguments, str(Path(arguments.output) / name))
        except BamError as error:
            log.warning("%s %s: %s", arguments.by, name, error)
            failed.append(name)
        except KeyboardInterrupt as stop:
            later = list(groups)[list(groups).index(name) + 1 :]
            raise _with_later(stop, [f"{arguments.by} {label}" for label in later]) from None
    if len(failed) == len(groups):
        raise BadData(
            f"--by {arguments.by}", "none could be identified", advice="see the warnings above, one for each"
        )
    if len(groups) - len(failed) > 1:
        print(f"compare them with: bam fleet {arguments.output}")
    return 0


def _own_settings(
    groups: Mapping[str, Loaded], settings: IdentifySettings, arguments: argparse.Namespace
) -> dict[str, IdentifySettings]:
    """Return the settings of every unit or session: each has its own of the files that --test names."""
    from bam_core.recordings.labels import by_label
    from bam_core.recordings.load import Loaded

    held_out = settings.test_recordings
    if not held_out:
        return dict.fromkeys(groups, settings)
    roots = [*arguments.logs, *arguments.test]
    tests = by_label(Loaded(recordings=list(held_out), excluded=()), arguments.by, roots)
    for name in groups.keys() ^ tests.keys():
        lacking = "test" if name in groups else "training"
        raise Missing(
            f"{arguments.by} {name}, recordings",
            f"one or more for {lacking}",
            advice=f"with --by {arguments.by}, give files of each to LOGS and to --test",
        )
    return {name: replace(settings, test=tests[name].recordings) for name in groups}


def _with_later(stop: KeyboardInterrupt, later: Sequence[str]) -> KeyboardInterrupt:
    """Return a stop that also names what was not begun."""
    from bam_core.text.output_findings import Unfinished

    finding = stop.args[0] if stop.args else None
    if not isinstance(finding, Unfinished):
        return stop
    return type(stop)(replace(finding, not_done=(*finding.not_done, *later)))


def _identify(
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
        _Bars() as bars,
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
        print(f"known to be small: {', '.join(small)}")
    warnings = result.warnings
    log_findings(log, in_short(warnings))
    if any(finding.kind == "at_bound" for finding in warnings):
        log_findings(log, [WidenRange(servo=servo)])
    fit = result.fits[result.chosen]
    if fit.diagnosis is not None and not fit.failed:
        print(f"{result.chosen}: {fit.diagnosis.sentence}")


def _listed(text: str) -> list[str]:
    return [] if text == "none" else comma_list(text)


def _test(
    words: Sequence[str], loaded: Loaded, arguments: argparse.Namespace
) -> tuple[Loaded, str | list[Recording]]:
    """Take one rule, or files; return LOGS and the rule or the files' logs, with unequal names."""
    from bam_core.identification.data.split import NO_TEST, is_rule
    from bam_core.recordings import load_usable
    from bam_core.recordings.discovery import unique_names
    from bam_core.recordings.run_identity import RunIdentities

    rules = [word for word in words if (is_rule(word) or word == NO_TEST) and not Path(word).exists()]
    if len(words) == 1 and rules:
        return loaded, rules[0]
    if rules:
        raise Conflict(
            f"--test {' '.join(words)}",
            "is not one rule",
            expected="one rule, or files",
            advice="give LOGS before the options",
        )
    for word in words:
        if word.isidentifier() and not Path(word).exists():
            raise WrongType("--test", word, "a rule such as kp=800, or paths of logs")
    test = load_usable(words, set_fields=arguments.set, strict=arguments.strict, map=map_words(arguments))
    recordings, held_out = loaded.recordings, test.recordings
    digests, runs = {recording.sha256 for recording in held_out}, RunIdentities(held_out)
    both = tuple(
        str(recording.source)
        for recording in recordings
        if recording.sha256 in digests or runs.same_run(recording) is not None
    )
    if both:
        from bam_core.text.finding import log_findings
        from bam_core.text.split_findings import InBothSets

        log_findings(log, [InBothSets(logs=both)])
    # Names are distinct on either side; results go by name, so they must be so over both.
    all_logs = {recording.sha256: recording for recording in (*recordings, *held_out)}
    names = unique_names([recording.source for recording in all_logs.values()])
    named = {
        digest: replace(recording, name=name)
        for (digest, recording), name in zip(all_logs.items(), names, strict=True)
    }
    renamed = [named[recording.sha256] for recording in recordings]
    excluded = (*loaded.excluded, *test.excluded)
    return replace(loaded, recordings=renamed, excluded=excluded), [
        named[recording.sha256] for recording in held_out
    ]


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


class _Bars:
    """One progress bar per model, on standard error; one line where that is no terminal."""

    def __init__(self) -> None:
        self._bar: tqdm | None = None
        self._model = ""

    def __enter__(self) -> _Bars:
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
