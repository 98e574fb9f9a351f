# SPDX-License-Identifier: Apache-2.0
"""``bam identify``: a servo's parameters from recordings."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.cli.cluster import add_cluster
from bam_core.cli.identify_each import identify_each
from bam_core.cli.identify_once import identify_once
from bam_core.cli.identify_test_set import test_set
from bam_core.cli.logs import add_logs, add_strict, add_test
from bam_core.cli.map_words import add_map, map_words
from bam_core.cli.set_fields import add_set
from bam_core.errors import Conflict, Missing, WrongType
from bam_core.identification.search.methods import DEFAULT_METHOD, METHODS
from bam_core.text.comma_list import comma_list

if TYPE_CHECKING:
    from bam_core.identification.uncertainty.unit_prior import UnitPrior


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
        loaded, test = test_set(words, loaded, arguments)
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
        identify_once(loaded, servo, settings, arguments, arguments.output)
        return 0
    return identify_each(loaded, servo, settings, arguments)


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


def _listed(text: str) -> list[str]:
    return [] if text == "none" else comma_list(text)
