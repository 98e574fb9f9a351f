# SPDX-License-Identifier: Apache-2.0
"""The law of servos in C++: for `ServoActuation`, and inside `mj_step` as MuJoCo's engine plugin."""

from __future__ import annotations

from bam_core.mujoco.native.library import load_plugin, plugin_path
from bam_core.mujoco.native.plugin import PLUGIN_NAME, NativeServo, equip_native
from bam_core.mujoco.native.state import NativeState

__all__ = ["PLUGIN_NAME", "NativeServo", "NativeState", "equip_native", "load_plugin", "plugin_path"]
