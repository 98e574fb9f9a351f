# SPDX-License-Identifier: Apache-2.0
"""What the help of nodes adds to parameters, in words."""

from __future__ import annotations

from bam_ros.text.parameter_words import (
    OrphanReleased,
    QosOverridesIgnored,
    SharedParametersIgnored,
    bounds_words,
)


def test_a_parameter_has_its_range_and_whether_it_may_change() -> None:
    assert bounds_words(1.0, 1000.0, read_only=True) == " [1 to 1000]"
    assert bounds_words(0.0, 0.5, read_only=False) == " [0 to 0.5]; may change while the node runs"
    assert bounds_words(None, None, read_only=False) == "; may change while the node runs"
    assert bounds_words(None, None, read_only=True) == ""


def test_parameters_without_effect_are_named_in_one_line() -> None:
    assert str(SharedParametersIgnored(names=("a", "b"))) == (
        "parameters of other nodes, from a section for several nodes, are ignored: a, b"
    )
    assert str(QosOverridesIgnored(names=("qos_overrides./x.publisher.depth",))) == (
        "qos_overrides./x.publisher.depth: without effect (expected qos_overrides./TOPIC.publisher or"
        " .subscription, then .depth, .history or .reliability); write the topic's full name"
    )


def test_joints_that_nobody_holds_any_more_are_named_with_the_parameter() -> None:
    assert str(OrphanReleased(joints=("hip", "knee"), seconds=60.0)) == (
        "hip, knee: torque off, the terminal that started this node has gone and no client has commanded them"
        " for 60 s (parameter orphan_hold_time); send a new goal to go on"
    )
