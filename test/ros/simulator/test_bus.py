# SPDX-License-Identifier: Apache-2.0
"""The simulated bus keeps the promises of `ServoBus`: goals, encoder counts, release, gains, reset."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import BamError, Conflict, OutOfRange, Unavailable, UnknownName, Unsupported
from bam_core.mujoco import load_diverged_run
from bam_core.mujoco.actuation import NotFiniteError
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.loop_settings import LoopSettings
from bam_ros.driver.servo_bus import Gains, ServoGoal, ServoSample
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.dynamixel.control_table import CONTROL_TABLES, require_position_gain
from bam_ros.simulator.bus import Diverged, MujocoBus
from bam_ros.simulator.settings import SimulationSettings
from bam_ros.simulator.speed_meter import SpeedMeter
from bam_ros.simulator.world import World
from bam_ros.text.simulator_notices import SimulationOpened
from test.ros.simulator_time import FakeTime

SETTINGS = SimulationSettings(servos={"joint": load_servo("mx106")}, real_time_factor=0.0)
RESOLUTION = 2.0 * math.pi / 4096

TWO_LINKS = """
<mujoco>
  <worldbody>
    <body>
      <joint name="shoulder" axis="1 0 0" range="-60 60"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.15" mass="0.1"/>
      <body pos="0 0 -0.17">
        <joint name="elbow" axis="1 0 0"/>
        <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.15" mass="0.1"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="elbow" kp="10"/>
  </actuator>
</mujoco>
"""


def opened(**changes: object) -> MujocoBus:
    bus = MujocoBus(dataclasses.replace(SETTINGS, **changes))
    bus.open()
    return bus


def goal(position: float, torque: bool = True) -> ServoGoal:
    return ServoGoal(torque_enable=(torque,), position=(position,))


def exchange(bus: MujocoBus, wish: ServoGoal, count: int) -> list[ServoSample]:
    return [bus.exchange(wish) for _ in range(count)]


@pytest.mark.parametrize(
    ("factor", "simulated", "warned"),
    [(0.9, False, True), (0.9, True, False), (1.0, False, False), (0.0, False, False)],
)
def test_stamps_of_another_speed_than_the_simulations_are_warned_of(
    factor: float, simulated: bool, warned: bool
) -> None:
    settings = dataclasses.replace(SETTINGS, real_time_factor=factor, simulated_stamps=simulated)
    assert ("publish_clock:=true" in settings.time_warning) == warned


def test_the_arm_follows_its_goal() -> None:
    bus = opened()
    last = exchange(bus, goal(0.5), 500)[-1]
    assert last.position[0] == pytest.approx(0.5, abs=0.03)
    assert last.goal_position == (0.5,)
    assert last.torque_enabled == (True,)
    assert last.duty[0] != 0.0
    assert last.current[0] == pytest.approx(last.effort[0] / load_servo("mx106").motor.torque_constant)
    assert last.voltage == (15.0,)


def test_torque_is_off_after_opening_and_after_release() -> None:
    bus = opened()
    assert bus.exchange(ServoGoal.released(1)).torque_enabled == (False,)
    exchange(bus, goal(1.5), 300)
    bus.release()
    sample = exchange(bus, ServoGoal.released(1), 3)[-1]
    assert sample.torque_enabled == (False,)
    assert (sample.duty, sample.current) == ((0.0,), (0.0,))
    fallen = exchange(bus, ServoGoal.released(1), 2000)[-1]
    assert abs(fallen.position[0]) < 0.3


def test_positions_are_whole_encoder_counts() -> None:
    counts = np.array([sample.position[0] for sample in exchange(opened(), goal(0.5), 300)]) / RESOLUTION
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    assert len(set(counts.tolist())) > 50


def test_a_goal_that_is_no_number_keeps_the_one_in_force() -> None:
    bus = opened()
    assert math.isnan(bus.exchange(ServoGoal.released(1)).goal_position[0])
    exchange(bus, goal(0.3), 300)
    assert exchange(bus, goal(math.nan), 300)[-1].position[0] == pytest.approx(0.3, abs=0.03)


def test_a_reboot_releases_one_servo_and_forgets_its_goal() -> None:
    bus = opened()
    (name,) = bus.names
    before = exchange(bus, goal(0.5), 500)[-1]
    assert math.isfinite(before.goal_position[0])
    bus.reboot(name)
    # No client switches torque on without a goal; here it shows that the one of before is gone.
    assert math.isnan(bus.exchange(goal(math.nan)).goal_position[0])


@pytest.mark.parametrize("way_out", ["goal", "release", "reboot"])
def test_no_goal_outlives_its_torque(way_out: str) -> None:
    bus = opened()
    exchange(bus, goal(0.5), 500)
    if way_out == "release":
        bus.release()
    elif way_out == "reboot":
        bus.reboot(bus.names[0])
    hung = exchange(bus, ServoGoal.released(1), 2000)[-1]
    assert math.isnan(hung.goal_position[0])
    loop = ServoLoop(bus, LoopSettings(torque_on_speed=0.5), lambda *_: None, lambda *_: None)
    loop.step()
    loop.take({0: JointCommand(torque_enable=True)})  # to hold, wherever it is
    for _ in range(100):
        loop.step()
    assert loop.sample is not None
    assert loop.sample.torque_enabled == (True,)
    assert loop.sample.goal_position == hung.position
    assert loop.sample.position[0] == pytest.approx(hung.position[0], abs=0.02)


def test_one_exchange_is_one_period_and_stamps_follow() -> None:
    bus = opened(period=4e-3, simulated_stamps=True)
    stamps = [sample.stamp for sample in exchange(bus, goal(0.0), 10)]
    assert {b - a for a, b in itertools.pairwise(stamps)} == {4_000_000}
    assert bus.clock == pytest.approx(0.04)


def test_a_gain_changes_how_far_the_arm_sags() -> None:
    sags = []
    for kp in (8.0, 32.0):
        bus = opened()
        assert bus.set_gains("joint", Gains(kp=kp, ki=0.0, kd=0.0)) == Gains(kp=kp, ki=0.0, kd=0.0)
        sags.append(1.5 - exchange(bus, goal(1.5), 1500)[-1].position[0])
    assert sags[0] > 1.5 * sags[1] > 0.0


def test_a_derivative_gain_damps_the_arm_and_is_kept_over_a_reset() -> None:
    beyond = []
    for kd in (0.0, 254.0):
        bus = opened()
        assert bus.set_gains("joint", Gains(kp=32.0, ki=0.0, kd=kd)) == Gains(kp=32.0, ki=0.0, kd=kd)
        beyond.append(max(sample.position[0] for sample in exchange(bus, goal(0.3), 300)))
        bus.reset()
        assert bus.read_gains("joint").kd == kd
    assert beyond[1] < 0.9 * beyond[0]


def test_an_integral_gain_lifts_the_arm_to_its_goal_and_is_kept_over_a_reset() -> None:
    sags = []
    for ki in (0.0, 32.0):
        bus = opened()
        assert bus.set_gains("joint", Gains(kp=8.0, ki=ki, kd=0.0)) == Gains(kp=8.0, ki=ki, kd=0.0)
        sags.append(abs(1.5 - exchange(bus, goal(1.5), 3000)[-1].position[0]))
        bus.reset()
        assert bus.read_gains("joint").ki == ki
    assert sags[1] < 0.2 * sags[0]


def test_a_lower_supply_lets_the_arm_sag_further_and_is_reported() -> None:
    """The duty that an error of position brings is a share of the supply."""
    samples = [exchange(opened(supply_voltage=volts), goal(1.5), 1500)[-1] for volts in (0.0, 6.0)]
    assert [sample.voltage for sample in samples] == [(15.0,), (6.0,)]
    sags = [1.5 - sample.position[0] for sample in samples]
    assert sags[1] > 1.5 * sags[0] > 0.0


@pytest.mark.parametrize(
    ("name", "gains", "kind"),
    [
        ("elbow", Gains(kp=1, ki=0, kd=0), UnknownName),
        ("joint", Gains(kp=-1, ki=0, kd=0), OutOfRange),
        ("joint", Gains(kp=math.nan, ki=0, kd=0), OutOfRange),
        ("joint", Gains(kp=255, ki=0, kd=0), OutOfRange),  # an MX-106's register ends at 254
        ("joint", Gains(kp=5000, ki=0, kd=0), OutOfRange),
        ("joint", Gains(kp=1, ki=-2, kd=0), OutOfRange),
        ("joint", Gains(kp=1, ki=math.inf, kd=0), OutOfRange),
        ("joint", Gains(kp=1, ki=0, kd=-1), OutOfRange),
    ],
)
def test_impossible_gains_are_refused(name: str, gains: Gains, kind: type[BamError]) -> None:
    with pytest.raises(kind):
        opened().set_gains(name, gains)


def test_gains_have_the_limit_of_the_servo_s_control_table_in_simulator_and_driver() -> None:
    with pytest.raises(OutOfRange) as caught:
        opened(kp=5000.0)
    with pytest.raises(OutOfRange) as of_driver:
        require_position_gain(CONTROL_TABLES["mx106"], "joint", "position_p_gain", 5000.0)
    assert str(caught.value) == str(of_driver.value)
    assert opened(kp=254.0).read_gains("joint").kp == 254.0


def test_pause_holds_the_state_and_steps_advance_it() -> None:
    bus = opened(initial_position={"joint": 1.0})
    exchange(bus, ServoGoal.released(1), 50)
    with pytest.raises(Conflict):
        bus.step()
    assert bus.figures["paused"] == "no"
    bus.paused = True
    assert bus.figures["paused"] == "yes"
    before, clock = bus.exchange(goal(0.0)), bus.clock
    assert bus.exchange(goal(0.0)).position == before.position
    for _ in range(30):
        bus.step()
    assert bus.clock == pytest.approx(clock + 0.03)
    assert bus.exchange(goal(0.0)).position != before.position
    bus.paused = False
    exchange(bus, goal(0.0), 5)
    assert bus.clock > clock + 0.035


def test_reset_returns_to_the_start_but_never_turns_the_clock_back() -> None:
    bus = opened(initial_position={"joint": 0.7})
    start = bus.exchange(ServoGoal.released(1)).position[0]
    exchange(bus, goal(0.0), 200)
    clock = bus.clock
    bus.reset()
    sample = bus.exchange(ServoGoal.released(1))
    assert sample.position[0] == pytest.approx(start, abs=2 * RESOLUTION)
    assert sample.torque_enabled == (False,)
    assert bus.clock > clock


def test_gains_outlive_a_reset() -> None:
    bus = opened()
    bus.set_gains("joint", Gains(kp=5, ki=0, kd=0))
    bus.reset()
    assert 1.5 - exchange(bus, goal(1.5), 1500)[-1].position[0] > 0.1


def test_servos_begin_with_the_gain_of_their_factory() -> None:
    sags = [
        1.5 - exchange(bus, goal(1.5), 1500)[-1].position[0]
        for bus in (opened(), opened(kp=32.0), opened(kp=4.0))
    ]
    assert sags[0] == sags[1]
    assert sags[2] > sags[0] + 0.1


def test_another_load_sags_further() -> None:
    bus = opened(kp=4.0)
    light = 1.5 - exchange(bus, goal(1.5), 1500)[-1].position[0]
    bus.set_load(PendulumBench(mass=2.0, length=0.3))
    assert bus.bench == PendulumBench(mass=2.0, length=0.3)
    heavy = 1.5 - exchange(bus, goal(1.5), 1500)[-1].position[0]
    assert heavy > 0.2 + light


def test_it_runs_in_real_time() -> None:
    time = FakeTime()
    began = time.now
    bus = opened(real_time_factor=1.0)
    bus._pacer = time.pacer(1.0)
    samples = exchange(bus, goal(0.0), 50)
    timestep = bus.world.actuation.model.opt.timestep
    assert bus.clock >= 50 * 2e-3 - timestep
    assert bus.clock == pytest.approx(time.now - began, abs=timestep)
    assert samples[-1].stamp == pytest.approx(time.now * 1e9, abs=timestep * 1e9)
    assert bus.warnings == ()


def test_any_robot_file_will_do(tmp_path: Path) -> None:
    file = tmp_path / "arm.xml"
    file.write_text(TWO_LINKS)
    servos = {"elbow": load_servo("mx64"), "shoulder": load_servo("mx106")}
    bus = opened(servos=servos, model=str(file), initial_position={"shoulder": 0.2})
    assert bus.names == ("elbow", "shoulder")
    assert bus.position_limits[0] == (-math.pi, math.pi)
    assert bus.position_limits[1] == pytest.approx((-math.pi / 3, math.pi / 3))
    wish = ServoGoal(torque_enable=(True, True), position=(0.4, -0.3))
    for _ in range(500):
        sample = bus.exchange(wish)
    assert sample.position == pytest.approx((0.4, -0.3), abs=0.05)
    with pytest.raises(Unsupported):
        bus.set_load(PendulumBench(mass=1.0, length=0.1))


def test_mistakes_are_one_line() -> None:
    bus = MujocoBus(dataclasses.replace(SETTINGS, model="nowhere.xml"))
    with pytest.raises(BamError, match=r"^nowhere\.xml: "):
        bus.open()
    with pytest.raises(Unavailable, match="not open"):
        bus.exchange(ServoGoal.released(1))
    bus.release()
    bus.close()
    bus.close()


def test_a_model_that_lacks_a_mesh_which_gives_an_inertia_is_named_by_its_file(tmp_path: Path) -> None:
    model = tmp_path / "robot.xml"
    mesh = '<mujoco><asset><mesh name="m" file="lost.stl"/></asset>'
    capsule = '<geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.15" mass="0.1"/>'
    without = TWO_LINKS.replace(capsule, '<geom type="mesh" mesh="m"/>', 1)
    model.write_text(without.replace("<mujoco>", mesh))
    with pytest.raises(BamError, match=r"robot\.xml: .*lost\.stl"):
        opened(model=str(model), servos=dict.fromkeys(("shoulder", "elbow"), load_servo("mx64")))


def test_a_simulation_that_diverges_loses_the_bus_until_it_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # left to itself, MuJoCo logs to the working directory, and prints
    bus = opened(dump_directory=str(tmp_path))
    bus.exchange(goal(0.0))
    bus._simulation().data.qvel[0] = math.nan
    with pytest.raises(Diverged) as diverged:
        bus.exchange(goal(0.0))
    assert isinstance(diverged.value.cause, NotFiniteError)
    with pytest.raises(Unavailable, match="not open"):
        bus.exchange(goal(0.0))
    bus.open()
    assert math.isfinite(bus.exchange(goal(0.0)).position[0])
    (dump,) = tmp_path.glob("diverged_*.npz")
    assert load_diverged_run(dump).reason == str(diverged.value.cause)
    assert list(tmp_path.iterdir()) == [dump]
    assert "WARNING" not in capfd.readouterr().err


def test_where_no_file_can_be_left_the_error_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    bus = opened(dump_directory=str(tmp_path / "file"))
    bus._simulation().data.qvel[0] = math.nan
    with pytest.raises(
        Unavailable, match=r"no longer finite.*; its last moments are lost: .*cannot be written"
    ):
        bus.exchange(goal(0.0))


def test_a_robot_that_diverges_all_the_time_does_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bus = opened(dump_directory=str(tmp_path))
    for k in range(12):
        exchange(bus, ServoGoal.released(1), k)  # else it is the same divergence again
        bus._simulation().data.qvel[0] = math.nan
        with pytest.raises(Unavailable):
            bus.exchange(goal(0.0))
        bus.open()
    assert len(list(tmp_path.glob("diverged_*.npz"))) == 10


FOLDING = """<mujoco><compiler angle="radian"/><worldbody>
<body name="upper"><geom type="capsule" fromto="0 0 0 0 0 -.1" size=".02"/>
<body name="bracket" pos="0 0 -.1"><joint name="elbow" axis="0 1 0"/><geom type="sphere" size=".005"/>
<body name="tip" pos="0 0 -.12"><joint axis="0 1 0"/><geom type="sphere" size=".02"/></body></body></body>
</worldbody><keyframe><key name="straight" qpos="0 0"/><key name="folded" qpos="3 0"/></keyframe></mujoco>"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    file = tmp_path / "arm.xml"
    key = '<keyframe><key name="raised" qpos="0.9 -0.4" ctrl="3"/></keyframe></mujoco>'
    file.write_text(TWO_LINKS.replace("</mujoco>", key))
    return file


def test_a_joint_does_not_pass_its_limits(arm: Path) -> None:
    servos = {"shoulder": load_servo("mx106"), "elbow": load_servo("mx64")}
    bus = opened(servos=servos, model=str(arm))
    wish = ServoGoal(torque_enable=(True, True), position=(3.0, 0.0))  # a node refuses such a goal
    furthest = max(bus.exchange(wish).position[0] for _ in range(500))
    assert math.pi / 3 - 0.05 < furthest < math.pi / 3 + 0.05


def test_a_keyframe_is_a_start_and_positions_go_before(arm: Path) -> None:
    servos = {"shoulder": load_servo("mx106"), "elbow": load_servo("mx64")}
    bus = opened(servos=servos, model=str(arm), keyframe="raised", initial_position={"elbow": 0.2})
    assert bus.exchange(ServoGoal.released(2)).position == pytest.approx((0.9, 0.2), abs=0.01)


@pytest.mark.parametrize(
    ("changes", "kind", "named"),
    [
        ({"keyframe": "lowered"}, UnknownName, "raised"),
        ({"initial_position": {"shoulder": 1.2}}, OutOfRange, "'shoulder': is 1.2 rad (expected -1.047 to"),
        ({"initial_position": {"elbow": math.inf}}, OutOfRange, "'elbow': is inf rad"),
    ],
)
def test_an_impossible_start_is_refused(
    arm: Path, changes: dict[str, object], kind: type[BamError], named: str
) -> None:
    servos = {"shoulder": load_servo("mx106"), "elbow": load_servo("mx64")}
    with pytest.raises(kind, match=re.escape(named)):
        opened(servos=servos, model=str(arm), **changes)


@pytest.mark.parametrize(
    ("changes", "moves"),
    [
        ({}, False),
        ({"initial_position": {"elbow": 3.0}}, True),
        ({"keyframe": "folded"}, True),
        ({"keyframe": "folded", "start_contacts": True}, False),
    ],
)
def test_links_that_overlap_at_the_start_do_not_jam(
    tmp_path: Path, changes: dict[str, object], moves: bool
) -> None:
    file = tmp_path / "folding.xml"
    file.write_text(FOLDING)
    bus = opened(servos={"elbow": load_servo("mx106")}, model=str(file), **changes)
    assert (bus.world.actuation.model.nexclude == 2) == moves  # the bracket always, the tip where it is


def test_joints_without_a_servo_are_named(arm: Path) -> None:
    bus = MujocoBus(dataclasses.replace(SETTINGS, servos={"elbow": load_servo("mx64")}, model=str(arm)))
    servos = (("elbow", load_servo("mx64").title),)
    opened_arm = SimulationOpened(model=str(arm), servos=servos, free_joints=("shoulder",))
    assert bus.open() == str(opened_arm)
    assert bus.figures["joints without servo"] == "shoulder"
    assert opened().figures["joints without servo"] == "none"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("robot.xml", "<mujoco><worldbody>", "robot.xml: "),
        ("robot.xml", "<mujoco><worldbody><body><joint name='j'/></body></worldbody></mujoco>", "mass"),
        ("robot.urdf", "<robot name='r'><link name='a'/><joint name='j'/></robot>", "robot.urdf: "),
        ("robot.urdf", "no robot", "robot.urdf: "),
        ("robot.xml", TWO_LINKS, "joint 'j': unknown .valid: elbow, shoulder"),
    ],
)
def test_a_bad_description_is_named_in_one_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BamError, match=message) as error:
        opened(servos={"j": load_servo("mx64")}, model=str(tmp_path / name))
    assert "\n" not in str(error.value)


def test_the_clock_can_go_on_from_an_earlier_simulation() -> None:
    bus = MujocoBus(SETTINGS, clock=12.5)
    bus.open()
    assert exchange(bus, ServoGoal.released(1), 5)[-1].stamp >= 0
    assert bus.clock == pytest.approx(12.51)


def test_the_measured_factor_is_the_one_that_was_asked_for() -> None:
    time = FakeTime()
    bus = opened(real_time_factor=2.0)
    bus._pacer, bus._meter = time.pacer(2.0), SpeedMeter(monotonic=lambda: time.now)
    while not bus.real_time_factor > 0.0 or bus.clock < 1.0:
        bus.exchange(ServoGoal.released(1))
    assert bus.real_time_factor == pytest.approx(2.0, rel=0.01)


def test_a_robot_that_diverges_the_same_way_twice_stands_still_until_it_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bus = opened(dump_directory=str(tmp_path))
    for repeated in (False, True):
        bus._simulation().data.qvel[0] = math.nan
        with pytest.raises(Unavailable) as error:
            bus.exchange(goal(0.0))
        assert ("to go on call ~/pause with false" in str(error.value)) == repeated
        assert str(next(tmp_path.glob("diverged_*.npz"))) in str(error.value)
        bus.open()
        assert bool(bus.warnings) == repeated
    clock = bus.clock
    exchange(bus, ServoGoal.released(1), 5)
    assert bus.clock == clock
    assert len(list(tmp_path.glob("diverged_*.npz"))) == 1
    bus.paused = False
    assert bus.warnings == ()
    exchange(bus, ServoGoal.released(1), 5)
    assert bus.clock > clock


@pytest.mark.parametrize(
    ("model", "joints", "way"),
    [("config/robots/dynamixel_2r.xml", ("shoulder", "elbow"), 0.15), ("", ("joint",), math.inf)],
)
def test_the_way_between_joints_is_that_of_the_links(model: str, joints: tuple[str, ...], way: float) -> None:
    settings = SimulationSettings(servos={joint: load_servo("mx106") for joint in joints}, model=model)
    assert World(settings).spacing == pytest.approx(way)
