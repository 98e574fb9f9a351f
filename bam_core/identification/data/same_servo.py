# SPDX-License-Identifier: Apache-2.0
"""Recordings must be of the servo that they are said to be of, under the law that its firmware follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bam_core.errors import Conflict
from bam_core.recordings.recording import Recording
from bam_core.servo.firmware import FIRMWARES
from bam_core.servo.model import ServoModel


def require_same_servo(servo: ServoModel, recordings: Sequence[Recording]) -> None:
    """Refuse recordings of another servo, or of the same under another firmware.

    Args:
        servo: what they should be of.
        recordings: a firmware that is not named counts as the servo's.

    Raises:
        BamError: some are not; it names one of each kind.
    """
    if others := _apart(servo.name, recordings, lambda recording: recording.servo):
        raise Conflict(
            f"servo {servo.name}",
            f"{others} of another servo",
            advice="leave them out, name their servo, or write a file for it with 'bam servos new'",
        )
    law = servo.firmware.name
    if others := _apart(law, recordings, lambda recording: _law(servo, recording)):
        raise Conflict(
            f"servo {servo.name}",
            f"{others} of another firmware than its {law}, so of another control law",
            advice="leave them out, or give a servo file whose firmware is theirs",
        )


def other_servos(servo: ServoModel, recordings: Sequence[Recording]) -> list[str]:
    """Return a line about recordings of another servo, and one about those under another control law.

    For comparisons, which may be meant that way.
    """
    lines = []
    others = sorted({recording.servo for recording in recordings} - {servo.name})
    if others:
        lines.append(f"servo model '{servo.name}' is compared with recordings of {_quoted(others)}")
    laws = sorted({_law(servo, recording) for recording in recordings} - {servo.firmware.name})
    if laws:
        lines.append(
            f"servo model '{servo.name}' with firmware {servo.firmware.name} is compared with recordings "
            f"under {', '.join(laws)}"
        )
    return lines


def _law(servo: ServoModel, recording: Recording) -> str:
    """Return the name of the law that a recording was made under: the servo's where it is the same law.

    A servo file that describes its law itself has it under a name of its own.
    """
    own = servo.firmware
    named = FIRMWARES.get(recording.firmware.casefold())
    is_own = not recording.firmware or (named is not None and replace(named, name=own.name) == own)
    return own.name if is_own else recording.firmware


def _apart(wanted: str, recordings: Sequence[Recording], name: Callable[[Recording], str]) -> str:
    """Tell how many recordings have another name, with one of each, such as "2 of 3 logs are ('a': log1)"."""
    others: dict[str, list[str]] = {}
    for recording in recordings:
        if name(recording).casefold() != wanted.casefold():
            others.setdefault(name(recording), []).append(recording.name)
    named = "; ".join(f"{each!r}: {logs[0]}" for each, logs in others.items())
    count = sum(map(len, others.values()))
    return f"{count} of {len(recordings)} logs ({named}) are" if others else ""


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
