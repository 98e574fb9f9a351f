# SPDX-License-Identifier: Apache-2.0
"""What the plugin's servos did in the last step, read from `MjData.plugin_state`."""

from __future__ import annotations

import mujoco

from bam_core.errors import UnknownName
from bam_core.mujoco.native.library import doubles


class NativeState:
    """A live view of one servo's state, in the terms of `ServoActuation`.

    Args:
        model: with the plugin's servos.
        data: of that model.
        joint: whose servo.

    Raises:
        BamError: no servo of the plugin is on that joint.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, joint: str) -> None:
        address = _address(model, joint)
        self._state = data.plugin_state[address : address + _size()].view(doubles("state"))

    def __getattr__(self, name: str) -> float:
        """Return one quantity: winding_warming (K), duty, current (A), motor_torque, ... (N·m)."""
        if name not in (doubles("state").names or ()):
            raise AttributeError(name)
        return float(self._state[name][0])


def motor_torque_address(model: mujoco.MjModel, joint: str) -> int:
    """Return where in `MjData.plugin_state` the motor torque of a joint's servo is; raises UnknownName."""
    return _address(model, joint) + (doubles("state").names or ()).index("motor_torque")


def _address(model: mujoco.MjModel, joint: str) -> int:
    """Return where the state of a joint's servo begins."""
    instances = {
        model.joint(model.actuator_trnid[actuator, 0]).name: int(instance)
        for actuator, instance in enumerate(model.actuator_plugin)
        if instance >= 0 and model.plugin_statenum[instance] == _size()
    }
    if joint not in instances:
        raise UnknownName("joint with a native servo", joint, list(instances))
    return int(model.plugin_stateadr[instances[joint]])


def _size() -> int:
    """Return how many numbers a servo's state is."""
    return len(doubles("state").names or ())
