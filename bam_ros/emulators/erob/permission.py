# SPDX-License-Identifier: Apache-2.0
"""What to say where raw sockets or network interfaces are not permitted."""

from __future__ import annotations

import sys
from pathlib import Path

from bam_core.errors import BamError


def _grant(capabilities: str) -> str:
    return f"run as root, or grant it: sudo setcap {capabilities}+ep {Path(sys.executable).resolve()}"


def raw_socket_refused(interface: str) -> BamError:
    """Return the error for a raw socket that this process may not open."""
    return BamError(
        f"interface {interface}: raw sockets are not permitted (capability CAP_NET_RAW is missing);"
        f" {_grant('cap_net_raw,cap_net_admin')}"
    )


def veth_refused(master: str, slaves: str) -> BamError:
    """Return the error for a veth pair that this process may not make."""
    return BamError(
        f"veth pair {master}:{slaves}: cannot be made (capability CAP_NET_ADMIN is missing);"
        f" {_grant('cap_net_raw,cap_net_admin')}; or make the pair once: sudo ip link add {master} type veth"
        f" peer name {slaves} && sudo ip link set {master} up && sudo ip link set {slaves} up"
    )
