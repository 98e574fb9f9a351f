# SPDX-License-Identifier: Apache-2.0
"""The parts of the master that need no wire: periods, counts, messages, settings, the interface's checks."""

from __future__ import annotations

import json
import math
import socket
import time
from pathlib import Path

import pytest

from bam_core.errors import BamError, Conflict, Missing, OutOfRange, Unsupported, WrongShape
from bam_core.servo.model import load_servo
from bam_ros.driver.servo_bus import BusGone
from bam_ros.erob.commissioning import interpolation_period
from bam_ros.erob.cycle_statistics import CycleStatistics
from bam_ros.erob.interface import (
    InterfaceClaim,
    missing_capabilities,
    no_permission,
    packet_sockets,
    require_interface,
)
from bam_ros.erob.master_settings import MasterSettings
from bam_ros.erob.messages import (
    AxisGoal,
    AxisSample,
    Goals,
    Note,
    Samples,
    failure,
    failure_note,
    receive,
    released,
    send,
    unpack,
)
from bam_ros.erob.pacing import Pacer, phase
from bam_ros.erob.settings import ErobSettings

MILLISECOND = 1_000_000


def test_periods_start_on_the_grid_and_never_before() -> None:
    pacer = Pacer(MILLISECOND, time.monotonic_ns())
    for _ in range(50):
        began, _ = pacer.wait()
        assert began >= pacer.deadline


def test_missed_periods_are_counted_and_not_caught_up() -> None:
    start = time.monotonic_ns()
    pacer = Pacer(MILLISECOND, start)
    pacer.wait()
    time.sleep(0.0205)
    _, missed = pacer.wait()
    assert missed >= 18
    assert (pacer.deadline - start) % MILLISECOND == 0
    before = pacer.deadline
    pacer.wait()
    assert pacer.deadline > before


def test_a_sleep_that_lasted_too_long_is_noticed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pacer = Pacer(MILLISECOND, time.monotonic_ns())
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: sleep(0.02))
    assert pacer.wait()[1] >= 18


@pytest.mark.parametrize("drift", [-50e-6, 0.0, 50e-6])
@pytest.mark.parametrize("start", [-400_000, 3_000, 400_000])
def test_the_grid_follows_a_clock_that_drifts(drift: float, start: int) -> None:
    pacer = Pacer(MILLISECOND, start)
    offsets = []
    for _ in range(6000):
        pacer.deadline += pacer.period
        clock = round(pacer.deadline * (1.0 + drift))
        offset = phase(clock, MILLISECOND)
        offsets.append(offset)
        pacer.follow(offset)
    assert max(map(abs, offsets[-1000:])) < 1000  # ns


def test_the_phase_is_signed() -> None:
    assert phase(5 * MILLISECOND + 7, MILLISECOND) == 7
    assert phase(5 * MILLISECOND - 7, MILLISECOND) == -7


@pytest.mark.parametrize(
    ("period", "expected"),
    [(1_000_000, (1, -3)), (500_000, (5, -4)), (2_000_000, (2, -3)), (1_250_000, (125, -5))],
)
def test_a_period_is_told_to_drives_as_a_count_and_a_power_of_ten(
    period: int, expected: tuple[int, int]
) -> None:
    assert interpolation_period(period) == expected
    with pytest.raises(OutOfRange):
        interpolation_period(period + 1)


def test_percentiles_are_those_of_what_was_counted() -> None:
    statistics = CycleStatistics()
    for deviation in range(1000):  # µs
        statistics.period(-deviation * 1000 - 400)
    found = statistics.percentiles()
    assert found["p50"] == pytest.approx(500.0)
    assert found["p99"] == pytest.approx(990.0)
    assert found["p99.9"] == pytest.approx(999.0)
    assert found["max"] == pytest.approx(999.4)
    assert found["p99.9"] <= found["max"]


def test_counts_before_the_first_cycle_are_zero_and_every_loss_has_its_kind() -> None:
    statistics = CycleStatistics()
    assert set(statistics.percentiles().values()) == {0.0}
    statistics.sent, statistics.answered = 10, 4
    statistics.unanswered, statistics.wrong, statistics.stale = 1, 2, 3
    summary = statistics.summary()
    assert summary["sent"] == summary["answered"] + summary["lost"]
    assert json.loads(json.dumps(summary)) == summary


def test_messages_come_back_as_they_were() -> None:
    goals = Goals(7, (AxisGoal(True, 0.5, 20.0, 8.9), AxisGoal(False, -1.0, 0.0, 0.0)))
    sample = AxisSample(1.0, -2.0, 3.0, 4.0, 48.0, 0.5, False, True, 0x1237, 0x2310)
    samples = Samples(7, 2**40, 1_700_000_000_000_000_000, 12345, (sample, sample._replace(enabled=False)))
    note = Note("answer", {"id": 3, "error": "Ω"})
    for message in (goals, samples, note):
        assert unpack(message.pack()) == message
    assert math.isnan(unpack(Goals(1, (AxisGoal(True, math.nan, 1.0, 1.0),)).pack()).axes[0].position)  # type: ignore[union-attr]
    assert [axis.enable for axis in released(8, goals.axes).axes] == [False, False]


def test_an_error_keeps_type_and_attributes_on_its_way_to_the_node() -> None:
    error = BusGone("interface eth0", "is down", expected="up", advice="switch it on").within("master")
    message = unpack(failure_note(error).pack())
    assert isinstance(message, Note)
    found = failure(message)
    assert isinstance(found, BusGone)
    assert (str(found), found.thing, found.problem) == (str(error), "interface eth0", "is down")


def test_a_link_keeps_order_never_blocks_and_tells_the_end() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        assert receive(ours) is None
        sent = 0
        while sent < 100_000 and send(ours, Goals(sent, (AxisGoal(True, 0.0, 0.0, 0.0),))):
            sent += 1
        assert 10 < sent < 100_000  # then the other end is given up on, for now
        for number in range(sent):
            message = receive(theirs)
            assert isinstance(message, Goals)
            assert message.number == number
        theirs.close()
        with pytest.raises(EOFError):
            receive(ours)
        with pytest.raises(OSError, match="pipe"):
            send(ours, Note("stop", {}))


def test_settings_reach_the_master_unchanged() -> None:
    settings = ErobSettings(
        interface="eth9",
        joints=("a", "b"),
        positions=(2, 1),
        servos=("erob80_50", "erob80_100"),
        zeros=(0.1,),
    ).master()
    assert MasterSettings.of(json.loads(json.dumps(settings.plain()))) == settings
    assert [axis.position for axis in settings.axes] == [2, 1]
    assert [axis.limits.torque_constant for axis in settings.axes] == [
        load_servo(name).motor.torque_constant for name in ("erob80_50", "erob80_100")
    ]
    assert settings.axes[1].encoder.zero == 0.1
    assert settings.period == MILLISECOND


@pytest.mark.parametrize(
    ("changes", "kind", "line"),
    [
        ({"joints": ("a", "a"), "positions": (1, 2)}, WrongShape, "joint_names: "),
        ({"joints": ()}, WrongShape, "joint_names: "),
        ({"positions": (1, 2)}, WrongShape, "positions: is 2 positions for 1 joint_names"),
        ({"positions": (0,)}, OutOfRange, "positions: is 0 (expected 1 to 199)"),
        ({"servos": ("mx106",)}, Unsupported, "servos: mx106 "),
        ({"servos": ("erob80",)}, BamError, "servo 'erob80': "),
        ({"servos": ("erob80_50", "erob80_100")}, WrongShape, "servos: is 2 entries"),
        ({"zeros": (math.nan,)}, OutOfRange, "zeros: "),
        ({"kp": -1.0}, OutOfRange, "kp: is -1 A/rad (expected 0 to 1000)"),
        ({"kp": math.nan}, OutOfRange, "kp: is nan A/rad"),
        ({"rate": 5000.0}, OutOfRange, "cycle_rate: is 5000 1/s (expected 100 to 2000"),
        ({"node_timeout": 60.0}, OutOfRange, "node_timeout: is 60 s (expected 0.1 to 5"),
        ({"rate": 99.0, "watchdog": 1.0}, OutOfRange, "cycle_rate: is 99 1/s"),
        ({"rate": 5.0, "watchdog": 1.0}, OutOfRange, "cycle_rate: is 5 1/s"),
        ({"rate": 0.0}, OutOfRange, "cycle_rate: is 0 1/s"),
        ({"limits": ((1.0, 1.0),)}, OutOfRange, "limits: is 1 to 1 rad"),
        ({"limits": ((-1.0, 1.0),) * 2}, WrongShape, "limits: is 2 entries"),
        ({"speed_limit": 0.0}, OutOfRange, "speed_limit: is 0 rad/s"),
        ({"following_error": math.nan}, OutOfRange, "following_error: is nan rad"),
        ({"watchdog": 0.001}, OutOfRange, "watchdog: is 0.001 s (expected 0.005"),
        ({"answer_timeout": 0.06}, OutOfRange, "answer_timeout: is 0.06 s"),
        ({"layout": "default"}, Conflict, "layout default: "),
    ],
)
def test_wrong_settings_are_named_with_their_cure(
    changes: dict[str, object], kind: type[BamError], line: str
) -> None:
    with pytest.raises(kind) as caught:
        ErobSettings(**{"interface": "eth9", **changes}).master()  # type: ignore[arg-type]
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_an_interface_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(Missing) as missing:
        require_interface("")
    assert missing.value.thing == "interface"
    with pytest.raises(BusGone) as gone:
        require_interface("eth_nowhere")
    assert gone.value.thing == "interface eth_nowhere"
    with pytest.raises(Unsupported) as caught:
        require_interface("lo")
    assert caught.value.thing == "interface lo"


@pytest.mark.parametrize(
    ("held", "missing"),
    [
        (0x0, ("CAP_NET_RAW", "CAP_NET_ADMIN")),
        (1 << 13, ("CAP_NET_ADMIN",)),
        (1 << 12, ("CAP_NET_RAW",)),
        (0x1FFFFFFFFFF, ()),
    ],
)
def test_the_capabilities_that_are_missing_are_told_exactly(
    held: int, missing: tuple[str, ...], tmp_path: Path
) -> None:
    status = tmp_path / "status"
    status.write_text(f"Name:\tbam\nCapPrm:\t0000000000000000\nCapEff:\t{held:016x}\n")
    assert missing_capabilities(status) == missing
    told = str(no_permission("eth9", status))
    assert f"missing {' and '.join(missing) or 'neither'}" in told
    assert "setpriv" in told


def test_a_drive_whose_ratings_belong_to_another_gear_is_a_warning() -> None:
    settings = ErobSettings(
        interface="eth9",
        joints=("a", "b", "c"),
        positions=(1, 2, 3),
        servos=("erob80_100", "erob80_50", "erob80_100"),
    )
    assert settings.warnings([(6.0, 56.4), (6.0, 29.4), (6.0, math.nan)]) == ()
    first, second = settings.warnings([(6.0, 29.4), (6.0, 56.4), (6.0, 50.0)])
    assert (first.joint, first.position, first.servo) == ("a", 1, "erob80_100")
    assert (first.torque, first.current) == (29.4, 6.0)
    assert first.torque_constant == pytest.approx(9.44, abs=0.01)
    assert (second.joint, second.position, second.servo) == ("b", 2, "erob80_50")


def test_a_claim_keeps_other_masters_out_until_it_is_released() -> None:
    first = InterfaceClaim("test_claim")
    with pytest.raises(Conflict, match=r"process \d+"):
        InterfaceClaim("test_claim")
    InterfaceClaim("test_claim_2").release()
    first.release()
    InterfaceClaim("test_claim").release()


def test_looking_for_raw_sockets_leaves_nothing_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(10):
        packet_sockets()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
