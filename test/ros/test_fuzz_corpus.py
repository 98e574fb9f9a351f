# SPDX-License-Identifier: Apache-2.0
"""Inputs that once broke something, and those that `make fuzz` begins with, replayed without its engine."""

from __future__ import annotations

import logging
import sys

import pytest

from bam_core.errors import BamError
from test.fuzz.counting import Count, told
from test.fuzz.limits import HangError, limited
from test.fuzz.run import Outcome
from test.fuzz.target import CORPUS, Target, attempt, load_target, target_names


@pytest.mark.parametrize("name", target_names())
def test_no_input_breaks_a_property(name: str) -> None:
    target = load_target(name)
    reset = getattr(sys.modules[f"test.fuzz.targets.{name}"], "reset", lambda: None)
    with limited():
        for data in target.seeds():
            target.check(data)
    for path in sorted((CORPUS / name).glob("*")):
        reset()
        with limited():
            target.check(path.read_bytes())


def test_every_target_has_a_corpus_and_none_is_left_over() -> None:
    assert sorted(path.name for path in CORPUS.iterdir()) == target_names()
    for path in CORPUS.rglob("*"):
        assert path.is_dir() or path.stat().st_size <= 10_000, path


def test_a_line_break_in_an_error_is_a_finding() -> None:
    def work() -> None:
        error = BamError("a: b")
        error.args = ("a: b\nc",)
        raise error

    with pytest.raises(AssertionError, match="not one line"):
        attempt(work)


def test_log_lines_are_composed_and_later_ones_are_seen_again(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("bam_core.any")
    with pytest.raises(TypeError):
        attempt(lambda: log.warning("%d", "no number"))
    attempt(lambda: log.warning("inside"))
    log.warning("after")
    assert [record.getMessage() for record in caplog.records] == ["after"]


def test_another_exception_is_a_finding() -> None:
    with pytest.raises(KeyError):
        attempt(lambda: {}["a"])


def test_memory_of_an_input_is_limited() -> None:
    with pytest.raises(AssertionError, match="MB"), limited(most=1 << 26):
        assert len(b"a" * (1 << 26) + b"b") > 1


def test_time_of_an_input_is_limited() -> None:
    with pytest.raises(HangError), limited(longest=0.05):
        _hang()


def test_an_input_that_hangs_ends_a_search() -> None:
    target = Target(check=lambda _: _hang(), seeds=list, modules=(), runs=1)
    count = Count(target, replayed=0, wanted=9, seconds=0.0, longest=0.05)
    try:
        with pytest.raises(HangError):
            count.check(b"")
    finally:
        count.close()


def _hang() -> None:
    while True:
        pass


def test_a_segment_is_as_new_for_every_input() -> None:
    from test.fuzz.targets import ethercat_frames

    fixture = ethercat_frames._fixture()

    def state() -> list[object]:
        found: list[object] = [fixture.wire.now]
        for slave in fixture.wire.segment.slaves:
            objects = slave.dictionary
            values = [entry.value for index in objects for entry in objects.subentries(index).values()]
            managers = [vars(manager).copy() for manager in slave.controller.sync_managers]
            found += [bytes(slave.controller.memory), slave.states.state, slave.bench.state.tobytes()]
            found += [
                values,
                managers,
                slave.due,
                slave.drive.torque_enabled,
                slave.controller.station_address,
            ]
        return found

    fixture.reset()
    before, changes = state(), 0
    for data in ethercat_frames.seeds():
        ethercat_frames.check(data)
        changes += state() != before
        fixture.reset()
        assert state() == before, data
    assert changes > 50


@pytest.mark.parametrize("flags", [2, 3, 6], ids=["mx106", "xl330", "sts3215"])
def test_a_bus_is_as_new_for_every_input(flags: int) -> None:
    from test.fuzz.targets import dynamixel_requests

    fixture = dynamixel_requests._fixture(dynamixel_requests._servo(flags)[0], True)

    def state() -> list[object]:
        bus = fixture.bus
        found: list[object] = [fixture.now, bus._last, [parser._buffer for parser in bus._parsers.values()]]
        for servo in bus.servos:
            bench, plain = servo.bench, (int, float, list, type(None))
            fields = {name: each for name, each in vars(servo).items() if isinstance(each, plain)}
            found += [bytes(servo.registers.data), fields, bench.time]
            found += [each.tobytes() for each in (bench.state, bench.commands, bench._window)]
        return found

    fixture.reset()
    before, changes = state(), 0
    for data in dynamixel_requests.seeds():
        if data[0] == flags:
            dynamixel_requests.check(data)
            changes += state() != before
            fixture.reset()
            assert state() == before, data
    assert changes > 50


def test_packets_count_and_inputs_of_earlier_runs_do_not() -> None:
    target = Target(check=len, seeds=list, modules=(), runs=100)
    count = Count(target, replayed=2, wanted=100, seconds=0.0)
    for data in (b"", b"again", b"new", b"newer"):
        count.check(data)
    count.close()
    assert (count.inputs, count.packets) == (2, 8)
    assert told("INFO: x\n#9 NEW cov: 3\nfuzzed 2 8 120\n") == (2, 8, 120)
    assert told("#9 NEW cov: 3\n") is None


def test_counts_go_on_from_an_earlier_run() -> None:
    def outcome(inputs: int, packets: int, wanted: int, coverage: int) -> Outcome:
        return Outcome(
            target="a",
            inputs=inputs,
            packets=packets,
            wanted=wanted,
            coverage=coverage,
            corpus=5,
            memory=80,
            seconds=1.5,
            findings=[],
        )

    assert outcome(3, 4, 6, 40).after(outcome(10, 14, 20, 50)) == Outcome(
        target="a",
        inputs=13,
        packets=18,
        wanted=20,
        coverage=50,
        corpus=5,
        memory=80,
        seconds=3.0,
        findings=[],
    )
