# SPDX-License-Identifier: Apache-2.0
"""One servo as a simulation needs it: firmware, motor, friction, and where the numbers come from."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from bam_core._checks import require_not_negative, require_positive
from bam_core.atomic_file import write_text
from bam_core.errors import BamError, Malformed, UnknownName
from bam_core.servo import _yaml as _servo_yaml
from bam_core.servo.effects import EFFECTS, BenchEffects, ServoEffects, resolve_effects
from bam_core.servo.firmware import (
    FIRMWARES,
    PositionFirmware,
    find_firmware,
    firmware_fields,
    firmware_from_fields,
)
from bam_core.servo.friction import FRICTION_MODELS, FRICTION_UNITS, Friction, FrictionModel, friction_model
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.motor import DcMotor

if TYPE_CHECKING:
    from bam_core.servo.asymmetry import Asymmetry

MOTOR_PARAMETERS = ("torque_constant", "resistance", "armature")
MOTOR_EFFECTS = ("torque_saturation", "winding_heating")
SERVO_EFFECTS = tuple(f.name for f in fields(ServoEffects))
BENCH_EFFECTS = tuple(f.name for f in fields(BenchEffects))
GEAR_COEFFICIENTS = ("input_side", "output_side")
GEAR_FRICTION = ("m1", "m2")
"""Friction models without load: what a servo with a gear has beside it."""

PARAMETER_UNITS: Mapping[str, str] = MappingProxyType(
    {
        "torque_constant": "N·m/A",
        "resistance": "Ω",
        "armature": "kg·m²",
        **FRICTION_UNITS,
        **{effect.name: effect.unit for effect in EFFECTS.values()},
        **dict.fromkeys(GEAR_COEFFICIENTS, "-"),
    }
)
"""Unit of every parameter that a servo model can hold."""


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a servo's parameters come from. Every field may be empty.

    Attributes:
        source: who found them and how, in words.
        software: name and version of the program that found them.
        date: ISO 8601.
        train_mae: mean absolute position error on the training recordings, rad.
        validation_mae: the same on recordings that were held out, rad.
        train_data: name of each training recording -> SHA-256 of its file.
        validation_data: the same of those held out.
    """

    source: str = ""
    software: str = ""
    date: str = ""
    train_mae: float | None = None
    validation_mae: float | None = None
    train_data: Mapping[str, str] = field(default_factory=dict)
    validation_data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ServoModel:
    """A servo: motor, friction, firmware, effects, and the ranges in which identification searches.

    Attributes:
        name: lower case, as recordings name it, such as "mx106".
        title: what is printed on it.
        manufacturer: who makes it.
        protocol: Dynamixel protocol of its firmware, 1 or 2; 0 for servos on another bus.
        firmware: its position controller.
        nominal_voltage: supply where nothing else is said, V.
        motor: motor constants at the output shaft.
        friction_model: "m1" to "m6": which coefficients of `friction` are in use.
        friction: the friction law.
        gear: Kikuuwe's asymmetric friction of a gear (γ_u, γ_v; see `gears`) in place of terms that depend on
            the load, so that `friction_model` is m1 or m2. None: M1-M6 alone.
        integrator: the one that the parameters were fitted with, one of `integrators.INTEGRATORS`.
        effects: which of `effects.EFFECTS` an identification fits besides motor and friction.
        servo_effects: of the servo, besides motor and friction.
        bench_effects: of the bench of the recordings; applied where recordings are simulated, never in other
            robots.
        uncertainty: one standard deviation of parameters, by their name, in their unit.
        search: (low, high) between which identification looks for a parameter, by its name, in its unit.
        provenance: where the numbers come from.

    Raises:
        BamError: a name is unknown, a value out of range, a coefficient is set that its friction model
            lacks, or friction depends on the load twice.
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
    integrator: str = "midpoint"
    effects: tuple[str, ...] = ()
    servo_effects: ServoEffects = field(default_factory=ServoEffects)
    bench_effects: BenchEffects = field(default_factory=BenchEffects)
    uncertainty: Mapping[str, float] = field(default_factory=dict)
    search: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        model = friction_model(self.friction_model)
        for name, value in self.friction.coefficients().items():
            if value != getattr(self._reduced(model), name):
                raise BamError(
                    f"servo '{self.name}', friction {name}: is {value:g} but {model.name} has no such term "
                    f"(it has {', '.join(model.parameters)}); choose a larger friction_model or leave it out"
                )
        if self.gear is not None and model.name not in GEAR_FRICTION:
            raise BamError(
                f"servo '{self.name}', friction_model: is {model.name} beside a gear (expected m1 or m2: "
                f"what depends on the load is the gear's, Kikuuwe eq. 14); leave those terms out, or the gear"
            )
        if self.integrator not in INTEGRATORS:
            raise UnknownName("integrator", self.integrator, INTEGRATORS)
        if self.protocol not in (0, 1, 2):
            raise BamError(
                f"servo '{self.name}', protocol: is {self.protocol} (expected 1, 2 or 0); correct it"
            )
        object.__setattr__(self, "effects", resolve_effects(self.effects))
        require_positive(f"servo '{self.name}',", nominal_voltage=self.nominal_voltage)
        require_not_negative(f"servo '{self.name}', uncertainty", **self.uncertainty)
        for name in (*self.uncertainty, *self.search):
            if name not in PARAMETER_UNITS:
                raise UnknownName("parameter", name, PARAMETER_UNITS)
        for name, (low, high) in self.search.items():
            self._require_range(name, low, high)

    @property
    def parameters(self) -> dict[str, float]:
        """Motor constants, the friction model's own parameters, gear and effects; see PARAMETER_UNITS."""
        motor = {name: getattr(self.motor, name) for name in MOTOR_PARAMETERS}
        values = self.effect_values
        effects = {name: values[name] for name in self.effects}
        return {**motor, **friction_model(self.friction_model).values(self.friction), **self._gear, **effects}

    @property
    def effect_values(self) -> dict[str, float]:
        """The parameters of all EFFECTS by name, zero where an effect is off."""
        motor = {name: getattr(self.motor, name) for name in MOTOR_EFFECTS}
        servo_effects = {name: getattr(self.servo_effects, name) for name in SERVO_EFFECTS}
        return {
            **motor,
            **servo_effects,
            **{name: getattr(self.bench_effects, name) for name in BENCH_EFFECTS},
        }

    def with_gear(self, gear: Asymmetry) -> ServoModel:
        """Return this servo with a gear in place of the terms of its friction that depend on the load."""
        model = friction_model(GEAR_FRICTION[-1])
        law = model.friction(model.values(self.friction))
        return replace(self, friction_model=model.name, friction=law, gear=gear)

    def require_no_gear(self, what: str) -> None:
        """Raise BamError where this servo has a gear, which `what`, a phrase, cannot regard."""
        if self.gear is not None:
            raise BamError(
                f"servo '{self.name}', gear: {what} knows friction budgets M1-M6 only (expected a servo file "
                f"without gear); give one, or use 'bam simulate', 'bam validate' or the node simulator"
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
        return _servo_yaml.dump(
            {
                "name": self.name,
                "title": self.title,
                "manufacturer": self.manufacturer,
                "protocol": self.protocol,
                "firmware": self._told_firmware,
                "nominal_voltage": self.nominal_voltage,
                "motor": {name: value for name, value in motor.items() if value or name in MOTOR_PARAMETERS},
                "friction_model": self.friction_model,
                "friction": {"quadratic_rule": self.friction.quadratic_rule, **friction},
                "gear": self._gear,
                "servo_effects": {
                    name: getattr(self.servo_effects, name)
                    for name in SERVO_EFFECTS
                    if getattr(self.servo_effects, name)
                },
                "bench_effects": {
                    name: getattr(self.bench_effects, name)
                    for name in BENCH_EFFECTS
                    if getattr(self.bench_effects, name)
                },
                "effects": list(self.effects),
                "integrator": self.integrator,
                "uncertainty": dict(self.uncertainty),
                "search": {name: list(bounds) for name, bounds in self.search.items()},
                "provenance": {
                    "source": origin.source,
                    "software": origin.software,
                    "date": origin.date,
                    "train_mae": origin.train_mae,
                    "validation_mae": origin.validation_mae,
                    "train_data": dict(origin.train_data),
                    "validation_data": dict(origin.validation_data),
                },
            },
            PARAMETER_UNITS,
        )

    def _require_range(self, name: str, low: float, high: float) -> None:
        """Raise BamError unless a search may go from low to high: both ends are values of the parameter."""
        least = -math.inf if name in EFFECTS and EFFECTS[name].low < 0.0 else 0.0
        if not least <= low < high < math.inf or not math.isfinite(low):
            raise BamError(
                f"servo '{self.name}', search {name}: is [{low:g}, {high:g}] "
                f"(expected 0 <= low < high, finite); correct it"
            )
        for value in (low, high):
            try:
                _require_value(name, value)
            except BamError as error:
                raise BamError(
                    f"servo '{self.name}', search {name}: is [{low:g}, {high:g}], but {error}"
                ) from None

    @property
    def _told_firmware(self) -> str | dict[str, Any]:
        """The library's name of the firmware, or what tells it."""
        name = self.firmware.name
        if FIRMWARES.get(name) == self.firmware:
            return name
        return {**({"name": name} if name != self.name else {}), **firmware_fields(self.firmware)}

    @property
    def _gear(self) -> dict[str, float]:
        return {name: getattr(self.gear, name) for name in GEAR_COEFFICIENTS} if self.gear else {}

    def _reduced(self, model: FrictionModel) -> Friction:
        return model.friction(model.values(self.friction), quadratic_rule=self.friction.quadratic_rule)


def _require_value(name: str, value: float) -> None:
    """Raise BamError where the type that holds a parameter refuses this value of it."""
    if name in (*MOTOR_PARAMETERS, *MOTOR_EFFECTS):
        anything = {"torque_constant": 1.0, "resistance": 1.0, "armature": 1.0}
        DcMotor(**{**anything, name: value})
    elif name in SERVO_EFFECTS:
        ServoEffects(**{name: value})
    elif name in BENCH_EFFECTS:
        BenchEffects(**{name: value})
    for model in FRICTION_MODELS.values():
        if name in model.parameters:
            model.friction({name: value})


def servo_names() -> tuple[str, ...]:
    """Names of the servos in the library, sorted."""
    library = files("bam_core") / "servos"
    return tuple(
        sorted(item.name[: -len(".yaml")] for item in library.iterdir() if item.name.endswith(".yaml"))
    )


ServoLike: TypeAlias = ServoModel | str | os.PathLike[str]
"""What functions accept as a servo: a `ServoModel`, a library name, or the path of a YAML file."""


def load_servo(servo: ServoLike) -> ServoModel:
    """Read a servo from the library (a name such as "xl330") or from a YAML file.

    Args:
        servo: name or path; a `ServoModel` is returned as it is.

    Raises:
        BamError: no such servo or file; or the file has an unknown, missing or wrong field, which it names.
    """
    if isinstance(servo, ServoModel):
        return servo
    text = os.fspath(servo)
    if text in servo_names():
        return _read(Path(str(files("bam_core") / "servos" / f"{text}.yaml")))
    path = Path(text)
    if path.is_dir():
        inside = ", ".join(sorted(each.name for each in path.glob("*.y*ml"))) or "there is none"
        raise Malformed(
            path,
            "is a directory",
            expected="a library name or a servo's YAML file",
            advice=f"name a servo file in it: {inside}",
        )
    if path.suffix == ".json":
        raise BamError(
            f"{path}: is JSON (expected a servo's YAML file); turn parameters of BAM's program into one with "
            f"'bam import'"
        )
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        return _read(path)
    own = f"or write a file for a servo of your own with 'bam servos new {text}.yaml'"
    raise UnknownName("servo", text, servo_names(), advice=own)


def _read(path: Path) -> ServoModel:
    fields = _servo_yaml.read(path)
    friction = fields.pop("friction")
    rule = friction.pop("quadratic_rule", "paper")
    try:
        model = friction_model(fields["friction_model"])
        law = model.friction(friction, quadratic_rule=rule)
        for name in model.parameters:
            if name not in friction:  # FrictionModel.friction would take it as off
                raise BamError(
                    f"friction.{name}: is missing (friction model {model.name} has "
                    f"{', '.join(model.parameters)}); add it"
                )
        return ServoModel(
            **{
                **fields,
                "firmware": _firmware(fields["name"], fields["firmware"]),
                "motor": DcMotor(**fields["motor"]),
                "friction": law,
                "gear": _gear(fields.get("gear", {})),
                "effects": tuple(fields.get("effects", ())),
                "servo_effects": ServoEffects(**fields.get("servo_effects", {})),
                "bench_effects": BenchEffects(**fields.get("bench_effects", {})),
                "search": {name: (low, high) for name, (low, high) in fields.get("search", {}).items()},
                "provenance": Provenance(**fields.get("provenance", {})),
            }
        )
    except BamError as error:
        raise BamError(f"{path}: {error}") from None


def _firmware(servo: str, told: str | dict[str, Any]) -> PositionFirmware:
    """Return the library's firmware of this name, or the one that a section tells."""
    if isinstance(told, str):
        return find_firmware(told)
    return firmware_from_fields(told.pop("name", servo), told)


def _gear(fields: Mapping[str, float]) -> Asymmetry | None:
    if not fields:
        return None
    from bam_core.servo.asymmetry import Asymmetry  # which brings a compiler along

    return Asymmetry(**fields)
