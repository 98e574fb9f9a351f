# SPDX-License-Identifier: Apache-2.0
"""One run: move the arm to the start, follow the script while a bag is written, then switch torque off."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bam_bench.msg import BenchRun, ServoStates
from rclpy.duration import Duration
from rclpy.time import Time
from std_msgs.msg import Header

from bam_core._version import __version__
from bam_core.errors import BadData, BamError, UnknownName
from bam_ros.driver.hardware_errors import FATAL, describe_hardware_errors
from bam_ros.recorder.bench_link import BenchLink
from bam_ros.recorder.driver_client import TICK_PERIOD, Tick
from bam_ros.recorder.joint_reading import JointReading
from bam_ros.recorder.motion import ArmGoal, Motion, Phase
from bam_ros.recorder.run_writer import RunWriter
from bam_ros.recorder.servo_check import demand_limit
from bam_ros.recorder.session import PlannedRun, Session
from bam_ros.recorder.stalls import StallWatch
from bam_ros.text.spoiled_runs import DriverReleased, GainsChanged, SpoiledRun

_RELEASE_TIME = 1.0  # s; how long a broken-off run waits for torque to be off


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """What became of a run.

    Attributes:
        bag: its directory, which is not there where the run ended before its script began.
        dropped: states between first and last that are missing in the bag.
        states: that are in the bag.
        pause: longest time between two of them, s.
        spoiled: why the run has to be recorded again; its bag is marked as interrupted. None: it is complete.
    """

    bag: Path
    dropped: int
    states: int
    pause: float
    spoiled: SpoiledRun | None = None


class RunRecorder:
    """One run; `record` does it.

    Args:
        link: to the bench.
        session: that the run is part of.
        run: what to record.
        bag: directory to write, must not exist.
        gains_problem: returns whether the servo does not hold the gain of the run, in words; empty: it does.
    """

    def __init__(
        self,
        link: BenchLink,
        session: Session,
        run: PlannedRun,
        bag: Path,
        gains_problem: Callable[[], str],
    ) -> None:
        self._link = link
        self._session = session
        self._run = run
        self._bag = bag
        self._gains_problem = gains_problem
        self._motion = Motion(
            run.script,
            approach_speed=session.approach_speed,
            position_limit=session.position_limit,
            error_limit=session.error_limit,
            times=link.waits.motion,
        )
        self._motion.may_start = False
        self._epoch = link.now()
        self._now = self._epoch
        self._restarts = link.restarts
        self._writer: RunWriter | None = None
        self._dropped_before = self._dropped = 0
        self._watch = StallWatch(session.pause_limit)
        self._failure: BaseException | None = None
        self._released: DriverReleased | None = None
        self._torque_enabled = False
        self._at_start, self._script_over, self._over = (threading.Event() for _ in range(3))

    @property
    def elapsed(self) -> float:
        """Seconds into the script."""
        return self._motion.script_time((self._now - self._epoch) * 1e-9)

    @property
    def dropped(self) -> int:
        """States lost while the script ran."""
        return (
            self._link.dropped - self._dropped_before if self._motion.phase is Phase.SCRIPT else self._dropped
        )

    @property
    def phase(self) -> Phase:
        """Where the motion is."""
        return self._motion.phase

    def record(self, tick: Tick) -> RunReport:
        """Record the run; returns with the servo released.

        Args:
            tick: called about ten times a second; what it raises breaks the run off.

        Raises:
            BamError: bench, arm or disk failed. A bag that was begun is readable and marked as interrupted.
        """
        self._link.listen(self)
        try:
            self._wait(self._at_start, tick)
            spoiled: SpoiledRun | None = self._released
            if spoiled is None:
                spoiled = self._record_script(tick)
            self._wait(self._over, tick)
        finally:
            self._link.sink = None
            self._let_go()
            self._link.listen(None)
        return RunReport(
            bag=self._bag,
            dropped=self._dropped,
            states=self._watch.states,
            pause=self._watch.pause,
            spoiled=spoiled,
        )

    def _record_script(self, tick: Tick) -> SpoiledRun | None:
        """Write the bag while the script is followed; return why the run does not count, None: it does."""
        with RunWriter(self._bag, self._link.topics.in_bag()) as self._writer:
            self._motion.may_start = True
            self._wait(self._script_over, tick)
            spoiled = self._find_problem()
            if spoiled is not None:
                self._writer.spoil()
        self._writer = None
        return spoiled

    def on_states(self, now_ns: int, states: ServoStates) -> ArmGoal | None:
        """Take the motion one step further. Called in the link's thread."""
        index = self._index(states)
        self._torque_enabled = bool(states.torque_enabled[index])
        if self._failure is not None or self._over.is_set():
            return ArmGoal(torque_enable=False, position=float("nan"))
        self._check(now_ns, states, index)
        stamp = Time.from_msg(states.header.stamp).nanoseconds
        state = JointReading(
            time=(stamp - self._epoch) * 1e-9,
            position=float(states.position[index]),
            torque_enabled=self._torque_enabled,
        )
        now = (now_ns - self._epoch) * 1e-9
        before = self._motion.phase
        if before is not Phase.SCRIPT:
            self._dropped_before = self._link.dropped
        if before is Phase.SCRIPT and self._watch.stalled:
            self._motion.cut_short(now)  # it counts for nothing already
        goal = self._motion.step(now, state)
        after = self._motion.phase
        if before is Phase.SCRIPT:
            self._watch.state(state.time, now)
        elif not self._script_over.is_set():
            self._watch.start(state.time, now)
        if before is not after:
            self._changed(now_ns, before, after)
        if self._motion.waits_at_start(now):
            self._at_start.set()
        return goal

    def on_failure(self, error: BaseException) -> None:
        """Break the run off. Called in the link's thread."""
        if self._failure is None:
            self._failure = error

    def _find_problem(self) -> SpoiledRun | None:
        """Return why the run that was just measured does not count; None where it does."""
        if self._released is not None:
            return self._released
        stall = self._watch.problem(self._dropped)
        if stall is not None:
            return stall
        answer = self._gains_problem()
        return GainsChanged(answer=answer) if answer else None

    def _changed(self, now_ns: int, before: Phase, after: Phase) -> None:
        if self._motion.released_at is not None and not self._script_over.is_set():
            self._released = self._release_of(before)
            self._at_start.set()  # whoever waits for either goes on
        if after is Phase.SCRIPT:
            assert self._writer is not None
            self._link.sink = self._writer.put
            self._link.announce(now_ns, self._describe(now_ns))
        elif before is Phase.SCRIPT:
            self._link.sink = None
            self._dropped = self._link.dropped - self._dropped_before
            self._script_over.set()
        elif after is Phase.DONE:
            self._over.set()
        if self._released is not None:
            self._script_over.set()

    def _release_of(self, phase: Phase) -> DriverReleased:
        """Return that the driver released the servo in a phase before the end of the script."""
        return DriverReleased(
            phase=phase.value,
            elapsed=self.elapsed if phase is Phase.SCRIPT else math.nan,
            pause=self._watch.pause if self._watch.stalled else 0.0,
        )

    def _check(self, now_ns: int, states: ServoStates, index: int) -> None:
        if now_ns < self._now:
            raise BadData(
                "clock",
                f"went back by {(self._now - now_ns) * 1e-9:.3f} s during the run",
                advice="let the time synchronisation settle and record again",
            )
        self._now = now_ns
        if self._link.restarts != self._restarts:
            raise BadData(
                "driver",
                f"the sequence of {self._link.topics.states} began anew during the run (it was restarted, or"
                f" a second driver publishes there)",
                advice="leave one driver alone and record again",
            )
        errors = describe_hardware_errors(self._session.joint, states.hardware_error[index] & FATAL)
        if errors:
            raise BamError("; ".join(errors))

    def _index(self, states: ServoStates) -> int:
        try:
            return int(list(states.name).index(self._session.joint))
        except ValueError:
            raise UnknownName(
                "joint of servo_states",
                self._session.joint,
                states.name,
                advice="it was there before, look at the driver's log",
            ) from None

    def _wait(self, event: threading.Event, tick: Tick) -> None:
        """Wait for the motion; raises what broke it off, and torque goes off then."""
        try:
            while not event.wait(TICK_PERIOD):
                self._raise_failure()
                self._link.require_heard(self._link.waits.silence)
                if self._writer is not None:
                    self._writer.check()
                tick()
            self._raise_failure()
        except BaseException as error:
            self.on_failure(error)
            raise

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _let_go(self) -> None:
        """Command torque off until the servo reports it; its driver's command timeout covers the rest."""
        self._over.set()
        deadline = time.monotonic() + _RELEASE_TIME
        self._link.release()
        while (
            self._torque_enabled
            and self._link.silence < self._link.waits.silence
            and time.monotonic() < deadline
        ):
            time.sleep(TICK_PERIOD / 10.0)
            self._link.release()

    def _describe(self, start_ns: int) -> BenchRun:
        session, run = self._session, self._run
        return BenchRun(
            header=Header(stamp=Time(nanoseconds=start_ns).to_msg()),
            format=BenchRun.FORMAT,
            servo=session.servo.name,
            id=session.id,
            joint=session.joint,
            firmware=session.servo.firmware.name,
            mass=run.load.mass,
            arm_mass=run.load.arm_mass,
            length=run.load.length,
            kp=run.kp,
            ki=run.ki,
            kd=run.kd,
            demand_limit=demand_limit(self._link.configuration, session.joint),
            supply_voltage=session.supply_voltage,
            script=run.script.name,
            duration=Duration(nanoseconds=round(run.script.duration * 1e9)).to_msg(),
            session=session.name,
            operator_note=session.notes,
            software_version=__version__,
        )
