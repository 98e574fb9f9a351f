# SPDX-License-Identifier: Apache-2.0
"""Whether a joint needs more friction torque than by its servo file, and whether heat explains it.

The state is θ, the logarithm of friction by that of the file, with two nuisances: γ, by how much more than
in the file friction without load falls per kelvin, and λ, by how much more than in the file load adds. A
block of motion (`friction_blocks`) measures

    r = θ - γ·(T - T_0)·s + λ·(1 - s) + e

with the share s of friction without load. θ is a random walk, slow beside the blocks; γ and λ are constant
and begin with what is known of them. The Kalman filter gives all three with their covariance (Kalman 1960).
Two surprising blocks in a row are a step: the variance of θ then grows by the square of the surprise.
Heat that the file does not know is in γ, and leaves θ uncertain until temperatures have differed.

Two comparisons are made. θ itself is friction beside the file. θ less its value after the first half minute
is a change since then: what the file is wrong by cancels, so that it is known sooner. For the latter, the
filter keeps a copy of θ as a further state.

An alarm is raised where a comparison is beyond what is allowed by z standard deviations, given γ and λ, and
by one more of what these leave open. Friction within what is allowed is that far out in one block with
probability Φ(-z) at most. The expected number of such blocks is their rate times this probability, by which
z follows from the false alarms wanted (a union bound: no independence is assumed).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr, ndtri

from bam_core.arrays import Array
from bam_core.errors.checks import require_positive
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel
from bam_core.whole_body.friction_blocks import REFERENCE_TEMPERATURE, FrictionBlock

BLOCK = 2.0
"""s of motion in a block."""

_WEAR = 0.2  # standard deviation of θ before anything was measured: changes of this size are looked for
_LOAD = (0.05, 0.1)  # of λ, at least and at most: as of `spread.PRIOR_MEDIAN` where a file has no error
_HEAT, _HEAT_DEVIATION = 0.005, 0.005  # 1/K; greases thin by up to a percent per kelvin
_LEAST_HEAT_DEVIATION = 5e-4  # 1/K, of a coefficient in a file without standard error
_REFERENCE = 15  # blocks, after which the copy of θ is taken
_NUISANCE = 1.0  # standard deviations of γ and λ that an alarm allows for beside what is allowed
_MEMORY = 12.0  # blocks; θ follows a step within as many
_SCATTER = 0.03  # of a block's logarithm beside its own error, until innovations show it,
_LEAST_SCATTER, _MOST_SCATTER = 0.02, 0.2  # a motion has errors of its own, which last
_LEARNING = 1.0 / 60.0  # share of a block in the scatter
_CLIPPED = 9.0  # squared innovation by its variance: a step of friction is no scatter
_SURPRISE = 3.0  # standard deviations; two innovations in a row that are larger are a step of θ
_NUISANCES = [1, 2]  # entries of γ and λ in the state
_LEAST_NOISE = 1e-6
_INTERVAL = float(ndtri(0.975))


@dataclass(frozen=True, kw_only=True)
class HealthSettings:
    """Settings of the comparison.

    Attributes:
        allowed: relative change of friction that is none, as from one session to the next.
        false_alarms: wanted per hour of motion, at most.

    Raises:
        BamError: a number is not above zero.
    """

    allowed: float = 0.05
    false_alarms: float = 1e-3

    def __post_init__(self) -> None:
        require_positive("friction health", allowed=self.allowed, false_alarms=self.false_alarms)

    @property
    def threshold(self) -> float:
        """Standard deviations z of an alarm: in every block, two comparisons with two sides each."""
        return -float(ndtri(self.false_alarms / (4.0 * 3600.0 / BLOCK)))


@dataclass(frozen=True, kw_only=True)
class FrictionHealth:
    """Friction of one joint beside its file.

    Attributes:
        blocks: of motion so far.
        reference: "file", or "start" for what has changed since the first half minute of motion, whichever
            comparison shows more.
        change: relative to the reference, at the same temperature.
        interval: 95 % of it.
        probability: of an estimate as far beyond what is allowed, if friction were still within.
        heat: relative change by the temperature of now; None: it is unknown.
        temperature_coefficient: γ of file and recordings together, 1/K, with its standard deviation.
        alarm: "increase", "decrease" or "".
    """

    blocks: int
    reference: str
    change: float
    interval: tuple[float, float]
    probability: float
    heat: float | None
    temperature_coefficient: tuple[float, float]
    alarm: str


@dataclass(frozen=True, kw_only=True)
class _Comparison:
    """A logarithm of friction by that of a reference.

    Attributes:
        reference: "file" or "start".
        mean: of the logarithm.
        deviation: its standard deviation.
        noise: the same, given γ and λ.
    """

    reference: str
    mean: float
    deviation: float
    noise: float

    def excess(self, limit: float) -> float:
        """Return by how many standard deviations it is beyond a limit and what γ and λ leave open."""
        open_by = math.sqrt(max(self.deviation**2 - self.noise**2, 0.0))
        return (abs(self.mean) - limit - _NUISANCE * open_by) / self.noise


@dataclass
class HealthMonitor:
    """Follows friction of one joint, block by block.

    Args:
        servo: the file of this very unit.
        settings: what counts as a change.
    """

    servo: ServoModel
    settings: HealthSettings = field(default_factory=HealthSettings)

    def __post_init__(self) -> None:
        known = self.servo.servo_effects.friction_temperature
        self._knows_heat = known > 0.0
        deviation = self.servo.uncertainty.get("friction_temperature", 0.0)
        heat = max(deviation, _LEAST_HEAT_DEVIATION) if self._knows_heat else _HEAT_DEVIATION
        # θ, γ, λ, and from the reference on a copy of θ.
        self._state = np.array([0.0, 0.0 if self._knows_heat else _HEAT, 0.0])
        self._covariance = np.diag(np.square([_WEAR, heat, _load_deviation(self.servo)]))
        self._scatter = _SCATTER**2
        self._origin = REFERENCE_TEMPERATURE if self._knows_heat else math.nan
        self._blocks = 0
        self._alarm = ""
        self._surprise = 0.0
        self._last: FrictionBlock | None = None
        self._limit = math.log1p(self.settings.allowed)
        self._threshold = self.settings.threshold

    def take(self, block: FrictionBlock) -> FrictionHealth:
        """Take a block of motion; return what is known then."""
        row = self._row(block)
        self._covariance[0, 0] += self._scatter / _MEMORY**2
        innovation = block.log_factor - float(row @ self._state)
        variance = float(row @ self._covariance @ row) + block.error**2 + self._scatter
        surprise = innovation / math.sqrt(variance)
        if min(surprise, self._surprise) > _SURPRISE or max(surprise, self._surprise) < -_SURPRISE:
            self._covariance[0, 0] += innovation**2
            variance += innovation**2
        self._surprise = surprise
        seen = self._covariance @ row
        self._state = self._state + seen * (innovation / variance)
        self._covariance = self._covariance - np.outer(seen, seen) / variance
        excess = min(innovation**2 / variance, _CLIPPED) - 1.0
        self._scatter = min(
            max(self._scatter * (1.0 + _LEARNING * excess), _LEAST_SCATTER**2), _MOST_SCATTER**2
        )
        self._blocks += 1
        self._last = block
        if self._blocks == _REFERENCE:
            copied = np.vstack([np.eye(3), np.eye(3)[0]])
            self._state = copied @ self._state
            self._covariance = copied @ self._covariance @ copied.T
        self._alarm = self._decided()
        return self.health

    @property
    def health(self) -> FrictionHealth:
        """What is known now."""
        shown = max(self._comparisons(), key=lambda comparison: comparison.excess(self._limit))
        reach = _INTERVAL * shown.deviation
        coefficient = self.servo.servo_effects.friction_temperature + float(self._state[1])
        return FrictionHealth(
            blocks=self._blocks,
            reference=shown.reference,
            change=math.expm1(shown.mean),
            interval=(math.expm1(shown.mean - reach), math.expm1(shown.mean + reach)),
            probability=min(2.0 * float(ndtr(-shown.excess(self._limit))), 1.0),
            heat=self._heat(coefficient),
            temperature_coefficient=(coefficient, math.sqrt(self._covariance[1, 1])),
            alarm=self._alarm,
        )

    def _decided(self) -> str:
        """Return the alarm: it is raised by what is significant, and ends within what is allowed."""
        comparisons = self._comparisons()
        most = max(comparisons, key=lambda comparison: comparison.excess(self._limit))
        if most.excess(self._limit) > self._threshold:
            return "increase" if most.mean > 0.0 else "decrease"
        is_beyond = any(abs(comparison.mean) > self._limit for comparison in comparisons)
        return self._alarm if is_beyond else ""

    def _comparisons(self) -> list[_Comparison]:
        """Return θ beside the file; where that is beyond what is allowed, a like change since the start."""
        size = len(self._state)
        by_file = self._comparison("file", np.eye(size)[0])
        if size == len(_NUISANCES) + 1 or abs(by_file.mean) < self._limit:
            return [by_file]
        since_start = self._comparison("start", np.eye(size)[0] - np.eye(size)[-1])
        return [by_file, since_start] if by_file.mean * since_start.mean > 0.0 else [by_file]

    def _comparison(self, reference: str, way: Array) -> _Comparison:
        covariance, of_nuisances = self._covariance, self._covariance[_NUISANCES]
        total = float(way @ covariance @ way)
        shared = of_nuisances @ way
        by_nuisances = float(shared @ np.linalg.solve(of_nuisances[:, _NUISANCES], shared))
        return _Comparison(
            reference=reference,
            mean=float(way @ self._state),
            deviation=math.sqrt(total),
            noise=math.sqrt(max(total - by_nuisances, _LEAST_NOISE**2)),
        )

    def _row(self, block: FrictionBlock) -> Array:
        """Return how a block depends on the state; heat of an unknown temperature is part of θ."""
        warming = 0.0
        if math.isfinite(block.temperature):
            if math.isnan(self._origin):
                self._origin = block.temperature
            warming = block.temperature - self._origin
        share = block.no_load_share
        row = np.zeros(len(self._state))
        row[:3] = 1.0, -warming * share, 1.0 - share
        return row

    def _heat(self, coefficient: float) -> float | None:
        last = self._last
        if last is None or math.isnan(last.temperature):
            return None
        return math.expm1(-coefficient * (last.temperature - self._origin) * last.no_load_share)


def _load_deviation(servo: ServoModel) -> float:
    """Return by how much, relatively, the file may be wrong about what load adds."""
    least, most = _LOAD
    loads = FRICTION_MODELS[servo.friction_model].values(servo.friction)
    loads = {name: value for name, value in loads.items() if name.startswith("load") and value > 0.0}
    if not loads or any(name not in servo.uncertainty for name in loads):
        return most
    return min(
        max(math.hypot(*(servo.uncertainty[name] for name in loads)) / sum(loads.values()), least), most
    )
