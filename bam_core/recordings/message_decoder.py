# SPDX-License-Identifier: Apache-2.0
"""Messages of bags, decoded by the definitions in the bag, or by known ones where it has none.

Neither ROS 2 nor the message packages are needed.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import zstandard
from rosbags.interfaces import Nodetype
from rosbags.serde import SerdeError
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

from bam_core.errors import Malformed, MissingSoftware
from bam_core.recordings.message_definition import message_definition
from bam_core.recordings.message_fields import missing_field

COMPRESSED = b"\x28\xb5\x2f\xfd"  # a zstd frame; a message in CDR begins with 0
LARGEST_MESSAGE = 2**26  # [B] unpacked; more than any state of joints, and soon refused

_ENCAPSULATION = 4  # bytes before the fields, which are aligned from there on
_ALIGNMENT = 4  # bytes from the length of a sequence to the next multiple of 8
_LONG_NUMBERS = tuple((Nodetype.BASE, (name, 0)) for name in ("float64", "int64", "uint64"))

_MSG, _IDL = "ros2msg", "ros2idl"
_IDL_PART = re.compile(r"^=+\nIDL: [^\n]*\n", re.MULTILINE)
_STATE = "control_msgs/msg/JointTrajectoryControllerState"
_DYNAMIC = "control_msgs/msg/DynamicJointState"
_DYNAMIC_TEXT = f"""std_msgs/Header header
string[] joint_names
control_msgs/InterfaceValue[] interface_values
{"=" * 80}
MSG: control_msgs/InterfaceValue
string[] interface_names
float64[] values
"""
_POINT = "trajectory_msgs/JointTrajectoryPoint"
_MULTI_POINT = "trajectory_msgs/MultiDOFJointTrajectoryPoint"


class TypedMessage(NamedTuple):
    """One message of a bag."""

    topic: str
    """Its topic, with the namespace it was recorded under."""
    type: str
    """Message type, such as "bam_bench/msg/ServoStates"."""
    log_time: int
    """Time of reception [ns since the epoch]."""
    value: Any
    """The decoded message; arrays are numpy arrays."""


@dataclass(frozen=True, kw_only=True)
class BagContents:
    """What could be read of a file of a bag."""

    messages: tuple[TypedMessage, ...]
    """In the order of writing."""
    count: int
    """Of messages read, those of other types included."""
    complete: bool
    """False: the file ends before its footer, everything up to the last complete chunk is here."""
    topics: Mapping[str, str]
    """Topic -> type, of all types."""
    span: tuple[int, int] | None
    """Times of reception of the first and the last message [ns since the epoch]; None: no messages."""
    gains: Mapping[str, str] = field(default_factory=dict)
    """Gain ("kp", "ki", "kd") -> what `BagWriter` noted of it, in the words of `servo.gains`."""


class Decoder:
    """Decodes the messages of one file.

    Args:
        path: of the file, for messages of errors.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._definitions: dict[str, tuple[str, str]] = {}  # type -> language and text
        self._store: Any = None
        self._guessed: dict[str, Any] = {}  # type without definition -> what decodes it

    def define(self, name: str, language: str, text: bytes | str) -> None:
        """Take a definition from the file, which may be empty.

        Raises:
            Malformed: it is in an unknown language, does not parse, or lacks a field that is read.
        """
        if not text:
            return
        if language not in (_MSG, _IDL):
            raise Malformed(
                self._path,
                f"{name} is described as '{language}'",
                expected=f"{_MSG} or {_IDL}",
                advice="record with message definitions in .msg form",
            )
        try:
            definition = text if isinstance(text, str) else text.decode()
            self._definitions[name] = (language, definition)
            self._store = _parsed(tuple((key, *value) for key, value in self._definitions.items()))
        except Exception as error:  # rosbags raises whatever its parser meets
            raise Malformed(
                self._path, f"the definition of {name} in it does not parse", advice="record the run again"
            ) from error
        if problem := missing_field(self._store.fielddefs, name):
            raise Malformed(
                self._path,
                problem,
                expected="the type as bam_bench and ROS 2 define it",
                advice="record the run again",
            )

    def decode(self, data: bytes, name: str, what: str) -> Any:
        """Return a message.

        Args:
            data: in CDR, perhaps compressed.
            name: of its type.
            what: the message in words, such as "message 3 on /joint_states".

        Raises:
            Malformed: it is none of this type, or nobody knows the type.
        """
        try:
            data = uncompressed(data)
        except Exception as error:
            raise Malformed(
                self._path, f"is damaged ({what}: {error})", advice="restore it from a backup"
            ) from error
        store = self._store if name in self._definitions else self._guess(data, name)
        try:
            return _decoded(store, data, name)
        except Exception as error:  # rosbags raises whatever its generated code meets
            raise Malformed(self._path, f"{what} is not a {name}", advice="record the run again") from error

    def _guess(self, data: bytes, name: str) -> Any:
        """Return what decodes a type that the file does not define: the first version that fits a message."""
        if name not in self._guessed:
            versions = _known(name)
            if not versions:
                raise Malformed(
                    self._path,
                    f"has {name} without its definition",
                    expected="a bag that holds definitions, or that package sourced",
                    advice="source the workspace it was recorded with, or record with MCAP storage",
                )
            fitting = [store for store in versions if _fits(store, data, name)]
            self._guessed[name] = (fitting or versions)[0]
        return self._guessed[name]


def uncompressed(data: bytes) -> bytes:
    """Return a message, unpacked if `ros2 bag record --compression-mode message` compressed it.

    Known by its first bytes, not by metadata.yaml, which an interrupted bag does not have.

    Raises:
        ValueError: it claims to be larger than any message is.
        zstandard.ZstdError: it is damaged.
    """
    if not data.startswith(COMPRESSED):
        return data
    if zstandard.frame_content_size(data) > LARGEST_MESSAGE:
        raise ValueError("a compressed message is too large")
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=LARGEST_MESSAGE)


def _decoded(store: Any, data: bytes, name: str) -> Any:
    """Decode a message; its last fields may be empty sequences of 8-byte numbers.

    Fast CDR aligns their elements even where there are none. rosbags expects no bytes there, and raises.
    """
    try:
        return store.deserialize_cdr(data, name)
    except SerdeError:
        if len(data) % 8 != _ENCAPSULATION:
            raise
        for count in range(1, _long_numbers_at_the_end(store, name) + 1):
            for first in (
                len(data) - 2 * _ALIGNMENT * count,
                len(data) - 2 * _ALIGNMENT * count + _ALIGNMENT,
            ):
                others = (len(data) - 2 * _ALIGNMENT * index for index in range(1, count))
                if any(any(data[start : start + _ALIGNMENT]) for start in (first, *others)):
                    continue  # a length that is not 0
                with contextlib.suppress(SerdeError):
                    return store.deserialize_cdr(data[:first] + bytes(_ALIGNMENT * count), name)
        raise


def _long_numbers_at_the_end(store: Any, name: str) -> int:
    """Return how many of the last fields of a type are sequences of numbers that are aligned to 8 bytes."""
    _, fields = store.fielddefs[name]
    kinds = (kind == Nodetype.SEQUENCE and content[0] in _LONG_NUMBERS for _, (kind, content) in fields[::-1])
    return sum(1 for _ in takewhile(bool, kinds))


def _fits(store: Any, data: bytes, name: str) -> bool:
    try:
        again = bytes(store.serialize_cdr(store.deserialize_cdr(data, name), name))
    except Exception:  # rosbags raises whatever its generated code meets
        return False
    return 0 <= len(data) - len(again) < 4  # some middlewares fill up to whole words


@lru_cache(maxsize=64)
def _parsed(definitions: tuple[tuple[str, str, str], ...]) -> Any:
    """Return what decodes messages of these types: parsing them takes longer than reading a short bag."""
    store = get_typestore(Stores.EMPTY)
    for name, language, text in definitions:
        if language == _MSG:
            store.register(get_types_from_msg(text, name))
            continue
        for part in filter(str.strip, _IDL_PART.split(text)):
            store.register(get_types_from_idl(part))
    return store


@lru_cache(maxsize=64)
def _known(name: str) -> tuple[Any, ...]:
    """Return decoders of a type's known versions, the newest first; none: it is not known."""
    store = get_typestore(Stores.ROS2_JAZZY)
    if name in store.fielddefs:
        return (store,)
    if name == _STATE:
        return tuple(_with(text) for text in _controller_states())
    if name == _DYNAMIC:
        return (_parsed(((name, _MSG, _DYNAMIC_TEXT),)),)
    try:
        return (_parsed(((name, _MSG, message_definition(name)),)),)
    except MissingSoftware:
        return ()


def _with(text: str) -> Any:
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register({_STATE: get_types_from_msg(text, _STATE)[_STATE]})
    return store


def _controller_states() -> list[str]:
    """Return the fields of `JointTrajectoryControllerState` in control_msgs of Foxy to Jazzy."""
    texts = []
    names = (("reference", "feedback", "error", "output"), ("desired", "actual", "error"))
    for fields, has_multi, has_speed in product(names, (True, False), (True, False)):
        lines = ["std_msgs/Header header", "string[] joint_names"]
        lines += [f"{_POINT} {field}" for field in fields]
        if has_multi:
            lines += ["string[] multi_dof_joint_names"]
            lines += [f"{_MULTI_POINT} multi_dof_{field}" for field in fields]
        lines += ["float64 speed_scaling_factor"] if has_speed else []
        texts.append("\n".join(lines) + "\n")
    return texts
