# SPDX-License-Identifier: Apache-2.0
"""Many joints behind gears, coupled by their mechanics: the time step (69) of Kikuuwe."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import Conflict, OutOfRange, WrongShape
from bam_core.errors.checks import require_not_negative, require_positive
from bam_core.gears.axproj import axproj, largest_gain
from bam_core.gears.gear import require_load_independent
from bam_core.servo.asymmetry import Asymmetry
from bam_core.servo.friction import Friction


@dataclass(frozen=True, kw_only=True)
class JointsStep:
    """What a time step led to, all but P of shape (n,).

    Attributes:
        velocity: of the joints, rad/s; exactly zero where friction holds.
        friction: torque that opposes the motion, N·m.
        internal_force: λ, N·m.
        feedback: P (52), (n, n).
        iterations: linear systems that `axproj` solved.
        residual: of `axproj`, rad/s.
    """

    velocity: Array
    friction: Array
    internal_force: Array
    feedback: Array
    iterations: int
    residual: float

    @property
    def gain(self) -> float:
        """σ_max(P); below 1 every friction state has one internal force (57)."""
        return largest_gain(self.feedback)


class GearedJoints:
    """The gears of n joints, all quantities seen at the joints.

    A joint without a gear has γ_u = γ_v = 0 and no friction; it costs nothing and disturbs nothing.

    Attributes:
        input_side: γ_u, (n,).
        output_side: γ_v, (n,).
        input_inertia: m, (n,) kg·m².
        frictions: load-independent friction of every joint.
    """

    def __init__(
        self,
        asymmetries: list[Asymmetry] | tuple[Asymmetry, ...],
        input_inertia: ArrayLike,
        frictions: list[Friction] | tuple[Friction, ...] | None = None,
    ) -> None:
        """Take the gears of n joints.

        Args:
            asymmetries: γ_u and γ_v of every joint.
            input_inertia: m, (n,) kg·m², zero or more.
            frictions: load-independent friction of every joint, as of `Gear`; default none.

        Raises:
            BamError: counts differ, or a value is out of range.
        """
        self.input_side = np.array([asymmetry.input_side for asymmetry in asymmetries], dtype=np.float64)
        self.output_side = np.array([asymmetry.output_side for asymmetry in asymmetries], dtype=np.float64)
        self.input_inertia = np.array(input_inertia, dtype=np.float64)
        self.frictions = tuple(frictions) if frictions is not None else (Friction(),) * len(asymmetries)
        counts = (len(asymmetries), *self.input_inertia.shape, len(self.frictions))
        if len(counts) != 3 or len(set(counts)) != 1:
            raise WrongShape(
                "geared joints",
                counts,
                "one of each per joint",
                printed=f"{counts[0]} asymmetries, input inertias {self.input_inertia.shape}, {counts[-1]} "
                "frictions",
                advice="correct them",
            )
        for index, (inertia, friction) in enumerate(zip(self.input_inertia, self.frictions, strict=True)):
            require_not_negative(f"geared joint {index}", input_inertia=float(inertia))
            require_load_independent(friction)
        self._has_extra = any(friction != Friction() for friction in self.frictions)

    def __len__(self) -> int:
        return len(self.input_side)

    def feedback(self, output_inertia: ArrayLike) -> Array:
        """Return P (52), (n, n): what friction torques add to internal forces, λ = φ + P·friction.

        Args:
            output_inertia: M, (n, n) kg·m².
        """
        M = self._inertia(output_inertia)
        return self._coupling(M) @ self._mobility(M)

    def step(
        self,
        velocity: ArrayLike,
        input_torque: ArrayLike,
        output_torque: ArrayLike,
        output_inertia: ArrayLike,
        dt: float,
        *,
        extra: Array | float = 0.0,
        start: ArrayLike | None = None,
    ) -> JointsStep:
        """Advance velocities by one step of implicit Euler (69).

        σ_max(P) >= 1 is reported and not refused, as it is no necessary condition; where nothing solves the
        step, that is an error.

        Args:
            velocity: v_{k-1}, (n,) rad/s.
            input_torque: τ_u, (n,) N·m.
            output_torque: τ_v = h(q, q̇) - J(q)ᵀ·f, (n,) N·m (50).
            output_inertia: M(q), (n, n) kg·m², symmetric, positive definite together with the input
                inertias; without the latter (49).
            dt: h, s, above zero.
            extra: load-independent friction beside that of `frictions`, (n,) N·m or one number, zero or more.
            start: friction torques to start from, (n,) N·m, such as those of the last step.

        Raises:
            BamError: M is no inertia matrix, shapes do not match, a value is not finite, dt is not above
                zero, or nothing solves (67).
        """
        require_positive("geared joints step", dt=dt)
        M = self._inertia(output_inertia)
        v = self._row("velocity", velocity)
        drive, load = self._row("input_torque", input_torque), self._row("output_torque", output_torque)
        if np.ndim(extra):
            extra = self._row("extra", extra)
        inverse = self._mobility(M)
        net = drive - load
        P = self._coupling(M) @ inverse
        phi = self.input_side * drive + self.output_side * load - P @ net
        friction = self.load_independent(v) + extra
        solved = axproj(v + dt * (inverse @ net), dt * inverse, phi, P, extra=friction, start=start)
        return JointsStep(
            velocity=solved.velocity,
            friction=solved.friction,
            internal_force=solved.internal_force,
            feedback=P,
            iterations=solved.iterations,
            residual=solved.residual,
        )

    def load_independent(self, velocity: ArrayLike) -> Array:
        """Return the load-independent friction at hand, c, (n,) N·m, at velocities in rad/s."""
        if not self._has_extra:
            return np.zeros(len(self))
        pairs = zip(self.frictions, np.asarray(velocity, dtype=np.float64), strict=True)
        return np.array([law.budget(0.0, 0.0, speed) for law, speed in pairs], dtype=np.float64)

    def _coupling(self, M: Array) -> Array:
        """Return [γ_u][m] - [γ_v]M, of (48b)."""
        coupling = -self.output_side[:, None] * M
        np.einsum("ii->i", coupling)[:] += self.input_side * self.input_inertia
        return coupling

    def _mobility(self, M: Array) -> Array:
        """Return the inverse of [m] + M (69a)."""
        total = M.copy()
        np.einsum("ii->i", total)[:] += self.input_inertia
        try:
            np.linalg.cholesky(total)
            return np.asarray(np.linalg.inv(total), dtype=np.float64)
        except np.linalg.LinAlgError:
            raise Conflict(
                "geared joints",
                "[m] + M is not positive definite",
                expected="inertia in every joint, eq. 69a",
                advice="correct them",
            ) from None

    def _row(self, what: str, value: ArrayLike) -> Array:
        row = np.asarray(value, dtype=np.float64)
        if row.shape != (len(self),):
            raise WrongShape(f"geared joints {what}, shape", row.shape, f"{(len(self),)}, one per joint")
        if not np.isfinite(row).all():
            raise OutOfRange(f"geared joints {what}", row, "finite numbers", printed="not finite everywhere")
        return row

    def _inertia(self, output_inertia: ArrayLike) -> Array:
        M = np.asarray(output_inertia, dtype=np.float64)
        if M.shape != (len(self), len(self)):
            raise WrongShape(
                "geared joints M, shape",
                M.shape,
                f"{(len(self), len(self))}, square with a row per joint, eq. 49",
            )
        if not np.isfinite(M).all():
            raise OutOfRange("geared joints M", M, "finite numbers, eq. 49", printed="not finite everywhere")
        if not float(np.abs(M - M.T).max(initial=0.0)) <= 1e-9 * float(np.abs(M).max(initial=0.0)):
            raise Conflict(
                "geared joints M",
                "is not symmetric",
                expected="an inertia matrix, eq. 49",
                advice="correct it",
            )
        return M
