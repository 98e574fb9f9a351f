# SPDX-License-Identifier: Apache-2.0
"""What the sensors of a real robot would make of a simulated walk."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bam_core.errors.checks import require_not_negative
from bam_core.whole_body.joint_log import JointLog
from papers.egle.humanoid import specification


@dataclass(frozen=True, kw_only=True)
class Sensors:
    """Encoders on the motors, torque sensors behind the gears.

    Attributes:
        counts: of an encoder per turn of its motor; the gear makes steps finer. 0: exact.
        torque_noise: RMS, white, N·m.

    Raises:
        BamError: a value is negative.
    """

    counts: int = 4096
    torque_noise: float = 0.1

    def __post_init__(self) -> None:
        require_not_negative("sensors", counts=self.counts, torque_noise=self.torque_noise)

    def measure(self, log: JointLog, seed: int = 0) -> JointLog:
        """Return a log of the humanoid as they would have written it."""
        random = np.random.default_rng(seed)
        position = log.position
        if self.counts:
            steps = np.array(
                [2.0 * np.pi / (self.counts * specification(name).gear_ratio) for name in log.names]
            )
            position = np.round(position / steps) * steps
        effort = log.effort + self.torque_noise * random.standard_normal(log.effort.shape)
        return replace(log, position=position, effort=effort)
