# SPDX-License-Identifier: Apache-2.0
"""Emulated drives for tests of the eRob bus."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from bam_core.errors import BamError
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from test.missing import raw_frames
from test.ros.erob_cases import Make, opened


@pytest.fixture
def segments() -> Iterator[Make]:
    """Start emulated drives; arguments as for `VirtualSegmentProcess`."""
    with contextlib.ExitStack() as stack:

        def make(slaves: int = 1, *options: str) -> VirtualSegmentProcess:
            segment = VirtualSegmentProcess(slaves, *options)
            with raw_frames():
                return stack.enter_context(segment)

        yield make


@pytest.fixture(scope="module")
def shared() -> Iterator[VirtualSegmentProcess]:
    """Two drives for every test that breaks nothing which `faults` cannot repair."""
    segment = VirtualSegmentProcess(2)
    with raw_frames():
        segment.start()
    yield segment
    segment.stop()


@pytest.fixture
def pair(shared: VirtualSegmentProcess) -> Iterator[VirtualSegmentProcess]:
    """The shared drives, repaired, without faults and arms hanging down."""
    yield shared
    shared.faults()
    if any(slave["power_state"] == "FAULT" for slave in shared.look()["slaves"]):
        with contextlib.suppress(BamError), opened(shared) as bus:
            for name in bus.names:
                bus.reboot(name)
    for position in (1, 2):
        shared.request(f"place {position} 0.0")
