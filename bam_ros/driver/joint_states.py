# SPDX-License-Identifier: Apache-2.0
"""Safety states of one joint of a driver: a pure transition from state and event to the next state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from bam_ros.text.torque_reasons import Reason


class JointMode(Enum):
    """What a loop does with the commands of a joint."""

    APPLIED = "applied"
    """Torque is as commanded."""
    OFF_LIMITS = "off limits"
    """Torque was asked for where the joint is outside its limits: it stays off until it is commanded off."""
    SILENT = "silent"
    """Commands stopped while torque was on: it is off until they are back."""
    ASKING = "asking"
    """Torque is asked for while a fault keeps it off on all joints."""
    STOPPED = "stopped"
    """A fault of its group keeps torque off, whether it is asked for or not."""


class JointEvent(Enum):
    """What commands ask of a joint in one period."""

    ON = "torque on"
    """Torque on; it is on, or may be switched on where the joint is."""
    ON_OFF_LIMITS = "torque on, off limits"
    """Torque on; it is off, and the joint is outside its limits."""
    OFF = "torque off"
    """Torque off, or nothing since the start."""
    ENDED_ON = "ended, torque on"
    """Nothing for the timeout of commands; torque is still on."""
    ENDED = "ended"
    """Nothing for the timeout of commands; torque is off."""
    FAULT_ON = "torque on, fault"
    """Torque on, while a fault keeps it off on all joints."""
    FAULT_OFF = "torque off, fault"
    """Torque off, or nothing, while a fault keeps it off on all joints."""
    GROUP_FAULT = "fault of its group"
    """Whatever is asked for, while a fault keeps torque off on the joints of its group."""


@dataclass(frozen=True)
class JointState:
    """The state of a joint.

    Attributes:
        mode: see there.
        reason: why it gets no torque though it may be wanted; empty in the mode `APPLIED`.
    """

    mode: JointMode = JointMode.APPLIED
    reason: Reason = ""


APPLIED = JointState()
_NEW = {
    JointEvent.ON_OFF_LIMITS: JointMode.OFF_LIMITS,
    JointEvent.ENDED_ON: JointMode.SILENT,
    JointEvent.FAULT_ON: JointMode.ASKING,
    JointEvent.GROUP_FAULT: JointMode.STOPPED,
}
_STAYS = {
    (JointMode.OFF_LIMITS, JointEvent.ON),  # torque must not surprise who has turned the joint back by hand
    (JointMode.OFF_LIMITS, JointEvent.ON_OFF_LIMITS),
    (JointMode.SILENT, JointEvent.ENDED),
}


def joint_transition(state: JointState, event: JointEvent, reason: Reason = "") -> JointState:
    """Return the next state of a joint; a pure function.

    Args:
        state: the present one.
        event: what has happened.
        reason: of a state that begins with this event.
    """
    if (state.mode, event) in _STAYS:
        return state
    return JointState(_NEW[event], reason) if event in _NEW else APPLIED
