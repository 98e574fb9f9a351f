# SPDX-License-Identifier: Apache-2.0
"""Why a serial port cannot be used: absent, forbidden, busy, not a serial port."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from serial.tools import list_ports

from bam_core.errors import BamError, Conflict, Unavailable, Unsupported
from bam_ros.driver.servo_bus import BusGone

BUSY = (errno.EBUSY, errno.EAGAIN)
"""Error numbers of a port that another program has."""


def serial_ports() -> tuple[str, ...]:
    """Return the serial ports of this machine that something is plugged into."""
    return tuple(sorted(port.device for port in list_ports.comports() if port.hwid != "n/a"))


def only_port() -> str:
    """Return the one serial port there is.

    Raises:
        BusGone: there is none.
        Unavailable: there are several.
    """
    ports = serial_ports()
    if len(ports) == 1:
        return ports[0]
    expected, advice = "exactly one when none is named", "set the parameter port"
    if not ports:
        raise BusGone("port", "no serial port found", expected=expected, advice=advice)
    problem = f"{len(ports)} serial ports found ({', '.join(ports)})"
    raise Unavailable("port", problem, expected=expected, advice=advice)


def explain_port_error(path: str, error: OSError) -> BamError:
    """Turn the failure to open or configure a port into one line with its cure."""
    port = f"port {path}"
    if not Path(path).exists():
        others = ", ".join(serial_ports()) or "none"
        return BusGone(
            port,
            f"does not exist (serial ports found: {others})",
            advice="plug the adapter in or name another",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return Unavailable(
            port,
            f"not permitted (owned by group {_group(path)})",
            advice="add yourself to dialout: sudo usermod -aG dialout $USER, then log in again",
        )
    if error.errno in BUSY:
        holders = ", ".join(port_holders(path)) or "a process of another user"
        return Conflict(port, f"busy (held by {holders})", advice="end that program first")
    if error.errno in (None, errno.ENOTTY, errno.EINVAL, errno.EISDIR, errno.ENXIO):
        others = ", ".join(serial_ports()) or "none"
        return Unsupported(
            port, f"is not a serial port (serial ports found: {others})", advice="name another"
        )
    return Unavailable(port, os.strerror(error.errno), advice="unplug the adapter and plug it in again")


def port_holders(path: str) -> tuple[str, ...]:
    """Return the other programs that use a device, as "name (pid)", as far as /proc shows.

    Left out are this process and its children, who serves a pseudo-terminal rather than using it, and
    processes that a holder has started: they end with it.
    """
    device = os.path.realpath(path)
    own = os.getpid()
    holders = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if _holds(process, device):
                holders[int(process.name)] = _name_and_parent(process)
        except OSError:
            continue  # it ended, or belongs to somebody else
    return tuple(
        f"{name} ({number})"
        for number, (name, parent) in sorted(holders.items())
        if number != own and parent != own and parent not in holders
    )


def _holds(process: Path, device: str) -> bool:
    """Whether a process has a device open, and is not the one that serves it."""
    opened = {fd: os.path.realpath(fd) for fd in (process / "fd").iterdir()}
    if device not in opened.values():
        return False
    number = Path(device).name
    masters = [fd.name for fd, target in opened.items() if target in ("/dev/ptmx", "/dev/pts/ptmx")]
    return not any(
        f"tty-index:\t{number}\n" in (process / "fdinfo" / master).read_text() for master in masters
    )


def _name_and_parent(process: Path) -> tuple[str, int]:
    name, _, rest = (process / "stat").read_text().partition("(")[2].rpartition(")")
    return name, int(rest.split()[1])


def _group(path: str) -> str:
    try:
        return Path(path).group()
    except (KeyError, OSError):
        return "unknown"
