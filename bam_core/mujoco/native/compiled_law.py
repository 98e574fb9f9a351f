# SPDX-License-Identifier: Apache-2.0
"""The law of servos in `servo_law.h`, for the joints of one simulation: memory and calls."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.mujoco.native.library import doubles, interface
from bam_core.servo.law_values import law_values
from bam_core.servo.model import ServoModel

OK, NO_ROW, NOT_FINITE, REFUSED = 0, 1, 2, 3
"""What `before_solver` and `before_gears` return.

NO_ROW: a joint lacks its friction row. REFUSED: options of the model, changed since the last step, do not
allow the law; nothing was done.
"""


class _Robot(ctypes.Structure):
    """`Robot` of `servo_interface.cc`."""

    _fields_ = (
        ("model", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("joints", ctypes.c_void_p),
        ("constants", ctypes.c_void_p),
        ("servos", ctypes.c_void_p),
        ("count", ctypes.c_int),
    )


class CompiledLaw:
    """Servos on joints, as the compiled law steps them. It owns its memory and keeps model and data alive.

    Attributes:
        state: (servos,) records of doubles under the names of `servo_law.h`: command, memory and what the
            last step did. Write commands; the law writes all else.
        before_solver: applies motor torques and sets friction rows, between mj_step1 and mj_step2.
        after_solver: keeps what the next step needs, behind mj_step2.
        before_gears: computes motor torques and friction budgets where gears make the step.
        reset: forgets the previous step; commands stay.

    Args:
        model: what is simulated.
        data: its state.
        joints: numbers of hinges and slides, each with its servo.
        servos: in the same order.

    Raises:
        BamError: the library is missing, or is not of these sources or this MuJoCo.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        joints: Sequence[int],
        servos: Sequence[ServoModel],
    ) -> None:
        library = interface()
        constants = np.zeros(len(servos), doubles("constants"))
        values = [law_values(servo) for servo in servos]
        for name in constants.dtype.names or ():
            constants[name] = [value[name] for value in values]
        self.state: NDArray[np.void] = np.zeros(len(servos), doubles("command", "state"))
        numbers = np.array(joints, dtype=np.int32)
        robot = _Robot(
            model._address,
            data._address,
            numbers.ctypes.data,
            constants.ctypes.data,
            self.state.ctypes.data,
            len(servos),
        )
        self._alive = model, data, numbers, constants, robot
        pointer = ctypes.byref(robot)
        self.before_solver = functools.partial(library.bam_servo_before_solver, pointer)
        self.after_solver = functools.partial(library.bam_servo_after_solver, pointer)
        self.before_gears = functools.partial(library.bam_servo_before_gears, pointer)
        self.reset = functools.partial(library.bam_servo_reset, pointer)
