# SPDX-License-Identifier: Apache-2.0
"""The parameters of a node as a table: declared from it, explained by it, and nothing beside it is taken."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter

from bam_core.errors import BamError, OutOfRange, UnknownName, WrongShape, WrongType
from bam_ros.node.qos_overrides import PREFIX as QOS_PREFIX
from bam_ros.node.shared_parameters import shared_names
from bam_ros.text.parameter_words import SharedParametersIgnored

_ANY_NAME = "NAME"  # as the end of a name: a family of parameters, of which none has to be there


@dataclass(frozen=True, kw_only=True)
class NodeParameter:
    """One parameter of a node.

    Attributes:
        name: of the parameter.
        default: value where none is given; its type is the parameter's type.
        description: one sentence with the unit.
        low, high: bounds of a number, both or none.
        read_only: whether it is fixed once the node runs.
        changes_unconfigured: whether it may change all the same while a node with a life cycle is
            unconfigured; it is read when the node is configured.
    """

    name: str
    default: Any
    description: str
    low: float | None = None
    high: float | None = None
    read_only: bool = True
    changes_unconfigured: bool = False

    @property
    def prefix(self) -> str:
        """What the names of all parameters of a family begin with, such as "groups." of "groups.NAME"."""
        return self.name.removesuffix(_ANY_NAME) if self.name.endswith(f".{_ANY_NAME}") else ""

    @property
    def type_name(self) -> str:
        """The parameter's type as ROS 2 calls it, such as "double" or "string[]"."""
        if isinstance(self.default, list):
            return f"{_TYPES[type(self.default[0])]}[]"
        return _TYPES[type(self.default)]

    def descriptor(self) -> ParameterDescriptor:
        """Return its description for ROS 2."""
        descriptor = ParameterDescriptor(
            description=self.description, read_only=self.read_only and not self.changes_unconfigured
        )
        if self.low is not None and self.high is not None:
            if isinstance(self.default, float):
                descriptor.floating_point_range = [
                    FloatingPointRange(from_value=float(self.low), to_value=float(self.high))
                ]
            else:
                descriptor.integer_range = [
                    IntegerRange(from_value=int(self.low), to_value=int(self.high), step=1)
                ]
        return descriptor


_TYPES = {bool: "bool", int: "integer", float: "double", str: "string"}


def one_each(name: str, values: Sequence[Any], joints: Sequence[str]) -> list[Any]:
    """Return one value per joint; a single one counts for all.

    Raises:
        WrongShape: there are neither as many as joints nor one.
    """
    if len(values) == 1:
        return list(values) * len(joints)
    if len(values) != len(joints):
        raise WrongShape(
            name,
            len(values),
            "one, or one per joint",
            printed=f"{len(values)} entries for {len(joints)} joint_names",
            advice="correct the parameter",
        )
    return list(values)


def declare(node: Node, parameters: Sequence[NodeParameter]) -> dict[str, Any]:
    """Declare parameters and return their values by name.

    Args:
        node: that gets them; it must have no others than these.
        parameters: the whole table.

    Raises:
        UnknownName: a value was given for a parameter that the node does not have; ROS 2 would ignore it. One
            that a file gives all nodes, such as in a section `/**`, is another node's: a line names it.
        WrongShape: an empty list was given, which has no type in ROS 2.
        WrongType, OutOfRange: a value from outside has another type, or is out of bounds.
    """
    names = [parameter.name for parameter in parameters]
    parameters = [member for parameter in parameters for member in _members(node, parameter)]
    known = {parameter.name for parameter in parameters}
    _accept_integers(node, parameters)
    _refuse_wrong(node, parameters)
    unknown = [  # only those that are meant for this node, whatever their source
        given
        for given in node._parameter_overrides
        if given not in known and not node.has_parameter(given) and not given.startswith(QOS_PREFIX)
    ]
    shared = shared_names(sys.argv[1:], node.get_name()) if unknown else frozenset()
    for given in unknown:
        if given not in shared:
            raise UnknownName("parameter", given, names).within(node.get_name())
    if unknown:
        node.get_logger().info(str(SharedParametersIgnored(names=tuple(sorted(unknown)))))
    return {
        parameter.name: node.declare_parameter(
            parameter.name, parameter.default, parameter.descriptor()
        ).value
        for parameter in parameters
    }


def _members(node: Node, parameter: NodeParameter) -> list[NodeParameter]:
    """Return a parameter, or of a family those that are given."""
    if not parameter.prefix:
        return [parameter]
    given = (name for name in node._parameter_overrides if name.startswith(parameter.prefix))
    return [replace(parameter, name=name) for name in given]


def _refuse_wrong(node: Node, parameters: Sequence[NodeParameter]) -> None:
    """Raise what `declare` raises for values from outside; rclpy's own words name no cure."""
    for parameter in parameters:
        given = node._parameter_overrides.get(parameter.name)
        if given is None:
            continue
        name = f"parameter {parameter.name}"
        try:
            if given.value in (None, [], ()):  # rclpy takes `joint_names:=[]` for a parameter without a value
                raise WrongShape(name, 0, parameter.type_name, printed="empty")
            if given.type_ != Parameter(parameter.name, value=parameter.default).type_:
                raise WrongType(name, given.value, parameter.type_name)
            if parameter.low is not None and not parameter.low <= given.value <= parameter.high:
                raise OutOfRange(name, given.value, f"{parameter.low:g} to {parameter.high:g}")
        except BamError as error:
            raise error.within(node.get_name()) from None


def _accept_integers(node: Node, parameters: Sequence[NodeParameter]) -> None:
    """Turn integers given for doubles into doubles: `kp:=32` and `limits:=[-1, 1]` are clear."""
    overrides = node._parameter_overrides
    for parameter in parameters:
        given = overrides.get(parameter.name)
        if given is None:
            continue
        if parameter.type_name == "double" and given.type_ is Parameter.Type.INTEGER:
            overrides[parameter.name] = Parameter(parameter.name, value=float(given.value))
        elif parameter.type_name == "double[]" and given.type_ is Parameter.Type.INTEGER_ARRAY:
            overrides[parameter.name] = Parameter(
                parameter.name, value=[float(number) for number in given.value]
            )
