# SPDX-License-Identifier: Apache-2.0
"""Changes of a servo node's parameters: which are accepted, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter

from bam_core.errors import BamError, Conflict, OutOfRange
from bam_ros.node.parameters import NodeParameter


class ParameterChanges:
    """Accepts changes of parameters as a whole, or refuses them as a whole.

    Args:
        table: of the node.
        state: returns the state of its life cycle, such as "unconfigured".
        apply: called with the new values of those that may change while the node runs.
    """

    def __init__(
        self,
        table: Iterable[NodeParameter],
        state: Callable[[], str],
        apply: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._table = {parameter.name: parameter for parameter in table}
        self._state, self._apply = state, apply

    def take(self, changes: Sequence[Parameter]) -> SetParametersResult:
        """Take changes that ROS 2 has found to be of the right types."""
        try:
            for change in changes:
                self._check(change)
        except BamError as error:
            return SetParametersResult(successful=False, reason=str(error))
        values = {
            change.name: change.value
            for change in changes
            if change.name in self._table and not self._table[change.name].read_only
        }
        if values:
            self._apply(values)
        return SetParametersResult(successful=True)

    def _check(self, change: Parameter) -> None:
        """Raise BamError where a change is refused."""
        parameter, name = self._table.get(change.name), f"parameter {change.name}"
        if parameter is None:  # of ROS itself
            return
        low, high = parameter.low, parameter.high
        if low is not None and high is not None and not low <= change.value <= high:  # NaN is not
            raise OutOfRange(name, change.value, f"{low:g} to {high:g}")
        state = self._state()
        if parameter.changes_unconfigured and state != "unconfigured":
            raise Conflict(
                name,
                f"is fixed while the node is {state}",
                expected="unconfigured",
                advice="deactivate and clean up the node, set it, configure and activate the node",
            )
