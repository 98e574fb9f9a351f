# SPDX-License-Identifier: Apache-2.0
"""The node `identification`: the core as the action `identify` and a service that blocks."""

from __future__ import annotations

import math
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bam_bench.action import Identify
from bam_bench.srv import IdentifyModel
from rcl_interfaces.msg import SetParametersResult
from rclpy.action.server import ActionServer, CancelResponse, GoalResponse, ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

from bam_core.errors import BamError, Missing, Unreadable
from bam_core.identification.execution import Execution, Progress
from bam_core.identification.identify import identify
from bam_core.identification.result import Identification
from bam_core.identification.search.meter import IdentificationCancelled
from bam_core.identification.search.methods import DEFAULT_METHOD
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.uncertainty.tolerances import DEFAULT, Tolerances
from bam_core.identification.writing import require_output, write_identification
from bam_core.recordings import find_sources, load_usable
from bam_core.recordings.bag_files import data_files
from bam_core.servo.effects import resolve_effects
from bam_core.servo.model import load_servo, servo_names
from bam_core.text.comma_list import comma_list
from bam_core.text.output_findings import Unfinished
from bam_core.text.tolerance_words import tolerances_from
from bam_ros.node.data_directory import confined
from bam_ros.node.goal_end import end_goal
from bam_ros.node.node_about import Interface, NodeAbout
from bam_ros.node.parameters import NodeParameter, declare
from bam_ros.node.process import run_node
from bam_ros.node.running_node import NodeProgram

FEEDBACK_PERIOD = 0.2
"""Least time between feedback messages, s."""

_CLOSE_TIMEOUT = 10.0  # s


class IdentificationNode(Node):
    """Identifies servos from recordings below one directory, one request at a time.

    Args:
        arguments: as for `rclpy.node.Node`.
    """

    ABOUT = NodeAbout(
        name="identification",
        module="bam_ros.identification.node",
        purpose=(
            "Identifies friction and motor of a servo from its recordings, one request at a time. It reads"
            " and writes below one directory only."
        ),
        parameters=(
            NodeParameter(
                name="data_directory",
                default=".",
                description="logs are read and results written below this directory, nowhere else",
            ),
            NodeParameter(
                name="effects",
                default=[""],
                description=(
                    "what requests that name no effects fit besides motor and friction, or none; empty: what"
                    " the servo's file names and logs left out of training ask for"
                ),
                read_only=False,
            ),
            NodeParameter(
                name="tolerances",
                default=[""],
                description=(
                    "how far the bench may be off its headers, as of bam identify --tolerance, such as"
                    " [mass=0.03, length=0.002]; what is not named has the default"
                ),
                read_only=False,
            ),
        ),
        interfaces=(
            Interface(
                kind="action",
                name="identify",
                type="bam_bench/Identify",
                purpose="identify, with progress as feedback; may be cancelled",
            ),
            Interface(
                kind="service",
                name="identify_model",
                type="bam_bench/IdentifyModel",
                purpose="the same without progress; answers when it is done",
            ),
        ),
        example=("data_directory:=recordings",),
    )

    def __init__(self, **arguments: Any) -> None:
        super().__init__("identification", **arguments)
        declare(self, self.ABOUT.parameters)
        self.add_on_set_parameters_callback(_check_changes)
        self._busy = threading.Lock()
        self._stopping = threading.Event()
        group = ReentrantCallbackGroup()
        self.create_service(IdentifyModel, "identify_model", self._on_service, callback_group=group)
        self._server = ActionServer(
            self,
            Identify,
            "identify",
            self._on_action,
            callback_group=group,
            goal_callback=self._on_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )

    def start(self) -> None:
        """Check the parameters.

        Raises:
            BamError: there is no data directory, or no such effect or tolerance.
        """
        directory = self._data_directory
        if not directory.is_dir():
            raise Unreadable(directory, "is no directory", advice="set the parameter data_directory")
        _check_parameter("effects", self.get_parameter("effects").value)
        _check_parameter("tolerances", self.get_parameter("tolerances").value)
        self.get_logger().info(f"ready: action 'identify' and service 'identify_model', data in {directory}")

    def close(self) -> None:
        """Cancel what runs, which keeps the models that are finished. Idempotent, never raises."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        if self._busy.acquire(timeout=_CLOSE_TIMEOUT):
            self._busy.release()
        self._server.destroy()

    @property
    def _data_directory(self) -> Path:
        return Path(str(self.get_parameter("data_directory").value)).expanduser().resolve()

    def _on_goal(self, request: Identify.Goal) -> GoalResponse:
        """Accept every goal: a rejection carries no reason, a result does."""
        if self._stopping.is_set():
            self.get_logger().warning("goal rejected: the node ends")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_action(self, goal: ServerGoalHandle) -> Identify.Result:
        last = 0.0

        def report(progress: Progress) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= FEEDBACK_PERIOD or progress.evaluation == progress.evaluations:
                last = now
                goal.publish_feedback(
                    Identify.Feedback(
                        model=progress.model,
                        evaluation=progress.evaluation,
                        evaluations=progress.evaluations,
                        best_mae=progress.best_mae,
                    )
                )

        result = Identify.Result()
        self._serve(goal.request, result, report, lambda: bool(goal.is_cancel_requested))
        end_goal(goal, is_success=result.error_code == result.SUCCESSFUL)
        return result

    def _on_service(
        self, request: IdentifyModel.Request, response: IdentifyModel.Response
    ) -> IdentifyModel.Response:
        self._serve(request, response, lambda progress: None, lambda: False)
        return response

    def _serve(
        self, request: Any, answer: Any, report: Callable[[Progress], None], cancelled: Callable[[], bool]
    ) -> None:
        """Fill in the answer, which has the same fields for action and service."""
        if not self._busy.acquire(blocking=False):
            answer.error_code = Identify.Result.BUSY
            answer.message = "identification: another one is running; wait for it or cancel it"
            self.get_logger().warning(answer.message)
            return
        try:
            output = self._output(request)

            def keep(finished: Identification) -> None:
                write_identification(finished, output)
                _fill(answer, finished, output)
                answer.message = str(
                    Unfinished(
                        kind="cancelled",
                        directory=output,
                        models=tuple(finished.fits),
                        not_done=finished.not_done,
                    )
                )

            result = self._identify(request, report, lambda: cancelled() or self._stopping.is_set(), keep)
            write_identification(result, output)
        except IdentificationCancelled as stop:
            answer.error_code = Identify.Result.CANCELED
            answer.message = answer.message or str(stop)
            self.get_logger().warning(answer.message)
        except BamError as error:
            answer.error_code = Identify.Result.FAILED
            answer.message = str(error)
            self.get_logger().warning(answer.message)
        except Exception as error:
            self.get_logger().error(traceback.format_exc())
            answer.error_code = Identify.Result.FAILED
            answer.message = f"identification: {type(error).__name__}: {error}; see the node's log"
        else:
            answer.error_code = Identify.Result.SUCCESSFUL
            _fill(answer, result, output)
            answer.message = f"{result.chosen} chosen. {result.test_error}"
            self.get_logger().info(f"{answer.message} {output}")
        finally:
            self._busy.release()

    def _output(self, request: Any) -> Path:
        """Return where results go; raises BamError where none can be written."""
        output = self._inside(request.output or "identified", "output")
        self._inside(str(output / "plots"), "output")
        require_output(output)
        return output

    def _identify(
        self,
        request: Any,
        report: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        keep: Callable[[Identification], None],
    ) -> Identification:
        logs = [self._inside(path, "logs") for path in request.logs or ["."]]
        for source in find_sources(logs):  # a link in a directory may lead out of it
            for path in (source.path, *data_files(source.path)):
                self._inside(str(path), "logs")
        if not request.servo:
            raise Missing(
                "servo",
                f"{', '.join(servo_names())}, or a YAML file in data_directory",
                advice="name the servo that was recorded",
            )
        is_file = Path(request.servo).suffix in (".yaml", ".yml") or len(Path(request.servo).parts) > 1
        servo = load_servo(self._inside(request.servo, "servo") if is_file else request.servo)
        return identify(
            load_usable(logs),
            servo,
            IdentifySettings(
                models=list(request.models) or ["all"],
                search=request.search or DEFAULT_METHOD,
                trials=request.trials or None,
                seed=request.seed,
                test=request.test or None,
                effects=self._effects(request.effects),
                tolerances=self._tolerances,
            ),
            execution=Execution(progress=report, cancelled=cancelled),
            interrupted=keep,
        )

    def _effects(self, wanted: Sequence[str]) -> list[str] | None:
        """Return what to fit, None for the servo's; an empty list is the default, "none" is none."""
        return _effects_of(wanted or self.get_parameter("effects").value)

    @property
    def _tolerances(self) -> Tolerances:
        return _tolerances_of(self.get_parameter("tolerances").value)

    def _inside(self, path: str, field: str) -> Path:
        """Return an absolute path below the data directory, links followed; raises OutOfRange for others."""
        return confined(self._data_directory, path, field)


def _effects_of(names: Sequence[str]) -> list[str] | None:
    """Return the effects in a list, whose entries may be several with commas; None where it is empty."""
    effects = comma_list(",".join(names))
    return [] if effects == ["none"] else effects or None


def _tolerances_of(entries: Sequence[str]) -> Tolerances:
    """Return the tolerances in a list, likewise; raises BamError."""
    return tolerances_from(comma_list(",".join(entries)), DEFAULT)


def _check_parameter(name: str, value: Any) -> None:
    """Raise BamError where a parameter names an effect or tolerance that there is not."""
    if name == "effects":
        resolve_effects(_effects_of(value) or ())
    elif name == "tolerances":
        _tolerances_of(value)


def _check_changes(changes: Sequence[Parameter]) -> SetParametersResult:
    """Refuse changes after which every request would fail."""
    try:
        for change in changes:
            _check_parameter(change.name, change.value)
    except BamError as error:
        return SetParametersResult(successful=False, reason=str(error))
    return SetParametersResult(successful=True)


def _fill(answer: Any, result: Identification, output: Path) -> None:
    """Fill in what was found and where it is; the answer has the same fields for action and service."""
    answer.chosen = result.chosen
    answer.models = list(result.fits)
    answer.train_mae = [fit.train_mae for fit in result.fits.values()]
    models = result.summary()["models"].values()
    for name in ("selection_mae", "test_mae"):
        setattr(answer, name, [math.nan if model[name] is None else model[name] for model in models])
    answer.output = str(output)


PROGRAM = NodeProgram(
    about=IdentificationNode.ABOUT,
    make_node=lambda stop: IdentificationNode(),
    make_executor=lambda: MultiThreadedExecutor(num_threads=4),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a signal ends it."""
    return run_node(PROGRAM, argv)


if __name__ == "__main__":
    raise SystemExit(main())
