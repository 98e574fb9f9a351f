# SPDX-License-Identifier: Apache-2.0
"""The same law inside `mj_step`: MuJoCo's engine plugin `bam_bench.servo`, with no Python in the loop."""

from __future__ import annotations

from bam_core.mujoco.native.library import load_plugin, plugin_path
from bam_core.mujoco.native.plugin import PLUGIN_NAME, NativeServo, equip_native
from bam_core.mujoco.native.state import NativeState

__all__ = ["PLUGIN_NAME", "NativeServo", "NativeState", "equip_native", "load_plugin", "plugin_path"]
