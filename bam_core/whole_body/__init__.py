# SPDX-License-Identifier: Apache-2.0
"""Friction torque of each joint of an assembled robot, from positions and torques alone (Egle).

The node `friction_observer` publishes it while the robot moves. From a bag, ``read_joint_log`` and
``estimate_filtered`` compute it, and ``fit_friction`` its parameters; see docs/whole_body.md.
"""

from __future__ import annotations

from bam_core.whole_body.bag import read_joint_log
from bam_core.whole_body.constrained_dynamics import ConstrainedDynamics, ConstrainedState
from bam_core.whole_body.contact_check import Contradiction, check_contacts
from bam_core.whole_body.contact_phases import Phase, phases, single_support
from bam_core.whole_body.derivatives import (
    CentralDifference,
    Motion,
    SavitzkyGolay,
    Scheme,
    ZeroPhaseButterworth,
    differentiate,
)
from bam_core.whole_body.estimate import FrictionEstimate, Rank, estimate_friction, known_motion
from bam_core.whole_body.filter_choice import (
    SAVITZKY_GOLAY,
    FilterChoice,
    butterworths,
    choose_for_acceleration,
    choose_for_friction,
)
from bam_core.whole_body.filtered import FilteredEstimate, estimate_filtered
from bam_core.whole_body.fit import FrictionFit, fit_friction
from bam_core.whole_body.friction_law import JOINT_FRICTION_PARAMETERS, JointFriction
from bam_core.whole_body.joint_log import JointLog
from bam_core.whole_body.observer import FrictionObserver, ObservedFriction
from bam_core.whole_body.power import PowerCheck, power_check
from bam_core.whole_body.robot import WholeBody

__all__ = [
    "JOINT_FRICTION_PARAMETERS",
    "SAVITZKY_GOLAY",
    "CentralDifference",
    "ConstrainedDynamics",
    "ConstrainedState",
    "Contradiction",
    "FilterChoice",
    "FilteredEstimate",
    "FrictionEstimate",
    "FrictionFit",
    "FrictionObserver",
    "JointFriction",
    "JointLog",
    "Motion",
    "ObservedFriction",
    "Phase",
    "PowerCheck",
    "Rank",
    "SavitzkyGolay",
    "Scheme",
    "WholeBody",
    "ZeroPhaseButterworth",
    "butterworths",
    "check_contacts",
    "choose_for_acceleration",
    "choose_for_friction",
    "differentiate",
    "estimate_filtered",
    "estimate_friction",
    "fit_friction",
    "known_motion",
    "phases",
    "power_check",
    "read_joint_log",
    "single_support",
]
