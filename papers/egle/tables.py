# SPDX-License-Identifier: Apache-2.0
"""Egle's tables 6.1 and 6.2: friction that was put into the leg joints, and how far off it was found."""

from __future__ import annotations

from bam_core.whole_body.friction_law import JointFriction
from papers.egle.humanoid import LEGS

SYMBOLS = ("F_v", "F_c", "S", "v_s", "τ_os", "a")
"""Columns of the tables, in the order of JOINT_FRICTION_PARAMETERS."""

PRINTED_TARGET = 0.8
"""Of F_c and τ_os of hip pitch and hip yaw, N·m, as printed: 0.75 to one digit, as the errors tell."""

PRINTED_HIPS: tuple[tuple[float, float], ...] = (
    *((0.7528, 0.37), (0.7526, 0.35), (0.7403, 1.29), (0.7470, 0.40)),
    *((0.7581, 1.08), (0.7550, 0.67), (0.8234, 9.79), (0.7538, 0.51)),
    *((0.7512, 0.16), (0.7515, 0.20), (0.7599, 1.32), (0.7476, 0.32)),
    *((0.7528, 0.37), (0.7510, 0.13), (0.7415, 1.13), (0.7518, 0.24)),
)
"""F_c and τ_os of hip pitch and hip yaw, right and left, table 6.1 and then 6.2: value N·m, error %."""

BETWEEN_LEGS = 3.0
"""Six times of seven, errors of a parameter in either leg of table 6.2 differ by less than this factor:
chance, of which a comparison of two simulators is not free."""

_FRICTION = {
    "hip_roll": 1.0,
    "hip_pitch": 0.75,
    "hip_yaw": 0.75,
    "knee": 1.0,
    "ankle_roll": 0.1,
    "ankle_pitch": 0.2,
}


def target(joint: str) -> JointFriction:
    """Return the friction that the paper puts into a leg joint."""
    size = _FRICTION[joint.split("_", 1)[1]]
    return JointFriction(
        viscous=0.2, coulomb=size, stribeck=0.2, stribeck_velocity=0.2, offset=size, slope=40.0
    )


TARGETS = {joint: target(joint) for joint in LEGS}
"""By joint."""

Row = tuple[float, float, float, float, float, float]

PRINTED_ROLLS: dict[str, Row] = {
    "right_hip_roll": (2.1435, 0.4372, 1.5603, 0.1994, 1.0037, 41.3749),
    "left_hip_roll": (2.4518, 0.5627, 0.9846, 0.1557, 0.9954, 41.2369),
}
"""Table 6.1, parameters of the hip rolls as they were found, SI."""

STRAIGHT: dict[str, Row] = dict(
    zip(
        LEGS,
        (
            (971.75, 56.28, 680.15, 0.30, 0.37, 3.44),
            (2.50, 0.37, 0.40, 0.60, 0.35, 1.57),
            (15.40, 1.29, 5.30, 1.65, 0.40, 1.33),
            (0.50, 0.17, 0.65, 1.70, 0.03, 2.21),
            (5.95, 3.50, 17.55, 1.70, 0.50, 0.53),
            (0.00, 0.10, 0.05, 0.85, 0.25, 1.06),
            (1125.90, 43.73, 392.30, 22.15, 0.46, 3.09),
            (6.40, 1.08, 0.60, 7.55, 0.67, 5.81),
            (100.00, 9.79, 44.40, 10.05, 0.51, 1.77),
            (0.80, 0.32, 1.30, 2.30, 0.09, 3.21),
            (34.50, 22.00, 94.60, 56.80, 0.70, 6.42),
            (0.00, 0.10, 0.10, 0.65, 0.10, 1.51),
        ),
        strict=True,
    )
)
"""Table 6.1, walking straight ahead: errors in %, by joint."""

BOTH: dict[str, Row] = dict(
    zip(
        LEGS,
        (
            (17.25, 1.35, 5.85, 2.15, 0.31, 1.02),
            (0.75, 0.16, 1.40, 1.75, 0.20, 1.11),
            (9.65, 1.32, 6.50, 4.70, 0.32, 0.86),
            (0.05, 0.03, 2.45, 1.60, 0.04, 7.91),
            (0.45, 0.50, 2.00, 3.05, 0.50, 0.49),
            (0.10, 0.15, 1.30, 0.45, 0.25, 1.39),
            (17.70, 1.83, 11.95, 0.40, 0.41, 0.76),
            (1.50, 0.37, 0.15, 6.20, 0.13, 2.50),
            (9.65, 1.13, 7.00, 1.75, 0.24, 0.02),
            (0.10, 0.11, 1.80, 2.15, 0.04, 8.60),
            (0.50, 0.60, 3.00, 2.70, 0.40, 0.75),
            (0.10, 0.00, 0.50, 1.15, 0.20, 1.19),
        ),
        strict=True,
    )
)
"""Table 6.2, walking sideways and straight: errors in %, by joint."""
