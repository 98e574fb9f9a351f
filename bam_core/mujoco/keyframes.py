# SPDX-License-Identifier: Apache-2.0
"""Controls and activations of keyframes, kept while actuators of a description are removed and replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco


@dataclass(frozen=True, kw_only=True)
class Control:
    """Where an actuator gets its control in keyframes from.

    Attributes:
        origin: number of the actuator whose control it takes; None: of none.
        joint: whose position it takes without an origin; None: `value`.
        value: what it takes without either.
        keeps_state: whether it has the activations of its origin, too.
    """

    origin: int | None = None
    joint: str | None = None
    value: float = 0.0
    keeps_state: bool = True


class KeyframeControls:
    """What the keyframes of a description hold for actuators, read before these change.

    Args:
        spec: the description.
        model: the same, compiled.
    """

    def __init__(self, spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
        self._keys = [(key, list(key.ctrl), list(key.act), list(key.qpos)) for key in spec.keys]
        self._model = model

    @staticmethod
    def are_in(spec: mujoco.MjSpec) -> bool:
        """Return whether a keyframe has controls or activations."""
        return any(len(key.ctrl) or len(key.act) for key in spec.keys)

    def write(self, controls: Sequence[Control]) -> None:
        """Write the keyframes anew; those without controls stay so.

        Args:
            controls: of every actuator that the description has now, in its order.
        """
        for key, ctrl, act, qpos in self._keys:
            if ctrl:
                key.ctrl = [value for control in controls for value in self._ctrl(control, ctrl, qpos)]
            if act:
                key.act = [value for control in controls for value in self._act(control, act)]

    def _ctrl(self, control: Control, ctrl: list[float], qpos: list[float]) -> list[float]:
        if control.origin is not None:
            begin = self._model.actuator_ctrladr[control.origin]
            return ctrl[begin : begin + self._model.actuator_ctrlnum[control.origin]]
        if control.joint is None:
            return [control.value]
        address = self._model.joint(control.joint).qposadr[0]
        return [float(qpos[address] if qpos else self._model.qpos0[address])]

    def _act(self, control: Control, act: list[float]) -> list[float]:
        if control.origin is None or not control.keeps_state:
            return []
        begin = self._model.actuator_actadr[control.origin]
        return act[begin : begin + self._model.actuator_actnum[control.origin]] if begin >= 0 else []
