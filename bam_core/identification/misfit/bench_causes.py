# SPDX-License-Identifier: Apache-2.0
"""What a bench and the headers of its recordings may have that the model does not know of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.misfit.cause import FAINT, POSITIVE, Cause
from bam_core.identification.misfit.motion import Motion, arm_on_a_spring, natural_compliances
from bam_core.text.misfit_findings import Form

_FREQUENCIES = np.geomspace(2.5, 25.0, 18)  # Hz; of the arm on its spring, as close as it rings sharply
_DAMPINGS = (0.04, 0.15)  # of it; joints and belts have 0.02 to 0.2
_PLAY = np.array([0.005, 0.01, 0.02, 0.04])  # rad
_WRONG = 0.03  # of what a header says: less is what scales and rulers are off
_BEHIND_PLAY = 15.0  # Hz; of an arm that has taken up its play


def bench_causes(moved: Sequence[Motion]) -> list[Cause]:
    """Return the causes that are of the bench, for arms as in these recordings; none where no arm hangs."""
    inertia = float(np.median([motion.bench_inertia for motion in moved]))
    if inertia == 0.0:
        return []
    springs = natural_compliances(inertia, _FREQUENCIES)
    stiff = np.repeat(natural_compliances(inertia, np.array([_BEHIND_PLAY])), len(_PLAY))
    rigid = np.zeros(len(springs))
    return [
        Cause(
            kind="flexible_joint",
            forms=tuple(Form(value=float(compliance)) for compliance in springs) * len(_DAMPINGS),
            sizes=(1,) * (len(_DAMPINGS) * len(springs)),
            torques=lambda motion: np.concatenate(
                [arm_on_a_spring(motion, springs, damping, rigid) for damping in _DAMPINGS], axis=1
            ),
            range=FAINT,
            effects=("arm_compliance",),
        ),
        Cause(
            kind="backlash",
            forms=tuple(Form(value=float(play)) for play in _PLAY),
            sizes=(1,) * len(_PLAY),
            torques=lambda motion: arm_on_a_spring(motion, stiff, _DAMPINGS[1], _PLAY),
            range=FAINT,
            effects=("arm_backlash",),
        ),
        Cause(
            kind="load_gyration",
            forms=(Form(),),
            sizes=(1,),
            torques=lambda motion: (-motion.mass * motion.acceleration)[:, None],
            range=POSITIVE,
            effects=("load_gyration",),
        ),
        Cause(
            kind="zero_offset",
            forms=(Form(),),
            sizes=(1,),
            torques=lambda motion: motion.gravity_torque * np.cos(motion.position)[:, None],
            effects=("zero_offset",),
        ),
    ]


def header_causes(moved: Sequence[Motion], headers: Sequence[tuple[str, str]]) -> list[Cause]:
    """Return the causes that are wrong headers: the load or the gain of some logs.

    Args:
        moved: what the arm did in every recording.
        headers: load and gain of every recording, in words.
    """
    loads: dict[int, str] = {id(motion): load for motion, (load, _) in zip(moved, headers, strict=True)}
    gains: dict[int, str] = {id(motion): gain for motion, (_, gain) in zip(moved, headers, strict=True)}
    causes = []
    for kind, of, torque in (
        ("load_header", loads, lambda motion: motion.gravity - motion.bench_inertia * motion.acceleration),
        ("gain_header", gains, lambda motion: motion.gain * motion.error),
    ):
        names = list(dict.fromkeys(of.values()))
        if len(names) > 1:
            causes.append(
                Cause(
                    kind=kind,
                    forms=tuple(Form(value=name) for name in names),
                    sizes=(1,) * len(names),
                    torques=_of_some(of, names, torque),
                    least=_WRONG,
                )
            )
    return causes


def _of_some(
    of: dict[int, str], names: Sequence[str], torque: Callable[[Motion], Array]
) -> Callable[[Motion], Array]:
    def torques(motion: Motion) -> Array:
        columns = np.zeros((len(motion.time), len(names)))
        columns[:, names.index(of[id(motion)])] = torque(motion)
        return columns

    return torques
