# SPDX-License-Identifier: Apache-2.0
"""What emulators print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bam_ros.text.notice import Notice


@dataclass(frozen=True, kw_only=True)
class EmulatorStarts(Notice):
    """An emulator that is being loaded, by what it emulates."""

    kind: Literal["dynamixel", "feetech", "erob"]

    def __str__(self) -> str:
        what = {"dynamixel": "Dynamixel bus", "feetech": "Feetech bus", "erob": "EtherCAT segment"}
        return f"starting a virtual {what[self.kind]} ..."
