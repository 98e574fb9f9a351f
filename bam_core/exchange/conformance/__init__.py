# SPDX-License-Identifier: Apache-2.0
"""Golden vectors of the servo law, and where and why a port of it differs.

A user runs `bam conform --against module:function`, or calls `conformance(port)`.
"""

from __future__ import annotations

from bam_core.exchange.conformance.comparison import Conformance, conformance
from bam_core.exchange.conformance.port import Port, PortFactory, load_port
from bam_core.exchange.conformance.step import GoldenCase, ServoNumbers, Step

__all__ = [
    "Conformance",
    "GoldenCase",
    "Port",
    "PortFactory",
    "ServoNumbers",
    "Step",
    "conformance",
    "load_port",
]
