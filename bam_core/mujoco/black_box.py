# SPDX-License-Identifier: Apache-2.0
"""The last moments of a simulation, kept so that its divergence can be looked at again, step by step."""

from __future__ import annotations

import io
import itertools
import os
import tempfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import Malformed, MissingSoftware
from bam_core.files.atomic_file import write_bytes
from bam_core.files.npz_file import read_arrays
from bam_core.mujoco.actuate import actuate
from bam_core.mujoco.actuation import ServoActuation
from bam_core.mujoco.native.library import load_plugin
from bam_core.servo.model import ServoModel, load_servo

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION
_MOMENTS = 500  # that are kept: a second at the simulator's usual rate
_LONGEST = 10_000_000  # steps of a replay, against files that never diverge


class BlackBox:
    """Keeps the newest states of a simulation and its commands.

    Args:
        actuation: whose; one that is new needs a new black box.
    """

    def __init__(self, actuation: ServoActuation) -> None:
        self._actuation = actuation
        self._size = mujoco.mj_stateSize(actuation.model, _STATE)
        self._moments: deque[tuple[Array, NDArray[np.void]]] = deque(maxlen=_MOMENTS)

    def note(self) -> None:
        """Keep this moment; commands must not change until the next one but between steps of it."""
        state = np.empty(self._size)
        mujoco.mj_getState(self._actuation.model, self._actuation.data, state, _STATE)
        self._moments.append((state, self._actuation.remember()))

    def write(self, directory: str | os.PathLike[str], reason: str) -> Path:
        """Write all into a new file of that directory and return its path.

        Raises:
            BamError: it cannot be written.
        """
        model = self._actuation.model
        binary = np.empty(mujoco.mj_sizeModel(model), dtype=np.uint8)
        mujoco.mj_saveModel(model, None, binary)
        content = io.BytesIO()
        np.savez_compressed(
            content,
            mujoco=np.array(mujoco.__version__),
            reason=np.array(reason),
            model=binary,
            engine_plugins=model.nplugin,
            joints=np.array(self._actuation.names),
            servos=np.array([servo.to_yaml() for servo in self._actuation.servos]),
            states=np.array([state for state, _ in self._moments]),
            memories=np.array([memory for _, memory in self._moments]),
        )
        stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S")
        paths = (Path(directory) / f"diverged_{stamp}_{n}.npz" for n in itertools.count(1))
        path = next(path for path in paths if not path.exists())
        write_bytes(path, content.getvalue())
        return path


@dataclass(frozen=True, kw_only=True, eq=False)
class DivergedRun:
    """What a black box wrote.

    Attributes:
        reason: the message of the simulation.
        model: what was simulated.
        servos: joint -> its servo.
        states: (moments, size) of MuJoCo, `mjSTATE_INTEGRATION`.
        memories: (moments, servos) of `ServoActuation.remember`.
    """

    reason: str
    model: mujoco.MjModel
    servos: dict[str, ServoModel]
    states: Array
    memories: NDArray[np.void]

    def resume(self, moment: int = 0) -> ServoActuation:
        """Return the simulation as it was at one of the moments, 0 being the oldest; -1 is the last."""
        data = mujoco.MjData(self.model)
        mujoco.mj_setState(self.model, data, self.states[moment], _STATE)
        actuation = actuate(self.model, data, self.servos)
        actuation.recall(self.memories[moment])
        return actuation

    def replay(self, moment: int = 0) -> Iterator[ServoActuation]:
        """Run from one of the moments on with the commands of the time, and yield after every step.

        Raises:
            SimulationError: it diverges again; a simulation that is replayed on another machine need not.
        """
        moments = len(self.states)
        actuation = self.resume(moment)
        following = moment % moments + 1
        for _ in range(_LONGEST):
            if following < moments and actuation.data.time >= self.states[following][0] - 1e-9:
                actuation.recall(self.memories[following])
                following += 1
            actuation.step()
            yield actuation


def load_diverged_run(path: str | os.PathLike[str]) -> DivergedRun:
    """Read the file of a black box.

    It holds a compiled model, which MuJoCo loads without looking at it closely: read files of people that you
    trust only.

    Raises:
        BamError: it is none, another version of MuJoCo wrote it, or the engine plugin it needs is not built.
    """
    try:
        entries = read_arrays(Path(path))
        version = str(entries["mujoco"])
        if version != mujoco.__version__:
            raise MissingSoftware(
                str(path),
                f"mujoco {version}",
                problem=f"is of MuJoCo {version} (expected {mujoco.__version__})",
                advice="install that one",
            )
        if entries.get("engine_plugins", 0):
            load_plugin()  # MuJoCo crashes on a binary model whose plugin it does not know
        return DivergedRun(
            reason=str(entries["reason"]),
            model=mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": entries["model"].tobytes()}),
            servos=dict(
                zip(entries["joints"].tolist(), map(_servo, entries["servos"].tolist()), strict=True)
            ),
            states=entries["states"],
            memories=entries["memories"],
        )
    except (OSError, ValueError, KeyError) as error:
        raise Malformed(
            path, f"cannot be read as the dump of a simulation ({error})", advice="give a diverged_*.npz"
        ) from None


def _servo(text: str) -> ServoModel:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "servo.yaml"
        file.write_text(text, encoding="utf-8")
        return load_servo(file)
