# SPDX-License-Identifier: Apache-2.0
"""Recordings of another servo or under another control law: refused by fits, told by comparisons."""

from __future__ import annotations

import dataclasses

from bam_core.errors import Conflict
from bam_core.identification.data.same_servo import other_servos, require_same_servo
from bam_core.identification.uncertainty.candidate_runs import CandidateRun
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from test.core.refusals import refused

XL330, MX106 = load_servo("xl330"), load_servo("mx106")


def recording(**changes: str) -> Recording:
    run = CandidateRun(
        script=SCRIPTS["sin_sin"], kp=200.0, bench=PendulumBench(mass=0.3, length=0.1), supply_voltage=7.4
    )
    return dataclasses.replace(run.as_recording(XL330), **changes)


def test_recordings_of_the_servo_pass_without_a_word() -> None:
    logs = [recording(), recording(firmware="")]
    require_same_servo(XL330, logs)
    assert other_servos(XL330, logs) == []


def test_another_servo_is_refused_by_a_fit_and_told_by_a_comparison() -> None:
    with refused(Conflict, thing="servo mx106"):
        require_same_servo(MX106, [recording()])
    finding = other_servos(MX106, [recording()])[0]
    assert (finding.kind, finding.servo, finding.others) == ("other_servo", "mx106", ("xl330",))


def test_another_control_law_of_the_same_servo_is_told_as_well() -> None:
    other = recording(firmware="mx106")
    with refused(Conflict, thing="servo xl330"):
        require_same_servo(XL330, [recording(), other])
    (finding,) = other_servos(XL330, [recording(), other])
    assert (finding.kind, finding.others) == ("other_law", ("mx106",))


def test_a_servo_file_may_describe_the_law_of_the_recordings_under_a_name_of_its_own() -> None:
    """As `bam servos new` writes it."""
    own = dataclasses.replace(XL330, firmware=dataclasses.replace(XL330.firmware, name="own"))
    logs = [recording(), recording(firmware=XL330.firmware.name)]
    require_same_servo(own, logs)
    assert other_servos(own, logs) == []
    stiffer = dataclasses.replace(own.firmware, duty_per_kp_rad=1.1 * own.firmware.duty_per_kp_rad)
    with refused(Conflict, thing="servo xl330"):
        require_same_servo(dataclasses.replace(own, firmware=stiffer), logs)
