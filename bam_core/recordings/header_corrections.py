# SPDX-License-Identifier: Apache-2.0
"""Sets header fields of recordings from outside, where a recorder wrote them wrongly or not at all.

A file `bench.yaml` applies to all recordings beneath its directory, and to the bag that it is in::

    set: {vin: 12.0, unit: b3, session: monday}     # for all of them
    rules:                                          # for headers with these values, in this order
      - {where: {length: 0.1}, set: {arm_mass: 0.036}}
      - {where: {length: 0.15}, set: {arm_mass: 0.050}}
    kp: {elbow: 32, wrist_*: 16}                    # of a robot's joints; one number is of all; or ki, kd
    map: {joints: {Rotation: shoulder_pan}}         # names, signs, zeros and units; see `recording_map`

Where a field is set several times, the file in the nearest directory wins, within a file the later rule, and
`--set` of a command overrides all. A rule's `where` is compared with the header as the rules before it have
changed it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NewType, TypeAlias

from bam_core.errors import Conflict, OutOfRange, UnknownName, Unreadable, Unsupported, WrongType
from bam_core.files.field_errors import UnsuitableError
from bam_core.files.quoted_number import correct_number
from bam_core.files.typed import TypedReader
from bam_core.files.yaml_file import read_yaml
from bam_core.recordings.recording_map import Joints, MapFields, joints_from_fields
from bam_core.servo.gains import gain_of
from bam_core.text.quantity import INERTIA, LENGTH, MASS, NO_UNIT, VOLTAGE, quantity

NAME = "bench.yaml"
"""The file that is looked for."""

FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "mass": "kg",
        "arm_mass": "kg",
        "length": "m",
        "inertia": "kg·m²",  # of a load that gravity does not turn; in open loop only
        "kp": "firmware units",
        "kd": "firmware units",
        "goal_acceleration": "rad/s²",  # largest of the firmware's set-point; 0: not limited
        "ki": "firmware units",
        "vin": "V",
        "motor": "",
        "trajectory": "",
        "joint": "",  # of bags, that are of several
        "unit": "",  # which servo of its model
        "session": "",  # runs that share a mounting and a day
    }
)
"""Header fields that can be set, by the names of BAM's logs -> unit; text where there is none."""

LABELS = ("unit", "session")
"""Fields that distinguish runs of one servo model, see `Recording`."""

Value: TypeAlias = float | str | Mapping[str, float]
_UNITS = MappingProxyType({"kg": MASS, "m": LENGTH, "kg·m²": INERTIA, "V": VOLTAGE})
_GAINS = ("kp", "ki", "kd", "goal_acceleration")  # which a robot may have for each joint
_SAME = 1e-9  # relative difference of numbers that are the same


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Values for the recordings whose header has certain values.

    Attributes:
        set: field -> value.
        where: field -> value that the header has; empty: any.
        source: where this was set: a path, or the option of a command.
    """

    set: Mapping[str, Value]
    where: Mapping[str, Value] = field(default_factory=dict)
    source: str

    def concerns(self, header: Mapping[str, Any]) -> bool:
        """Return whether a header has all the values."""
        return all(_equal(header.get(name), value) for name, value in self.where.items())


@dataclass(frozen=True, kw_only=True)
class Correction:
    """One field of one recording that was set from outside.

    Attributes:
        field: its name.
        value: that counts.
        before: value in the header; None: none.
        source: where the value was given.
    """

    field: str
    value: Value
    before: Any
    source: str


def apply_rules(header: Mapping[str, Any], rules: Iterable[Rule]) -> tuple[dict[str, Any], list[Correction]]:
    """Return a header as rules want it, and what they changed: one correction per field.

    Args:
        header: field -> value, as recorded; other keys stay.
        rules: in their order.
    """
    corrected, changed = dict(header), dict[str, Correction]()
    for rule in rules:
        if not rule.concerns(corrected):
            continue
        for name, value in rule.set.items():
            if isinstance(value, Mapping) and isinstance(joint := corrected.get("joint"), str):
                gain = gain_of(value, joint)
                if gain is None:
                    continue
                value = gain
            corrected[name] = value
            changed[name] = Correction(field=name, value=value, before=header.get(name), source=rule.source)
    return corrected, [
        correction for correction in changed.values() if not _equal(correction.before, correction.value)
    ]


def label_in(header: Mapping[str, Any], label: str) -> str:
    """Return the unit or the session that a header names, as text; a number is one, too."""
    value = header.get(label)
    return str(value).strip() if isinstance(value, (str, int)) else ""


def require_no_inertia(corrections: Iterable[Correction]) -> None:
    """Refuse an inertia that is set for a run in closed loop; raises Unsupported."""
    for correction in corrections:
        if correction.field == "inertia":
            raise Unsupported(
                "inertia",
                f"is set by {correction.source} for a run of a position controller",
                expected="mass, arm_mass and length of its pendulum",
                advice="set inertia for runs in open loop only",
            )


def rules_above(path: Path) -> tuple[Rule, ...]:
    """Return the rules of every bench.yaml above a recording, and in a bag, the outermost first.

    Raises:
        BamError: one of them cannot be read, or sets a field that no header has.
    """
    place = path.absolute()
    files = (directory / NAME for directory in (*reversed(place.parents), place))
    return tuple(rule for file in files if file.is_file() for rule in rules_in(file))


def rules_from(given: Mapping[str, Value] | Sequence[str], option: str = "--set") -> tuple[Rule, ...]:
    """Return the rule that fields with values, or words such as "vin=12", make; an empty tuple for none.

    Raises:
        BamError: a word is no assignment, a field is unknown, or its value is none that it can have.
    """
    if isinstance(given, Mapping):
        values = {name: _value(f"set_fields, {name}", name, value) for name, value in given.items()}
        return (Rule(set=values, source="set_fields"),) if given else ()
    return _rules_from_words(given, option)


def _rules_from_words(words: Sequence[str], option: str) -> tuple[Rule, ...]:
    values: dict[str, Value] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise WrongType(option, word, "FIELD=VALUE, as in vin=12")
        if name.strip() in values:
            raise Conflict(f"{option} {name.strip()}", "is given twice", advice="keep one")
        values[name.strip()] = _from_text(f"{option} {name.strip()}", name.strip(), text.strip())
    return (Rule(set=values, source=option),) if values else ()


Settings = NewType("Settings", Mapping[str, Value])
GainSetting = NewType("GainSetting", Mapping[str, float])
"""A number, or joint -> number."""


@dataclass(frozen=True, kw_only=True)
class RuleFields:
    """One of the rules of a file."""

    where: Settings
    set: Settings


@dataclass(frozen=True, kw_only=True)
class BenchYaml:
    """What `bench.yaml` holds."""

    set: Settings | None = None
    kp: GainSetting | None = None
    ki: GainSetting | None = None
    kd: GainSetting | None = None
    goal_acceleration: GainSetting | None = None
    rules: tuple[RuleFields, ...] = ()
    map: MapFields | None = None


def bench_yaml(path: Path) -> BenchYaml:
    """Read a file; see the module. Raises BamError where it cannot be read, or a field is wrong."""
    if not path.is_file():
        raise Unreadable(path, "no such file", advice="check the path")
    return _bench_yaml(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _bench_yaml(path: Path, _: int) -> BenchYaml:
    return _READER.read(read_yaml(path), BenchYaml, path)


def rules_in(path: Path) -> tuple[Rule, ...]:
    """Return the rules of one file; raises BamError as `bench_yaml`."""
    read, source = bench_yaml(path), str(path)
    gains = {name: gain for name in _GAINS if (gain := getattr(read, name)) is not None}
    fields = {**(read.set or {}), **gains}
    first = (Rule(set=fields, source=source),) if fields else ()
    return (*first, *(Rule(where=rule.where, set=rule.set, source=source) for rule in read.rules))


def _settings(value: Any, _: Any) -> Settings:
    if not isinstance(value, Mapping) or not value:
        raise UnsuitableError(value, _READER_WORDS[Settings])
    return Settings({name: _value(str(name), name, setting) for name, setting in value.items()})


_READER_WORDS: Mapping[Any, str] = {
    BenchYaml: "a section with set, rules and map",
    MapFields: "a section with columns, topics, order, joints, unit and time_unit",
    Joints: "names of joints, as in {Rotation: shoulder_pan}",
    tuple[RuleFields, ...]: "a list of {where: {...}, set: {...}}",
    RuleFields: "a section with where and set",
    GainSetting: "a number, or one per joint, as in {elbow: 32}",
    Settings: "fields with values, as in {vin: 12.0}",
}
_READER = TypedReader(words=_READER_WORDS)
_READER.converter.register_structure_hook(Settings, _settings)
_READER.converter.register_structure_hook(GainSetting, lambda value, _: _value("gain", "kp", value))
_READER.converter.register_structure_hook(Joints, joints_from_fields)


def _value(what: str, name: object, value: Any) -> Value:
    if name not in FIELDS:
        raise UnknownName("header field", name, FIELDS)
    unit = FIELDS[str(name)]
    if name in LABELS and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not unit:
        if not isinstance(value, str) or not value:
            raise WrongType(what, value, "text")
        return value
    if name in _GAINS and isinstance(value, Mapping) and value:
        return {str(joint): float(_number(f"{what} {joint}", unit, gain)) for joint, gain in value.items()}
    return _number(what, unit, value)


def _number(what: str, unit: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise WrongType(what, value, f"a number, {unit}", advice=correct_number(value))
    if not math.isfinite(value) or value < 0.0:
        raise OutOfRange(what, value, f"a finite number >= 0, {unit}")
    return float(value)


def _from_text(what: str, name: str, text: str) -> Value:
    """Read a value of an option: a number, with or without the field's unit, or text."""
    unit = FIELDS.get(name, "")
    return _value(what, name, quantity(what, text, _UNITS.get(unit, NO_UNIT)) if unit else text)


def _equal(stated: Any, given: Any) -> bool:
    if isinstance(stated, (int, float)) and isinstance(given, (int, float)):
        return math.isclose(stated, given, rel_tol=_SAME, abs_tol=_SAME)
    return bool(stated == given)
