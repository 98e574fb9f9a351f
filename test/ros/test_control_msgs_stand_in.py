# SPDX-License-Identifier: Apache-2.0
"""The stand-in for control_msgs has the fields and constants of the real package, in their order."""

from __future__ import annotations

import hashlib
import re

import pytest

from test.ros.control_msgs_stand_in import SOURCES

# Digests of the definitions of control_msgs 6.8.0 (commit 13dacdd), without comments and layout.
REAL = {
    "action/FollowJointTrajectory.action": "c9f21d6a57611368",
    "msg/JointComponentTolerance.msg": "fa79588f623ec59a",
    "msg/JointTolerance.msg": "c8e83c214f64f31b",
}


def digest(definition: str) -> str:
    """Digest of a definition's lines, without comments and with single spaces."""
    lines = [re.sub(r"\s*=\s*", "=", line.partition("#")[0]).split() for line in definition.splitlines()]
    return hashlib.sha256("\n".join(" ".join(words) for words in lines if words).encode()).hexdigest()[:16]


@pytest.mark.parametrize("file", REAL)
def test_the_stand_in_is_the_real_interface(file: str) -> None:
    assert digest((SOURCES / file).read_text()) == REAL[file]
