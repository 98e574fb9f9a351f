# SPDX-License-Identifier: Apache-2.0
"""How a block keeps its lanes, and how functions that run over them are compiled.

A block has two buffers of rows, each row BLOCK lanes long: in this package `s` is that of states, with the
rows of `state.py`, and `c` that of candidates, with the rows of `candidate.py`; all in SI units. Functions
read and change the first `lanes` lanes; `start` is the first lane of the block in arrays of all lanes.

One buffer with constant offsets lets the compiler prove that rows do not overlap; unsigned offsets spare it
the test for negative indices.
"""

from __future__ import annotations

from bam_core.compilation import compiled

LANES = 8
"""Lanes come in groups of this many: one 512-bit vector of doubles."""

BLOCK = 64
"""Most lanes in one block, so that its state stays in the first-level cache."""

# "contract" merges a multiplication and an addition into one instruction that rounds once; it changes the
# last digit only, whereas the other relaxations would break the rounding tricks of exp, log and sin.
compiled_lanes = compiled(fastmath={"contract"})
"""Decorator of a function that runs over lanes."""
