# SPDX-License-Identifier: Apache-2.0
"""Model-based feed-forward of servos in PWM mode, after Dynaban (Fabre et al., RoboCup 2016).

The node `feedforward` runs it on servos (``ros2 launch bam_bench feedforward.launch.py``); see
docs/feedforward.md.
In Python, a `Follower` computes duties from `Points`, with the `FeedForwardLaw` of each servo.
"""

from bam_core.feedforward.buffer import HandOver, Limits, PieceBuffer
from bam_core.feedforward.controller import FeedForwardController, Opposition
from bam_core.feedforward.delay_meter import DelayMeter
from bam_core.feedforward.follower import Follower, FollowerSettings
from bam_core.feedforward.guard import Guard
from bam_core.feedforward.inverse_dynamics import InverseDynamics, pieces_from_dynamics
from bam_core.feedforward.law import FeedForwardLaw
from bam_core.feedforward.pid import Pid, PidGains
from bam_core.feedforward.piece import Piece, Reference
from bam_core.feedforward.points import Points, fit_pieces, pieces_from_points

__all__ = [
    "DelayMeter",
    "FeedForwardController",
    "FeedForwardLaw",
    "Follower",
    "FollowerSettings",
    "Guard",
    "HandOver",
    "InverseDynamics",
    "Limits",
    "Opposition",
    "Pid",
    "PidGains",
    "Piece",
    "PieceBuffer",
    "Points",
    "Reference",
    "fit_pieces",
    "pieces_from_dynamics",
    "pieces_from_points",
]
