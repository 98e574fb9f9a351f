# SPDX-License-Identifier: Apache-2.0
"""Position controllers of servo firmwares: from position error to demand, a PWM duty or a current."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core.errors import OutOfRange, Unsupported
from bam_core.errors.checks import require_not_negative, require_positive
from bam_core.servo.protection import OverloadProtection

SLACK = 1e-9
"""Relative rounding of the speed at which a set-point may stop at its goal."""


@dataclass(frozen=True, kw_only=True)
class PositionFirmware(ABC):
    """The position loop of a firmware: once per period it puts out clip(K·(e + T·ė + z) - B·θ̇, ±limit).

    That is a duty where it sets the motor's voltage (`VoltageFirmware`), and a current where a current
    regulator follows (`CurrentFirmware`). The error e is θ_d - θ with the set-point θ_d, which follows the
    goal at limited speed (`followed`) and acceleration (`profiled`). The error is shaped by a dead band
    (`shaped_error`). Most firmwares have no such limits and no dead band.

    T belongs to the derivative gain, and is 0 without one. ė is the rate of the error, before it is shaped,
    since the last period; in the first one it is -θ̇. z belongs to the integral gain, see `integrated`, and
    is 0 without one. Where torque comes on, the set-point starts where the servo is, and the integral at 0.
    Protection may limit the demand further, to less than ±limit. It depends on past demands, which `demand`
    does not know.

    No maker documents how its integral is limited. Here |K·z| is at most ±limit: a larger integral could
    change no demand but would have to be unwound, and a smaller one could not hold every load that the servo
    can. Protection does not limit the integral, since its limit is not that of the law.

    Attributes:
        name: key in FIRMWARES, or another one for a servo that is not in the library.
        counts_per_turn: encoder counts per turn of the output shaft.
        period: of the control loop, s.
        factory_kp: position gain that servos come with, in the firmware's units; for a firmware without
            one, a medium gain that its authors used.
        supply_is_aliased: the servo samples its supply in step with its PWM, so that single readings are off
            by the ripple; only their mean counts.
        dead_band: error up to which the firmware does nothing, rad.
        error_offset: what the firmware adds to a larger error, in its direction, rad: its gain over the error
            is K·(1 + error_offset/|e|), which overcomes friction near the goal.
        goal_speed_limit: at which the set-point follows the goal, rad/s; infinite where it jumps.
        goal_acceleration_limit: of the set-point, rad/s², see `profiled`; infinite where its speed jumps. A
            recording may have another one.
        kd_scale: effect of the derivative gain: T = kd_scale·kd/kp, s per unit of kd and kp; None: nobody
            knows it, and derivative gains are refused.
        ki_scale: effect of the integral gain: z grows by ki_scale·ki/kp·e per second, 1/s per unit of ki and
            kp; None: nobody knows it, and integral gains are refused.
        protection: against overload; None: there is none.

    Raises:
        BamError: a value is out of range.
    """

    name: str
    counts_per_turn: float
    factory_kp: float
    period: float = 1e-3
    supply_is_aliased: bool = False
    dead_band: float = 0.0
    error_offset: float = 0.0
    goal_speed_limit: float = math.inf
    goal_acceleration_limit: float = math.inf
    kd_scale: float | None = None
    ki_scale: float | None = None
    protection: OverloadProtection | None = None

    regulates_current: ClassVar[bool]
    """Whether demands are currents in A; else they are duties, -1..1."""

    def __post_init__(self) -> None:
        require_positive(
            f"firmware {self.name!r}",
            counts_per_turn=self.counts_per_turn,
            factory_kp=self.factory_kp,
            period=self.period,
        )
        require_not_negative(
            f"firmware {self.name!r}", dead_band=self.dead_band, error_offset=self.error_offset
        )
        for scale in ("kd_scale", "ki_scale"):
            if getattr(self, scale) is not None:
                require_not_negative(f"firmware {self.name!r}", **{scale: getattr(self, scale)})
        for limit, unit in (("goal_speed_limit", "rad/s"), ("goal_acceleration_limit", "rad/s²")):
            if not getattr(self, limit) > 0.0:
                raise OutOfRange(
                    f"firmware {self.name!r} {limit}",
                    getattr(self, limit),
                    f"above 0 {unit}",
                    advice="leave it out where the set-point has no such limit",
                )

    @property
    def resolution(self) -> float:
        """One encoder count, rad."""
        return 2.0 * math.pi / self.counts_per_turn

    @property
    @abstractmethod
    def demand_limit(self) -> float:
        """Largest demand, duty or A."""

    @property
    @abstractmethod
    def goal_delay(self) -> float:
        """Time from the sample that first shows a goal until that goal acts, on average, s."""

    @property
    @abstractmethod
    def release_delay(self) -> float:
        """Time from the sample that first shows torque off, or on, until it is so, s."""

    @abstractmethod
    def gains(self, kp: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return K, demand per rad, and B, demand per rad/s, for a position gain in the firmware's units."""

    @abstractmethod
    def limited(self, demand: float) -> PositionFirmware:
        """Return this firmware under a limit of its demand (duty or A), where that is below its own.

        Registers such as a PWM limit set one: what the servo may do, whatever its law asks for.
        """

    @abstractmethod
    def kp_for(self, share: float) -> float:
        """Return the kp at which 1 rad of error gives duty = share, or current = share · current_limit."""

    def accelerated(self, acceleration: float | None) -> PositionFirmware:
        """Return this firmware with another limit of the set-point's acceleration, as a register sets it.

        Args:
            acceleration: rad/s²; 0: there is no limit; None: the firmware's own.
        """
        if acceleration is None:
            return self
        return replace(self, goal_acceleration_limit=acceleration or math.inf)

    @property
    def goal_acceleration(self) -> float:
        """Largest acceleration of the set-point, rad/s²; 0: it is not limited."""
        return 0.0 if math.isinf(self.goal_acceleration_limit) else self.goal_acceleration_limit

    def full_demand_error(self, kp: float) -> float:
        """Return the error at which this gain asks for the largest demand, rad."""
        return self.demand_limit / float(self.gains(kp)[0])

    def rate_time(self, kp: float, kd: float) -> float:
        """Return T, s: for how long ahead the law extrapolates an error with these gains.

        Raises:
            Unsupported: nobody knows the effect of kd in this firmware, or of a kd without a kp.
        """
        return self._ratio("kd", "derivative", kd, kp)

    def integral_rate(self, kp: float, ki: float) -> float:
        """Return by how much an error of 1 rad makes the integral z grow in a second with these gains, 1/s.

        It is 1/T_i of a controller in the standard form, K·(e + 1/T_i·∫e dt).

        Raises:
            Unsupported: nobody knows the effect of ki in this firmware, or of a ki without a kp.
        """
        return self._ratio("ki", "integral", ki, kp)

    def _ratio(self, name: str, kind: str, gain: float, kp: float) -> float:
        """Return a gain in relation to kp, in seconds; `name` is "kd" or "ki"."""
        scale: float | None = getattr(self, f"{name}_scale")
        if gain == 0.0:
            return 0.0
        if scale is None:
            raise Unsupported(
                name,
                f"is {gain:g}, and firmware {self.name} has no known {kind} gain",
                expected=f"0, or a servo file whose firmware has {name}_scale",
                advice=f"record with {name} 0, or add {name}_scale to the firmware of a servo file",
            )
        if kp == 0.0:
            raise Unsupported(
                name,
                f"is {gain:g} where kp is 0, and no model has this gain alone",
                expected=f"{name} 0, or a kp above 0",
                advice="set one of them",
            )
        return scale * gain / kp

    def demand(
        self,
        kp: ArrayLike,
        error: ArrayLike,
        velocity: ArrayLike = 0.0,
        *,
        rate_time: float = 0.0,
        error_rate: ArrayLike = 0.0,
        integral: ArrayLike = 0.0,
    ) -> NDArray[np.float64]:
        """Return the demand (duty or A); arguments broadcast.

        Args:
            kp: position gain, firmware units.
            error: θ_d - θ, rad.
            velocity: rad/s.
            rate_time: T of the derivative gain, see `rate_time`.
            error_rate: ė, rad/s.
            integral: z, rad, see `integrated`.
        """
        stiffness, damping = self.gains(kp)
        ahead = self.shaped_error(error) + rate_time * np.asarray(error_rate) + np.asarray(integral)
        wanted = stiffness * ahead - damping * np.asarray(velocity)
        return np.asarray(np.clip(wanted, -self.demand_limit, self.demand_limit))

    def shaped_error(self, error: ArrayLike) -> NDArray[np.float64]:
        """Return what the firmware multiplies with its gain, rad, for errors θ_d - θ in rad."""
        error = np.asarray(error, dtype=np.float64)
        return np.where(np.abs(error) <= self.dead_band, 0.0, error + self.error_offset * np.sign(error))

    def integrated(
        self,
        before: float,
        error: float,
        *,
        kp: float,
        rate: float,
        time: float,
        largest: float | None = None,
    ) -> float:
        """Return the integral z, rad, after a period: it sums errors outside of the dead band, up to a limit.

        The newest error counts before the demand is computed. The limit is the z at which the integral alone
        asks for the largest demand, see the class.

        Args:
            before: z of the period before, rad; 0 in the first one.
            error: θ_d - θ, rad.
            kp: position gain, firmware units.
            rate: see `integral_rate`, 1/s.
            time: of the period, s.
            largest: demand that the servo may put out, duty or A; None: `demand_limit`.
        """
        if rate == 0.0:
            return 0.0
        counted = 0.0 if abs(error) <= self.dead_band else error
        most = (self.demand_limit if largest is None else largest) / float(self.gains(kp)[0])
        return min(max(before + rate * counted * time, -most), most)

    def integrals(
        self, errors: ArrayLike, enabled: ArrayLike, *, kp: float, rate: float, time: float
    ) -> NDArray[np.float64]:
        """Return the integral z, rad, behind each of the errors, (n,), which are `time` s apart.

        Args:
            errors: (n,) θ_d - θ, rad.
            enabled: (n,) above 0 with torque on; elsewhere the integral is 0.
            kp: position gain, firmware units.
            rate: see `integral_rate`, 1/s.
            time: between errors, s.
        """
        errors, enabled = np.asarray(errors, dtype=np.float64), np.asarray(enabled)
        integrals = np.zeros(len(errors))
        if rate > 0.0:
            for k in np.flatnonzero(enabled > 0.0).tolist():
                before = integrals[k - 1] if k > 0 else 0.0
                integrals[k] = self.integrated(before, errors[k], kp=kp, rate=rate, time=time)
        return integrals


def followed(before: float, goal: float, most: float) -> float:
    """Return the set-point, rad, that follows a goal from where it was before, by `most` rad at most."""
    ahead = goal - before
    return before + math.copysign(most, ahead) if abs(ahead) > most else goal


def profiled(
    before: float, speed: float, goal: float, *, time: float, fastest: float, acceleration: float
) -> tuple[float, float]:
    """Return set-point and its speed after a period of a firmware that limits its acceleration.

    The set-point moves at the largest speed from which it can still stop at the goal, which is a trapezoid
    of speed for a goal that stays. Its speed changes by `acceleration·time` at most: where a goal moves
    against it, the set-point passes the goal and returns.

    Args:
        before: set-point, rad.
        speed: of the set-point, rad/s.
        goal: rad.
        time: of the period, s.
        fastest: largest speed, rad/s; may be infinite.
        acceleration: largest acceleration, rad/s²; infinite: the set-point is `followed`.
    """
    if math.isinf(acceleration):
        return followed(before, goal, fastest * time), 0.0
    ahead = goal - before
    change = acceleration * time
    half = 0.5 * change
    # Of speeds that fall by `change` from period to period, the sum of the way is the distance that is left.
    stopping = (
        2.0 * acceleration * abs(ahead) / (half + math.sqrt(half * half + 2.0 * acceleration * abs(ahead)))
    )
    wanted = math.copysign(min(fastest, stopping), ahead)
    speed += min(max(wanted - speed, -change), change)
    moved = speed * time
    if abs(speed) <= change * (1.0 + SLACK) and speed * ahead >= 0.0 and abs(moved) >= abs(ahead):
        return goal, 0.0
    return before + moved, speed
