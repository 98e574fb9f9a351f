# SPDX-License-Identifier: Apache-2.0
"""Models beside recordings of something else, in words."""

from __future__ import annotations

from bam_core.text.model_findings import OtherServo


def test_another_servo_is_named_as_is_another_law() -> None:
    servo = OtherServo(kind="other_servo", servo="mx106", firmware="mx106", others=("xl330", "xm430"))
    assert servo.sentence == "Servo model 'mx106' is compared with recordings of 'xl330', 'xm430'."
    law = OtherServo(kind="other_law", servo="mx106", firmware="mx106", others=("xl330",))
    assert law.sentences[1] == "It is compared with recordings under xl330."
