# SPDX-License-Identifier: Apache-2.0
"""Which runs are fitted and which are tests; the names were fixed before the first fit.

Fitted runs have one motion of each kind: excitation by many sines and by random steps, slow turns for play,
friction against gravity, postures that are held, large motions, waypoints, and one joint alone.
"""

from __future__ import annotations

TRAIN = (
    "multisine",
    "prbs_excitation",
    "backlash_detection",
    "friction_gravity",
    "hold_under_gravity",
    "large_amplitude",
    "random_waypoints",
    "single_joint_wrist_pitch",
)
TEST = (
    "actuator_bandwidth",
    "boundary_exploration",
    "center_workspace",
    "circular_motion",
    "coupled_joints",
    "diagonal_sweep",
    "dual_joint_rotation_pitch",
    "fast_transitions",
    "figure_eight",
    "lissajous_pattern",
    "oscillation_low_freq",
    "reach_and_return",
    "single_joint_rotation",
    "step_response",
    "symmetric_motion",
    "velocity_ramp",
)
