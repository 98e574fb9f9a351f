# SPDX-License-Identifier: Apache-2.0
"""Warnings about logs that can be used.

Most of it is a wrong number in the header of a log. It fits a servo that is not there, and nothing in the log
alone looks wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import BadData
from bam_core.identification.data.folds import FEWEST_FOLDS
from bam_core.identification.data.split import ENOUGH
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.servo.motor import REFERENCE_TEMPERATURE
from bam_core.text.data_findings import DutyMismatch, ImplausibleGain, NoTemperature, NoVoltage
from bam_core.text.error_findings import FEWEST_LOGS
from bam_core.text.finding import Finding
from bam_core.text.split_findings import FewLogs

_NEEDS_TEMPERATURE = "friction_temperature"
_LIKES_TEMPERATURE = ("winding_heating", _NEEDS_TEMPERATURE)
_AS_ASKED = (0.8, 1.25)  # recorded duty over the one asked for; 0.96 to 1.00 on real recordings
_SAME_LAW = 0.9  # correlation of both, if only the gain is off; 0.999 on real recordings
_ENOUGH = 50  # samples that compare them
_ERRORS_AT_FULL = (0.01, 15.0)
"""rad of error at which a law may ask for all it has. The servos of the library reach 0.0106 to 8.7 rad, with
kp from a tenth of the factory's to the end of the register. Another unit of kp is off by 27 and more."""
_INSIDE = 0.9  # of the limit, where duties count


def require_temperature(recordings: Sequence[Recording], effects: Sequence[str]) -> None:
    """Refuse an effect of the temperature where no log holds one.

    Raises:
        BamError: naming the effect.
    """
    if _NEEDS_TEMPERATURE in effects and all(_is_missing(recording.temperature) for recording in recordings):
        raise BadData(
            f"effect {_NEEDS_TEMPERATURE}",
            "no log holds a temperature",
            expected="one in some",
            advice="leave the effect out, or record the temperature",
        )


def missing_channels(recordings: Sequence[Recording], effects: Sequence[str]) -> list[Finding]:
    """Return a finding about logs without a supply voltage, and one about those without a temperature.

    Args:
        recordings: all logs.
        effects: that are fitted.
    """
    findings: list[Finding] = []
    if blind := [recording for recording in recordings if _is_missing(recording.voltage)]:
        supplies = tuple(sorted({recording.supply_voltage for recording in blind}))
        findings.append(NoVoltage(**_which(blind, recordings), supplies=supplies))
    dependent = tuple(name for name in _LIKES_TEMPERATURE if name in effects)
    cold = [recording for recording in recordings if _is_missing(recording.temperature)]
    if dependent and cold:
        findings.append(
            NoTemperature(**_which(cold, recordings), assumed=REFERENCE_TEMPERATURE, effects=dependent)
        )
    return findings


def full_demand_errors(servo: ServoModel, recordings: Sequence[Recording]) -> list[Finding]:
    """Return a finding about logs whose kp this law cannot have: it asks for all too soon, or for nothing.

    Args:
        servo: whose firmware ran.
        recordings: those in closed loop are checked.
    """
    odd = {
        recording: error
        for recording in recordings
        if not recording.open_loop
        and not _ERRORS_AT_FULL[0]
        <= (error := servo.firmware.full_demand_error(recording.kp))
        <= _ERRORS_AT_FULL[1]
    }
    if not odd:
        return []
    first = next(iter(odd))
    which = _which(list(odd), recordings)
    return [ImplausibleGain(**which, kp=first.kp, error=odd[first], law=servo.firmware.name)]


def gain_warnings(servo: ServoModel, recordings: Sequence[Recording]) -> list[Finding]:
    """Return a finding about logs whose duty is not what their kp asks of their position error.

    Args:
        servo: whose firmware ran; one that asks for currents is not checked.
        recordings: those that hold the duty are checked.
    """
    firmware = servo.firmware
    if firmware.regulates_current:
        return []
    off: list[tuple[Recording, float]] = []
    for recording in recordings:
        if recording.kd or recording.ki:
            continue
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
    which = _which([recording for recording, _ in off], recordings)
    return [DutyMismatch(**which, ratios=tuple(ratio for _, ratio in off), kp=off[0][0].kp)]


def scarcity(training: int, test: int, folds: int) -> list[Finding]:
    """Return a finding about everything that so few logs cannot show.

    Args:
        training: logs.
        test: logs.
        folds: of selection.
    """
    applies = {
        "one_training_log": training == 1,
        "no_selection": folds == 0,
        "one_test_log": test == 1,
        "too_few_for_test": test == 0 and training < ENOUGH,
        "no_test": test == 0 and training >= ENOUGH,
    }
    needed = {"one_training_log": 2, "no_selection": FEWEST_FOLDS, "one_test_log": FEWEST_LOGS}
    return [
        FewLogs(kind=kind, training=training, test=test, needed=needed.get(kind, ENOUGH))
        for kind, is_so in applies.items()
        if is_so
    ]


def _is_missing(values: NDArray[np.float64]) -> bool:
    return not np.isfinite(values).any()


class _Which(TypedDict):
    logs: tuple[str, ...]
    is_all: bool


def _which(some: Sequence[Recording], everything: Sequence[Recording]) -> _Which:
    return {
        "logs": tuple(recording.name for recording in some),
        "is_all": len(some) == len(everything) > 1,
    }
