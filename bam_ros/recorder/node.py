# SPDX-License-Identifier: Apache-2.0
"""The node `recorder`: records sessions as the action `record`, and asks its operator for loads."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bam_bench.action import Record
from rclpy.action.server import ActionServer, CancelResponse, GoalResponse, ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import Trigger

from bam_core.errors import BamError, Missing
from bam_ros.node.data_directory import PARAMETER, confined
from bam_ros.node.goal_end import end_goal
from bam_ros.node.parameters import declare
from bam_ros.node.process import run_node
from bam_ros.node.running_node import NodeProgram
from bam_ros.recorder.about import ABOUT
from bam_ros.recorder.errors import RecordingStopped
from bam_ros.recorder.session_file import find_session, load_session, shipped_sessions
from bam_ros.recorder.session_recorder import Progress, SessionRecorder, SessionReport
from bam_ros.recorder.waits import DEFAULT_WAITS, Waits
from bam_ros.text.notice import Notice
from bam_ros.text.recorder_notices import LoadWanted, RecorderBusy, RecordingEnded, SessionRecorded

FEEDBACK_PERIOD = 0.2
"""Time between feedback messages, s."""
_POLL = 0.05  # s
_CLOSE_TIMEOUT = 10.0  # s; more than releasing the servo and ending a bag take


class RecorderNode(Node):
    """Serves one goal of the action `record` at a time.

    Args:
        waits: for the driver.
        arguments: as for `rclpy.node.Node`.
    """

    ABOUT = ABOUT

    def __init__(self, *, waits: Waits = DEFAULT_WAITS, **arguments: Any) -> None:
        super().__init__("recorder", **arguments)
        value = declare(self, self.ABOUT.parameters)
        driver, bench = value["driver"], value["virtual_bench"]
        self._given_at_start = {name: value[name] for name in ("session_file", "output")}
        self._recorder = SessionRecorder(
            self,
            driver=driver,
            virtual_bench=bench,
            starts_with_driver=value["autostart"],
            waits=waits,
        )
        self._busy = threading.Lock()  # while a session is recorded
        self._stopping = threading.Event()
        self._waiting_for_load = False
        self._load_mounted = threading.Event()
        group = ReentrantCallbackGroup()
        self.create_service(Trigger, "~/load_mounted", self._on_load_mounted, callback_group=group)
        self._server = ActionServer(
            self,
            Record,
            "record",
            self._execute,
            callback_group=group,
            goal_callback=self._on_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )
        self.is_over = False
        """Whether a session that started by itself has ended, and the process shall."""
        self.exit_status = 0
        """Of the process then."""

    def start(self) -> None:
        """Wait for goals, or record at once where the parameter `autostart` is true."""
        if self.get_parameter("autostart").value:
            self._busy.acquire(blocking=False)  # no goal can have arrived yet
            threading.Thread(target=self._record_by_itself, name="recording", daemon=True).start()
        else:
            self.get_logger().info("ready: send a goal to the action 'record'")

    def close(self) -> None:
        """Break off what is recorded, release the servo. Idempotent, never raises."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        if self._busy.acquire(timeout=_CLOSE_TIMEOUT):
            self._busy.release()
        self._server.destroy()

    def _on_goal(self, request: Record.Goal) -> GoalResponse:
        """Accept every goal: a rejection carries no reason, a result does."""
        if self._stopping.is_set():
            self.get_logger().warning("goal rejected: the recorder ends")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_load_mounted(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._waiting_for_load
        response.message = "recording goes on" if response.success else "no session waits for a load now"
        if response.success:
            self._load_mounted.set()
        return response

    def _execute(self, goal: ServerGoalHandle) -> Record.Result:
        if not self._busy.acquire(blocking=False):
            message = str(RecorderBusy())
            self.get_logger().warning(f"goal aborted: {message}")
            goal.abort()
            return Record.Result(error_code=Record.Result.BUSY, message=message)
        try:
            result = self._record(goal.request, _RemoteOperator(self, goal))
            end_goal(goal, is_success=result.error_code == result.SUCCESSFUL)
        finally:
            self._busy.release()  # before the client hears the result, and may send the next goal
        return result

    def _record_by_itself(self) -> None:
        """Record what the parameters name, then end the process."""
        try:
            result = self._record(Record.Goal(), _RemoteOperator(self, None))
        finally:
            self._busy.release()
        self.exit_status = 0 if result.error_code == result.SUCCESSFUL or self._stopping.is_set() else 2
        self.is_over = True

    def _record(self, request: Record.Goal, operator: _RemoteOperator) -> Record.Result:
        """Record, and report in the log and in the result how it ended."""
        log = self.get_logger()
        code = Record.Result.FAILED
        self._recorder.reset()
        try:
            inside = self._confines(request.session_file, "session_file")
            session = load_session(self._session_file(request.session_file), inside=inside)
            output = self._given(request.output, "output").absolute()
            message = str(session_recorded(self._recorder.record(session, output, operator), output))
            code = Record.Result.SUCCESSFUL
            log.info(message)
        except RecordingStopped as stopped:
            message, code = str(stopped), Record.Result.CANCELED
            log.warning(message)
        except BamError as error:
            message = str(error)
            log.error(message)
        except Exception as error:
            log.error(traceback.format_exc())
            message = f"recorder: {type(error).__name__}: {error}; see its log"
        report = self._recorder.report
        return Record.Result(
            error_code=code,
            message=message,
            recorded=report.recorded,
            resumed=report.resumed,
            dropped=report.dropped,
            bags=[str(bag) for bag in report.bags],
        )

    def _session_file(self, value: str) -> Path:
        """Return the session file of a goal, or else the parameter's; those of this package need no path."""
        value = value or str(self.get_parameter("session_file").value)
        if not value:
            raise Missing("session_file", "it in the goal or as parameter", advice="give one of them")
        inside = self._confines(value, "session_file")
        file = find_session(value, inside or Path())
        if inside is None or file.parent == shipped_sessions():
            return file
        return confined(inside, str(file), "session_file")

    def _given(self, value: str, parameter: str) -> Path:
        """Return the path in a goal, or else the parameter's."""
        inside = self._confines(value, parameter)
        value = value or str(self.get_parameter(parameter).value)
        if not value:
            raise Missing(parameter, "it in the goal or as parameter", advice="give one of them")
        return Path(value) if inside is None else confined(inside, value, parameter)

    def _confines(self, value: str, parameter: str) -> Path | None:
        """Return the data directory; None where the path is the one that the node was started with.

        Goals and changes of parameters come from whoever is in the domain.
        """
        value = value or str(self.get_parameter(parameter).value)
        if value == self._given_at_start[parameter]:
            return None
        return Path(str(self.get_parameter(PARAMETER).value)).expanduser().resolve()


class _RemoteOperator:
    """Who talks to the node: watches and cancels by the goal, if there is one; confirms by the service."""

    def __init__(self, node: RecorderNode, goal: ServerGoalHandle | None) -> None:
        self._node = node
        self._goal = goal
        self._reported_at = 0.0

    def show(self, notice: Notice, *, warning: bool = False) -> None:
        """Log it."""
        log = self._node.get_logger()
        if warning:
            log.warning(str(notice))
        else:
            log.info(str(notice))

    def progress(self, progress: Progress) -> None:
        """Publish feedback; raises RecordingStopped once the goal is cancelled or the node ends."""
        if self._goal is not None and self._goal.is_cancel_requested:
            raise RecordingStopped(str(RecordingEnded(kind="cancelled")))
        if self._node._stopping.is_set():
            raise RecordingStopped(str(RecordingEnded(kind="node")))
        now = time.monotonic()
        if self._goal is not None and now - self._reported_at >= FEEDBACK_PERIOD:
            self._reported_at = now
            self._goal.publish_feedback(feedback(progress))

    def mount_load(self, progress: Progress) -> None:
        """Wait for the service ~/load_mounted."""
        node = self._node
        load, service = progress.run.load, node.resolve_service_name("~/load_mounted")
        wanted = LoadWanted(mass=load.mass, arm_mass=load.arm_mass, length=load.length, service=service)
        node.get_logger().info(str(wanted))
        node._load_mounted.clear()
        node._waiting_for_load = True
        try:
            self.progress(progress)  # not before: whoever hears that the load is waited for may call at once
            while not node._load_mounted.wait(_POLL):
                self.progress(progress)
        finally:
            node._waiting_for_load = False


def feedback(progress: Progress) -> Record.Feedback:
    """Return the action's feedback for a progress."""
    run = progress.run
    return Record.Feedback(
        state=int(progress.state),
        run=run.index,
        runs=progress.runs,
        label=f"{run.label}: {progress.activity}",
        elapsed=Duration(nanoseconds=round(progress.elapsed * 1e9)).to_msg(),
        duration=Duration(nanoseconds=round(run.script.duration * 1e9)).to_msg(),
        mass=run.load.mass,
        arm_mass=run.load.arm_mass,
        length=run.load.length,
        dropped=progress.dropped,
    )


def session_recorded(report: SessionReport, output: Path) -> SessionRecorded:
    """Return what a session left."""
    return SessionRecorded(
        output=output, recorded=report.recorded, resumed=report.resumed, lost=report.dropped
    )


PROGRAM = NodeProgram(
    about=RecorderNode.ABOUT,
    make_node=lambda stop: RecorderNode(),
    make_executor=lambda: MultiThreadedExecutor(num_threads=4),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node; return the exit status."""
    return run_node(PROGRAM, argv)


if __name__ == "__main__":
    sys.exit(main())
