# SPDX-License-Identifier: Apache-2.0
"""Parameters from open-loop voltage logs: by hand as the paper began, then with CMA-ES."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Conflict
from bam_core.errors.checks import require_positive
from bam_core.identification.search.descent import Descent
from bam_core.servo.effects import ServoEffects
from bam_core.servo.friction import friction_model
from bam_core.servo.model import ServoModel
from bam_core.servo.motor import DcMotor
from papers.dynaban.motor_model import DYNABAN_PARAMETERS, DynabanModel
from papers.dynaban.voltage_kernel import errors, simulate
from papers.dynaban.voltage_logs import PERIOD, VoltageLog

Model = DynabanModel | ServoModel
"""What logs can be explained with: the law of the paper, or a servo with M1-M6."""

_SPREAD = {
    "torque_constant": 0.15,
    "resistance": 0.3,
    "viscous": 1.0,
    "static": 0.5,
    "coulomb": 0.5,
    "stribeck_velocity": 0.7,
    "stribeck_exponent": 0.2,
    "armature": 0.7,
}
"""One standard deviation of the logarithms of parameters at first; 1 where nothing is said."""

_LEAST = 1e-3  # of what is searched; logarithms need something
_HOPELESS = 1e3  # rad; error of candidates that diverge
_MOTOR = ("torque_constant", "resistance", "armature")
_FARTHEST = 6.0  # standard deviations from the start
_MOVES = 0.02  # rad; a shaft that went so far has broken away


@dataclass(frozen=True, kw_only=True)
class Datasheet:
    """What a manufacturer prints of a servo; by default of an MX-64 at 12 V.

    Attributes:
        voltage: at which the rest holds, V.
        stall_torque: N·m.
        stall_current: A.
        no_load_speed: rad/s.

    Raises:
        BamError: a value is not above zero.
    """

    voltage: float = 12.0
    stall_torque: float = 6.0
    stall_current: float = 4.1
    no_load_speed: float = 63.0 * 2.0 * np.pi / 60.0

    def __post_init__(self) -> None:
        require_positive("datasheet", **self.__dict__)


@dataclass(frozen=True, kw_only=True)
class VoltageFit:
    """What an identification found.

    Attributes:
        model: the best.
        start: where the search began.
        train_error: mean RMS error of the logs that were fitted, rad.
        start_train_error: the same of the start.
        held_out_error: of those that were not, rad.
        start_held_out_error: the same of the start.
        evaluations: of the whole set of fitted logs.
    """

    model: Model
    start: Model
    train_error: float
    start_train_error: float
    held_out_error: float
    start_held_out_error: float
    evaluations: int


def tune_by_hand(logs: Sequence[VoltageLog], datasheet: Datasheet | None = None) -> DynabanModel:
    """Return parameters as they are found without a search: datasheet and the simplest measures.

    k_e and r are those of the printed no-load speed and stall current, as if there were no friction. τ_s is
    the motor torque of the smallest step that moves a bare shaft; τ_cc, k_vis, ω_lin and I_0 are guesses.

    Args:
        logs: with steps of the bare shaft among them.
        datasheet: of the servo.

    Raises:
        BamError: no step moved the bare shaft.
    """
    sheet = Datasheet() if datasheet is None else datasheet
    torque_constant = sheet.voltage / sheet.no_load_speed
    resistance = sheet.voltage / sheet.stall_current
    broke_away = [
        abs(float(log.voltage[0]))
        for log in logs
        if log.bench.mass == 0.0 and np.ptp(log.voltage) == 0.0 and np.ptp(log.position) > _MOVES
    ]
    if not broke_away:
        raise BadData("voltage logs", "no step moved the bare shaft", expected="some", advice="record steps")
    static = torque_constant / resistance * min(broke_away)
    return DynabanModel(
        torque_constant=torque_constant,
        resistance=resistance,
        viscous=0.05,
        static=static,
        coulomb=0.5 * static,
        stribeck_velocity=1.0,
        armature=5e-3,
    )


def split_logs(logs: Sequence[VoltageLog], seed: int = 0) -> tuple[list[VoltageLog], list[VoltageLog]]:
    """Return three quarters to fit and a quarter to hold out, at random."""
    order = np.random.default_rng(seed).permutation(len(logs))
    held_out = set(order[: len(logs) // 4].tolist())
    return (
        [log for k, log in enumerate(logs) if k not in held_out],
        [log for k, log in enumerate(logs) if k in held_out],
    )


def log_errors(models: Sequence[Model], logs: Sequence[VoltageLog]) -> Array:
    """Return the RMS errors of position, (models, logs) rad."""
    return np.asarray(errors(np.array([_row(model) for model in models]), *_packed(logs), PERIOD))


def replay_log(model: Model, log: VoltageLog) -> Array:
    """Return the positions that a model makes of a log's voltages, (n,) rad."""
    position = np.empty_like(log.position)
    bench = log.bench
    simulate(
        _row(model),
        bench.inertia,
        bench.gravity_torque,
        log.voltage,
        float(log.position[0]),
        log.start_velocity,
        PERIOD,
        position,
    )
    return position


def identify_voltage_model(
    train: Sequence[VoltageLog],
    held_out: Sequence[VoltageLog],
    start: Model,
    *,
    restarts: int = 1,
    generations: int = 300,
    seed: int = 0,
    squares: bool = False,
) -> VoltageFit:
    """Fit parameters with CMA-ES on their logarithms; the score is the mean RMS error of position.

    Of a `DynabanModel` these are the seven; of a servo, those of its motor and of its friction model, M1-M6.

    Args:
        train: logs to fit, as long as each other.
        held_out: logs to evaluate on, likewise.
        start: where the search begins; each parameter has a standard deviation of its own.
        restarts: how often it is begun anew where it ended, with a larger population.
        generations: most of each descent.
        seed: of the random numbers.
        squares: the score is the RMS over all logs, as that of Dynaban's program, which sums squares: logs
            with large errors count more. The errors that are returned stay means.

    Raises:
        BamError: there are no logs, or they are not as long as each other.
    """
    packed, values = _packed(train), _values(start)
    spread = np.array([_SPREAD.get(name, 1.0) for name in values])
    origin = np.log(np.maximum(list(values.values()), _LEAST))

    def model(point: Array) -> Model:
        parameters = np.exp(origin + spread * np.clip(point, -_FARTHEST, _FARTHEST)).tolist()
        return _with_values(start, dict(zip(values, parameters, strict=True)))

    def score(points: Array) -> Array:
        rows = np.array([_row(model(point)) for point in points])
        of_logs = errors(rows, *packed, PERIOD)
        errors_of_points = np.sqrt(np.mean(of_logs**2, axis=1)) if squares else np.mean(of_logs, axis=1)
        outside = np.sum(np.maximum(np.abs(points) - _FARTHEST, 0.0) ** 2, axis=1)
        return np.asarray(np.where(np.isfinite(errors_of_points), errors_of_points, _HOPELESS) + outside)

    best, lowest, evaluations = np.zeros(len(origin)), np.inf, 0
    for run in range(1 + restarts):
        descent = Descent(best, step=1.0 if run == 0 else 0.3, population=10 * 2**run, seed=seed + run)
        for _ in range(generations):
            if descent.finished:
                break
            points = descent.ask()
            descent.tell(score(points))
            evaluations += len(points)
        if descent.error < lowest:
            best, lowest = descent.point, descent.error
    fitted, evaluated = (
        np.mean(log_errors((start, model(best)), logs), axis=1) for logs in (train, held_out)
    )
    return VoltageFit(
        model=model(best),
        start=start,
        train_error=float(fitted[1]),
        start_train_error=float(fitted[0]),
        held_out_error=float(evaluated[1]),
        start_held_out_error=float(evaluated[0]),
        evaluations=evaluations,
    )


def extended(start: DynabanModel, servo: ServoModel, friction: str = "m6", load: float = 0.1) -> ServoModel:
    """Return a servo with the motor and friction of a Dynaban model, where a fit of M1-M6 may begin.

    Args:
        start: whose seven parameters count.
        servo: that gives name and firmware; its own motor and friction do not count.
        friction: model to be fitted, "m1" to "m6".
        load: value of every load-dependent coefficient.

    Raises:
        BamError: no such friction model.
    """
    law = friction_model(friction)
    known = {
        "viscous": start.viscous,
        "coulomb": start.coulomb,
        "stribeck_coulomb": max(start.static - start.coulomb, 0.0),
        "stribeck_velocity": start.stribeck_velocity,
        "stribeck_exponent": 1.0,
    }
    values = {name: known.get(name, load) for name in law.parameters}
    return replace(
        servo,
        motor=start.motor,
        friction_model=friction,
        friction=law.friction(values),
        gear=None,
        search=replace(servo.search, effects=()),
        servo_effects=ServoEffects(),
    )


def _values(model: Model) -> dict[str, float]:
    """Return what is fitted, by name."""
    if isinstance(model, DynabanModel):
        return dict(zip(DYNABAN_PARAMETERS, model.vector().tolist(), strict=True))
    motor = {name: getattr(model.motor, name) for name in _MOTOR}
    return {**motor, **friction_model(model.friction_model).values(model.friction)}


def _with_values(model: Model, values: dict[str, float]) -> Model:
    if isinstance(model, DynabanModel):
        return DynabanModel(**values)
    law = friction_model(model.friction_model)
    return replace(
        model,
        motor=DcMotor(**{name: values[name] for name in _MOTOR}),
        friction=law.friction({name: values[name] for name in law.parameters}),
    )


def _row(model: Model) -> Array:
    """Return the (14,) that the kernel takes."""
    motor = [getattr(model.motor, name) for name in _MOTOR]
    if isinstance(model, DynabanModel):
        rest = [model.viscous, model.coulomb, model.static - model.coulomb, model.stribeck_velocity, 1.0]
        return np.array([*motor, *rest, *[0.0] * 6])
    return np.array([*motor, *model.friction.coefficients().values()])


def _packed(logs: Sequence[VoltageLog]) -> tuple[Array, Array, Array, Array, Array]:
    if not logs:
        raise BadData("voltage logs", "there are none", expected="one or more", advice="record some")
    if len({len(log.voltage) for log in logs}) > 1:
        raise Conflict(
            "voltage logs", "lengths differ", expected="one length", advice="cut them to the shortest"
        )
    return (
        np.array([log.bench.inertia for log in logs]),
        np.array([log.bench.gravity_torque for log in logs]),
        np.array([log.start_velocity for log in logs]),
        np.array([log.voltage for log in logs]),
        np.array([log.position for log in logs]),
    )
