# SPDX-License-Identifier: Apache-2.0
"""Robots and a walk that the tests of whole bodies share."""

from __future__ import annotations

import functools

import mujoco
import numpy as np

from bam_core.whole_body import WholeBody, single_support
from papers.egle.gait import plan_gait, straight
from papers.egle.humanoid import LEGS, RIGHT_LEG, SOLES, humanoid
from papers.egle.tables import TARGETS
from papers.egle.walking import Walk, simulate_walk

ARM = """
<mujoco>
  <option gravity="0 0 -9.80665"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.3" mass="1.2"/>
      <body name="lower" pos="0 0 -0.3">
        <joint name="elbow" axis="0 1 0"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.25" mass="0.7"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@functools.cache
def robot() -> WholeBody:
    return humanoid()


@functools.cache
def arm() -> WholeBody:
    """Two links, fixed base."""
    return WholeBody(mujoco.MjModel.from_xml_string(ARM))


@functools.cache
def walk() -> Walk:
    """A step of either foot, friction in all leg joints."""
    return simulate_walk(robot(), plan_gait(robot(), straight(2)), TARGETS)


def swings() -> dict[str, np.ndarray]:
    log = walk().log
    return {joint: single_support(log, SOLES[1 if joint in RIGHT_LEG else 0]) for joint in LEGS}
