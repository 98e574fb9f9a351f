# SPDX-License-Identifier: Apache-2.0
"""`domain_randomize` for Playground: it is run itself, with JAX, on a table of one row."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, MissingSoftware, OutOfRange
from bam_core.exchange.training.drive_rollout import drive_model, model_positions
from bam_core.exchange.training.linear_drive import LinearDrive
from bam_core.exchange.training.randomised_motion import Move, TermRange, bench, drive_commands
from bam_core.exchange.training.targets import PLAYGROUND_COLUMNS


def playground(path: Path, text: str) -> tuple[list[TermRange], Move]:
    """Run `domain_randomize` with a table of one row, on the bench as Playground would have it."""
    try:
        import jax
        import jax.numpy as jp
    except ImportError:
        raise MissingSoftware(
            "a file for Playground", "jax", problem="is not installed", advice='pip install "bam_bench[jax]"'
        ) from None
    scope: dict[str, Any] = {"__name__": path.stem}
    _run(path, lambda: exec(compile(text, str(path), "exec"), scope))
    table = np.asarray(_run(path, lambda: scope["DRAWS"]))
    if table.ndim != 2 or table.shape[1] != len(PLAYGROUND_COLUMNS) or not len(table):
        columns = ", ".join(PLAYGROUND_COLUMNS)
        raise BadData(f"{path}, DRAWS", f"has the shape {table.shape}", expected=f"columns {columns}")
    table = table.astype(np.float64)
    if not np.isfinite(table).all():
        raise OutOfRange(f"{path}, DRAWS", "no finite numbers", "draws")
    middle = np.median(table, axis=0)
    values = dict(zip(PLAYGROUND_COLUMNS, middle.tolist(), strict=True))
    drive = LinearDrive(
        stiffness=values["stiffness"],
        damping=values["damping"],
        effort_limit=values["effort_limit"],
        back_emf_damping=values["joint_damping"],
        saturation_effort=values["effort_limit"],
        velocity_limit=np.inf,
        armature=values["armature"],
        frictionloss=values["frictionloss"],
        viscous_damping=0.0,
    )
    commands = drive_commands(bench(drive.effort_limit))

    def move(name: str | None, value: float) -> Array:
        row = middle.copy()
        if name is not None:
            row[PLAYGROUND_COLUMNS.index(name)] = value
        model = drive_model(drive, commands)
        scope["DRAWS"] = jp.asarray(row[None])
        keys = jax.random.split(jax.random.PRNGKey(0), 1)
        drawn, axes = _run(path, lambda: scope["domain_randomize"](_jax_model(model), keys))
        for field, axis in axes._asdict().items():
            if axis == 0:
                getattr(model, field)[...] = np.asarray(getattr(drawn, field))[0]
        return model_positions(model, commands)

    extremes = zip(PLAYGROUND_COLUMNS, table.min(axis=0).tolist(), table.max(axis=0).tolist(), strict=True)
    return [TermRange(name=name, low=low, high=high) for name, low, high in extremes], move


def _run(path: Path, call: Callable[[], Any]) -> Any:
    """Return what code of the user's file returns; whatever it raises is one line."""
    try:
        return call()
    except Exception as error:
        problem = f"ends with {type(error).__name__}: {error}"
        raise BadData(str(path), problem, advice="correct the file") from None


def _jax_model(model: mujoco.MjModel) -> Any:
    """Return the numbers of a model with the two things that `domain_randomize` needs of MJX's own."""
    import jax.numpy as jp

    names = [name for name in dir(model) if isinstance(getattr(model, name), np.ndarray | int)]
    names = [name for name in names if not name.startswith("_")]

    class JaxModel(namedtuple("JaxModel", names)):  # type: ignore[misc]
        """A tree for JAX, as mjx.Model is."""

        def tree_replace(self, changes: Mapping[str, Any]) -> JaxModel:
            return self._replace(**changes)

    values = (getattr(model, name) for name in names)
    return JaxModel(*(jp.asarray(value) if isinstance(value, np.ndarray) else value for value in values))
