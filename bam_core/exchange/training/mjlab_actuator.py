# SPDX-License-Identifier: Apache-2.0
"""An actuator of mjlab with the full law of a servo: M1 to M6, firmware, motor and effects, in every step.

`bam export SERVO --to mjlab` writes a module whose `servo_actuator` makes its configuration, for mjlab 1.6.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import torch
import warp as wp
from mjlab.actuator import Actuator, ActuatorCfg, ActuatorCmd

from bam_core.errors import BadData, OutOfRange
from bam_core.exchange.training.servo_draws import drawn_numbers
from bam_core.mujoco.actuators import add_plain_actuator
from bam_core.mujoco.step_law import Number
from bam_core.mujoco.warp import WarpServos

log = logging.getLogger(__name__)

_LEAST_FRICTIONLOSS = 1e-6  # N·m: MuJoCo has a friction row for it, whose limit the law sets


@dataclass(kw_only=True)
class ServoActuatorCfg(ActuatorCfg):
    """Servos of one type, with the full law; `delay_min_lag` and `delay_max_lag` delay goals as in mjlab.

    `armature`, `frictionloss` and `viscous_damping` stay None: the law has them.

    Attributes:
        numbers: of the servo by name, SI, as `bam export --to mjlab` writes them.
        draws: npz of `bam export SERVO --draws N`; each servo of an environment gets a whole draw at every
            reset. None: all are alike. The armature is not drawn: mjlab has it in the model.
    """

    numbers: Mapping[str, float]
    draws: str | None = None

    def build(self, entity: Any, target_ids: list[int], target_names: list[str]) -> ServoActuator:
        """Return the actuator."""
        return ServoActuator(self, entity, target_ids, target_names)


class ServoActuator(Actuator[ServoActuatorCfg]):
    """Servos on the joints of an entity; their law acts inside of each physics step."""

    def edit_spec(self, spec: mujoco.MjSpec, target_names: list[str]) -> None:
        """Give joints armature and friction row of their servos, and actuators whose control is a goal."""
        for name in target_names:
            joint = spec.joint(name)
            joint.armature = self.cfg.numbers["armature"]
            joint.frictionloss = max(self.cfg.numbers["coulomb"], _LEAST_FRICTIONLOSS)
            joint.damping = np.zeros_like(joint.damping)
            actuator = add_plain_actuator(spec, name)
            actuator.target, actuator.trntype = name, mujoco.mjtTrn.mjTRN_JOINT
            actuator.gaintype = mujoco.mjtGain.mjGAIN_USER
            actuator.biastype = mujoco.mjtBias.mjBIAS_USER
            self._mjs_actuators.append(actuator)

    def initialize(self, mj_model: mujoco.MjModel, model: Any, data: Any, device: str) -> None:
        """Make the servos of all environments.

        Raises:
            BamError: options of the model are none that friction holds still in, or draws are wrong.
        """
        super().initialize(mj_model, model, data, device)
        joints = [mj_model.actuator(actuator.id).trnid[0] for actuator in self._mjs_actuators]
        named = {mj_model.joint(joint).name: self.cfg.numbers for joint in joints}
        engine, state = (getattr(value, "struct", value) for value in (model, data))
        with wp.ScopedDevice(str(device)):
            self.servos = WarpServos(mj_model, engine, state, named)
        self._numbers = wp.to_torch(self.servos.numbers)
        self._draws = None if self.cfg.draws is None else self._read_draws(Path(self.cfg.draws), device)
        self.reset()

    def compute(self, cmd: ActuatorCmd) -> torch.Tensor:
        """Return goals, rad: the law makes torque of them inside of the step."""
        return cmd.position_target

    def reset(self, env_ids: torch.Tensor | slice | None = None) -> None:
        """Begin episodes: set-points, integrals and the like are forgotten, and draws are drawn."""
        super().reset(env_ids)
        worlds, count = self.servos.enabled.shape
        chosen = torch.zeros(worlds, dtype=torch.bool, device=self._numbers.device)
        chosen[slice(None) if env_ids is None else env_ids] = True
        if self._draws is not None:
            columns = chosen.repeat_interleave(count)
            rows = torch.randint(self._draws.shape[1], (int(columns.sum()),), device=columns.device)
            self._numbers[:, columns] = self._draws[:, rows]
        with wp.ScopedDevice(self.servos.enabled.device):
            self.servos.reset(wp.from_torch(chosen))

    def _read_draws(self, path: Path, device: str) -> torch.Tensor:
        """Return numbers of each draw, (numbers, draws)."""
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files if file[name].ndim == 1}
        drawn = drawn_numbers(arrays)
        if not drawn:
            raise BadData(str(path), "has no numbers of a servo", expected="bam export SERVO --draws N")
        if left := sorted(name for name in arrays if not drawn_numbers({name: arrays[name]})):
            log.warning("%s: %s: not drawn in mjlab", path, ", ".join(left))
        table = torch.tensor([float(self.cfg.numbers[name]) for name in Number.__members__], device=device)
        table = table[:, None].repeat(1, len(next(iter(drawn.values()))))
        for name, values in drawn.items():
            if not np.isfinite(values).all():
                raise OutOfRange(f"{path}, {name}", "NaN or infinite", "finite numbers")
            table[Number[name]] = torch.as_tensor(values, dtype=torch.float32, device=device)
        return table
