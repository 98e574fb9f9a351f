# SPDX-License-Identifier: Apache-2.0
"""Content of files becomes dataclasses; what is not of its type is refused with its place and a cure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NewType

import pytest

from bam_core.errors import BamError, Malformed, Missing, OutOfRange, UnknownName, WrongType
from bam_core.files.field_errors import UnsuitableError
from bam_core.files.typed import TypedReader, require_section
from test.core.refusals import refused

Volts = NewType("Volts", float)


@dataclass(frozen=True, kw_only=True)
class Wheel:
    radius: float
    teeth: int = 12

    def __post_init__(self) -> None:
        if self.radius <= 0.0:
            raise OutOfRange("wheel radius", self.radius, "> 0")
        if self.teeth == 13:
            raise UnsuitableError(self.teeth, "any other number", field="teeth")


@dataclass(frozen=True, kw_only=True)
class Machine:
    name: str
    wheels: tuple[Wheel, ...] = ()
    axle: Wheel | None = None
    range: tuple[float, float] = (0.0, 1.0)
    supply: Volts = Volts(5.0)
    limits: Mapping[str, float] = field(default_factory=dict)
    ready: bool = False
    remarks: tuple[str, ...] = ()


YAML = TypedReader(words={Volts: "a number, V"})
AGAIN = "write it again"
JSON = TypedReader(is_json=True, allows_unknown=True, advice=AGAIN)


def test_content_becomes_dataclasses() -> None:
    content: dict[str, Any] = {
        "name": "mill",
        "wheels": [{"radius": 1, "teeth": 8}, {"radius": 0.5}],
        "axle": {"radius": 2},
        "range": [1, 2],
        "limits": {"speed": 3, 4: 5},
        "ready": True,
    }
    machine = Machine(
        name="mill",
        wheels=(Wheel(radius=1.0, teeth=8), Wheel(radius=0.5)),
        axle=Wheel(radius=2.0),
        range=(1.0, 2.0),
        limits={"speed": 3.0, "4": 5.0},
        ready=True,
    )
    found = YAML.read(content, Machine)
    assert found == machine
    assert isinstance(found.wheels[0].radius, float)
    assert JSON.read(content, Machine) == machine


@pytest.mark.parametrize(
    ("content", "thing", "found", "cure"),
    [
        ({"name": 3}, "name", 3, "write it in quotes, which make it text"),
        ({"name": None}, "name", None, "correct it"),
        ({"name": "m", "ready": 1}, "ready", 1, "correct it"),
        ({"name": "m", "range": [1]}, "range", [1], "correct it"),
        ({"name": "m", "range": [1, True]}, "range, entry 2", True, "correct it"),
        ({"name": "m", "range": "12"}, "range", "12", "correct it"),
        ({"name": "m", "supply": "5"}, "supply", "5", "write 5 without quotes, which make it text"),
        ({"name": "m", "limits": [1]}, "limits", [1], "correct it"),
        ({"name": "m", "limits": {"a": None}}, "limits.a", None, "correct it"),
        ({"name": "m", "axle": None}, "axle", None, "correct it"),
        ({"name": "m", "axle": {"radius": 1, "teeth": 1.0}}, "axle.teeth", 1.0, "correct it"),
        ({"name": "m", "axle": {"radius": 1, "teeth": True}}, "axle.teeth", True, "correct it"),
        ({"name": "m", "axle": {"radius": 1, "teeth": 13}}, "axle.teeth", 13, "correct it"),
        ({"name": "m", "wheels": {}}, "wheels", {}, "write it as [a, b]"),
        ({"name": "m", "wheels": "abc"}, "wheels", "abc", "write it as [a, b]"),
        ({"name": "m", "wheels": [{"radius": 1}, 3]}, "wheels, entry 2", 3, "correct it"),
        ({"name": "m", "wheels": [{"radius": "x"}]}, "wheels, entry 1, radius", "x", "correct it"),
        ({"name": "m", "remarks": ["a", 2]}, "remarks, entry 2", 2, "write it in quotes, which make it text"),
        ([1], "content", [1], "correct it"),
    ],
)
def test_a_wrong_type_is_refused_with_its_place_and_a_cure(
    content: object, thing: str, found: object, cure: str
) -> None:
    with refused(WrongType, thing=thing, value=found) as caught:
        YAML.read(content, Machine, Path("m.yaml"))
    assert (caught.value.place, caught.value.advice) == (("m.yaml",), cure)
    assert str(caught.value).startswith(f"m.yaml: {thing}: is ")


def test_json_is_shown_as_json_and_has_one_cure() -> None:
    for content, thing, found in (
        ({"name": "m", "wheels": [{"radius": True}]}, "wheels[0].radius", True),
        ({"name": "m", "remarks": ["a", 2]}, "remarks", ["a", 2]),
        ({"name": "m", "limits": {"a": math.inf}}, "limits.a", math.inf),
        ({"name": "m", "supply": 10**400}, "supply", 10**400),
    ):
        with refused(WrongType, thing=thing, value=found) as caught:
            JSON.read(content, Machine)
        assert caught.value.advice == AGAIN
    assert "is true (" in str(_error(JSON, {"name": "m", "supply": True}))


def test_null_in_json_is_no_value() -> None:
    found = JSON.read({"name": "m", "axle": None, "supply": None, "range": [None, 1], "more": 3}, Machine)
    assert (found.axle, found.supply) == (None, 5.0)
    assert math.isnan(found.range[0])


def test_an_empty_field_may_count_as_left_out_but_an_empty_section_is_refused() -> None:
    reader = TypedReader(allows_empty=True)
    assert reader.read({"name": "m", "supply": None}, Machine).supply == 5.0
    with refused(Missing, thing="name"):
        reader.read({"name": None}, Machine)
    with refused(WrongType, thing="axle", value=None):
        reader.read({"name": "m", "axle": None}, Machine)


def test_an_unknown_field_is_refused_before_all_else() -> None:
    with refused(UnknownName, name="axle.radios", valid=("axle.radius", "axle.teeth")):
        YAML.read({"name": "m", "axle": {"radios": 1}}, Machine)
    with refused(UnknownName, name="nane", closest="name"):
        YAML.read({"nane": "m"}, Machine)
    with refused(UnknownName, name="teeths", kind="field", place=("wheels, entry 1",)):
        YAML.read({"name": "m", "wheels": [{"teeths": 1}]}, Machine)


def test_a_missing_field_is_named() -> None:
    with refused(Missing, thing="wheels, entry 1, radius", expected="a number"):
        YAML.read({"name": "m", "wheels": [{}]}, Machine)


def test_an_error_of_a_constructor_is_said_to_be_of_its_place() -> None:
    with refused(OutOfRange, thing="wheel radius", value=-1.0, place=("wheels, entry 2",)):
        YAML.read({"name": "m", "wheels": [{"radius": 1}, {"radius": -1}]}, Machine)
    with refused(OutOfRange, thing="wheel radius", value=-1.0, place=("axle",)):
        YAML.read({"name": "m", "axle": {"radius": -1}}, Machine)


def test_errors_that_are_no_fault_of_the_file_are_not_hidden() -> None:
    @dataclass
    class Broken:
        name: str

        def __post_init__(self) -> None:
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        YAML.read({"name": "m"}, Broken)


def test_a_text_in_place_of_a_file_is_not_quoted() -> None:
    with refused(Malformed) as caught:
        require_section("root:x", Path("m.yaml"), expected="fields", advice="give one")
    assert str(caught.value) == "m.yaml: is text (expected fields); give one"
    assert "root:x" not in str(_error(YAML, "root:x"))


def _error(reader: TypedReader, content: object) -> BamError:
    with pytest.raises(BamError) as caught:
        reader.read(content, Machine)
    return caught.value
