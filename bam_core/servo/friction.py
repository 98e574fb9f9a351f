# SPDX-License-Identifier: Apache-2.0
"""The friction budget M1-M6 of BAM (eqs. 3, 6-10): one law whose terms can be off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core.errors import UnknownName
from bam_core.errors.checks import require_not_negative, require_positive

QUADRATIC_RULES = ("paper", "opposing")
"""Where the quadratic term acts: everywhere (BAM eq. 10), or only where motor and load torque oppose."""


@dataclass(frozen=True, kw_only=True)
class Friction:
    """The coefficients of BAM eq. 10, all zero or more; zero switches a term off.

    Attributes:
        viscous: K_v, N·m·s/rad.
        coulomb: K_c, N·m.
        stribeck_coulomb: K_c^s, N·m.
        stribeck_velocity: v_s, rad/s, above zero.
        stribeck_exponent: α, dimensionless, above zero.
        load_motor: K_m, dimensionless.
        load_external: K_e, dimensionless.
        load_motor_stribeck: K_m^s, dimensionless.
        load_external_stribeck: K_e^s, dimensionless.
        quadratic_motor: K_m^q, 1/(N·m).
        quadratic_external: K_e^q, 1/(N·m).
        quadratic_rule: "paper" as BAM eq. 10, or "opposing": the quadratic term only where τ_m·τ_e < 0, as
            in the authors' program, with which the published M6 parameters were fitted.

    Raises:
        BamError: a coefficient is negative or not finite, or the rule is unknown.
    """

    viscous: float = 0.0
    coulomb: float = 0.0
    stribeck_coulomb: float = 0.0
    stribeck_velocity: float = 1.0
    stribeck_exponent: float = 1.0
    load_motor: float = 0.0
    load_external: float = 0.0
    load_motor_stribeck: float = 0.0
    load_external_stribeck: float = 0.0
    quadratic_motor: float = 0.0
    quadratic_external: float = 0.0
    quadratic_rule: str = "paper"

    def __post_init__(self) -> None:
        require_not_negative("friction", **self.coefficients())
        require_positive(
            "friction", stribeck_velocity=self.stribeck_velocity, stribeck_exponent=self.stribeck_exponent
        )
        if self.quadratic_rule not in QUADRATIC_RULES:
            raise UnknownName("friction quadratic_rule", self.quadratic_rule, QUADRATIC_RULES)

    def coefficients(self) -> dict[str, float]:
        """Return the eleven coefficients by name, in the order of FRICTION_PARAMETERS."""
        return {name: getattr(self, name) for name in FRICTION_PARAMETERS}

    def scaled(self, *, no_load: float = 1.0, load: float = 1.0) -> Friction:
        """Return the law with the friction that no load causes, and the one that load causes, scaled."""
        if no_load == load == 1.0:
            return self
        return replace(
            self,
            viscous=no_load * self.viscous,
            coulomb=no_load * self.coulomb,
            stribeck_coulomb=no_load * self.stribeck_coulomb,
            load_motor=load * self.load_motor,
            load_external=load * self.load_external,
            load_motor_stribeck=load * self.load_motor_stribeck,
            load_external_stribeck=load * self.load_external_stribeck,
            quadratic_motor=load * self.quadratic_motor,
            quadratic_external=load * self.quadratic_external,
        )

    def budget(
        self, motor_torque: ArrayLike, external_torque: ArrayLike, velocity: ArrayLike
    ) -> NDArray[np.float64]:
        """Return τ_f^m (BAM eq. 10), the largest friction torque available in this state.

        Args:
            motor_torque: τ_m, N·m.
            external_torque: τ_e, N·m, signed like τ_m.
            velocity: rad/s.

        Returns:
            N·m, zero or more, in the broadcast shape of the arguments.
        """
        motor = np.asarray(motor_torque, dtype=np.float64)
        external = np.asarray(external_torque, dtype=np.float64)
        speed = np.abs(np.asarray(velocity, dtype=np.float64))
        with np.errstate(over="ignore"):  # far above v_s the power overflows to inf and exp(-inf) is 0
            stribeck = np.exp(-((speed / self.stribeck_velocity) ** self.stribeck_exponent))
        always = (
            self.viscous * speed
            + self.coulomb
            + np.abs(self.load_motor * motor - self.load_external * external)
        )
        at_rest = (
            self.stribeck_coulomb
            + np.abs(self.load_motor_stribeck * motor - self.load_external_stribeck * external)
            + self._quadratic(motor, external)
        )
        return np.asarray(always + stribeck * at_rest)

    def applied(
        self,
        motor_torque: ArrayLike,
        external_torque: ArrayLike,
        velocity: ArrayLike,
        inertia: ArrayLike,
        dt: float,
    ) -> NDArray[np.float64]:
        """Return τ_f (BAM eqs. 4, 5): the torque that stops the motion in one step, within the budget.

        It is passive: it opposes the velocity that the step ends with (τ_f·θ̇_{k+1} <= 0), and the step
        ends with no more kinetic energy than the same step without friction, for any inertia and dt.

        Args:
            motor_torque: τ_m, N·m.
            external_torque: τ_e, N·m.
            velocity: θ̇_k, rad/s.
            inertia: J, kg·m².
            dt: Δt, s.

        Returns:
            N·m, in the broadcast shape of the arguments.
        """
        net = np.asarray(motor_torque, dtype=np.float64) + np.asarray(external_torque, dtype=np.float64)
        stop = -(np.asarray(inertia, dtype=np.float64) / dt * np.asarray(velocity) + net)
        budget = self.budget(motor_torque, external_torque, velocity)
        return np.asarray(np.clip(stop, -budget, budget))

    def _quadratic(self, motor: NDArray[Any], external: NDArray[Any]) -> NDArray[Any]:
        drives = np.abs(motor) > np.abs(external)
        driven = np.abs(motor) < np.abs(external)
        term = np.where(drives, self.quadratic_external * external**2, 0.0)
        term = np.where(driven, self.quadratic_motor * motor**2, term)
        if self.quadratic_rule == "opposing":
            term = np.where(motor * external < 0.0, term, 0.0)
        return term


FRICTION_PARAMETERS: tuple[str, ...] = tuple(f.name for f in fields(Friction) if f.name != "quadratic_rule")
"""The eleven coefficients, in the order in which vectors of parameters hold them."""

FRICTION_UNITS: Mapping[str, str] = MappingProxyType(
    {
        "viscous": "N·m·s/rad",
        "coulomb": "N·m",
        "stribeck_coulomb": "N·m",
        "stribeck_velocity": "rad/s",
        "stribeck_exponent": "-",
        "load": "-",
        "load_stribeck": "-",
        "load_motor": "-",
        "load_external": "-",
        "load_motor_stribeck": "-",
        "load_external_stribeck": "-",
        "quadratic_motor": "1/(N·m)",
        "quadratic_external": "1/(N·m)",
    }
)
"""Unit of every parameter of every friction model."""

_TIED = {
    "load": ("load_motor", "load_external"),
    "load_stribeck": ("load_motor_stribeck", "load_external_stribeck"),
}


@dataclass(frozen=True, kw_only=True)
class FrictionModel:
    """One of M1-M6: which coefficients of the law are free; the others keep their "off" value.

    Attributes:
        name: "m1" to "m6".
        title: what the model adds, in words.
        parameters: names of the free parameters. `load` (K_l) and `load_stribeck` (K_l^s) of M3 and M4
            set the motor and the external coefficient alike.
    """

    name: str
    title: str
    parameters: tuple[str, ...]

    def friction(self, values: Mapping[str, float], *, quadratic_rule: str = "paper") -> Friction:
        """Return the law with these values; a parameter that is not given keeps its "off" value.

        Raises:
            BamError: a name that this model does not have, or a value that is out of range.
        """
        coefficients: dict[str, float] = {}
        for name, value in values.items():
            if name not in self.parameters:
                raise UnknownName(f"parameter of friction model {self.name}", name, self.parameters)
            for target in coefficient_names(name):
                coefficients[target] = value
        return Friction(**coefficients, quadratic_rule=quadratic_rule)

    def values(self, friction: Friction) -> dict[str, float]:
        """Return this model's own parameters of a law: the inverse of `friction`."""
        return {name: getattr(friction, coefficient_names(name)[0]) for name in self.parameters}


_M1 = ("viscous", "coulomb")
_STRIBECK = ("stribeck_coulomb", "stribeck_velocity", "stribeck_exponent")
_M5 = (
    *_M1,
    *_STRIBECK,
    "load_motor",
    "load_external",
    "load_motor_stribeck",
    "load_external_stribeck",
)

FRICTION_MODELS: Mapping[str, FrictionModel] = MappingProxyType(
    {
        name: FrictionModel(name=name, title=title, parameters=parameters)
        for name, title, parameters in (
            ("m1", "Coulomb-viscous", _M1),
            ("m2", "Stribeck", (*_M1, *_STRIBECK)),
            ("m3", "load-dependent", (*_M1, "load")),
            ("m4", "Stribeck load-dependent", (*_M1, *_STRIBECK, "load", "load_stribeck")),
            ("m5", "directional", _M5),
            ("m6", "quadratic", (*_M5, "quadratic_motor", "quadratic_external")),
        )
    }
)
"""The six models of BAM by name."""


def friction_model(name: str) -> FrictionModel:
    """Return the friction model of this name; raise BamError with the valid names where there is none."""
    try:
        return FRICTION_MODELS[name]
    except KeyError:
        raise UnknownName("friction model", name, FRICTION_MODELS) from None


def coefficient_names(parameter: str) -> tuple[str, ...]:
    """Return the coefficients that a parameter sets: itself, or two for `load` and `load_stribeck`."""
    return _TIED.get(parameter, (parameter,))
