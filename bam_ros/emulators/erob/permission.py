# SPDX-License-Identifier: Apache-2.0
"""The error where raw sockets or network interfaces are not permitted."""

from __future__ import annotations

import sys
from pathlib import Path

from bam_core.errors import MissingSoftware


def _grant(capabilities: str) -> str:
    return f"run as root, or grant it: sudo setcap {capabilities}+ep {Path(sys.executable).resolve()}"


def raw_socket_refused(interface: str) -> MissingSoftware:
    """Return the error for a raw socket that this process may not open."""
    return MissingSoftware(
        f"interface {interface}",
        "raw sockets",
        problem="raw sockets are not permitted (capability CAP_NET_RAW is missing)",
        advice=_grant("cap_net_raw,cap_net_admin"),
    )


def veth_refused(master: str, slaves: str) -> MissingSoftware:
    """Return the error for a veth pair that this process may not make."""
    return MissingSoftware(
        f"veth pair {master}:{slaves}",
        "network interfaces",
        problem="cannot be made (capability CAP_NET_ADMIN is missing)",
        advice=f"{_grant('cap_net_raw,cap_net_admin')}; or make the pair once: sudo ip link add {master} type"
        f" veth peer name {slaves} && sudo ip link set {master} up && sudo ip link set {slaves} up",
    )
