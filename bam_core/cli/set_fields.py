# SPDX-License-Identifier: Apache-2.0
"""The option that sets header fields of recordings."""

from __future__ import annotations

import argparse


def add_set(parser: argparse._ActionsContainer) -> None:
    """Declare ``--set``."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help="correct a header field of all logs (mass, arm_mass, length, kp, vin, motor, trajectory; joint "
        "of bags; inertia of runs in open loop), as in --set vin=12; may be repeated. A file bench.yaml "
        "above the logs does it for good (docs/how-to/recordings.md)",
    )
