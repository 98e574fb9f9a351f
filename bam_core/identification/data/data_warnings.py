# SPDX-License-Identifier: Apache-2.0
"""What makes one wonder about logs that are sound: told, not refused.

Most of it is a wrong number in the header of a log. It fits a servo that is not there, and nothing in the log
alone looks wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import BadData
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.servo.motor import REFERENCE_TEMPERATURE

_NEEDS_TEMPERATURE = "friction_temperature"
_LIKES_TEMPERATURE = ("winding_heating", _NEEDS_TEMPERATURE)
_AS_ASKED = (0.8, 1.25)  # recorded duty over the one asked for; 0.96 to 1.00 on real recordings
_SAME_LAW = 0.9  # correlation of both, if only the gain is off; 0.999 on real recordings
_ENOUGH = 50  # samples that compare them
_INSIDE = 0.9  # of the limit, where duties count
_NAMED = 3  # logs that a line names


def require_temperature(recordings: Sequence[Recording], effects: Sequence[str]) -> None:
    """Refuse an effect of the temperature where no log holds one.

    Raises:
        BamError: naming the effect.
    """
    if _NEEDS_TEMPERATURE in effects and all(_is_missing(each.temperature) for each in recordings):
        raise BadData(
            f"effect {_NEEDS_TEMPERATURE}",
            "no log holds a temperature",
            expected="one in some",
            advice="leave the effect out, or record the temperature",
        )


def missing_channels(recordings: Sequence[Recording], effects: Sequence[str]) -> list[str]:
    """Return a line about logs without a supply voltage, and one about those without a temperature.

    Args:
        recordings: all logs.
        effects: that are fitted.
    """
    lines = []
    if blind := [each for each in recordings if _is_missing(each.voltage)]:
        supplies = sorted({each.supply_voltage for each in blind})
        nominal = " or ".join(f"{supply:g} V" for supply in supplies)
        lines.append(f"{_named(blind, recordings)}: no supply voltage was measured; {nominal} is taken")
    named = [name for name in _LIKES_TEMPERATURE if name in effects]
    cold = [each for each in recordings if _is_missing(each.temperature)]
    if named and cold:
        lines.append(
            f"{_named(cold, recordings)}: no temperature was measured; {REFERENCE_TEMPERATURE:g} °C is taken "
            f"({' and '.join(named)} {'go' if len(named) > 1 else 'goes'} by it)"
        )
    return lines


def gain_warnings(servo: ServoModel, recordings: Sequence[Recording]) -> list[str]:
    """Return a line about logs whose duty is not what their kp asks of their position error.

    Args:
        servo: whose firmware ran; one that asks for currents is not judged.
        recordings: those that hold the duty are judged.
    """
    firmware = servo.firmware
    if firmware.regulates_current:
        return []
    off: list[tuple[Recording, float]] = []
    for recording in recordings:
        asked = firmware.gains(recording.kp)[0] * (recording.goal_position - recording.position)
        limit = _INSIDE * firmware.limited(recording.demand_limit).demand_limit
        fits = np.isfinite(recording.duty) & recording.torque_enabled & (np.abs(recording.duty) < limit)
        law, duty = asked[fits], recording.duty[fits]
        if len(law) < _ENOUGH or np.ptp(law) == 0.0 or np.ptp(duty) == 0.0:
            continue
        ratio = float(law @ duty / (law @ law))
        same_law = float(np.corrcoef(law, duty)[0, 1]) > _SAME_LAW
        if same_law and not _AS_ASKED[0] < ratio < _AS_ASKED[1]:
            off.append((recording, ratio))
    if not off:
        return []
    ratios = [ratio for _, ratio in off]
    span = f"{min(ratios):.2g}" if len(off) == 1 else f"{min(ratios):.2g} to {max(ratios):.2g}"
    names = _named([each for each, _ in off], recordings)
    return [
        f"{names}: the duty that was recorded is {span} times what kp (such as {off[0][0].kp:g}) asks for; "
        f"correct kp, or fit the effect firmware_gain if the firmware is another"
    ]


def scarcity(training: int, test: int, folds: int) -> list[str]:
    """Return a line about everything that so few logs cannot tell.

    Args:
        training: logs.
        test: logs.
        folds: of selection.
    """
    lines = []
    if training == 1:
        lines.append("one training log: standard errors and intervals need two or more, there are none")
    if folds == 0:
        lines.append(
            "too few training logs to leave some out for selection: model and effects are chosen by the "
            "error in training, which is lower for every richer model; record another gain or load"
        )
    if test == 1:
        lines.append("one test log: it cannot tell how far other logs are from it; keep more for the test")
    if test == 0:
        lines.append(
            "no test set: all errors are of logs that were used for the fit or the choice; keep some with "
            "--test, or give others to bam validate"
        )
    return lines


def _is_missing(values: NDArray[np.float64]) -> bool:
    return not np.isfinite(values).any()


def _named(some: Sequence[Recording], everything: Sequence[Recording]) -> str:
    if len(some) == len(everything) > 1:
        return "all logs"
    return ", ".join(each.name for each in some[:_NAMED]) + _rest(len(some))


def _rest(count: int) -> str:
    return f" and {count - _NAMED} more" if count > _NAMED else ""
