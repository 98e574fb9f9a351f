# SPDX-License-Identifier: Apache-2.0
"""What middlewares write beyond the definition of a message."""

from __future__ import annotations

import numpy as np
import pytest
from rosbags.serde import SerdeError

from bam_core.recordings.message_decoder import _decoded, _parsed

NAME = "p/msg/T"


def packed(last: str, number: str) -> tuple[object, bytes]:
    """A store, and a message with an empty last field, filled up to a multiple of 8 bytes."""
    store = _parsed(((NAME, "ros2msg", f"float64 a\nuint32[] b\n{last}\n"),))
    value = store.types[NAME](a=1.0, b=np.array([7], np.uint32), c=np.zeros(0, number))
    data = bytes(store.serialize_cdr(value, NAME))
    return store, data + bytes(-(len(data) - 4) % 8)


def test_an_empty_sequence_of_doubles_at_the_end_may_be_aligned_as_fast_cdr_does() -> None:
    store, data = packed("float64[] c", "float64")
    assert len(data) == 4 + 8 + 8 + 8
    message = _decoded(store, data, NAME)
    assert (message.a, message.b.tolist(), message.c.tolist()) == (1.0, [7], [])


@pytest.mark.parametrize("garbage", [bytes(4), b"\xaa\xbb\xcc\xdd"])
@pytest.mark.parametrize("numbers", [0, 1])
def test_several_empty_sequences_at_the_end_are_each_aligned(numbers: int, garbage: bytes) -> None:
    store = _parsed(((NAME, "ros2msg", "float64[] a\nfloat64[] b\nfloat64[] c\n"),))
    first = np.arange(2.0, 2.0 + numbers)
    whole = store.types[NAME](a=first, b=np.zeros(0), c=np.zeros(0))
    data = bytes(4) + numbers.to_bytes(4, "little") + bytes(4) + first.tobytes() + 2 * (bytes(4) + garbage)
    message = _decoded(store, b"\x00\x01" + data[2:], NAME)
    assert [getattr(message, name).tolist() for name in "abc"] == [whole.a.tolist(), [], []]


def test_bytes_that_no_alignment_explains_are_refused() -> None:
    store, data = packed("uint32[] c", "uint32")
    with pytest.raises(SerdeError):
        _decoded(store, data, NAME)
    store, data = packed("float64[] c", "float64")
    with pytest.raises(SerdeError):
        _decoded(store, data + bytes(8), NAME)
