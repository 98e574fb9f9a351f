# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions as files: MJCF, also with servos of the engine plugin, and URDF."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

import mujoco

from bam_core.errors import Malformed, Unreadable, printable_line
from bam_core.mujoco.couplings import couple_mimics
from bam_core.mujoco.description_checks import gravity_findings
from bam_core.mujoco.library_warnings import library_warnings
from bam_core.mujoco.mjcf_assets import leave_out_missing
from bam_core.mujoco.model_files import LONGEST_TEXT, POINTER, check_model_files, without_comments
from bam_core.mujoco.native import PLUGIN_NAME, load_plugin
from bam_core.mujoco.robot import REFUSALS, one_line
from bam_core.mujoco.urdf_joints import require_sound_joints
from bam_core.mujoco.urdf_meshes import with_meshes
from bam_core.servo.pendulum import GRAVITY
from bam_core.text.finding import log_findings

log = logging.getLogger(__name__)

_XACRO = re.compile(r"<\s*xacro:|\$\{|\$\(")
"""What xacro leaves behind in comments only."""
_NOT_A_NUMBER = "'NaN'"
"""In MuJoCo's warning of a number that is none; it would go on with it."""


def load_robot(path: str | os.PathLike[str]) -> mujoco.MjSpec:
    """Read an MJCF or URDF file; MJCF may have servos of this package's engine plugin.

    Raises:
        BamError: it cannot be read, names files that are none of its own, asks for more than fits the
            memory, MuJoCo does not understand it, or the plugin it needs is not built.
    """
    path = Path(path)
    if not path.is_file():
        raise Unreadable(path, "no such file", expected="MJCF .xml or URDF .urdf", advice="correct the path")
    _require_fetched(path)
    _require_expanded(path)
    check_model_files(path)
    refusal: Exception | None = None
    with library_warnings() as warnings:
        try:
            spec = _parse(path)
        except (*REFUSALS, OSError) as error:
            refusal = error
    if any(_NOT_A_NUMBER in line for line in warnings):
        raise Malformed(path, "has NaN for a number", expected="finite ones", advice="correct the file")
    if refusal is not None:
        raise Malformed(path, one_line(refusal), expected="MJCF or URDF", advice="correct the file")
    for line in warnings:
        log.warning("%s: MuJoCo: %s", path, printable_line(line))
    if path.suffix.lower() != ".urdf":
        log_findings(log, leave_out_missing(path, spec))
    else:  # which does not say what gravity is
        spec.option.gravity = [0.0, 0.0, -GRAVITY]
    log_findings(log, gravity_findings(spec))
    return spec


def _parse(path: Path) -> mujoco.MjSpec:
    try:
        return _spec(path)
    except ValueError as error:
        if PLUGIN_NAME not in str(error):
            raise
    load_plugin()
    return _spec(path)


def _spec(path: Path) -> mujoco.MjSpec:
    ending = path.suffix.lower()
    if ending != ".urdf" and (ending != ".xml" or path.suffix == ".xml"):
        return mujoco.MjSpec.from_file(str(path))
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    if ending == ".urdf":
        require_sound_joints(path, text)
        text, findings = with_meshes(path, text)
        log_findings(log, findings)
    spec = mujoco.MjSpec.from_string(text)
    if ending == ".urdf":
        couple_mimics(spec, text)
    spec.modelfiledir = str(path.resolve().parent)
    return spec


def _require_fetched(path: Path) -> None:
    """Refuse a description that is only a pointer of Git LFS."""
    with path.open("rb") as file:
        if file.read(len(POINTER)) == POINTER:
            raise Malformed(
                path,
                "is only a pointer of Git LFS",
                expected="the file itself",
                advice="run 'git lfs pull' in its repository",
            )


def _require_expanded(path: Path) -> None:
    """Refuse a description that xacro has not expanded."""
    ending = path.suffix.lower()
    if ending == ".xacro" or (ending == ".urdf" and _XACRO.search(_beginning(path)) is not None):
        expanded = path.with_suffix("") if path.suffix.lower() == ".xacro" else path
        name = expanded.name if expanded.suffix.lower() == ".urdf" else f"{expanded.stem}.urdf"
        target = name if name != path.name else f"expanded_{name}"
        raise Malformed(
            path,
            "is not expanded yet: it has elements of xacro",
            expected="plain URDF",
            advice=f"run 'xacro {path.name} > {target}', and give that file",
        )


def _beginning(path: Path) -> str:
    """Return the text without comments, as much of it as a description may have."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return without_comments(file.read(LONGEST_TEXT))
