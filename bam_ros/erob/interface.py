# SPDX-License-Identifier: Apache-2.0
"""The network interface before SOEM takes it: is it there, up, permitted, and nobody else's?"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct
from pathlib import Path

from bam_core.errors import Conflict, Missing, MissingSoftware, Unsupported
from bam_ros.driver.servo_bus import BusGone

ETHERCAT = 0x88A4
"""EtherType."""
_LOOPBACK = "lo"
_GET_FLAGS, _UP, _RUNNING = 0x8913, 0x1, 0x40  # SIOCGIFFLAGS, IFF_UP, IFF_RUNNING
_PACKET_SOCKETS = Path("/proc/net/packet")
_OWN_STATUS = Path("/proc/self/status")
_CAPABILITIES = {"CAP_NET_RAW": 13, "CAP_NET_ADMIN": 12}  # SOEM listens to all frames, which takes the second


class InterfaceClaim:
    """This process as the only master of this package on an interface; the claim ends with the process.

    Args:
        name: of the interface.

    Raises:
        Conflict: another process has it.
    """

    def __init__(self, name: str) -> None:
        # An abstract socket belongs to the network namespace, as the interface's name does.
        address = f"\0bam_bench_ethercat_{name}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.bind(address)
        except OSError:
            holder = _holder(address)
            self._socket.close()
            raise Conflict(
                f"interface {name}",
                f"another master uses it{holder}",
                expected="none",
                advice="stop that one first",
            ) from None
        self._socket.listen(128)  # who asks for the holder's process id

    def release(self) -> None:
        """Give it up; idempotent."""
        self._socket.close()


def require_interface(name: str) -> None:
    """Raise where frames could not be sent over an interface.

    Raises:
        BusGone: there is no such interface, or it is down.
        Missing: no name was given.
        Unsupported: it is the loopback.
        MissingSoftware: raw sockets are not permitted.
    """
    present = interface_names()
    listed = ", ".join(present) or "none"
    if not name:
        raise Missing("interface", f"one of: {listed}", advice="set the parameter interface")
    if name == _LOOPBACK:
        raise Unsupported(
            f"interface {name}",
            "is the loopback",
            expected=f"one of: {listed}",
            advice="correct the parameter interface",
        )
    if name not in present:
        raise BusGone(
            f"interface {name}",
            f"there is none (there are: {listed})",
            advice="correct the parameter interface",
        )
    if not is_up(name):
        raise BusGone(f"interface {name}", "is down", expected="up", advice=f"ip link set {name} up")
    if not has_carrier(name):
        raise BusGone(
            f"interface {name}",
            "no link",
            expected="a powered slave at its cable",
            advice="check cable and power",
        )
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERCAT)).close()
    except PermissionError:
        raise no_permission(name) from None


def no_permission(name: str, status: Path = _OWN_STATUS) -> MissingSoftware:
    """Return the error for a process that may not send raw frames.

    Args:
        name: of the interface.
        status: of the process, as in /proc.
    """
    missing = " and ".join(missing_capabilities(status)) or "neither, so a container forbids it"
    return MissingSoftware(
        f"interface {name}",
        "raw frames",
        problem=f"no permission for raw frames (expected {' and '.join(_CAPABILITIES)}, missing {missing})",
        advice="start the node as root, or as yourself with: sudo -E setpriv --reuid=$(id -u)"
        " --regid=$(id -g) --init-groups --inh-caps=+net_raw,+net_admin,+sys_nice,+ipc_lock"
        " --ambient-caps=+net_raw,+net_admin,+sys_nice,+ipc_lock COMMAND",
    )


def missing_capabilities(status: Path = _OWN_STATUS) -> tuple[str, ...]:
    """Return which of the capabilities that a master needs a process lacks, by its status in /proc."""
    with contextlib.suppress(OSError):
        for line in status.read_text().splitlines():
            if line.startswith("CapEff:"):
                held = int(line.split()[1], 16)
                return tuple(name for name, bit in _CAPABILITIES.items() if not held >> bit & 1)
    return ()


def interface_names() -> tuple[str, ...]:
    """Return the network interfaces of this network namespace, without the loopback.

    As all here, asked of the kernel: /sys may be that of another namespace.
    """
    return tuple(sorted(name for _, name in socket.if_nameindex() if name != _LOOPBACK))


def is_up(name: str) -> bool:
    """Return whether an interface is there and switched on."""
    return bool(_flags(name) & _UP)


def has_carrier(name: str) -> bool:
    """Return whether something is at the other end of an interface's cable."""
    return bool(_flags(name) & _RUNNING)


def _flags(name: str) -> int:
    """Return the flags of an interface; 0: there is none."""
    request = struct.pack("16sH22x", name.encode(), 0)
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        return int(struct.unpack_from("H", fcntl.ioctl(any_socket, _GET_FLAGS, request), 16)[0])
    return 0


def require_no_other_master(name: str, own: int) -> None:
    """Raise Conflict where a program other than this holds an EtherCAT socket on an interface.

    Args:
        name: of the interface.
        own: file descriptor of this master's socket.
    """
    index, inode = socket.if_nametoindex(name), os.fstat(own).st_ino
    with contextlib.suppress(OSError):
        for line in _PACKET_SOCKETS.read_text().splitlines()[1:]:
            fields = line.split()
            if int(fields[3], 16) == ETHERCAT and int(fields[4]) == index and int(fields[8]) != inode:
                raise Conflict(
                    f"interface {name}",
                    f"another EtherCAT program uses it{_owner(int(fields[8]))}",
                    expected="none",
                    advice="stop that one first",
                )


def packet_sockets() -> set[int]:
    """Return the file descriptors of this process' raw sockets."""
    sockets = set()
    for entry in list(Path("/proc/self/fd").iterdir()):
        with contextlib.suppress(OSError):
            if not str(entry.readlink()).startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(entry.name))) as twin:
                if twin.family == socket.AF_PACKET:
                    sockets.add(int(entry.name))
    return sockets


def _holder(address: str) -> str:
    """Return who holds an abstract socket, in words."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(0.2)
        caller.connect(address)
        size = struct.calcsize("3i")
        pid = struct.unpack("3i", caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0]
        return f": process {pid}"
    return ""


def _owner(inode: int) -> str:
    """Return which process has a socket, in words; nothing where that may not be looked at."""
    link = f"socket:[{inode}]"
    for process in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if str(process.readlink()) == link:
                return f": process {process.parts[2]}"
    return ""
