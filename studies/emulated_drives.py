# SPDX-License-Identifier: Apache-2.0
"""Timeouts of a driver whose drives are emulated on the same machine."""

from __future__ import annotations

EMULATED_TIMEOUT = 0.1
"""s; emulated drives share processors with the master and everybody else, and wait for their turn. Virtual
machines on a busy host were seen to stand still for 8 ms often, and for 60 ms once in some minutes. A wire
does not wait: there a late answer is a lost one, after two periods."""
EMULATED_WATCHDOG = 1.0
"""s; for the same reason."""
