# SPDX-License-Identifier: Apache-2.0
"""The latency timer of USB serial adapters: how long a chip sits on bytes before it hands them over."""

from __future__ import annotations

import os
from pathlib import Path

import serial

SHORTEST = 1
"""The timer's smallest value, ms; adapters start with 16."""
UDEV_RULE = 'ACTION=="add", SUBSYSTEM=="usb-serial", ATTR{latency_timer}="1"'


def shorten_latency(port: serial.Serial, sysfs: Path = Path("/sys/bus/usb-serial/devices")) -> str | None:
    """Set the port's latency timer to its minimum.

    Args:
        port: open.
        sysfs: where the kernel lists USB serial devices.

    Returns:
        What limits the loop rate and how to cure it, in one line; None where nothing does.
    """
    timer = sysfs / Path(os.path.realpath(port.port)).name / "latency_timer"
    if not timer.exists():
        return None  # no FTDI chip: no timer
    try:
        if int(timer.read_text()) <= SHORTEST:
            return None
        try:
            timer.write_text(str(SHORTEST))
        except OSError:
            port.set_low_latency_mode(True)  # needs no write access; the kernel sets the timer to 1 ms
        value = int(timer.read_text())
    except (OSError, ValueError):
        value = 16
    if value <= SHORTEST:
        return None
    return (
        f"port {port.port}: USB latency timer is {value} ms and may not be changed (expected {SHORTEST});"
        f" put the line {UDEV_RULE} into /etc/udev/rules.d/99-latency.rules and plug the adapter in again"
    )
