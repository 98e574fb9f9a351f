# SPDX-License-Identifier: Apache-2.0
"""Checks that recordings are of one servo, and under the control law of its firmware."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bam_core.errors import Conflict
from bam_core.recordings.recording import Recording
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.model import ServoModel
from bam_core.text.model_findings import OtherServo


def require_same_servo(servo: ServoModel, recordings: Sequence[Recording]) -> None:
    """Refuse recordings of another servo, or of the same servo under another control law.

    Args:
        servo: the expected one.
        recordings: one that names no firmware counts as recorded under the servo's.

    Raises:
        Conflict: some are of another servo or law; it names one of each kind.
    """
    if others := _describe_others(servo.name, recordings, lambda recording: recording.servo):
        raise Conflict(
            f"servo {servo.name}",
            f"{others} of another servo",
            advice=f"leave them out or name their servo; where it is the same, give --set motor={servo.name}",
        )
    law = servo.firmware.name
    if others := _describe_others(law, recordings, lambda recording: _law(servo, recording)):
        raise Conflict(
            f"servo {servo.name}",
            f"{others} of another firmware than its {law}, so of another control law",
            advice="leave them out, or give a servo file whose firmware is theirs",
        )


def other_servos(servo: ServoModel, recordings: Sequence[Recording]) -> list[OtherServo]:
    """Return a finding about recordings of other servos, and one about those under other control laws.

    Comparisons log them as warnings, because a user may compare different servos on purpose.
    """
    others = sorted({recording.servo for recording in recordings} - {servo.name})
    laws = sorted({_law(servo, recording) for recording in recordings} - {servo.firmware.name})
    return [
        OtherServo(kind=kind, servo=servo.name, firmware=servo.firmware.name, others=tuple(names))
        for kind, names in (("other_servo", others), ("other_law", laws))
        if names
    ]


def _law(servo: ServoModel, recording: Recording) -> str:
    """Return the name of a recording's control law; it is the servo's name for the law if both are the same.

    A servo file may describe a law of the library under another name.
    """
    own = servo.firmware
    named = FIRMWARES.get(recording.firmware.casefold())
    # Factory gain and the scales of D and I are of no account: recordings hold their own gains.
    is_own = not recording.firmware or (
        named is not None
        and replace(
            named, name=own.name, factory_kp=own.factory_kp, kd_scale=own.kd_scale, ki_scale=own.ki_scale
        )
        == own
    )
    return own.name if is_own else recording.firmware


def _describe_others(wanted: str, recordings: Sequence[Recording], name: Callable[[Recording], str]) -> str:
    """Return how many recordings have another name, with one log of each; empty if there is none.

    For example: "2 of 3 logs ('a': log1) are".
    """
    others: dict[str, list[str]] = {}
    for recording in recordings:
        if name(recording).casefold() != wanted.casefold():
            others.setdefault(name(recording), []).append(recording.name)
    named = "; ".join(f"{name_there!r}: {logs[0]}" for name_there, logs in others.items())
    if len(recordings) == 1 and others:
        return f"recording {recordings[0].name} ({name(recordings[0])!r}) is"
    count = sum(map(len, others.values()))
    return f"{count} of {len(recordings)} logs ({named}) are" if others else ""
