# SPDX-License-Identifier: Apache-2.0
"""Whatever arrives on the wire, reading gives the block that was asked for or a bus error."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import BamError
from bam_ros.dynamixel.link import Link


class Noise:
    """A port on which the given bytes arrive, then nothing."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.is_using = False

    def clearPort(self) -> None:  # noqa: N802
        pass

    def writePort(self, packet: Sequence[int]) -> int:  # noqa: N802
        return len(packet)

    def setPacketTimeout(self, length: int) -> None:  # noqa: N802
        pass

    def readPort(self, length: int) -> bytes:  # noqa: N802
        data, self._data = self._data[:length], self._data[length:]
        return data

    def isPacketTimeout(self) -> bool:  # noqa: N802
        return not self._data

    def drain(self, quiet: float) -> None:
        pass


HEADERS = {1: b"\xff\xff\x01", 2: b"\xff\xff\xfd\x00\x01"}


@pytest.mark.parametrize("protocol", [1, 2])
@settings(max_examples=300, deadline=None)
@given(noise=st.binary(max_size=60), tail=st.binary(max_size=30), ids=st.sampled_from([(1,), (1, 2)]))
def test_noise_gives_a_whole_block_or_a_bus_error(
    protocol: int, noise: bytes, tail: bytes, ids: tuple[int, ...]
) -> None:
    link = Link(Noise(noise + HEADERS[protocol] + tail), protocol)  # type: ignore[arg-type]
    try:
        answers = link.read_block(ids, 36, 8, attempts=1)
    except BamError:
        return
    assert set(answers) == set(ids)
    assert all(len(data) == 8 for data, _ in answers.values())
