# SPDX-License-Identifier: Apache-2.0
"""What was found in recordings, in words: how many, how much, what to do."""

from __future__ import annotations

from pathlib import Path

from bam_core.text.left_out import LeftOut, Reason
from bam_core.text.recording_findings import (
    Interrupted,
    LatePositions,
    OtherLag,
    ReadingsLeftOut,
    Repeated,
    SampleGaps,
    SupplyContradicted,
    SupplyNotMeasured,
    UnmetRule,
)


def test_positions_of_another_clock_have_its_period() -> None:
    whole = LatePositions(names=("a", "b"), total=2, periods=(0.008, 0.00801), median=0.008)
    assert whole.sentence == "All 2 recordings: position refreshes every 8.0 ms. Timestamps were corrected."
    some = LatePositions(names=("a", "b"), total=3, periods=(0.008, 0.012), median=0.01)
    assert some.sentences[0] == "2 of 3 recordings: position refreshes every 8.0 to 12.0 ms."
    robot = LatePositions(names=("run",), total=1, periods=(0.008,), median=0.008, joints=("elbow",))
    assert robot.sentences[0] == "run: position of elbow refreshes every 8.0 ms."


def test_a_supply_that_was_not_measured_has_its_cure() -> None:
    finding = SupplyNotMeasured(
        names=("a", "b"), total=3, given=(10.0, 10.0), measured=(7.3, 7.4), median=7.35, is_set=False
    )
    assert finding.sentences == (
        "vin: 10 V in the header of 2 of 3 recordings.",
        "Their servo measured 7.3 to 7.4 V, which simulations use.",
        "Correct it with --set vin=7.35, or a bench.yaml.",
    )


def test_a_supply_that_was_given_says_what_motors_will_seem() -> None:
    finding = SupplyContradicted(
        names=("a",), total=2, source="--vin", given=(12.0,), recorded=(14.7,), error=-0.18
    )
    assert finding.sentences[:2] == (
        "vin: 12 V given by --vin, 14.7 V recorded (a).",
        "Motors will seem up to 18 % stronger than they are.",
    )


def test_readings_left_out_are_counted_and_few_recordings_named() -> None:
    false = LeftOut(kind=Reason.SPIKE, channel="position", samples=1, first=100)
    finding = ReadingsLeftOut(names=("a",), total=12, channels=(("position", 2),), details=((false, false),))
    assert finding.sentences == (
        "Readings that cannot be right are left out of 1 of 12 recordings (2 of position).",
        f"a: {false.phrase} and {false.phrase}.",
    )


def test_gaps_and_lags_have_their_times() -> None:
    gap = SampleGaps(names=("a",), total=2, gaps=((0.08, 0.1),))
    assert gap.sentences[:2] == (
        "No samples for a while in 1 of 2 recordings.",
        "The longest: a: 0.08 s at 0.10 s.",
    )
    lag = OtherLag(names=("a",), total=4, lags=(0.07,), usual=(0.02,))
    assert lag.sentences[1:3] == ("Lags: a: 70 ms.", "In most others it is 20 ms.")


def test_a_rule_that_sets_nothing_has_its_condition() -> None:
    finding = UnmetRule(source=Path("bench.yaml"), where=(("mass", 0.4), ("script", "sin_sin")))
    assert finding.sentences[0] == (
        "bench.yaml: no recording has mass 0.4, script sin_sin, so that rule sets nothing."
    )


def test_files_that_count_once_or_end_early_are_named() -> None:
    path = Path("cut")
    assert Repeated(kind="given_twice", source=path).sentence == "cut: given twice, counted once."
    assert Repeated(kind="same_data", source=path, duplicate_of=Path("b")).sentence == (
        "cut: holds the same data as b, counted once."
    )
    assert "passed over (it ends early)" in Interrupted(kind="ends_early", source=path).sentence
    assert (
        "it has 2.0 s of 6.0 s." in Interrupted(kind="cut", source=path, duration=2.0, planned=6.0).sentence
    )
