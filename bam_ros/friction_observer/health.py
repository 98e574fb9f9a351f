# SPDX-License-Identifier: Apache-2.0
"""Joints whose friction is compared with their servo files, and the diagnostic of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from bam_core.errors import UnknownName, WrongType
from bam_core.servo.model import load_servo
from bam_core.whole_body import ObservedFriction
from bam_core.whole_body.friction_health import BLOCK, FrictionHealth, HealthSettings
from bam_core.whole_body.friction_watch import FrictionWatch, WatchedSample
from bam_ros.text.health_notices import FrictionNotice


class WatchedJoints:
    """The joints that have a servo file.

    Args:
        files: "JOINT=FILE" each; an empty one is none.
        joints: of the robot, in the order of what is observed.
        period: of the samples, s.
        settings: what counts as a change.

    Raises:
        BamError: an entry is not of this form, names no joint, or its file cannot be read.
    """

    def __init__(
        self, files: Sequence[str], joints: Sequence[str], period: float, settings: HealthSettings
    ) -> None:
        self._watches: dict[int, tuple[str, FrictionWatch]] = {}
        self._temperature: dict[str, float] = {}
        for entry in filter(None, files):
            joint, is_pair, file = entry.partition("=")
            if not (is_pair and joint and file):
                raise WrongType("servos", entry, "JOINT=FILE, as in elbow=identified/m4.yaml")
            if joint not in joints:
                raise UnknownName("joint of the robot", joint, joints)
            self._watches[list(joints).index(joint)] = (
                joint,
                FrictionWatch(load_servo(file), period, settings),
            )

    @property
    def names(self) -> list[str]:
        """Of the joints."""
        return [joint for joint, _ in self._watches.values()]

    def warm(self, temperature: Mapping[str, float]) -> None:
        """Take temperatures, °C, by joint."""
        self._temperature.update(temperature)

    def push(self, observed: ObservedFriction) -> list[FrictionNotice]:
        """Take what was observed; return a notice of each joint whose alarm has changed."""
        changed = []
        for index, (joint, watch) in self._watches.items():
            before = watch.health.alarm
            health = watch.push(
                WatchedSample(
                    friction=float(observed.torque[index]),
                    effort=float(observed.effort[index]),
                    velocity=float(observed.velocity[index]),
                    temperature=self._temperature.get(joint, math.nan),
                )
            )
            if health is not None and health.alarm != before:
                changed.append(FrictionNotice(joint=joint, health=health))
        return changed

    def diagnostics(self, node: str) -> DiagnosticArray:
        """Return the state of every joint.

        Args:
            node: name of the node, with its namespace.
        """
        return DiagnosticArray(
            status=[
                _status(f"{node}: {joint}", joint, watch.health) for joint, watch in self._watches.values()
            ]
        )


def _status(name: str, joint: str, health: FrictionHealth) -> DiagnosticStatus:
    level = DiagnosticStatus.WARN if health.alarm else DiagnosticStatus.OK
    if not health.blocks:
        level = DiagnosticStatus.STALE
    low, high = health.interval
    coefficient, deviation = health.temperature_coefficient
    values = {
        "change [%]": f"{100.0 * health.change:.1f}",
        "change, 95 % interval [%]": f"{100.0 * low:.1f} to {100.0 * high:.1f}",
        "probability": f"{health.probability:.2g}",
        "heat [%]": "unknown" if health.heat is None else f"{100.0 * health.heat:.1f}",
        "temperature coefficient [1/K]": f"{coefficient:.4f} +- {deviation:.4f}",
        "motion [s]": f"{health.blocks * BLOCK:.0f}",
    }
    return DiagnosticStatus(
        name=name,
        level=level,
        message=str(FrictionNotice(joint=joint, health=health)),
        hardware_id=joint,
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )
