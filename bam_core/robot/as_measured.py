# SPDX-License-Identifier: Apache-2.0
"""Joints of a robot that move as a run measured them, whatever acts on them, in MuJoCo's own engine.

Such a joint gets an armature beside which nothing that acts on it counts, and the force that gives this
armature the measured acceleration. With second differences for accelerations the engine's semi-implicit steps
go through the measured positions exactly: v' = v + h a, q' = q + h v'.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.robot.gaps import sample_gaps

_ARMATURE = 1e7  # kg·m²; 10 N·m then shift a joint by 0.05 mrad in 10 s
_CUTOFF = 8.0  # Hz; servos hardly follow faster goals, while counts and jitter seen above it become torques


def measured_path(times: Array, measured: Array, position: Array) -> Array:
    """Return where joints were measured, at other times, without the noise of encoder and bus.

    A Butterworth filter of second order, forwards and backwards, so that nothing comes late; a cubic spline
    between samples. Before and after the measurement joints rest.

    Args:
        times: (steps,) s.
        measured: (n,) s, evenly spaced but for jitter.
        position: (n, joints) rad, then.
    """
    from scipy.interpolate import CubicSpline, PchipInterpolator  # these take a third of a second to load
    from scipy.signal import butter, sosfiltfilt

    period = float(np.median(np.diff(measured)))
    if len(sample_gaps(measured)):  # the filter and the spline need even samples
        even = measured[0] + period * np.arange(round((measured[-1] - measured[0]) / period) + 1)
        position = PchipInterpolator(measured, position)(np.minimum(even, measured[-1]))
        measured = even
    rate = 1.0 / period
    if rate > 2.0 * _CUTOFF:
        sections = butter(2, _CUTOFF, fs=rate, output="sos")
        position = sosfiltfilt(sections, position, axis=0, padlen=min(len(measured) - 1, round(rate)))
    return np.asarray(CubicSpline(measured, position)(np.clip(times, measured[0], measured[-1])))


def move_as_measured(model: mujoco.MjModel, joints: Sequence[str], path: Array) -> Array:
    """Prepare joints of a compiled robot, in place, and return the forces that move them.

    Args:
        model: the robot; its engine's step counts.
        joints: of one degree of freedom, by name.
        path: (steps + 1, joints) rad, at each step of the engine; it begins at rest.

    Returns:
        (steps, degrees of freedom) N·m, to be applied beside other forces.
    """
    step = model.opt.timestep
    before = np.vstack([path[:1], path[:-2]])
    acceleration = (path[1:] - 2.0 * path[:-1] + before) / step**2
    forces = np.zeros((len(path) - 1, model.nv))
    for column, joint in enumerate(joints):
        number = int(model.joint(joint).dofadr[0])
        model.dof_armature[number] = _ARMATURE
        forces[:, number] = _ARMATURE * acceleration[:, column]
    mujoco.mj_setConst(model, mujoco.MjData(model))
    # The solver stops at errors that are small beside all inertias, so beside these; the other joints, whose
    # friction it solves for, then creep by a milliradian.
    model.opt.tolerance = 0.0
    return forces
