# SPDX-License-Identifier: Apache-2.0
"""What to do next with the file of a servo for a training program."""

from __future__ import annotations

_CLASS = 'include {file} in your MJCF, and give joint and actuator its class, class="{servo}"'

_NEXT = {
    "mjlab": (
        "from {module} import position_actuator; "
        'in EntityArticulationInfoCfg: actuators=(position_actuator("JOINT.*"),)'
    ),
    "isaaclab": (
        'from {module} import implicit; in ArticulationCfg: actuators={{"servo": implicit(["JOINT.*"])}}'
    ),
    "newton": "from {module} import add_servo; for each joint: add_servo(builder, dof, delay_steps)",
    "genesis": "from {module} import set_servo; after scene.build(): set_servo(entity, dofs)",
    "playground": "from {module} import domain_randomize; pass it as randomization_fn",
    "mjx": _CLASS,
    "mujoco": _CLASS,
}


def next_step(target: str, file: str, servo: str) -> str:
    """Return what to write in a program of one's own.

    Args:
        target: of `bam export --to`.
        file: name of the file that was written, such as ``servo.py``.
        servo: its name, which is that of the class in MJCF.
    """
    step = _NEXT[target].format(module=file.rsplit(".", 1)[0], file=file, servo=servo)
    return f"next: {step}; one file per servo type"
