# SPDX-License-Identifier: Apache-2.0
"""Gains of a servo in words: those that it comes with, and those that LeRobot sets."""

from __future__ import annotations


def gain_words(factory_kp: float, lerobot: tuple[int, int, int] | None) -> tuple[str, ...]:
    """Return a sentence for each set of gains that is known.

    Args:
        factory_kp: position gain that the servo comes with, in its firmware's units.
        lerobot: P, I and D that LeRobot sets; None where it sets none.
    """
    factory = f"Gain as delivered: kp {factory_kp:g}."
    if lerobot is None:
        return (factory,)
    p, i, d = lerobot
    return factory, f"LeRobot sets P {p}, I {i}, D {d} on SO-100 and SO-101: --kp {p} --kd {d}."
