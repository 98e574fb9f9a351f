# SPDX-License-Identifier: Apache-2.0
"""One servo as a simulation needs it: firmware, motor, friction, and where the numbers come from."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bam_core.errors import BamError, Conflict, Malformed, Missing, OutOfRange, UnknownName, Unsupported
from bam_core.errors.checks import require_file_name, require_not_negative, require_positive
from bam_core.files.atomic_file import write_text
from bam_core.servo.added import added_names, added_path
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.firmware import PositionFirmware
from bam_core.servo.firmware_library import FIRMWARES, firmware_fields
from bam_core.servo.friction import Friction, FrictionModel, friction_model
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.motor import DcMotor
from bam_core.servo.parameters import (
    BENCH_EFFECTS,
    FRICTION_EFFECTS,
    GEAR_COEFFICIENTS,
    GEAR_FRICTION,
    MOTOR_EFFECTS,
    MOTOR_PARAMETERS,
    PARAMETER_UNITS,
)
from bam_core.servo.provenance import Provenance as Provenance
from bam_core.servo.search_ranges import SearchRanges
from bam_core.servo.servo_file import FrictionFields, GearFields, read_servo
from bam_core.servo.yaml_text import yaml_text
from bam_core.text.finding import log_findings
from bam_core.text.servo_findings import UnfinishedServo

if TYPE_CHECKING:
    from bam_core.servo.asymmetry import Asymmetry

log = logging.getLogger(__name__)

INTERRUPTED = "interrupted, not converged"
"""End of `Provenance.source` in servo files of a descent that was interrupted."""


@dataclass(frozen=True, kw_only=True)
class ServoModel:
    """A servo: what a simulation needs of it, and what an identification of it searches for.

    What was found about the bench of its recordings is no part of it; see `effects.BenchEffects` and
    `bench_effects_file`.

    Attributes:
        name: lower case, as recordings name it, such as "mx106"; results are files with this name in theirs.
        title: what is printed on it.
        manufacturer: who makes it.
        protocol: Dynamixel protocol of its firmware, 1 or 2; 0 for servos on another bus.
        firmware: its position controller.
        nominal_voltage: supply by default, V.
        gear_ratio: turns of the motor per turn of the output shaft; None: not known, and not needed.
        motor: motor constants at the output shaft.
        friction_model: "m1" to "m6": which coefficients of `friction` are in use.
        friction: the friction law.
        gear: Kikuuwe's asymmetric friction of a gear (γ_u, γ_v; see `gears`) in place of terms that depend on
            the load, so that `friction_model` is m1 or m2. None: M1-M6 alone.
        integrator: the one that the parameters were fitted with, one of `integrators.INTEGRATORS`.
        servo_effects: besides motor and friction.
        uncertainty: one standard deviation of parameters, by their name, in their unit.
        search: what an identification fits, and within which ranges.
        provenance: where the numbers come from.

    Raises:
        BamError: a name is unknown or no name for files, a value out of range, a coefficient is set that its
            friction model lacks, or friction depends on the load twice.
    """

    name: str
    title: str
    manufacturer: str
    protocol: int
    firmware: PositionFirmware
    nominal_voltage: float
    motor: DcMotor
    friction_model: str
    friction: Friction
    gear: Asymmetry | None = None
    gear_ratio: float | None = None
    integrator: str = "midpoint"
    servo_effects: ServoEffects = field(default_factory=ServoEffects)
    uncertainty: Mapping[str, float] = field(default_factory=dict)
    search: SearchRanges = field(default_factory=SearchRanges)
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        require_file_name("name of a servo", self.name)
        model = friction_model(self.friction_model)
        reduced = self._reduced(model)
        for name, value in self.friction.coefficients().items():
            if value != getattr(reduced, name):
                raise Conflict(
                    f"servo '{self.name}', friction {name}",
                    f"is {value:g} but {model.name} has no such term",
                    expected=f"those of {model.name}: {', '.join(model.parameters)}",
                    advice="choose a larger friction_model or leave it out",
                )
        if self.gear is not None and model.name not in GEAR_FRICTION:
            raise Conflict(
                f"servo '{self.name}', friction_model",
                f"is {model.name} beside a gear",
                expected=f"{' or '.join(GEAR_FRICTION)}, Kikuuwe (14): the gear's part depends on the load",
                advice="leave those terms out, or the gear",
            )
        if self.gear is not None and self.servo_effects.friction_direction:
            raise Conflict(
                f"servo '{self.name}', friction_direction",
                "is given beside a gear",
                expected="either: the gear's part of friction knows no direction",
                advice="leave one out",
            )
        if self.integrator not in INTEGRATORS:
            raise UnknownName("integrator", self.integrator, INTEGRATORS)
        if self.protocol not in (0, 1, 2):
            raise OutOfRange(f"servo '{self.name}', protocol", self.protocol, "1, 2 or 0")
        require_positive(f"servo '{self.name}',", nominal_voltage=self.nominal_voltage)
        if self.gear_ratio is not None:
            require_positive(f"servo '{self.name}',", gear_ratio=self.gear_ratio)
        require_not_negative(f"servo '{self.name}', uncertainty", **self.uncertainty)
        own = [name for name in PARAMETER_UNITS if name not in BENCH_EFFECTS]
        for name in self.uncertainty:
            if name not in own:
                raise UnknownName("parameter", name, own)

    @property
    def parameters(self) -> dict[str, float]:
        """Motor constants, the friction model's own parameters, gear, and those effects that are fitted.

        Of `search.effects` these are the ones of the servo; see PARAMETER_UNITS.
        """
        motor = {name: getattr(self.motor, name) for name in MOTOR_PARAMETERS}
        values = self.effect_values
        effects = {name: values[name] for name in self.search.effects if name in values}
        return {**motor, **friction_model(self.friction_model).values(self.friction), **self._gear, **effects}

    @property
    def effect_values(self) -> dict[str, float]:
        """The parameters of all effects of motor and servo by name, zero where an effect is off."""
        return {**{name: getattr(self.motor, name) for name in MOTOR_EFFECTS}, **vars(self.servo_effects)}

    def with_gear(self, gear: Asymmetry) -> ServoModel:
        """Return this servo with a gear in place of the terms of its friction that depend on the load."""
        model = friction_model(GEAR_FRICTION[-1])
        law = model.friction(model.values(self.friction))
        return replace(self, friction_model=model.name, friction=law, gear=gear)

    def require_no_gear(self, what: str) -> None:
        """Raise Unsupported where this servo has a gear, which `what`, a phrase, cannot regard."""
        if self.gear is not None:
            raise Unsupported(
                f"servo '{self.name}', gear",
                f"{what} knows friction budgets M1-M6 only",
                expected="a servo file without gear",
                advice="give one, or use 'bam simulate', 'bam validate' or the node simulator",
            )

    def require_no_friction_effects(self, what: str) -> None:
        """Raise Unsupported where effects change friction that `what`, a phrase, takes as in the budget."""
        for name in FRICTION_EFFECTS:
            if getattr(self.servo_effects, name):
                raise Unsupported(
                    f"servo '{self.name}', {name}",
                    f"{what} knows friction budgets M1-M6 only",
                    expected="a servo file without it",
                    advice="identify without this effect, or use 'bam simulate', 'bam validate' or the node "
                    "simulator",
                )

    def stall_torque(self, supply_voltage: float | None = None) -> float:
        """Return the motor's largest torque at rest, with a cold winding and without friction, N·m.

        Args:
            supply_voltage: V; default the nominal one.
        """
        supply = self.nominal_voltage if supply_voltage is None else supply_voltage
        limit = self.firmware.demand_limit * (1.0 - self.servo_effects.limit_shortfall)
        voltage = limit * supply
        if self.firmware.regulates_current:
            voltage = float(self.motor.regulating_voltage(limit, 0.0, supply))
        return float(self.motor.torque(voltage, 0.0))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the YAML file, whole or not at all.

        Raises:
            BamError: the file cannot be written.
        """
        write_text(path, self.to_yaml())

    def to_yaml(self) -> str:
        """Text of the YAML file: units in comments, parameters under the friction model's own names."""
        motor = {name: getattr(self.motor, name) for name in (*MOTOR_PARAMETERS, *MOTOR_EFFECTS)}
        friction = friction_model(self.friction_model).values(self.friction)
        origin = self.provenance
        return yaml_text(
            {
                "name": self.name,
                "title": self.title,
                "manufacturer": self.manufacturer,
                "protocol": self.protocol,
                "firmware": self._firmware_field,
                "nominal_voltage": self.nominal_voltage,
                "gear_ratio": self.gear_ratio,
                "motor": {name: value for name, value in motor.items() if value or name in MOTOR_PARAMETERS},
                "friction_model": self.friction_model,
                "friction": {"quadratic_rule": self.friction.quadratic_rule, **friction},
                "gear": self._gear,
                "servo_effects": {name: value for name, value in vars(self.servo_effects).items() if value},
                "effects": list(self.search.effects),
                "integrator": self.integrator,
                "uncertainty": dict(self.uncertainty),
                "search": {name: list(bounds) for name, bounds in self.search.ranges.items()},
                "provenance": {
                    "source": origin.source,
                    "derived_from": origin.derived_from,
                    "method": origin.method,
                    "seed": origin.seed,
                    "trials": origin.trials,
                    "trials_used": origin.trials_used,
                    "software": origin.software,
                    "packages": dict(origin.packages),
                    "date": origin.date,
                    "tolerances": dict(origin.tolerances),
                    "corrections": dict(origin.corrections),
                    "train_mae": origin.train_mae,
                    "selection_mae": origin.selection_mae,
                    "test_mae": origin.test_mae,
                    "train_data": dict(origin.train_data),
                    "test_data": dict(origin.test_data),
                },
            },
            PARAMETER_UNITS,
        )

    @property
    def _firmware_field(self) -> str | dict[str, Any]:
        """The library's name of the firmware, or its fields."""
        name = self.firmware.name
        if FIRMWARES.get(name) == self.firmware:
            return name
        return {**({"name": name} if name != self.name else {}), **firmware_fields(self.firmware)}

    @property
    def _gear(self) -> dict[str, float]:
        return {name: getattr(self.gear, name) for name in GEAR_COEFFICIENTS} if self.gear else {}

    def _reduced(self, model: FrictionModel) -> Friction:
        return model.friction(model.values(self.friction), quadratic_rule=self.friction.quadratic_rule)


def fitted_parameters(servo: ServoModel, bench_effects: BenchEffects) -> dict[str, float]:
    """Return the parameters that an identification of this servo fits, those of the bench included."""
    bench = {name: value for name, value in vars(bench_effects).items() if name in servo.search.effects}
    return {**servo.parameters, **bench}


def servo_names() -> tuple[str, ...]:
    """Names of the servos in the library, sorted."""
    return _names_in("")


def published_names() -> tuple[str, ...]:
    """Names of library servos as others published them, with the integrator that they used; sorted.

    The library's servo of the same name, where there is one, has parameters that were converted from these to
    "midpoint", the integrator of this package, by `tools/convert_servos.py`.
    """
    return tuple(f"{_PUBLISHED}/{name}" for name in _names_in(_PUBLISHED))


_PUBLISHED = "published"  # directory in the library


def _names_in(directory: str) -> tuple[str, ...]:
    library = files("bam_core") / "servos" / directory
    return tuple(
        sorted(item.name[: -len(".yaml")] for item in library.iterdir() if item.name.endswith(".yaml"))
    )


ServoLike: TypeAlias = ServoModel | str | os.PathLike[str]
"""What functions accept as a servo: a `ServoModel`, the name of one in the library or of an added one, or the
path of a YAML file."""


def load_servo(servo: ServoLike) -> ServoModel:
    """Read a servo from the library ("xl330", "published/mx106"), an added one, or a YAML file.

    Args:
        servo: one of `servo_names`, `published_names` or `added_names`, or a path; a `ServoModel` is returned
            as it is.

    Raises:
        BamError: no such servo or file; or the file has an unknown, missing or wrong field, which it names.
    """
    if isinstance(servo, ServoModel):
        return servo
    path = servo_path(servo)
    model = _read(path)
    if model.provenance is not None and model.provenance.source.endswith(INTERRUPTED):
        _warn_unfinished(str(path))
    return model


@cache
def _warn_unfinished(path: str) -> None:
    """Log a warning, once, that a servo file is of a descent that did not converge."""
    log_findings(log, [UnfinishedServo(file=path)])


_FAMILY = re.compile(r"[a-z]+(?=-?\d)")
"""What comes before the number of a model: its series."""


def servo_path(servo: str | os.PathLike[str]) -> Path:
    """Return the path of a servo's file, by name or path.

    Raises:
        BamError: it is neither the name of a servo in the library or of an added one, nor the path of a YAML
            file.
    """
    text = os.fspath(servo)
    if text in servo_names() or text in published_names():
        return Path(str(files("bam_core") / "servos" / f"{text}.yaml"))
    added = added_names()
    if text in added:
        return added_path(text)
    path = Path(text)
    if path.is_dir():
        inside = ", ".join(sorted(file.name for file in path.glob("*.y*ml"))) or "there is none"
        raise Malformed(
            path,
            "is a directory",
            expected="a library name or a servo's YAML file",
            advice=f"name a servo file in it: {inside}",
        )
    if path.suffix == ".json":
        raise Malformed(
            path,
            "is JSON",
            expected="a servo's YAML file",
            advice="turn parameters of BAM's program into one with 'bam import'",
        )
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        return path
    own = f"write a file for a servo of your own with 'bam servos new {text}.yaml'"
    family = _FAMILY.match(text.lower())
    names = (*servo_names(), *added)
    if family and not any(name.startswith(family[0]) for name in names):
        raise UnknownName(
            "servo", text, names, otherwise=f"the library has no {family[0].upper()} servo, {own}"
        )
    raise UnknownName("servo", text, names, advice=f"or {own}")


def _read(path: Path) -> ServoModel:
    read = read_servo(path)
    uncertainty = {name: error for name, error in read.uncertainty.items() if name not in BENCH_EFFECTS}
    try:
        return ServoModel(
            name=read.name,
            title=read.title,
            manufacturer=read.manufacturer,
            protocol=read.protocol,
            firmware=read.firmware,
            nominal_voltage=read.nominal_voltage,
            gear_ratio=read.gear_ratio,
            motor=read.motor,
            friction_model=read.friction_model,
            friction=_friction(read.friction_model, read.friction),
            gear=_gear(read.gear),
            integrator=read.integrator,
            servo_effects=read.servo_effects,
            uncertainty=uncertainty,
            search=SearchRanges(effects=read.effects, ranges=read.search),
            provenance=read.provenance,
        )
    except BamError as error:
        raise error.within(path) from None


def _friction(name: str, read: FrictionFields) -> Friction:
    model = friction_model(name)
    law = model.friction(read.coefficients, quadratic_rule=read.quadratic_rule)
    for parameter in model.parameters:
        if parameter not in read.coefficients:  # FrictionModel.friction would take it as off
            raise Missing(
                f"friction.{parameter}",
                f"a number: friction model {name} has {', '.join(model.parameters)}",
            )
    return law


def _gear(read: GearFields | None) -> Asymmetry | None:
    if read is None:
        return None
    from bam_core.servo.asymmetry import Asymmetry  # which brings a compiler along

    return Asymmetry(input_side=read.input_side, output_side=read.output_side)
