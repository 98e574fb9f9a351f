# SPDX-License-Identifier: Apache-2.0
"""Which column, topic and joint of a recording is what, so that no file has to be renamed or converted.

It is the section `map` of a `bench.yaml`, a file of its own, or one of those that come with the suite::

    map:
      columns: {time: t, "read:shoulder": q0, "goal:*": "cmd_*"}  # our name: the one in the file
      topics: {goal: /my/commands, read: /my/states}              # of a bag
      order: [shoulder, elbow]               # joints of arrays, vectors and messages without names
      joints:                                # name in the recording: the joint of the description
        Rotation: shoulder_pan
        Pitch: {name: shoulder_lift, sign: -1, zero: 0.1}
        main_*: "*"                          # whatever the star stands for
        Jaw: null                            # left out
      unit: deg                              # rad, deg; of LeRobot's datasets normalised, too
      time_unit: us                          # s, ms, us, ns

A joint of the description is at sign · (recorded - zero): `zero`, rad, is what the recording has where the
description's joint is at 0. An entry whose key the recording lacks, but whose `name` it has, is read the
other way round; sign and zero mean the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NewType

import numpy as np

from bam_core.errors import Conflict, Missing, OutOfRange, UnknownName
from bam_core.files.field_errors import UnsuitableError

ANGLE_UNITS: Mapping[str, float] = MappingProxyType({"rad": 1.0, "deg": math.pi / 180.0, "normalised": 1.0})
"""Unit of positions -> rad per unit; what normalised positions are, a calibration has."""

TIME_UNITS: Mapping[str, float] = MappingProxyType({"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9})
"""Unit of times -> s per unit."""

NORMALISED = "normalised"
"""The unit that becomes an angle by a calibration."""

TOPICS = ("goal", "read")
"""What a topic can be of."""

_LARGEST_ZERO = 4.0 * math.pi  # rad, as positions of recordings


@dataclass(frozen=True, kw_only=True)
class JointMap:
    """A joint of the description, in terms of a recorded one.

    Attributes:
        name: of the description's joint; with a star where the entry is of a pattern.
        sign: 1, or -1 where the recorded one turns the other way.
        zero: rad, recorded where the description's joint is at 0.

    Raises:
        BamError: a value is out of range.
    """

    name: str
    sign: float = 1.0
    zero: float = 0.0

    def __post_init__(self) -> None:
        if not self.name:
            raise Missing("name", "of a joint in the description")
        if self.sign not in (1.0, -1.0):
            raise OutOfRange(f"joint {self.name}, sign", self.sign, "1 or -1")
        if not abs(self.zero) <= _LARGEST_ZERO:
            raise OutOfRange(f"joint {self.name}, zero", self.zero, "within two turns, rad")


Joints = NewType("Joints", Mapping[str, JointMap | None])


@dataclass(frozen=True, kw_only=True)
class RecordingMap:
    """What the names and units of a recording are; see the module.

    Attributes:
        columns: our name of a column or array -> the file's; both may have a star.
        topics: "goal" and "read" -> a topic of a bag.
        order: joints of the columns where the recording has no names.
        joints: name in the recording, or a pattern with a star -> joint of the description; None: left out.
        unit: of positions, one of ANGLE_UNITS; None: rad, or what the format has.
        time_unit: one of TIME_UNITS; None: s, or what the format has.
        source: where this was given.
        is_strict: whether every joint that it names must be recorded. Patterns, and joints that are left out,
            need not.

    Raises:
        BamError: a name is unknown, or stars do not go together.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    joints: Joints = field(default_factory=lambda: Joints({}))
    unit: str | None = None
    time_unit: str | None = None
    source: str = "map"
    is_strict: bool = True

    def __post_init__(self) -> None:
        for name in self.topics:
            if name not in TOPICS:
                raise UnknownName("topic of", name, TOPICS)
        if self.unit is not None and self.unit not in ANGLE_UNITS:
            raise UnknownName("unit", self.unit, ANGLE_UNITS)
        if self.time_unit is not None and self.time_unit not in TIME_UNITS:
            raise UnknownName("time_unit", self.time_unit, TIME_UNITS)
        pairs = [*self.columns.items(), *((key, to.name) for key, to in self.joints.items() if to)]
        for ours, theirs in pairs:
            if not ours.count("*") == theirs.count("*") <= 1:
                raise Conflict(
                    f"{ours!r}: {theirs!r}",
                    "do not have one star each, or none",
                    advice="correct one of them",
                )

    @property
    def angle_scale(self) -> float:
        """Rad per unit of positions."""
        return ANGLE_UNITS[self.unit or "rad"]

    @property
    def time_scale(self) -> float:
        """Seconds per unit of times."""
        return TIME_UNITS[self.time_unit or "s"]

    def column_names(self, header: Sequence[str]) -> dict[str, str]:
        """Return our name -> the file's, of those columns that the map names and the file has.

        Raises:
            UnknownName: the file lacks a column.
        """
        names: dict[str, str] = {}
        for ours, theirs in self.columns.items():
            matches = dict(_matches(theirs, header))
            if not matches:
                raise UnknownName(f"column of {self.source}", theirs, header)
            names |= {ours.replace("*", star): name for name, star in matches.items()}
        return names

    def joint_maps(self, recorded: Sequence[str]) -> list[JointMap | None]:
        """Return what each recorded joint is in the description; None: it is left out.

        Raises:
            BamError: two of them are one joint, none is left, or the map names one that was not recorded.
        """
        maps = [self._joint(name, recorded) for name in recorded]
        names = [joint.name for joint in maps if joint]
        for name in names:
            if names.count(name) > 1:
                raise Conflict(
                    f"{self.source}, joint {name!r}",
                    f"is {names.count(name)} joints of the recording ({', '.join(recorded)})",
                    advice="leave one out, as in joints: {NAME: null}",
                )
        if not names:
            raise Missing(f"{self.source}, joints", "at least one that is not left out")
        for key, to in self.joints.items():
            is_known = any(_matches(key, recorded)) or (to and any(_matches(to.name, recorded)))
            if self.is_strict and to and "*" not in key and not is_known:
                raise UnknownName(f"joint of {self.source}", key, recorded)
        return maps

    def joint_name(self, recorded: str) -> str | None:
        """Return the description's name of one recorded joint; None: it is left out."""
        joint = self._joint(recorded, [recorded])
        return joint.name if joint else None

    def recorded_joint(self, joint: str) -> tuple[str, JointMap]:
        """Return the recorded name of a description's joint, and what it is there.

        Raises:
            Missing: the map leaves the joint of this name out.
        """
        for exact in (True, False):
            for key, to in self.joints.items():
                if to is None or ("*" in to.name) is exact:
                    continue
                for _, star in _matches(to.name, [joint]):
                    return key.replace("*", star), JointMap(name=joint, sign=to.sign, zero=to.zero)
        if joint in self.joints:
            to = self.joints[joint]
            if to is None:
                raise Missing(f"{self.source}, joint {joint!r}", "its name in the driver")
            return to.name, JointMap(name=joint, sign=to.sign, zero=to.zero)  # the other way round
        return joint, JointMap(name=joint)

    def _joint(self, name: str, recorded: Sequence[str]) -> JointMap | None:
        if name in self.joints:
            return self.joints[name]
        for key, to in self.joints.items():
            for _, star in _matches(key, [name]):
                return to and JointMap(name=to.name.replace("*", star), sign=to.sign, zero=to.zero)
        for key, to in self.joints.items():  # the other way round
            if to and not any(_matches(key, recorded)):
                for _, star in _matches(to.name, [name]):
                    return JointMap(name=key.replace("*", star), sign=to.sign, zero=to.zero)
        return JointMap(name=name)


NO_MAP = RecordingMap()
"""Names and units as the formats have them."""


def _matches(pattern: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names that a pattern stands for, with what its star stands for."""
    before, star, after = pattern.partition("*")
    for name in names:
        if not star:
            if name == pattern:
                yield name, ""
        elif match := re.fullmatch(f"{re.escape(before)}(.+){re.escape(after)}", name):
            yield name, match[1]


def joints_from_fields(value: Any, _: Any = None) -> Joints:
    """Return the section `joints` of a file; raises UnsuitableError or BamError."""
    if not isinstance(value, Mapping):
        raise UnsuitableError(value, "names of joints, as in {Rotation: shoulder_pan}")
    return Joints({str(key): _joint_map(key, entry) for key, entry in value.items()})


def _joint_map(key: object, value: Any) -> JointMap | None:
    if value is None:
        return None
    if isinstance(value, str):
        return JointMap(name=value)
    if not isinstance(value, Mapping):
        raise UnsuitableError(value, "a name, {name: ..., sign: ..., zero: ...}, or null", field=str(key))
    fields = {"name": str(key), **{str(name): entry for name, entry in value.items()}}
    for name in fields:
        if name not in ("name", "sign", "zero"):
            raise UnknownName(f"field of joint {key}", name, ("name", "sign", "zero"))
    if not isinstance(fields["name"], str):
        raise UnsuitableError(fields["name"], "a name", field="name")
    for name in ("sign", "zero"):
        number = fields.get(name, 0.0)
        if isinstance(number, bool) or not isinstance(number, int | float) or not np.isfinite(number):
            raise UnsuitableError(number, "a number", field=name)
    return JointMap(
        name=fields["name"], sign=float(fields.get("sign", 1.0)), zero=float(fields.get("zero", 0.0))
    )


@dataclass(frozen=True, kw_only=True)
class MapFields:
    """The section `map` of a file; its fields are those of `RecordingMap`."""

    columns: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    joints: Joints = field(default_factory=lambda: Joints({}))
    unit: str | None = None
    time_unit: str | None = None

    def named(self, source: object) -> RecordingMap:
        """Return the map, with where it was given."""
        return RecordingMap(**vars(self), source=str(source))
