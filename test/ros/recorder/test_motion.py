# SPDX-License-Identifier: Apache-2.0
"""The motion of a run never jumps, whatever the arm does, and ends with the servo released at rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import OutOfRange, Unavailable
from bam_core.recordings.trajectories import SCRIPTS, TrajectoryScript
from bam_ros.recorder.joint_reading import JointReading
from bam_ros.recorder.motion import ArmGoal, Motion, Phase

PERIOD = 0.004
SPEED = 0.8


def make(script: TrajectoryScript, **changes: float) -> Motion:
    limits = {"approach_speed": SPEED, "position_limit": 2.6, "error_limit": 2.0, **changes}
    return Motion(script, **limits)


class Arm:
    """Follows its goal with a lag, falls to rest when released."""

    def __init__(self, position: float = 0.0, lag: float = 0.02) -> None:
        self.position = position
        self.torque = False
        self.lag = lag

    def follow(self, goal: ArmGoal) -> None:
        self.torque = goal.torque_enable
        target = goal.position if goal.torque_enable else 0.0
        self.position += (target - self.position) * min(PERIOD / self.lag, 1.0)


def play(
    motion: Motion,
    arm: Arm,
    meddle: Callable[[float, Arm], None] = lambda now, arm: None,
    stall: float = 0.0,
) -> list[tuple[float, Phase, ArmGoal]]:
    """Run a motion to its end, now and then with a stall in s; return time, phase and goal of every step."""
    steps = []
    now = 0.0
    while motion.phase is not Phase.DONE:
        goal = motion.step(now, JointReading(time=now, position=arm.position, torque_enabled=arm.torque))
        steps.append((now, motion.phase, goal))
        arm.follow(goal)
        meddle(now, arm)
        now += stall if stall and len(steps) % 50 == 0 else PERIOD
        assert now < 60.0, "the motion never ends"
    return steps


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_run_goes_through_its_phases_and_ends_released_at_rest(name: str) -> None:
    arm = Arm(position=0.4)
    phases = list(dict.fromkeys(phase for _, phase, _ in play(make(SCRIPTS[name]), arm)))
    swing = [Phase.SWING_OUT] if name == "lift_and_drop" else []
    assert phases == [
        *(Phase.FREE, Phase.APPROACH, Phase.SETTLE, Phase.SCRIPT),
        *(*swing, Phase.RETURN, Phase.HANG, Phase.RELEASE, Phase.DONE),
    ]
    assert not arm.torque
    assert abs(arm.position) < 0.02


@settings(max_examples=40, deadline=None)
@given(
    start=st.floats(-1.9, 1.9),
    lag=st.floats(0.005, 0.1),
    name=st.sampled_from(sorted(SCRIPTS)),
    stall=st.floats(0.0, 0.4),
)
def test_the_goal_never_jumps_even_after_a_stall(start: float, lag: float, name: str, stall: float) -> None:
    steps = play(make(SCRIPTS[name]), Arm(position=start, lag=lag), stall=stall)
    before = None
    for _, phase, goal in steps:
        if before is not None and goal.torque_enable and before.torque_enable and phase is not Phase.SCRIPT:
            assert abs(goal.position - before.position) <= SPEED * (0.02 if stall else PERIOD) * 1.001
        before = goal


@given(start=st.floats(-1.9, 1.9))
def test_torque_goes_on_where_the_arm_is(start: float) -> None:
    arm = Arm(position=start, lag=1e9)
    motion = make(SCRIPTS["sin_sin"])
    now = 0.0
    while not (
        goal := motion.step(now, JointReading(time=now, position=start, torque_enabled=False))
    ).torque_enable:
        now += PERIOD
    assert goal.position == pytest.approx(start, abs=SPEED * PERIOD)
    assert arm.position == start


def test_the_script_is_followed_to_the_letter() -> None:
    script = SCRIPTS["lift_and_drop"]
    motion = make(script)
    steps = [(now, goal) for now, phase, goal in play(motion, Arm()) if phase is Phase.SCRIPT]
    assert motion.script_start is not None
    for now, goal in steps:
        position, torque = script([now - motion.script_start])
        assert (goal.position, goal.torque_enable) == (position[0], torque[0])
    assert steps[-1][0] - steps[0][0] == pytest.approx(script.duration, abs=2 * PERIOD)


def test_the_script_waits_until_it_may_start() -> None:
    motion, arm = make(SCRIPTS["sin_sin"]), Arm()
    motion.may_start = False

    def permit(now: float, arm: Arm) -> None:
        motion.may_start = now > 3.0

    steps = play(motion, arm, permit)
    assert next(now for now, phase, _ in steps if phase is Phase.SCRIPT) > 3.0


def test_torque_off_is_commanded_before_torque_on() -> None:
    steps = play(make(SCRIPTS["sin_sin"]), Arm())
    assert not any(goal.torque_enable for now, _, goal in steps if now < 0.09)


@pytest.mark.parametrize("phase", [Phase.APPROACH, Phase.SCRIPT, Phase.RETURN])
def test_an_arm_that_its_driver_let_go_stays_released(phase: Phase) -> None:
    motion, arm, steps_there = make(SCRIPTS["sin_sin"]), Arm(position=0.5), 0

    def let_go(now: float, arm: Arm) -> None:  # once: the driver obeys every later command
        nonlocal steps_there
        steps_there += motion.phase is phase
        if steps_there == 5:
            arm.torque = False

    steps = play(motion, arm, let_go)
    assert motion.released_at is not None
    after = [goal.torque_enable for now, _, goal in steps if now >= motion.released_at]
    assert not any(after)
    phases = list(dict.fromkeys(each for now, each, _ in steps if now >= motion.released_at))
    assert phases == [Phase.SWING_OUT, Phase.RELEASE, Phase.DONE]


def test_a_script_that_lets_go_by_itself_is_no_release_of_the_driver() -> None:
    motion = make(SCRIPTS["lift_and_drop"])
    play(motion, Arm())
    assert motion.released_at is None


def test_states_from_before_the_command_are_no_release() -> None:
    motion, waiting = make(SCRIPTS["sin_sin"]), []
    now = 0.0
    for _ in range(200):
        waiting.append(JointReading(time=now, position=0.0, torque_enabled=now > 0.2))
        motion.step(now, waiting[max(len(waiting) - 10, 0)])  # ten periods late
        now += PERIOD
    assert motion.released_at is None


def test_a_script_that_is_cut_short_ends_at_rest_without_a_jump() -> None:
    motion, arm = make(SCRIPTS["sin_sin"]), Arm()

    def stop(now: float, arm: Arm) -> None:
        if motion.phase is Phase.SCRIPT and motion.script_time(now) > 1.0:
            motion.cut_short(now)

    steps = play(motion, arm, stop)
    assert max(motion.script_time(now) for now, phase, _ in steps if phase is Phase.SCRIPT) < 1.1
    before = None
    for _, phase, goal in steps:
        if before is not None and phase is Phase.RETURN:
            assert abs(goal.position - before.position) <= SPEED * PERIOD * 1.001
        before = goal
    assert abs(arm.position) < 0.02


def test_a_blocked_arm_is_out_of_bounds() -> None:
    def block(now: float, arm: Arm) -> None:
        arm.position = 0.0

    with pytest.raises(OutOfRange) as caught:
        play(make(SCRIPTS["sin_sin"], error_limit=1.0), Arm(), block)
    assert caught.value.thing == "distance of the arm from its goal"


def test_an_arm_that_flies_off_is_out_of_bounds() -> None:
    def fly(now: float, arm: Arm) -> None:
        if now > 3.0:
            arm.position = 2.0

    with pytest.raises(OutOfRange) as caught:
        play(make(SCRIPTS["up_and_down"], position_limit=1.9), Arm(), fly)
    assert (caught.value.thing, caught.value.value) == ("position of the arm", 2.0)


def at_script(**limits: float) -> tuple[Motion, float, ArmGoal]:
    """Return a motion in its script, the time and the goal in force."""
    motion, arm, now = make(SCRIPTS["sin_sin"], **limits), Arm(), 0.0
    while True:
        goal = motion.step(now, JointReading(time=now, position=arm.position, torque_enabled=arm.torque))
        if motion.phase is Phase.SCRIPT and motion.script_time(now) > 0.2:
            return motion, now + PERIOD, goal
        arm.follow(goal)
        now += PERIOD


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_an_arm_is_out_of_bounds_on_either_side(side: float) -> None:
    motion, now, _ = at_script(position_limit=1.9, error_limit=10.0)
    motion.step(now, JointReading(time=now, position=1.85 * side, torque_enabled=True))
    now += PERIOD
    with pytest.raises(OutOfRange) as caught:
        motion.step(now, JointReading(time=now, position=2.0 * side, torque_enabled=True))
    assert (caught.value.thing, caught.value.value) == ("position of the arm", 2.0 * side)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_an_arm_is_too_far_from_its_goal_on_either_side(side: float) -> None:
    motion, now, goal = at_script(position_limit=10.0, error_limit=1.0)
    position = goal.position + 0.9 * side
    motion.step(now, JointReading(time=now, position=position, torque_enabled=True))
    now += PERIOD
    with pytest.raises(OutOfRange) as caught:
        motion.step(now, JointReading(time=now, position=position + 0.2 * side, torque_enabled=True))
    assert caught.value.thing == "distance of the arm from its goal"


def test_an_arm_that_never_rests_is_not_a_bench() -> None:
    def shake(now: float, arm: Arm) -> None:
        arm.position = 0.1 * math.sin(20.0 * now)

    with pytest.raises(Unavailable, match="after 10 s of coming to rest at the start"):
        play(make(SCRIPTS["sin_sin"]), Arm(), shake)


def test_a_servo_without_torque_is_noticed() -> None:
    def release(now: float, arm: Arm) -> None:
        arm.torque = False

    with pytest.raises(Unavailable, match="torque is not on 1 s after"):
        play(make(SCRIPTS["sin_sin"]), Arm(), release)


def test_a_servo_that_stays_on_is_noticed() -> None:
    def hold(now: float, arm: Arm) -> None:
        arm.torque = True

    with pytest.raises(Unavailable, match="torque is not off 1 s after"):
        play(make(SCRIPTS["sin_sin"]), Arm(), hold)


@pytest.mark.parametrize("behind", [1.5, 0.0])
@pytest.mark.parametrize("offset", [-3.0, 0.0, 3.0])
def test_states_that_wait_for_their_turn_are_no_servo_that_disobeys(behind: float, offset: float) -> None:
    """A recorder that gets no processor sees states late; clocks of two machines may differ, too."""
    motion, arm = make(SCRIPTS["sin_sin"], error_limit=10.0), Arm()
    seen: list[JointReading] = []
    now = 0.0
    while motion.phase is not Phase.DONE:
        seen.append(JointReading(time=now + offset, position=arm.position, torque_enabled=arm.torque))
        late = round(behind / PERIOD) if motion.phase in (Phase.HANG, Phase.RELEASE) else 0
        arm.follow(motion.step(now, seen[-1 - late]))
        now += PERIOD
        assert now < 60.0, "the motion never ends"
    assert not arm.torque


def test_an_arm_with_little_friction_is_caught_while_it_swings() -> None:
    script = replace(SCRIPTS["lift_and_drop"], duration=2.5)

    def swing(now: float, arm: Arm) -> None:
        if not arm.torque and now > 3.0:
            arm.position = 0.3 * math.sin(9.0 * now)

    steps = play(make(script), Arm(), swing)
    assert Phase.RETURN in {phase for _, phase, _ in steps}
